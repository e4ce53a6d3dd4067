"""Reads files that may be anything: only regular files, no symbolic links, and without changing access times."""

import errno
import os
import stat
from typing import NamedTuple

from kcheck.disk.remote import RemoteFile, Store, store_of
from kcheck.errors import KcheckError
from kcheck.model.unreadable import Unreadable, UnreadableCause

_HOLE_SIZE_MIN = 64 << 10
"""It is faster to read a smaller file than to look for holes in it."""
SMALL_FILE_SIZE_MAX = 256 << 20
"""kcheck does not read a larger index or other small file: no broker writes one."""
_CHECKPOINT_SIZE_MAX = 64 << 20
"""kcheck does not read a larger text checkpoint (about a million lines): its entries need many times its size."""

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0)
_NOATIME = getattr(os, "O_NOATIME", 0)
_NOT_REGULAR = "not a regular file"
_WORDS: dict[int | None, str] = {errno.ENXIO: _NOT_REGULAR}
"""The system's error for a socket."""
_NUL = "embedded null byte"
_ANYBODY = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH


Source = int | RemoteFile
"""An open file for `pread`: a descriptor, or a file in a store."""


class UnreadableError(KcheckError):
    """kcheck cannot read a file or directory; the message is that of the operating system if it has one."""

    def __init__(self, words: str, cause: UnreadableCause = UnreadableCause.REFUSED) -> None:
        """Take the message, and the cause for code that decides by it."""
        super().__init__(words)
        self.cause = cause

    @property
    def why(self) -> Unreadable:
        """The cause and the message."""
        return Unreadable(self.cause, str(self))


def unreadable(error: OSError | ValueError) -> UnreadableError:
    """Return the UnreadableError for an error of the operating system."""
    missing = isinstance(error, OSError) and error.errno == errno.ENOENT
    return UnreadableError(word_for(error), UnreadableCause.MISSING if missing else UnreadableCause.REFUSED)


def too_large(size: int) -> UnreadableError:
    """Return the UnreadableError for a file of `size` bytes."""
    return UnreadableError(f"{size} bytes are too many for a file of this kind", UnreadableCause.TOO_LARGE)


def word_for(error: OSError | ValueError) -> str:
    """Return the operating system's message for an error.

    For a name with a NUL it is kcheck's own: Python refuses such a name itself, each release in other words.
    """
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return _NUL if "embedded null" in str(error) else str(error)


class opened:  # noqa: N801 - it is used as a function is
    """Open a regular file for a `with` block; gives (source, size in bytes). UnreadableError for anything else.

    `follow` follows a symbolic link: only for a path that the user named. `at` is the descriptor of a directory; the
    path is then a name in it. An OSError inside of the block becomes an UnreadableError.
    """

    __slots__ = ("_descriptor",)

    def __init__(self, path: str, *, follow: bool = False, at: int | None = None) -> None:
        store = store_of(path) if at is None else None
        flags = _FLAGS & ~_NOFOLLOW if follow else _FLAGS
        self._descriptor: Source
        try:
            if store is not None:
                self._descriptor = RemoteFile(store, path, store.size(path))
                return
            try:
                self._descriptor = os.open(path, flags | _NOATIME, dir_fd=at)
            except PermissionError:
                # Only the owner may use O_NOATIME.
                self._descriptor = os.open(path, flags, dir_fd=at)
        except OSError as error:
            if error.errno == errno.ELOOP and store is None:
                raise UnreadableError("a symbolic link: not followed", UnreadableCause.LINK) from error
            if error.errno in _WORDS:
                raise UnreadableError(_WORDS[error.errno]) from error
            raise unreadable(error) from error
        except ValueError as error:
            raise unreadable(error) from error

    def __enter__(self) -> tuple[Source, int]:
        if not isinstance(self._descriptor, int):
            return self._descriptor, self._descriptor.size
        try:
            status = os.fstat(self._descriptor)
        except BaseException:
            os.close(self._descriptor)
            raise
        if not stat.S_ISREG(status.st_mode):
            os.close(self._descriptor)
            raise UnreadableError(_NOT_REGULAR)
        return self._descriptor, status.st_size

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(self._descriptor, int):
            os.close(self._descriptor)
        if isinstance(error, OSError):
            raise unreadable(error) from error


