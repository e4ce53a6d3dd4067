"""Which partitions to elect before a replica in sync takes the lead with a poorer log."""

import pytest

from kcheck.core.election.early_elections import Displaced, by_broker, displaced
from kcheck.core.election.election import BrokerStart, Seats
from kcheck.core.election.plans import PartitionElection
from kcheck.core.releases.releases import release
from kcheck.core.replication.leader_costs import Amounts
from tests.core.election.test_plans import STARTS, candidate, election

POOR = Amounts(5, 3, 50)


def contested(*, isr: tuple[int, ...] = (3,), replicas: tuple[int, ...] = (1, 2, 3)) -> PartitionElection:
    """Return a partition whose replica in sync loses records, and broker 1 none."""
    row = election(candidate(1), candidate(2, Amounts(1, 0, 10)), candidate(3, POOR), isr=isr)
    return row._replace(seats=Seats(replicas, isr), kafka_now=isr[0], best=1)


@pytest.mark.parametrize(
    ("order", "replicas", "before"),
    [
        ((1, 2, 3), (1, 2, 3), 2),  # Broker 1 is alone then.
        ((2, 1, 3), (1, 2, 3), 3),
        ((2, 1, 3), (2, 1, 3), None),  # The tool would elect broker 2, the first of the assignment.
        ((3, 1, 2), (1, 2, 3), None),  # Broker 3 leads at once.
        ((2, 3, 1), (1, 2, 3), None),
        ((1, 4, 2, 3), (1, 2, 3), 4),  # Broker 4 has no replica: its start changes nothing.
        ((2, 4, 1, 3), (1, 2, 3), 3),
    ],
)
def test_before_whose_start_the_tool_elects(
    order: tuple[int, ...], replicas: tuple[int, ...], before: int | None
) -> None:
    """The first start before which the best broker runs, and the tool takes it."""
    row, starts = contested(replicas=replicas), {**STARTS, 4: BrokerStart(4, clean=True)}
    assert [*displaced([row, row._replace(partition=1)], order, starts, release("4.3"))] == [
        Displaced(row, 3, before), Displaced(row._replace(partition=1), 3, before),
    ]  # fmt: skip
    assert [*displaced([row], order, starts, release("2.3"))] == [Displaced(row, 3, None)]


def test_nobody_elects_between_starts_at_once() -> None:
    """The tool is asked before the first start that comes alone."""
    row = contested()
    assert [*displaced([row], (2, 1, 3), STARTS, release("4.3"), at_once=2)] == [Displaced(row, 3, 3)]
    assert [*displaced([row], (1, 2, 3), STARTS, release("4.3"), at_once=3)] == [Displaced(row, 3, None)]


def test_where_nothing_is_saved() -> None:
    """Another leader that loses as much, nobody at all, or the best one itself."""
    equal = contested()
    equal = equal._replace(candidates=(candidate(1, POOR), *equal.candidates[1:]))
    rows = [equal, contested()._replace(best=3), contested()._replace(best=None), contested(isr=(9,))]
    assert [*displaced(rows, (1, 2, 3), STARTS, release("4.3"))] == []


def test_partitions_are_kept_by_the_broker_that_waits() -> None:
    rows = [contested(), contested()._replace(partition=1)]
    by_nobody = Displaced(contested()._replace(partition=2), 3, None)
    found = by_broker([*displaced(rows, (1, 2, 3), STARTS, release("4.3")), by_nobody])
    assert {number: [row.partition.partition for row in waits] for number, waits in found.items()} == {2: [0, 1]}
