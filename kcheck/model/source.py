"""Bytes to read by position, wherever they are: in a file, in an object store, or in memory.

A pure package opens nothing: it takes a `Source`, or `Files` to open the files of one directory by name.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple, Protocol

from kcheck.model.unreadable import UnreadableCause, UnreadableError


class Source(Protocol):
    """An open file. Reading moves nothing, so several readers can share it."""

    @property
    def size(self) -> int:
        """Size in bytes when the file was opened; it may have become shorter since."""

    def pread(self, count: int, position: int) -> bytes:
        """Return `count` bytes that begin at a position, fewer where the file ends."""

    def pread_into(self, buffer: memoryview, position: int) -> int:
        """Fill a buffer with the bytes that begin at a position; return how many there were."""

    def next_data(self, position: int) -> int | None:
        """Return the first position from this one on that may hold data; None if only a hole, of zeros, follows."""


class Filled(NamedTuple):
    """The content of a file that may end in a hole: a broker reserves more for an index than it has written."""

    data: bytes
    """The bytes before the hole."""
    size: int
    """The size of the file in bytes; the bytes after `data` are zeros."""


class Files(Protocol):
    """The files of one directory, by name. UnreadableError for a file that is missing or cannot be read."""

    def open(self, name: str) -> AbstractContextManager[Source]:
        """Open a file; a disk that fails inside the block raises UnreadableError too."""

    def read_filled(self, name: str) -> Filled:
        """Return a whole file without the zeros that were only reserved at its end."""


class BytesSource:
    """A file in memory."""

    __slots__ = ("_data", "size")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)

    def pread(self, count: int, position: int) -> bytes:
        """Return bytes as `Source.pread`."""
        return self._data[position : position + count]

    def pread_into(self, buffer: memoryview, position: int) -> int:
        """Fill a buffer as `Source.pread_into`."""
        data = self._data[position : position + len(buffer)]
        buffer[: len(data)] = data
        return len(data)

    def next_data(self, position: int) -> int | None:
        """Return the position itself: memory has no holes."""
        return position if position < self.size else None


class BytesFiles:
    """A directory in memory."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    @contextmanager
    def open(self, name: str) -> Iterator[Source]:
        """Open a file as `Files.open`."""
        yield BytesSource(self._bytes(name))

    def read_filled(self, name: str) -> Filled:
        """Return a file as `Files.read_filled`."""
        data = self._bytes(name)
        return Filled(data, len(data))

    def _bytes(self, name: str) -> bytes:
        if name not in self._files:
            raise UnreadableError("No such file or directory", UnreadableCause.MISSING)
        return self._files[name]
