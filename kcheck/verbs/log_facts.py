"""Facts about one log for the premises about logs. A broker that starts does not notice them.

Segments were removed at the beginning, in the middle or at the end. Time indexes end in zeros or out of order. Or the
leader epochs are not the epochs of the batches.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from itertools import pairwise

from kcheck.core.premises.age import epoch_shown
from kcheck.core.premises.facts import LogFacts, MisdatedRecords, MissingRecords
from kcheck.core.replication.dialogue import Replica
from kcheck.core.start.partitioner import COORDINATED, homeless, partition_of_keys
from kcheck.core.start.predictions import LoadedLog, PartitionPrediction
from kcheck.core.start.segments import lost_head_of_log
from kcheck.core.start.startup import NOT_SERVED, Outcome
from kcheck.core.start.topic_settings import expires, is_compacted, is_deleted
from kcheck.core.tiered.reading import remote_end
from kcheck.core.tiered.regular_deletion import LocalSegment, regular_deletion
from kcheck.core.tiered.reports import RemoteReplica, remote_report
from kcheck.disk.directory import Directory
from kcheck.disk.tree import Tree
from kcheck.formats import leader_epoch_checkpoint
from kcheck.model.cluster import ClusterImage
from kcheck.model.entries import Epoch, EpochEntries, Offset
from kcheck.model.loss import BatchFaults
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
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import CheckpointOffsets
from kcheck.records.batch import HEADER, header_of
from kcheck.segments.batches import last_batch
from kcheck.segments.gaps import gaps
from kcheck.segments.index_dates import date_of, is_closed, older_date
from kcheck.segments.record_keys import last_live_keys, newest_keys
from kcheck.views.remote_logs import RemoteLogs

_FEW = 4
"""Segments of a log whose directory is not worth opening."""
_INDEXES = (FileKind.INDEX, FileKind.TIME_INDEX)
_CHECKPOINTS = (REPLICATION_OFFSET, RECOVERY_POINT)


def looks_into_segments(tree: Tree) -> bool:
    """Return whether kcheck reads segments for premises. In a store each read is a request."""
    return tree.is_bundle or not tree.is_remote


def looks_between(
    topic: str, offsets: CheckpointOffsets, image: ClusterImage | None, broker_id: int | None = None
) -> bool:
    """Return whether an offset between two segments of a log is missing. The log cleaner leaves gaps like this."""
    return not offsets.cleaned and not is_compacted(image, topic, broker_id)


def log_facts(
    files: Directory, log_dir: str, row: PartitionPrediction, offsets: CheckpointOffsets, image: ClusterImage | None,
    *, clean: bool, looks: bool, broker_id: int | None = None,
) -> LogFacts | None:  # fmt: skip
    """Return the facts of a replica's log, in one pass over its segments; None if the broker loads no log.

    `image` is the given metadata, `offsets` are from the checkpoints, `looks` is from `looks_into_segments`.
    """
    log, directory = row.replica_log, row.directory
    if log is None:
        return None
    is_served = row.outcome not in NOT_SERVED
    on_disk = _epochs_on_disk(files) if LEADER_EPOCHS in row.changes.changed else None
    lacks_epochs = is_served and _lacks_epochs(files, log, on_disk, offsets)
    missing, misdated = [*_at_end(files, row, log, offsets, clean=clean)], list[MisdatedRecords]()
    is_whole = looks_between(directory.topic, offsets, image, broker_id)
    between = is_whole and len(log.bases) > 1 and looks
    ages = is_served and is_deleted(image, directory.topic, broker_id) and looks
    dates = ages and expires(image, directory.topic, broker_id)
    # A recovery point below the log end shows that no stop ended.
    behind = offsets.recovery_point is not None and offsets.recovery_point < log.log_end_offset
    ends = looks and not clean and row.outcome in (Outcome.OK, Outcome.REPAIRED) and row.lost is None and behind
    # A clean stop leaves the length of each log. Where it agrees, the keys are not worth a read.
    is_proven = clean and offsets.recovery_point == log.log_end_offset
    closed, oldest, sizes = False, None, tuple[int, ...]()
    if between and row.gaps is not None:
        missing += (MissingRecords(*gap) for gap in row.gaps)
        between = False
    if between or ages or ends:
        try:
            # To open a directory costs as much as to open two files in it by their paths.
            with files if len(log.bases) > _FEW else nullcontext(files) as folder:
                if between:
                    missing += _in_middle(folder, log)
                if dates:
                    misdated += _misdated(folder, row, log)
                if ages:
                    oldest, sizes = date_of(folder, Offset(log.bases[0]), _rebuilt(row)), _sizes(folder, log)
                closed = ends and is_closed(folder, Offset(log.bases[-1]), log.log_end_offset)
        except UnreadableError:
            pass  # It is a finding of its own.
    if row.batches is not None and dates:
        misdated += _other_dates(row.batches, log, misdated)
    if row.batches is not None and is_whole:
        known = {(one.start, one.end) for one in missing}
        missing += (MissingRecords(*gap) for gap in row.batches.gaps if gap not in known)
        # Without metadata the topic may be a compacted one.
        if row.batches.head is not None and image is not None and directory.topic in image.topics:
            missing.append(MissingRecords(*row.batches.head))
    facts = LogFacts(
        partition=TopicPartition(directory.topic, directory.partition), log_dir=log_dir,
        lost_head=lost_head_of_log(log, offsets.log_start, on_disk, _names(files, log), clean=clean),
        missing=tuple(missing), misdated=tuple(misdated),
        topic_id=row.topic_id, end=log.log_end_offset, start=log.log_start_offset, loses=row.lost is not None,
        epoch=_newest_epoch(files, row, log, on_disk, image) if is_served and log.leader_epochs else None,
        unseen_epoch=_unseen_epoch(files, row, log, on_disk, image, broker_id) if is_served else None,
        is_closed=closed,
        is_emptied=is_served and looks and not clean and row.lost is None and _is_emptied(files, log),
        batches=row.batches if is_served or row.batches is None else BatchFaults(first=row.batches.first),
        is_served=is_served, is_compacted=not is_whole,
        closed_at=offsets.recovery_point if clean and is_served and row.lost is None else None,
        lacks_snapshot=clean and is_served and _lacks_snapshot(row, log),
        unread_size=0 if row.unproven is None or not is_served else row.unproven.bytes,
        oldest=oldest, sizes=sizes,
        by_index=not (on_disk or log.leader_epochs),
        lacks_epochs=lacks_epochs,
        hides=is_served and (lacks_epochs or not log.leader_epochs) and log.log_start_offset > 0,
    )  # fmt: skip
    return _with_keys(facts, files, row, log, image, is_proven=is_proven) if is_served and looks else facts


def _with_keys(
    facts: LogFacts, files: Directory, row: PartitionPrediction, log: LoadedLog, image: ClusterImage | None,
    *, is_proven: bool,
) -> LogFacts:  # fmt: skip
    """Return the facts with the keys of the newest records; `is_proven`: a clean stop left this log."""
    if image is None:
        return facts
    keys_of = None if is_proven else _keys_of(files, row, log, image)
    names = _homeless(files, row, log, image) if keys_of is None else ()
    return facts._replace(keys_of=keys_of, homeless=names, producer_id=_last_producer(files, log))


def _other_dates(
    batches: BatchFaults, log: LoadedLog, known: Sequence[MisdatedRecords]
) -> list[MisdatedRecords]:  # fmt: skip
    """Return the misdated records that reading all batches showed, and nothing else did."""
    rows = [MisdatedRecords(*one[:3], one.start <= log.bases[0], one.newest) for one in batches.dated]
    return [one for one in rows if not any(it.start <= one.start < it.end for it in known)]


def _names(files: Files, log: LoadedLog) -> frozenset[str]:
    """Return the names of the files of a log without epochs that begins above 0; empty for another log."""
    if log.leader_epochs or not log.bases[0]:
        return frozenset()
    try:
        return frozenset(files.entries().sizes)
    except UnreadableError:
        return frozenset()


def as_follower(log: LoadedLog, offsets: CheckpointOffsets) -> Replica:
    """Return a loaded log as a follower. Without a checkpoint the high watermark is 0."""
    high_watermark = Offset(min(offsets.high_watermark or 0, log.log_end_offset))
    return Replica(
        log.leader_epochs, log.log_end_offset, high_watermark, log.log_start_offset, Offset(log.bases[0]),
        log.first_unstable,
    )  # fmt: skip


def _is_emptied(files: Files, log: LoadedLog) -> bool:
    """Return whether the last of several segments has no byte on disk."""
    if len(log.bases) < 2 or log.bases[-1] != log.log_end_offset:
        return False
    try:
        return files.entries().sizes.get(f"{segment_prefix(log.log_end_offset)}.{FileKind.LOG}") == 0
    except UnreadableError:
        return False


def _lacks_snapshot(row: PartitionPrediction, log: LoadedLog) -> bool:
    """Return whether a clean stop left no producer snapshot at the log end. The broker then makes one.

    0.10.2 and earlier take none, and write no leader epochs.
    """
    end = log.log_end_offset
    if row.lost is not None or not log.leader_epochs or log.log_start_offset >= end:
        return False
    return f"{segment_prefix(end)}.{FileKind.PRODUCER_SNAPSHOT}" in row.changes.created


def _keys_of(files: Files, row: PartitionPrediction, log: LoadedLog, image: ClusterImage) -> tuple[int, int] | None:
    """Return the other partition to which the keys of a log belong, and their number; None without one."""
    topic = image.topics.get(row.directory.topic)
    if topic is None or topic.partition_count < 2 or log.log_start_offset >= log.log_end_offset:
        return None
    keys = newest_keys(files, [Offset(base) for base in log.bases])
    try:
        with closing(keys):
            return partition_of_keys(topic.name, keys, row.directory.partition, topic.partition_count)
    except UnreadableError:
        return None  # It is a finding of its own.


def _homeless(files: Files, row: PartitionPrediction, log: LoadedLog, image: ClusterImage) -> tuple[str, ...]:
    """Return the newest groups or transactional ids of a log that belong to another partition."""
    topic = image.topics.get(row.directory.topic)
    if topic is None or topic.name not in COORDINATED or topic.partition_count < 2:
        return ()
    try:
        keys = last_live_keys(files, [Offset(base) for base in log.bases])
    except UnreadableError:
        return ()  # It is a finding of its own.
    return homeless(topic.name, keys, row.directory.partition, topic.partition_count)


def _last_producer(files: Files, log: LoadedLog) -> int:
    """Return the producer id of the last batch in the last two segments of a log; -1 without one."""
    for base in reversed(log.bases[-2:]):
        try:
            batch = last_batch(files, Offset(base))
            if batch is not None:
                with files.open(log_name(Offset(base))) as source:
                    producer_id = header_of(source.pread(HEADER.size, batch.position), total=batch.size).producer_id
                return -1 if producer_id is None else producer_id
        except UnreadableError:
            break  # It is a finding of its own.
    return -1


def with_remote(
    files: Directory, log: LogFacts, row: PartitionPrediction, offsets: CheckpointOffsets, logs: RemoteLogs,
    cluster_id: str | None, broker_id: int | None,
) -> LogFacts:  # fmt: skip
    """Return the facts of a replica's log, with its part in remote storage after the broker has started."""
    loaded = row.replica_log
    assert loaded is not None
    first = Offset(loaded.bases[0])
    is_below = offsets.log_start is not None and offsets.log_start < first
    remote = logs.of(log.partition, log.topic_id, cluster_id, is_below=is_below)
    if remote is None:
        return log
    start = loaded.log_start_offset if offsets.log_start is None else min(offsets.log_start, loaded.log_start_offset)
    remote = logs.with_settings(remote, log.partition.topic, broker_id, cluster_id)
    replica = RemoteReplica(start, first, loaded.leader_epochs, loaded.log_end_offset)
    regular = regular_deletion(remote, replica, _local_segments(files, loaded), logs.release)
    end = remote_end(remote.runs, loaded.leader_epochs) if remote.is_known and loaded.leader_epochs else Offset(0)
    is_shown = row.lost is not None or any(records.end >= end for records in log.missing if records.known_by)
    if end > loaded.log_end_offset and not is_shown:
        log = log._replace(missing=(*log.missing, MissingRecords(loaded.log_end_offset, end, remote.metadata_name)))
    return log._replace(remote=remote, remote_report=remote_report(remote, replica), regular=regular)


