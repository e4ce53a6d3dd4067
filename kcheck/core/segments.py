"""What a broker concludes from the segments of a log when it loads it: where the log starts, and what is committed."""

from collections.abc import Callable, Container

from kcheck.model.entries import EpochEntries, Offset
from kcheck.model.java import INT_MAX, wrapped
from kcheck.model.names import FileKind
from kcheck.model.release import Release


def log_start_offset(checkpoint: Offset | None, first_segment: Offset | None, *, tiered: bool = False) -> Offset:
    """Return the larger of the log-start checkpoint (0 without an entry) and the first segment's base offset.

    LogLoader.load 3.0 to 4.3.1, Log.loadSegments up to 2.8. Of a log in remote storage it is the checkpoint alone.
    """
    return Offset(max(checkpoint or 0, 0 if tiered else first_segment or 0))


def is_tiered(
    checkpoint: Offset | None, first_segment: Offset | None, epochs: EpochEntries, files: Container[str],
    release: Release, *, remote_storage: bool | None = None,
) -> bool:  # fmt: skip
    """Whether a log is in remote storage, as far as that is known (3.6 and later); `files` are those of its directory.

    A log start below the first segment is written from 3.8 on, for these logs alone, and they alone keep the epochs
    from there on (LogManager.checkpointLogStartOffsetsInDir, UnifiedLog.deleteOldSegments). Up to 3.7 each has a
    snapshot of what is remote. `remote_storage`: whether the broker has such logs at all, None where that is not known.
    """
    if not release.has_remote_storage or remote_storage is False:
        return False
    if FileKind.REMOTE_SNAPSHOT in files and release.keeps_snapshot_of_remote_segments:
        return True
    if checkpoint is None or first_segment is None or checkpoint >= first_segment:
        return False
    return remote_storage or (bool(epochs) and epochs[0].start_offset < first_segment)


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


def loaded_high_watermark(checkpoint: Offset | None, *, log_start: Offset, log_end: Offset, release: Release) -> Offset:
    """Return the high watermark that a replica starts with: the checkpoint (0 without an entry) within the log.

    Up to 2.3 only the log end bounds it (Partition.getOrCreateReplica); a negative one is raised to 0 here, where the
    broker would fail.
    """
    floor = log_start if release.high_watermark_floor_is_log_start else Offset(0)
    return Offset(min(max(checkpoint or 0, floor), log_end))


LOG_SIZE_MAX = INT_MAX
"""So many bytes a `.log` has at most."""


def seen_log_size(size: int, release: Release) -> int | None:
    """Return how many bytes a broker sees in a `.log` of that size in bytes; None where it does not open it.

    FileRecords 0.10.2 to 4.3.1: up to 2.0 an int holds what is left of the size.
    """
    seen = size if release.refuses_large_logs else wrapped(size, 32)
    return None if seen < 0 or seen > LOG_SIZE_MAX else seen