def pread(source: Source, size: int, position: int) -> bytes:
    """Return `size` bytes from a position, fewer at the end of the file."""
    return os.pread(source, size, position) if isinstance(source, int) else source.pread(size, position)


def pread_into(source: Source, buffer: memoryview, position: int) -> int:
    """Fill a buffer from a position; return how many bytes were read."""
    if isinstance(source, int):
        return os.preadv(source, [buffer], position)
    data = source.pread(len(buffer), position)
    buffer[: len(data)] = data
    return len(data)


def readable_size(path: str, *, at: int | None = None) -> int:
    """Return the size in bytes of a readable regular file; UnreadableError as `opened` for any other."""
    try:
        if at is not None or store_of(path) is None:
            status = os.stat(path, dir_fd=at, follow_symlinks=False)
            may_read = status.st_mode & _ANYBODY == _ANYBODY or os.access(path, os.R_OK, dir_fd=at)
            if stat.S_ISREG(status.st_mode) and may_read:
                return status.st_size
    except (OSError, ValueError):
        pass
    with opened(path, at=at) as (_, size):
        return size


class Filled(NamedTuple):
    """The content of a file that may end in a hole."""

    data: bytes
    """The bytes before the hole."""
    size: int
    """The size of the file in bytes; the bytes after `data` are zeros."""


def read_filled(path: str) -> Filled:
    """Return a file without the hole at its end; UnreadableError if it cannot be read.

    The index of an active segment is mostly preallocated space.
    """
    with opened(path) as (descriptor, size):
        if size <= _HOLE_SIZE_MIN:
            data = _read(descriptor, size)
            return Filled(data, len(data))
        filled = _before_hole(descriptor, size)
        if filled > SMALL_FILE_SIZE_MAX:
            raise too_large(filled)
        data = _read(descriptor, filled)
        return Filled(data, size if len(data) == filled else len(data))


def _before_hole(descriptor: Source, size: int) -> int:
    """Return the position of the hole at the end of a file; its size if it has none, or if that is not known."""
    if not isinstance(descriptor, int):
        return size
    try:
        hole = os.lseek(descriptor, 0, os.SEEK_HOLE)
    except OSError:
        return size
    return hole if next_data(descriptor, hole) is None else size


def next_data(descriptor: Source, position: int) -> int | None:
    """Return the next position with data, at or after `position`; None if only a hole of zeros follows.

    Return `position` itself if the file system does not know. The descriptor's own position changes, but all reads name
    theirs.
    """
    if not isinstance(descriptor, int):
        return position
    try:
        return os.lseek(descriptor, position, os.SEEK_DATA)
    except OSError as error:
        return None if error.errno == errno.ENXIO else position


def small_size_max(name: str) -> int:
    """Return the largest size in bytes at which kcheck reads a small file, by its name or path."""
    return _CHECKPOINT_SIZE_MAX if name.endswith("-checkpoint") else SMALL_FILE_SIZE_MAX


def read_whole(path: str, *, follow: bool = False, size_max: int | None = None, at: int | None = None) -> bytes:
    """Return the bytes of a small file; UnreadableError if it is larger than `size_max` or cannot be read."""
    size_max = small_size_max(path) if size_max is None else size_max
    store = None if at is not None else store_of(path)
    if store is not None and not store.is_held(path):
        return _read_unlisted(store, path, size_max)
    with opened(path, follow=follow, at=at) as (descriptor, size):
        if size > size_max:
            raise too_large(size)
        return _read(descriptor, size)


def _read_unlisted(store: Store, path: str, size_max: int) -> bytes:
    """Return the bytes of a small file of unknown size; asking for its size would cost another request."""
    try:
        data = store.read(path, 0, size_max + 1)
    except OSError as error:
        raise unreadable(error) from error
    if len(data) > size_max:
        words = f"more than {size_max} bytes are too many for a file of this kind"
        raise UnreadableError(words, UnreadableCause.TOO_LARGE)
    return data


def _read(descriptor: Source, size: int) -> bytes:
    """Return the first `size` bytes of a file, fewer if it has become shorter."""
    data = more = pread(descriptor, size, 0) if size else b""
    while more and len(data) < size:
        more = pread(descriptor, size - len(data), len(data))
        data += more
    return data
