"""Events, and their effects on the cluster. They are the only entry into a simulated partition."""

from enum import StrEnum
from typing import NamedTuple

from kcheck.core.replication.leader_epochs import truncate_from_start
from kcheck.model.entries import Offset
from kcheck.simulation import controllers, followers, leaders
from kcheck.simulation.decisions import Decision
from kcheck.simulation.deliveries import deliver_all
from kcheck.simulation.logs import crashed, powered_off, started, stopped
from kcheck.simulation.state import (
    CONTROLLER,
    Acks,
    ClusterState,
    EpochsFile,
    Fetched,
    NetworkMessage,
    Registration,
    ReplicaFetch,
    ReplicaMode,
    Rules,
)
from kcheck.simulation.world import World

_FETCH_COUNT_MAX = 50
"""Maximum number of rounds of `fetch all`, as replicas that never agree continue forever."""


class EventKind(StrEnum):
    """The kinds of events. The value is the word of the input."""

    APPEND = "append"
    FETCH = "fetch"
    FETCH_ALL = "fetch all"
    CHECKPOINT = "checkpoint"
    FLUSH = "flush"
    CRASH = "crash"
    POWER_LOSS = "power-loss"
    STOP = "stop"
    START = "start"
    FENCE = "fence"
    SHRINK = "shrink"
    EXPAND = "expand"
    ELECT = "elect"
    CONTROLLER = "controller new"
    DELAY = "delay"
    DELIVER = "deliver"
    DROP = "drop"
    OVERTAKE = "overtake"
    WAIT = "wait"
    READ = "read"
    REASSIGN = "reassign"
    TRIM = "trim"
    TELL = "tell"


ONE_BROKER = frozenset(
    {
        EventKind.CHECKPOINT, EventKind.FLUSH, EventKind.CRASH, EventKind.STOP, EventKind.START, EventKind.FENCE,
        EventKind.SHRINK, EventKind.EXPAND,
    }
)  # fmt: skip
"""Written with a broker and nothing else: `crash A`."""
LINKS = frozenset({EventKind.DELAY, EventKind.DELIVER, EventKind.DROP, EventKind.OVERTAKE})
"""Written with a link, as in `drop A->B`."""


class Event(NamedTuple):
    """Something that happens. Which fields count depends on the kind."""

    kind: EventKind
    broker: int = -1
    """The broker; for APPEND the leader that the producer believes in, -1: the controller's."""
    amount: int = 1
    """Records of an append, requests of a fetch, milliseconds of a wait."""
    acks: Acks = Acks.ALL
    """The acknowledgments that the producer waits for."""
    unclean: bool = False
    """True if an election may take a replica that is not in sync."""
    torn: bool = False
    """True if a power loss takes the bytes of a leader-epoch-checkpoint that was not synced."""
    offset: int | None = None
    """The first offset of a loss, a read or a deletion."""
    end: int = 0
    """The end of a read."""
    target: int = -1
    """The other end of a link."""
    brokers: tuple[int, ...] = ()
    """The replicas of a reassignment."""


class EventOutcome(NamedTuple):
    """The effects of an event."""

    state: ClusterState
    """The state after it."""
    decided_by: tuple[Decision, ...]
    """The rules that decided, in order."""
    notes: tuple[str, ...]
    """Refused steps, with the reasons."""
    messages: tuple[tuple[int, int, NetworkMessage], ...]
    """The sent messages (from, to, message)."""


def apply(state: ClusterState, event: Event, rules: Rules) -> EventOutcome:
    """Return the effects of an event. The same state, event and rules give the same outcome."""
    world = World(state, rules)
    _EVENTS[event.kind](world, event)
    deliver_all(world)
    return EventOutcome(world.state(), tuple(world.decided), tuple(world.notes), tuple(world.sent))


def _append(world: World, event: Event) -> None:
    leader = world.leader if event.broker < 0 else event.broker
    if leader is None or not world.nodes[leader].running:
        world.decide(Decision.NOT_LEADER, "refused: no leader answers")
    else:
        leaders.produce(world, leader, event.amount, event.acks)


def _fetch(world: World, event: Event) -> None:
    for _ in range(event.amount):
        before = world.state()
        followers.ask(world, event.broker)
        deliver_all(world)
        # A fetcher waits for its answer; and where one changes nothing, none after it does.
        if len(world.held) > len(before.held) or world.state() == before:
            return


