"""A file open for `kcheck dump`, and its corrupt places."""

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.disk.paths import split
from kcheck.model.entries import Offset
from kcheck.model.names import FileKind, local_name, parse_file
from kcheck.model.report import Row
from kcheck.model.source import Source

DAMAGE_COUNT_MAX = 1000
"""Maximum number of corrupt places per file; one more entry says that there are others."""


class Damage(NamedTuple):
    """`size` corrupt bytes at a position of a file; `tail` if valid data ends there."""

    path: str
    position: int
    size: int
    message: str
    tail: bool

    def row(self) -> Row:
        """Return the JSON fields."""
        return {name: value for name, value in self._asdict().items() if name != "path"}

    def __str__(self) -> str:
        """Return `FILE: position 61: ...`."""
        return f"{self.path}: position {self.position}: {self.message}"


class File:
    """A file open for reading, and its corrupt places."""

    def __init__(self, path: str, source: Source) -> None:
        self.path = path
        self.source = source
        self.size: int = source.size
        name = parse_file(local_name(split(path)[1]))
        self.base_offset: Offset | None = None if name.kind is FileKind.METADATA_SNAPSHOT else name.offset
        self.damage: list[Damage] = []
        self.taken = False
        """True if the broker accepts a producer snapshot."""
        self.read_error: OSError | None = None
        """The error at which reading records ended."""

    def tell(self, position: int, size: int, message: str, *, tail: bool = False) -> None:
        """Keep a corrupt place; always keep the end of valid data."""
        if tail or len(self.damage) < DAMAGE_COUNT_MAX:
            self.damage.append(Damage(self.path, position, size, message, tail))
        elif len(self.damage) == DAMAGE_COUNT_MAX:
            message = "more corrupt bytes from here on"
            self.damage.append(Damage(self.path, position, self.size - position, message, tail=False))

    def damage_rows(self) -> Iterator[Row]:
        """Yield the corrupt places, after the rows have been read."""
        yield from (damage.row() for damage in self.damage)
