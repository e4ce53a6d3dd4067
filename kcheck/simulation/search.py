"""Searches for the shortest history that breaks a promise of Kafka, within a budget of faults.

Breadth first over every event that can happen in a state. Faults are bounded, what heals is not. Two states that differ
only in numbers which nobody compares (partition epochs, starts of a process) are one.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from kcheck.core.replication import NEVER
from kcheck.model.release import Follower
from kcheck.simulation.controllers import eligible_to_lead
from kcheck.simulation.events import Event, EventKind, apply
from kcheck.simulation.state import CONTROLLER, Acks, ClusterState, Held, Node, ReplicaMode, Rules
from kcheck.simulation.verdict import first_difference, is_offline, judge, lost_records, withdrawn_records


class Budget(NamedTuple):
    """How often what can happen: healing (start, fetch, deliver, checkpoint) is never bounded."""

    records: int = 3
    """Appends of one record."""
    crashes: int = 0
    """Processes that are killed; their page cache survives."""
    lossy: int = 1
    """Power losses; records that were not flushed are gone."""
    fences: int = 1
    """Sessions that end although the broker runs."""
    moves: int = 0
    """Elections of another replica in sync: preferred leaders, reassignments."""
    shrinks: int = 0
    """Followers that leave the ISR for being slow."""
    delays: int = 0
    """Links that hold what is sent."""


class Violation(NamedTuple):
    """A promise that a history breaks."""

    promise: str
    """lost, withdrawn, diverged, stuck, or leaders."""
    events: tuple[Event, ...]
    """The shortest history that breaks it."""


class SearchEnd(NamedTuple):
    """What a search has found."""

    violation: Violation | None
    """The first one; None: none up to `depth`."""
    states: int
    """How many different states were visited."""
    depth: int
    """How many events the longest history has whose state was visited."""
    complete: bool
    """Whether there are no other states within the budget."""


PROMISES = {
    "lost": "an acknowledged record is lost",
    "withdrawn": "a record that was read is withdrawn",
    "diverged": "replicas differ and nothing notices",
    "stuck": "a follower never reaches its leader",
    "leaders": "a leader that was replaced acknowledges a record of acks=all",
}
"""What a history can break, and what that means."""
DEPTH_MAX = 100
STATES_MAX = 2_000_000


class Search(NamedTuple):
    """A search, before it begins."""

    first: ClusterState
    """The cluster before the first event."""
    rules: Rules
    """Its Kafka and its settings."""
    budget: Budget
    """What may happen."""
    acks: Acks = Acks.ALL
    """What producers wait for."""
    promises: tuple[str, ...] = tuple(PROMISES)
    """What must not break."""
    depth_max: int = DEPTH_MAX
    """How many events a history has at most."""
    states_max: int = STATES_MAX
    """How many states are visited at most."""


class _Visited(NamedTuple):
    """A state of the frontier: what is left of the budget belongs to it."""

    state: ClusterState
    budget: Budget
    number: int


def silent(depth: int, states: int) -> None:
    """Show no progress."""
    del depth, states


def search(task: Search, progress: Callable[[int, int], None] = silent) -> SearchEnd:
    """Return the shortest history that breaks a promise, or that there is none; the answer is always the same."""
    known = {_key(task.first, task.budget)}
    parents: list[tuple[int, tuple[Event, ...]]] = [(-1, ())]
    frontier = [_Visited(task.first, task.budget, 0)]
    depth = 0
    while frontier and depth < task.depth_max:
        following: list[_Visited] = []
        for seen in frontier:
            for events, after, budget in _steps(seen, task):
                state = _with_reads(after)
                key = _key(state, budget)
                if key in known:
                    continue
                known.add(key)
                parents.append((seen.number, events))
                number = len(parents) - 1
                broken = _broken(seen.state, state, task)
                if broken is not None:
                    return SearchEnd(
                        Violation(broken, _history(parents, number)), len(parents), depth + 1, complete=False
                    )
                following.append(_Visited(state, budget, number))
                if len(parents) >= task.states_max:
                    return SearchEnd(None, len(parents), depth, complete=False)
        depth += 1
        frontier = following
        progress(depth, len(parents))
    return SearchEnd(None, len(parents), depth, complete=not frontier)


def _steps(seen: _Visited, task: Search) -> Iterator[tuple[tuple[Event, ...], ClusterState, Budget]]:
    """Yield what can happen next: an event, and the same with one link that holds what it sends."""
    for event, budget in _possible(seen.state, seen.budget, task):
        outcome = apply(seen.state, event, task.rules)
        yield (event,), outcome.state, budget
        if budget.delays:
            less = budget._replace(delays=budget.delays - 1)
            for source, target in sorted({(sent[0], sent[1]) for sent in outcome.messages} - seen.state.holding):
                delay = Event(EventKind.DELAY, source, target=target)
                yield (delay, event), apply(apply(seen.state, delay, task.rules).state, event, task.rules).state, less


def _history(parents: list[tuple[int, tuple[Event, ...]]], number: int) -> tuple[Event, ...]:
    events: tuple[Event, ...] = ()
    while number > 0:
        number, step = parents[number]
        events = step + events
    return events


def _possible(state: ClusterState, budget: Budget, task: Search) -> Iterator[tuple[Event, Budget]]:
    """Yield every event that changes something, with what is left of the budget after it."""
    yield from _appends(state, budget, task)
    yield from _faults(state, budget)
    for source, target in sorted(state.holding):
        yield Event(EventKind.DELIVER, source, target=target), budget
    release = task.rules.release
    truncates_to_checkpoint = release.rules.follower is Follower.HIGH_WATERMARK or not task.rules.batch_epochs
    for number in state.controller.seats.replicas:
        node = state.nodes[number]
        live = number in state.controller.live
        if not node.running or not live:
            yield Event(EventKind.START, number), budget
        if not node.running and live:
            yield Event(EventKind.FENCE, number), budget
        if (
            node.running
            and node.mode in (ReplicaMode.FETCHING, ReplicaMode.TRUNCATING)
            and _may_ask(state, number, task)
        ):
            yield Event(EventKind.FETCH, number), budget
        if truncates_to_checkpoint and node.running and node.checkpoint != node.high_watermark:
            yield Event(EventKind.CHECKPOINT, number), budget


def _may_ask(state: ClusterState, number: int, task: Search) -> bool:
    """Whether a follower has no request under way; the mutant that mixes up answers may have two."""
    ends = {number, state.nodes[number].leader}
    under_way = sum({held.source, held.target} == ends for held in state.held)
    return under_way <= (task.rules.mutant == "M7")


def _appends(state: ClusterState, budget: Budget, task: Search) -> Iterator[tuple[Event, Budget]]:
    if budget.records:
        less = budget._replace(records=budget.records - 1)
        for number, node in enumerate(state.nodes):
            if node.running and node.mode is ReplicaMode.LEADER:
                yield Event(EventKind.APPEND, number, acks=task.acks), less


def _faults(state: ClusterState, budget: Budget) -> Iterator[tuple[Event, Budget]]:
    seats = state.controller.seats
    for number in seats.replicas:
        node = state.nodes[number]
        if node.running and budget.crashes:
            yield Event(EventKind.CRASH, number), budget._replace(crashes=budget.crashes - 1)
        if node.running and budget.lossy:
            less = budget._replace(lossy=budget.lossy - 1)
            for offset in range(node.flushed, node.log_end_offset):
                yield Event(EventKind.POWER_LOSS, number, offset=offset), less
        if node.running and budget.fences and number in state.controller.live:
            yield Event(EventKind.FENCE, number), budget._replace(fences=budget.fences - 1)
        if budget.moves and number != seats.leader and number in eligible_to_lead(state.controller):
            yield Event(EventKind.ELECT, number), budget._replace(moves=budget.moves - 1)
        if budget.shrinks and number in seats.isr and number != seats.leader:
            yield Event(EventKind.SHRINK, number), budget._replace(shrinks=budget.shrinks - 1)


def _with_reads(state: ClusterState) -> ClusterState:
    """Let a consumer read all that each leader shows it."""
    seen = {
        (offset, batch.append)
        for node in state.nodes
        if node.running and node.mode is ReplicaMode.LEADER
        for batch in node.batches
        for offset in range(batch.base_offset, min(batch.end_offset, node.high_watermark))
    }
    return state if seen <= state.reads else state._replace(reads=state.reads | seen)


def _broken(before: ClusterState, state: ClusterState, task: Search) -> str | None:
    """Return the promise that a state breaks."""
    has_leader = not is_offline(state)  # Without one, who starts first decides: that is another event.
    if has_leader and "lost" in task.promises and lost_records(state):
        return "lost"
    if has_leader and "withdrawn" in task.promises and withdrawn_records(state):
        return "withdrawn"
    if "leaders" in task.promises and _acked_by_old_leader(before, state):
        return "leaders"
    suspicious = any(node.running and _may_be_stuck(node, state) for node in state.nodes)
    differ = _differ(state)
    if not (suspicious or differ):
        return None
    verdict = judge(state, task.rules)
    if "diverged" in task.promises and any(not pair.detected for pair in verdict.diverged):
        return "diverged"
    return "stuck" if "stuck" in task.promises and verdict.stuck else None


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


def _acked_by_old_leader(before: ClusterState, state: ClusterState) -> bool:
    """Whether a producer of acks=all is told that records are safe which a leader took after it had been replaced."""
    return any(
        new.acked and new.replaced and new.acks is Acks.ALL and not (old is not None and old.acked)
        for new, old in zip(state.appends, (*before.appends, None), strict=False)
    )


def _key(state: ClusterState, budget: Budget) -> int:
    """Return the hash of a state in its canonical form."""
    controller = state.controller
    latest, starts = controller.partition_epoch, [node.incarnation for node in state.nodes]
    nodes = tuple(_canonical(node, latest, starts) for node in state.nodes)
    registered = tuple(start - epoch for start, epoch in zip(starts, controller.broker_epochs, strict=True))
    held = tuple(_canonical_held(held, latest, starts) for held in state.held)
    return hash((nodes, controller._replace(partition_epoch=0, broker_epochs=registered), held, state[3:], budget))


def _canonical(node: Node, latest: int, starts: list[int]) -> Node:
    """Return a replica without what no rule looks at, and with numbers that only say how far it is behind."""
    lead = node.lead
    if lead is None:
        return node._replace(incarnation=0, partition_epoch=0)  # Links keep the order: it hears of no older state.
    remotes = tuple(
        remote._replace(
            broker_epoch=start - remote.broker_epoch,
            leader_end_at_fetch=remote.leader_end_at_fetch if remote.caught_up_at == NEVER else 0,
        )
        for remote, start in zip(lead.remotes, starts, strict=True)
    )
    lead = lead._replace(remotes=remotes)
    return node._replace(incarnation=0, partition_epoch=latest - node.partition_epoch, lead=lead)


def _canonical_held(held: Held, latest: int, starts: list[int]) -> tuple[object, ...]:
    start = 0 if held.target == CONTROLLER else starts[held.target]
    message: object = held.message
    epoch = getattr(held.message, "partition_epoch", None)
    if epoch is not None:
        message = held.message._replace(partition_epoch=latest - epoch)  # type: ignore[call-arg]  # those that have one
    return held.source, held.target, message, start - held.incarnation
