"""The state of a replica for the truncation rules, on disk, or after its broker's next start."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import NamedTuple

from kcheck.core.replication.dialogue import Replica
from kcheck.core.replication.leader_epochs import assign, latest_epoch, load, read_lines
from kcheck.core.replication.lineage import Lineage
from kcheck.core.start.predictions import PartitionPrediction
from kcheck.core.start.segments import loaded_high_watermark, log_start_offset, lost_head_of
from kcheck.core.start.startup import Outcome, refusal_of, unreadable_checkpoint
from kcheck.disk.paths import folder_of, join
from kcheck.model.entries import UNDEFINED_EPOCH, Epoch, EpochEntries, Offset
from kcheck.model.loss import BatchFaults, LostRecords
from kcheck.model.names import OFFSET_CHECKPOINTS, REPLICATION_OFFSET, log_name, metadata_snapshots
from kcheck.model.release import Release
from kcheck.model.remote_log import RemoteLog
from kcheck.model.source import Files, Source
from kcheck.model.views import LogDirView, PartitionView

NEEDS_READ = "; --depth crc finds its start offset"
"""Ends the problem of a replica that only a read of its log solves."""
_NO_END = "its log end offset is unknown"
_ENDS = {Outcome.ABORT: "the broker aborts", Outcome.OFFLINE: "its log dir goes offline"}


class LogFile(NamedTuple):
    """A `.log` file of the log; its first `size` bytes are valid batches."""

    path: str
    base_offset: Offset
    size: int
    disk: Files

    def open(self) -> AbstractContextManager[Source]:
        """Open it for a `with` block; UnreadableError if it cannot be read."""
        return self.disk.open(self.path.rpartition("/")[2])


def logs_from(logs: tuple[LogFile, ...], offset: Offset) -> tuple[LogFile, ...]:
    """Return the segments, beginning with the one of `offset`."""
    below = [number for number, log in enumerate(logs) if log.base_offset <= offset]
    return logs[below[-1] :] if below else logs


class ReplicaState(NamedTuple):
    """One replica. `logs` is empty for a bare leader-epoch-checkpoint, and if no segment may be read.

    `problem` says why the replica cannot take part (its broker aborts, or its log dir goes offline). The other values
    then hold the readable facts. `high_watermark` is None if unknown. `latest_epoch` is the highest epoch in its
    checkpoint or batches. `lineage` comes from all its batches, None if they were not read. `lost` are the records that
    the broker loses when it starts. `logs_before` are the segments before that. `snapshots` belong to the KRaft log.
    `first_unstable` is the first offset of the first transaction that then counts as open, for releases that look it
    up. `checkpointed` is the high watermark in the checkpoint, which may be above the log end; None without an entry.
    `lost_head` are the offsets of segments that were removed from its beginning. `is_compacted` means that the log
    cleaner removes records. `has_every_segment` means that its batches were read, without a gap between segments.
    `remote` is its part in remote storage. `batches` are the faults of its batches, None if they were not read.
    """

    broker_id: int | None
    topic: str | None
    partition: int | None
    cache: EpochEntries = ()
    log_end_offset: Offset | None = None
    log_start_offset: Offset = Offset(0)
    first_segment: Offset = Offset(0)
    high_watermark: Offset | None = None
    latest_epoch: Epoch = UNDEFINED_EPOCH
    logs: tuple[LogFile, ...] = ()
    lineage: Lineage | None = None
    lost: LostRecords | None = None
    logs_before: tuple[LogFile, ...] = ()
    problem: str | None = None
    topic_id: str | None = None
    snapshots: tuple[tuple[Offset, Epoch], ...] = ()
    first_unstable: Offset | None = None
    checkpointed: Offset | None = None
    lost_head: tuple[Offset, Offset] | None = None
    is_compacted: bool = False
    remote: RemoteLog | None = None
    has_every_segment: bool = False
    batches: BatchFaults | None = None

    @property
    def known_high_watermark(self) -> Offset | None:
        """The highest high watermark on its disk. Records below it were committed."""
        known = [mark for mark in (self.high_watermark, self.checkpointed) if mark is not None]
        return max(known, default=None)

    def as_follower(self, high_watermark: Offset) -> Replica:
        """Return a replica that has a log as a follower with this high watermark."""
        assert self.log_end_offset is not None
        return Replica(
            cache=self.cache, log_end_offset=self.log_end_offset, high_watermark=high_watermark,
            log_start_offset=self.log_start_offset, first_segment=self.first_segment,
            first_unstable=self.first_unstable,
        )  # fmt: skip


def as_it_lies(view: PartitionView, log_dir: LogDirView | None, release: Release) -> ReplicaState:
    """Return the replica from its files, with the epochs that the release loads.

    A last entry that starts at the log end is kept, because a new leader without writes answers from it.
    """
    state, lines, checkpoint = _facts(view, log_dir, release, logs_of(view))
    end = view.log_end_offset
    if state.problem or end is None:
        return state._replace(problem=state.problem or _NO_END)
    try:
        cache = load(
            lines, log_end_offset=end, log_start_checkpoint=checkpoint, first_segment=state.first_segment,
            release=release,
        )  # fmt: skip
        if lines and lines[-1].start_offset == end and release.epoch_cache:
            cache = assign(cache, lines[-1].epoch, end, how=release.assign)
    except ValueError as error:
        return state._replace(problem=f"the broker aborts: leader-epoch-checkpoint has {error}")
    return _with_end(state, cache, end, view, release)


def live(view: PartitionView, log_dir: LogDirView | None, release: Release) -> ReplicaState:
    """Return the replica from its files, with the epochs that a running broker has in memory."""
    state, lines, _ = _facts(view, log_dir, release, logs_of(view))
    end = view.log_end_offset
    if state.problem or end is None:
        return state._replace(problem=state.problem or _NO_END)
    try:
        cache = read_lines(lines, release) if release.epoch_cache else ()
    except ValueError as error:
        return state._replace(problem=f"the broker aborts: leader-epoch-checkpoint has {error}")
    return _with_end(state, cache, end, view, release)


def after_start(
    view: PartitionView,
    log_dir: LogDirView | None,
    start: PartitionPrediction | None,
    release: Release,
    *,
    reads: bool = True,
) -> ReplicaState:
    """Return the replica after the next start of its broker, from the simulated `start` if it has read the log.

    It includes the segments if the caller `reads` them.
    """
    state, lines, checkpoint = _facts(view, log_dir, release, ())
    problem = _kept_away(start) if state.problem is None and start is not None else state.problem
    if problem:
        return state._replace(problem=problem)
    if start is None or start.log is None or start.outcome is Outcome.STRAY:
        return _as_seen(state, lines, checkpoint, view, release)
    log = start.log
    return state._replace(
        cache=log.leader_epochs, log_end_offset=log.log_end_offset, log_start_offset=log.log_start_offset,
        first_segment=Offset(log.bases[0]), logs=_left_logs(view, start) if reads else (), lost=start.lost,
        logs_before=logs_of(view) if reads and start.lost else (),
        high_watermark=start.high_watermark if _knows_high_watermark(view) else None,
        first_unstable=log.first_unstable, batches=start.batches,
    )  # fmt: skip


def _kept_away(start: PartitionPrediction) -> str | None:
    """Return why the broker does not load the replica; None if it does, or if unknown."""
    if start.outcome in _ENDS:
        return f"{_ENDS[start.outcome]}: {start.reason}"
    return start.reason if start.unread else None


def _as_seen(
    state: ReplicaState, lines: EpochEntries, checkpoint: Offset, view: PartitionView, release: Release
) -> ReplicaState:
    """Return the replica after its broker has started, estimated from the facts already read.

    The log end is the end of valid batches. A real broker differs if a CRC does not match or an index points elsewhere.
    An epoch that only batches have is a problem, because its start offset is unknown.
    """
    end, last = view.log_end_offset, view.last_batch
    if end is None:
        return state._replace(problem=_NO_END)
    try:
        epochs = read_lines(lines, release) if release.epoch_cache else ()
        newer = None if last is None or last.epoch is None or last.epoch <= latest_epoch(epochs) else last.epoch
        if newer is not None and view.clean_shutdown is False and release.epoch_cache:
            return state._replace(problem=f"the broker adds epoch {newer}{NEEDS_READ}")
        if release.wipes_log_start_above_log_end and checkpoint > end:
            gone = state._replace(log_start_offset=checkpoint, first_segment=checkpoint)
            return _with_end(gone, (), checkpoint, view, release)
        first = state.first_segment if view.segments else checkpoint
        cache = load(epochs, log_end_offset=end, log_start_checkpoint=checkpoint, first_segment=first, release=release)
    except ValueError as error:
        return state._replace(problem=f"the broker aborts: leader-epoch-checkpoint has {error}")
    return _with_end(state._replace(first_segment=first), cache, end, view, release)


def _left_logs(view: PartitionView, start: PartitionPrediction) -> tuple[LogFile, ...]:
    """Return the remaining segments; empty if one no longer begins at the beginning of its file."""
    assert start.log is not None
    if not start.after:  # The `.log` files did not change.
        return logs_of(view)
    left = [(base, start.after[log_name(base)]) for base in map(Offset, start.log.bases)]
    if any(content.begin for _, content in left):
        return ()
    return _log_files(view, ((content.file, base, content.filled) for base, content in left if content.file))


def logs_of(view: PartitionView) -> tuple[LogFile, ...]:
    """Return the segments of a partition directory."""
    segments = ((segment.base_offset, segment.size) for segment in view.segments)
    return _log_files(view, ((log_name(base), base, size) for base, size in segments))


def _log_files(view: PartitionView, files: Iterable[tuple[str, Offset, int]]) -> tuple[LogFile, ...]:
    """Return the files with these names, base offsets and sizes in a partition directory."""
    path, disk = folder_of(view.where), view.disk
    assert disk is not None
    return tuple(LogFile(join(path, name), base, size, disk) for name, base, size in files)


def _facts(
    view: PartitionView, log_dir: LogDirView | None, release: Release, logs: tuple[LogFile, ...]
) -> tuple[ReplicaState, EpochEntries, Offset]:
    """Return the state without epoch cache and log end, the lines of the epoch file, and the checkpointed offset."""
    lines, problem = _epoch_lines(view, release)
    problem = problem or _log_dir_problem(log_dir, release)
    if problem is None and view.metadata is not None and view.metadata.refusal is not None:
        problem = f"the broker cannot read partition.metadata: {view.metadata.refusal}"
    checkpoint = view.log_start_checkpoint
    first = view.segments[0].base_offset if view.segments else None
    start = log_start_offset(checkpoint, first) if view.log_start_offset is None else view.log_start_offset
    snapshots = metadata_snapshots(view.files) if view.is_metadata_log else ()
    state = ReplicaState(
        broker_id=view.where.broker_id, topic=view.topic or None,
        partition=view.partition if view.topic else None, logs=logs,
        first_segment=start if first is None else first, log_start_offset=start, latest_epoch=_seen_epoch(view),
        problem=problem, topic_id=view.topic_id, snapshots=tuple((end, epoch) for epoch, end, _ in snapshots),
        checkpointed=view.high_watermark, lost_head=lost_head_of(view, release), is_compacted=view.is_compacted,
        remote=view.remote,
    )  # fmt: skip
    return state, lines, checkpoint or Offset(0)


def _epoch_lines(view: PartitionView, release: Release) -> tuple[EpochEntries, str | None]:
    if view.epochs is None or view.epochs.reads is None or not release.epoch_cache:
        return (), None
    if view.epochs.refusal is not None:
        return (), f"the broker cannot read leader-epoch-checkpoint: {view.epochs.refusal}"
    return tuple(view.epochs.reads.value or ()), None


def _seen_epoch(view: PartitionView) -> Epoch:
    of_batch = None if view.last_batch is None else view.last_batch.epoch
    return max((UNDEFINED_EPOCH, of_batch or UNDEFINED_EPOCH, *[entry.epoch for entry in view.leader_epochs]))


def _log_dir_problem(log_dir: LogDirView | None, release: Release) -> str | None:
    """Return why an unreadable checkpoint of the log dir excludes a replica, or None."""
    for name in OFFSET_CHECKPOINTS:
        refusal = None if log_dir is None else refusal_of(name, log_dir)
        if refusal is None:
            continue
        outcome = unreadable_checkpoint(name, refusal, release)
        if outcome is not None:
            return f"{_ENDS[outcome.outcome]}: {outcome.reason}"
        if name == REPLICATION_OFFSET:
            return f"the broker cannot read {name}: {refusal}"
    return None


def _knows_high_watermark(view: PartitionView) -> bool:
    """Return whether the high watermark is known by the log dir's checkpoint, where a missing entry means 0."""
    return view.high_watermark is not None or view.clean_shutdown is not None


def _with_end(
    state: ReplicaState, cache: EpochEntries, end: Offset, view: PartitionView, release: Release
) -> ReplicaState:
    high_watermark = None
    if _knows_high_watermark(view):
        high_watermark = loaded_high_watermark(
            view.high_watermark, log_start=state.log_start_offset, log_end=end, release=release
        )
    return state._replace(cache=cache, log_end_offset=end, high_watermark=high_watermark)
