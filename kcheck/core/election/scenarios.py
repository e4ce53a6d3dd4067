"""Compares courses of a cluster by their cost (start all, best leaders, unclean elections on, each broker first)."""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from functools import reduce
from math import inf
from operator import sub
from typing import NamedTuple

from kcheck.core.election.early_elections import First, Means, first_leaders, kept_out
from kcheck.core.election.election import BrokerStart, first_leader
from kcheck.core.election.plans import PartitionElection
from kcheck.core.replication.leader_costs import NOT_KNOWN, UNKNOWN, Amounts
from kcheck.core.sums import plus

START_ALL = "start-all"
"""The scenario in which every broker here starts without other steps, with the most that this can lose."""
_UNCLEAN = "kafka-unclean"
OF_METADATA = (START_ALL, "plan", _UNCLEAN)
"""The scenarios that depend on the metadata, which a rescue changes. The others are about the logs."""
_OUTSIDER = BrokerStart(-1, clean=True)
"""A broker without a replica of the partition."""


class Scenario(NamedTuple):
    """The cost of one course for all partitions."""

    name: str
    """Its name in answers."""
    lost: Amounts
    """The loss; a count is None if it is not known."""
    offline_partitions: int | None
    """Partitions without a leader afterwards, at most; None if that is not known."""
    may_be_led: bool = False
    """True if a race decides whether some of these get a leader."""

    @property
    def keeps_all(self) -> bool:
        """True if no committed record is lost, and every partition has a leader. False if that is not known."""
        return (self.lost.committed, self.offline_partitions) == (0, 0)


def not_known(rows: Iterable[Scenario], names: Container[str] | None = None) -> tuple[Scenario, ...]:
    """Return courses without the costs; with names, those courses alone."""
    return tuple(
        row._replace(lost=NOT_KNOWN, offline_partitions=None, may_be_led=False)
        if names is None or row.name in names
        else row
        for row in rows
    )


_Sums = tuple[int, ...]
"""Sums over partitions: records, committed records and bytes lost, then upper bounds of the first two.

Then follow, for each of these, the number of partitions with an unknown count, and the partitions without a leader.
"""
_COUNTS = 5
_BOUNDS = 2
_NOTHING: _Sums = (0,) * (2 * _COUNTS + 1)
_OFFLINE: _Sums = (*_NOTHING[1:], 1)


def _under(partition: PartitionElection, leader: int | None) -> _Sums:
    """Return the loss of one partition under a leader; not known if a replica is neither here nor given up."""
    if leader is None:
        return _OFFLINE
    if partition.unknown_replicas and partition.best is None:
        return _of_lost(NOT_KNOWN)
    candidate = next(row for row in partition.candidates if row.broker_id == leader and row.can_lead)
    return _of_lost(candidate.lost_in_the_end)


def _of_lost(lost: Amounts | None) -> _Sums:
    lost = lost or NOT_KNOWN
    counts = (lost.records, lost.committed, lost.bytes, lost.upper_records, lost.upper_committed)
    return (*(count or 0 for count in counts), *(count is None for count in counts), 0)


def _scenario(name: str, sums: _Sums) -> Scenario:
    pairs = zip(sums[:_COUNTS], sums[_COUNTS:-1], strict=True)
    records, committed, size, at_most, committed_at_most = (None if unknown else count for count, unknown in pairs)
    lost = Amounts(
        records, committed, size,
        at_most=at_most if records is None else None,
        committed_at_most=committed_at_most if committed is None else None,
    )  # fmt: skip
    return Scenario(name, lost, sums[-1])


