"""The possible next events of a partition, within a budget of faults. Healing events are not bounded."""

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.model.release import Follower
from kcheck.simulation.controllers import eligible_to_lead
from kcheck.simulation.events import Event, EventKind, apply
from kcheck.simulation.promises import with_reads
from kcheck.simulation.state import CONTROLLER, Acks, ClusterState, ReplicaMode, Rules


class Budget(NamedTuple):
    """The remaining numbers of faults. Healing events (start, fetch, deliver, checkpoint) are never bounded."""

    records: int = 3
    """Appends of one record."""
    crashes: int = 0
    """Processes that are killed; their page cache survives."""
    lossy: int = 1
    """Power losses; unflushed records are lost."""
    fences: int = 1
    """Sessions that end although the broker runs."""
    moves: int = 0
    """Elections of another replica in sync, by preferred elections or reassignments."""
    shrinks: int = 0
    """Followers that leave the ISR for being slow."""
    delays: int = 0
    """Links that hold what is sent."""
    overtakes: int = 0
    """Messages of a ZooKeeper controller that reach a broker after its later messages."""


BUDGET_MAX = 63
"""The largest number in a budget."""
_FIELD_BITS = 7
_GUARDS = sum(1 << (_FIELD_BITS * (at + 1) - 1) for at in range(len(Budget._fields)))


def packed(budget: Budget) -> int:
    """Return a budget as one number, in which each field has a bit to spare."""
    number = 0
    for count in reversed(budget):
        number = number << _FIELD_BITS | count
    return number


def covers(one: int, other: int) -> bool:
    """Return whether a packed budget allows everything that another allows, with no smaller field."""
    return ((one | _GUARDS) - other) & _GUARDS == _GUARDS


class SearchChoices(NamedTuple):
    """The choices of tried events, apart from state and budget."""

    rules: Rules
    """Kafka and its settings."""
    acks: Acks
    """The acknowledgments that producers wait for."""


SearchStep = tuple[tuple[Event, ...], ClusterState, Budget]
"""The events, the state after them, and the remaining budget."""


def steps(state: ClusterState, budget: Budget, choices: SearchChoices) -> Iterator[SearchStep]:
    """Yield each possible next event, and the same with one delayed link."""
    rules = choices.rules
    for event, left in _possible(state, budget, choices):
        outcome = apply(state, event, rules)
        yield (event,), with_reads(outcome.state), left
        if left.delays:
            less = left._replace(delays=left.delays - 1)
            for source, target in sorted({(sent[0], sent[1]) for sent in outcome.messages} - state.holding):
                delay = Event(EventKind.DELAY, source, target=target)
                held = apply(apply(state, delay, rules).state, event, rules).state
                yield (delay, event), with_reads(held), less


def _possible(state: ClusterState, budget: Budget, choices: SearchChoices) -> Iterator[tuple[Event, Budget]]:
    """Yield every event that can change something, with the remaining budget."""
    if budget.records:
        less = budget._replace(records=budget.records - 1)
        for number, node in enumerate(state.nodes):
            if node.running and node.mode is ReplicaMode.LEADER:
                yield Event(EventKind.APPEND, number, acks=choices.acks), less
    yield from _faults(state, budget)
    if state.held or state.holding:
        yield from _network(state, budget, choices)
    release = choices.rules.release
    truncates_to_checkpoint = release.rules.follower is Follower.HIGH_WATERMARK or not choices.rules.batch_epochs
    truncates_to_checkpoint = truncates_to_checkpoint or not choices.rules.conditions.truncates_by_epochs
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
            and (not state.held or _may_ask(state, number, choices))
        ):
            yield Event(EventKind.FETCH, number), budget
        if truncates_to_checkpoint and node.running and node.checkpoint != node.high_watermark:
            yield Event(EventKind.CHECKPOINT, number), budget


def _network(state: ClusterState, budget: Budget, choices: SearchChoices) -> Iterator[tuple[Event, Budget]]:
    for source, target in sorted({(held.source, held.target) for held in state.held} | state.holding):
        yield Event(EventKind.DELIVER, source, target=target), budget
    if budget.overtakes and not choices.rules.election.kraft:  # KRaft brokers replay a log, in order.
        less = budget._replace(overtakes=budget.overtakes - 1)
        for source, target in sorted(state.holding):
            if source == CONTROLLER:
                yield Event(EventKind.OVERTAKE, source, target=target), less


def _may_ask(state: ClusterState, number: int, choices: SearchChoices) -> bool:
    """Return whether a follower has no request under way; the mutant that mixes up answers may have two."""
    ends = {number, state.nodes[number].leader}
    under_way = sum({held.source, held.target} == ends for held in state.held)
    return under_way <= (not choices.rules.conditions.compares_fetch_offsets)


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
