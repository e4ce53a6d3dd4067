"""Who holds a log dir: the broker's `.lock`, a POSIX record lock (FileLock, FileChannel.tryLock), asked or taken."""

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
"""struct flock of 64-bit Linux: type, whence, start, length, process."""


def locked_by(log_dir: str) -> int | None:
    """Return the process that holds the log dir, None if nobody does or this system cannot tell.

    A lock of a process in another container is seen as process 0.
    """
    if store_of(log_dir) is not None or not sys.platform.startswith("linux"):
        return None
    import fcntl  # not on every system

    try:
        with opened(os.path.join(log_dir, FileKind.LOCK)) as file:
            assert isinstance(file, LocalFile)
            question = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            kind, _, _, _, process = _FLOCK.unpack(fcntl.fcntl(file, fcntl.F_GETLK, question))
            return None if kind == fcntl.F_UNLCK else int(process)
    except (UnreadableError, OSError):
        return None


@contextlib.contextmanager
def held(log_dirs: Iterable[str]) -> Iterator[None]:
    """Hold log dirs as a broker does, all of them before anything else; LogDirInUseError: one is held, or cannot be.

    A `.lock` that is missing is made, as a broker makes it, and is gone again afterwards. The process must open none of
    them meanwhile: that would let go of it.
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
                    raise LogDirInUseError(f"{log_dir} is in use: another process has just let go of {path}")
            except BlockingIOError as error:
                raise LogDirInUseError(f"{log_dir} is in use: another process holds {path}") from error
            except OSError as error:
                raise LogDirInUseError(f"{path} cannot be locked: {error.strerror}") from error
            if is_made:
                stack.callback(_remove, path, log_dir)
        yield


def _remove(path: str, log_dir: str) -> None:
    with contextlib.suppress(OSError):
        around = os.stat(log_dir)
        os.unlink(path)
        os.utime(log_dir, ns=(around.st_atime_ns, around.st_mtime_ns))


def _lock_file(path: str, log_dir: str) -> tuple[int, bool]:
    """Return the file, opened, and whether it was made."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags), False
    except FileNotFoundError:
        around = os.stat(log_dir)
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o644)
        os.utime(log_dir, ns=(around.st_atime_ns, around.st_mtime_ns))
    # Made by root it would keep the broker out.
    if (around.st_uid, around.st_gid) != (os.geteuid(), os.getegid()):
        os.fchown(descriptor, around.st_uid, around.st_gid)
    return descriptor, True