def _local_segments(files: Directory, loaded: LoadedLog) -> list[LocalSegment]:
    """Return the segments of a loaded log; none if one cannot be read."""
    removed = {cut.base_offset: cut.size - cut.position for cut in loaded.cuts}
    try:
        with files:
            sizes = ((Offset(base), files.readable_size(log_name(Offset(base)))) for base in loaded.bases)
            return [LocalSegment(base, size - removed.get(base, 0)) for base, size in sizes]
    except UnreadableError:
        return []


def _newest_epoch(
    files: Files, row: PartitionPrediction, log: LoadedLog, on_disk: EpochEntries | None, image: ClusterImage | None
) -> Epoch | None:
    """Return the newest leader epoch that a log shows.

    The last batch is read only where the cache has an epoch that the metadata does not know. A leader without new
    records left its epoch at the log end, and the next load removes that entry.
    """
    topic = None if image is None else image.topics.get(row.directory.topic)
    known = None if topic is None else topic.partitions.get(row.directory.partition)
    entries = on_disk if on_disk and on_disk[-1].start_offset == log.log_end_offset else log.leader_epochs
    if known is None or known.leader_epoch is None or entries[-1].epoch <= known.leader_epoch:
        return log.leader_epochs[-1].epoch
    try:
        batch = last_batch(files, Offset(log.bases[-1]))
    except UnreadableError:
        batch = None
    of_batch = None if batch is None else batch.epoch
    return epoch_shown(entries, of_batch, log.log_start_offset, log.log_end_offset)


