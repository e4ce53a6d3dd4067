"""What a leader costs, and which leader costs least."""

from kcheck.core.replication.dialogue import Dialogue, Replica, Status, TruncateToHighWatermark
from kcheck.core.replication.leader_costs import Amounts
from kcheck.core.replication.truncation_plans import (
    Advantage,
    FollowerPlan,
    Refetched,
    RefetchedRecords,
    TruncatedRecords,
    TruncationPlan,
    marked,
)
from kcheck.model.cluster import PartitionRegistration, Seat
from kcheck.model.entries import Epoch, EpochEntry, Offset

CACHE = (EpochEntry(Epoch(0), Offset(0)),)


def follower(lost: int = 0, below: int | None = 0, *, problem: str | None = None) -> FollowerPlan:
    """Return a follower that loses some offsets before 20."""
    records = TruncatedRecords(
        start=Offset(20 - lost), end=Offset(20), records=lost, bytes=100, below_high_watermark=below, certain=True
    )
    after = Replica(cache=CACHE, log_end_offset=Offset(20 - lost), high_watermark=Offset(0))
    steps = (TruncateToHighWatermark(Offset(20 - lost)),)
    return FollowerPlan(
        broker_id=2, log_end_offset_before=Offset(20), high_watermark=None, problem=problem,
        dialogue=None if problem else Dialogue(steps=steps, after=after), lost=records if lost else None,
    )  # fmt: skip


def refetching(size: int | None) -> FollowerPlan:
    """Return a follower that fetches one record of so many bytes."""
    return follower()._replace(refetch=RefetchedRecords(Offset(19), Offset(20), 1, size))


def plan(leader: int, *followers: FollowerPlan, end: int | None = 20, lost: Amounts | None = None) -> TruncationPlan:
    """Return a partition under a leader whose log ends at `end`."""
    return TruncationPlan(
        topic="t", partition=0, leader=leader, leader_epoch=Epoch(4), followers=followers, lost_at_start=(),
        leader_log_end_offset=None if end is None else Offset(end), leader_log_start_offset=Offset(0), problem=None,
        lost=lost,
    )  # fmt: skip


LOST = Amounts(3, 0, 30)
REPLICAS = PartitionRegistration((3, 2, 1), (2,))


def test_what_makes_a_leader_the_best() -> None:
    """The first thing, in the order of comparison, in which the next best leader is worse."""
    least = plan(1, refetching(10), lost=LOST)._replace(registration=REPLICAS, seat=Seat.ISR)
    for other, advantage in (
        (least._replace(lost=Amounts(), followers=(follower(problem="no log"),)), Advantage.FOLLOWERS),
        (least._replace(lost=Amounts(1, 1)), Advantage.COMMITTED),
        (least._replace(lost=Amounts(4, 0)), Advantage.RECORDS),
        (least._replace(lost=Amounts(None, 0, at_most=5)), Advantage.RECORDS),
        (least._replace(seat=Seat.NONE), Advantage.CLEAN),
        (least._replace(followers=(refetching(11),)), Advantage.BYTES),
        (least._replace(followers=(refetching(None),)), Advantage.BYTES),
        (least._replace(leader=4), Advantage.ASSIGNMENT),
        (least._replace(leader=2, registration=None), Advantage.NONE),
    ):
        rivals = [other, least if advantage is not Advantage.NONE else least._replace(registration=None)]
        (chosen,) = (row for row in marked(rivals) if row.is_best)
        assert (1, advantage) == (chosen.leader, chosen.advantage)
    (alone,) = marked([least])
    assert (alone.is_best, alone.advantage) == (True, Advantage.NONE)
    assert marked(()) == []


def test_what_all_followers_fetch() -> None:
    assert plan(1, refetching(10), refetching(7), follower()).refetched == Refetched(2, 17)
    assert plan(1, refetching(None), refetching(7)).refetched == Refetched(2, None)


def test_committed_records_are_lost_as_far_as_is_known() -> None:
    lost = (None, LOST, Amounts(3, 1), Amounts(3, None), Amounts(3, None, committed_at_most=1))
    assert [plan(1, lost=one).loses_committed for one in lost] == [False, False, True, False, True]


def test_a_follower_that_cannot_take_part_has_no_log_afterwards() -> None:
    absent, present = follower(problem="no log"), follower(lost=3)
    assert ((), "unknown", None, None) == (
        absent.steps, absent.status, absent.log_end_offset_after, absent.leader_epochs_after
    )  # fmt: skip
    assert (1, Status.OK, 17, CACHE) == (
        len(present.steps), present.status, present.log_end_offset_after, present.leader_epochs_after
    )  # fmt: skip
