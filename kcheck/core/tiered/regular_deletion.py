"""The segments that the first pass of retention takes from a log in remote storage, once a replica leads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from kcheck.core.tiered.reports import RemoteReplica
from kcheck.model.entries import Epoch, EpochEntries, EpochEntry, Offset
from kcheck.model.release import Release
from kcheck.model.remote_log import RemoteLog, RemoteSegment, SegmentState
from kcheck.words import bare_range

_NO_TIME = -1
"""The time of records without one."""


class RegularDeletion(NamedTuple):
    """The effect of the first pass of retention, without any new record. What is below the log start goes."""

    start: Offset
    """The log start before."""
    least: Offset
    """The new log start at least, by retention.bytes."""
    most: Offset | None
    """The new log start at most, by retention.bytes; None if not known."""
    first_ms: int | None = None
    """Before this time retention.ms deletes nothing, in ms since 1970; None without a limit, or if not known."""
    last_ms: int | None = None
    """From this time on retention.ms deletes every remote segment, in ms since 1970; None as above."""
    is_dated: bool = True
    """False if retention.ms is not known."""
    below: int = 0
    """Number of remote segments below the log start. No reader needs them."""
    local_most: Offset | None = None
    """The new local start at most, by local.retention.bytes; None if not known."""
    local_first_ms: int | None = None
    """From this time on local.retention.ms deletes segments on disk, which remote storage keeps. In ms since 1970. None
    without a copied segment on disk, or if not known, or if retention.ms is as long."""

    @property
    def takes_nothing(self) -> bool:
        """True if no limit takes a remote segment, now or later."""
        return self.most == self.start and self.is_dated and self.first_ms is None


class LocalSegment(NamedTuple):
    """A segment on disk."""

    base_offset: Offset
    """The offset in its name."""
    size: int
    """The size of its `.log` in bytes."""


class _OwnEpochs(NamedTuple):
    """The leader epochs of a replica that have records."""

    entries: EpochEntries
    """The epochs."""
    places: Mapping[Epoch, int]
    """Their places."""
    following: tuple[EpochEntry | None, ...]
    """The epoch after each."""


class _Expiring(NamedTuple):
    """A remote segment in the lineage of a leader."""

    end: Offset
    """The offset after its last one."""
    size: int
    """The size of its `.log` in bytes."""
    newest_ms: int
    """The time of its newest record, in ms since 1970."""
    is_finished: bool
    """True if the copy has ended, and no deletion has begun."""
    is_sure: bool
    """True if the segment is finished, and begins in no other one."""
    may_count: bool
    """True if the size can count for retention.bytes."""
    is_below: bool
    """True if the segment is below the log start."""
    goes_at_once: bool
    """True if brokers delete that segment without a limit. The size counts nevertheless."""


def regular_deletion(
    log: RemoteLog, replica: RemoteReplica, local: Sequence[LocalSegment], release: Release
) -> RegularDeletion | None:
    """Return the deletions of a log that a replica leads; None if its remote segments are not known.

    RemoteLogManager.cleanupExpiredRemoteLogSegments 3.6 to 4.3.1 goes from the first segment on, and ends at the first
    segment to keep. Some segments may be in both places, unfinished, or copied twice. Brokers may count them or not.
    Hence the difference between least and most. Retention can also delete the copies that the leader makes first.
    """
    epochs = _with_records(replica.epochs)
    if not log.is_known or not epochs or not local:
        return None
    leader = _OwnEpochs(epochs, {entry.epoch: at for at, entry in enumerate(epochs)}, (*epochs[1:], None))
    start, limit, kept_ms = replica.log_start, log.retention.bytes, log.retention.ms
    copied, sure, counted, below = start, 0, 0, 0
    first_ms = last_ms = None
    for row in _rows(log, replica, leader, release):
        sure += row.size * row.is_sure
        counted += row.size * row.may_count
        if row.is_finished:
            copied = max(copied, row.end)
            below += row.is_below
        if row.is_finished and not row.is_below and kept_ms is not None and kept_ms >= 0:
            at = kept_ms + row.newest_ms
            first_ms, last_ms = at if first_ms is None else first_ms, max(at, last_ms or at)
    found = RegularDeletion(
        start, start, None if limit is None else start, first_ms, last_ms, kept_ms is not None, below,
        _local_after(local, log.retention.local_bytes), _local_expiry(log, local),
    )  # fmt: skip
    if limit is None or limit < 0:
        return found
    new = [row for row in local if row.base_offset >= copied]
    is_twice = release.forgets_copied_segments or release.cleans_beside_copying
    consumed = ((row.end, row.size) for row in _rows(log, replica, leader, release) if not row.goes_at_once)
    least = _after(start, consumed, sure + _size(new) - limit)
    found_rows = (row for row in _rows(log, replica, leader, release) if row.is_sure and not row.goes_at_once)
    taken = ((row.end, row.size) for row in found_rows)
    copies = ((following.base_offset, row.size) for row, following in pairwise(new))
    most = _after(start, chain(taken, copies), counted + _size(local if is_twice else new) - limit)
    return found._replace(least=least, most=most)


def deletion_words(regular: RegularDeletion) -> str:
    """Return the offsets that retention deletes by size: `0-4`, `at most 0-9`, or `0-4, at most 0-9`."""
    start, least, most = regular.start, regular.least, regular.most
    if most is None:
        return "?"
    sure = [bare_range(start, least)] if least > start else []
    return ", ".join((*sure, *([f"at most {bare_range(start, most)}"] if most > least else []))) or "-"


def _rows(log: RemoteLog, replica: RemoteReplica, leader: _OwnEpochs, release: Release) -> Iterator[_Expiring]:
    """Yield the remote segments in the lineage of a leader, by first offset."""
    start, covered = replica.log_start, Offset(0)
    also = [SegmentState.COPY_STARTED] if release.counts_unfinished_copies else []
    also += [SegmentState.DELETE_STARTED] if release.counts_begun_deletions else []
    for row in log.segments:
        if row.start_offset is None or row.end_offset is None or row.state is SegmentState.DELETE_FINISHED:
            continue
        if row.end_offset > replica.log_end or not _is_within(row, row.end_offset, leader, release):
            continue
        is_below = row.end_offset <= start
        yield _Expiring(
            row.end_offset, row.size or 0, _NO_TIME if row.newest_ms is None else row.newest_ms, row.is_finished,
            row.is_finished and row.start_offset >= covered, row.is_finished or row.state in also, is_below,
            is_below and row.epochs[-1].epoch <= leader.entries[0].epoch,
        )  # fmt: skip
        covered = max(covered, row.end_offset) if row.is_finished else covered


def _is_within(segment: RemoteSegment, end: Offset, leader: _OwnEpochs, release: Release) -> bool:
    """Return whether a segment has the epochs of a leader (RemoteLogManager.isRemoteSegmentWithinLeaderEpochs).

    3.6 alone leaves out a segment that begins below the first entry of the leader.
    """
    own, first = _with_records(segment.epochs), leader.entries[0].epoch
    kept = [entry for entry in own if entry.epoch >= first]
    if not kept or (release.skips_remote_segments_at_log_start and len(kept) < len(own)):
        return False
    if any(entry.epoch not in leader.places for entry in kept):
        return False
    at = [leader.places[entry.epoch] for entry in kept]
    is_free = at[0] == 0 and not release.skips_remote_segments_at_log_start
    if not is_free and kept[0].start_offset < leader.entries[at[0]].start_offset:
        return False
    if any(leader.following[place] != after for place, after in zip(at, kept[1:], strict=False)):
        return False
    after = leader.following[at[-1]]
    return after is None or end <= after.start_offset


def _with_records(epochs: EpochEntries) -> EpochEntries:
    """Return the epochs that have records (RemoteLogManager.buildFilteredLeaderEpochMap)."""
    kept = (entry for entry, following in pairwise(epochs) if entry.start_offset != following.start_offset)
    return (*kept, *epochs[-1:])


def _after(start: Offset, rows: Iterable[tuple[Offset, int]], left: int) -> Offset:
    """Return the log start after segments went, one by one, while the log is too large by `left` bytes."""
    for end, size in rows:
        if left <= 0 or size > left:
            break
        start, left = max(start, end), left - size
    return start


def _size(segments: Iterable[LocalSegment]) -> int:
    return sum(row.size for row in segments)


def _local_expiry(log: RemoteLog, local: Sequence[LocalSegment]) -> int | None:
    """Return the time of the first deletion by local.retention.ms (UnifiedLog.deleteOldSegments 3.6 to 4.3.1)."""
    kept_ms, start = log.retention.local_ms, local[0].base_offset
    if kept_ms is None or kept_ms < 0 or kept_ms == log.retention.ms or len(local) == 1:
        return None
    copies = (row for row in log.segments if row.is_finished and row.start_offset == start)
    return max((kept_ms + row.newest_ms for row in copies if row.newest_ms is not None), default=None)


def _local_after(local: Sequence[LocalSegment], limit: int | None) -> Offset | None:
    """Return the first segment after the largest deletion on disk (UnifiedLog.deleteOldSegments 3.6 to 4.3.1)."""
    if limit is None:
        return None
    left = _size(local) - limit if limit >= 0 else -1
    first = local[0].base_offset
    for row, following in pairwise(local):
        if left < row.size:
            break
        first, left = following.base_offset, left - row.size
    return first
