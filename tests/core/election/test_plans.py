"""What elections cost: candidates, whole scenarios, and the order of starts."""

from typing import Any

from kcheck.core.election.course import Later, LaterLeader
from kcheck.core.election.early_elections import Means
from kcheck.core.election.election import BrokerStart, ElectionRules, Seats
from kcheck.core.election.phases import order_of_starts
from kcheck.core.election.plans import (
    Candidate,
    CopyState,
    PartitionElection,
    best_candidate,
    decided,
    is_at_stake,
    is_safe,
    lean,
    lost_ranges,
    seat_of,
)
from kcheck.core.election.scenarios import Scenario, harm, in_doubt, lost_by_all, planned, scenarios
from kcheck.core.election.start_order import StartOrder
from kcheck.core.replication.leader_costs import Amounts, total
from kcheck.core.replication.truncation_plans import FollowerPlan, Refetched, TruncatedRecords, TruncationPlan
from kcheck.model.cluster import PartitionRegistration, Seat
from kcheck.model.entries import Epoch, Offset

NOTHING, UNKNOWN = Amounts(0, 0, 0), Amounts(None, None, None)
ZOOKEEPER = ElectionRules(kraft=False)
STARTS = {number: BrokerStart(number, clean=False) for number in (1, 2, 3)}


def candidate(broker_id: int, lost: Amounts | None = NOTHING, **how: Any) -> Candidate:
    """Return a replica that loses so much for others if it leads."""
    return Candidate(
        broker_id=broker_id, state=CopyState.CURRENT, dir="t-0", seat=None, problem=None, log_end_offset=Offset(9),
        log_start_offset=Offset(0), lost=lost, refetch=Refetched(0, 0),
    )._replace(**how)  # fmt: skip


def election(*candidates: Candidate, isr: tuple[int, ...] | None = (1,), **how: Any) -> PartitionElection:
    """Return a partition; without an ISR no metadata are known."""
    replicas = tuple(row.broker_id for row in candidates if row.can_lead)
    registration = None if isr is None else PartitionRegistration(replicas, isr)
    seats = None if isr is None else Seats(replicas, isr)
    partition = PartitionElection("t", 0, registration, Offset(9), candidates, seats=seats, **how)
    return decided(partition, STARTS, complete=False)


ISR_LOSES = election(candidate(1, Amounts(5, 2, 50)), candidate(2), candidate(3, Amounts(7, 0, 70)))


def test_the_best_candidate() -> None:
    """Least committed, then least records, then least bytes to fetch again; an unknown number is the worst."""
    rows = [
        candidate(1, Amounts(9, 0, 9)),
        candidate(2, Amounts(9, 0, 9), refetch=Refetched(9, 90)),
        candidate(3, Amounts(10, 0, 1)),
        candidate(4, Amounts(1, 1, 1)),
        candidate(5, Amounts(None, 1, 1)),
        candidate(6, UNKNOWN),
        candidate(7, None, refetch=None),
    ]
    for at, row in enumerate(rows):
        assert best_candidate(reversed(rows[at:])) == row
    cannot = [candidate(1, problem="it does not start"), candidate(2, state=CopyState.STRAY)]
    assert best_candidate(cannot) is None
    assert best_candidate([*cannot, candidate(3, state=CopyState.MISSING)]) == candidate(3, state=CopyState.MISSING)


def test_a_partition_is_one_of_the_cluster_if_it_has_a_replica() -> None:
    """What is left of a deleted one does not count; without metadata a directory does."""
    assert election(candidate(1, state=CopyState.STRAY)).is_of_cluster
    assert election(candidate(1), isr=None).is_of_cluster
    assert not election(candidate(1, state=CopyState.DELETED), isr=None).is_of_cluster


