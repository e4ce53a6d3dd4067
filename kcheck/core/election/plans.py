"""The costs of the elections of a partition, with each candidate and the replica that Kafka elects."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from operator import itemgetter
from typing import NamedTuple

from kcheck.core.election.course import LaterLeader
from kcheck.core.election.election import (
    BrokerStart,
    Elected,
    ElectionRules,
    Seats,
    election_seat,
    leader_of_all,
    leaders_of_all,
)
from kcheck.core.election.start_order import Costs
from kcheck.core.replication.leader_costs import Amounts, LeaderCost, leader_cost
from kcheck.core.replication.truncation_plans import OffsetRange, Refetched, TruncationPlan
from kcheck.model.cluster import ElectionKind, PartitionRegistration, Seat
from kcheck.model.entries import Offset
from kcheck.model.loss import BatchIdentity
from kcheck.words import partition_name


class CopyState(StrEnum):
    """The role of a directory for its partition. Answers use the value."""

    CURRENT = "current"
    """The replica of its broker."""
    MISSING = "missing"
    """The broker has no directory for its replica, so it starts an empty log."""
    STRAY = "stray"
    """A broker has renamed the directory to -stray. No broker serves it; an operator can bring it back."""
    FUTURE = "future"
    """A replica that is being moved to another log dir."""
    DELETED = "deleted"
    """A directory that the broker deletes after its next start."""
    ASIDE = "aside"
    """A directory that was moved aside. It is in no log dir, or a broker does not load its name."""


SERVED = (CopyState.CURRENT, CopyState.MISSING)
"""The directories that a broker serves after its next start."""


class CutTransactions(NamedTuple):
    """The effect of a candidate's elections on transactions of the replicas that follow it."""

    committed: int
    """Committed transactions that lose records."""
    markers: int
    """Transactions that lose only their marker. Consumers with read_committed stop before them."""


class Candidate(NamedTuple):
    """A copy of a partition that could lead it."""

    broker_id: int
    """Its broker."""
    state: CopyState
    """The role of its directory for the partition."""
    dir: str | None
    """Its directory; None without one."""
    seat: Seat | None
    """The place by which the controller can elect it, if it starts first; None without metadata."""
    problem: str | None
    """The reason why it cannot lead; None if it can."""
    log_end_offset: Offset | None
    """Its log end offset after the broker has started; None if not found."""
    log_start_offset: Offset | None
    """Its log start offset after the broker has started; None if not found."""
    lost: Amounts | None
    """The records that no other replica here has once it leads; None if it cannot lead."""
    refetch: Refetched | None
    """The records that the others fetch from it; None if it cannot lead."""
    open_transactions: int | None = None
    """Transactions that are open at its log end; None if that is not known."""
    cut_transactions: CutTransactions | None = None
    """The transactions that its followers lose; None if nothing is truncated, or if that is not known."""
    groups_beyond: int | None = None
    """Consumer groups that have committed an offset beyond its log end; None if there are no offsets."""
    only_here: Amounts | None = None
    """The records of an unserved copy that no loading replica has. None for a replica, or if not known."""
    covers: bool = False
    """True for an unserved copy with every record of every replica here, and more."""
    shared: tuple[BatchIdentity, ...] = ()
    """The batches that every replica of its log has."""
    loses_no_more_than: tuple[int, ...] = ()
    """The other candidates that have no record which this candidate lacks. It costs at most as much as they do."""
    strangers: int = 0
    """Number of replicas that do not follow it."""
    plan: TruncationPlan | None = None
    """The truncation of each follower; None if it cannot lead."""
    later: LaterLeader | None = None
    """The final leader, if this one leads first; None for itself."""
    lost_later: Amounts | None = None
    """The records that no replica here has then; None for the same as `lost`."""
    lacking: tuple[int, ...] = ()
    """The followers that lack records of this log in the end, because of removed records or unnoticed differences."""
    holes: tuple[OffsetRange, ...] = ()
    """The offsets of segments that its log lacks between others."""
    in_new_log_dir: bool = False
    """True if its broker no longer has the log dir of its registration. The controller elects this candidate only if
    the broker reports the new log dir in time (LeaderAcceptor 3.7 to 4.3.1)."""

    @property
    def clean(self) -> bool | None:
        """True if the controller can elect it cleanly, if it starts first; None without metadata."""
        return None if self.seat is None else self.seat.kind is ElectionKind.CLEAN

    @property
    def lost_in_the_end(self) -> Amounts | None:
        """The final loss if it leads first; None if it cannot lead."""
        return self.lost if self.lost_later is None else self.lost_later

    @property
    def can_lead(self) -> bool:
        """True if its broker serves it after the next start."""
        return self.problem is None and self.state in SERVED