def _fetch_all(world: World, _: Event) -> None:
    for _round in range(_FETCH_COUNT_MAX):
        before = world.state()
        for number, node in enumerate(world.nodes):
            if node.running and node.mode in (ReplicaMode.TRUNCATING, ReplicaMode.FETCHING):
                followers.ask(world, number)
                deliver_all(world)
        if world.state()._replace(held=()) == before._replace(held=()):
            return


def _checkpoint(world: World, event: Event) -> None:
    if _runs(world, event.broker):
        _write_checkpoint(world, event.broker)


def _write_checkpoint(world: World, number: int) -> None:
    node = world.nodes[number]
    world.nodes[number] = node._replace(checkpoint=node.high_watermark)


def _flush(world: World, event: Event) -> None:
    node = world.nodes[event.broker]
    if _runs(world, event.broker):
        world.nodes[event.broker] = node._replace(flushed=node.log_end_offset)


def _runs(world: World, number: int) -> bool:
    if not world.nodes[number].running:
        world.notes.append("refused: it does not run")
    return world.nodes[number].running


def _crash(world: World, event: Event) -> None:
    if _runs(world, event.broker):
        leaders.resign(world, event.broker)
        world.nodes[event.broker] = crashed(world.nodes[event.broker])
        _disconnect(world, event.broker)


def _power_loss(world: World, event: Event) -> None:
    leaders.resign(world, event.broker)
    node = world.nodes[event.broker]
    torn = event.torn and world.release.leaves_truncated_epochs_unsynced and node.epochs_file is EpochsFile.WRITTEN
    if torn:
        world.decide(Decision.EPOCHS_UNSYNCED)
    elif event.torn:
        world.notes.append("leader-epoch-checkpoint is on disk, and not torn")
    world.nodes[event.broker] = powered_off(node, event.offset, torn=torn)
    _disconnect(world, event.broker)


def _disconnect(world: World, number: int) -> None:
    followers.end_sessions(world, number)
    outlives = not world.conditions.awaits_registration
    world.held = [held for held in world.held if held.target != number or (outlives and held.source == CONTROLLER)]


def _stop(world: World, event: Event) -> None:
    number = event.broker
    if not _runs(world, number):
        return
    controllers.shut_down(world, number)
    deliver_all(world)
    leaders.resign(world, number)
    world.nodes[number] = stopped(world.nodes[number])
    _disconnect(world, number)
    controllers.leave(world, number)


def _start(world: World, event: Event) -> None:
    number = event.broker
    node = world.nodes[number]
    starting = node.mode is ReplicaMode.STARTING
    if node.running and number in world.controller.live and not starting:
        world.notes.append("refused: it runs already")
        return
    if node.epochs_file is EpochsFile.TORN:
        world.decide(Decision.EPOCHS_TORN, "it exits: leader-epoch-checkpoint is torn, and its log dir offline")
        return
    clean = node.clean or (node.running and not starting)
    if not node.running:
        world.decide(Decision.LOADED)
        node = started(node, world.release)._replace(mode=ReplicaMode.STARTING)
        if not world.conditions.starts_at_checkpoint:
            node = node._replace(high_watermark=node.log_end_offset)
        world.nodes[number] = node
    request = Registration(node.incarnation, clean)
    if any(
        held.source == number and isinstance(held.message, Registration) and held.message == request
        for held in world.held
    ):
        world.notes.append("refused: its registration is under way")
        return
    world.send(number, CONTROLLER, request)


def _isr_event(world: World, event: Event) -> None:
    leader = world.leader
    if leader is None or not world.leads(leader):
        world.notes.append("refused: no leader runs")
    elif event.kind is EventKind.SHRINK:
        leaders.shrink(world, leader, event.broker)
    else:
        leaders.expand(world, leader, event.broker)


def _controller(world: World, _: Event) -> None:
    controllers.fail_over(world)


def _tell(world: World, _: Event) -> None:
    """Repeat the partition's state to every broker, as a controller sends it until it arrives."""
    controllers.tell(world)


def _elect(world: World, event: Event) -> None:
    controllers.elect_broker(world, event.broker, unclean=event.unclean)


