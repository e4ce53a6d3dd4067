"""Tells whether two copies of a metadata log are one history, as no election removes a committed record."""

from collections.abc import Iterable
from typing import NamedTuple


class BatchMark(NamedTuple):
    """The marks that distinguish a batch."""

    base: int
    last: int
    epoch: int
    crc: int
    is_control: bool = False
    """True if the quorum wrote it for itself (LeaderChange, or the voters)."""


def committed_end(log: Iterable[BatchMark]) -> int:
    """Return the offset below which a log alone proves its records committed; 0 if it proves nothing.

    A leader changes the metadata only once the LeaderChange record of its epoch is committed (3.6 to 4.3.1). In 3.5 and
    earlier all records below it must be (KafkaRaftClient.ListenerContext.maybeFireLeaderChange).
    """
    proven, epoch, start = 0, -1, 0
    for mark in log:
        if mark.epoch != epoch:
            epoch, start = mark.epoch, mark.last + 1 if mark.is_control else mark.base
        if not mark.is_control:
            proven = start
    return proven


def first_rift(newest: Iterable[BatchMark], other: Iterable[BatchMark], committed: int) -> int | None:
    """Return the first offset of a record that both logs must share, but the newest lacks; None without one.

    A leader writes one batch at an offset of its epoch. Batches of different epochs at one offset are no rift if the
    other one need not be committed. An election removes it. `committed` is the end of its committed records.
    """
    left, right = iter(newest), iter(other)
    a, b = next(left, None), next(right, None)
    while a is not None and b is not None:
        if a != b and (a.epoch == b.epoch or b.base < committed) and a.base <= b.last and b.base <= a.last:
            return max(a.base, b.base)
        ahead = a.last - b.last
        if ahead <= 0:
            a = next(left, None)
        if ahead >= 0:
            b = next(right, None)
    return None
