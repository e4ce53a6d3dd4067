"""A leader's rules about its followers, as Kafka's Partition and Replica have them."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.replication.replication import (
    NEVER,
    UNKNOWN_OFFSET,
    Member,
    Remote,
    begins_again,
    bounds_high_watermark,
    fetched,
    follower_high_watermark,
    high_watermark,
    is_caught_up,
    may_join_isr,
    may_leave_isr,
    reset,
)


def test_a_follower_is_caught_up_when_it_fetches_the_log_end() -> None:
    """Or the log end at its fetch before; then as of that fetch."""
    old = release("3.2")
    new = reset(in_sync=False, again=False, leader_end=5, now=10, release=old)
    assert Remote(UNKNOWN_OFFSET, NEVER, 5, NEVER) == new
    behind = fetched(new, 3, leader_end=8, now=20, broker_epoch=1)
    assert (3, NEVER, 8, 20) == behind[:4]
    since = fetched(behind, 8, leader_end=12, now=30, broker_epoch=1)
    assert 20 == since.caught_up_at
    assert 40 == fetched(since, 12, leader_end=12, now=40, broker_epoch=1).caught_up_at
    assert is_caught_up(since, now=50, lag_time_max=30)
    assert not is_caught_up(since, now=51, lag_time_max=30)
    assert not is_caught_up(new, now=10, lag_time_max=30)
    assert 10 == reset(in_sync=True, again=False, leader_end=5, now=10, release=old).caught_up_at


@pytest.mark.parametrize("first_check", [0, 1, 2500, 4999])
def test_a_follower_that_stands_still_leaves_within_one_and_a_half_times_the_lag(first_check: int) -> None:
    """With replica.lag.time.max.ms 10 s the leader looks every 5 s: 10 to 15 s after it was caught up."""
    stuck = Remote(3, caught_up_at=0)
    checks = range(first_check, 30_000, 5000)
    assert 10_000 < next(now for now in checks if not is_caught_up(stuck, now=now, lag_time_max=10_000)) <= 15_000


@pytest.mark.parametrize(
    ("kafka", "in_sync", "again", "fetched_at"),
    [
        ("0.10.2", False, False, NEVER),
        ("3.2", True, False, NEVER),
        ("3.2", False, True, 10),
        ("3.3", False, True, NEVER),
        ("3.3", True, True, 10),
        ("3.3", True, False, NEVER),
    ],
)
def test_an_elected_leader_forgets_when_its_followers_fetched(
    kafka: str, in_sync: bool, again: bool, fetched_at: int
) -> None:
    """A leader that led before treats followers as if they had fetched now: all of them, since 3.3 those in sync."""
    seen = reset(in_sync=in_sync, again=again, leader_end=5, now=10, release=release(kafka))
    assert (10 if in_sync else NEVER, fetched_at) == (seen.caught_up_at, seen.fetched_at)


@pytest.mark.parametrize(
    ("kafka", "member", "joins"),
    [
        ("4.3", Member(Remote(4)), False),
        ("2.0.0", Member(Remote(5)), True),
        ("2.0.1", Member(Remote(5)), False),
        ("2.0.1", Member(Remote(6)), True),
        ("3.2", Member(Remote(6), live=False), True),
        ("3.3", Member(Remote(6), live=False), False),
        ("3.4", Member(Remote(6, broker_epoch=1), broker_epoch=2), True),
        ("3.5", Member(Remote(6, broker_epoch=1), broker_epoch=2), False),
        ("3.5", Member(Remote(6, broker_epoch=2), broker_epoch=2), True),
    ],
)
def test_who_joins_the_isr(kafka: str, member: Member, *, joins: bool) -> None:
    """The high watermark is 5, the leader's epoch starts at 6."""
    assert joins is may_join_isr(member, high_watermark=5, epoch_start=6, release=release(kafka))


def test_who_leaves_the_isr() -> None:
    equal, behind = Remote(9), Remote(8)
    assert [True, False] == [may_leave_isr(equal, leader_end=9, release=release(kafka)) for kafka in ("2.0", "2.1")]
    assert may_leave_isr(behind, leader_end=9, release=release("4.3"))


def _bounds(kafka: str, member: Member, *, in_isr: bool = False, joining: bool = False, now: int = 0) -> bool:
    return bounds_high_watermark(
        member, in_isr=in_isr, joining=joining, now=now, lag_time_max=30, release=release(kafka)
    )


def test_who_bounds_the_high_watermark() -> None:
    caught_up = Member(Remote(5, caught_up_at=0))
    assert _bounds("0.8.2", caught_up, in_isr=True)
    assert [False, True] == [_bounds(kafka, Member(Remote(5)), joining=True) for kafka in ("2.6", "2.7")]
    assert [False, True] == [_bounds(kafka, caught_up) for kafka in ("0.10.1", "0.10.2")]
    assert not _bounds("4.3", caught_up, now=31)
    stopping = caught_up._replace(live=False)
    assert [True, False] == [_bounds(kafka, stopping) for kafka in ("3.5", "3.6")]


def test_the_high_watermark_rises_to_the_least_log_end() -> None:
    """It never falls, and from 3.7 it waits for min.insync.replicas."""
    new = [
        high_watermark(3, leader_end=9, bounds=bounds, isr=(0,), min_isr=2, release=release(kafka))
        for kafka, bounds in (("3.6", (7, 8)), ("3.6", (UNKNOWN_OFFSET,)), ("3.6", ()), ("3.7", (7,)))
    ]
    assert [7, 3, 9, 3] == new
    assert [2, 4, 5] == [follower_high_watermark(leader, log_start=2, log_end=5) for leader in (1, 4, 9)]


def test_when_a_follower_begins_again() -> None:
    """Always with another leader; with the same one the release decides."""
    again = [
        [begins_again(known_epoch=1, epoch=epoch, same_leader=True, release=release(kafka)) for epoch in (1, 2, 3)]
        for kafka in ("2.0.0", "2.0.1", "2.1")
    ]
    assert [[False, False, False], [False, False, True], [False, True, True]] == again
    assert begins_again(known_epoch=1, epoch=2, same_leader=False, release=release("0.8.2"))
