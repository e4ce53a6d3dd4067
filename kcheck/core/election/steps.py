"""Turns the recommendation into steps of an operator, one after the other, with the losses that each makes final."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from kcheck.core.election.election import first_leader
from kcheck.core.election.misplaced import Misplaced
from kcheck.core.election.plans import PartitionElection
from kcheck.core.election.recovery_plan import Recovery
from kcheck.core.election.start_losses import RemovedAtStart
from kcheck.core.replication.truncation_plans import TruncatedRecords
from kcheck.model.cluster import Seat


class RecoveryAction(StrEnum):
    """The kind of a step. Answers use the value."""

    RESCUE = "rescue"
    """`kcheck recover quorum` or `metadata`: then the question is asked again."""
    BRING = "bring"
    """The operator finds a disk that this plan lacks. Then the question is asked again."""
    SAVE = "save"
    """Records that later steps remove are saved."""
    REPAIR = "repair"
    """`kcheck repair` and `kcheck apply`, before any start."""
    PUT_BACK = "put-back"
    """Directories move to where their records belong. Then the question is asked again."""
    LOG_DIRS = "log-dirs"
    """log.dirs changes, without a log dir that is given up, or with a missing log dir."""
    FENCE = "fence"
    """Controllers start alone and fence every broker. The resulting ISR is known before a broker starts."""
    SET_ASIDE = "set-aside"
    """The operator moves directories aside before the broker starts."""
    START = "start"
    """Brokers start at once."""
    STOP = "stop"
    """Brokers stop."""
    ELECT = "elect"
    """The tool elects uncleanly (LeaderElectionCommand). In 2.3 and earlier the configuration of topics does it."""
    REASSIGN = "reassign"
    """The wanted leaders become the first of their assignments (ReassignPartitionsCommand)."""
    FOLLOW = "follow"
    """Brokers whose replicas get no records from the new leader restart, without the directories that differ."""
    RESET = "reset-groups"
    """Consumer groups go back to the new log ends (ConsumerGroupCommand)."""
    RESTORE = "restore"
    """The partitions get all their replicas again."""


class Cut(NamedTuple):
    """A truncation by a step that removes the only copy of records."""

    topic: str
    partition: int
    broker_id: int
    """The broker that truncates."""
    lost: TruncatedRecords
    """The offsets, and how many records."""


class SelfElected(NamedTuple):
    """A partition that gets a leader out of sync as a broker starts, because unclean elections are on."""

    partition: PartitionElection
    leader: int
    """The broker, which the controller elects by itself."""
    missing: tuple[int, ...]
    """The replicas in sync that are awaited. The election gives up for good what only these have."""


class RecoveryStep(NamedTuple):
    """One thing to do."""

    kind: RecoveryAction
    brokers: tuple[int, ...] = ()
    """The brokers that it is done to."""
    partitions: tuple[PartitionElection, ...] = ()
    """The partitions that are elected, reassigned or moved aside, or that follow."""
    emptied: tuple[PartitionElection, ...] = ()
    """The partitions of a `follow` step whose directories move aside. No broker truncates these logs."""
    directories: tuple[str, ...] = ()
    """The -delete directories that are moved aside."""
    before: int | None = None
    """The broker that waits for an election; None if no broker waits."""
    is_again: bool = False
    """True if the brokers have run before, in this plan."""
    cuts: tuple[Cut, ...] = ()
    """The records that are lost after it."""
    saves: tuple[RemovedAtStart, ...] = ()
    """The logs with readable records that later starts truncate, saved by this step."""
    forces: tuple[SelfElected, ...] = ()
    """The partitions that the controller leads on without the replicas in sync."""
    misplaced: tuple[Misplaced, ...] = ()
    """The directories that move to where they belong."""

    @property
    def file(self) -> str | None:
        """The file of the plan that Kafka's tool reads; None without one."""
        if self.kind is RecoveryAction.ELECT:
            return "election.json" if self.before is None else f"election-before-{self.before}.json"
        return {RecoveryAction.REASSIGN: "reassignment.json", RecoveryAction.RESTORE: "restore.json"}.get(self.kind)


