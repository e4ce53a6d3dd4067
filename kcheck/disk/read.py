"""Reads files that may be anything: only regular files, no symbolic links, and without changing access times."""

import errno
import os
import stat

from kcheck.disk.remote import RemoteFile, Store, store_of
from kcheck.model.source import Filled, Source
from kcheck.model.unreadable import UnreadableCause, UnreadableError

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


class LocalFile:
    """An open file of this machine: a `Source`, as long as the block of `opened` lasts."""

    __slots__ = ("_descriptor", "size")

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor = descriptor
        self.size = size

    def fileno(self) -> int:
        """Return the descriptor, as of any file of Python."""
        return self._descriptor

    def pread(self, count: int, position: int) -> bytes:
        """Return bytes as `Source.pread`."""
        return os.pread(self._descriptor, count, position)

    def pread_into(self, buffer: memoryview, position: int) -> int:
        """Fill a buffer as `Source.pread_into`."""
        return os.preadv(self._descriptor, [buffer], position)

    def next_data(self, position: int) -> int | None:
        """Return where data follows as `Source.next_data`; the position itself where the file system does not know."""
        try:
            return os.lseek(self._descriptor, position, os.SEEK_DATA)
        except OSError as error:
            return None if error.errno == errno.ENXIO else position

    def filled_size(self) -> int:
        """Return where the hole begins that ends the file; its size if there is none, or none is known."""
        try:
            hole = os.lseek(self._descriptor, 0, os.SEEK_HOLE)
        except OSError:
            return self.size
        return hole if self.next_data(hole) is None else self.size


class opened:  # noqa: N801 - it is used as a function is
    """Open a regular file for a `with` block; gives a `Source`. UnreadableError for anything else.

    `follow` follows a symbolic link: only for a path that the user named. `at` is the descriptor of a directory; the
    path is then a name in it. An OSError inside of the block becomes an UnreadableError.
    """

    __slots__ = ("_file",)

    def __init__(self, path: str, *, follow: bool = False, at: int | None = None) -> None:
        store = store_of(path) if at is None else None
        flags = _FLAGS & ~_NOFOLLOW if follow else _FLAGS
        self._file: int | RemoteFile
        try:
            if store is not None:
                self._file = RemoteFile(store, path, store.size(path))
                return
            try:
                self._file = os.open(path, flags | _NOATIME, dir_fd=at)
            except PermissionError:
                # Only the owner may use O_NOATIME.
                self._file = os.open(path, flags, dir_fd=at)
        except OSError as error:
            if error.errno == errno.ELOOP and store is None:
                raise UnreadableError("a symbolic link: not followed", UnreadableCause.LINK) from error
            if error.errno in _WORDS:
                raise UnreadableError(_WORDS[error.errno]) from error
            raise unreadable(error) from error
        except ValueError as error:
            raise unreadable(error) from error

    def __enter__(self) -> LocalFile | RemoteFile:
        if not isinstance(self._file, int):
            return self._file
        try:
            status = os.fstat(self._file)
        except BaseException:
            os.close(self._file)
            raise
        if not stat.S_ISREG(status.st_mode):
            os.close(self._file)
            raise UnreadableError(_NOT_REGULAR)
        return LocalFile(self._file, status.st_size)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(self._file, int):
            os.close(self._file)
        if isinstance(error, OSError):
            raise unreadable(error) from error


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
    with opened(path, at=at) as source:
        return source.size


def read_filled(path: str, *, at: int | None = None) -> Filled:
    """Return a file without the hole at its end; UnreadableError if it cannot be read.

    The index of an active segment is mostly preallocated space.
    """
    with opened(path, at=at) as source:
        if source.size <= _HOLE_SIZE_MIN:
            data = _read(source, source.size)
            return Filled(data, len(data))
        filled = source.filled_size() if isinstance(source, LocalFile) else source.size
        if filled > SMALL_FILE_SIZE_MAX:
            raise too_large(filled)
        data = _read(source, filled)
        return Filled(data, source.size if len(data) == filled else len(data))


class FilesOf:
    """The files of one directory, by path: `kcheck.model.source.Files` that other processes can be given.

    `follow` follows a symbolic link when a file is opened: only for a path that the user named.
    """

    __slots__ = ("_follow", "_prefix")

    def __init__(self, directory: str, *, follow: bool = False) -> None:
        self._prefix = os.path.join(directory, "")
        self._follow = follow

    def open(self, name: str) -> opened:
        """Open a file as `opened`."""
        return opened(self._prefix + name, follow=self._follow)

    def read_filled(self, name: str) -> Filled:
        """Return a file as `read_filled`."""
        return read_filled(self._prefix + name)


def small_size_max(name: str) -> int:
    """Return the largest size in bytes at which kcheck reads a small file, by its name or path."""
    return _CHECKPOINT_SIZE_MAX if name.endswith("-checkpoint") else SMALL_FILE_SIZE_MAX


def read_whole(path: str, *, follow: bool = False, size_max: int | None = None, at: int | None = None) -> bytes:
    """Return the bytes of a small file; UnreadableError if it is larger than `size_max` or cannot be read."""
    size_max = small_size_max(path) if size_max is None else size_max
    store = None if at is not None else store_of(path)
    if store is not None and not store.is_held(path):
        return _read_unlisted(store, path, size_max)
    with opened(path, follow=follow, at=at) as source:
        if source.size > size_max:
            raise too_large(source.size)
        return _read(source, source.size)


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


def _read(source: Source, size: int) -> bytes:
    """Return the first `size` bytes of a file, fewer if it has become shorter."""
    data = more = source.pread(size, 0) if size else b""
    while more and len(data) < size:
        more = source.pread(size - len(data), len(data))
        data += more
    return data
