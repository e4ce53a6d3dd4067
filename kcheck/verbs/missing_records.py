"""Finds logs of which somebody removed segments in the middle or at the end: the start of a broker does not notice."""

from collections.abc import Iterable, Iterator

from kcheck.core.premises.facts import ClosedEnd, MissingRecords
from kcheck.core.start.predictions import LoadedLog, LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.disk.paths import join
from kcheck.formats import leader_epoch_checkpoint
from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.entries import EpochEntries, Offset
from kcheck.model.names import (
    LEADER_EPOCHS,
    RECOVERY_POINT,
    REPLICATION_OFFSET,
    FileKind,
    TopicPartition,
    log_name,
    parse_file,
    segment_prefix,
)
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import LogDir
from kcheck.segments.batches import Walk
from kcheck.segments.gaps import gaps
from kcheck.views.log_dir import LogDirs
from kcheck.views.targets import Target

_INDEXES = (FileKind.INDEX, FileKind.TIME_INDEX)


def missing_records(starts: Iterable[tuple[Target, LogDirPrediction]], log_dirs: LogDirs) -> Iterator[MissingRecords]:
    """Yield the offsets that the logs of a broker lack although its disks once had them.

    In a store the middle of a log is not looked at: each look is a request.
    """
    for target, start in starts:
        if start.view is None:
            continue
        log_dir = log_dirs.open(target)
        for row in start.partitions:
            log = row.replica_log
            if log is not None:
                yield from _at_end(start, row, log, log_dir)
                if target.tree.is_bundle or not target.tree.is_remote:
                    yield from _in_middle(target, row, log, log_dir)


def epochs_on_disk(target: Target, row: PartitionPrediction) -> EpochEntries | None:
    """Return the leader epochs of a log as they are on disk; None if the file cannot be read."""
    try:
        with target.tree.directory(join(target.path, row.dir)) as files:
            return tuple(leader_epoch_checkpoint.parse(files.read_whole(LEADER_EPOCHS)).value.entries)
    except UnreadableError:
        return None


def _in_middle(target: Target, row: PartitionPrediction, log: LoadedLog, log_dir: LogDir) -> Iterator[MissingRecords]:
    """Yield the offsets between two segments of a log that the cleaner never touched."""
    directory = row.directory
    if len(log.bases) < 2 or log_dir.checkpoints.of(directory.topic, directory.partition).cleaned:
        return
    partition = TopicPartition(directory.topic, directory.partition)
    try:
        with target.tree.directory(join(target.path, row.dir)) as files:
            for start, end in gaps(files, [Offset(base) for base in log.bases], log.log_start_offset):
                yield MissingRecords(partition, target.path, start, end)
    except UnreadableError:
        return  # It is a finding of its own.


def _at_end(
    start: LogDirPrediction, row: PartitionPrediction, log: LoadedLog, log_dir: LogDir
) -> Iterator[MissingRecords]:
    """Yield the offsets above the log end that another file knows, unless the start is said to lose them."""
    directory = row.directory
    if row.lost is not None:
        return
    checkpoints, end = log_dir.checkpoints.of(directory.topic, directory.partition), log.log_end_offset
    known = [(checkpoints.high_watermark or 0, REPLICATION_OFFSET)]
    if start.clean:
        known.append((checkpoints.recovery_point or 0, RECOVERY_POINT))
    for name in row.changes.removed:
        file = parse_file(name)
        if file.offset is not None and (
            file.kind in _INDEXES or (start.clean and file.kind is FileKind.PRODUCER_SNAPSHOT)
        ):
            # The index of a segment without .log: the segment held at least its base offset.
            known.append((file.offset + (file.kind in _INDEXES), name))
    until, by = max(known)
    if until > end:
        partition = TopicPartition(directory.topic, directory.partition)
        yield MissingRecords(partition, start.path, end, Offset(until), by)


def closed_ends(starts: Iterable[tuple[Target, LogDirPrediction]], log_dirs: LogDirs) -> Iterator[ClosedEnd]:
    """Yield the log of each log dir whose last segment was closed before its broker was killed.

    A broker cuts the indexes of a segment to their entries when it begins a newer one (LogSegment
    .onBecomeInactiveSegment); those of the last one have room until it stops. A recovery point below the log end shows
    that no stop ended. Several such logs are those of a broker that was killed while it stopped. In a store nothing is
    looked at.
    """
    for target, start in starts:
        if start.view is None or start.clean or target.tree.is_remote or target.tree.is_bundle:
            continue
        log_dir, closed = log_dirs.open(target), list[ClosedEnd]()
        for row in start.partitions:
            log, directory = row.replica_log, row.directory
            if log is None or row.outcome is not Outcome.OK or row.lost is not None:
                continue
            point = log_dir.checkpoints.of(directory.topic, directory.partition).recovery_point
            if point is not None and point < log.log_end_offset and _is_closed(target, row, log):
                partition = TopicPartition(directory.topic, directory.partition)
                closed.append(ClosedEnd(partition, start.path, log.log_end_offset))
        if len(closed) == 1:
            yield from closed


def _is_closed(target: Target, row: PartitionPrediction, log: LoadedLog) -> bool:
    """Whether the time index of the last segment ends in an entry of its newest record."""
    base = Offset(log.bases[-1])
    try:
        with target.tree.directory(join(target.path, row.dir)) as files:
            with files.open(segment_prefix(base) + ".timeindex") as index:
                size = TIME_INDEX_ENTRY.size
                slot = index.pread(size, index.size - size) if index.size and index.size % size == 0 else b""
            if len(slot) < TIME_INDEX_ENTRY.size:
                return False
            timestamp, relative = next(TIME_INDEX_ENTRY.iter_unpack(slot))
            with files.open(log_name(base)) as source:
                newest = max((batch.max_timestamp or 0 for batch in Walk(source)), default=0)
    except UnreadableError:
        return False
    return bool(0 < timestamp == newest and 0 <= relative < log.log_end_offset - base)