def _unseen_epoch(
    files: Files, row: PartitionPrediction, log: LoadedLog, on_disk: EpochEntries | None, image: ClusterImage | None,
    broker_id: int | None,
) -> Epoch | None:  # fmt: skip
    """Return the last epoch in which the broker led an only replica, if neither epochs nor last batch have it.

    Each load leaves a leader-epoch-checkpoint (CheckpointFile). So an empty log without one has lost files. If the
    epochs lack that one, the last batch is read at every depth.
    """
    topic = None if image is None else image.topics.get(row.directory.topic)
    known = None if topic is None else topic.partitions.get(row.directory.partition)
    led = None if known is None or broker_id is None else known.led_alone(broker_id)
    entries = log.leader_epochs if on_disk is None else on_disk
    if led is not None and log.log_start_offset >= log.log_end_offset and LEADER_EPOCHS in row.changes.created:
        return Epoch(led)
    if led is None or not entries or max(entry.epoch for entry in entries) >= led:
        return None
    try:
        batch = last_batch(files, Offset(log.bases[-1]))
    except UnreadableError:
        return None
    return None if batch is None or batch.epoch is None or batch.epoch >= led else Epoch(led)


def _epochs_on_disk(files: Files) -> EpochEntries | None:
    """Return the leader epochs of a log as they are on disk; None if the file cannot be read."""
    try:
        return tuple(leader_epoch_checkpoint.parse(files.read_whole(LEADER_EPOCHS)).value.entries)
    except UnreadableError:
        return None


