"""Limits what a thread reads from object stores, and how many threads hold much of it in memory at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, local

from kcheck.errors import TooMuchReadError


class _ThreadQuota(local):
    """The bytes that this thread may still read."""

    size: int | None = None
    """Number of bytes that it may read before TooMuchReadError; None without a limit."""
    share: int | None = None
    """Number of bytes to read before waiting for other threads; None without a limit, or after the wait."""


_QUOTA = _ThreadQuota()
_SHARE = 16 << 20
"""Number of bytes that each thread may hold, which is enough for most directories."""
_LARGE_READERS = BoundedSemaphore(4)
"""The threads that may hold more, up to their own limit."""


@contextmanager
def reading_at_most(size: int, *, holds: bool) -> Iterator[None]:
    """Let this thread read at most `size` bytes from stores; TooMuchReadError beyond that.

    A thread that `holds` what it reads in memory waits if too many others hold much.
    """
    _QUOTA.size, _QUOTA.share = size, _SHARE if holds else None
    try:
        yield
    finally:
        if holds and _QUOTA.share is None:
            _LARGE_READERS.release()
        _QUOTA.size = _QUOTA.share = None


def take(size: int) -> None:
    """Count bytes that this thread is about to read from a store."""
    if _QUOTA.size is not None:
        _QUOTA.size -= size
        if _QUOTA.size < 0:
            raise TooMuchReadError("gave up: it needs more bytes than any sound directory")
    if _QUOTA.share is not None:
        _QUOTA.share -= size
        if _QUOTA.share < 0:
            _LARGE_READERS.acquire()
            _QUOTA.share = None