class _SamePlaces:
    """Partitions with the same places that the same brokers can lead. They have the same first leader."""

    def __init__(self, partition: PartitionElection) -> None:
        self.seats, self.rules, self.leaders = partition.seats, partition.rules, tuple(partition.leaders)
        self.race, self.unclean = partition.race, partition.kafka_unclean
        self.sums: dict[int | None, _Sums] = dict.fromkeys((None, *self.leaders), _NOTHING)
        """The loss of all partitions under each leader."""

    def add(self, partition: PartitionElection) -> None:
        for leader, sums in self.sums.items():
            self.sums[leader] = plus(sums, _under(partition, leader))

    @property
    def brokers(self) -> set[int]:
        """Those whose start changes something."""
        return {*self.leaders, *(() if self.seats is None else self.seats.members)}

    @property
    def count(self) -> int:
        """The number of partitions."""
        return self.sums[None][-1]

    def after(self, order: Sequence[BrokerStart]) -> _Sums:
        """Return the losses under the first leader by the rules; without metadata under the first that is there."""
        if self.seats is None:
            return self.sums[next((start.broker_id for start in order if start.broker_id in self.leaders), None)]
        elected = first_leader(self.seats, order, self.leaders, self.rules)
        return self.sums[None if elected is None else elected.broker_id]

    def of_race(self, *, unclean: bool) -> _Sums:
        """Return the most that is lost if all start together; with `unclean`, unclean elections are on afterwards."""
        instead = self.unclean if unclean else None
        return _worst(self.sums[instead if leader is None else leader] for leader in self.race)


def _worst(rows: Iterable[_Sums]) -> _Sums:
    """Return the maximum of each count. A count that differs is unknown, and has a bound."""
    columns = [*zip(*rows, strict=True)]
    most = [*map(max, columns)]
    for at in range(_COUNTS - _BOUNDS):
        most[_COUNTS + at] += min(columns[at]) != most[at]
    return tuple(most)


def lost_by_all(partition: PartitionElection) -> Amounts:
    """Return the most that a partition loses if all brokers start together, under the worst possible first leader."""
    return _scenario(START_ALL, _worst(_under(partition, leader) for leader in partition.race)).lost


def badness(rows: Iterable[Scenario], *, is_safe: bool) -> tuple[float, ...]:
    """Return the loss of starting everything, then of the plan, as a sort key with the worst election last."""
    by_name = {row.name: row for row in rows}
    return not is_safe, *(cost for name in (START_ALL, "plan") for cost in costs(by_name[name]))


def costs(scenario: Scenario) -> tuple[float, ...]:
    """Return the committed records, the partitions without leader and the records lost; infinite if not known."""
    counts = (scenario.lost.upper_committed, scenario.offline_partitions, scenario.lost.upper_records)
    return tuple(inf if count is None else count for count in counts)


def harm(partition: PartitionElection) -> tuple[object, ...]:
    """Return the sort key of partitions, the worst first.

    Partitions without a recommended leader come first. The most that is lost if all brokers start without other steps
    decides next. Then the loss of the best leader decides.
    """
    best, now = partition.recommended, partition.now
    lost = Amounts() if best is None or best.lost is None else best.lost
    in_the_end = lost_by_all(partition) if partition.race else Amounts()
    worst = max((candidate.lost.upper_records or 0 for candidate in partition.candidates if candidate.lost), default=0)
    return (
        best is not None,
        partition.seats is None or now is not None,
        *(
            -_most(count)
            for amounts in (in_the_end, lost)
            for count in (amounts.upper_committed, amounts.upper_records)
        ),
        -worst,
        partition.topic,
        partition.partition,
    )


def _most(count: int | None) -> int:
    return UNKNOWN if count is None else count


def in_doubt(partitions: Iterable[PartitionElection]) -> tuple[PartitionElection, ...]:
    """Return the partitions with the losing replicas of `race_unseen` in their race, if nothing else is lost."""
    rows = tuple(partitions)
    if any(not row.race or None in row.race or lost_by_all(row).records != 0 for row in rows):
        return tuple(row._replace(race_unseen=frozenset()) for row in rows)
    return tuple(
        _doubted(row, {number for number in row.race_unseen if row.leaders[number].lost_in_the_end != Amounts()})
        for row in rows
    )


def _doubted(row: PartitionElection, leaders: Collection[int]) -> PartitionElection:
    return row._replace(race=row.race.union(leaders), race_unseen=frozenset(leaders))


def _places(partitions: Iterable[PartitionElection]) -> list[_SamePlaces]:
    known: dict[object, _SamePlaces] = {}
    for partition in partitions:
        key = (partition.seats, partition.rules, partition.race, *partition.leaders)
        if key not in known:
            known[key] = _SamePlaces(partition)
        known[key].add(partition)
    return [*known.values()]