def _lacks_epochs(files: Files, log: LoadedLog, on_disk: EpochEntries | None, offsets: CheckpointOffsets) -> bool:
    """Return whether a log lost the leader epochs of its batches, and no checkpoint shows where the log begins.

    A leader and a follower write the epoch of each batch of message format 2 (LeaderEpochFileCache.assign 0.11 to
    4.3.1).
    """
    first = Offset(log.bases[0])
    if (log.leader_epochs if on_disk is None else on_disk) or not max(offsets.log_start or 0, 0) < first:
        return False
    if log.log_start_offset != first:
        return False
    try:
        batch = last_batch(files, Offset(log.bases[-1]))
    except UnreadableError:
        return False
    return batch is not None and batch.epoch is not None and batch.epoch >= 0


def _in_middle(files: Files, log: LoadedLog) -> Iterator[MissingRecords]:
    """Yield the offsets between two segments of a log that the cleaner never touched."""
    for start, end in gaps(files, [Offset(base) for base in log.bases], log.log_start_offset):
        yield MissingRecords(start, end)


def _at_end(
    files: Files, row: PartitionPrediction, log: LoadedLog, checkpoints: CheckpointOffsets, *, clean: bool
) -> Iterator[MissingRecords]:
    """Yield the offsets above the log end in other files, unless the next start loses these records anyway."""
    if row.lost is not None:
        return
    known = [(checkpoints.high_watermark or 0, REPLICATION_OFFSET)]
    if clean:
        known.append((checkpoints.recovery_point or 0, RECOVERY_POINT))
    for name in row.changes.removed:
        file = parse_file(name)
        if file.offset is not None and (file.kind in _INDEXES or (clean and file.kind is FileKind.PRODUCER_SNAPSHOT)):
            # The index of a segment without .log: the segment held at least its base offset.
            known.append((file.offset + (file.kind in _INDEXES), name))
    until, by = max(known)
    if until > log.log_end_offset and not (by in _CHECKPOINTS and clean and _is_alone(files, known, log)):
        yield MissingRecords(log.log_end_offset, Offset(until), by)


