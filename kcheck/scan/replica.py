"""A replica of one partition as the truncation rules need it: as it lies, or as its broker's next start leaves it."""

from typing import NamedTuple

from kcheck.core.leader_epochs import assign, latest_epoch, load, read_lines
from kcheck.core.lineage import Lineage
from kcheck.core.segments import loaded_high_watermark, log_start_offset, next_offset, unflushed_segments
from kcheck.disk.read import UnreadableError, opened
from kcheck.disk.walk import exists, join
from kcheck.model.entries import UNDEFINED_EPOCH, Epoch, EpochEntries, EpochEntry, Offset
from kcheck.model.names import LOG_START, RECOVERY_POINT, REPLICATION_OFFSET
from kcheck.model.release import CheckpointReader, Release
from kcheck.model.views import FileView, LogDirView, PartitionView
from kcheck.scan.batches import Walk, index_path, last_index_entry, log_name
from kcheck.scan.start_values import Prediction

_NO_END = "its log end could not be found"
_OFFSET_LIMIT = 2**31 - 1
"""A segment holds offsets up to its base offset plus this (AbstractIndex.toRelative)."""


class LogFile(NamedTuple):
    """A segment's `.log` that is part of the log: batches stand in its first `size` bytes."""

    path: str
    base_offset: Offset
    size: int


class ReplicaState(NamedTuple):
    """One replica. `logs` is empty for a bare leader-epoch-checkpoint, and where nothing more is to be read.

    `problem` says why the replica cannot take part (its broker aborts, or its log dir goes offline); the other values
    are then what could be read. `high_watermark` is None where nobody said it. `latest_epoch` is the highest epoch that
    its file or its batches show. `lineage` is what all its batches were seen to say, None where they were not read.
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
    problem: str | None = None


def as_it_lies(view: PartitionView, log_dir: LogDirView | None, release: Release) -> ReplicaState:
    """Return the replica as its files are, after the load rule of the release.

    A last entry that starts at the log end is kept: it is what a leader that has written nothing yet answers from.
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
        return state._replace(problem=f"the broker aborts: leader-epoch-checkpoint names {error}")
    return _with_end(state, cache, end, view, release)


def live(view: PartitionView, log_dir: LogDirView | None, release: Release) -> ReplicaState:
    """Return the replica as its files are, with its epochs as a running broker holds them."""
    state, lines, _ = _facts(view, log_dir, release, logs_of(view))
    end = view.log_end_offset
    if state.problem or end is None:
        return state._replace(problem=state.problem or _NO_END)
    try:
        cache = read_lines(lines, release) if release.epoch_cache else ()
    except ValueError as error:
        return state._replace(problem=f"the broker aborts: leader-epoch-checkpoint names {error}")
    return _with_end(state, cache, end, view, release)


def after_start(view: PartitionView, log_dir: LogDirView | None, release: Release) -> ReplicaState:
    """Return the replica as the next start of its broker leaves it (LogLoader.load).

    After a clean shutdown the log end is what the last index entry leads to; after an unclean one the segments from the
    recovery point on are rescanned, cut at the first batch that is not valid, and their epochs added.
    """
    state, lines, checkpoint = _facts(view, log_dir, release, logs_of(view))
    if state.problem:
        return state
    try:
        epochs = list(read_lines(lines, release)) if release.epoch_cache else []
        if view.clean_shutdown is False:
            logs, end = _recovered(state, _recovery_point(view, log_dir), epochs, release)
        else:
            logs, end = _end_by_index(state, view, epochs, release)
        if release.wipes_log_start_above_log_end and checkpoint > end:
            gone = state._replace(logs=(), log_start_offset=checkpoint, first_segment=checkpoint)
            return _with_end(gone, (), checkpoint, view, release)
        first = logs[0].base_offset if logs else checkpoint
        cache = load(epochs, log_end_offset=end, log_start_checkpoint=checkpoint, first_segment=first, release=release)
    except (_BrokerAbortsError, UnreadableError) as problem:
        return state._replace(problem=str(problem))
    except ValueError as error:
        return state._replace(problem=f"the broker aborts: leader-epoch-checkpoint names {error}")
    return _with_end(state._replace(logs=logs, first_segment=first), cache, end, view, release)


