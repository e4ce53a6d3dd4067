"""Plans steps while brokers start, before the controller elects a replica that costs more.

A replica in sync is elected as soon as its broker starts, however short its log is. While that broker is down, the tool
elects the first running replica of the assignment (LeaderElectionCommand 2.4.0 to 4.3.1). A stopped leader leads again
when it comes back, as no other replica is in sync.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kcheck.core.election.election import BrokerStart, first_leader, leader_by_tool, leaders_of_all
from kcheck.core.election.plans import PartitionElection, is_at_stake, record_costs
from kcheck.core.election.start_order import Costs
from kcheck.core.replication.leader_costs import NOT_KNOWN, Amounts, total
from kcheck.model.release import Release


class Means(NamedTuple):
    """The means of an operator while the brokers start."""

    has_tool: bool = True
    """True if the release has the tool that elects. The tool works once the first group of brokers has started."""
    may_stop: bool = False
    """True if brokers that run can be stopped, so that another one is alone when the tool elects."""
    at_once: int = 1
    """Number of brokers that come first, and together. The order of their registration is a race."""
    one_by_one: bool = False
    """True if each broker runs alone until the best leader of every partition is elected.

    A leader that runs alone makes no follower truncate. Once it stops, the tool elects another leader.
    """


class Displaced(NamedTuple):
    """A partition where the order of starts makes another broker lead than the cheapest one."""

    partition: PartitionElection
    """The partition."""
    leader: int
    """The broker that the controller elects."""
    before: int | None
    """The broker before whose start an unclean election makes another one lead; None if none that costs less can."""
    instead: int | None = None
    """Whom that election makes its leader."""
    alone: bool = False
    """True if all others have to be stopped then, because the tool would take one of them."""


def means_of(partitions: Iterable[PartitionElection], release: Release, *, at_once: int = 1) -> Means:
    """Return the means of an operator while brokers start, of which the first `at_once` come together.

    Controllers that are brokers too have to go on. Where the controller elects uncleanly by itself, it would, as soon
    as a leader is stopped.
    """
    if not release.has_leader_election_tool:
        return Means(has_tool=False, at_once=at_once)
    may_stop = at_once == 1 and not any(row.rules.unclean and is_at_stake(row) for row in partitions)
    return Means(may_stop=may_stop, at_once=at_once)


def displaced(
    partitions: Sequence[PartitionElection], order: Sequence[int], starts: Mapping[int, BrokerStart], means: Means
) -> Iterator[Displaced]:
    """Yield where the brokers, started in this order, make another one lead than the best one, and more is lost."""
    for partition, first in first_leaders(partitions, order, starts, means):
        best = partition.recommended
        if first is not None and best is not None:
            losses = losses_of(partition)
            if losses[best.broker_id] < losses[first.leader]:
                yield Displaced(partition, *first)


class First(NamedTuple):
    """The first leader of a partition, and what a person does so that another one leads; as in `Displaced`."""

    leader: int
    before: int | None = None
    instead: int | None = None
    alone: bool = False

    @property
    def led_by(self) -> int:
        """The leader after these steps."""
        return self.leader if self.instead is None else self.instead


def first_leaders(
    partitions: Iterable[PartitionElection], order: Sequence[int], starts: Mapping[int, BrokerStart], means: Means
) -> Iterator[tuple[PartitionElection, First | None]]:
    """Yield each partition with its first leader as brokers start in an order.

    The leader is None where the controller elects no leader by then. Partitions of equal places and losses are decided
    once.
    """
    brokers = [starts[number] for number in order if number in starts]
    decided: dict[object, First | None] = {}
    for partition in partitions:
        if partition.seats is None or partition.needs_unclean:
            yield partition, None
            continue
        key = (partition.seats, partition.rules, *losses_of(partition).items())
        if key not in decided:
            decided[key] = (_best_alone if means.one_by_one else first_of_course)(partition, brokers, means)
        yield partition, decided[key]


def means_for(
    partitions: Iterable[PartitionElection], order: Sequence[int], starts: Mapping[int, BrokerStart], means: Means
) -> Means:
    """Return the operator's means, with brokers one by one if a partition would otherwise get a poorer leader."""
    if not means.may_stop:
        return means
    for partition, first in first_leaders(partitions, order, starts, means):
        if first is not None and partition.best is not None:
            losses = losses_of(partition)
            if losses[partition.best] < losses[first.led_by]:
                return means._replace(one_by_one=True)
    return means


