"""Handles messages that arrive at brokers and at the controller."""

from kcheck.simulation import controllers, followers, leaders
from kcheck.simulation.decisions import Decision
from kcheck.simulation.state import (
    CONTROLLER,
    AlterIsr,
    EpochQuestion,
    EpochReply,
    Fetched,
    Held,
    PartitionState,
    Registered,
    Registration,
    ReplicaFetch,
    ReplicaMode,
    StopReplica,
    TruncationDue,
)
from kcheck.simulation.world import World


def deliver_all(world: World) -> None:
    """Let everything arrive that no link holds."""
    while world.inbox:
        _receive(world, world.inbox.pop(0))


def _receive(world: World, held: Held) -> None:
    message, source, target = held.message, held.source, held.target
    if target != CONTROLLER:
        if world.nodes[target].running:
            _broker_receives(world, held)
    elif isinstance(message, Registration):
        controllers.register(world, source, message)
    else:
        assert isinstance(message, AlterIsr)
        controllers.alter_isr(world, source, message)


def _broker_receives(world: World, held: Held) -> None:
    message, source, target = held.message, held.source, held.target
    node = world.nodes[target]
    match message:
        case EpochQuestion():
            leaders.answer_epoch(world, target, source, message)
        case ReplicaFetch():
            leaders.answer_fetch(world, target, source, message)
        case Registered():
            _registered(world, target, message)
        case PartitionState():
            _receive_state(world, target, message)
        case StopReplica():
            leaders.resign(world, target)
            followers.stop_replica(world, target, message)
        case TruncationDue() if held.incarnation == node.incarnation:
            followers.truncate_due(world, target, message.answer)
        case EpochReply() if held.incarnation == node.incarnation:
            followers.take_epoch(world, target, source, message)
        case Fetched() if held.incarnation == node.incarnation:
            followers.take_fetched(world, target, source, message)
        case _:
            world.decide(Decision.STALE_ANSWER)


def _registered(world: World, number: int, answer: Registered) -> None:
    node = world.nodes[number]
    if node.mode is ReplicaMode.STARTING and answer.incarnation == node.incarnation:
        world.nodes[number] = node._replace(mode=ReplicaMode.NONE)
        if world.rules.election.kraft and number not in world.controller.seats.replicas and node.log_end_offset:
            followers.delete_replica(world, number, node.controller_epoch)  # A stray (KAFKA-14616).


def _receive_state(world: World, number: int, state: PartitionState) -> None:
    """Become leader or follower as the controller says (ReplicaManager.becomeLeaderOrFollower, applyDelta)."""
    node = world.nodes[number]
    if node.mode is ReplicaMode.STARTING:  # Nothing but the answer to its own registration reaches it.
        if world.conditions.awaits_registration:
            world.decide(Decision.NOT_REGISTERED)
            return
        node = world.nodes[number] = node._replace(mode=ReplicaMode.NONE)
    if state.controller_epoch < node.controller_epoch:
        world.decide(Decision.OLD_CONTROLLER)
        return
    if state.controller_epoch != node.controller_epoch:
        node = world.nodes[number] = node._replace(controller_epoch=state.controller_epoch)
    older = state.leader_epoch < node.leader_epoch or state.partition_epoch < node.partition_epoch
    obeys_any = not world.conditions.begins_at_newer_epoch_alone
    follows_again = obeys_any and number != state.leader and node.mode is not ReplicaMode.LEADER
    if follows_again and state.partition_epoch == node.partition_epoch:  # Only its fetcher was misled.
        return
    if older and world.conditions.refuses_old_epochs and not follows_again:
        world.decide(Decision.OLD_EPOCH)
        return
    if state.leader_epoch == node.leader_epoch and node.mode is not ReplicaMode.LEADER and not follows_again:
        if state.partition_epoch != node.partition_epoch:
            world.nodes[number] = node._replace(partition_epoch=state.partition_epoch)
        return
    if state.leader == number:
        leaders.make_leader(world, number, state)
        return
    leaders.resign(world, number)
    followers.make_follower(world, number, state)
