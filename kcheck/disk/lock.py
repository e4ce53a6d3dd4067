"""Who holds a log dir: the broker's `.lock`, a POSIX record lock (FileLock, FileChannel.tryLock), asked."""

import os
import struct
import sys

from kcheck.disk.read import UnreadableError, opened
from kcheck.disk.remote import store_of

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
        with opened(os.path.join(log_dir, ".lock")) as (descriptor, _):
            assert isinstance(descriptor, int)
            question = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            kind, _, _, _, process = _FLOCK.unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, question))
            return None if kind == fcntl.F_UNLCK else int(process)
    except (UnreadableError, OSError):
        return None