def test_whom_kafka_elects() -> None:
    """By the places; the best is left open where a replica is not known."""
    assert (ISR_LOSES.kafka_clean, ISR_LOSES.kafka_unclean, ISR_LOSES.kafka_now, ISR_LOSES.best) == (1, 1, 1, 2)
    assert ISR_LOSES.recommended == candidate(2)
    assert not ISR_LOSES.needs_unclean
    waiting = election(candidate(2), candidate(3), isr=(1,))
    assert (waiting.kafka_clean, waiting.kafka_unclean, waiting.kafka_now) == (None, 2, None)
    assert waiting.needs_unclean
    allowed = election(candidate(2), isr=(1,), rules=ElectionRules(kraft=True, unclean=True))
    assert (allowed.kafka_clean, allowed.kafka_now) == (None, 2)
    unknown = election(candidate(1), candidate(2), isr=None)
    assert (unknown.kafka_clean, unknown.best, unknown.needs_unclean) == (None, 1, False)
    gap = election(candidate(1), unknown_replicas=(4,))
    assert (gap.best, gap.recommended) == (None, None)
    assert decided(gap, STARTS, complete=True).best == 1


def test_the_place_of_a_candidate() -> None:
    """One in sync is a clean candidate; it is not known without metadata."""
    seats = [seat_of(ISR_LOSES, start) for start in STARTS.values()]
    assert seats == [Seat.ISR, Seat.NONE, Seat.NONE]
    assert [candidate(1, seat=seat).clean for seat in (*seats[:2], None)] == [True, False, None]
    assert seat_of(election(candidate(1), isr=None), STARTS[1]) is None


def test_sums() -> None:
    """What is not known of one partition is not known of all."""
    assert total([]) == NOTHING
    assert total([Amounts(1, 1, 5), Amounts(2, None, 6)]) == Amounts(3, None, 11)
    assert total([NOTHING, None]) == UNKNOWN


def test_the_scenarios() -> None:
    """Start all, the best, unclean elections on; then each broker first, which leads all that it has."""
    alone = election(candidate(3), isr=(9,))
    rows = planned([ISR_LOSES, alone._replace(partition=1)], STARTS, (1, 2, 3), Means())
    assert scenarios(rows, STARTS, (1, 2, 3)) == (
        Scenario("start-all", Amounts(5, 2, 50), 1),
        Scenario("plan", Amounts(5, 2, 50), 0),
        Scenario("best", NOTHING, 0),
        Scenario("kafka-unclean", Amounts(5, 2, 50), 0),
        Scenario("broker-1-first", Amounts(5, 2, 50), 1),
        Scenario("broker-2-first", NOTHING, 1),
        Scenario("broker-3-first", Amounts(7, 0, 70), 0),
    )


def test_without_a_recommended_leader_the_order_decides() -> None:
    """Which is not known where a replica is not here: then the plan leaves the partition as it is."""
    gap = election(candidate(1), candidate(2), unknown_replicas=(4,))
    (row,) = planned([gap], STARTS, (2, 1), Means())
    assert (row.best, row.planned, row.lost_planned) == (None, 1, NOTHING)
    nobody = election(candidate(2), isr=(9,), unknown_replicas=(9,))
    assert planned([nobody], STARTS, (2, 1), Means()) == (nobody,)


def test_scenarios_without_metadata() -> None:
    """Whom the controller elects is not known; the first replica that is there leads."""
    without = election(candidate(1, Amounts(5, 2, 50)), candidate(2), isr=None)
    rows = {row.name: row for row in scenarios([without], STARTS, (2, 1, 3))}
    assert rows["start-all"] == Scenario("start-all", UNKNOWN, None)
    assert rows["plan"] == Scenario("plan", UNKNOWN, None)
    assert rows["best"] == Scenario("best", NOTHING, 0)
    assert rows["broker-3-first"] == Scenario("broker-3-first", NOTHING, 0)
    nobody = election(candidate(1, problem="damaged"), isr=None)
    assert planned([nobody], STARTS, (1, 2), Means()) == (nobody,)


