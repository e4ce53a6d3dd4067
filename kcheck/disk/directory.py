"""One directory of a tree. Its files are opened by name."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Protocol, Self, runtime_checkable

from kcheck.disk.listing import Listing
from kcheck.model.source import SHORT_SIZE_MAX, SMALL_FILE_SIZE_MAX, DirectoryEntries, Filled, Source, small_size_max
from kcheck.model.unreadable import too_large

HOLE_SIZE_MIN = 64 << 10
"""It is faster to read a smaller file than to look for holes in it."""


class Directory(ABC):
    """The files of one directory, by name: `kcheck.model.source.Files` that other processes can be given.

    A `with` block keeps it open, so that each file costs less. UnreadableError if it cannot be opened.
    """

    __slots__ = ("path",)
    path: str

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Directory) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return

    @abstractmethod
    def listing(self) -> Listing:
        """Return its names as of a partition directory; UnreadableError if it cannot be listed."""

    @abstractmethod
    def entries(self) -> DirectoryEntries:
        """Return the names as `Files.entries`; kcheck does not open the targets of links.

        Of the files that no broker knows only the first `STRANGERS_MAX` are named.
        """

    @abstractmethod
    def open(self, name: str) -> AbstractContextManager[Source]:
        """Open a regular file for a `with` block; gives a `Source`. UnreadableError for anything else."""

    def readable_size(self, name: str) -> int:
        """Return the size in bytes of a readable regular file; UnreadableError as `open` for any other."""
        with self.open(name) as source:
            return source.size

    def read_short(self, name: str) -> bytes | None:
        """Return a complete file, as `Files.read_short`."""
        with self.open(name) as source:
            return read(source, source.size) if source.size <= SHORT_SIZE_MAX else None

    def read_filled(self, name: str) -> Filled:
        """Return a file without the hole at its end; UnreadableError if it cannot be read.

        The index of an active segment is mostly preallocated space.
        """
        return filled(self.open(name))

    def read_whole(self, name: str, size_max: int | None = None) -> bytes:
        """Return the bytes of a small file; UnreadableError if it is larger than `size_max` or cannot be read."""
        with self.open(name) as source:
            if source.size > (small_size_max(name) if size_max is None else size_max):
                raise too_large(source.size)
            return read(source, source.size)


@runtime_checkable
class _KnowsHoles(Protocol):
    """An open file that knows where the hole begins that ends it."""

    def filled_size(self) -> int:
        """Return the offset of the hole; the size if there is no known hole."""


def filled(opened: AbstractContextManager[Source]) -> Filled:
    """Return an open file without the hole at its end."""
    with opened as source:
        if source.size <= HOLE_SIZE_MIN:
            data = read(source, source.size)
            return Filled(data, len(data))
        size = source.filled_size() if isinstance(source, _KnowsHoles) else source.size
        if size > SMALL_FILE_SIZE_MAX:
            raise too_large(size)
        data = read(source, size)
        return Filled(data, source.size if len(data) == size else len(data))


def read(source: Source, size: int) -> bytes:
    """Return the first `size` bytes of a file, fewer if it has become shorter."""
    data = more = source.pread(size, 0) if size else b""
    while more and len(data) < size:
        more = source.pread(size - len(data), len(data))
        data += more
    return data
