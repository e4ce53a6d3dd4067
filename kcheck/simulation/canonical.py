"""Gives one number to states that no rule can tell apart, the same in every process.

A form consists of numbers alone. Epochs of partition and registrations count only by the distance of a broker from the
newest. If no fault can unseat the leader, its followers can change places. They then count in the order of the leader's
knowledge about each.
"""

from kcheck.core.replication.replication import NEVER
from kcheck.model.cluster import NO_LEADER
from kcheck.simulation.moves import Budget
from kcheck.simulation.state import (
    CONTROLLER,
    AlterIsr,
    Append,
    ClusterState,
    EpochQuestion,
    EpochReply,
    EpochsFile,
    Fetched,
    Held,
    LeaderState,
    Node,
    PartitionState,
    Registered,
    Registration,
    ReplicaFetch,
    StopReplica,
    TruncationDue,
)

Form = tuple[object, ...]
_MESSAGES = (
    PartitionState, AlterIsr, EpochQuestion, EpochReply, ReplicaFetch, Fetched, Registration, Registered, TruncationDue,
    StopReplica,
)  # fmt: skip
_NONE = -9
"""Stands for None: the hash of None differs between processes."""
_LEADER = -8
"""Replaces the leader in the knowledge about a follower."""


def number_of(state: ClusterState) -> int:
    """Return the hash of a state in its canonical form."""
    controller, seats = state.controller, state.controller.seats
    latest, starts = controller.partition_epoch, [node.incarnation for node in state.nodes]
    held: Form = ()
    expecting = set()
    if state.held:
        expecting = {held.target for held in state.held}
        held = tuple(_held_form(message, latest, starts) for message in sorted(state.held, key=_link))
    nodes = tuple(
        (*_node_form(node, latest, hears=number in expecting), node.leader, _lead_form(node.lead, starts))
        for number, node in enumerate(state.nodes)
    )
    elected = (
        seats.replicas, frozenset(seats.isr), frozenset(seats.elr), seats.last_known, seats.leader,
        controller.leader_epoch, controller.epoch, controller.live, controller.stopping, controller.target,
        controller.added,
        tuple(map(int.__sub__, starts, controller.broker_epochs)),
    )  # fmt: skip
    return hash((nodes, elected, held, state.holding, tuple(map(_append_form, state.appends)), state.reads, state.now))


def number_by_roles(state: ClusterState, budget: Budget) -> int:
    """Return the number of a state; the same for states that differ only in which follower is which.

    An election looks at the order of the assignment. So no remaining fault may be able to unseat the leader.
    """
    if budget.crashes or budget.lossy or budget.fences or budget.moves:
        return number_of(state)
    followers = _interchangeable(state)
    if len(followers) < 2:
        return number_of(state)
    controller, seats = state.controller, state.controller.seats
    leader = state.nodes[seats.leader]
    lead = leader.lead
    assert lead is not None
    latest = controller.partition_epoch
    known = sorted(
        (
            _node_form(node, latest, hears=False), _LEADER if node.leader == seats.leader else node.leader,
            _remote_form(lead, number, node.incarnation), number in lead.isr, number in lead.proposed,
            number in seats.isr, number in seats.elr, number in controller.live,
            node.incarnation - controller.broker_epochs[number],
        )
        for number in followers if (node := state.nodes[number])
    )  # fmt: skip
    leading = (
        _node_form(leader, latest, hears=False), lead.epoch_start, seats.leader, seats.replicas,
        seats.leader in lead.isr, leader.incarnation - controller.broker_epochs[seats.leader],
        controller.leader_epoch, controller.epoch,
    )  # fmt: skip
    return hash((tuple(known), leading, tuple(map(_append_form, state.appends)), state.reads, state.now))


def _interchangeable(state: ClusterState) -> tuple[int, ...]:
    """Return the followers that can change places, as their leader stays, and no message or leader names one."""
    controller, seats = state.controller, state.controller.seats
    leader = seats.leader
    if state.held or state.holding or controller.target or controller.stopping or seats.last_known:
        return ()
    if leader == NO_LEADER or leader not in controller.live or leader not in seats.isr:
        return ()
    if state.nodes[leader].lead is None or not state.nodes[leader].running or len(seats.replicas) < len(state.nodes):
        return ()
    followers = tuple(number for number in seats.replicas if number != leader)
    is_plain = all(
        state.nodes[number].lead is None and state.nodes[number].leader in (leader, NO_LEADER) for number in followers
    )
    return followers if is_plain else ()


def _append_form(append: Append) -> Form:
    """Return an append; who took it counts while its producer waits."""
    if append.acked is None:
        return (append.base_offset, append.end_offset, int(append.acks), append.leader, append.replaced)
    return (append.base_offset, append.end_offset, append.acked and 1 + append.replaced)


def _node_form(node: Node, latest: int, *, hears: bool) -> Form:
    """Return a replica without what no rule looks at. One that expects no message hears of no older state either."""
    behind = 0 if node.lead is None and not hears else latest - node.partition_epoch
    return (
        node.batches, node.log_end_offset, node.log_start_offset, node.epochs, node.high_watermark, node.checkpoint,
        node.flushed, node.running, node.clean, int(node.mode), node.leader_epoch, behind, node.controller_epoch,
        node.unheard, node.in_session, int(node.fetcher_epoch), node.epochs_file is EpochsFile.TORN,
    )  # fmt: skip


def _lead_form(lead: LeaderState | None, starts: list[int]) -> object:
    if lead is None:
        return _NONE
    remotes = tuple(_remote_form(lead, number, start) for number, start in enumerate(starts))
    return lead.epoch_start, frozenset(lead.isr), frozenset(lead.proposed), remotes


def _remote_form(lead: LeaderState, number: int, start: int) -> Form:
    """Return the leader's knowledge about a follower."""
    end, caught_up_at, leader_end, fetched_at, broker_epoch = lead.remotes[number]
    return (end, caught_up_at, leader_end if caught_up_at == NEVER else 0, fetched_at, start - broker_epoch)


def _link(held: Held) -> tuple[int, int]:
    return held.source, held.target


def _held_form(held: Held, latest: int, starts: list[int]) -> Form:
    start = 0 if held.target == CONTROLLER else starts[held.target]
    message = held.message
    if isinstance(message, PartitionState | AlterIsr):
        message = message._replace(partition_epoch=latest - message.partition_epoch)
    elif isinstance(message, Registration | Registered):
        number = held.source if held.target == CONTROLLER else held.target
        message = message._replace(incarnation=starts[number] - message.incarnation)
    return held.source, held.target, _MESSAGES.index(type(message)), _plain(message), start - held.incarnation


def _plain(value: object) -> object:
    """Return a value with numbers in the place of texts and None."""
    if value is None:
        return _NONE
    if isinstance(value, str):
        return int.from_bytes(value.encode(), "big")
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value
