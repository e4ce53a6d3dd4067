"""Finds the committed records of a replica, which are below an offset of its own, its mark."""

from collections.abc import Mapping, Sequence

from kcheck.model.cluster import PartitionRegistration
from kcheck.model.entries import Offset
from kcheck.model.unreadable import UnreadableError
from kcheck.replicas.leader_plans import fork_of
from kcheck.replicas.loss import lineage
from kcheck.replicas.replica import ReplicaState

Marks = Mapping[int | None, Offset | None]
"""Below which offset the records of a replica are committed, by broker; None if that is not known."""


def committed_marks(states: Sequence[ReplicaState], registration: PartitionRegistration | None) -> Marks:
    """Return the offset below which the records of each replica are committed.

    They are below a high watermark that the replica itself knows, or every member of the ISR has them. The leader
    raises its high watermark to the lowest log end of the ISR (Partition.maybeIncrementLeaderHW). The high watermark of
    another replica applies only to records that both share.
    """
    shared = None if registration is None else _shared_by_isr(states, registration)
    isr = () if registration is None else registration.isr
    marks: dict[int | None, Offset | None] = {
        state.broker_id: shared
        if state.broker_id in isr and shared is not None and shared > (state.known_high_watermark or 0)
        else state.known_high_watermark
        for state in states
    }
    for state in states:
        for other in states:
            mark, own = _lost_with(state, other), marks[other.broker_id]
            if own is not None and mark > own:
                marks[other.broker_id] = mark
    return marks


def _lost_with(state: ReplicaState, other: ReplicaState) -> Offset:
    """Return the end of another replica's committed records that this one loses; 0 without any.

    It loses them when its broker starts. A batch may be incomplete or corrupt here. It is the same record there, if the
    logs are the same up to it.
    """
    mark, lost, end = state.known_high_watermark, state.lost, state.log_end_offset
    if lost is None or lost.end is None or mark is None or end is None or state.problem is not None:
        return Offset(0)
    if other is state or other.problem is not None or other.log_end_offset is None:
        return Offset(0)
    at_hand = max(other.log_end_offset, (other.lost and other.lost.end) or 0)
    is_prefix = fork_of(other, state).common_prefix == min(end, other.log_end_offset)
    return Offset(min(mark, lost.end)) if is_prefix and at_hand > end else Offset(0)


def _shared_by_isr(states: Sequence[ReplicaState], registration: PartitionRegistration) -> Offset | None:
    """Return the offset up to which the logs of the ISR are equal; None if a member is missing."""
    members = [_at_hand(state) for state in states if state.broker_id in registration.isr]
    if not members or len(members) < len(registration.isr):
        return None
    if any(state.problem is not None or state.log_end_offset is None for state in members):
        return None
    first, *others = members
    shared = [_end_at_hand(first), *(_shared_by(first, other) for other in others)]
    return None if None in shared else min(offset for offset in shared if offset is not None)


def _shared_by(first: ReplicaState, other: ReplicaState) -> Offset | None:
    """Return the offset up to which two logs are equal. A run has no lost records to compare. They count as equal."""
    prefix = fork_of(other, first).common_prefix
    is_whole = prefix is not None and prefix == min(first.log_end_offset or 0, other.log_end_offset or 0)
    return min(_end_at_hand(first), _end_at_hand(other)) if is_whole else prefix


def _end_at_hand(state: ReplicaState) -> Offset:
    """Return the log end before the broker starts. Of batches lost there a run has the end alone."""
    lost = 0 if state.logs_before or state.lost is None else state.lost.end or 0
    return Offset(max(state.log_end_offset or 0, lost))


def _at_hand(state: ReplicaState) -> ReplicaState:
    """Return a replica with the complete batches that it loses when its broker starts."""
    try:
        whole = lineage(state.logs_before) if state.logs_before else ()
    except UnreadableError:
        return state
    if not whole or state.log_end_offset is None:
        return state
    end = Offset(max(state.log_end_offset, whole[-1].end))
    return state._replace(logs=state.logs_before, lineage=whole, log_end_offset=end)