class StepText(NamedTuple):
    """A step in words."""

    title: str
    """The step, as a sentence without its period."""
    needs: str
    """The condition before it."""
    commands: tuple[str, ...]
    """The commands to type."""
    until: str
    """The condition before the next step."""
    final: str
    """The part that cannot be undone, and the way to undo the rest."""
    check: tuple[str, ...] = ()
    """The commands that show it."""
    is_loss: bool = False
    """True if the step removes records, or perhaps gives up records of other disks."""
    where: str = ""
    """The host on which to type the commands; empty if the step has none."""


def steps_of(recovery: Recovery) -> tuple[RecoveryStep, ...]:
    """Return the steps in their order. After a rescue of the metadata kcheck must be asked again."""
    if recovery.rescue is not None:
        return (RecoveryStep(RecoveryAction.RESCUE),)
    sought = [RecoveryStep(RecoveryAction.BRING, (number,)) for number in recovery.sought]
    steps = [RecoveryStep(RecoveryAction.REPAIR, (repair.broker_id,)) for repair in recovery.repairs]
    if recovery.misplaced:
        # A repair would move these aside, and no step could name them.
        moved = tuple(row for row in recovery.misplaced if "/" in row.dir) if steps else ()
        rows = moved or recovery.misplaced
        numbers = {number for row in rows for number in (row.broker_id, row.to_broker)}
        put_back = RecoveryStep(RecoveryAction.PUT_BACK, tuple(sorted(numbers)), misplaced=rows)
        # Under a wrong name a log looks old.
        is_named = any(row.records is None for row in rows)
        return (*(() if is_named else sought), *(() if moved else steps), put_back)
    of_settings = {*dict(recovery.without), *dict(recovery.added)}
    steps += [RecoveryStep(RecoveryAction.LOG_DIRS, (number,)) for number in sorted(of_settings)]
    if recovery.fenced:
        steps.append(RecoveryStep(RecoveryAction.FENCE, recovery.fenced))
    steps += _of_phases(recovery)
    if recovery.reassigned:
        steps.append(
            RecoveryStep(RecoveryAction.REASSIGN, partitions=tuple(partition for partition, _ in recovery.reassigned))
        )
    if recovery.unclean:
        steps.append(RecoveryStep(RecoveryAction.ELECT, partitions=recovery.unclean))
    steps += _following(recovery)
    beyond = tuple(part for part in recovery.partitions if part.recommended and part.recommended.groups_beyond)
    if beyond and recovery.release.resets_offsets:
        steps.append(RecoveryStep(RecoveryAction.RESET, partitions=beyond))
    if recovery.reassigned:
        steps.append(
            RecoveryStep(RecoveryAction.RESTORE, partitions=tuple(partition for partition, _ in recovery.reassigned))
        )
    cut = _with_forced(recovery, _with_cuts(recovery.partitions, steps))
    return (*sought, *_saving(recovery, cut), *cut)


def _following(recovery: Recovery) -> Iterator[RecoveryStep]:
    """Yield the steps for replicas that get no records from their leaders, broker by broker.

    Directories that an earlier step moves aside are not among them.
    """
    stuck, restarted = recovery.stuck, recovery.restarted
    for number in recovery.live:
        aside = recovery.kept_out.get(number, [])
        emptied = tuple(part for part, other in stuck if other == number and part not in aside)
        fails = (part for part, other in restarted if other == number and part not in aside)
        partitions = (*emptied, *fails)
        if partitions:
            yield RecoveryStep(RecoveryAction.FOLLOW, (number,), partitions, emptied=emptied)


def _saving(recovery: Recovery, steps: Sequence[RecoveryStep]) -> Iterator[RecoveryStep]:
    """Yield the step that saves what later steps remove. A bundle has no records."""
    starting = {number for step in steps if step.kind is RecoveryAction.START for number in step.brokers}
    saves = tuple(row for row in recovery.truncated if row.readable and row.broker_id in starting - recovery.bundles)
    removing = {row.broker_id for step in steps for row in step.cuts} - recovery.bundles
    removing.update(row.broker_id for row in saves)
    if removing:
        yield RecoveryStep(RecoveryAction.SAVE, tuple(sorted(removing)), saves=saves)


