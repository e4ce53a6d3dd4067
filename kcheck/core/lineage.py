"""Which epoch wrote which offsets of a log, and where two logs part.

One epoch has one leader, so two records with the same offset and epoch are the same record; the first offset whose
epochs differ is where the logs fork. A lineage comes from batch headers where there are batches, else from the epoch
cache, which says nothing about offsets below its first entry.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from kcheck.model.entries import Batch, Epoch, EpochEntries, Offset


class EpochRange(NamedTuple):
    """Offsets `[start, end)` written in one epoch; None: not known (older message formats, no cache entry)."""

    start: Offset
    end: Offset
    epoch: Epoch | None


Lineage = tuple[EpochRange, ...]
Entries = Iterable[tuple[int, int]]
"""Epochs and their first offsets, as an epoch cache has them."""


class Fork(NamedTuple):
    """Where two lineages part.

    `first_difference` is the first offset known to differ. `common_prefix` is the first offset that both logs do not
    share, None where an offset before it is not known in one of them or where the logs do not overlap.
    """

    common_prefix: Offset | None
    first_difference: Offset | None


def lineage_of_cache(cache: EpochEntries, *, log_start_offset: Offset, log_end_offset: Offset) -> Lineage:
    """Return the runs that the cache tells, within `[log_start_offset, log_end_offset)`."""
    starts = [max(entry.start_offset, log_start_offset) for entry in cache]
    known = starts[0] if starts else log_end_offset
    runs = [EpochRange(log_start_offset, Offset(min(known, log_end_offset)), None)]
    for entry, start, end in zip(cache, starts, [*starts, log_end_offset][1:], strict=True):
        runs.append(EpochRange(Offset(start), Offset(min(end, log_end_offset)), entry.epoch))
    return tuple(run for run in runs if run.start < run.end)


def lineage_of_batches(batches: Iterable[Batch]) -> Lineage:
    """Return the runs of batches in offset order; a gap between two batches of one epoch does not end its run."""
    runs: list[EpochRange] = []
    for batch in batches:
        end = Offset(batch.last_offset + 1)
        if runs and runs[-1].epoch == batch.epoch:
            runs[-1] = EpochRange(runs[-1].start, end, batch.epoch)
        else:
            runs.append(EpochRange(batch.base_offset, end, batch.epoch))
    return tuple(runs)


def fork(a: Lineage, b: Lineage, *, a_end: Offset, b_end: Offset) -> Fork:
    """Return where the logs with these lineages and log end offsets part."""
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


def contradict(a: Entries, b: Entries, *, a_end: int, b_end: int) -> bool:
    """Whether the caches of two logs cannot be of one history, whatever was compacted away.

    A replica that fetches a compacted log learns of an epoch with the first of its records that is left, or never. So
    each entry tells the epoch of one offset alone, the last one that of the last offset too; these must rise together.
    """
    facts = sorted({*_facts(a, a_end), *_facts(b, b_end)})
    return any(offset == next_offset or epoch > after for (offset, epoch), (next_offset, after) in pairwise(facts))


def _facts(entries: Entries, end: int) -> set[tuple[int, int]]:
    known = [(start, epoch) for epoch, start in entries if start < end]
    return {*known, *((end - 1, epoch) for _, epoch in known[-1:])}


class Ranges(NamedTuple):
    """What a truncation does to the follower's offsets, each `[from, to)` or None where empty or not known.

    `kept_divergent` stays and differs from the leader; `lost` is gone and the leader does not have it; `refetched` is
    gone and comes back from the leader. What lay below the follower's log start is neither. `certain` is False where
    the fork is not known: `lost` is then an upper bound.
    """

    kept_divergent: tuple[Offset, Offset] | None
    lost: tuple[Offset, Offset] | None
    refetched: tuple[Offset, Offset] | None
    certain: bool


def ranges(found: Fork, *, log_start_offset: Offset, before: Offset, after: Offset) -> Ranges:
    """Return the ranges of a follower that starts at `log_start_offset`; its log end goes from `before` to `after`."""
    parts = found.common_prefix
    if parts is None:
        kept = _range(found.first_difference, after)
        return Ranges(kept, _range(max(after, log_start_offset), before), None, certain=False)
    back = _range(max(after, log_start_offset), min(parts, before))
    return Ranges(_range(parts, after), _range(max(after, parts, log_start_offset), before), back, certain=True)


def _range(start: int | None, end: int) -> tuple[Offset, Offset] | None:
    return (Offset(start), Offset(end)) if start is not None and start < end else None
