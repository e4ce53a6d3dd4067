"""Where a follower truncates against a leader: the dialogue of each release, request by request, and what it costs.

A follower that has no leader epoch truncates to its high watermark in every release. With epochs, KIP-101 (0.11 to
1.1) asks the leader once; KIP-279 (2.0 to 2.7) asks until both name the same epoch; from 2.8 every fetch carries the
last epoch and the leader answers where the logs diverge. Sources: ReplicaFetcherThread 0.11.0.2 to 2.0.1,
AbstractFetcherThread 2.0.0 to 4.3.1 (getOffsetTruncationState, truncateOnFetchResponse, fetchOffsetAndTruncate),
Partition.readRecords 2.7.0 to 4.3.1, Log.truncateTo.
"""

from dataclasses import replace

from kcheck.core.dialogue import (
    Branch,
    EpochRequest,
    FetchError,
    FetchRequest,
    Leader,
    OutOfRange,
    OutOfRangeStep,
    Replica,
    Status,
    Step,
    TruncateToHighWatermark,
    Truncation,
)
from kcheck.core.leader_epochs import assign, end_offset_for, latest_epoch, truncate_from_end, truncate_from_start
from kcheck.model.entries import (
    UNDEFINED_EPOCH,
    UNDEFINED_EPOCH_OFFSET,
    Epoch,
    EpochEndOffset,
    Offset,
)
from kcheck.model.release import Follower, Profile, Release

ROUND_COUNT_MAX = 1000
"""A dialogue of more requests than this is given up and said to be unfinished."""


def elected(leader: Leader, leader_epoch: Epoch, *, release: Release) -> Leader:
    """Return the leader after its election: from 2.0.1 the new epoch starts at its log end (Partition.makeLeader).

    2.0.1 and 2.1.0 write the entry even where the message format keeps no epochs (KAFKA-7897).
    """
    if not release.rules.assigns_epoch_at_election or not release.epoch_cache:
        return leader
    return replace(leader, cache=assign(leader.cache, leader_epoch, leader.log_end_offset, how=release.assign))


def truncate_to(replica: Replica, offset: Offset, *, release: Release) -> Replica:
    """Return the log after `Log.truncateTo(offset)`; ValueError for a negative offset, as the broker.

    The log end is `offset` even where the batch that holds it is cut as a whole. A log start above `offset` is
    lowered; an offset below the first segment empties the log, which then starts there (truncateFullyAndStartAt).
    """
    if offset < 0:
        raise ValueError(f"cannot truncate to {offset}")
    if offset >= replica.log_end_offset:
        if release.rules.noop_truncation_cleans_cache:
            return replace(replica, cache=truncate_from_end(replica.cache, replica.log_end_offset))
        return replica
    if offset < replica.first_segment:
        return truncate_fully_and_start_at(replica, offset)
    lowers = release.truncation_lowers_high_watermark
    return replace(
        replica,
        cache=truncate_from_end(replica.cache, offset),
        log_end_offset=offset,
        log_start_offset=Offset(min(replica.log_start_offset, offset)),
        high_watermark=Offset(min(replica.high_watermark, offset)) if lowers else replica.high_watermark,
    )


def truncate_fully_and_start_at(replica: Replica, offset: Offset) -> Replica:
    """Return the log emptied, to start at `offset` (Log.truncateFullyAndStartAt)."""
    return replace(
        replica, cache=(), log_end_offset=offset, log_start_offset=offset, first_segment=offset, high_watermark=offset
    )


def offset_truncation_state(
    replica: Replica, reply: EpochEndOffset, *, initial_offset: Offset, release: Release
) -> tuple[Branch, Offset, bool]:
    """Return which rule decides, the truncation offset, and whether the dialogue ends with it.

    AbstractFetcherThread.getOffsetTruncationState 2.0.0 to 4.3.1; with an epoch never carried it is KIP-101's rule
    (ReplicaFetcherThread.maybeTruncate 0.11.0.2 to 1.1.1). `initial_offset` is the partition's fetch offset.
    """
    log_end = replica.log_end_offset
    if reply.end_offset == UNDEFINED_EPOCH_OFFSET:
        return Branch.UNDEFINED, initial_offset, True
    if reply.epoch is None or reply.epoch == UNDEFINED_EPOCH:
        return Branch.EPOCH_NOT_CARRIED, Offset(min(reply.end_offset, log_end)), True
    own = end_offset_for(replica.cache, reply.epoch, log_end_offset=log_end, lookup=release.rules.lookup)
    if own.end_offset == UNDEFINED_EPOCH_OFFSET:
        return Branch.BELOW_TRACKED_EPOCHS, Offset(min(reply.end_offset, log_end)), True
    if own.epoch != reply.epoch:
        return Branch.INTERMEDIATE, Offset(min(own.end_offset, log_end)), False
    return Branch.MATCHED_EPOCH, Offset(min(own.end_offset, reply.end_offset, log_end)), True


