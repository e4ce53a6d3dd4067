"""Which records of a replica are committed: those below an offset of its own, its mark."""

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
    """Return below which offset the records of each replica are committed.

    They are below a high watermark that the replica itself knows, or every member of the ISR has them: the leader
    raises its high watermark to the lowest log end of these (Partition.maybeIncrementLeaderHW). What another replica
    knows says nothing about a record that this one does not share with it.
    """
    shared = None if registration is None else _shared_by_isr(states, registration)
    isr = () if registration is None else registration.isr
    return {
        state.broker_id: shared
        if state.broker_id in isr and shared is not None and shared > (state.known_high_watermark or 0)
        else state.known_high_watermark
        for state in states
    }


def _shared_by_isr(states: Sequence[ReplicaState], registration: PartitionRegistration) -> Offset | None:
    """Return up to where the logs of all members of the ISR are the same; None if one of them is not at hand."""
    members = [_at_hand(state) for state in states if state.broker_id in registration.isr]
    if not members or len(members) < len(registration.isr):
        return None
    if any(state.problem is not None or state.log_end_offset is None for state in members):
        return None
    first, *others = members
    shared = [first.log_end_offset, *(fork_of(other, first).common_prefix for other in others)]
    return None if None in shared else min(offset for offset in shared if offset is not None)


def _at_hand(state: ReplicaState) -> ReplicaState:
    """Return a replica with the whole batches that the start of its broker takes from it."""
    try:
        whole = lineage(state.logs_before) if state.logs_before else ()
    except UnreadableError:
        return state
    if not whole or state.log_end_offset is None:
        return state
    end = Offset(max(state.log_end_offset, whole[-1].end))
    return state._replace(logs=state.logs_before, lineage=whole, log_end_offset=end)
