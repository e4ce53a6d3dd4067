"""The broker's lock on a log dir, `.lock`: who holds it, and holding it (FileLock, FileChannel.tryLock)."""

import contextlib
import os
import re
import struct
import sys
from collections.abc import Iterable, Iterator

from kcheck.disk.local import LOCAL, LocalFile
from kcheck.errors import LogDirInUseError
from kcheck.model.names import FileKind
from kcheck.model.unreadable import UnreadableError

_TEMPORARY = ".kcheck-lock"
"""The name of a new `.lock` until it has its owner."""
_MARK = "user.kcheck.times"
"""The attribute of a log dir whose `.lock` kcheck made: the times that the log dir had before."""
_TIMES = re.compile(rb"(-?[0-9]{1,19}) (-?[0-9]{1,19})")
_FLOCK = struct.Struct("hhqqi4x")
"""The struct flock of 64-bit Linux (type, whence, start, length, process)."""


def locked_by(log_dir: str) -> int | None:
    """Return the id of the process that holds the log dir; None without one, or if unknown on this system.

    The id is 0 for a process in another container.
    """
    if not sys.platform.startswith("linux"):
        return None
    import fcntl  # not on every system

    try:
        with LOCAL.open(os.path.join(log_dir, FileKind.LOCK)) as file:
            assert isinstance(file, LocalFile)
            write_lock = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            kind, _, _, _, process = _FLOCK.unpack(fcntl.fcntl(file, fcntl.F_GETLK, write_lock))
            return None if kind == fcntl.F_UNLCK else int(process)
    except (UnreadableError, OSError):
        return None


@contextlib.contextmanager
def held(log_dirs: Iterable[str]) -> Iterator[None]:
    """Lock log dirs as a broker does, all or none.

    LogDirInUseError if one is in use or cannot be locked, PlanError if a link leads to it.

    A missing `.lock` is created, and removed afterwards; the times of the log dir stay. If kcheck was killed meanwhile,
    the next call removes the leftovers. This process must not open a `.lock` in the `with` block. Closing any
    descriptor of the file releases a POSIX lock.
    """
    import fcntl  # not on every system

    from kcheck.disk.places import opened_log_dir  # only to hold one: a check asks who does

    with contextlib.ExitStack() as stack:
        for log_dir in sorted(log_dirs):
            path = os.path.join(log_dir, FileKind.LOCK)
            try:
                folder = opened_log_dir(log_dir)
                stack.callback(os.close, folder)
                descriptor, is_made = _lock_file(folder)
                stack.callback(os.close, descriptor)
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                here = os.stat(FileKind.LOCK, dir_fd=folder, follow_symlinks=False)
                if not os.path.samestat(os.fstat(descriptor), here):
                    raise LogDirInUseError(f"{log_dir} is in use: another process has just released {path}")
                if _tidied(folder) or is_made:
                    stack.callback(_remove, folder)
            except BlockingIOError as error:
                raise LogDirInUseError(f"{log_dir} is in use: another process holds {path}") from error
            except OSError as error:
                raise LogDirInUseError(f"cannot lock {path}: {error.strerror}") from error
        yield


def _lock_file(folder: int) -> tuple[int, bool]:
    """Return the descriptor of the lock file in an open log dir, and whether this call created the file."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with contextlib.suppress(FileNotFoundError):
        return os.open(FileKind.LOCK, flags, dir_fd=folder), False
    around = os.stat(folder)
    _mark(folder, around, os.XATTR_CREATE)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_TEMPORARY, dir_fd=folder)
    # Its name comes last: a broker that does not run as root could not open a file of root.
    descriptor = os.open(_TEMPORARY, flags | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
    try:
        if (around.st_uid, around.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(descriptor, around.st_uid, around.st_gid)
        os.fchmod(descriptor, 0o644)
        os.link(_TEMPORARY, FileKind.LOCK, src_dir_fd=folder, dst_dir_fd=folder)
        os.unlink(_TEMPORARY, dir_fd=folder)
        os.utime(folder, ns=(around.st_atime_ns, around.st_mtime_ns))
    except OSError:
        os.close(descriptor)
        with contextlib.suppress(OSError):
            _tidied(folder)  # A mark stays for the next call, which finds a `.lock` of kcheck by it.
        raise
    return descriptor, True


def _tidied(folder: int) -> bool:
    """Restore the times of a marked log dir; return whether it has a mark, so that kcheck made its `.lock`."""
    around, marked = os.stat(folder), _marked(folder)
    is_left = True
    try:
        os.unlink(_TEMPORARY, dir_fd=folder)
    except FileNotFoundError:
        is_left = False
    if is_left or marked:
        os.utime(folder, ns=marked or (around.st_atime_ns, around.st_mtime_ns))
    return marked is not None


def _remove(folder: int) -> None:
    """Remove a `.lock` that kcheck made, and then the mark."""
    with contextlib.suppress(OSError):
        around = os.stat(folder)
        _mark(folder, around, 0)
        os.unlink(FileKind.LOCK, dir_fd=folder)
        os.utime(folder, ns=(around.st_atime_ns, around.st_mtime_ns))
        os.removexattr(folder, _MARK)


def _mark(folder: int, around: os.stat_result, flags: int) -> None:
    """Keep the times of a log dir in an attribute, for the case of a kill before they are restored."""
    with contextlib.suppress(OSError):  # Not every file system has attributes; a mark that is there stays.
        os.setxattr(folder, _MARK, f"{around.st_atime_ns} {around.st_mtime_ns}".encode(), flags)


def _marked(folder: int) -> tuple[int, int] | None:
    """Return the times in the mark of a log dir; None if it has none."""
    with contextlib.suppress(OSError):
        match = _TIMES.fullmatch(os.getxattr(folder, _MARK))
        return None if match is None else (int(match[1]), int(match[2]))
    return None
