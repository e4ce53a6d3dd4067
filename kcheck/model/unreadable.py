"""Why kcheck could not read a file or a directory."""

from enum import StrEnum
from typing import NamedTuple

from kcheck.errors import KcheckError


class UnreadableCause(StrEnum):
    """What kept kcheck from reading it."""

    REFUSED = "refused"
    """The operating system or the store refused it, or it is no regular file."""
    MISSING = "missing"
    """There is no such file or directory."""
    LINK = "link"
    """It is a symbolic link, which kcheck does not follow."""
    TOO_LARGE = "too large"
    """It is larger than kcheck reads files of its kind."""


class Unreadable(NamedTuple):
    """The cause, and the words for people."""

    cause: UnreadableCause
    words: str


class UnreadableError(KcheckError):
    """A file or directory cannot be read; the message is the operating system's own word for it, where it has one."""

    def __init__(self, words: str, cause: UnreadableCause = UnreadableCause.REFUSED) -> None:
        """Take the words, and the cause for whoever decides by it."""
        super().__init__(words)
        self.cause = cause

    @property
    def why(self) -> Unreadable:
        """The cause with its words."""
        return Unreadable(self.cause, str(self))