class PartitionElection(NamedTuple):
    """The candidates of one partition, and the leader that Kafka elects."""

    topic: str
    partition: int
    registration: PartitionRegistration | None
    """Its registration in the metadata; None without metadata."""
    high_watermark: Offset | None
    """The highest that a replica here has checkpointed."""
    candidates: tuple[Candidate, ...]
    """The replicas in the order of the assignment, then copies that no broker serves."""
    kafka_clean: int | None = None
    """The broker that the controller elects if all brokers here start together and unclean elections are off.

    None if no broker is elected, or if that is not known. The last known leader counts (4.0 and later), as no
    configuration keeps it away.
    """
    kafka_unclean: int | None = None
    """Whom it elects if unclean elections are on."""
    kafka_now: int | None = None
    """Whom it elects by the configuration that the metadata has."""
    seat_now: Seat | None = None
    """By which place it elects that one; None for no leader, or if that is not known."""
    race: frozenset[int | None] = frozenset()
    """Every broker that can lead first then; None means no leader. The registration is a race. Empty if not known."""
    race_unseen: frozenset[int] = frozenset()
    """The replicas out of sync that can lead first if unseen settings of controllers turn on unclean elections.

    If nothing else is lost, the replicas that lose something are in `race` (`in_doubt`).
    """
    planned: int | None = None
    """Whom the recommended steps make its leader; None for no leader."""
    lost_planned: Amounts | None = None
    """The records that no replica here has in the end; None without a leader, or if that is not known."""
    best: int | None = None
    """The candidate that costs least; None if none can lead, or if the picture has a gap."""
    unknown_replicas: tuple[int, ...] = ()
    """Brokers of the assignment whose log dir of the partition is neither here nor given up."""
    awaited: tuple[int, ...] = ()
    """Brokers of the assignment that are here and do not start, or that lack a log dir. Their logs may show later."""
    seats: Seats | None = None
    """Its places after every broker has stopped; None without metadata."""
    rules: ElectionRules = ElectionRules(kraft=True)
    """The rules of its elections."""
    groups: tuple[tuple[str, Offset], ...] | None = ()
    """The consumer groups and their committed offsets beyond the log end of a candidate; None if no offsets are given.
    """

    @property
    def name(self) -> str:
        """Its name, `orders-0`."""
        return partition_name(self.topic, self.partition)

    @property
    def is_of_cluster(self) -> bool:
        """True if the cluster has the partition, as far as is known. It then has a replica, not only leftovers."""
        return self.registration is not None or any(candidate.state in SERVED for candidate in self.candidates)

    @property
    def has_unloaded(self) -> bool:
        """True if a replica here does not load. No comparison has its records."""
        return any(row.problem is not None and row.state is CopyState.CURRENT for row in self.candidates)

    @property
    def leaders(self) -> dict[int, Candidate]:
        """The candidates that can lead, by broker."""
        return {candidate.broker_id: candidate for candidate in self.candidates if candidate.can_lead}

    @property
    def recommended(self) -> Candidate | None:
        """The best candidate."""
        return None if self.best is None else self.leaders.get(self.best)

    @property
    def now(self) -> Candidate | None:
        """The candidate that Kafka elects if everything here starts together."""
        return None if self.kafka_now is None else self.leaders.get(self.kafka_now)

    @property
    def starts_empty(self) -> bool:
        """True if no served log dir here has the log of the partition, although every replica is here."""
        served = [row for row in self.candidates if row.state in SERVED]
        return bool(served) and not self.unknown_replicas and all(row.state is CopyState.MISSING for row in served)

    @property
    def lost_in_sync(self) -> tuple[int, ...]:
        """The replicas in sync, if all of these lack a log here and another replica has one; else empty.

        Committed records may be missing on every other replica.
        """
        in_sync = () if self.registration is None else self.registration.isr or self.registration.elr
        states = {row.broker_id: row.state for row in self.candidates if row.state in SERVED}
        are_missing = all(states.get(number) is CopyState.MISSING for number in in_sync)
        return in_sync if are_missing and CopyState.CURRENT in states.values() else ()

    @property
    def is_in_doubt(self) -> bool:
        """True if it loses something only if settings that were not seen turn on unclean elections."""
        return bool(self.race_unseen) and self.race_unseen <= self.race

    @property
    def needs_unclean(self) -> bool:
        """True if the controller elects no leader here by itself although a replica could lead."""
        return self.seats is not None and self.kafka_now is None and bool(self.leaders)

    @property
    def may_stay_unled(self) -> bool:
        """True if the planned leader is in a new log dir, so that the partition may keep having no leader."""
        return None in self.race and self.planned == self.kafka_unclean and self.planned not in {None, *self.placed}

    @property
    def placed(self) -> frozenset[int]:
        """The brokers of the candidates that are not in a new log dir."""
        return frozenset(number for number, row in self.leaders.items() if not row.in_new_log_dir)


