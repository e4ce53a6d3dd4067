"""The progress of a cluster with the steps of a rescue."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from kcheck.core.election.progress import PlanState, StepState, state_of
from kcheck.model.cluster import NO_LEADER, ClusterImage
from kcheck.words import agree, counted, listed, partition_name, some_of


class RescueAction(StrEnum):
    """The kind of a step of a rescue. Answers use the value."""

    STOP = "stop"
    """Nodes are stopped."""
    APPLY = "apply"
    """Plans are applied."""
    IDENTITY = "identity"
    """An empty node gets the ids of a lost one."""
    SETTINGS = "settings"
    """The configuration of nodes changes."""
    CONTROLLER = "controller"
    """The controller starts alone, and leads."""
    BROKERS = "brokers"
    """Brokers start."""
    CHECK = "check"
    """The result is looked at."""
    LATER = "later"
    """Work for later, once the cluster works."""


class PlannedTopic(NamedTuple):
    """A topic that a plan brings back."""

    topic_id: str | None
    offline: frozenset[int]
    """Its partitions without a disk."""
    epochs: Mapping[int, int] = {}
    """The leader epoch of each partition in the plan; later ones are larger."""


class SavedRescue(NamedTuple):
    """The cluster after a rescue, by recovery.json."""

    actions: tuple[RescueAction, ...]
    """The kinds of its steps."""
    controller: int | None = None
    """The controller that leads; None for a topic, and with ZooKeeper."""
    epoch: int = 0
    """The new leader has an epoch above this one."""
    written: int = 0
    """The largest epoch in the files of the plan. A controller with a larger one has started since."""
    brokers: frozenset[int] | None = None
    """The brokers that come back; None for those in the metadata."""
    dead: frozenset[int] = frozenset()
    """The nodes that never come back."""
    topics: Mapping[str, PlannedTopic] = {}
    """The topics that come back, by name."""
    next_producer_id: int | None = None
    """The first producer id that is given out; None if the plan names none."""
    has_full_isr: bool = False
    """True if the ISR begins with one replica, and the others follow."""


class NodeSeen(NamedTuple):
    """A node, and how far its metadata is."""

    node_id: int
    epoch: int | None
    """The last epoch of its metadata log; None without a copy."""
    seen: int = 0
    """The largest epoch on its disk."""
    running: bool = False
    """True if a process holds the lock of its log dir."""


class RescueSeen(NamedTuple):
    """The state of a cluster, by its disks."""

    pending: tuple[str, ...] = ()
    """The plans that are not applied."""
    running: tuple[int, ...] = ()
    """The nodes that run."""
    is_set: bool = False
    """True if the settings of every node here are as planned."""
    unset: tuple[str, ...] = ()
    """The settings that differ from the plan, in words."""
    started: bool = False
    """True if the controller has started since."""
    leads: bool = False
    """True if the metadata has records of the new leader."""
    following: tuple[int, ...] = ()
    """The brokers that have them."""
    waiting: tuple[int, ...] = ()
    """The brokers that do not."""
    unnamed: tuple[int, ...] = ()
    """Those of them whose log dirs are not here."""
    left: tuple[str, ...] = ()
    """The partitions that are not as planned, in words."""


def rescue_states(actions: Sequence[RescueAction], seen: RescueSeen) -> tuple[StepState, ...]:
    """Return the progress of each step."""
    return tuple(_state(action, seen) for action in actions)


def _state(action: RescueAction, seen: RescueSeen) -> StepState:
    match action:
        case RescueAction.STOP:
            is_done = seen.leads or not (seen.pending and seen.running)
        case RescueAction.APPLY:
            is_done = seen.leads or not seen.pending
        case RescueAction.SETTINGS:
            has_begun = not seen.unset and (seen.leads or seen.started)
            is_done = has_begun or seen.is_set or (seen.leads and not seen.waiting)
        case RescueAction.IDENTITY | RescueAction.CONTROLLER:
            if seen.started and not seen.leads and action is RescueAction.CONTROLLER:
                return StepState.WAIT
            is_done = seen.leads or seen.started
        case RescueAction.BROKERS:
            if seen.leads and seen.waiting and seen.following:
                return StepState.WAIT
            is_done = seen.leads and not seen.waiting
        case RescueAction.CHECK:
            if seen.leads and not seen.waiting and seen.left:
                return StepState.WAIT
            is_done = seen.leads and not seen.waiting
        case _:
            is_done = False
    return StepState.DONE if is_done else StepState.OPEN


def state_of_rescue(
    actions: Sequence[RescueAction], states: Sequence[StepState], fails: Sequence[str]
) -> tuple[PlanState, int | None]:
    """Return the state of the plan, and the place of the first open step. Later work counts as done."""
    counts = [action is not RescueAction.LATER for action in actions]
    known = [state if is_counted else StepState.DONE for state, is_counted in zip(states, counts, strict=True)]
    return (
        state_of(known, differs=bool(fails)),
        next((at for at, state in enumerate(known) if state is not StepState.DONE), None),
    )


def seen_of_rescue(
    saved: SavedRescue, nodes: Sequence[NodeSeen], image: ClusterImage | None, seen: RescueSeen
) -> RescueSeen:
    """Return the state by the metadata logs; `image` is the metadata of the controller that leads."""
    leader = next((node for node in nodes if node.node_id == saved.controller), None)
    leads = leader is not None and (leader.epoch or 0) > saved.epoch and image is not None and not seen.pending
    seen = seen._replace(running=tuple(sorted(node.node_id for node in nodes if node.running)))
    if not leads or image is None:
        return seen
    known = {*image.brokers} if saved.brokers is None else {*saved.brokers}
    brokers = known - saved.dead - {saved.controller}
    following = {node.node_id for node in nodes if node.node_id in brokers and (node.epoch or 0) > saved.epoch}
    return seen._replace(
        leads=True,
        following=tuple(sorted(following)),
        waiting=tuple(sorted(brokers - following)),
        unnamed=tuple(sorted(brokers - {node.node_id for node in nodes})),
        left=tuple(unsettled(saved, image)),
    )


def unsettled(saved: SavedRescue, image: ClusterImage) -> Iterator[str]:
    """Yield the partitions without a leader, or with replicas out of sync, in words."""
    without, behind = [], []
    for topic, number, row in image.partitions():
        planned = saved.topics.get(topic.name)
        if (saved.topics and planned is None) or (planned is not None and number in planned.offline):
            continue
        here = {*row.replicas} - saved.dead
        name = partition_name(topic.name, number)
        if row.leader == NO_LEADER and here:
            without.append(name)
        elif saved.has_full_isr and not here <= {*row.isr}:
            behind.append(name)
    if without:
        yield f"{counted(len(without), 'partition')} without a leader: {listed(without, most=3)}"
    if behind:
        yield f"{counted(len(behind), 'partition')} with replicas out of sync: {listed(behind, most=3)}"


def differences_of_rescue(
    saved: SavedRescue, nodes: Sequence[NodeSeen], image: ClusterImage | None, seen: RescueSeen
) -> Iterator[str]:
    """Yield why the cluster does not become as planned, whatever is waited for."""
    gone = sorted(saved.dead & {*seen.running})
    if gone:
        yield f"{agree(len(gone), 'node', 'nodes')} {listed(gone)} must never start with the old disk, and runs"
    if not seen.leads or image is None:
        return
    leader = next(node for node in nodes if node.node_id == saved.controller)
    for node in nodes:
        if node.node_id in seen.waiting and node.seen > (leader.epoch or 0):
            yield (
                f"node {node.node_id} has seen epoch {node.seen}, and controller {leader.node_id} leads in epoch"
                f" {leader.epoch}, so the node would wait for ever"
            )
    yield from differences_of_image(saved, image)


def differences_of_image(saved: SavedRescue, image: ClusterImage) -> Iterator[str]:
    """Yield the differences between metadata and the plan that no time mends."""
    lost = sorted(name for name, topic in saved.topics.items() if not _has(image, name, topic))
    if lost:
        yield f"the controller does not have {some_of([f'topic {name} of the plan' for name in lost])}"
    behind = [*_below(saved, image)]
    if behind:
        some = listed(behind, most=3)
        yield f"leader epochs are below the epochs on the disks ({some}), so topics were created by hand"
    given = image.next_producer_id
    if saved.next_producer_id is not None and given is not None and given < saved.next_producer_id:
        yield f"the controller gives out producer ids from {given}, and the disks know larger ones"


def _has(image: ClusterImage, name: str, planned: PlannedTopic) -> bool:
    topic = image.topics.get(name)
    return topic is not None and planned.topic_id in (None, topic.topic_id)


def _below(saved: SavedRescue, image: ClusterImage) -> Iterator[str]:
    """Yield the partitions with a lower leader epoch than the plan gives them."""
    for topic, number, row in image.partitions():
        planned = saved.topics.get(topic.name)
        if planned is not None and (row.leader_epoch or 0) < planned.epochs.get(number, 0):
            yield partition_name(topic.name, number)
