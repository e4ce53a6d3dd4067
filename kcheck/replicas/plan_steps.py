"""Compares a cluster with the expectations of a saved plan, step by step."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kcheck.core.election.recovery_plan import PlannedFollower, PlannedPartition, SavedPlan
from kcheck.core.premises.elections import FOLLOWING
from kcheck.core.premises.table import BY_ID
from kcheck.core.replication.truncation_plans import FollowerPlan
from kcheck.documents.verification import PlanStep, StepKind
from kcheck.model.cluster import NO_LEADER, BrokerRegistration, PartitionRegistration
from kcheck.model.entries import Epoch, Offset
from kcheck.model.names import ids_differ
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.replicas.loading import DoubleReplica
from kcheck.replicas.served_now import ServedNow, remote_steps

_UNKNOWN_PARTITION = "? (the partition is not in the given metadata)"
_NOT_SAVED = "? (the plan's saved records are missing; elect --save-lost keeps them)"


class SavedEvidence(NamedTuple):
    """Number of saved records, and number of them that the leader's log lacks; None if not known."""

    expected: int | None
    """Those that the plan gives up."""
    missing: int | None
    """Those of them that the leader's log lacks."""
    others: int | None
    """Those that neither the plan gives up nor a replica has that cannot follow, and the leader's log lacks."""
    others_committed: int | None
    """Number of these that were acknowledged, below the high watermark."""
    start: Offset = Offset(0)
    """Records below this offset are not compared, as the leader has deleted or compacted them."""


class PartitionNow(NamedTuple):
    """The state of a partition by the files."""

    registration: PartitionRegistration | None = None
    """Its state in the metadata; None if no given metadata has it."""
    topic_id: str | None = None
    """The id of its topic by the metadata, or by the leader's directory."""
    is_deleted: bool = False
    """True if metadata is given that does not have the topic."""
    ends: Mapping[int, Offset | None] = {}
    """The log end offset of each replica here, by broker."""
    latest_epoch: Epoch | None = None
    """The highest epoch in the replicas here; None without any."""
    followers: Mapping[int, FollowerPlan] = {}
    """The plan of each replica here if it met the leader now, by broker."""
    evidence: SavedEvidence | None = None
    """The evidence of the saved records; None if they are not here."""
    strays: tuple[tuple[int, str], ...] = ()
    """The brokers and paths of stray directories."""
    allows_unclean: bool | None = None
    """True if the metadata allows unclean elections of its topic; None without metadata."""
    served: ServedNow | None = None
    """The state of the offsets in remote storage; None without a readable log of the leader."""
    full: tuple[int, ...] | None = None
    """The replicas that restore.json gives it; None if that does not name it."""

    @property
    def leader(self) -> int | None:
        """The broker that leads, or led last, by the metadata; None if unknown."""
        if self.registration is None:
            return None
        led = self.registration.leader
        return self.registration.last_leader if led == NO_LEADER else led

    def has_replica(self, number: int) -> bool:
        """Return whether a broker has, or may have, a replica, as a later reassignment can remove it."""
        return self.registration is None or number in self.registration.replicas


def broker_steps(plan: SavedPlan, brokers: Mapping[int, BrokerRegistration]) -> Iterator[PlanStep]:
    """Yield a step for each broker that the plan starts, which gives it a new epoch."""
    for number in plan.order:
        before = plan.broker_epochs.get(number)
        now = brokers[number].epoch if number in brokers else None
        ok = None if before is None or now is None else now != before
        seen = {None: "? (no two broker epochs to compare)", True: "it registered again", False: "not since the plan"}
        yield PlanStep(StepKind.BROKER, f"broker {number} starts", seen[ok], ok, broker_id=number)


def double_steps(doubles: Iterable[DoubleReplica]) -> Iterator[PlanStep]:
    """Yield a step for each broker that does not start because a partition has two directories."""
    for double in doubles:
        seen = f"{double.name} exists twice: {' and '.join(double.paths)}"
        yield PlanStep(StepKind.BROKER, f"broker {double.broker_id} starts", seen, ok=False, broker_id=double.broker_id)


def premise_steps(premises: Iterable[JudgedPremise]) -> Iterator[PlanStep]:
    """Yield a step for each premise of a broker's next start that is refuted, or that another file would show.

    The log ends of the leaders that replicas have to follow are in steps of their own.
    """
    for judged in (row for row in premises if row.id not in FOLLOWING):
        expected = f"{judged.id}: {BY_ID[judged.id].sentence.removesuffix('.')}"
        if judged.status is PremiseStatus.REFUTED:
            yield PlanStep(StepKind.PREMISE, expected, judged.sentence, ok=False, broker_id=judged.broker_id)
        elif judged.status is PremiseStatus.NOT_SEEN and judged.provide is not None:
            seen = f"? ({judged.sentence}; {judged.wanted})"
            yield PlanStep(StepKind.PREMISE, expected, seen, None, broker_id=judged.broker_id)