def _is_alone(files: Files, known: Iterable[tuple[int, str]], log: LoadedLog) -> bool:
    """Return whether one checkpoint alone is above the log end, and all else of a clean stop agrees with it.

    The other checkpoint ends there, and so does the snapshot that the stop took (ProducerStateManager.takeSnapshot).
    """
    end, above = log.log_end_offset, [name for offset, name in known if offset > log.log_end_offset]
    if len(above) > 1 or end in log.bases or not any(offset == end for offset, _ in known):
        return False
    try:
        return f"{segment_prefix(end)}.{FileKind.PRODUCER_SNAPSHOT}" in files.entries().sizes
    except UnreadableError:
        return False


def _sizes(files: Files, log: LoadedLog) -> tuple[int, ...]:
    """Return the sizes of the segments of a log; empty for one segment."""
    if len(log.bases) < 2:
        return ()
    names = [log_name(Offset(base)) for base in log.bases]
    try:
        return tuple([files.readable_size(name) for name in names])
    except UnreadableError:  # A link, or a segment that the broker makes.
        found = files.entries().sizes
        return tuple(found.get(name, 0) for name in names)


def _rebuilt(row: PartitionPrediction) -> set[str]:
    """Return the files that a starting broker makes again."""
    return {name for name, content in row.after.items() if content.file is None}


def _misdated(files: Files, row: PartitionPrediction, log: LoadedLog) -> Iterator[MisdatedRecords]:
    """Yield the records of each run of segments that the last entry of their time index dates before them."""
    run: MisdatedRecords | None = None
    rebuilt = _rebuilt(row)
    for base, following in pairwise((*log.bases, log.log_end_offset)):
        dated = older_date(files, Offset(base), rebuilt) if base < following else None
        if dated is None:
            if run is not None:
                yield run
            run = None
        elif run is None:
            start = max(Offset(base), log.log_start_offset)
            run = MisdatedRecords(start, Offset(following), dated, is_head=base == log.bases[0])
        else:
            run = run._replace(end=Offset(following), timestamp=max(dated, run.timestamp))
    if run is not None:
        yield run
