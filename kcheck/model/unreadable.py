"""The reasons why kcheck could not read a file or a directory."""

from enum import StrEnum
from typing import NamedTuple

from kcheck.errors import KcheckError


class UnreadableCause(StrEnum):
    """The reason why kcheck could not read a file or directory, for code."""

    REFUSED = "refused"
    """The operating system or the store refused it, or it is not a regular file."""
    MISSING = "missing"
    """The file or directory does not exist."""
    LINK = "link"
    """It is a symbolic link, which kcheck does not follow."""
    NOWHERE = "nowhere"
    """It is a symbolic link to itself, or to a path that does not exist. A broker cannot read it either."""
    TOO_LARGE = "too large"
    """It is larger than kcheck reads files of its kind."""


class Unreadable(NamedTuple):
    """The reason why kcheck could not read a file or directory."""

    cause: UnreadableCause
    """The cause, for code."""
    words: str
    """The message for people, usually from the operating system."""


class UnreadableError(KcheckError):
    """kcheck cannot read a file or directory; the message comes from the operating system if it has one."""

    def __init__(self, words: str, cause: UnreadableCause = UnreadableCause.REFUSED) -> None:
        """Take the message, and the cause for code that decides by it."""
        super().__init__(words)
        self.cause = cause

    @property
    def why(self) -> Unreadable:
        """The cause and the message."""
        return Unreadable(self.cause, str(self))


def too_large(size: int) -> UnreadableError:
    """Return the UnreadableError for a file of `size` bytes."""
    return UnreadableError(f"{size} bytes are too many for a file of this kind", UnreadableCause.TOO_LARGE)