def test_the_order_of_starts() -> None:
    """The least loss by the rules of the cluster; then that of the first replica that is there."""
    assert order_of_starts([ISR_LOSES], STARTS, Means()) == StartOrder((2, 1, 3), True)
    rows = (candidate(1, Amounts(5, 2, 50)), candidate(2), candidate(3, Amounts(7, 3, 70)))
    both = election(*rows, isr=(1, 3), rules=ElectionRules(kraft=False))
    assert order_of_starts([both], STARTS, Means()) == StartOrder((2, 1, 3), True)
    without = election(candidate(1, Amounts(5, 2, 50)), candidate(3), isr=None)
    assert order_of_starts([without], STARTS, Means()) == StartOrder((2, 3, 1), True)
    waits = election(candidate(1, Amounts(5, 2, 50)), candidate(2), isr=(9,))
    assert order_of_starts([waits], STARTS, Means()) == StartOrder((2, 1, 3), True)
    late = election(candidate(1), rules=ElectionRules(kraft=True, unfenced=(1, 2)))
    assert order_of_starts([late], STARTS, Means()) == StartOrder((1, 2, 3), True)


def follower(broker_id: int | None, start: int | None, end: int = 0) -> FollowerPlan:
    """Return a follower that loses these offsets."""
    lost = None if start is None else TruncatedRecords(Offset(start), Offset(end), 1, 1, 0, certain=True)
    return FollowerPlan(broker_id, Offset(end), None, lost=lost)


def plan(leader: int, *followers: FollowerPlan) -> TruncationPlan:
    """Return a plan under a leader."""
    return TruncationPlan(
        topic="t", partition=0, leader=leader, leader_epoch=Epoch(1), leader_log_end_offset=Offset(9),
        leader_log_start_offset=Offset(0), lost_at_start=(), problem=None, followers=followers,
    )  # fmt: skip


def test_what_any_election_would_cut() -> None:
    """The widest range of each replica; a copy that no broker serves elects nobody."""
    rows = (
        candidate(1, plan=plan(1, follower(2, 5, 9), follower(3, None))),
        candidate(3, plan=plan(3, follower(2, 3, 8), follower(1, 1, 2), follower(None, 0, 9))),
        candidate(2),
        candidate(4, state=CopyState.STRAY, plan=plan(4, follower(1, 0, 9))),
    )
    assert lost_ranges(election(*rows)) == {1: (1, 2), 2: (3, 9)}


def test_the_worst_partitions() -> None:
    """Those without recommended leader, then those whose best leader loses most, then whose worst does."""
    nobody = election(candidate(1, None, problem="it does not start", refetch=None))
    loses = election(candidate(1, Amounts(5, 2, 50)), candidate(2, Amounts(7, 3, 50)))
    uncommitted = election(candidate(1, Amounts(9, 0, 50)))
    unequal, whole = election(candidate(1), candidate(2, Amounts(7, 3, 50))), election(candidate(1))
    rows = [nobody, loses, uncommitted, unequal, whole]
    assert rows == sorted([whole, unequal, uncommitted, loses, nobody], key=harm)
    assert [True, True, True, True, False] == [*map(is_at_stake, rows)]


def test_an_election_is_safe_if_its_plan_loses_nothing() -> None:
    """That the best leaders lose nothing proves nothing: it is not said that they get the lead."""
    gap = election(candidate(1), candidate(2), unknown_replicas=(4,))
    later = {"later": LaterLeader(1, Later.PREFERRED), "lost_later": Amounts(5, 2, 50)}
    kept_out = election(candidate(2, **later), candidate(1, Amounts(5, 2, 50)), isr=(2,))
    rows = [election(candidate(1, UNKNOWN)), gap, ISR_LOSES, kept_out, election(candidate(1))]
    rows = [row for one in rows for row in planned([one], STARTS, (1, 2, 3), Means())]
    assert [False, False, False, True, True] == [is_safe([row]) for row in rows]
    assert {row.recommended.lost for row in rows[2:] if row.recommended} == {NOTHING}


