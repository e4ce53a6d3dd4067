"""Scenarios of many partitions are the sums of what each of them costs, in every order of starts."""

from collections.abc import Sequence
from random import Random

import pytest

from kcheck.core.election.election import BrokerStart, ElectionRules, Seats, after_fencing, elect, registered
from kcheck.core.election.plans import PartitionElection, decided
from kcheck.core.election.scenarios import Scenario, scenarios
from kcheck.core.replication.leader_costs import Amounts, total
from tests.core.election.test_plans import candidate

BROKERS = range(1, 7)


def made(chance: Random, starts: dict[int, BrokerStart]) -> PartitionElection:
    """Return a partition of some of the brokers, in some state."""
    replicas = tuple(chance.sample(BROKERS, chance.randint(1, 4)))
    isr = tuple(number for number in replicas if chance.random() < 0.4)
    elr = tuple(number for number in replicas if number not in isr and chance.random() < 0.3)
    rules = ElectionRules(
        kraft=chance.random() < 0.8,
        eligible_leader_replicas=chance.random() < 0.5,
        min_isr=chance.randint(1, 2),
        unclean=chance.random() < 0.3,
        unfenced=tuple(chance.sample(BROKERS, chance.choice((0, 0, 3)))),
    )
    seats = Seats(replicas, isr, elr, last_known=replicas[:1] if not isr else (), leader=replicas[0])
    rows = [
        candidate(
            number,
            chance.choice((None, Amounts(0, 0, 0), Amounts(5, 2, 50), Amounts(3, None, 30))),
            problem=chance.choice((None, None, "it is offline")),
        )
        for number in replicas
        if number in starts
    ]
    partition = PartitionElection("t", 0, None, None, tuple(rows), seats=seats, rules=rules)
    return decided(partition._replace(seats=chance.choice((None, *[seats] * 9))), starts, complete=True)


def leader_in_turn(partition: PartitionElection, order: Sequence[BrokerStart]) -> int | None:
    """Return the first leader: every broker registers, whether it has a place or not."""
    seats, rules, leaders, present = partition.seats, partition.rules, partition.leaders, set[int]()
    if seats is None:
        return next((start.broker_id for start in order if start.broker_id in leaders), None)
    for start in order:
        seats = registered(seats, start, rules)
        others = tuple(number for number in rules.unfenced if number != start.broker_id)
        if not present and others:
            seats = after_fencing(seats, others, rules)
        present.add(start.broker_id)
        elected = elect(seats, present & leaders.keys(), rules)
        if elected is not None:
            return elected.broker_id
    return None


def summed(name: str, partitions: list[PartitionElection], leaders: list[int | None]) -> Scenario:
    """Return the sum over the partitions."""
    pairs = [*zip(partitions, leaders, strict=True)]
    lost = total(row.leaders[leader].lost for row, leader in pairs if leader is not None)
    return Scenario(name, lost, leaders.count(None))


@pytest.mark.parametrize("seed", range(60))
def test_scenarios_are_sums(seed: int) -> None:
    """Also where the first broker of all has no place, and fences those that have one."""
    chance = Random(seed)
    numbers = sorted(chance.sample(BROKERS, 5))
    starts = {number: BrokerStart(number, clean=chance.random() < 0.5) for number in numbers}
    partitions = [made(chance, starts) for _ in range(12)]
    order = chance.sample(numbers, len(numbers))
    in_turn = [starts[number] for number in order]
    found = {row.name: row for row in scenarios(partitions, starts, order)}
    for first in numbers:
        brokers = (starts[first], *(start for start in in_turn if start.broker_id != first))
        leaders = [first if first in row.leaders else leader_in_turn(row, brokers) for row in partitions]
        name = f"broker-{first}-first"
        assert found[name] == summed(name, partitions, leaders)
    assert found["best"] == summed("best", partitions, [row.best for row in partitions])


@pytest.mark.parametrize(
    ("committed", "offline", "keeps"), [(0, 0, True), (None, 0, False), (0, None, False), (1, 0, False), (0, 1, False)]
)
def test_an_unknown_loss_is_not_safe(committed: int | None, offline: int | None, keeps: bool) -> None:
    assert keeps is Scenario("start-all", Amounts(5, committed, 50), offline).keeps_all
