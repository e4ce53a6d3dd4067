"""Which partitions to elect before a replica in sync takes the lead with a poorer log."""

import pytest

from kcheck.core.election.course import Later, LaterLeader
from kcheck.core.election.early_elections import (
    Displaced,
    KeptOut,
    Means,
    by_broker,
    displaced,
    first_leaders,
    kept_out,
    means_for,
    means_of,
    saved_by,
)
from kcheck.core.election.election import BrokerStart, ElectionRules, Seats
from kcheck.core.election.plans import PartitionElection
from kcheck.core.releases.releases import release
from kcheck.core.replication.leader_costs import NOT_KNOWN, Amounts
from tests.core.election.test_plans import STARTS, candidate, election

KRAFT = ElectionRules(kraft=True)
POOR = Amounts(5, 3, 50)
TOOL = Means()


def contested(*, isr: tuple[int, ...] = (3,), replicas: tuple[int, ...] = (1, 2, 3)) -> PartitionElection:
    """Return a partition whose replica in sync loses records, and broker 1 none."""
    row = election(candidate(1), candidate(2, Amounts(1, 0, 10)), candidate(3, POOR), isr=isr)
    return row._replace(seats=Seats(replicas, isr), kafka_now=isr[0], best=1)


@pytest.mark.parametrize(
    ("order", "replicas", "saves"),
    [
        ((1, 2, 3), (1, 2, 3), (2, 1)),  # Broker 1 is alone then.
        ((2, 1, 3), (1, 2, 3), (3, 1)),
        ((2, 1, 3), (2, 1, 3), (1, 2)),  # The tool would elect broker 2 at any time, the first of the assignment.
        ((3, 1, 2), (1, 2, 3), ()),  # Broker 3 leads at once.
        ((2, 3, 1), (1, 2, 3), (3, 2)),  # Broker 1 comes too late; broker 2 loses less than broker 3.
        ((1, 4, 2, 3), (1, 2, 3), (4, 1)),  # Broker 4 has no replica: its start changes nothing.
        ((2, 4, 1, 3), (1, 2, 3), (3, 1)),
    ],
)
def test_before_whose_start_the_tool_elects(
    order: tuple[int, ...], replicas: tuple[int, ...], saves: tuple[int, ...]
) -> None:
    """The first start before which the cheapest broker so far runs, and the tool takes it."""
    row, starts = contested(replicas=replicas), {**STARTS, 4: BrokerStart(4, clean=True)}
    again = row._replace(partition=1)
    how = saves or (None,)
    assert [*displaced([row, again], order, starts, TOOL)] == [Displaced(row, 3, *how), Displaced(again, 3, *how)]
    assert [*displaced([row], order, starts, Means(has_tool=False))] == [Displaced(row, 3, None)]


def test_the_others_stop_where_the_tool_would_take_one_of_them() -> None:
    """The broker that is to lead is alone then."""
    row = contested(replicas=(2, 1, 3))
    assert [*displaced([row], (2, 1, 3), STARTS, Means(may_stop=True))] == [Displaced(row, 3, 3, 1, alone=True)]


def test_whoever_registers_first_leads_where_brokers_start_together() -> None:
    """From 4.0 the last member of an ISR stays in it; the one that loses most counts."""
    row = election(candidate(1), candidate(2, Amounts(1, 0, 10)), candidate(3, POOR), isr=(1, 3))
    row = row._replace(seats=Seats((1, 2, 3), (1, 3)), rules=KRAFT, kafka_now=1, best=1)
    together = Means(at_once=2)
    assert [*displaced([row], (1, 3, 2), STARTS, together)] == [Displaced(row, 3, None)]
    assert [*displaced([row], (1, 2, 3), STARTS, together)] == [Displaced(row, 3, 3, 1)]