def fetch_check(
    leader: Leader, offset: Offset, last_fetched_epoch: Epoch | None, *, release: Release
) -> FetchError | EpochEndOffset:
    """Return the leader's answer to a fetch: records, out of range, or the diverging epoch with its end offset.

    Partition.readRecords; only 2.8.1 and later test the log start before the epoch (KAFKA-12996). A log that
    starts above its end is left by a start up to 2.2.0 alone: its end is in range (Log.read). What is in remote storage
    alone is not sent to a follower (ReplicaManager.handleOffsetOutOfRangeError 3.6.0 to 4.3.1).
    """
    if last_fetched_epoch is not None:
        end = end_offset_for(
            leader.cache, last_fetched_epoch, log_end_offset=leader.log_end_offset, lookup=release.rules.lookup
        )
        if end.end_offset == UNDEFINED_EPOCH_OFFSET or end.epoch is None:
            return FetchError.OFFSET_OUT_OF_RANGE
        if release.rules.checks_log_start_before_divergence and offset < leader.log_start_offset:
            return FetchError.OFFSET_OUT_OF_RANGE
        if end.epoch < last_fetched_epoch or end.end_offset < offset:
            return end
    is_at_end = offset == leader.log_end_offset and not release.wipes_log_start_above_log_end
    if not (is_at_end or leader.log_start_offset <= offset <= leader.log_end_offset):
        return FetchError.OFFSET_OUT_OF_RANGE
    is_remote = offset < leader.local_log_start_offset
    return FetchError.OFFSET_MOVED_TO_TIERED_STORAGE if is_remote else FetchError.RECORDS


def fetch(replica: Replica, leader: Leader, release: Release) -> FetchRequest:
    """Return a follower's fetch at its log end, and the answer; without truncation on fetch it names no epoch."""
    checked = release.rules.follower is Follower.FETCH
    epoch = latest_epoch(replica.cache) if checked and replica.cache else None
    offset = replica.log_end_offset
    return FetchRequest(offset, epoch, fetch_check(leader, offset, epoch, release=release))


def plan_truncation(follower: Replica, leader: Leader, *, release: Release) -> Truncation:
    """Return the whole dialogue of a follower with a leader that is `elected` already, and the log after it."""
    how = release.rules.follower
    empty = not follower.cache
    if how is Follower.HIGH_WATERMARK or (empty and release.profile not in (Profile.P1A, Profile.P1B, Profile.P2)):
        to = Offset(min(follower.high_watermark, follower.log_end_offset))
        after = truncate_to(follower, to, release=release)
        steps: tuple[Step, ...] = (TruncateToHighWatermark(to),)
        return fetches(steps, after, leader, release)
    if how is Follower.FETCH:
        return fetches((), follower, leader, release)
    return _asks(follower, leader, release)


def _asks(follower: Replica, leader: Leader, release: Release) -> Truncation:
    """OffsetsForLeaderEpoch until the follower's epoch is the leader's too, then the first fetch."""
    steps: list[Step] = []
    now, initial_offset = follower, follower.high_watermark
    for _ in range(ROUND_COUNT_MAX):
        sent = latest_epoch(now.cache)
        reply = _answer(leader, sent, release)
        branch, to, completed = offset_truncation_state(now, reply, initial_offset=initial_offset, release=release)
        to = Offset(min(to, now.log_end_offset)) if branch is Branch.UNDEFINED else to
        steps.append(EpochRequest(sent, reply, branch, to, completed))
        before, now, initial_offset = now, truncate_to(now, to, release=release), to
        if completed:
            return fetches(tuple(steps), now, leader, release)
        if now == before:
            return Truncation(steps=tuple(steps), after=now, status=Status.NEVER_COMPLETES)
    return Truncation(steps=tuple(steps), after=now, status=Status.UNFINISHED)


