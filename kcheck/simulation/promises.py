"""The promises of Kafka that a search watches, and that a history must not break."""

from kcheck.model.cluster import NO_LEADER
from kcheck.simulation.state import Acks, ClusterState, Node, ReplicaMode, Rules
from kcheck.simulation.verdict import (
    difference_between,
    first_difference,
    is_offline,
    judge,
    lost_records,
    withdrawn_records,
)

PROMISES = {
    "lost": "an acknowledged record is lost",
    "withdrawn": "a record that was read is withdrawn",
    "leaders": "a leader that was replaced acknowledges a record of acks=all",
    "diverged": "replicas differ and nothing notices",
    "stuck": "a follower never reaches its leader",
    "isr": "a replica in sync lacks a record below a leader's high watermark",
}
"""The promises, with their violations in words. The first one that a state breaks is its name."""
WATCHED = tuple(promise for promise in PROMISES if promise != "isr")
"""The promises that a search watches by default. Breaking `isr` alone loses no record yet."""


def with_reads(state: ClusterState) -> ClusterState:
    """Let a consumer read all that each leader shows it."""
    seen = state.reads
    for node in state.nodes:
        if node.running and node.mode is ReplicaMode.LEADER:
            for batch in node.batches:
                shown = (batch.base_offset, min(batch.end_offset, node.high_watermark), batch.append)
                if shown[0] < shown[1] and shown not in seen:
                    seen |= {shown}
    return state if seen is state.reads else state._replace(reads=seen)


def broken(before: ClusterState, state: ClusterState, rules: Rules, watched: tuple[str, ...]) -> str | None:
    """Return the first watched promise that a state breaks; None if it keeps them."""
    has_leader = not is_offline(state)  # Without one, who starts first decides: that is another event.
    if has_leader and "lost" in watched and lost_records(state):
        return "lost"
    if has_leader and "withdrawn" in watched and withdrawn_records(state):
        return "withdrawn"
    if "leaders" in watched and _acked_by_old_leader(before, state):
        return "leaders"
    if ("diverged" in watched or "stuck" in watched) and _is_suspicious(state):
        verdict = judge(state, rules)
        if "diverged" in watched and any(not pair.detected for pair in verdict.diverged):
            return "diverged"
        if "stuck" in watched and verdict.stuck:
            return "stuck"
    return "isr" if "isr" in watched and _isr_lacks_a_record(state) else None


def _acked_by_old_leader(before: ClusterState, state: ClusterState) -> bool:
    """Return whether an acks=all producer got an acknowledgment for records that a leader took once replaced."""
    if state.appends is before.appends:
        return False
    return any(
        new.acked and new.replaced and new.acks is Acks.ALL and not (old is not None and old.acked)
        for new, old in zip(state.appends, (*before.appends, None), strict=False)
    )


def _is_suspicious(state: ClusterState) -> bool:
    """Return whether it is worth while to let the cluster settle and look."""
    leader = state.controller.seats.leader
    if leader != NO_LEADER and state.nodes[leader].running and state.nodes[leader].mode is not ReplicaMode.LEADER:
        return True
    return any(node.running and _may_be_stuck(node, state) for node in state.nodes) or _differ(state)


def _may_be_stuck(node: Node, state: ClusterState) -> bool:
    if node.mode in (ReplicaMode.FAILED, ReplicaMode.TRUNCATING):
        return True
    return node.mode is ReplicaMode.FETCHING and node.log_end_offset > state.nodes[node.leader].log_end_offset


def _differ(state: ClusterState) -> bool:
    running = [node for node in state.nodes if node.running and node.batches]
    return any(
        running[at].batches != other.batches and first_difference(running[at], other) is not None
        for at in range(len(running))
        for other in running[at + 1 :]
    )


def _isr_lacks_a_record(state: ClusterState) -> bool:
    """StrongIsr of the TLA+ models of Kafka's replication, for every broker that takes itself for the leader."""
    members = [state.nodes[number] for number in state.controller.seats.isr]
    for leader in state.nodes:
        if leader.running and leader.mode is ReplicaMode.LEADER:
            end = min(leader.high_watermark, leader.log_end_offset)
            for member in members:
                start = max(leader.log_start_offset, member.log_start_offset)
                if difference_between(member, leader, start, end) is not None:
                    return True
    return False
