"""Plans the steps of each follower under a leader (its requests, truncation, losses and fetches)."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from kcheck.core.replication.dialogue import Dialogue, FetchAnswer, FetchRequest, Leader, Status
from kcheck.core.replication.lineage import EpochRange, Fork, Lineage, fork, lineage_of_cache, ranges
from kcheck.core.replication.refetch import follow, sends_snapshot
from kcheck.core.replication.truncation import elected, plan_truncation
from kcheck.core.replication.truncation_plans import (
    CutPosition,
    FollowerPlan,
    OffsetRange,
    RefetchedRecords,
    StartLoss,
    TruncatedRecords,
    TruncationPlan,
)
from kcheck.core.tiered.histories import state_segment
from kcheck.model.entries import Epoch, Offset
from kcheck.model.names import ids_differ
from kcheck.model.release import Release
from kcheck.model.remote_log import RemoteSegment
from kcheck.model.unreadable import UnreadableError
from kcheck.replicas.loss import Amount, amount, cut_at, fetched, lineage
from kcheck.replicas.replica import ReplicaState
from kcheck.replicas.shared_records import shared_end

_MOVED = FetchAnswer.OFFSET_MOVED_TO_TIERED_STORAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Election:
    """The leader, its epoch, and whether the brokers restart first."""

    leader: str | None = None
    """A broker id, `best`, or None for every candidate."""
    leader_epoch: int | None = None
    """The epoch of the election; None means one above the highest epoch in any replica."""
    live: bool = False
    """The brokers keep running; do not model a restart."""


def plans_under(states: tuple[ReplicaState, ...], election: Election, release: Release) -> Iterator[TruncationPlan]:
    """Yield the plan of one partition under the chosen leader, or one for each candidate."""
    followers = _Followers(states, release)
    if election.leader in (None, "best"):
        candidates = [state for state in states if state.problem is None]
        yield from (_plan_under(leader, states, election, followers) for leader in candidates)
        return
    leaders = [state for state in states if str(state.broker_id) == election.leader]
    yield from (_plan_under(leader, states, election, followers) for leader in leaders)
    if not leaders:
        why = f"broker {election.leader} has no replica of this partition"
        leader = ReplicaState(int(str(election.leader)), states[0].topic, states[0].partition, problem=why)
        yield _plan_under(leader, states, election, followers)


class _Followers:
    """The plans of followers under a leader. Replicas that differ only in their broker have the same plan."""

    def __init__(self, states: tuple[ReplicaState, ...], release: Release) -> None:
        self.release = release
        kinds = [state._replace(broker_id=None) for state in states]
        self._kinds = {id(state): kinds.index(kind) for state, kind in zip(states, kinds, strict=True)}
        self._plans: dict[tuple[int, int], FollowerPlan] = {}

    def plan(self, state: ReplicaState, leading: ReplicaState, leader: Leader) -> FollowerPlan:
        key = self._kinds[id(state)], self._kinds[id(leading)]
        if key not in self._plans:
            self._plans[key] = _follower_plan(state, leading, leader, self.release)
        return self._plans[key]._replace(broker_id=state.broker_id)


def _plan_under(
    leading: ReplicaState, states: tuple[ReplicaState, ...], election: Election, known: _Followers
) -> TruncationPlan:
    """Return the plan of a partition under one leader."""
    epoch = max(state.latest_epoch for state in states) + 1 if election.leader_epoch is None else election.leader_epoch
    plan = TruncationPlan(
        topic=states[0].topic,
        partition=states[0].partition,
        leader=leading.broker_id,
        leader_epoch=Epoch(epoch),
        leader_log_end_offset=leading.log_end_offset,
        leader_log_start_offset=None,
        lost_at_start=tuple(StartLoss(state.broker_id, state.lost) for state in states if state.lost),
        problem=leading.problem,
        followers=(),
    )
    others = tuple(state for state in states if state is not leading)
    if leading.problem is not None or leading.log_end_offset is None:
        why = f"the leader cannot lead: {leading.problem}"
        return plan._replace(followers=tuple(_absent(state, state.problem or why) for state in others))
    before = Leader(
        cache=leading.cache,
        log_end_offset=leading.log_end_offset,
        log_start_offset=leading.log_start_offset,
        local_log_start_offset=leading.first_segment,
    )
    leader = elected(before, Epoch(epoch), release=known.release)
    return plan._replace(
        leader_log_start_offset=leader.log_start_offset,
        followers=tuple(known.plan(state, leading, leader) for state in others),
    )


def is_foreign(state: ReplicaState, leading: ReplicaState, release: Release) -> bool:
    """Return whether a replica belongs to another topic than its leader; one without a topic id may belong to any."""
    return release.compares_topic_ids and ids_differ(state.topic_id, leading.topic_id)


def _follower_plan(state: ReplicaState, leading: ReplicaState, leader: Leader, release: Release) -> FollowerPlan:
    """Return the plan of one follower."""
    if state.problem is not None or state.log_end_offset is None:
        return _absent(state, state.problem)
    if is_foreign(state, leading, release):
        other = f"topic id {state.topic_id} differs from the leader's {leading.topic_id}"
        return _absent(state, f"not a replica of this topic: {other}")
    dialogue = _dialogue(state, leader, release)
    if dialogue is None:
        return _absent(state, "its truncation depends on its high watermark, which is unknown")
    snapshot = sends_snapshot(dialogue.steps, leading.snapshots, log_start_offset=leader.log_start_offset)
    if snapshot is not None:
        return _absent(state, f"the leader sends a snapshot, so the follower's log restarts at offset {snapshot}")
    try:
        return _costed(state, leading, leader, _with_fetches(dialogue, leading, leader, release))
    except UnreadableError as error:
        return _absent(state, f"unreadable segment: {error}")


def _dialogue(state: ReplicaState, leader: Leader, release: Release) -> Dialogue | None:
    """Return the dialogue; None if it depends on an unknown high watermark."""
    assert state.log_end_offset is not None

    def with_high_watermark(offset: Offset) -> Dialogue:
        return plan_truncation(state.as_follower(offset), leader, release=release)

    if state.high_watermark is not None:
        return with_high_watermark(state.high_watermark)
    low, high = with_high_watermark(state.log_start_offset), with_high_watermark(state.log_end_offset)
    return high if low.steps == high.steps else None


def _with_fetches(dialogue: Dialogue, leading: ReplicaState, leader: Leader, release: Release) -> Dialogue:
    """Return the dialogue with the fetches that follow, until none truncates the log again."""
    known = _lineage(leading)

    def sent(offset: Offset) -> Iterator[Lineage]:
        if leading.logs:
            return fetched(leading.logs, offset)
        rest = tuple(
            EpochRange(Offset(max(run.start, offset)), run.end, run.epoch) for run in known if run.end > offset
        )
        return iter([rest] if rest else [])

    return follow(dialogue, leader, known, sent, release=release)


def _costed(state: ReplicaState, leading: ReplicaState, leader: Leader, dialogue: Dialogue) -> FollowerPlan:
    """Return the records that the follower loses and refetches."""
    before = state.log_end_offset
    assert before is not None
    after = dialogue.after.log_end_offset
    emptied = dialogue.after.first_segment != state.first_segment
    changed = after != before or emptied
    # A log that restarts after the remote log keeps none of its own records.
    is_moved = any(isinstance(step, FetchRequest) and step.reply is _MOVED for step in dialogue.steps)
    from_store: RemoteSegment | None = None
    if is_moved and leading.remote is not None and leading.remote.is_known:
        from_store = state_segment(leading.remote, leader.local_log_start_offset, leader.cache)
        if from_store is None:
            dialogue = dialogue._replace(status=Status.NEVER_COMPLETES)
    kept = Offset(max(state.log_start_offset, leader.log_start_offset)) if is_moved else after
    parted = fork_of(state, leading)
    gone = ranges(parted, log_start_offset=state.log_start_offset, before=before, after=kept)
    cut = cut_at(state.logs, after) if changed and not emptied else None
    if cut is not None and cut.base_offset < kept:  # The whole batch goes, from below the truncation offset on.
        removed = ranges(parted, log_start_offset=state.log_start_offset, before=before, after=cut.base_offset)
        gone = gone._replace(lost=removed.lost)
    diverges_at = gone.kept_divergent[0] if gone.kept_divergent and not emptied else None
    if cut is not None and diverges_at is None and dialogue.status is Status.OK and _leaves_hole(cut, after, leading):
        diverges_at = cut.base_offset
    return FollowerPlan(
        broker_id=state.broker_id,
        log_end_offset_before=before,
        high_watermark=state.high_watermark,
        dialogue=dialogue,
        truncate_to=after if changed else None,
        cut=cut,
        lost=None if gone.lost is None else _truncated(state, *gone.lost, certain=gone.certain),
        expired=_expired(state, leader.log_start_offset) if emptied or leading.lost_head is not None else None,
        refetch=None if dialogue.status is Status.FETCH_FAILS else _refetched(leading, leader, after),
        diverges_silently_at=diverges_at,
        from_store=from_store,
    )


def _leaves_hole(cut: CutPosition, after: Offset, leading: ReplicaState) -> bool:
    """Return whether the leader has messages that the follower removes with a compressed wrapper and never fetches
    again.

    The follower fetches from the truncation offset, and the removed wrapper began below (Log.truncateTo).
    """
    if not cut.of_wrapper or cut.base_offset >= after or not leading.logs:
        return False
    sent = cut_at(leading.logs, after)
    end = after if sent is None else Offset(min(after, sent.base_offset))
    return end > cut.base_offset and amount(leading.logs, cut.base_offset, end).records != 0


def fork_of(state: ReplicaState, leading: ReplicaState) -> Fork:
    """Return the place where two logs diverge, by first batches and epochs, or else by the CRCs of messages."""
    ours, theirs = state.log_end_offset, leading.log_end_offset
    assert ours is not None
    assert theirs is not None
    if (other := _other_first_batch(state, leading)) is not None:
        return Fork(other, other)
    by_epochs = fork(_lineage(leading), _lineage(state), a_end=theirs, b_end=ours)
    end = Offset(min(ours, theirs))
    try:
        prefix = shared_end(leading.logs, state.logs, end) if by_epochs.common_prefix is None else None
    except UnreadableError:
        return by_epochs
    return by_epochs if prefix is None else Fork(prefix, prefix if prefix < end else None)


def _other_first_batch(state: ReplicaState, leading: ReplicaState) -> Offset | None:
    """Return the offset where both logs begin with different batches, as one log is of another partition.

    A follower copies the batches of its leader; only the log cleaner writes others.
    """
    ours, theirs = (None if log.batches is None else log.batches.first for log in (state, leading))
    if ours is None or theirs is None or state.is_compacted or leading.is_compacted:
        return None
    return ours[0] if ours[0] == theirs[0] and ours != theirs else None


def _lineage(state: ReplicaState) -> Lineage:
    assert state.log_end_offset is not None
    is_local = state.first_segment <= state.log_start_offset  # Local batches say nothing about a remote log.
    if state.lineage is not None and is_local:
        return state.lineage
    if state.logs and is_local:
        with suppress(UnreadableError):  # a segment is a link, or closed: the epochs tell where the logs diverge
            return lineage(state.logs)
    return lineage_of_cache(state.cache, log_start_offset=state.log_start_offset, log_end_offset=state.log_end_offset)


def _truncated(state: ReplicaState, start: Offset, end: Offset, *, certain: bool) -> TruncatedRecords:
    """Return the records that the follower loses, counted from its batches; those in remote storage are not counted."""
    logs = state.logs if start >= state.first_segment else ()
    counts = amount(logs, start, end) if logs else Amount(None, None)
    mark = state.high_watermark
    below: int | None = None
    if mark is not None:
        limit = Offset(min(mark, end))
        records = amount(logs, start, limit).records if logs and limit > start else None
        below = max(0, limit - start) if records is None else records
    return TruncatedRecords(start, end, counts.records, counts.bytes, below, certain)


def _expired(state: ReplicaState, leader_start: Offset) -> OffsetRange | None:
    assert state.log_end_offset is not None
    end = min(leader_start, state.log_end_offset)
    return OffsetRange(state.log_start_offset, end) if state.log_start_offset < end else None


def _refetched(leading: ReplicaState, leader: Leader, after: Offset) -> RefetchedRecords | None:
    start, end = Offset(max(after, leader.log_start_offset)), leader.log_end_offset
    if start >= end:
        return None
    counts = amount(leading.logs, start, end) if leading.logs else Amount(None, None)
    return RefetchedRecords(start, end, counts.records, counts.bytes)


def _absent(state: ReplicaState, problem: str | None) -> FollowerPlan:
    """Return the plan of a follower that cannot take part."""
    return FollowerPlan(
        broker_id=state.broker_id,
        log_end_offset_before=state.log_end_offset,
        high_watermark=state.high_watermark,
        problem=problem,
    )
