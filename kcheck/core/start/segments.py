"""The first offset of a loaded log, its high watermark, index searches, and large logs."""

from collections.abc import Callable, Container
from typing import TYPE_CHECKING

from kcheck.model.entries import EpochEntries, Offset
from kcheck.model.java import INT_MAX, wrapped
from kcheck.model.names import DELETED, FileKind, parse_file, segment_prefix
from kcheck.model.release import Release

if TYPE_CHECKING:
    from kcheck.core.start.predictions import LoadedLog
    from kcheck.model.views import PartitionView


def log_start_offset(checkpoint: Offset | None, first_segment: Offset | None, *, tiered: bool = False) -> Offset:
    """Return the larger of the log-start checkpoint (0 without an entry) and the first segment's base offset.

    LogLoader.load 3.0 to 4.3.1, Log.loadSegments in 2.8 and earlier. For a tiered log only the checkpoint counts.
    """
    return Offset(max(checkpoint or 0, 0 if tiered else first_segment or 0))


def is_tiered(
    checkpoint: Offset | None, first_segment: Offset | None, epochs: EpochEntries, files: Container[str],
    release: Release, *, remote_storage: bool | None = None, of_topic: bool = False,
) -> bool:  # fmt: skip
    """Return whether a log has segments in remote storage, as far as its files show (3.6 and later).

    `files` are the names of the files in its directory. In 3.7 and earlier every tiered log has a remote log snapshot.
    In 3.8 and later only tiered logs have a checkpointed log start below the first segment. They alone keep the epochs
    from there (LogManager.checkpointLogStartOffsetsInDir, UnifiedLog.deleteOldSegments). `remote_storage` is the
    broker's setting, None if unknown. With `of_topic` it is the topic's setting, which alone decides (LogLoader.load).
    """
    if not release.has_remote_storage or remote_storage is False:
        return False
    if of_topic or (FileKind.REMOTE_SNAPSHOT in files and release.keeps_snapshot_of_remote_segments):
        return True
    if checkpoint is None or first_segment is None or checkpoint >= first_segment:
        return False
    return remote_storage or (bool(epochs) and epochs[0].start_offset < first_segment)


def lost_head(
    checkpoint: Offset | None, first_segment: Offset | None, epochs: EpochEntries, *, clean: bool | None, tiered: bool
) -> tuple[Offset, Offset] | None:
    """Return the offsets `[start, end)` that were removed from the beginning of a log; None without any.

    When Kafka removes segments, or raises the log start, it moves the first epoch there at once. It does so in
    LeaderEpochFileCache.truncateFromStart (0.11 to 4.3.1). Only later a checkpoint gets the log start. So Kafka leaves
    no log start and no first segment above the first epoch. One exception is a topic that leaves remote storage (3.9.2
    and 4.3.1). A follower then takes the leader's first local offset. Its own first segment can be above that. Without
    its log dir (`clean` is None) that is not known.
    """
    if clean is None or tiered or first_segment is None or not epochs:
        return None
    start = Offset(max(0, epochs[0].start_offset))
    end = Offset(max(first_segment, checkpoint or 0))
    return (start, end) if start < end else None


def _head_of_index(names: frozenset[str], first: Offset | None) -> tuple[Offset, Offset] | None:
    """Return the offsets from the first index without a `.log` to the first segment, of a log without leader epochs.

    A broker renames the `.log` of a segment to `.log.deleted` before its indexes (LogSegment.changeFileSuffixes).
    """
    files = [parse_file(name) for name in names if name.endswith(("index", "timeindex"))]
    alone = [
        file.offset
        for file in files
        if file.canonical and not file.suffix and file.offset is not None and file.offset < (first or 0)
        and names.isdisjoint({segment_prefix(file.offset) + ending for ending in (".log", ".log" + DELETED)})
    ]  # fmt: skip
    return None if first is None or not alone else (min(alone), first)


def lost_head_of_log(
    log: "LoadedLog", checkpoint: Offset | None, epochs: EpochEntries | None, names: frozenset[str] = frozenset(),
    *, clean: bool | None,
) -> tuple[Offset, Offset] | None:  # fmt: skip
    """Return the same of a log that the broker loads; `checkpoint` is its log start in the checkpoint.

    `epochs` are the epochs on disk, if the broker changes them. 2.8 and earlier raise the first epoch to the first
    segment. A log whose log start is above its end begins again there. It loses all its records, as its prediction
    says. `names` are the files of a log without epochs.
    """
    if checkpoint is not None and log.bases == (checkpoint,):
        return None
    first, tiered = Offset(log.bases[0]), log.log_start_offset < log.bases[0]
    known = log.leader_epochs if epochs is None else epochs
    if not known:
        return None if tiered or clean is None else _head_of_index(names, first)
    return lost_head(checkpoint, first, known, clean=clean, tiered=tiered)


def lost_head_of(view: "PartitionView", release: Release) -> tuple[Offset, Offset] | None:
    """Return the offsets of segments that were removed from the beginning of a log; None without any."""
    first = view.segments[0].base_offset if view.segments else None
    checkpoint, epochs = view.log_start_checkpoint, view.leader_epochs
    if checkpoint is not None and view.log_end_offset is not None and checkpoint > view.log_end_offset:
        return None  # KC211: the start begins the log anew.
    is_below = first is not None and view.log_start_offset is not None and view.log_start_offset < first
    tiered = is_below or is_tiered(checkpoint, first, epochs, view.files, release)
    if not epochs:
        return None if tiered or view.clean_shutdown is None else _head_of_index(view.files, first)
    return lost_head(checkpoint, first, epochs, clean=view.clean_shutdown, tiered=tiered)


WARM_SIZE = 8192
"""A broker searches the last 8192 bytes of an index first."""


def floor_slot(key: Callable[[int], int], count: int, target: int, *, entry_size: int) -> int:
    """Return the slot of an index with the largest key not above the target; -1 without one (indexSlotRangeFor).

    `key` returns the key of a slot. If the keys do not rise, the search ends at the same slot as the broker's.
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
        middle_key = key(middle)
        if middle_key > target:
            high = middle - 1
        elif middle_key < target:
            low = middle
        else:
            return middle
    return low


def loaded_high_watermark(checkpoint: Offset | None, *, log_start: Offset, log_end: Offset, release: Release) -> Offset:
    """Return the first high watermark of a replica, which is the checkpoint (0 without an entry), bounded by the log.

    In 2.3 and earlier only the log end bounds it (Partition.getOrCreateReplica). A negative checkpoint counts as 0
    here; the broker fails on it.
    """
    floor = log_start if release.high_watermark_floor_is_log_start else Offset(0)
    return Offset(min(max(checkpoint or 0, floor), log_end))


LOG_SIZE_MAX = INT_MAX
"""The largest size of a `.log` in bytes."""


def seen_log_size(size: int, release: Release) -> int | None:
    """Return how many bytes a broker reads of a `.log` of `size` bytes; None if it cannot open the file.

    FileRecords 0.10.2 to 4.3.1: in 2.0 and earlier the size overflows an int.
    """
    seen = size if release.refuses_large_logs else wrapped(size, 32)
    return None if seen < 0 or seen > LOG_SIZE_MAX else seen
