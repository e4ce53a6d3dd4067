"""Finds the progress of a cluster with the steps of a plan, from its metadata and log dirs."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from kcheck.core.election.recovery_plan import PlannedPartition, SavedPlan
from kcheck.core.election.steps import RecoveryAction
from kcheck.model.cluster import NO_LEADER, BrokerRegistration, ClusterImage, PartitionRegistration
from kcheck.model.names import TopicPartition

_ELECTIONS = (RecoveryAction.ELECT, RecoveryAction.REASSIGN)


class SavedStep(NamedTuple):
    """A step of a plan, as recovery.json has it."""

    kind: RecoveryAction
    brokers: tuple[int, ...]
    partitions: tuple[TopicPartition, ...]
    is_again: bool
    """True if the brokers have run before, in the plan."""
    title: str
    commands: tuple[str, ...]
    until: str
    check: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    needs: str = ""
    """The condition before the step; empty in plans of earlier releases."""
    where: str = ""
    """The host on which to type the commands; empty if not known."""
    final: str | None = None
    """The loss that the step makes final; None without one."""


class StepState(StrEnum):
    """The progress of a step. Answers use the value."""

    DONE = "done"
    WAIT = "wait"
    """It was begun, and the cluster has not settled."""
    OPEN = "open"


class PlanState(StrEnum):
    """The state of a plan and so the next action. Answers use the value."""

    DONE = "done"
    """Every step is done."""
    WAIT = "wait"
    """The last step that was begun is not settled."""
    NEXT = "next"
    """The next step can be taken."""
    STOP = "stop"
    """The cluster is not as the plan expects. The present cluster needs a new decision."""


class Differs(NamedTuple):
    """A partition that another broker leads than the plan wants."""

    partition: PlannedPartition
    leader: int
    """The present or last leader."""


class ClusterSeen(NamedTuple):
    """The state of a cluster in the metadata and the log dirs."""

    registered: frozenset[int]
    """The brokers that have registered since the plan was made."""
    running: frozenset[int]
    """Those of them that run."""
    leaders: Mapping[TopicPartition, PartitionRegistration]
    """The partitions of the plan as of the metadata."""
    unrepaired: frozenset[int] = frozenset()
    """The brokers that a repair would still help."""
    short: frozenset[int] = frozenset()
    """The brokers whose log.dirs lacks a log dir with partitions."""
    unfenced: frozenset[int] = frozenset()
    """The brokers that run by the metadata as they did when the plan was made."""
    present: frozenset[tuple[int, TopicPartition]] = frozenset()
    """The directories of partitions, by broker."""
    deleted: frozenset[tuple[int, str]] = frozenset()
    """The -delete directories that are still there, by broker."""
    beyond: frozenset[TopicPartition] = frozenset()
    """The partitions in which a consumer group is beyond the log end."""
    sought: frozenset[int] = frozenset()
    """The brokers with a disk that is still not here."""
    misplaced: frozenset[int] = frozenset()
    """The brokers of directories that still belong at another place."""
    needs_rescue: bool = False
    """True if the metadata still has to be brought back."""


def seen_of(plan: SavedPlan, image: ClusterImage, ran: Collection[int] = ()) -> ClusterSeen:
    """Return the state in the metadata. A broker epoch that differs from the plan's epoch is of a later registration.

    `ran` are brokers that have run since by other evidence, as ZooKeeper forgets a broker that stops.
    """
    since = {number: row for number, row in image.brokers.items() if _is_new(number, row, plan)}
    names = {TopicPartition(row.topic, row.partition) for row in plan.partitions}
    leaders = {
        name: row for topic, number, row in image.partitions() if (name := TopicPartition(topic.name, number)) in names
    }
    return ClusterSeen(
        registered=frozenset((*since, *ran)),
        running=frozenset(number for number, row in since.items() if not row.fenced),
        unfenced=frozenset(number for number, row in image.brokers.items() if number not in since and not row.fenced),
        leaders=leaders,
    )


def _is_new(number: int, row: BrokerRegistration, plan: SavedPlan) -> bool:
    return row.epoch is None or row.epoch != plan.broker_epochs.get(number)


def differences(plan: SavedPlan, seen: ClusterSeen, awaited: Collection[TopicPartition] = ()) -> Iterator[Differs]:
    """Yield the partitions that an unplanned broker has led since the plan was made.

    An election that is still to come (`awaited`) takes the lead from a broker that is stopped by then.
    """
    for planned in plan.partitions:
        name = TopicPartition(planned.topic, planned.partition)
        row = seen.leaders.get(name)
        leader = None if row is None else _leader_since(row, planned, seen)
        if leader is None or leader in planned.leaders:
            continue
        if name not in awaited or seen.running.issuperset((leader, planned.leader)):
            yield Differs(planned, leader)


def unled(
    steps: Sequence[SavedStep], far: Sequence[StepState], plan: SavedPlan, seen: ClusterSeen
) -> Iterator[PlannedPartition]:
    """Yield the partitions without a leader whose planned leader has started, and that no step elects any more.

    KRaft controllers elect a broker of the ISR as they unfence that broker
    (ReplicationControlManager.handleBrokerUnfenced 3.3 to 4.3.1). So the ISR is another than the plan assumed, or the
    next broker started before the election. Partitions that a planned leader has led since are left out after their
    election. Partitions where the last known leader waits are left out too (`_waits_for_elr`).
    """
    planned = {TopicPartition(row.topic, row.partition): row for row in plan.partitions}
    elections = [(step, state) for step, state in zip(steps, far, strict=True) if step.kind in _ELECTIONS]
    awaited = {name for step, state in elections if state is not StepState.DONE for name in step.partitions}
    past = {name for step, state in elections if state is StepState.DONE for name in step.partitions}
    for name, row in planned.items():
        now = seen.leaders.get(name)
        is_open = now is not None and now.leader == NO_LEADER and name not in awaited
        has_started = row.leader in (seen.registered if name in past else seen.running)
        is_past = name in past and _is_led(name, planned, seen)
        if now is not None and is_open and has_started and not is_past and not _waits_for_elr(row, now, seen):
            yield row


def _waits_for_elr(planned: PlannedPartition, now: PartitionRegistration, seen: ClusterSeen) -> bool:
    """Return whether the planned leader is the last known one, and ELR members have not started yet.

    A broker without a clean stop leaves the ELR at its registration. The last known leader is elected when no member
    is left (PartitionChangeBuilder.canElectLastKnownLeader, 4.0 to 4.3.1).
    """
    is_last_known = not now.isr and now.last_known_elr == (planned.leader,)
    return is_last_known and bool(now.elr) and seen.registered.isdisjoint(now.elr)


def _leader_since(row: PartitionRegistration, planned: PlannedPartition, seen: ClusterSeen) -> int | None:
    """Return the leader that was elected after the plan was made; None without one, or if not known.

    A broker that has not registered since led nothing. When a controller starts again, it gives up brokers that do not
    run, one after the other. It elects the brokers that are left (ReplicationControlManager.handleBrokerFenced, 4.3).
    Once such brokers have registered too, they keep a place only if they led since.
    """
    leader = row.last_leader if row.leader == NO_LEADER else row.leader
    if row.leader == NO_LEADER and leader not in (*row.isr, *row.elr, *row.last_known_elr):
        return None
    epoch = row.leader_epoch if row.leader != NO_LEADER else row.last_leader_epoch
    return leader if epoch is not None and epoch > planned.epoch_floor and leader in seen.registered else None


def states(steps: Sequence[SavedStep], plan: SavedPlan, seen: ClusterSeen) -> tuple[StepState, ...]:
    """Return the state of each step.

    All steps before the latest first start of registered brokers are past, whether they were taken or not. The leader
    then shows their effect (`differences`). Exceptions are the repair of a broker that has not started, and a stop
    before a later election. A registered broker that does not run was stopped since, or is still
    starting. The elections after this step tell the two apart.
    """
    planned = {TopicPartition(row.topic, row.partition): row for row in plan.partitions}
    starts = [at for at, step in enumerate(steps) if step.kind is RecoveryAction.START and not step.is_again]
    latest = max((at for at in starts if seen.registered.issuperset(steps[at].brokers)), default=-1)
    known = [_state(step, planned, seen) for step in steps]
    if latest >= 0 and not seen.running.issuperset(steps[latest].brokers):
        later = {step.kind: state for step, state in zip(steps[latest + 1 :][:2], known[latest + 1 :], strict=False)}
        was_stopped = RecoveryAction.STOP in later and later.get(RecoveryAction.ELECT) is not StepState.OPEN
        known[latest] = StepState.DONE if was_stopped else StepState.WAIT
    is_past = [at < latest and not _is_left(at, latest, steps, known, seen) for at in range(len(steps))]
    return tuple(StepState.DONE if past else state for past, state in zip(is_past, known, strict=True))


_PREPARE = (RecoveryAction.REPAIR, RecoveryAction.PUT_BACK, RecoveryAction.LOG_DIRS, RecoveryAction.SET_ASIDE)


def _is_left(at: int, latest: int, steps: Sequence[SavedStep], known: Sequence[StepState], seen: ClusterSeen) -> bool:
    """Return whether a step still has to be taken, although a later broker has started."""
    step, brokers = steps[at], frozenset(steps[at].brokers)
    if step.kind in _PREPARE:
        return seen.registered.isdisjoint(brokers)
    if step.kind is not RecoveryAction.STOP:
        return False
    awaits = False
    for place in range(at, len(steps)):
        if steps[place].is_again and not brokers.isdisjoint(steps[place].brokers):
            return awaits and place > latest
        awaits = awaits or (steps[place].kind in _ELECTIONS and known[place] is StepState.OPEN)
    return awaits


def overtaken(steps: Sequence[SavedStep], seen: ClusterSeen) -> Iterator[tuple[int, int]]:
    """Yield the brokers that have not started since, each with a broker of a later step that has."""
    starts = [step.brokers for step in steps if step.kind is RecoveryAction.START and not step.is_again]
    for at, brokers in enumerate(starts):
        later = next((number for other in starts[at + 1 :] for number in other if number in seen.registered), None)
        for number in brokers:
            if later is not None and number not in seen.registered:
                yield number, later


def _state(step: SavedStep, planned: Mapping[TopicPartition, PlannedPartition], seen: ClusterSeen) -> StepState:
    brokers = frozenset(step.brokers)
    left = {
        RecoveryAction.BRING: seen.sought,
        RecoveryAction.PUT_BACK: seen.misplaced,
        RecoveryAction.REPAIR: seen.unrepaired,
        RecoveryAction.LOG_DIRS: seen.short,
        RecoveryAction.FENCE: seen.unfenced,
    }
    if step.kind is RecoveryAction.RESCUE:
        return _done(is_done=not seen.needs_rescue)
    if step.kind is RecoveryAction.SAVE:  # The directory of a plan has them.
        return StepState.DONE
    if step.kind in left:
        return _done(is_done=not brokers & left[step.kind])
    if step.kind is RecoveryAction.START:
        if step.is_again:
            return _done(is_done=brokers <= seen.running)
        is_begun = bool(brokers & seen.registered)
        return StepState.DONE if brokers <= seen.registered else StepState.WAIT if is_begun else StepState.OPEN
    if step.kind is RecoveryAction.STOP:
        return _done(is_done=not brokers & seen.running)
    if step.kind in _ELECTIONS:
        return _done(is_done=all(_is_led(name, planned, seen) for name in step.partitions))
    if step.kind is RecoveryAction.RESTORE:
        return _done(is_done=all(_is_full(name, planned, seen) for name in step.partitions))
    if step.kind is RecoveryAction.SET_ASIDE:
        there = {(number, name) for number in brokers for name in step.partitions} & seen.present
        deleted = {(number, name) for number in brokers for name in step.directories} & seen.deleted
        return _done(is_done=not there and not deleted)
    if step.kind is RecoveryAction.FOLLOW:
        return _done(is_done=all(_is_in_sync(name, brokers, seen) for name in step.partitions))
    assert step.kind is RecoveryAction.RESET
    return _done(is_done=seen.beyond.isdisjoint(step.partitions))


def _done(*, is_done: bool) -> StepState:
    return StepState.DONE if is_done else StepState.OPEN


def _is_led(name: TopicPartition, planned: Mapping[TopicPartition, PlannedPartition], seen: ClusterSeen) -> bool:
    row = seen.leaders.get(name)
    if row is None or name not in planned:
        return False
    return _leader_since(row, planned[name], seen) in planned[name].leaders


def _is_in_sync(name: TopicPartition, brokers: frozenset[int], seen: ClusterSeen) -> bool:
    row = seen.leaders.get(name)
    return row is not None and brokers <= {*row.isr}


def _is_full(name: TopicPartition, planned: Mapping[TopicPartition, PlannedPartition], seen: ClusterSeen) -> bool:
    row = seen.leaders.get(name)
    return row is not None and name in planned and {*planned[name].replicas} <= {*row.replicas} and not row.removing


def state_of(steps: Sequence[StepState], *, differs: bool) -> PlanState:
    """Return the state of a plan from the states of its steps."""
    if differs:
        return PlanState.STOP
    first = next((state for state in steps if state is not StepState.DONE), StepState.DONE)
    return {StepState.DONE: PlanState.DONE, StepState.WAIT: PlanState.WAIT, StepState.OPEN: PlanState.NEXT}[first]