def _with_forced(recovery: Recovery, steps: Sequence[RecoveryStep]) -> tuple[RecoveryStep, ...]:
    """Return the steps with the unclean elections that the controller makes by itself as brokers start.

    An election by the tool can wait for a missing disk, so no plan has one. The controller does not wait.
    """
    forced = [*self_elected(recovery)]
    return tuple(
        step
        if step.kind is not RecoveryAction.START or step.is_again
        else step._replace(forces=tuple(row for row in forced if row.leader in step.brokers))
        for step in steps
    )


def self_elected(recovery: Recovery) -> Iterator[SelfElected]:
    """Yield the partitions whose first leader is out of sync, while replicas in sync are awaited."""
    starts = [recovery.starts[number] for number in recovery.live]
    for part in recovery.partitions:
        absent = {*part.awaited, *part.unknown_replicas}
        known = frozenset() if part.registration is None else part.registration.in_sync
        missing = tuple(sorted(absent & known))
        if part.seats is None or not missing or not part.rules.unclean:
            continue
        elected = first_leader(part.seats, starts, part.leaders, part.rules)
        if elected is not None and elected.seat is Seat.NONE:
            yield SelfElected(part, elected.broker_id, missing)


def _of_phases(recovery: Recovery) -> Iterator[RecoveryStep]:
    waiting = [*recovery.live]
    for phase in recovery.phases:
        first = tuple(number for number in phase.starts if number in waiting)
        waiting = [number for number in waiting if number not in first]
        if phase.stops:
            yield RecoveryStep(RecoveryAction.STOP, phase.stops)
        for number in first:
            if number in recovery.removed:
                yield RecoveryStep(RecoveryAction.SET_ASIDE, (number,), directories=recovery.removed[number])
            if number in recovery.kept_out:
                yield RecoveryStep(RecoveryAction.SET_ASIDE, (number,), tuple(recovery.kept_out[number]))
        yield RecoveryStep(RecoveryAction.START, phase.starts, is_again=not first)
        if phase.elects:
            yield RecoveryStep(RecoveryAction.ELECT, partitions=phase.elects, before=(waiting or recovery.live)[0])


def _with_cuts(partitions: Sequence[PartitionElection], steps: Sequence[RecoveryStep]) -> tuple[RecoveryStep, ...]:
    """Return the steps with the records that are lost after each, once a leader is elected and a follower runs.

    Copies moved aside keep their records.
    """
    starts = {
        number: at for at, step in enumerate(steps) if step.kind is RecoveryAction.START for number in step.brokers
    }
    elections = {
        (part.topic, part.partition): at
        for at, step in enumerate(steps)
        if step.kind is RecoveryAction.ELECT
        for part in step.partitions
    }
    aside = {
        (number, part.topic, part.partition)
        for step in steps
        if step.kind is RecoveryAction.SET_ASIDE
        for number in step.brokers
        for part in step.partitions
    }
    cuts: dict[int, list[Cut]] = {}
    for part in partitions:
        leader = None if part.planned is None else part.leaders[part.planned]
        elected = elections.get(
            (part.topic, part.partition), -1 if leader is None else starts.get(leader.broker_id, -1)
        )
        for follower in () if leader is None or leader.plan is None else leader.plan.followers:
            number, lost = follower.broker_id, follower.lost
            is_kept = (number, part.topic, part.partition) in aside
            if number in starts and not is_kept and lost is not None and lost.records != 0:
                assert number is not None
                cut = Cut(part.topic, part.partition, number, lost)
                cuts.setdefault(max(elected, starts[number]), []).append(cut)
    return tuple(step._replace(cuts=tuple(cuts.get(at, ()))) for at, step in enumerate(steps))
