"""States that differ in nothing that a rule looks at have one number, the same in every process.

A form is made of numbers alone. Epochs of partition and registrations count only by how far a broker is behind. As long
as nothing can unseat the leader its followers can change places; then the least number of all orders counts.
"""

from itertools import permutations

from kcheck.core.replication import NEVER
from kcheck.model.cluster import NO_LEADER
from kcheck.simulation.moves import Budget
from kcheck.simulation.state import (
    CONTROLLER,
    AlterIsr,
    Append,
    ClusterState,
    Controller,
    EpochQuestion,
    EpochReply,
    Fetched,
    Held,
    LeaderState,
    NetworkMessage,
    Node,
    PartitionState,
    ReplicaFetch,
    ReplicaMode,
)

Form = tuple[object, ...]
_MESSAGES = (PartitionState, AlterIsr, EpochQuestion, EpochReply, ReplicaFetch, Fetched)
_NONE = -9
"""Stands for None: the hash of None differs between processes."""


def number_of(state: ClusterState) -> int:
    """Return the hash of a state in its canonical form."""
    return hash(_form(state))


def least_number_of(state: ClusterState, budget: Budget) -> int:
    """Return the least `number_of` of all states that differ only in which follower is which."""
    followers = _interchangeable(state, budget)
    if len(followers) < 2:
        return number_of(state)
    orders = permutations(followers)
    return min(number_of(_renumbered(state, dict(zip(followers, order, strict=True)))) for order in orders)


def _interchangeable(state: ClusterState, budget: Budget) -> tuple[int, ...]:
    """Return the followers that can change places: an election would look at the order of the assignment."""
    controller = state.controller
    leader = controller.seats.leader
    if budget.crashes or budget.lossy or budget.fences or budget.moves or controller.target:
        return ()
    if leader == NO_LEADER or not state.nodes[leader].running or leader not in controller.live:
        return ()
    if controller.stopping or leader not in controller.seats.isr:
        return ()
    return tuple(number for number in controller.seats.replicas if number != leader)


def _form(state: ClusterState) -> Form:
    controller = state.controller
    latest, starts = controller.partition_epoch, [node.incarnation for node in state.nodes]
    if state.held:
        expecting = {held.target for held in state.held}
        held: Form = tuple(_held_form(message, latest, starts) for message in sorted(state.held, key=_link))
    else:
        expecting, held = set(), ()
    nodes = tuple(
        _node_form(node, latest, starts, hears=number in expecting) for number, node in enumerate(state.nodes)
    )
    appends = tuple(map(_append_form, state.appends))
    return (nodes, _controller_form(controller, starts), held, state.holding, appends, state.reads, state.now)


def _controller_form(controller: Controller, starts: list[int]) -> Form:
    seats = controller.seats
    registered = tuple(map(int.__sub__, starts, controller.broker_epochs))
    return (
        seats.replicas, frozenset(seats.isr), frozenset(seats.elr), seats.last_known, seats.leader,
        controller.leader_epoch, controller.epoch, controller.live, controller.stopping, registered, controller.target,
    )  # fmt: skip


def _append_form(append: Append) -> Form:
    acked = _NONE if append.acked is None else append.acked
    return (*append[:2], append.acks.value, *append[3:5], acked, append.replaced)


def _node_form(node: Node, latest: int, starts: list[int], *, hears: bool) -> Form:
    """Return a replica without what no rule looks at. One that expects no message hears of no older state either."""
    lead = node.lead
    behind = 0 if lead is None and not hears else latest - node.partition_epoch
    return (
        node.batches, node.log_end_offset, node.log_start_offset, node.epochs, node.high_watermark, node.checkpoint,
        node.flushed, node.running, node.clean, node.mode.value, node.leader, node.leader_epoch, behind,
        node.controller_epoch, _NONE if lead is None else _lead_form(lead, starts),
    )  # fmt: skip


def _lead_form(lead: LeaderState, starts: list[int]) -> Form:
    return (
        lead.epoch_start,
        frozenset(lead.isr),
        frozenset(lead.proposed),
        tuple(
            (end, caught_up_at, leader_end if caught_up_at == NEVER else 0, fetched_at, start - broker_epoch)
            for (end, caught_up_at, leader_end, fetched_at, broker_epoch), start in zip(
                lead.remotes, starts, strict=True
            )
        ),
    )


def _link(held: Held) -> tuple[int, int]:
    return held.source, held.target


def _held_form(held: Held, latest: int, starts: list[int]) -> Form:
    start = 0 if held.target == CONTROLLER else starts[held.target]
    message = held.message
    if isinstance(message, PartitionState | AlterIsr):
        message = message._replace(partition_epoch=latest - message.partition_epoch)
    return held.source, held.target, _MESSAGES.index(type(message)), _plain(message), start - held.incarnation


def _plain(value: object) -> object:
    """Return a value with numbers in the place of texts and None."""
    if value is None:
        return _NONE
    if isinstance(value, str):
        return int.from_bytes(value.encode(), "big")
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


def _renumbered(state: ClusterState, places: dict[int, int]) -> ClusterState:
    """Return a state in which brokers have changed places."""
    count = len(state.nodes)
    to = {number: places.get(number, number) for number in (*range(count), CONTROLLER, NO_LEADER)}
    origin = {new: old for old, new in to.items()}
    order = [origin[number] for number in range(count)]
    controller, seats = state.controller, state.controller.seats
    return ClusterState(
        nodes=tuple(_renumbered_node(state.nodes[old], to, order) for old in order),
        controller=controller._replace(
            seats=seats._replace(
                replicas=(),  # Nothing asks for their order any more.
                isr=_set(seats.isr, to),
                elr=_set(seats.elr, to),
                last_known=_set(seats.last_known, to),
            ),
            live=_set(controller.live, to),
            broker_epochs=tuple(controller.broker_epochs[old] for old in order),
        ),
        held=tuple(_renumbered_held(held, to, order) for held in state.held),
        holding=frozenset((to[source], to[target]) for source, target in state.holding),
        appends=tuple(append._replace(leader=to[append.leader]) for append in state.appends),
        reads=state.reads,
        now=state.now,
    )


def _set(numbers: tuple[int, ...], to: dict[int, int]) -> tuple[int, ...]:
    return tuple(sorted(to[number] for number in numbers))


def _renumbered_node(node: Node, to: dict[int, int], order: list[int]) -> Node:
    lead = node.lead
    if lead is not None:
        remotes = tuple(lead.remotes[old] for old in order)
        lead = LeaderState(lead.epoch_start, _set(lead.isr, to), _set(lead.proposed, to), remotes)
    return node._replace(leader=to[node.leader], lead=lead)


def _renumbered_held(held: Held, to: dict[int, int], order: list[int]) -> Held:
    message: NetworkMessage = held.message
    if isinstance(message, PartitionState):
        message = message._replace(leader=to[message.leader], isr=_set(message.isr, to))
    elif isinstance(message, AlterIsr):
        epochs = tuple(message.broker_epochs[old] for old in order)
        message = message._replace(isr=_set(message.isr, to), broker_epochs=epochs)
    return held._replace(source=to[held.source], target=to[held.target], message=message)
