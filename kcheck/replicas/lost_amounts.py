"""What nobody has any more once a replica leads: by the truncations of the others, and by the starts before."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kcheck.core.election.plans import Amounts
from kcheck.core.replication.truncation_plans import FollowerPlan, StartLoss, TruncatedRecords, TruncationPlan
from kcheck.model.entries import Offset
from kcheck.model.unreadable import UnreadableError
from kcheck.replicas.distinct_records import LostRange, distinct
from kcheck.replicas.leader_plans import fork_of
from kcheck.replicas.loss import batches_of, logs_from
from kcheck.replicas.replica import LogFile, ReplicaState


def amounts_lost(
    plan: TruncationPlan, states: Mapping[int | None, ReplicaState], high_watermark: Offset | None
) -> Amounts:
    """Return the distinct records that a replica here holds and nobody has once the leader of the plan leads."""
    leader = states[plan.leader]
    lost, kept = [], []
    for follower in plan.followers:
        logs, after, cut = states[follower.broker_id].logs, follower.log_end_offset_after, follower.cut
        if follower.lost is not None:
            lost.append(LostRange(logs, follower.lost.start, follower.lost.end))
        if follower.diverges_silently_at is not None and after is not None:
            end = after if cut is None else Offset(min(after, cut.base_offset))
            kept.append(LostRange(logs, follower.diverges_silently_at, end))
    parts = [_parts(loss, states[loss.broker_id].logs_before) for loss in plan.lost_at_start]
    lost += [part.whole for part in parts if part.whole is not None]
    amounts = Amounts(0, 0 if high_watermark is not None or not lost else None, 0)
    if lost:
        assert leader.log_end_offset is not None
        kept.append(LostRange(leader.logs, leader.log_start_offset, leader.log_end_offset))
        counts = distinct(lost, kept, high_watermark)
        amounts = Amounts(counts.records, counts.committed, counts.bytes)
    return _with_rests(amounts, (part.rest for part in parts if part.rest is not None), states)


def amounts_by_offsets(
    plan: TruncationPlan, states: Mapping[int | None, ReplicaState], high_watermark: Offset | None
) -> Amounts:
    """Return the distinct records that are lost, as far as offsets and epochs alone show them.

    They do where one replica loses all that the others lose.
    """
    losing = [follower for follower in plan.followers if follower.lost is not None]
    if not losing:
        return _with_rests(Amounts(0, 0, 0), plan.lost_at_start, states)
    largest = max(losing, key=lambda follower: follower.lost.end - follower.lost.start if follower.lost else 0)
    lost = largest.lost
    assert lost is not None
    is_silent = any(follower.diverges_silently_at is not None for follower in plan.followers)
    if is_silent or not lost.certain or not all(_is_within(follower, largest, states) for follower in losing):
        lost = lost._replace(records=None, bytes=None)
    first = min(follower.lost.start for follower in losing if follower.lost is not None)
    amounts = Amounts(lost.records, _committed(lost, first, high_watermark), lost.bytes)
    return _with_rests(amounts, plan.lost_at_start, states)


def _committed(lost: TruncatedRecords, first: Offset, high_watermark: Offset | None) -> int | None:
    """Return how many lost records lie below a high watermark; `first`: the lowest offset that anybody loses."""
    if high_watermark is None:
        return None
    if first >= high_watermark:
        return 0
    is_dense = lost.records == lost.end - lost.start
    if lost.records is None or not (is_dense or lost.end <= high_watermark):
        return None
    return min(high_watermark, lost.end) - lost.start if is_dense else lost.records


def _is_within(follower: FollowerPlan, largest: FollowerPlan, states: Mapping[int | None, ReplicaState]) -> bool:
    """Whether a follower loses only records that another one loses too."""
    if follower is largest:
        return True
    lost, most = follower.lost, largest.lost
    assert lost is not None
    assert most is not None
    shared = fork_of(states[follower.broker_id], states[largest.broker_id]).common_prefix
    return most.start <= lost.start and lost.end <= most.end and shared is not None and shared >= lost.end


class _Parts(NamedTuple):
    """What the start of a broker takes from its replica."""

    whole: LostRange | None
    """The complete batches: they can be compared with those of other replicas. None without any."""
    rest: StartLoss | None
    """The incomplete batch at the end, or all that is not known better; None if nothing is left."""


def _parts(loss: StartLoss, logs: tuple[LogFile, ...]) -> _Parts:
    broker_id, (start, end, records, size, below, _) = loss
    if start is None or end is None or records is None:
        return _Parts(None, loss)
    counted = taken = 0
    until = start
    try:
        for batch in batches_of(logs_from(logs, start)):
            if start <= batch.base_offset and batch.last_offset < end:
                if batch.record_count is None:
                    return _Parts(None, loss)
                counted, taken = counted + batch.record_count, taken + batch.size
                until = Offset(batch.last_offset + 1)
    except UnreadableError:
        return _Parts(None, loss)
    whole = LostRange(logs, start, until) if counted else None
    if counted >= records:
        return _Parts(whole, None)
    rest = loss.lost._replace(
        start=until,
        records=records - counted,
        bytes=max(0, size - taken),
        below_high_watermark=None if below is None else max(0, below - counted),
    )
    return _Parts(whole, StartLoss(broker_id, rest))


def _with_rests(amounts: Amounts, rests: Iterable[StartLoss], states: Mapping[int | None, ReplicaState]) -> Amounts:
    """Return the amounts with what starts take beyond the end of every other log.

    What two starts take there are the same records: the larger loss counts.
    """
    largest = Amounts(0, 0, 0)
    for broker_id, loss in rests:
        ends = [state.log_end_offset or 0 for number, state in states.items() if number != broker_id]
        beyond = max(ends, default=0)
        if loss.end is not None and loss.end <= beyond:
            continue
        is_whole = loss.start is None or loss.start >= beyond
        rest = None if is_whole or loss.end is None else loss.end - beyond
        records = loss.records if is_whole or loss.records is None or rest is None else min(loss.records, rest)
        below = loss.below_high_watermark
        committed = below if is_whole or below is None or records is None else min(below, records)
        if (records or 0, loss.bytes) > (largest.records or 0, largest.bytes or 0):
            largest = Amounts(records, committed, loss.bytes)
    pairs = zip(amounts, largest, strict=True)
    return Amounts(*(None if one is None or other is None else one + other for one, other in pairs))
