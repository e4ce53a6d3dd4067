"""Decisions of a leader about its followers (their offsets, the ISR, and its high watermark).

Sources: Partition and Replica 0.8.2 to 4.3.1 (updateFollowerFetchState, maybeIncrementLeaderHW, maybeExpandIsr,
maybeShrinkIsr).
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from kcheck.model.release import Release

UNKNOWN_OFFSET = -1
"""The log end of a follower that has not fetched yet (LogOffsetMetadata.UNKNOWN_OFFSET_METADATA)."""
NEVER = -1
"""Time of an event that has not happened."""


class Remote(NamedTuple):
    """The leader's knowledge of a follower (Replica, ReplicaState)."""

    log_end_offset: int = UNKNOWN_OFFSET
    """The offset of its last fetch."""
    caught_up_at: int = NEVER
    """When it last had all that its leader had, in milliseconds."""
    leader_end_at_fetch: int = 0
    """The leader's log end offset at its last fetch."""
    fetched_at: int = NEVER
    """When it fetched last, in milliseconds."""
    broker_epoch: int = 0
    """The broker epoch of its last fetch."""


class Member(NamedTuple):
    """A replica, as its leader and the controller see it when they think about the ISR."""

    remote: Remote
    """The leader's knowledge of its log."""
    live: bool = True
    """True if it is registered, not fenced and not shutting down."""
    broker_epoch: int = 0
    """The broker epoch that the controller knows."""


def fetched(remote: Remote, offset: int, *, leader_end: int, now: int, broker_epoch: int) -> Remote:
    """Return the leader's knowledge after a fetch at an offset (Replica.updateFetchState)."""
    caught_up_at = remote.caught_up_at
    if offset >= leader_end:
        caught_up_at = max(caught_up_at, now)
    elif offset >= remote.leader_end_at_fetch:
        caught_up_at = max(caught_up_at, remote.fetched_at)
    return Remote(offset, caught_up_at, leader_end, now, broker_epoch)


def reset(*, in_sync: bool, again: bool, leader_end: int, now: int, release: Release) -> Remote:
    """Return the leader's knowledge of a follower when it is elected, or elected again.

    Replica.resetReplicaState does this. In 3.2 and earlier Partition.makeLeader does it. If the broker did not lead
    before, Replica.updateFetchState (2.3 and earlier: updateLogReadResult) takes an unknown fetch for the last one.
    """
    forgets = not again or (release.reelection_forgets_fetches and not in_sync)
    return Remote(
        caught_up_at=now if in_sync else NEVER,
        leader_end_at_fetch=leader_end,
        fetched_at=NEVER if forgets else now,
    )


def is_caught_up(remote: Remote, *, now: int, lag_time_max: int) -> bool:
    """Return whether a follower had all within replica.lag.time.max.ms."""
    return remote.caught_up_at != NEVER and now - remote.caught_up_at <= lag_time_max


def may_join_isr(
    member: Member, *, high_watermark: int, epoch_start: int, release: Release, checks_epoch_start: bool = True
) -> bool:
    """Return whether a leader adds a follower to the ISR (Partition.isFollowerInSync, isReplicaIsrEligible)."""
    remote = member.remote
    if remote.log_end_offset < high_watermark:
        return False
    if release.joins_isr_in_own_epoch and checks_epoch_start and remote.log_end_offset < epoch_start:
        return False
    if release.fenced_replicas_stay_outside_isr and not member.live:
        return False
    return not release.isr_needs_broker_epoch or remote.broker_epoch == member.broker_epoch


def may_leave_isr(remote: Remote, *, leader_end: int, release: Release) -> bool:
    """Return whether a leader removes a follower that has not fetched for too long (isFollowerOutOfSync).

    The limit is replica.lag.time.max.ms.
    """
    return not (release.equal_replicas_stay_in_isr and remote.log_end_offset == leader_end)


def bounds_high_watermark(
    member: Member, *, in_isr: bool, joining: bool, now: int, lag_time_max: int, release: Release
) -> bool:
    """Return whether a leader waits for a follower before it advances the high watermark."""
    if in_isr or (joining and release.pending_isr_bounds_high_watermark):
        return True
    if not release.caught_up_replicas_bound_high_watermark:
        return False
    if not is_caught_up(member.remote, now=now, lag_time_max=lag_time_max):
        return False
    return member.live or not release.only_eligible_replicas_bound_high_watermark


def high_watermark(
    current: int, *, leader_end: int, bounds: Iterable[int], isr: Collection[int], min_isr: int, release: Release
) -> int:
    """Return the leader's high watermark, which rises to the least log end that bounds it (maybeIncrementLeaderHW).

    `bounds` are the log ends of the followers that count. `min_isr` is min.insync.replicas, at most the number of
    replicas.
    """
    if release.min_isr_bounds_high_watermark and len(isr) < min_isr:
        return current
    return max(current, min(leader_end, *bounds, leader_end))


def follower_high_watermark(leader_high_watermark: int, *, log_start: int, log_end: int) -> int:
    """Return the high watermark of a follower after an answer of its leader (UnifiedLog.updateHighWatermark)."""
    return max(log_start, min(leader_high_watermark, log_end))


def begins_again(*, known_epoch: int, epoch: int, same_leader: bool, release: Release) -> bool:
    """Return whether a broker makes its replica a follower again at a newer leader epoch (makeFollowers)."""
    if not same_leader:
        return True
    if release.remakes_followers_in_each_epoch:
        return epoch > known_epoch
    return release.remakes_followers_after_epochs_missed and epoch > known_epoch + 1
