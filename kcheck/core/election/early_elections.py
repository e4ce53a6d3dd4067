"""What to do while the brokers start, before the controller elects a replica that costs more.

A replica in sync is elected as soon as its broker starts, however short its log is. As long as that broker is down, the
tool elects one of those that run (LeaderElectionCommand 2.4.0 to 4.3.1).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kcheck.core.election.election import BrokerStart, Seats, first_leader, leader_of_all
from kcheck.core.election.plans import PartitionElection, cost
from kcheck.model.release import Release

_LOSSES = 2
"""How many of a candidate's costs are records: committed ones, and all of them."""


class Displaced(NamedTuple):
    """A partition in which the starts make another broker lead than the one that costs least."""

    partition: PartitionElection
    """The partition."""
    leader: int
    """The broker that the controller elects."""
    before: int | None
    """The broker before whose start an unclean election makes the best one lead; None if no such election does."""


def displaced(
    partitions: Iterable[PartitionElection],
    order: Sequence[int],
    starts: Mapping[int, BrokerStart],
    release: Release,
    *,
    at_once: int = 1,
) -> Iterator[Displaced]:
    """Yield where the brokers, started in this order, make another one lead than the best one, and more is lost.

    Nobody elects between the first `at_once` starts. Partitions of the same places are decided once.
    """
    brokers = [starts[number] for number in order if number in starts]
    decided: dict[object, tuple[int | None, int | None]] = {}
    for partition in partitions:
        best, leaders = partition.recommended, partition.leaders
        if partition.seats is None or best is None or partition.needs_unclean:
            continue
        key = (partition.seats, partition.rules, partition.best, *leaders)
        if key not in decided:
            tool_from = at_once if release.has_leader_election_tool else len(brokers)
            decided[key] = _decided(partition.seats, partition, brokers, tool_from=tool_from)
        leader, before = decided[key]
        if leader is not None and cost(best)[:_LOSSES] < cost(leaders[leader])[:_LOSSES]:
            yield Displaced(partition, leader, before)


def _decided(
    seats: Seats, partition: PartitionElection, brokers: Sequence[BrokerStart], *, tool_from: int
) -> tuple[int | None, int | None]:
    """Return the first leader, and the first broker before whose start the tool elects the best one.

    The tool can be asked once `tool_from` brokers have started.
    """
    unclean, before, members = partition.rules._replace(unclean=True), None, seats.members
    for count in range(1, len(brokers) + 1):
        started = brokers[:count]
        if count > 1 and started[-1].broker_id not in members:
            continue
        elected = first_leader(seats, started, partition.leaders, partition.rules)
        if elected is not None:
            return elected.broker_id, before
        chosen = leader_of_all(seats, started, partition.leaders, unclean)
        is_time = before is None and tool_from <= count < len(brokers)
        if is_time and chosen and chosen.broker_id == partition.best:
            before = brokers[count].broker_id
    return None, None


class KeptOut(NamedTuple):
    """A replica that would get the lead back, as preferred, with a log that costs more than the best one."""

    partition: PartitionElection
    """The partition."""
    broker_id: int
    """Its broker."""


def kept_out(partitions: Iterable[PartitionElection]) -> Iterator[KeptOut]:
    """Yield the replicas to move aside before their broker starts: it then fetches all from the best leader."""
    for partition in partitions:
        best = partition.recommended
        if best is not None and best.later is not None and best.lost_later is not None:
            later = best._replace(lost=best.lost_later)
            if cost(best)[:_LOSSES] < cost(later)[:_LOSSES]:
                yield KeptOut(partition, best.later.broker_id)


def by_broker(rows: Iterable[Displaced]) -> dict[int, list[Displaced]]:
    """Return the partitions to elect while the brokers start, by the broker that has to wait for that."""
    early: dict[int, list[Displaced]] = {}
    for row in rows:
        if row.before is not None:
            early.setdefault(row.before, []).append(row)
    return early
