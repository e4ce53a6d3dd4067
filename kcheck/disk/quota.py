"""How much a thread may read of object stores, and how many threads may hold much of it at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, local

from kcheck.errors import TooMuchReadError


class _Left(local):
    """How many bytes this thread may still read, None without a bound; so many of them before it waits for others."""

    size: int | None = None
    share: int | None = None


_LEFT = _Left()
_SHARE = 16 << 20
"""So many bytes every thread may hold: more than what is read of most directories."""
_BEYOND = BoundedSemaphore(4)
"""So many threads may hold more, up to their own bound."""


@contextmanager
def reading_at_most(size: int, *, holds: bool) -> Iterator[None]:
    """Let this thread read so many bytes of stores; TooMuchReadError once they are more.

    If it `holds` what it reads, it waits where too many others hold much.
    """
    _LEFT.size, _LEFT.share = size, _SHARE if holds else None
    try:
        yield
    finally:
        if holds and _LEFT.share is None:
            _BEYOND.release()
        _LEFT.size = _LEFT.share = None


def take(size: int) -> None:
    """Count bytes that this thread is about to read of a store."""
    if _LEFT.size is not None:
        _LEFT.size -= size
        if _LEFT.size < 0:
            raise TooMuchReadError("more is read of it than of any directory that is in order")
    if _LEFT.share is not None:
        _LEFT.share -= size
        if _LEFT.share < 0:
            _BEYOND.acquire()
            _LEFT.share = None
