"""The cost of a history (acknowledged records lost, reads withdrawn, replicas that differ or are stuck)."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from kcheck.model.cluster import NO_LEADER
from kcheck.simulation.events import Event, EventKind, apply
from kcheck.simulation.state import ClusterState, LogBatch, Node, ReplicaMode, Rules


class Divergence(NamedTuple):
    """Two replicas that run and differ below the end of the shorter log."""

    replicas: tuple[int, int]
    """The brokers."""
    at: int
    """The first offset where they differ."""
    detected: bool
    """True if their next requests find it; otherwise nothing ever does."""


class Verdict(NamedTuple):
    """The cost of a history. Ranges are offsets, their ends exclusive."""

    lost: tuple[tuple[int, int], ...] = ()
    """Acknowledged records that no log has which leads or may lead."""
    withdrawn: tuple[tuple[int, int], ...] = ()
    """Records that a consumer has read, and that are lost or replaced now."""
    diverged: tuple[Divergence, ...] = ()
    """Replicas that differ."""
    stuck: tuple[int, ...] = ()
    """Followers that run and never reach their leader."""
    offline: bool = False
    """True if the partition has no leader that runs."""


def judge(state: ClusterState, rules: Rules) -> Verdict:
    """Return the cost of a history, in its last state."""
    settled = settle(state, rules)
    return Verdict(
        lost=_joined(lost_records(state)),
        withdrawn=_joined(withdrawn_records(state)),
        diverged=tuple(_divergences(state, settled)),
        stuck=tuple(stuck_replicas(settled)),
        offline=is_offline(state),
    )


def settle(state: ClusterState, rules: Rules) -> ClusterState:
    """Return the state after every follower has fetched until nothing changes, on a network without faults.

    What links hold arrives, and the controller repeats what it said. Where no leader runs, all brokers start first.
    """
    links = sorted({(held.source, held.target) for held in state.held} | state.holding)
    for source, target in links:
        state = apply(state, Event(EventKind.DELIVER, source, target=target), rules).state
    is_dark = is_offline(state)
    for number in state.controller.seats.replicas:
        if is_dark or state.nodes[number].mode is ReplicaMode.STARTING:
            state = apply(state, Event(EventKind.START, number), rules).state
    state = apply(state, Event(EventKind.TELL), rules).state
    return apply(state, Event(EventKind.FETCH_ALL), rules).state


def is_offline(state: ClusterState) -> bool:
    """Return whether the partition has no leader that runs."""
    leader = state.controller.seats.leader
    return leader == NO_LEADER or not _serves(state.nodes[leader])


def _serves(node: Node) -> bool:
    """Return whether a broker runs, and not only begins to."""
    return node.running and node.mode is not ReplicaMode.STARTING


def leader_line(state: ClusterState) -> tuple[Node, ...]:
    """Return the replicas whose logs decide about losses, which is the leader, or else its possible successors."""
    seats = state.controller.seats
    if not is_offline(state):
        return (state.nodes[seats.leader],)
    able = {*seats.isr, *seats.elr} or {*seats.last_known} or {*seats.replicas}
    return tuple(state.nodes[number] for number in sorted(able))


def lost_records(state: ClusterState) -> list[tuple[int, int]]:
    """Return the ranges of lost acknowledged records."""
    acked = [
        (append.base_offset, append.end_offset, number) for number, append in enumerate(state.appends) if append.acked
    ]
    return _missing(acked, leader_line(state))


def withdrawn_records(state: ClusterState) -> list[tuple[int, int]]:
    """Return the ranges of lost records that were read."""
    return _missing(state.reads, leader_line(state))


def _missing(records: Iterable[tuple[int, int, int]], logs: Sequence[Node]) -> list[tuple[int, int]]:
    """Return the ranges of records that no log has, without records below the log starts."""
    start = min(node.log_start_offset for node in logs)
    held: dict[int, list[LogBatch]] = {}
    for node in logs:
        for batch in node.batches:
            held.setdefault(batch.append, []).append(batch)
    missing: list[tuple[int, int]] = []
    for base, end, number in records:
        at = max(base, start)
        for batch in sorted(held.get(number, ())):  # By their base offsets.
            if at < batch.base_offset and at < end:
                missing.append((at, min(end, batch.base_offset)))
            at = max(at, batch.end_offset)
        if at < end:
            missing.append((at, end))
    return missing


def _joined(ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the same offsets in as few ranges as can be, in order."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def first_difference(one: Node, other: Node) -> int | None:
    """Return the first offset where two logs differ, below the end of the shorter one and above both starts."""
    start = max(one.log_start_offset, other.log_start_offset)
    end = min(one.log_end_offset, other.log_end_offset)
    return difference_between(one, other, start, end)


def difference_between(one: Node, other: Node, start: int, end: int) -> int | None:
    """Return the first offset of a range at which two logs have other records; None without one."""
    offsets = _edges(one, other, start, end)
    pairs = zip(offsets, _records_at(one, offsets), _records_at(other, offsets), strict=True)
    return next((at for at, ours, theirs in pairs if ours != theirs), None)


def _edges(one: Node, other: Node, start: int, end: int) -> list[int]:
    """Return the offsets of a range where a batch of either log begins or ends, and its first offset."""
    offsets = {start}
    for node in (one, other):
        offsets.update(offset for batch in node.batches for offset in (batch.base_offset, batch.end_offset))
    return sorted(offset for offset in offsets if start <= offset < end)


def _records_at(node: Node, offsets: Iterable[int]) -> Iterator[int | None]:
    """Yield which append wrote the record at each of some rising offsets of a log; None in a hole."""
    batches = iter(node.batches)
    batch = next(batches, None)
    for offset in offsets:
        while batch is not None and batch.end_offset <= offset:
            batch = next(batches, None)
        yield batch.append if batch is not None and batch.base_offset <= offset else None


def _divergences(state: ClusterState, settled: ClusterState) -> Iterable[Divergence]:
    running = [number for number in sorted(state.controller.seats.replicas) if state.nodes[number].running]
    for one, other in combinations(running, 2):
        at = first_difference(state.nodes[one], state.nodes[other])
        if at is not None:
            after = (settled.nodes[one], settled.nodes[other])
            failed = any(node.mode in (ReplicaMode.NONE, ReplicaMode.FAILED) for node in after)
            yield Divergence((one, other), at, failed or first_difference(*after) != at)


def stuck_replicas(settled: ClusterState) -> list[int]:
    """Return the followers that run and do not reach their leader, although nothing fails any more."""
    leader = settled.controller.seats.leader
    if leader == NO_LEADER:
        return []
    if settled.nodes[leader].mode is not ReplicaMode.LEADER:
        return [leader] if settled.nodes[leader].running else []  # It has been told, and does not lead.
    end = settled.nodes[leader].log_end_offset
    return [
        number
        for number in settled.controller.seats.replicas
        if (node := settled.nodes[number]).running
        and number != leader
        and (
            node.mode in (ReplicaMode.FAILED, ReplicaMode.TRUNCATING)
            or (node.mode is ReplicaMode.FETCHING and node.log_end_offset != end)
        )
    ]
