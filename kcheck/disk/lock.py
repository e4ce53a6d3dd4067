"""The broker's lock on a log dir, `.lock`: who holds it, and holding it (FileLock, FileChannel.tryLock)."""

import contextlib
import os
import struct
import sys
from collections.abc import Iterable, Iterator

from kcheck.disk.read import LocalFile, opened
from kcheck.disk.remote import store_of
from kcheck.errors import LogDirInUseError
from kcheck.model.names import FileKind
from kcheck.model.unreadable import UnreadableError

_FLOCK = struct.Struct("hhqqi4x")
"""The struct flock of 64-bit Linux: type, whence, start, length, process."""


def locked_by(log_dir: str) -> int | None:
    """Return the id of the process that holds the log dir; None if none does, or if this system cannot tell.

    The id is 0 for a process in another container.
    """
    if store_of(log_dir) is not None or not sys.platform.startswith("linux"):
        return None
    import fcntl  # not on every system

    try:
        with opened(os.path.join(log_dir, FileKind.LOCK)) as file:
            assert isinstance(file, LocalFile)
            write_lock = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            kind, _, _, _, process = _FLOCK.unpack(fcntl.fcntl(file, fcntl.F_GETLK, write_lock))
            return None if kind == fcntl.F_UNLCK else int(process)
    except (UnreadableError, OSError):
        return None


@contextlib.contextmanager
def held(log_dirs: Iterable[str]) -> Iterator[None]:
    """Lock log dirs as a broker does, all or none; LogDirInUseError if one is in use or cannot be locked.

    A missing `.lock` is created, and removed afterwards. This process must not open a `.lock` in the `with` block:
    closing any descriptor of the file releases a POSIX lock.
    """
    import fcntl  # not on every system

    with contextlib.ExitStack() as stack:
        for log_dir in sorted(log_dirs):
            path = os.path.join(log_dir, FileKind.LOCK)
            try:
                descriptor, is_made = _lock_file(path, log_dir)
                stack.callback(os.close, descriptor)
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not os.path.samestat(os.fstat(descriptor), os.lstat(path)):
                    raise LogDirInUseError(f"{log_dir} is in use: another process has just released {path}")
            except BlockingIOError as error:
                raise LogDirInUseError(f"{log_dir} is in use: another process holds {path}") from error
            except OSError as error:
                raise LogDirInUseError(f"cannot lock {path}: {error.strerror}") from error
            if is_made:
                stack.callback(_remove, path, log_dir)
        yield


def _remove(path: str, log_dir: str) -> None:
    with contextlib.suppress(OSError):
        around = os.stat(log_dir)
        os.unlink(path)
        os.utime(log_dir, ns=(around.st_atime_ns, around.st_mtime_ns))


def _lock_file(path: str, log_dir: str) -> tuple[int, bool]:
    """Return the descriptor of the lock file, and whether this call created the file."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags), False
    except FileNotFoundError:
        around = os.stat(log_dir)
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644)
        os.utime(log_dir, ns=(around.st_atime_ns, around.st_mtime_ns))
    # A broker that does not run as root could not open a file of root.
    if (around.st_uid, around.st_gid) != (os.geteuid(), os.getegid()):
        os.fchown(descriptor, around.st_uid, around.st_gid)
    return descriptor, True