GIVEN_UP = "given up"
"""The reason why a broker that will not come back is missing."""


class BrokerGap(NamedTuple):
    """A broker with replicas that are not part of the picture."""

    broker_id: int
    """The broker."""
    replicas: int
    """Number of its replicas in the metadata."""
    why: str | None
    """The reason why they are missing; None if the broker is not here and not given up."""

    @property
    def is_given_up(self) -> bool:
        """True if the broker will not come back."""
        return self.why == GIVEN_UP

    @property
    def fails(self) -> bool:
        """True if the broker is here and does not start."""
        return self.why is not None and not self.is_given_up


def cost(candidate: Candidate) -> Costs:
    """Return the costs that the start order adds up (committed records, all records, bytes to fetch again)."""
    least = _leader_cost(candidate, 0)
    return least.committed, least.records, least.bytes


def record_costs(candidate: Candidate) -> Costs:
    """Return the costs of a leader in records (committed ones, and all)."""
    return cost(candidate)[:2]


def _leader_cost(candidate: Candidate, place: int) -> LeaderCost:
    refetched = None if candidate.refetch is None else candidate.refetch.bytes
    return leader_cost(
        candidate.lost, refetched, strangers=candidate.strangers, clean=candidate.clean, place=place,
        broker_id=candidate.broker_id, unreadable=0 if candidate.plan is None else candidate.plan.remote_unreadable,
    )  # fmt: skip


def best_candidate(candidates: Iterable[Candidate]) -> Candidate | None:
    """Return the candidate that costs least, of those in the order of the assignment; None if none can lead."""
    able = ((_leader_cost(candidate, at), candidate) for at, candidate in enumerate(candidates) if candidate.can_lead)
    return min(able, key=itemgetter(0), default=(None, None))[1]


def decided(partition: PartitionElection, starts: Mapping[int, BrokerStart], *, complete: bool) -> PartitionElection:
    """Return the partition with the leaders that Kafka elects, and with the best candidate if all is known."""
    leaders = partition.leaders
    best = best_candidate(partition.candidates) if complete or not partition.unknown_replicas else None
    partition = partition._replace(best=None if best is None else best.broker_id)
    if partition.seats is None:
        return partition
    here = [starts[number] for number in partition.seats.replicas if number in starts]
    clean, unclean = (
        leader_of_all(partition.seats, here, leaders, partition.rules._replace(unclean=is_on))
        for is_on in (False, True)
    )
    now = unclean if partition.rules.unclean else clean
    race = leaders_of_all(partition.seats, starts, leaders, partition.rules)
    if not partition.rules.unclean and len(partition.placed) < len(leaders):
        race |= leaders_of_all(partition.seats, starts, partition.placed, partition.rules)
    partition = partition._replace(
        kafka_clean=_number(clean), kafka_unclean=_number(unclean), kafka_now=_number(now),
        seat_now=None if now is None else now.seat, race=race,
        race_unseen=_unseen(partition, starts),
    )  # fmt: skip
    # An unclean election gives up for good what an awaited log has. Elections by the controller cannot wait.
    waits = not complete and partition.awaited and partition.needs_unclean
    return partition._replace(best=None) if waits else partition


