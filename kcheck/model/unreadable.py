"""Why kcheck could not read a file or a directory."""

from enum import StrEnum
from typing import NamedTuple


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
