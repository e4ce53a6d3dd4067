"""What a broker concludes from the segments of a log when it loads it: which it rescans, and where the log ends."""

from collections.abc import Callable, Iterable, Sequence

from kcheck.model.entries import Batch, Offset
from kcheck.model.release import Release


def log_start_offset(
    checkpoint: Offset | None, first_segment: Offset | None, *, remote_storage: bool = False
) -> Offset:
    """Return the larger of the log-start checkpoint (0 without an entry) and the first segment's base offset.

    LogLoader.load 3.0 to 4.3.1, Log.loadSegments up to 2.8. Of a topic in remote storage it is the checkpoint alone.
    `remote_storage` tells only that a broker has such topics: from 3.8 on these are the ones that always have an entry.
    """
    if remote_storage and checkpoint is not None:
        return checkpoint
    return Offset(max(checkpoint or 0, first_segment or 0))


def unflushed_segments(base_offsets: Sequence[Offset], recovery_point: Offset) -> Sequence[Offset]:
    """Return the segments that a start after an unclean shutdown rescans: the one with the recovery point, and above.

    LogSegments.values via LogLoader.recoverLog 3.0 to 4.3.1, Log.recoverLog before: never fewer than the last one.
    `base_offsets` ascend.
    """
    below = [base for base in base_offsets if base <= recovery_point]
    return [base for base in base_offsets if base >= below[-1]] if below else base_offsets


WARM_SIZE = 8192
"""An index is searched in so many bytes at its end first."""


def floor_slot(key: Callable[[int], int], count: int, target: int, *, entry_size: int) -> int:
    """Return the slot of an index with the largest key not above the target, -1 without one (indexSlotRangeFor).

    `key` tells that of a slot. Keys that do not rise lead to the slot that they lead a broker to.
    """
    if not count:
        return -1
    first_warm = max(0, count - 1 - WARM_SIZE // entry_size)
    if key(first_warm) < target:
        low, high = first_warm, count - 1
    elif key(0) > target:
        return -1
    else:
        low, high = 0, first_warm
    while low < high:
        middle = (low + high + 1) >> 1
        found = key(middle)
        if found > target:
            high = middle - 1
        elif found < target:
            low = middle
        else:
            return middle
    return low


def next_offset(
    batches: Iterable[Batch], *, base_offset: Offset, last_index_offset: Offset, release: Release
) -> Offset:
    """Return the next offset of a segment as LogSegment.readNextOffset finds it after a clean shutdown.

    `batches` come from the position that the index names for `last_index_offset`, its last entry (the base offset where
    the index is empty). No batch at or above that offset: the base offset of the segment. From 4.1 the search compares
    base offsets (FileRecords.searchForOffsetFromPosition), before it compares last offsets.
    """
    found: Batch | None = None
    previous: Batch | None = None
    last: Batch | None = None
    for batch in batches:
        if found is None and _reaches(batch, last_index_offset, release):
            straddled = previous is not None and previous.last_offset >= last_index_offset
            found = previous if straddled and batch.base_offset > last_index_offset else batch
        previous = last = batch
    if found is None and release.searches_by_base_offset and last is not None and last.last_offset >= last_index_offset:
        found = last
    return base_offset if found is None or last is None else Offset(last.last_offset + 1)


def _reaches(batch: Batch, offset: Offset, release: Release) -> bool:
    return (batch.base_offset if release.searches_by_base_offset else batch.last_offset) >= offset


def loaded_high_watermark(checkpoint: Offset | None, *, log_start: Offset, log_end: Offset, release: Release) -> Offset:
    """Return the high watermark that a replica starts with: the checkpoint (0 without an entry) within the log.

    Up to 2.3 only the log end bounds it (Partition.getOrCreateReplica); a negative one is raised to 0 here, where the
    broker would fail.
    """
    floor = log_start if release.high_watermark_floor_is_log_start else Offset(0)
    return Offset(min(max(checkpoint or 0, floor), log_end))
