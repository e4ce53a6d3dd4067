"""Epochs of the offsets of a log, the fork of two logs, and the records that a truncation loses.

One epoch has one leader, so two records with the same offset and epoch are the same record. The logs fork at the first
offset whose epochs differ. A lineage comes from batch headers if there are any, else from the epoch cache. The cache
says nothing about offsets below its first entry.
"""

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from kcheck.model.entries import Batch, Epoch, EpochEntries, Offset


class EpochRange(NamedTuple):
    """Offsets `[start, end)` written in one epoch."""

    start: Offset
    """The first offset."""
    end: Offset
    """The offset after the last one."""
    epoch: Epoch | None
    """Their leader epoch; None if it is not known (magic 0 or 1, or below the first cache entry)."""


Lineage = tuple[EpochRange, ...]
EpochPairs = Iterable[tuple[int, int]]
"""(epoch, start offset) pairs of an epoch cache."""


class Fork(NamedTuple):
    """The fork of two lineages."""

    common_prefix: Offset | None
    """The first offset that the logs do not share.

    None if one log does not give the epoch of a lower offset, or if the logs do not overlap.
    """
    first_difference: Offset | None
    """The first offset whose epochs are known to differ; None if no offset is."""


@lru_cache(16)  # As for `fork`: each replica is compared with each.
def lineage_of_cache(cache: EpochEntries, *, log_start_offset: Offset, log_end_offset: Offset) -> Lineage:
    """Return the lineage by the cache, within `[log_start_offset, log_end_offset)`."""
    starts = [max(entry.start_offset, log_start_offset) for entry in cache]
    known = starts[0] if starts else log_end_offset
    runs = [EpochRange(log_start_offset, Offset(min(known, log_end_offset)), None)]
    for entry, start, end in zip(cache, starts, [*starts, log_end_offset][1:], strict=True):
        runs.append(EpochRange(Offset(start), Offset(min(end, log_end_offset)), entry.epoch))
    return tuple(run for run in runs if run.start < run.end)


def lineage_of_batches(batches: Iterable[Batch]) -> Lineage:
    """Return the lineage of batches in offset order; a gap between two batches of one epoch counts as that epoch."""
    runs: list[EpochRange] = []
    for batch in batches:
        end = Offset(batch.last_offset + 1)
        if runs and runs[-1].epoch == batch.epoch:
            runs[-1] = EpochRange(runs[-1].start, end, batch.epoch)
        else:
            runs.append(EpochRange(batch.base_offset, end, batch.epoch))
    return tuple(runs)


@lru_cache(16)  # Mostly the replicas of a partition are alike, and each is compared with each.
def fork(a: Lineage, b: Lineage, *, a_end: Offset, b_end: Offset) -> Fork:
    """Return the fork of two logs, by their lineages and log end offsets."""
    unknown: Offset | None = None
    i = j = 0
    while i < len(a) and j < len(b):
        start, end = max(a[i].start, b[j].start), min(a[i].end, b[j].end)
        if start < end:
            if a[i].epoch is None or b[j].epoch is None:
                unknown = Offset(start) if unknown is None else unknown
            elif a[i].epoch != b[j].epoch:
                return Fork(Offset(start) if unknown is None else None, Offset(start))
        if a[i].end <= b[j].end:
            i += 1
        else:
            j += 1
    first = max(a[0].start if a else a_end, b[0].start if b else b_end)
    shared = Offset(min(a_end, b_end))
    return Fork(shared if unknown is None and first <= shared else None, None)


def contradict(a: EpochPairs, b: EpochPairs, *, a_end: int, b_end: int) -> bool:
    """Return whether the caches of two logs cannot share one history, even if records were compacted away.

    A replica that fetches a compacted log learns about an epoch at its first remaining record, or never. So an entry
    proves only the epoch of its start offset. The last entry also proves the epoch of the last offset. Over both logs,
    epochs and offsets must rise together.
    """
    facts = sorted({*_proven_epochs(a, a_end), *_proven_epochs(b, b_end)})
    return any(
        offset == next_offset or epoch > next_epoch for (offset, epoch), (next_offset, next_epoch) in pairwise(facts)
    )


def _proven_epochs(entries: EpochPairs, end: int) -> set[tuple[int, int]]:
    """Return the (offset, epoch) pairs that a cache proves for a log that ends at `end`."""
    known = [(start, epoch) for epoch, start in entries if start < end]
    return {*known, *((end - 1, epoch) for _, epoch in known[-1:])}


class Ranges(NamedTuple):
    """The effect of a truncation on the follower's offsets, as ranges `[from, to)` at or above its log start."""

    kept_divergent: tuple[Offset, Offset] | None
    """Offsets that stay and differ from the leader's; None without any, or if not known."""
    lost: tuple[Offset, Offset] | None
    """Offsets that are removed and that the leader does not have; None without any."""
    refetched: tuple[Offset, Offset] | None
    """Offsets that are removed and fetched again from the leader; None without any, or if not known."""
    certain: bool
    """False if the fork is not known; `lost` is then an upper bound."""


def ranges(parted: Fork, *, log_start_offset: Offset, before: Offset, after: Offset) -> Ranges:
    """Return the loss of a follower that starts at `log_start_offset`; its log end moves from `before` to `after`."""
    shared_end = parted.common_prefix
    first_removed = max(after, log_start_offset)
    if shared_end is None:
        return Ranges(
            kept_divergent=_range(parted.first_difference, after),
            lost=_range(first_removed, before),
            refetched=None,
            certain=False,
        )
    return Ranges(
        kept_divergent=_range(shared_end, after),
        lost=_range(max(first_removed, shared_end), before),
        refetched=_range(first_removed, min(shared_end, before)),
        certain=True,
    )


def _range(start: int | None, end: int) -> tuple[Offset, Offset] | None:
    return (Offset(start), Offset(end)) if start is not None and start < end else None
