"""Slow and obvious versions of LeaderEpochFileCache, and of the fork of two logs."""

from collections.abc import Sequence

from kcheck.model.release import Assign, Lookup

Entries = list[tuple[int, int]]
"""(epoch, start offset)."""


def end_offset_for(cache: Entries, requested: int, log_end: int, lookup: Lookup) -> tuple[int | None, int]:
    """Split the cache in two, as endOffsetFor does from 0.11 to 2.6."""
    below = [entry for entry in cache if entry[0] <= requested]
    above = [entry for entry in cache if entry[0] > requested]
    latest = cache[-1][0] if cache else -1
    if lookup is Lookup.L1A or lookup is Lookup.L1B:
        if requested == -1 and lookup is Lookup.L1B:
            return None, -1
        if requested == latest:
            return None, log_end
        return None, -1 if not above or requested < cache[0][0] else above[0][1]
    if requested == -1:
        return -1, -1
    if requested == latest:
        return requested, log_end
    if not above:
        return -1, -1
    if lookup is Lookup.L2:
        return (-1, -1) if requested < cache[0][0] else (below[-1][0], above[0][1])
    return (below[-1][0], above[0][1]) if below else (requested, above[0][1])


def assign(cache: Entries, epoch: int, start: int, how: Assign) -> Entries | None:
    """Return the cache after an assignment; None if it is refused."""
    last_epoch, last_start = cache[-1] if cache else (-1, -1)
    if how is Assign.IGNORE:
        if epoch < 0:
            return None
        return [*cache, (epoch, start)] if epoch > last_epoch and start >= last_start else cache
    if cache and epoch == last_epoch and start >= last_start:
        return cache
    if epoch < 0 or (how is Assign.POP and start < 0):
        return None
    if how is Assign.FILTER:
        return [(e, s) for e, s in cache if e < epoch and s < start] + [(epoch, start)]
    kept = list(cache)
    while kept and (kept[-1][0] >= epoch or kept[-1][1] >= start):
        kept = kept[:-1]
    return [*kept, (epoch, start)]


def truncate_from_end(cache: Entries, end: int) -> Entries:
    """Drop the entries that start at or above the end, if the last one does."""
    if end >= 0 and cache and cache[-1][1] >= end:
        return [(epoch, start) for epoch, start in cache if start < end]
    return cache


def truncate_from_start(cache: Entries, start: int) -> Entries:
    """Remove the entries that start at or below `start`, and put the last one back at `start` (2.0.1)."""
    taken = [entry for entry in cache if entry[1] <= start]
    left = [entry for entry in cache if entry[1] > start]
    return [(taken[-1][0], start), *left] if taken else cache


def clear_earliest(cache: Entries, start: int) -> Entries:
    """Do the same as clearAndFlushEarliest up to 2.0.0, which keeps an entry at `start`."""
    taken = [entry for entry in cache if entry[1] < start]
    if start < 0 or not cache or cache[0][1] >= start:
        return cache
    left = [entry for entry in cache if entry[1] >= start]
    return left if left and left[0][1] == start else [(taken[-1][0], start), *left]


def end_of_epoch(log: Sequence[int], requested: int) -> tuple[int, int]:
    """Return the largest epoch of a record not above `requested`, and the offset where the next larger one begins."""
    known = [epoch for epoch in log if epoch <= requested]
    above = [offset for offset, epoch in enumerate(log) if epoch > requested]
    if not above:
        return (known[-1], len(log)) if requested in log else (-1, -1)
    return known[-1] if known else requested, above[0]
