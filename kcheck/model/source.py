"""Bytes to read by position, in a file, in an object store, or in memory.

A pure package opens nothing. It takes a `Source`, or `Files` to open the files of one directory by name.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol, runtime_checkable

from kcheck.model.names import LEADER_EPOCHS
from kcheck.model.segments import RecordsView

SMALL_FILE_SIZE_MAX = 256 << 20
"""kcheck does not read a larger index or other small file, because no broker writes one."""
SHORT_SIZE_MAX = 4096
"""Size up to which reading a complete file costs less than searching for a part of it."""
_CHECKPOINT_SIZE_MAX = 64 << 20
"""kcheck reads no larger text checkpoint (about a million lines), because the entries need many times its size."""

_EPOCHS_SIZE_MAX = 2 << 20
"""kcheck does not read a larger epoch file, with at least 65,000 leader elections of one partition."""


def small_size_max(name: str) -> int:
    """Return the largest size in bytes at which kcheck reads a small file, by its name or path."""
    if name.endswith(LEADER_EPOCHS):
        return _EPOCHS_SIZE_MAX
    return _CHECKPOINT_SIZE_MAX if name.endswith("-checkpoint") else SMALL_FILE_SIZE_MAX


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


class CopyingSource:
    """A source that fills a buffer with the bytes of its `pread`."""

    __slots__ = ()

    def pread_into(self: Source, buffer: memoryview, position: int) -> int:
        """Fill a buffer as `Source.pread_into`."""
        data = self.pread(len(buffer), position)
        buffer[: len(data)] = data
        return len(data)


@runtime_checkable
class JudgedSource(Protocol):
    """An open `.log` whose records were judged before, because a bundle does not contain them."""

    def records(self, *, reads_zstd: bool) -> RecordsView | None:
        """Return the verdict on its records for a release that can read zstd or not; None without one."""


class Filled(NamedTuple):
    """The content of a file that may end in a hole. A broker reserves more for an index than it has written."""

    data: bytes
    """The bytes before the hole."""
    size: int
    """The size of the file in bytes; the bytes after `data` are zeros."""


class DirectoryEntries(NamedTuple):
    """The entries of a directory. Links are followed, as in Java's File.isFile and File.length."""

    sizes: Mapping[str, int]
    """The sizes in bytes of its regular files."""
    directories: Mapping[str, bool] = {}
    """Its directories, each with whether it is known to be empty."""
    others: tuple[str, ...] = ()
    """Everything else, sorted: devices, sockets and pipes."""
    loops: tuple[str, ...] = ()
    """Links that lead to themselves, sorted. Java's File.exists is false for them, and they cannot be opened."""


class Files(Protocol):
    """The files of one directory, by name. UnreadableError for a file that is missing or cannot be read."""

    def entries(self) -> DirectoryEntries:
        """Return the names in the directory; UnreadableError if it cannot be listed."""

    def open(self, name: str) -> AbstractContextManager[Source]:
        """Open a file; a disk that fails inside the block raises UnreadableError too."""

    def read_short(self, name: str) -> bytes | None:
        """Return a complete file of at most SHORT_SIZE_MAX bytes; None for a larger one."""

    def read_filled(self, name: str) -> Filled:
        """Return a complete file without the zeros that were only reserved at its end."""

    def read_whole(self, name: str) -> bytes:
        """Return the bytes of a small file; UnreadableError if it is larger than `small_size_max`."""

    def readable_size(self, name: str) -> int:
        """Return the size of a file in bytes."""


class BytesSource:
    """A file in memory."""

    __slots__ = ("_data", "size")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size: int = len(data)

    def pread(self, count: int, position: int) -> bytes:
        """Return bytes as `Source.pread`."""
        return self._data[position : position + count]

    def pread_into(self, buffer: memoryview, position: int) -> int:
        """Fill a buffer as `Source.pread_into`."""
        data = self._data[position : position + len(buffer)]
        buffer[: len(data)] = data
        return len(data)

    def next_data(self, position: int) -> int | None:
        """Return the position itself, because memory has no holes."""
        return position if position < self.size else None