def partition_steps(
    planned: PlannedPartition, now: PartitionNow, plan: SavedPlan, brokers: Mapping[int, BrokerRegistration]
) -> tuple[PlanStep, ...]:
    """Return the steps of one partition; of a topic that was deleted since, only this."""
    gone = tuple(_topic(planned, now))
    steps = gone or (
        _leader(planned, now),
        _epoch(planned, now),
        _log_end(planned, now),
        *(_truncation(follower, now, planned.leaders) for follower in planned.followers),
        *_records(planned, now),
        *remote_steps(planned, now.served),
        *_replicas(planned, now, plan),
        *_in_sync(planned, now, plan, brokers),
        *_left_over(planned, now),
    )
    return tuple(step._replace(topic=planned.topic, partition=planned.partition) for step in steps)


def _topic(planned: PlannedPartition, now: PartitionNow) -> Iterator[PlanStep]:
    expected = "the topic is still there" if planned.topic_id is None else f"topic id {planned.topic_id}"
    if now.is_deleted:
        yield PlanStep(StepKind.TOPIC, expected, "the topic was deleted, because the metadata lacks it", ok=False)
    elif ids_differ(planned.topic_id, now.topic_id):
        seen = f"topic id {now.topic_id}: a new topic; the planned one was deleted"
        yield PlanStep(StepKind.TOPIC, expected, seen, ok=False)


def _leader(planned: PlannedPartition, now: PartitionNow) -> PlanStep:
    expected = f"broker {planned.leader} leads"
    if planned.later is not None:
        expected += f", or broker {planned.later} again"
    if now.registration is None:
        return PlanStep(StepKind.LEADER, expected, _UNKNOWN_PARTITION, None, broker_id=planned.leader)
    if now.leader is None:
        return PlanStep(StepKind.LEADER, expected, "it has no leader", ok=False, broker_id=planned.leader)
    words = "leads" if now.registration.leader == now.leader else "led last"
    seen = f"broker {now.leader} {words}"
    if not now.has_replica(planned.leader):
        seen = f"? ({seen}; broker {planned.leader} is no longer a replica)"
        return PlanStep(StepKind.LEADER, expected, seen, None, broker_id=planned.leader)
    return PlanStep(StepKind.LEADER, expected, seen, now.leader in planned.leaders, broker_id=planned.leader)


def _epoch(planned: PlannedPartition, now: PartitionNow) -> PlanStep:
    known = None if now.registration is None else now.registration.leader_epoch
    epoch = now.latest_epoch if known is None else known
    seen = "?" if epoch is None else f"leader epoch {epoch}"
    ok = None if epoch is None else epoch > planned.epoch_floor
    return PlanStep(StepKind.EPOCH, f"leader epoch above {planned.epoch_floor}", seen, ok)


def _log_end(planned: PlannedPartition, now: PartitionNow) -> PlanStep:
    leader = planned.leader if now.leader is None or now.has_replica(planned.leader) else now.leader
    end = now.ends.get(leader)
    if planned.log_end_offset is None:
        ok, expected = None, f"log end of broker {leader} ?"
    else:
        ok = None if end is None else end >= planned.log_end_offset
        expected = f"log end of broker {leader} {planned.log_end_offset} or above"
    seen = "? (no readable log of it is here)" if end is None else f"log end {end}"
    return PlanStep(StepKind.LOG_END, expected, seen, ok, broker_id=leader)


def _truncation(follower: PlannedFollower, now: PartitionNow, leaders: tuple[int, ...]) -> PlanStep:
    number = follower.broker_id
    seen, ok = _follows(number, now)
    if number == now.leader and number in leaders:
        ok = True
    if not follower.follows:
        expected = f"broker {number} cannot follow, because its log differs from the leader's"
        return PlanStep(StepKind.TRUNCATION, expected, seen, None if ok is None else not ok, broker_id=number)
    if follower.truncate_to is None:
        expected = f"broker {number} keeps its log and follows"
    else:
        expected = f"broker {number} truncates to {follower.truncate_to} and follows"
    return PlanStep(StepKind.TRUNCATION, expected, seen, ok, broker_id=number)


def _follows(number: int, now: PartitionNow) -> tuple[str, bool | None]:
    """Return how the log of a broker relates to its leader's, and whether it is a part of that."""
    if now.leader == number:
        return "it leads", False
    state = now.followers.get(number)
    if not now.has_replica(number):
        return "? (it is no longer a replica)", None
    if state is None:
        return "? (no log of it is here)", None
    if state.problem is not None:
        return f"? ({state.problem})", None
    if state.diverges_silently_at is not None:
        return f"its log differs from the leader's from {state.diverges_silently_at} on", False
    if state.lost is not None:
        offsets = f"offsets {state.lost.start}-{state.lost.end - 1}"
        return (
            (f"{offsets} are not the leader's", False)
            if state.lost.certain
            else (f"? (the files do not show whether {offsets} are the leader's)", None)
        )
    return f"its log is the leader's up to {state.log_end_offset_before}", True


