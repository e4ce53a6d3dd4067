"""The faults of the remote part of a replica, and of the metadata of its remote segments."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kcheck.core.tiered.reading import deleted_by_leading, epochs_by_offset, offsets_of, readable, readable_by_epoch
from kcheck.core.tiered.spans import merged, within, without
from kcheck.model.entries import Epoch, EpochEntries, EpochEntry, Offset
from kcheck.model.remote_log import MetadataConflict, RemoteLog, RemoteSegment, SegmentRun, SegmentState, Spans

STUCK_MS = 3_600_000
"""A copy that has not ended for an hour hangs."""
TRIES_MAX = 5
"""So many copies of one segment do not fail by chance."""
_NO_START = Offset(1 << 62)


class RemoteReplica(NamedTuple):
    """The facts that decide about the remote part of a replica."""

    log_start: Offset
    """Its log start offset, in remote storage or not."""
    local_start: Offset
    """The base offset of its first local segment; the log end without one."""
    epochs: EpochEntries
    """Its leader epochs."""
    log_end: Offset
    """The offset after its last record."""


class RemoteReport(NamedTuple):
    """The fate of remote offsets if a replica leads."""

    deleted: tuple[SegmentRun, ...] = ()
    """The segments that it deletes at most."""
    unreadable: Spans = ()
    """The offsets below its first epoch, which it does not serve."""
    gaps: Spans = ()
    """The offsets between log start and local start that are in no remote segment that it can read."""
    without_metadata: Spans = ()
    """The offsets between log start and local start if the metadata of the remote segments is lost."""

    @property
    def deleted_offsets(self) -> Spans:
        """The offsets of the deleted segments."""
        return offsets_of(self.deleted)

    @property
    def deleted_count(self) -> int:
        """Number of segments that it deletes."""
        return sum(run.segments for run in self.deleted)


def remote_report(log: RemoteLog, replica: RemoteReplica) -> RemoteReport:
    """Return the fate of the remote offsets if the replica leads; empty if not known."""
    remote = merged([(replica.log_start, replica.local_start)])
    if log.is_lost:
        return RemoteReport(without_metadata=remote)
    if not log.is_known:
        return RemoteReport()
    runs, epochs = log.runs, replica.epochs
    if not epochs:
        return RemoteReport(deleted=deleted_by_leading(runs, epochs))
    missing = without(without(remote, readable(runs, epochs)), _retired(log, replica.log_start))
    if len(missing) == 1 and _is_raised(log, *missing[0], epochs[0]):
        missing = ()
    unreadable = within(missing, Offset(0), epochs[0].start_offset)
    return RemoteReport(deleted_by_leading(runs, epochs), unreadable, without(missing, unreadable))


def _retired(log: RemoteLog, log_start: Offset) -> Spans:
    """Return the deleted offsets at the log start, as a crash of a broker restores an older log start."""
    deleted = without(log.copied, offsets_of(log.runs))
    return tuple(span for span in deleted if span[0] <= log_start < span[1])


def _is_raised(log: RemoteLog, start: Offset, end: Offset, first: EpochEntry) -> bool:
    """Return whether a broker raised the log start to an offset of the first segment. 3.6 and 3.7 forget that.

    The segment begins with the first epoch of the file. LeaderEpochFileCache.truncateFromStart changed that entry.
    """
    return end == first.start_offset and any(
        row.is_finished and row.start_offset == start and row.epochs[0].epoch == first.epoch
        for row in log.segments
        if row.end_offset is not None and end < row.end_offset
    )


class StuckCopy(NamedTuple):
    """A segment that brokers fail to copy."""

    start_offset: Offset
    """Its first offset."""
    tries: int
    """Number of times that a copy began."""
    first_ms: int
    """When the first of them began, in ms since 1970."""


def stuck_copy(log: RemoteLog) -> StuckCopy | None:
    """Return the first segment whose copy failed `TRIES_MAX` times, or hangs for `STUCK_MS`; None without one.

    The last record of the metadata partition is the clock. A segment that was copied later, under another id, is not
    stuck.
    """
    open_copies = [row for row in log.unfinished if not row.was_finished and row.start_offset is not None]
    tries = Counter(segment.start_offset for segment in open_copies)
    for segment in open_copies:
        start, first_ms = segment.start_offset, segment.first_ms
        assert start is not None
        is_late = segment.state is SegmentState.COPY_STARTED and log.last_ms - first_ms >= STUCK_MS
        if (is_late or tries[start] >= TRIES_MAX) and not within(log.copied, start, Offset(start + 1)):
            return StuckCopy(start, tries[start], first_ms)
    return None


def failing_deletions(log: RemoteLog) -> tuple[RemoteSegment, ...]:
    """Return the segments that brokers began to delete several times; one try is a deletion under way."""
    return tuple(row for row in log.unfinished if row.state is SegmentState.DELETE_STARTED and row.deletions > 1)


def without_record(log: RemoteLog) -> tuple[RemoteSegment, ...]:
    """Return the segments that have only later records. Brokers cannot find them (KAFKA-15632)."""
    return tuple(
        row for row in log.unfinished if row.start_offset is None and row.state is not SegmentState.DELETE_FINISHED
    )


def forgets_metadata(log: RemoteLog) -> str | None:
    """Return the setting that lets brokers delete metadata of segments that are still in use; None without one.

    A segment that expires before its metadata does not count.
    """
    kept, own = log.metadata_topic.retention, log.retention.ms
    if log.metadata_topic.is_compacted:
        return "cleanup.policy=compact"
    if kept.bytes is not None and kept.bytes >= 0:
        return f"retention.bytes={kept.bytes}"
    if kept.ms is not None and own is not None and kept.ms >= 0 and not 0 <= own <= kept.ms:
        return f"retention.ms={kept.ms}"
    return None


def conflicts_words(logs: Iterable[RemoteLog]) -> tuple[str, ...]:
    """Return the contradictions between copies of `__remote_log_metadata`, each once."""
    conflicts: dict[str, MetadataConflict] = {
        log.metadata_name: log.conflict for log in logs if log.conflict is not None
    }
    return tuple(
        f"two copies of {name} differ at offset {conflict.offset} (brokers "
        f"{' and '.join('?' if number is None else str(number) for number in conflict.broker_ids)})"
        for name, conflict in sorted(conflicts.items())
    )


def lost_by_leading(log: RemoteLog, leader: RemoteReplica, others: Iterable[RemoteReplica]) -> Spans:
    """Return the offsets that are lost if a replica leads, in remote storage and on the others' disks.

    In remote storage the leader deletes them, or its log begins above them, or it has other records there. Offsets
    below its first epoch whose segments stay are not lost. Another leader reads them again. On the disks of others, the
    records below the leader's log start are lost, because followers take over the log start. Offsets in its gaps cannot
    be read while it leads. Lost metadata loses all remote offsets.
    """
    others = tuple(others)
    if log.is_lost:
        start = min((row.log_start for row in (leader, *others) if row.log_start < row.local_start), default=_NO_START)
        return merged([(start, leader.local_start)])
    if not log.is_known:
        return ()
    own = (*_deleted_from_own(log, leader), *remote_report(log, leader).gaps)
    return merged((*lost_of_others(log, leader, others), *without(merged(own), _hidden(log, leader))))


def lost_of_others(log: RemoteLog, leader: RemoteReplica, others: Sequence[RemoteReplica]) -> Spans:
    """Return the offsets that other replicas serve in remote storage, and that are lost if this one leads.

    With the records on their disks below its log start, because followers take it.
    """
    served = merged(span for other in others for span in _not_kept(log, leader, other))
    lost = without(served, _hidden(log, leader))
    local = within(merged((other.local_start, other.log_end) for other in others), Offset(0), leader.log_start)
    return merged((*lost, *local)) if lost else ()


def _hidden(log: RemoteLog, leader: RemoteReplica) -> Spans:
    """Return the offsets below the first epoch of a leader whose segments stay."""
    deleted = deleted_by_leading(log.runs, leader.epochs)
    first = leader.epochs[0].start_offset if leader.epochs else leader.log_start
    return within(offsets_of(run for run in log.runs if run not in deleted), leader.log_start, first)


def _deleted_from_own(log: RemoteLog, leader: RemoteReplica) -> Spans:
    """Return the offsets of its own log that a leader deletes, which are below its first epoch."""
    first = leader.epochs[0].start_offset if leader.epochs else leader.local_start
    return within(offsets_of(deleted_by_leading(log.runs, leader.epochs)), leader.log_start, first)


def _not_kept(log: RemoteLog, leader: RemoteReplica, other: RemoteReplica) -> Iterator[tuple[Offset, Offset]]:
    """Yield the remote offsets that a replica serves, and that the leader has with another epoch or not at all."""
    kept = served_by_epoch(log, leader)
    for epoch, spans in readable_by_epoch(log.runs, other.epochs).items():
        yield from without(within(spans, other.log_start, other.local_start), kept.get(epoch, ()))


def served_by_epoch(log: RemoteLog, replica: RemoteReplica) -> dict[Epoch, Spans]:
    """Return the offsets that a replica serves if it leads, remote and local, by the epoch of their records."""
    remote = readable_by_epoch(log.runs, replica.epochs)
    return {
        epoch: merged(
            (
                *within(remote.get(epoch, ()), replica.log_start, replica.log_end),
                *within((offsets,), replica.local_start, replica.log_end),
            )
        )
        for epoch, offsets in epochs_by_offset(replica.epochs).items()
    }