def test_what_a_person_can_do() -> None:
    """Releases before 2.4 have no tool; a quorum goes on, and so do all where a stop makes another one lead."""
    row = contested()
    unclean = row._replace(rules=row.rules._replace(unclean=True))
    same = [row._replace(lost=Amounts()) for row in row.candidates]
    for partitions, kafka, at_once, means in (
        ([row], "4.3", 1, Means(may_stop=True)),
        ([row], "2.3", 1, Means(has_tool=False)),
        ([row], "4.3", 2, Means(at_once=2)),
        ([row, unclean], "4.3", 1, Means()),
        ([row, unclean._replace(candidates=tuple(same))], "4.3", 1, Means(may_stop=True)),
    ):
        assert means_of(partitions, release(kafka), at_once=at_once) == means


def test_nobody_elects_between_starts_at_once() -> None:
    """The tool is asked before the first start that comes alone."""
    row = contested()
    assert [*displaced([row], (2, 1, 3), STARTS, Means(at_once=2))] == [Displaced(row, 3, 3, 1)]
    assert [*displaced([row], (1, 2, 3), STARTS, Means(at_once=3))] == [Displaced(row, 3, None)]


def test_where_nothing_is_saved() -> None:
    """Another leader that loses as much, nobody at all, or the best one itself."""
    equal = contested()
    equal = equal._replace(candidates=(candidate(1, POOR), *equal.candidates[1:]))
    rows = [equal, contested()._replace(best=3), contested()._replace(best=None), contested(isr=(9,))]
    assert [*displaced(rows, (1, 2, 3), STARTS, TOOL)] == []


def test_partitions_are_kept_by_the_broker_that_waits() -> None:
    rows = [contested(), contested()._replace(partition=1)]
    by_nobody = Displaced(contested()._replace(partition=2), 3, None)
    found = by_broker([*displaced(rows, (1, 2, 3), STARTS, TOOL), by_nobody])
    assert {number: [row.partition.partition for row in waits] for number, waits in found.items()} == {2: [0, 1]}


def test_a_preferred_replica_with_a_poorer_log_is_kept_out() -> None:
    """Only where more is lost once it leads again; who the plan makes lead counts."""
    poor, same = (candidate(1, later=LaterLeader(2, Later.PREFERRED), lost_later=lost) for lost in (POOR, Amounts()))
    rows = [election(row, candidate(2, POOR), planned=1) for row in (poor, same)]
    assert [*kept_out(rows)] == [KeptOut(rows[0], 2)]
    assert [*kept_out([rows[0]._replace(planned=2)])] == []
    gaps = election(candidate(1, lacking=(3,)), candidate(2), candidate(3), planned=1)
    assert [*kept_out([gaps, gaps._replace(planned=2)])] == [KeptOut(gaps, 3)]


def test_each_broker_leads_alone_what_it_has_best() -> None:
    """Where another than the best one leads all the same, and may stop: the tool elects after that."""
    row, may_stop = contested(replicas=(2, 1, 3)), Means(may_stop=True)
    order = (3, 2, 1)
    alone = means_for([row], order, STARTS, may_stop)
    assert alone == may_stop._replace(one_by_one=True)
    assert [*displaced([row], order, STARTS, alone)] == [Displaced(row, 3, 3, 1, alone=True)]
    assert means_for([row], (1, 2, 3), STARTS, may_stop) == may_stop
    assert means_for([row], order, STARTS, TOOL) == TOOL
    nobody = row._replace(seats=Seats((2, 1, 3), (9,)), kafka_now=9)
    assert [first for _, first in first_leaders([nobody], order, STARTS, alone)] == [None]


@pytest.mark.parametrize(
    ("worse", "saved"),
    [
        (POOR, NOT_KNOWN._replace(records=5)),
        (Amounts(None, None, None, at_most=7), NOT_KNOWN._replace(at_most=7)),
        (NOT_KNOWN, NOT_KNOWN),
    ],
)
def test_the_gain_of_an_election_is_known_as_far_as_the_loss_without_it(worse: Amounts, saved: Amounts) -> None:
    row = election(candidate(1), candidate(3, worse))
    assert saved_by([Displaced(row, 3, 3, 1)]) == saved