def _records(planned: PlannedPartition, now: PartitionNow) -> Iterator[PlanStep]:
    lost = [follower.lost for follower in planned.followers if follower.lost is not None]
    if now.evidence is None:
        if lost:
            ranges = ", ".join(f"{start}-{end - 1}" for start, end in lost)
            yield PlanStep(StepKind.RECORDS, f"followers lose offsets {ranges}", _NOT_SAVED, None)
        return
    expected, missing, others, committed, start = now.evidence
    unread = (
        f"? ({'the saved records cannot be read' if expected is None else 'no readable log of the leader is here'})"
    )
    since = f" (from offset {start} on; the leader deleted or compacted those below)" if start else ""
    if lost:
        words = f"{_number(expected)} saved records are lost{since}"
        if expected is None or missing is None:
            yield PlanStep(StepKind.RECORDS, words, unread, None)
        else:
            back = f"; {expected - missing} are back" if missing < expected else ""
            yield PlanStep(StepKind.RECORDS, words, f"{missing} are lost{back}", missing == expected)
    words = f"every other saved record is in the leader's log{since}"
    if others is None:
        yield PlanStep(StepKind.RECORDS, words, unread, None)
    else:
        below = f", {_number(committed)} of them acknowledged" if others else ""
        yield PlanStep(StepKind.RECORDS, words, f"{others} are missing{below}", ok=not others)


def _number(count: int | None) -> str:
    return "?" if count is None else str(count)


def _replicas(planned: PlannedPartition, now: PartitionNow, plan: SavedPlan) -> Iterator[PlanStep]:
    if now.full is not None:
        full = now.full
        expected = f"replicas {_ids(full)} (restore.json)"
    else:
        full = tuple(number for number in planned.replicas if number not in plan.dead) or planned.replicas
        expected = f"{len(full)} replicas"
    if not full:
        return
    if now.registration is None:
        yield PlanStep(StepKind.REPLICAS, expected, _UNKNOWN_PARTITION, None)
        return
    replicas = now.registration.replicas
    ok = set(full) <= set(replicas) if now.full is not None else len(replicas) >= len(full)
    yield PlanStep(StepKind.REPLICAS, expected, f"replicas {_ids(replicas)}", ok)


def _in_sync(
    planned: PlannedPartition, now: PartitionNow, plan: SavedPlan, brokers: Mapping[int, BrokerRegistration]
) -> Iterator[PlanStep]:
    """Yield whether all replicas that can be are in sync; a broker that is stopped now leaves the ISR."""
    if now.registration is None or not planned.replicas:
        return
    isr = now.registration.isr
    stuck = {follower.broker_id for follower in planned.followers if not follower.follows} - {*isr}
    left_out = stuck | {*plan.dead, *isr}
    behind = [number for number in now.registration.replicas if number not in left_out]
    stopped = [number for number in behind if number not in brokers or brokers[number].fenced]
    seen = f"ISR {_ids(isr)}" + (f"; {_ids(stopped)} stopped" if stopped else "")
    ok = False if len(behind) > len(stopped) else (None if stopped else True)
    but = f" but {_ids(sorted(stuck))}, which cannot follow" if stuck else ""
    yield PlanStep(StepKind.ISR, f"every replica in sync{but}", seen, ok)


def _left_over(planned: PlannedPartition, now: PartitionNow) -> Iterator[PlanStep]:
    for broker_id, path in now.strays:
        yield PlanStep(StepKind.STRAY, "no stray directory", path, ok=False, broker_id=broker_id)
    if now.allows_unclean and planned.allowed_unclean is not True:
        seen = "unclean.leader.election.enable is true"
        ok = None if planned.allowed_unclean is None else False
        yield PlanStep(StepKind.CONFIG, "unclean elections forbidden again", seen, ok)


def _ids(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers)) or "-"


def verdict(steps: Iterable[PlanStep]) -> str:
    """Return the result of the plan, in a sentence or two."""
    steps = tuple(steps)
    differ, unknown = ([step for step in steps if step.ok is wanted] for wanted in (False, None))
    if all(step.kind is StepKind.PREMISE for step in steps):
        return "The plan has no step for these partitions."
    lost = any(step.kind in {StepKind.RECORDS, StepKind.REMOTE} for step in differ)
    last = " Records are not where the plan has them." if lost else ""
    known = f" {len(unknown)} of {len(steps)} steps are not known." if unknown else ""
    if differ:
        return f"{len(differ)} of {len(steps)} steps are not as planned.{last}{known}"
    return f"Nothing differs from the plan.{known}" if unknown else f"All {len(steps)} steps are as planned."