def after_start_unread(view: PartitionView, log_dir: LogDirView | None, release: Release) -> ReplicaState:
    """Return the replica as `after_start` does, as far as what was seen of it tells: nothing more is read.

    The log end is where valid batches end. It differs where a start would find a CRC that does not match, or follows an
    index that leads elsewhere. An epoch that only batches name is a problem: which offset it begins at is not known.
    """
    state, lines, checkpoint = _facts(view, log_dir, release, ())
    end, last = view.log_end_offset, view.last_batch
    if state.problem or end is None:
        return state._replace(problem=state.problem or _NO_END)
    try:
        epochs = read_lines(lines, release) if release.epoch_cache else ()
        newer = None if last is None or last.epoch is None or last.epoch <= latest_epoch(epochs) else last.epoch
        if newer is not None and view.clean_shutdown is False and release.epoch_cache:
            return state._replace(problem=f"its start adds epoch {newer} of its batches: --depth crc tells from where")
        if release.wipes_log_start_above_log_end and checkpoint > end:
            gone = state._replace(log_start_offset=checkpoint, first_segment=checkpoint)
            return _with_end(gone, (), checkpoint, view, release)
        first = state.first_segment if view.segments else checkpoint
        cache = load(epochs, log_end_offset=end, log_start_checkpoint=checkpoint, first_segment=first, release=release)
    except ValueError as error:
        return state._replace(problem=f"the broker aborts: leader-epoch-checkpoint names {error}")
    return _with_end(state._replace(first_segment=first), cache, end, view, release)


def loaded(view: PartitionView, log_dir: LogDirView | None, start: Prediction, release: Release) -> ReplicaState:
    """Return the replica as the simulated start leaves it, which loads it; `logs` is empty."""
    log = start.log
    assert log is not None
    return ReplicaState(
        broker_id=view.where.broker_id, topic=view.topic, partition=view.partition, cache=log.leader_epochs,
        log_end_offset=log.log_end_offset, log_start_offset=log.log_start_offset, first_segment=Offset(log.bases[0]),
        high_watermark=start.high_watermark, latest_epoch=_seen_epoch(view),
        problem=_log_dir_problem(log_dir, release),
    )  # fmt: skip


class _BrokerAbortsError(Exception):
    """The start does not get as far as a log end."""


def logs_of(view: PartitionView) -> tuple[LogFile, ...]:
    """Return the segments of a partition directory."""
    path = join(view.where.log_dir or "", view.where.dir or "")
    return tuple(
        LogFile(path=join(path, log_name(segment.base_offset)), base_offset=segment.base_offset, size=segment.size)
        for segment in view.segments
    )


def _facts(
    view: PartitionView, log_dir: LogDirView | None, release: Release, logs: tuple[LogFile, ...]
) -> tuple[ReplicaState, EpochEntries, Offset]:
    """Return what every way of looking shares: the state without cache and end, the epoch lines, the checkpoint."""
    lines, problem = _epoch_lines(view, release)
    problem = problem or _log_dir_problem(log_dir, release)
    if problem is None and view.metadata is not None and view.metadata.reads and view.metadata.reads.error:
        problem = f"partition.metadata cannot be read by the broker: {view.metadata.reads.error}"
    checkpoint = view.log_start_checkpoint if _readable(LOG_START, log_dir) else None
    first = view.segments[0].base_offset if view.segments else None
    start = log_start_offset(checkpoint, first)
    state = ReplicaState(
        broker_id=view.where.broker_id, topic=view.topic or None,
        partition=view.partition if view.topic else None, logs=logs,
        first_segment=start if first is None else first, log_start_offset=start, latest_epoch=_seen_epoch(view),
        problem=problem,
    )  # fmt: skip
    return state, lines, checkpoint or Offset(0)


def _epoch_lines(view: PartitionView, release: Release) -> tuple[EpochEntries, str | None]:
    if view.epochs is None or view.epochs.reads is None or not release.epoch_cache:
        return (), None
    if view.epochs.reads.error is not None:
        return (), f"leader-epoch-checkpoint cannot be read by the broker: {view.epochs.reads.error}"
    return tuple(view.epochs.reads.value or ()), None


def _checkpoint(name: str, log_dir: LogDirView | None) -> FileView | None:
    return None if log_dir is None else log_dir.files.get(name)


def _readable(name: str, log_dir: LogDirView | None) -> bool:
    view = _checkpoint(name, log_dir)
    return view is None or view.reads is None or view.reads.error is None


def _seen_epoch(view: PartitionView) -> Epoch:
    of_batch = None if view.last_batch is None else view.last_batch.epoch
    return max((UNDEFINED_EPOCH, of_batch or UNDEFINED_EPOCH, *[entry.epoch for entry in view.leader_epochs]))


def _log_dir_problem(log_dir: LogDirView | None, release: Release) -> str | None:
    """Return why an unreadable checkpoint of the log dir keeps a replica away, None where none does."""
    for name in (RECOVERY_POINT, LOG_START, REPLICATION_OFFSET) if log_dir and log_dir.files else ():
        problem = _checkpoint_problem(name, log_dir, release)
        if problem is not None:
            return problem
    return None


