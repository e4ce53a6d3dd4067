"""Whether two copies of a metadata log are one history: a leader writes one batch at an offset of its epoch."""

from collections.abc import Iterable
from typing import NamedTuple


class BatchMark(NamedTuple):
    """The marks that distinguish a batch."""

    base: int
    last: int
    epoch: int
    crc: int


def first_rift(one: Iterable[BatchMark], other: Iterable[BatchMark]) -> BatchMark | None:
    """Return the first batch of one log that differs from a batch of the same epoch at these offsets; None without.

    Batches of different epochs at one offset are no rift: an election takes one of them back.
    """
    left, right = iter(one), iter(other)
    a, b = next(left, None), next(right, None)
    while a is not None and b is not None:
        if a.epoch == b.epoch and a != b and a.base <= b.last and b.base <= a.last:
            return a
        ahead = a.last - b.last
        if ahead <= 0:
            a = next(left, None)
        if ahead >= 0:
            b = next(right, None)
    return None
