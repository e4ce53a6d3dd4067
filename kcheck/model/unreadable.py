"""Why kcheck could not read a file or a directory."""

from enum import StrEnum
from typing import NamedTuple


class UnreadableCause(StrEnum):
    """Why kcheck could not read a file or directory, for code that decides by it."""

    REFUSED = "refused"
    """The operating system or the store refused it, or it is not a regular file."""
    MISSING = "missing"
    """There is no such file or directory."""
    LINK = "link"
    """It is a symbolic link, which kcheck does not follow."""
    TOO_LARGE = "too large"
    """It is larger than kcheck reads files of its kind."""


class Unreadable(NamedTuple):
    """Why kcheck could not read a file or directory."""

    cause: UnreadableCause
    """The cause, for code."""
    words: str
    """The message, for people: usually that of the operating system."""