def _answer(leader: Leader, epoch: Epoch, release: Release) -> EpochEndOffset:
    end = end_offset_for(leader.cache, epoch, log_end_offset=leader.log_end_offset, lookup=release.rules.lookup)
    return end if release.rules.reply_carries_epoch else EpochEndOffset(None, end.end_offset)


def fetches(steps: tuple[Step, ...], replica: Replica, leader: Leader, release: Release) -> Truncation:
    """Return a dialogue that goes on behind `steps` with fetches, until the leader sends records."""
    done, now = list(steps), replica
    seen: set[Replica] = set()
    out_of_range = False
    while now not in seen:
        if len(seen) == ROUND_COUNT_MAX:
            return Truncation(steps=tuple(done), after=now, status=Status.UNFINISHED)
        seen.add(now)
        asked = fetch(now, leader, release)
        reply = asked.reply
        if reply is FetchError.RECORDS:
            # Before truncation on fetch a fetch that is answered is no part of the truncation.
            done += [asked] if release.rules.follower is Follower.FETCH else []
            exits = out_of_range and release.exits_out_of_range_without_unclean_election
            # It is told of a log start above its log end (Log.maybeIncrementLogStartOffset).
            status = Status.FETCH_FAILS if leader.log_start_offset > now.log_end_offset else Status.OK
            return Truncation(steps=tuple(done), after=now, status=status, exits_without_unclean_election=exits)
        if reply is FetchError.OFFSET_OUT_OF_RANGE:
            done.append(asked)
            step, now = _out_of_range(now, leader, release)
            out_of_range = out_of_range or step.action is OutOfRange.TO_LEADER_LOG_END
            done.append(step)
            continue
        if reply is FetchError.OFFSET_MOVED_TO_TIERED_STORAGE:
            done.append(replace(asked, truncate_to=leader.local_log_start_offset))
            now = _begun_behind_remote_log(now, leader)
            continue
        assert isinstance(reply, EpochEndOffset)
        if release.applies_diverging_fetches:
            if leader.log_start_offset > now.log_end_offset:
                done.append(asked)
                return Truncation(steps=tuple(done), after=now, status=Status.FETCH_FAILS)
            now = _raise_log_start(now, leader.log_start_offset, release)
        branch, to, _ = offset_truncation_state(now, reply, initial_offset=now.log_end_offset, release=release)
        done.append(replace(asked, branch=branch, truncate_to=to))
        now = truncate_to(now, to, release=release)
    return Truncation(steps=tuple(done), after=now, status=Status.NEVER_COMPLETES)


def _raise_log_start(replica: Replica, offset: Offset, release: Release) -> Replica:
    """Return the log after `Log.maybeIncrementLogStartOffset`."""
    if offset <= replica.log_start_offset:
        return replica
    cache = truncate_from_start(replica.cache, offset, how=release.assign)
    return replace(replica, cache=cache, log_start_offset=offset)


def _begun_behind_remote_log(replica: Replica, leader: Leader) -> Replica:
    """Return the log emptied, to start where the leader's local log does, with the epochs before it.

    TierStateMachine.buildRemoteLogAuxState 3.6.0 to 4.3.1, which begins behind the remote segment that holds the offset
    before: where its leader rolled and uploaded it, that is the same.
    """
    start = leader.local_log_start_offset
    now = truncate_fully_and_start_at(replica, start)
    return replace(now, cache=truncate_from_end(leader.cache, start), log_start_offset=leader.log_start_offset)


def _out_of_range(replica: Replica, leader: Leader, release: Release) -> tuple[OutOfRangeStep, Replica]:
    """ReplicaFetcherThread.handleOffsetOutOfRange, AbstractFetcherThread.fetchOffsetAndTruncate: no epoch compared."""
    if leader.log_end_offset < replica.log_end_offset:
        to = leader.log_end_offset
        return OutOfRangeStep(OutOfRange.TO_LEADER_LOG_END, to), truncate_to(replica, to, release=release)
    if leader.log_start_offset > replica.log_end_offset:
        to = leader.log_start_offset
        return OutOfRangeStep(OutOfRange.FULLY_AT_LEADER_START, to), truncate_fully_and_start_at(replica, to)
    return OutOfRangeStep(OutOfRange.KEEP, replica.log_end_offset), replica