def losses_of(partition: PartitionElection) -> dict[int, Costs]:
    """Return how many records, the committed ones first, are lost under each leader."""
    return {number: record_costs(candidate) for number, candidate in partition.leaders.items()}


def first_of_course(partition: PartitionElection, brokers: Sequence[BrokerStart], means: Means) -> First | None:
    """Return the first leader as brokers start, and which election before keeps most; None if no leader is elected."""
    seats, leaders, losses = partition.seats, partition.leaders, losses_of(partition)
    assert seats is not None
    members = seats.members
    options: list[tuple[Costs, bool, int, int]] = []
    for count in range(min(means.at_once, len(brokers)) or 1, len(brokers) + 1):
        started, last = brokers[:count], brokers[count - 1].broker_id
        if count > means.at_once and last not in members:
            continue
        elected = _elected(partition, started, means)
        if elected is not None:
            lost, alone, at, instead = min(options, default=(losses[elected], False, count, last))
            saves = lost < losses[elected]
            how = (brokers[at].broker_id, instead, alone) if saves else ()
            return First(elected, *how)
        if means.has_tool:
            chosen = leader_by_tool(seats, started, leaders, partition.rules)
            if chosen is not None:
                options.append((losses[chosen.broker_id], False, count, chosen.broker_id))
            if means.may_stop and last in leaders:
                options.append((losses[last], count > 1, count, last))
    return None


def _best_alone(partition: PartitionElection, brokers: Sequence[BrokerStart], _: Means) -> First | None:
    """Return the first leader as brokers run one by one, and the election of the best leader.

    The best leader is elected alone, before the broker that follows it in the order starts again.
    """
    seats, losses = partition.seats, losses_of(partition)
    assert seats is not None
    elected = first_leader(seats, brokers, partition.leaders, partition.rules)
    if elected is None:
        return None
    numbers = [start.broker_id for start in brokers]
    best = min((number for number in numbers if number in losses), key=losses.__getitem__)
    if losses[best] == losses[elected.broker_id]:
        return First(elected.broker_id)
    return First(elected.broker_id, numbers[(numbers.index(best) + 1) % len(numbers)], best, alone=True)


def _elected(partition: PartitionElection, started: Sequence[BrokerStart], means: Means) -> int | None:
    """Return the broker that the controller elects; None without any.

    If several brokers can be first, return the broker that loses most.
    """
    seats, leaders, rules = partition.seats, partition.leaders, partition.rules
    assert seats is not None
    if means.at_once == 1 or len(started) > means.at_once:
        elected = first_leader(seats, started, leaders, rules)
        return None if elected is None else elected.broker_id
    losses = losses_of(partition)
    race = leaders_of_all(seats, {start.broker_id: start for start in started}, leaders, rules)
    return max(
        (number for number in race if number is not None), key=lambda number: (losses[number], -number), default=None
    )


class KeptOut(NamedTuple):
    """A replica that lacks records of the planned leader in the end. These records are lost once it leads."""

    partition: PartitionElection
    """The partition."""
    broker_id: int
    """Its broker."""


def kept_out(partitions: Iterable[PartitionElection]) -> Iterator[KeptOut]:
    """Yield the replicas to move aside before their broker starts, as they then fetch all from the planned leader."""
    for partition in partitions:
        leader = partition.recommended if partition.planned is None else partition.leaders[partition.planned]
        numbers = set() if leader is None else {*leader.lacking}
        if leader is not None and leader.later is not None and leader.lost_later is not None:
            later = leader._replace(lost=leader.lost_later)
            if record_costs(leader) < record_costs(later):
                numbers.add(leader.later.broker_id)
        yield from (KeptOut(partition, number) for number in sorted(numbers))


def by_broker(rows: Iterable[Displaced]) -> dict[int, list[Displaced]]:
    """Return the partitions to elect while the brokers start, by the broker that has to wait for that."""
    early: dict[int, list[Displaced]] = {}
    for row in rows:
        if row.before is not None:
            early.setdefault(row.before, []).append(row)
    return early


def saved_by(rows: Collection[Displaced]) -> Amounts:
    """Return how many records the elections of these partitions save; not known where a loss is not."""
    worse = total(row.partition.leaders[row.leader].lost for row in rows)
    better = total(row.partition.leaders[row.instead].lost for row in rows if row.instead is not None)
    if worse.records is not None and better.records is not None:
        return NOT_KNOWN._replace(records=worse.records - better.records)
    if worse.upper_records is None:
        return NOT_KNOWN
    return NOT_KNOWN._replace(at_most=worse.upper_records - (better.records or 0))
