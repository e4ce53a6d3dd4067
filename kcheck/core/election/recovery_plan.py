"""The recommendation of `elect` for a cluster: the step for each partition, and its expected state afterwards."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kcheck.core.election.course import gets_records
from kcheck.core.election.early_elections import Displaced, displaced, kept_out, means_of
from kcheck.core.election.election import BrokerStart
from kcheck.core.election.first_repairs import FirstRepair
from kcheck.core.election.first_rescue import FirstRescue
from kcheck.core.election.misplaced import Misplaced
from kcheck.core.election.phases import Course, Phase, course_of
from kcheck.core.election.plans import Candidate, PartitionElection
from kcheck.core.election.start_losses import RemovedAtStart
from kcheck.core.replication.dialogue import Status
from kcheck.core.replication.truncation_plans import FollowerPlan, OffsetRange, TruncationPlan
from kcheck.core.tiered.spans import without
from kcheck.model.cluster import UNCLEAN, ClusterImage
from kcheck.model.entries import UNDEFINED_EPOCH, Epoch, Offset
from kcheck.model.release import Release


class BrokerLogDir(NamedTuple):
    """A log dir of a broker that has others."""

    broker_id: int
    path: str


class Recovery(NamedTuple):
    """The recommendation, and what it rests on."""

    partitions: Sequence[PartitionElection]
    """Every partition, by topic and number."""
    order: tuple[int, ...]
    """The brokers here in the order in which they should start."""
    starts: Mapping[int, BrokerStart]
    """The brokers that can start, by id. The other brokers here abort."""
    dead: frozenset[int]
    """The brokers that are given up."""
    release: Release
    """The release that is modelled."""
    kraft: bool
    """True if KRaft controllers elect."""
    image: ClusterImage | None
    """The metadata of the cluster; None without metadata."""
    paths: tuple[str, ...]
    """The paths of the brokers, as the user gave them."""
    folder: str
    """The directory that the files are written to."""
    saved: str | None = None
    """The directory that holds the records which the elections remove; None if they were not saved."""
    together: tuple[int, ...] = ()
    """The first brokers, which start at once because they are also the controllers."""
    by_run: bool = False
    """True if tables of a fleet decided, without the logs."""
    repairs: tuple[FirstRepair, ...] = ()
    """The repairs that come before any broker starts. Everything else is for the log dirs after the repairs."""
    without: tuple[BrokerLogDir, ...] = ()
    """The log dirs that are given up."""
    added: tuple[BrokerLogDir, ...] = ()
    """The log dirs that log.dirs has to name first."""
    fenced: tuple[int, ...] = ()
    """Running brokers of the metadata that controllers fence by themselves (4.0 and later).

    Their order determines which replicas stay in sync.
    """
    rescue: FirstRescue | None = None
    """The rescue of the metadata that comes before all else; None if none is needed."""
    removed: Mapping[int, tuple[str, ...]] = {}
    """The -delete directories with records that brokers remove once they run, by broker."""
    uncounted: tuple[str, ...] = ()
    """The sentences about records that no loss counts, each with the first step."""
    sought: tuple[int, ...] = ()
    """The brokers with a disk that is not here, and that may have records which no other one has."""
    truncated: tuple[RemovedAtStart, ...] = ()
    """The records that brokers remove for good when they start, because their logs are corrupt."""
    old: frozenset[int] = frozenset()
    """The brokers with an old copy of a disk. The newest one may have other records."""
    misplaced: tuple[Misplaced, ...] = ()
    """The directories that belong at another place. Everything else is asked again once they are there."""
    bundles: frozenset[int] = frozenset()
    """The brokers whose log dirs are in bundles, which have no records to save."""
    metadata: tuple[str, ...] = ()
    """The copies of the metadata outside of the paths, as the user gave them."""

    @property
    def live(self) -> tuple[int, ...]:
        """The starting brokers, the first one first."""
        return tuple(number for number in self.order if number in self.starts)

    @property
    def unclean(self) -> tuple[PartitionElection, ...]:
        """The partitions whose recommended leader needs an unclean election, or may need one."""
        rows = (part for part in self.partitions if part.best is not None)
        return tuple(part for part in rows if part.needs_unclean or part.may_stay_unled)

    @property
    def reassigned(self) -> tuple[tuple[PartitionElection, tuple[int, ...]], ...]:
        """Partitions whose replicas must be reordered before, because the controller would elect another replica.

        Each has the replicas that can take part, the wanted leader first. kafka-reassign-partitions.sh refuses a broker
        that is not alive.
        """
        moved = []
        for partition in self.unclean:
            best, registration = partition.best, partition.registration
            if best is None or registration is None or best == partition.kafka_unclean or partition.may_stay_unled:
                continue
            present = [number for number in registration.replicas if number in partition.leaders]
            others = [number for number in present if number in self.starts and number != best]
            moved.append((partition, (best, *others)))
        return tuple(moved)

    @property
    def displaced(self) -> tuple[Displaced, ...]:
        """The partitions in which the order of the starts makes another broker lead than recommended."""
        return tuple(displaced(self.partitions, self.order, self.starts, self._course.means))

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The steps, one after the other."""
        return self._course.phases

    @property
    def _course(self) -> Course:
        means = means_of(self.partitions, self.release, at_once=max(1, len(self.together)))
        return course_of(self.partitions, self.live, self.starts, means)

    @property
    def kept_out(self) -> dict[int, list[PartitionElection]]:
        """The partitions whose directory is moved aside before a broker starts, by broker."""
        rows: dict[int, list[PartitionElection]] = {}
        for partition, number in kept_out(self.partitions):
            rows.setdefault(number, []).append(partition)
        return dict(sorted(rows.items()))

    @property
    def stuck(self) -> tuple[tuple[PartitionElection, int], ...]:
        """The replicas that get no records from the recommended leader, by partition and broker."""
        return tuple((part, number) for part, number, follower in self._followers() if not gets_records(follower))

    @property
    def restarted(self) -> tuple[tuple[PartitionElection, int], ...]:
        """The replicas that follow the recommended leader only after one more restart, by partition and broker."""
        return tuple(
            (part, number) for part, number, follower in self._followers() if follower.status == Status.TRUNCATION_FAILS
        )

    def _followers(self) -> Iterator[tuple[PartitionElection, int, FollowerPlan]]:
        plans = [(part, part.recommended.plan) for part in self.partitions if part.recommended is not None]
        for part, plan in plans:
            for follower in () if plan is None else plan.followers:
                if follower.broker_id is not None:
                    yield part, follower.broker_id, follower


