"""Reading files that may be anything: regular files only, no symbolic link, no access time changed."""

import errno
import os
import stat
from typing import NamedTuple

from kcheck.errors import KcheckError

_HOLE_SIZE_MIN = 64 << 10
"""A smaller file is read faster than it is asked for holes."""
SMALL_FILE_SIZE_MAX = 256 << 20
"""A text checkpoint or index larger than this is not read: no broker writes one."""

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_NOATIME = getattr(os, "O_NOATIME", 0)


class UnreadableError(KcheckError):
    """The operating system does not let us read this file; the message is its own word for it."""


class opened:  # noqa: N801 - it is used as a function is
    """Open a regular file; gives (descriptor, size in bytes). UnreadableError for anything else.

    `follow` is for a path that the user named; inside a checked directory no link is followed. An OSError inside of the
    block becomes an UnreadableError too.
    """

    __slots__ = ("_descriptor",)

    def __init__(self, path: str, *, follow: bool = False) -> None:
        self._descriptor = _open(path, follow=follow)

    def __enter__(self) -> tuple[int, int]:
        try:
            status = os.fstat(self._descriptor)
        except BaseException:
            os.close(self._descriptor)
            raise
        if not stat.S_ISREG(status.st_mode):
            os.close(self._descriptor)
            raise UnreadableError("not a regular file")
        return self._descriptor, status.st_size

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        os.close(self._descriptor)
        if isinstance(error, OSError):
            raise UnreadableError(error.strerror or str(error)) from error


def readable_size(path: str) -> int:
    """Return the size in bytes of a regular file that could be opened; UnreadableError as `opened` for any other."""
    try:
        status = os.lstat(path)
        if stat.S_ISREG(status.st_mode) and os.access(path, os.R_OK):
            return status.st_size
    except (OSError, ValueError):
        pass
    with opened(path) as (_, size):
        return size


class Filled(NamedTuple):
    """A file of `size` bytes: `data`, and zeros behind it."""

    data: bytes
    size: int


def read_filled(path: str) -> Filled:
    """Return a file, without the hole at its end: of an index most is only reserved while its segment is written to.

    UnreadableError if it cannot be read.
    """
    with opened(path) as (descriptor, size):
        filled = size if size <= _HOLE_SIZE_MIN else _before_hole(descriptor, size)
        if filled > SMALL_FILE_SIZE_MAX:
            raise UnreadableError(f"{filled} bytes are too many for a file of this kind")
        os.lseek(descriptor, 0, os.SEEK_SET)
        data = _read(descriptor, filled)
        return Filled(data, size if len(data) == filled else len(data))


def _before_hole(descriptor: int, size: int) -> int:
    """Return where the hole begins that goes on to the end of a file; `size` where there is none, or none is known."""
    try:
        hole = os.lseek(descriptor, 0, os.SEEK_HOLE)
    except OSError:
        return size
    return hole if next_data(descriptor, hole) is None else size


def next_data(descriptor: int, position: int) -> int | None:
    """Return from where on, at or behind a position, bytes were written; None: only a hole follows, of zeros.

    The position itself where the file system does not know. Files are read by position, so theirs may move.
    """
    try:
        return os.lseek(descriptor, position, os.SEEK_DATA)
    except OSError as error:
        return None if error.errno == errno.ENXIO else position


def read_whole(path: str, *, follow: bool = False, size_max: int = SMALL_FILE_SIZE_MAX) -> bytes:
    """Return the bytes of a small file; UnreadableError if it is larger than `size_max` or cannot be read."""
    with opened(path, follow=follow) as (descriptor, size):
        if size > size_max:
            raise UnreadableError(f"{size} bytes are too many for a file of this kind")
        return _read(descriptor, size)


def _read(descriptor: int, size: int) -> bytes:
    """Return so many bytes from the start of a file, fewer where it has become shorter."""
    data = os.read(descriptor, size)
    while 0 < len(data) < size:
        more = os.read(descriptor, size - len(data))
        if not more:
            break
        data += more
    return data


def _open(path: str, *, follow: bool) -> int:
    flags = _FLAGS & ~getattr(os, "O_NOFOLLOW", 0) if follow else _FLAGS
    try:
        try:
            return os.open(path, flags | _NOATIME)
        except PermissionError:
            # Only the owner may ask for an unchanged access time.
            return os.open(path, flags)
    except OSError as error:
        link = error.errno == errno.ELOOP
        raise UnreadableError("a symbolic link: not followed" if link else error.strerror or str(error)) from error
    except ValueError as error:
        raise UnreadableError(str(error)) from error