def scenarios(
    partitions: Sequence[PartitionElection], starts: Mapping[int, BrokerStart], order: Sequence[int]
) -> tuple[Scenario, ...]:
    """Return the courses to compare (start all, with the plan, best, unclean elections on now, each broker first).

    The partitions are `planned`. Each course counts the loss when nothing changes any more. The best leaders count as
    if they continued to lead.
    """
    places = _places(partitions)
    if any(place.seats is None for place in places):
        start_all, unclean = (Scenario(name, NOT_KNOWN, None) for name in (START_ALL, _UNCLEAN))
    else:
        start_all, unclean = (
            _scenario(name, reduce(plus, (place.of_race(unclean=is_on) for place in places), _NOTHING))
            for name, is_on in ((START_ALL, False), (_UNCLEAN, True))
        )
        unled = sum(place.count for place in places if place.race == {None})
        start_all = start_all._replace(may_be_led=start_all.offline_partitions != unled)
    best = _scenario("best", reduce(plus, map(_best, partitions), _NOTHING))
    return (start_all, with_plan(partitions), best, unclean, *_each_first(places, starts, order))


def _best(partition: PartitionElection) -> _Sums:
    best = partition.recommended
    if best is None:  # Without a leader it is offline. With some, nobody knows what the best of them loses.
        return _of_lost(NOT_KNOWN) if partition.leaders else _OFFLINE
    return _of_lost(best.lost)


def planned(
    partitions: Iterable[PartitionElection],
    starts: Mapping[int, BrokerStart],
    order: Sequence[int],
    means: Means,
) -> tuple[PartitionElection, ...]:
    """Return the partitions with the leaders of the recommended steps, and the loss when nothing changes any more.

    The steps are the start order, elections between the starts, and copies moved aside before a broker starts. Without
    a recommended leader the order decides. If unseen settings turn on unclean elections, the loss is a bound.
    """
    rows = tuple(partitions)
    known = tuple(_planned(row, first) for row, first in first_leaders(rows, order, starts, means))
    is_green = all(row.lost_planned is not None and row.lost_planned.records == 0 for row in known)
    if not is_green or not any(row.rules.unclean_unseen for row in rows):
        return known
    unclean = (
        row._replace(rules=row.rules._replace(unclean=True)) if row.rules.unclean_unseen else row for row in rows
    )
    others = (_planned(row, first) for row, first in first_leaders(unclean, order, starts, means))
    return tuple(_perhaps(row, other) for row, other in zip(known, others, strict=True))


def _perhaps(row: PartitionElection, other: PartitionElection) -> PartitionElection:
    """Return a partition that loses nothing, with its loss under unclean elections as a bound."""
    lost = other.lost_planned
    if lost is None or lost.records == 0 or other.planned not in row.race_unseen:
        return row
    bound = Amounts(None, None, None, at_most=lost.upper_records, committed_at_most=lost.upper_committed)
    return row._replace(lost_planned=bound)


def _planned(row: PartitionElection, first: First | None) -> PartitionElection:
    leader = row.best
    if first is not None:
        leader = first.leader if row.best is None else first.led_by
    if leader is None:
        return row
    row, candidate = row._replace(planned=leader), row.leaders[leader]
    stays = any(kept_out([row]))
    return row._replace(lost_planned=candidate.lost if stays else candidate.lost_in_the_end)


def with_plan(partitions: Iterable[PartitionElection]) -> Scenario:
    """Return the loss of the recommended steps; the partitions are `planned`."""
    sums = _NOTHING
    for row in partitions:
        if row.seats is None:
            return Scenario("plan", NOT_KNOWN, None)
        sums = plus(sums, _OFFLINE if row.planned is None else _of_lost(row.lost_planned))
    return _scenario("plan", sums)


def _each_first(
    places: Iterable[_SamePlaces], starts: Mapping[int, BrokerStart], order: Sequence[int]
) -> Iterable[Scenario]:
    """Yield the cost if each broker starts first and leads all it can; the others follow in the order.

    For partitions where the broker has no place, any broker without a place is the same.
    """
    usual = [starts[number] for number in order]
    more, everywhere = dict.fromkeys(sorted(starts), _NOTHING), _NOTHING
    for place in places:
        base = place.after((_OUTSIDER, *usual))
        everywhere = plus(everywhere, base)
        for first in place.brokers & starts.keys():
            others = (start for start in usual if start.broker_id != first)
            own = place.sums[first] if first in place.leaders else place.after((starts[first], *others))
            more[first] = plus(more[first], map(sub, own, base))
    return (_scenario(f"broker-{first}-first", plus(everywhere, sums)) for first, sums in more.items())