class PlannedFollower(NamedTuple):
    """The expected state of a replica that follows."""

    broker_id: int
    """Its broker."""
    truncate_to: Offset | None
    """The offset it truncates to; None if it keeps its log, or if that is not known."""
    lost: OffsetRange | None
    """The offsets whose records it loses; None if it loses none, or if that is not known."""
    follows: bool = True
    """True if it gets the leader's records; a replica that does not needs an operator."""
    log_end_offset: Offset | None = None
    """The log end offset once the broker has started, before any fetch; None if not known."""


class ServedRange(NamedTuple):
    """Offsets that a leader serves, of one leader epoch."""

    epoch: Epoch
    """The epoch of their records."""
    start: Offset
    """The first offset."""
    end: Offset
    """The offset after the last one."""


class PlannedPartition(NamedTuple):
    """The expected state of a partition."""

    topic: str
    partition: int
    topic_id: str | None
    """The id of its topic; None if it has none, or if there is no metadata."""
    leader: int
    """Whom the steps of the plan make its leader."""
    log_end_offset: Offset | None
    """Its log end offset when it becomes the leader; None if it is not known."""
    epoch_floor: Epoch
    """The highest epoch before the election. The elected leader has a higher epoch."""
    high_watermark: Offset | None
    """The highest that a replica had checkpointed; records below were acknowledged."""
    replicas: tuple[int, ...]
    """The brokers of its replicas in the metadata; empty without metadata."""
    followers: tuple[PlannedFollower, ...]
    """The replicas that follow."""
    later: int | None = None
    """The expected final leader, the preferred replica; None if it is the same."""
    allowed_unclean: bool | None = None
    """True if the metadata allowed unclean elections of its topic before; None if that is not known."""
    as_good: tuple[int, ...] = ()
    """The brokers that may lead as well. They have every record of the leader, and the same log end."""
    served: tuple[ServedRange, ...] = ()
    """The offsets that the leader serves, remote and local; empty unless a part of the log is in remote storage."""

    @property
    def leaders(self) -> tuple[int, ...]:
        """The brokers of which each may lead, the planned one first."""
        return (self.leader, *self.as_good, *(() if self.later is None else (self.later,)))


