"""What a parser returns: the value it could read, and what it could not."""

from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

FOUND_SIZE_MAX = 64
"""A defect quotes at most so many bytes of the file."""


class Defect(NamedTuple):
    """One thing wrong in a file.

    `line` and `column` count from 1 (column in characters), None in a binary file; `position` is in bytes from the
    start; `found` is what stands there, at most `FOUND_SIZE_MAX` bytes. `accepted` is True where every
    broker reads the bytes without complaint: only, no broker would have written them.
    """

    message: str
    position: int
    line: int | None = None
    column: int | None = None
    found: bytes = b""
    accepted: bool = False

    def __str__(self) -> str:
        """Return `line 2, column 5: ...` or `position 61: ...`."""
        if self.line is None:
            return f"position {self.position}: {self.message}"
        return f"line {self.line}, column {self.column}: {self.message}"


class Parsed(NamedTuple, Generic[T]):
    """The value of a file as far as it could be read, with every defect, in the order of the file."""

    value: T
    defects: tuple[Defect, ...] = ()


class BrokerReads(NamedTuple, Generic[T]):
    """What the broker's own reader makes of the bytes: its value, or the simple class name of the root exception."""

    value: T | None
    error: str | None = None