def _checkpoint_problem(name: str, log_dir: LogDirView | None, release: Release) -> str | None:
    """Return why an unreadable checkpoint of the log dir keeps the replica away, None where it is merely ignored."""
    view = _checkpoint(name, log_dir)
    if view is None or view.reads is None or view.reads.error is None:
        return None
    error = view.reads.error
    if name == REPLICATION_OFFSET:
        return f"{name} cannot be read by the broker: {error}"
    if release.reader in (CheckpointReader.R1, CheckpointReader.R2, CheckpointReader.R3):
        return f"the broker aborts: {name}: {error}" if release.version < (0, 9) else None
    if error in ("NumberFormatException", "IllegalArgumentException"):
        return None
    return f"its log dir goes offline: {name} cannot be read by the broker: {error}"


def _recovery_point(view: PartitionView, log_dir: LogDirView | None) -> Offset:
    if view.recovery_point is None or not _readable(RECOVERY_POINT, log_dir):
        return Offset(0)
    return view.recovery_point


def _with_end(
    state: ReplicaState, cache: EpochEntries, end: Offset, view: PartitionView, release: Release
) -> ReplicaState:
    # Without a log dir around it nobody knows what its checkpoint says; in a log dir a missing entry is 0.
    known_high_watermark = view.high_watermark is not None or view.clean_shutdown is not None
    high_watermark = None
    if known_high_watermark:
        high_watermark = loaded_high_watermark(
            view.high_watermark, log_start=state.log_start_offset, log_end=end, release=release
        )
    return state._replace(cache=cache, log_end_offset=end, high_watermark=high_watermark)


def _recovered(
    state: ReplicaState, recovery_point: Offset, epochs: list[EpochEntry], release: Release
) -> tuple[tuple[LogFile, ...], Offset]:
    """Return the segments and the log end after recovery; adds to `epochs` what the rescanned batches show."""
    rescanned = set(unflushed_segments([log.base_offset for log in state.logs], recovery_point))
    logs: list[LogFile] = []
    end = state.first_segment
    for log in state.logs:
        if log.base_offset not in rescanned:
            logs.append(log)
            end = log.base_offset
            continue
        walk, end = _rescan(log, epochs, release)
        logs.append(log._replace(size=walk.position))
        if walk.position < log.size:
            break
    return tuple(logs), end


def _rescan(log: LogFile, epochs: list[EpochEntry], release: Release) -> tuple[Walk, Offset]:
    """Walk one segment as LogSegment.recover does: every batch's CRC, its offsets, its epoch."""
    end = log.base_offset
    with opened(log.path) as (descriptor, size):
        walk = Walk(descriptor, size, verify=True)
        for batch in walk:
            if not log.base_offset <= batch.last_offset <= log.base_offset + _OFFSET_LIMIT:
                raise _BrokerAbortsError(
                    f"the broker aborts: {log.path}: the batch at position {batch.position} ends at offset"
                    f" {batch.last_offset}, outside of its segment"
                )
            end = Offset(batch.last_offset + 1)
            if release.epoch_cache and batch.epoch is not None and batch.epoch > latest_epoch(tuple(epochs[-1:])):
                epochs[:] = assign(tuple(epochs), batch.epoch, batch.base_offset, how=release.assign)
    return walk, end


def _end_by_index(
    state: ReplicaState, view: PartitionView, epochs: list[EpochEntry], release: Release
) -> tuple[tuple[LogFile, ...], Offset]:
    """Return the segments and the log end after a clean shutdown: what the last segment's last index entry leads to.

    Where the index is missing the segment is rescanned, as after an unclean shutdown.
    """
    if not state.logs:
        return (), state.log_start_offset if view.log_end_offset is None else view.log_end_offset
    *before, last = state.logs
    if not exists(index_path(last.path)):
        walk, end = _rescan(last, epochs, release)
        return (*before, last._replace(size=walk.position)), end
    entry = last_index_entry(last.path, last.base_offset)
    offset = last.base_offset if entry is None else entry.offset
    with opened(last.path) as (descriptor, size):
        walk = Walk(descriptor, size, position=0 if entry is None else entry.position)
        end = next_offset(walk, base_offset=last.base_offset, last_index_offset=offset, release=release)
        if walk.corrupt:
            raise _BrokerAbortsError(f"the broker aborts: {last.path}: position {walk.position}: {walk.corrupt}")
    return state.logs, end