def _fence(world: World, event: Event) -> None:
    controllers.fence(world, event.broker)


def _link(event: Event) -> tuple[int, int]:
    return event.broker, event.target


def _delay(world: World, event: Event) -> None:
    world.holding |= {_link(event)}


def _deliver(world: World, event: Event) -> None:
    """Let a link work again. Its delayed messages arrive in order."""
    world.holding -= {_link(event)}
    arrived = [held for held in world.held if (held.source, held.target) == _link(event)]
    world.held = [held for held in world.held if (held.source, held.target) != _link(event)]
    for held in arrived:
        world.inbox.append(held)
        deliver_all(world)


def _drop(world: World, event: Event) -> None:
    """Lose what a link holds; it works again. A fetch session ends with a request or an answer that is lost."""
    world.holding -= {_link(event)}
    for held in world.held:
        if (held.source, held.target) == _link(event) and isinstance(held.message, ReplicaFetch | Fetched):
            followers.end_session(world, held.source if isinstance(held.message, ReplicaFetch) else held.target)
    world.held = [held for held in world.held if (held.source, held.target) != _link(event)]


def _overtake(world: World, event: Event) -> None:
    """Let a link work again for later messages; its delayed messages arrive with `deliver`."""
    world.holding -= {_link(event)}


def _wait(world: World, event: Event) -> None:
    before, world.now = world.now, world.now + event.amount
    leader = world.leader
    if leader is not None and world.leads(leader):
        leaders.advance(world, leader)
    interval = world.rules.checkpoint_interval
    if interval and before // interval < world.now // interval:  # ReplicaManager.startHighWatermarkCheckPointThread
        for number, node in enumerate(world.nodes):
            if node.running:
                _write_checkpoint(world, number)


def _read(world: World, event: Event) -> None:
    if not _runs(world, event.broker):
        return
    node = world.nodes[event.broker]
    end = min(event.end, node.high_watermark)
    world.decide(Decision.READ)
    start = event.offset or 0
    if end < event.end:
        world.notes.append(f"reads up to the high watermark {end}")
    seen = {
        (max(start, batch.base_offset), min(end, batch.end_offset), batch.append)
        for batch in node.batches
        if max(start, batch.base_offset) < min(end, batch.end_offset)
    }
    world.reads |= seen


def _reassign(world: World, event: Event) -> None:
    controllers.reassign(world, event.brokers)


def _trim(world: World, event: Event) -> None:
    """Delete the oldest records of a leader, as retention or kafka-delete-records do."""
    node = world.nodes[event.broker]
    to = min(event.offset or 0, node.high_watermark)
    if not _runs(world, event.broker) or to <= node.log_start_offset:
        return
    batches = node.batches
    if not world.release.has_log_start_checkpoint:  # Then only segments are deleted; each append is taken for one.
        to = max((batch.base_offset for batch in batches if batch.base_offset <= to), default=to)
        batches = tuple(batch for batch in batches if batch.base_offset >= to)
    epochs = truncate_from_start(node.epochs, Offset(to), how=world.release.assign)
    world.nodes[event.broker] = node._replace(batches=batches, log_start_offset=to, epochs=epochs)


_EVENTS = {
    EventKind.APPEND: _append,
    EventKind.FETCH: _fetch,
    EventKind.FETCH_ALL: _fetch_all,
    EventKind.CHECKPOINT: _checkpoint,
    EventKind.FLUSH: _flush,
    EventKind.CRASH: _crash,
    EventKind.POWER_LOSS: _power_loss,
    EventKind.STOP: _stop,
    EventKind.START: _start,
    EventKind.FENCE: _fence,
    EventKind.SHRINK: _isr_event,
    EventKind.EXPAND: _isr_event,
    EventKind.ELECT: _elect,
    EventKind.CONTROLLER: _controller,
    EventKind.DELAY: _delay,
    EventKind.DELIVER: _deliver,
    EventKind.DROP: _drop,
    EventKind.OVERTAKE: _overtake,
    EventKind.WAIT: _wait,
    EventKind.READ: _read,
    EventKind.REASSIGN: _reassign,
    EventKind.TRIM: _trim,
    EventKind.TELL: _tell,
}