def _unseen(partition: PartitionElection, starts: Mapping[int, BrokerStart]) -> frozenset[int]:
    """Return the brokers that lead only if unseen settings allow it.

    A replica that was in sync has all committed records.
    """
    if partition.seats is None or not partition.rules.unclean_unseen:
        return frozenset()
    race = leaders_of_all(partition.seats, starts, partition.leaders, partition.rules._replace(unclean=True))
    known = frozenset() if partition.registration is None else partition.registration.in_sync
    return frozenset(number for number in race if number is not None) - known


def _number(elected: Elected | None) -> int | None:
    return None if elected is None else elected.broker_id


def is_at_stake(partition: PartitionElection) -> bool:
    """Return whether records can be lost, or no replica can lead."""
    losses = [candidate.lost for candidate in partition.candidates if candidate.lost is not None]
    return partition.best is None or any(lost.records != 0 for lost in losses)


def is_safe(partitions: Iterable[PartitionElection]) -> bool:
    """Return whether every partition has a recommended leader and loses no record by the steps (`planned`).

    A partition whose replicas in sync have all lost their log may lose any number.
    """
    losses = (None if row.best is None or row.lost_in_sync else row.lost_planned for row in partitions)
    return all(lost is not None and lost.records == 0 for lost in losses)


def only_aside(partitions: Iterable[PartitionElection]) -> tuple[tuple[PartitionElection, Candidate], ...]:
    """Return the copies that no broker serves, and that have records which no replica here has."""
    pairs = ((part, copy) for part in partitions for copy in part.candidates)
    return tuple((part, copy) for part, copy in pairs if copy.only_here and copy.only_here.records != 0)


def lean(partition: PartitionElection) -> PartitionElection:
    """Return the partition with only the fields that start order, scenarios, verdict and premises need.

    Partitions that are alike then have equal candidates. The longest logs end at 1, the others at 0.
    """
    longest = max((candidate.log_end_offset or 0 for candidate in partition.candidates), default=0)
    candidates = tuple(
        candidate._replace(
            dir=None, log_end_offset=_as_rank(candidate.log_end_offset, longest), log_start_offset=None, plan=None,
            loses_no_more_than=(), shared=(),
            problem=None if candidate.problem is None else "",
        )
        for candidate in partition.candidates
    )  # fmt: skip
    known = partition.registration
    return partition._replace(
        registration=None
        if known is None
        else PartitionRegistration(
            known.replicas, known.isr, known.leader, elr=known.elr, last_leader=known.last_leader
        ),
        high_watermark=None,
        candidates=candidates,
        groups=(),
    )


def _as_rank(end: Offset | None, longest: int) -> Offset | None:
    return None if end is None else Offset(1 if end == longest else 0)


def lost_ranges(partition: PartitionElection) -> dict[int, OffsetRange]:
    """Return by broker the widest range of offsets that its replica loses by the election of some candidate."""
    ranges: dict[int, OffsetRange] = {}
    for candidate in partition.candidates:
        for follower in () if candidate.plan is None or not candidate.can_lead else candidate.plan.followers:
            if follower.lost is not None and follower.broker_id is not None:
                start, end = ranges.get(follower.broker_id, follower.lost[:2])
                ranges[follower.broker_id] = OffsetRange(min(start, follower.lost.start), max(end, follower.lost.end))
    return dict(sorted(ranges.items()))


def seat_of(partition: PartitionElection, start: BrokerStart) -> Seat | None:
    """Return by which place the controller can elect a broker that starts alone; None without metadata."""
    return None if partition.seats is None else election_seat(start, partition.seats, partition.rules)
