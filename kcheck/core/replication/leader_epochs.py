"""The leader epoch cache of a replica, as functions on a tuple of entries.

The class is LeaderEpochFileCache (0.11 to 4.3). An entry gives the offset at which an epoch starts. The epoch ends
where the next entry starts. The latest epoch ends at the log end offset, which the caller passes in. Epochs and offsets
rise strictly, except in 2.6 and earlier. Those releases load the file unchanged, whatever its order.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter

from kcheck.model.entries import (
    UNDEFINED_EPOCH,
    UNDEFINED_EPOCH_OFFSET,
    Epoch,
    EpochEndOffset,
    EpochEntries,
    EpochEntry,
    Offset,
)
from kcheck.model.release import Assign, EpochLoad, Lookup, Release

_UNDEFINED = EpochEndOffset(UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET)


def latest_epoch(cache: Sequence[EpochEntry]) -> Epoch:
    """Return the epoch of the last entry; UNDEFINED_EPOCH for an empty cache (`latestEpoch`)."""
    return cache[-1].epoch if cache else UNDEFINED_EPOCH


def epoch_for_offset(cache: EpochEntries, offset: Offset) -> Epoch | None:
    """Return the epoch of the last entry that starts at or below `offset`; None without one (3.5+)."""
    return next((entry.epoch for entry in reversed(cache) if entry.start_offset <= offset), None)


def assign(cache: EpochEntries, epoch: Epoch, start_offset: Offset, *, how: Assign) -> EpochEntries:
    """Return the cache after `assign(epoch, startOffset)`, which starts the epoch at this offset.

    ValueError if the broker throws IllegalArgumentException. It does so for a negative epoch, and in 2.7 and later for
    a negative offset.
    """
    entries = list(cache)
    assign_to(entries, EpochEntry(epoch, start_offset), how=how, unsorted=unsorted(cache, how))
    return tuple(entries)


def unsorted(cache: Sequence[EpochEntry], how: Assign) -> int:
    """Return the number of leading entries that `assign_to` must check one by one; 0 if the file is ordered."""
    return len(cache) if how is Assign.FILTER and not rise(cache) else 0


def truncate_from_end(cache: EpochEntries, end_offset: Offset) -> EpochEntries:
    """Remove every entry that starts at or above `end_offset` (clearAndFlushLatest in 2.0.0 and earlier)."""
    if end_offset < 0 or not cache or cache[-1].start_offset < end_offset:
        return cache
    return tuple(entry for entry in cache if entry.start_offset < end_offset)


def truncate_from_start(cache: EpochEntries, start_offset: Offset, *, how: Assign) -> EpochEntries:
    """Replace the entries up to `start_offset` by the last of them, moved to this offset.

    In 2.0.0 and earlier (clearAndFlushEarliest) entries at `start_offset` itself stay.
    """
    if how is not Assign.IGNORE:
        earlier = [entry for entry in cache if entry.start_offset <= start_offset]
        kept = [entry for entry in cache if entry.start_offset > start_offset]
        return (EpochEntry(earlier[-1].epoch, start_offset), *kept) if earlier else cache
    earlier = [entry for entry in cache if entry.start_offset < start_offset]
    if start_offset < 0 or not cache or cache[0].start_offset >= start_offset:
        return cache
    kept = [entry for entry in cache if entry.start_offset >= start_offset]
    if not kept or start_offset < kept[0].start_offset:
        kept.insert(0, EpochEntry(earlier[-1].epoch, start_offset))
    return tuple(kept)


def end_offset_for(cache: EpochEntries, requested: Epoch, *, log_end_offset: Offset, lookup: Lookup) -> EpochEndOffset:
    """Return the end of `requested`, where the next epoch starts, or the log end for the latest (`endOffsetFor`).

    The answer names the largest known epoch not above `requested`. L1a and L1b answer with an offset only, epoch None.
    """
    if lookup in (Lookup.L1A, Lookup.L1B):
        offset = _end_offset_only(cache, requested, log_end_offset, lookup)
        return EpochEndOffset(None, offset)
    if requested == UNDEFINED_EPOCH:
        return _UNDEFINED
    if cache and requested == cache[-1].epoch:
        return EpochEndOffset(requested, log_end_offset)
    higher = next((entry for entry in cache if entry.epoch > requested), None)
    if higher is None:
        return _UNDEFINED
    floor = next((entry for entry in reversed(cache) if entry.epoch <= requested), None)
    if lookup is Lookup.L2 and requested < cache[0].epoch:
        return _UNDEFINED
    return EpochEndOffset(requested if floor is None else floor.epoch, higher.start_offset)


def around(cache: EpochEntries, epoch: Epoch) -> EpochEntries:
    """Return the entries of an ordered cache that `end_offset_for` needs for an epoch (neighbors, first and last).

    Answers from these few entries equal answers from the cache, at a fraction of its size.
    """
    at = bisect_right(cache, epoch, key=itemgetter(0))
    indexes = {0, at - 1, at, len(cache) - 1}
    return tuple(cache[index] for index in sorted(indexes) if 0 <= index < len(cache))


def load(
    lines: Iterable[EpochEntry],
    *,
    log_end_offset: Offset,
    log_start_checkpoint: Offset,
    first_segment: Offset,
    release: Release,
) -> EpochEntries:
    """Return the cache after a broker has loaded the log (Log.init in 2.8 and earlier, LogLoader.load in 3.0 and
    later).

    `lines` come from leader-epoch-checkpoint. `log_start_checkpoint` is 0 without an entry. ValueError if the load
    throws IllegalArgumentException (2.7 and later, for a negative epoch or offset).
    """
    if release.epoch_load is EpochLoad.E0 or not release.epoch_cache:
        return ()
    cache = truncate_from_end(read_lines(lines, release), log_end_offset)
    by_checkpoint_alone = release.epoch_load in (EpochLoad.E3, EpochLoad.E4)
    start = log_start_checkpoint if by_checkpoint_alone else max(log_start_checkpoint, first_segment)
    return truncate_from_start(cache, Offset(start), how=release.assign)


def read_lines(lines: Iterable[EpochEntry], release: Release) -> EpochEntries:
    """Return the cache after the constructor.

    2.6 and earlier take the lines unchanged. 2.7 and later assign each of them in turn.
    """
    unchanged = tuple(lines)
    if release.epoch_load in (EpochLoad.E0, EpochLoad.E1) or rise(unchanged):
        return unchanged
    entries: list[EpochEntry] = []
    for line in unchanged:
        assign_to(entries, line, how=Assign.POP)
    return tuple(entries)


def rise(entries: Iterable[EpochEntry]) -> bool:
    """Return whether no epoch or offset is negative and both columns rise strictly, as brokers write them."""
    epoch = offset = -1
    for entry in entries:
        if entry[0] <= epoch or entry[1] <= offset:
            return False
        epoch, offset = entry
    return True


def assign_to(entries: list[EpochEntry], new: EpochEntry, *, how: Assign, unsorted: int = 0) -> int:
    """Do `assign` in place and return the new `unsorted`; many assignments then copy nothing.

    The first `unsorted` entries may be in any order. The others rise, and are above all of those.
    """
    latest = entries[-1] if entries else EpochEntry(UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET)
    known = bool(entries) and latest.epoch == new.epoch and latest.start_offset <= new.start_offset
    if known and how is not Assign.IGNORE:
        return unsorted  # Kafka checks the sign later: up to 2.6 a file can hold a negative epoch.
    if new.epoch < 0 or (how is Assign.POP and new.start_offset < 0):
        raise ValueError(f"epoch {new.epoch} from offset {new.start_offset}")
    if how is Assign.IGNORE:
        if new.epoch > latest.epoch and new.start_offset >= latest.start_offset:
            entries.append(new)
        return unsorted
    while len(entries) > unsorted and _contradicts(entries[-1], new):
        entries.pop()
    if len(entries) == unsorted:
        entries[:] = [entry for entry in entries if not _contradicts(entry, new)]
    entries.append(new)
    return min(unsorted, len(entries) - 1)


def _contradicts(entry: EpochEntry, new: EpochEntry) -> bool:
    return entry.epoch >= new.epoch or entry.start_offset >= new.start_offset


def _end_offset_only(cache: EpochEntries, requested: Epoch, log_end_offset: Offset, lookup: Lookup) -> Offset:
    if requested == UNDEFINED_EPOCH and lookup is Lookup.L1B:
        return UNDEFINED_EPOCH_OFFSET
    if requested == latest_epoch(cache):
        return log_end_offset
    higher = next((entry for entry in cache if entry.epoch > requested), None)
    if higher is None or requested < cache[0].epoch:
        return UNDEFINED_EPOCH_OFFSET
    return higher.start_offset
