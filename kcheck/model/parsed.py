"""The result of a parser, with the readable value, and a defect for every unreadable part."""

from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

DEFECT_COUNT_MAX = 100
"""A text of millions of lines has at most this many defects."""
FOUND_SIZE_MAX = 64
"""A defect quotes at most this many bytes of the file."""


class Defect(NamedTuple):
    """One thing that is wrong in a file."""

    message: str
    """The problem."""
    position: int
    """The position, in bytes from the beginning of the file."""
    line: int | None = None
    """The line, from 1; None in a binary file."""
    column: int | None = None
    """The column in characters, from 1; None in a binary file."""
    found: bytes = b""
    """The bytes there, at most `FOUND_SIZE_MAX`."""
    accepted: bool = False
    """True if every broker reads the bytes without an error, although no broker writes them."""

    def __str__(self) -> str:
        """Return `line 2, column 5: ...` or `position 61: ...`."""
        if self.line is None:
            return f"position {self.position}: {self.message}"
        return f"line {self.line}, column {self.column}: {self.message}"


class Parsed(NamedTuple, Generic[T]):
    """The result of a parser."""

    value: T
    """Everything that it could read."""
    defects: tuple[Defect, ...] = ()
    """The defects, in the order of the file."""


class BrokerReads(NamedTuple, Generic[T]):
    """The result of a broker's own reader for the same bytes, a value or an error."""

    value: T | None
    """The value; None if the reader fails."""
    error: str | None = None
    """The simple class name of the root exception; None if the reader succeeds."""