def test_who_registers_first_is_a_race() -> None:
    """Starting all at once may cost what the worst of those in sync costs; a count that depends on that is a bound."""
    rows = [
        election(candidate(1), candidate(2, Amounts(5, 2, 50)), candidate(3), isr=(1, 2), rules=ZOOKEEPER),
        election(candidate(1, Amounts(1, 1, 9)), candidate(2, Amounts(1, 1, 8)), isr=(1, 2), rules=ZOOKEEPER),
    ]
    for partitions, lost in (
        (rows[:1], Amounts(None, None, None, at_most=5, committed_at_most=2)),
        (rows[1:], Amounts(1, 1, None)),
        (rows, Amounts(None, None, None, at_most=6, committed_at_most=3)),
    ):
        costs = {row.name: row for row in scenarios(partitions, STARTS, (1, 2, 3))}
        assert costs["start-all"] == Scenario("start-all", lost, 0)
        assert costs["kafka-unclean"] == Scenario("kafka-unclean", lost, 0)
    assert [{1, 2}, {1, 2}] == [row.race for row in rows]
    assert [lost_by_all(row).upper_records for row in rows] == [5, 1]


def test_a_lean_partition_decides_as_the_whole_one() -> None:
    """What differs between partitions that cost the same is gone."""
    more = candidate(2, log_end_offset=Offset(7), dir="u-1", loses_no_more_than=(1,))
    stopped = candidate(3, None, problem="it does not start", refetch=None)
    whole, other = election(candidate(1, Amounts(1, 1, 1)), more, stopped), election(candidate(1), isr=None)
    small = [lean(whole), lean(other)]
    assert [False, True] == [row.registration is None for row in small]
    assert (
        lean(election(candidate(1, Amounts(1, 1, 1)), candidate(2, log_end_offset=Offset(5)), stopped))._replace(
            topic="t"
        )
        == small[0]
    )
    order = (2, 1, 3)
    assert scenarios([whole], STARTS, order) == scenarios(small[:1], STARTS, order)
    assert order_of_starts([whole, other], STARTS, Means()) == order_of_starts(small, STARTS, Means())


UNSEEN = ElectionRules(kraft=True, unclean_unseen=True)
LOSES = Amounts(5, 2, 50)


def test_settings_that_were_not_seen() -> None:
    """A replica out of sync leads first if they turn on unclean elections: then its loss is a bound."""
    behind = election(candidate(1), candidate(2, LOSES), rules=UNSEEN)
    assert (behind.race, behind.race_unseen, behind.is_in_doubt) == (frozenset({1}), frozenset({2}), False)
    (doubted,) = in_doubt([behind])
    assert (doubted.race, doubted.is_in_doubt) == (frozenset({1, 2}), True)
    assert lost_by_all(doubted).at_most == 5
    (alike,) = in_doubt([election(candidate(1), candidate(2), rules=UNSEEN)])
    assert (alike.race, alike.is_in_doubt) == (frozenset({1}), False)
    for other in (ISR_LOSES, election(candidate(1), isr=None), election(candidate(2), isr=(1,))):
        rows = in_doubt([behind, other])
        assert (rows[0].race, rows[0].race_unseen) == (frozenset({1}), frozenset())
    in_sync = election(candidate(1), candidate(2, LOSES), isr=(1, 2), rules=UNSEEN)
    assert not in_sync.race_unseen


def test_a_plan_with_settings_that_were_not_seen() -> None:
    """The order of starts lets a replica out of sync be the first: what it then loses is a bound."""
    behind, first = (election(candidate(number), candidate(2, LOSES), rules=UNSEEN) for number in (1, 1))
    (row,) = planned(in_doubt([behind]), STARTS, (2, 1), Means())
    assert (row.planned, row.lost_planned) == (1, Amounts(None, None, None, at_most=5, committed_at_most=2))
    (row,) = planned(in_doubt([first]), STARTS, (1, 2), Means())
    assert row.lost_planned == NOTHING
    (row,) = planned(in_doubt([ISR_LOSES._replace(rules=UNSEEN)]), STARTS, (1, 2, 3), Means())
    assert row.lost_planned != NOTHING


def test_no_unclean_election_gives_up_what_an_awaited_log_may_have() -> None:
    """A broker that does not start yet may have it. A replica in sync leads without being asked."""
    for isr, best in (((4,), None), ((1,), 1)):
        row = election(candidate(1), candidate(2), isr=isr)._replace(awaited=(4,))
        assert decided(row, STARTS, complete=False).best == best
        assert decided(row, STARTS, complete=True).best == 1
