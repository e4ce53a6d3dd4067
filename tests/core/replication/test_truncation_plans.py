"""What a leader costs, and which leader costs least."""

from kcheck.core.replication.dialogue import Dialogue, Replica, Status, TruncateToHighWatermark
from kcheck.core.replication.truncation_plans import (
    Advantage,
    FollowerPlan,
    StartLoss,
    TruncatedRecords,
    TruncationPlan,
    best,
    cost,
)
from kcheck.model.entries import Epoch, EpochEntry, Offset
from kcheck.model.loss import LostRecords

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


def plan(leader: int, *followers: FollowerPlan, end: int | None = 20) -> TruncationPlan:
    """Return a partition under a leader whose log ends at `end`."""
    return TruncationPlan(
        topic="t", partition=0, leader=leader, leader_epoch=Epoch(4), followers=followers, lost_at_start=(),
        leader_log_end_offset=None if end is None else Offset(end), leader_log_start_offset=Offset(0), problem=None,
    )  # fmt: skip


def test_the_best_leader_keeps_followers_then_committed_records_then_offsets_then_the_longer_log() -> None:
    """Each plan costs more than the one before it."""
    ordered = [
        plan(1, follower(), end=30),
        plan(2, follower()),
        plan(3, follower(), end=None),
        plan(4, follower(lost=3)),
        plan(5, follower(lost=2, below=1)),
        plan(6, follower(problem="no leader-epoch-checkpoint")),
    ]
    shuffled = ordered[3:] + ordered[:3]
    assert [1, 2, 3, 4, 5, 6] == [candidate.leader for candidate in sorted(shuffled, key=cost)]
    assert ordered[0]._replace(is_best=True, advantage=Advantage.LOG_END) == best(shuffled)
    assert best(()) is None


def test_what_makes_a_leader_the_best() -> None:
    """The first thing, in the order of comparison, in which the next best leader is worse."""
    least = plan(1, follower(), end=30)
    for other, advantage in (
        (plan(2, follower(problem="no log"), end=40), Advantage.FOLLOWERS),
        (plan(2, follower(lost=3, below=1), end=40), Advantage.COMMITTED),
        (plan(2, follower(lost=3), end=40), Advantage.OFFSETS),
        (plan(2, follower(), end=29), Advantage.LOG_END),
        (least._replace(leader=2), Advantage.NONE),
    ):
        best_plan = best([other, least] if advantage is not Advantage.NONE else [least, other])
        assert best_plan is not None
        assert (1, advantage) == (best_plan.leader, best_plan.advantage)
    alone = best([least])
    assert alone is not None
    assert Advantage.NONE is alone.advantage


def test_committed_records_are_lost_by_followers_or_at_a_start() -> None:
    assert not plan(1, follower(lost=3)).loses_committed
    assert plan(1, follower(lost=3, below=1)).loses_committed
    for below, expected in ((None, False), (0, False), (2, True)):
        lost = LostRecords(start=Offset(1), end=Offset(3), records=2, bytes=9, below_high_watermark=below)
        assert expected is plan(1)._replace(lost_at_start=(StartLoss(1, lost),)).loses_committed


def test_losses_of_all_followers_count_together() -> None:
    """An unknown number below the high watermark counts as none."""
    both = plan(1, follower(lost=3, below=2), follower(lost=4, below=None), follower())
    assert (7, 2) == (both.lost_offsets, both.lost_below_high_watermark)


def test_a_follower_that_cannot_take_part_has_no_log_afterwards() -> None:
    absent, present = follower(problem="no log"), follower(lost=3)
    assert ((), "unknown", None, None) == (
        absent.steps, absent.status, absent.log_end_offset_after, absent.leader_epochs_after
    )  # fmt: skip
    assert (1, Status.OK, 17, CACHE) == (
        len(present.steps), present.status, present.log_end_offset_after, present.leader_epochs_after
    )  # fmt: skip