class SavedPlan(NamedTuple):
    """The plan that `verify` compares directories with."""

    kafka: str
    """The release that was modelled."""
    order: tuple[int, ...]
    """The brokers that can start, in the order in which they should."""
    dead: tuple[int, ...]
    """The brokers that are given up."""
    paths: tuple[str, ...]
    """The paths of the brokers, as the user gave them."""
    saved: str | None
    """The directory that holds the records which the elections remove; None if they were not saved."""
    broker_epochs: Mapping[int, int]
    """The known broker epochs, by broker. A broker gets a new epoch when it starts."""
    partitions: tuple[PlannedPartition, ...]
    """The partitions with a recommended leader."""
    metadata: tuple[str, ...] = ()
    """The copies of the metadata that the plan rests on, as the user gave them."""


def saved_plan(recovery: Recovery) -> SavedPlan:
    """Return the expected state if the recommendation is followed."""
    image = recovery.image
    known = {} if image is None else image.brokers
    return SavedPlan(
        kafka=recovery.release.name,
        order=recovery.live,
        dead=tuple(sorted(recovery.dead)),
        paths=recovery.paths,
        saved=recovery.saved,
        broker_epochs={number: broker.epoch for number, broker in known.items() if broker.epoch is not None},
        partitions=tuple(_planned(part, image) for part in recovery.partitions if part.recommended is not None),
        metadata=recovery.metadata,
    )


def _planned(partition: PartitionElection, image: ClusterImage | None) -> PlannedPartition:
    leader = partition.recommended if partition.planned is None else partition.leaders[partition.planned]
    assert leader is not None
    topic = None if image is None else image.topics.get(partition.topic)
    registration = partition.registration
    epochs = [
        UNDEFINED_EPOCH if leader.plan is None else leader.plan.leader_epoch - 1,
        UNDEFINED_EPOCH if registration is None or registration.leader_epoch is None else registration.leader_epoch,
    ]
    return PlannedPartition(
        topic=partition.topic,
        partition=partition.partition,
        topic_id=None if topic is None else topic.topic_id,
        leader=leader.broker_id,
        log_end_offset=leader.log_end_offset,
        epoch_floor=Epoch(max(epochs)),
        high_watermark=partition.high_watermark,
        replicas=() if registration is None else registration.replicas,
        followers=() if leader.plan is None else _followers(leader.plan),
        later=None if leader.later is None else leader.later.broker_id,
        allowed_unclean=None if image is None else image.config(partition.topic, UNCLEAN) == "true",
        as_good=tuple(_as_good(partition, leader)),
        served=() if leader.plan is None else tuple(_served(leader.plan)),
    )


def _as_good(partition: PartitionElection, leader: Candidate) -> Iterator[int]:
    """Yield the brokers that may lead as well, as the order of registration is a race if controllers start together."""
    for number, other in partition.leaders.items():
        has_all = leader.broker_id in other.loses_no_more_than and other.log_end_offset == leader.log_end_offset
        if number != leader.broker_id and has_all and {*other.lacking} <= {*leader.lacking}:
            yield number


def _served(plan: TruncationPlan) -> Iterator[ServedRange]:
    """Yield the offsets that a leader serves, without the offsets that its election gives up."""
    for epoch, spans in plan.served.items():
        for start, end in without(spans, plan.remote_lost):
            yield ServedRange(epoch, start, end)


def _followers(plan: TruncationPlan) -> tuple[PlannedFollower, ...]:
    return tuple(
        PlannedFollower(
            follower.broker_id,
            follower.truncate_to,
            None if follower.lost is None else OffsetRange(follower.lost.start, follower.lost.end),
            follows=gets_records(follower),
            log_end_offset=follower.log_end_offset_before,
        )
        for follower in plan.followers
        if follower.broker_id is not None
    )
