"""Finds the offset where a follower truncates its log, from the requests that each release sends to its leader.

`plan_truncation` is the entry point. Three mechanisms exist:

- Without leader epochs a follower truncates to its high watermark.
- With OffsetsForLeaderEpoch a follower asks where its latest epoch ends on the leader. KIP-101 (0.11 to 1.1) asks
  once, KIP-279 (2.0 to 2.7) asks until both name the same epoch.
- In 2.8 and later every fetch carries the follower's last epoch. If the logs diverge, the leader answers with the epoch
  and end offset to truncate to.

Sources: ReplicaFetcherThread 0.11.0.2 to 2.0.1, AbstractFetcherThread 2.0.0 to 4.3.1 (getOffsetTruncationState,
truncateOnFetchResponse, fetchOffsetAndTruncate), Partition.readRecords 2.7.0 to 4.3.1, Log.truncateTo.
"""

from typing import NamedTuple

from kcheck.core.replication.dialogue import (
    Branch,
    Dialogue,
    DialogueStep,
    EpochRequest,
    FetchAnswer,
    FetchRequest,
    Leader,
    OutOfRange,
    OutOfRangeStep,
    Replica,
    Status,
    TruncateToHighWatermark,
)
from kcheck.core.replication.leader_epochs import (
    assign,
    end_offset_for,
    latest_epoch,
    truncate_from_end,
    truncate_from_start,
)
from kcheck.model.entries import (
    UNDEFINED_EPOCH,
    UNDEFINED_EPOCH_OFFSET,
    Epoch,
    EpochEndOffset,
    EpochEntries,
    Offset,
)
from kcheck.model.release import Follower, Profile, Release

ROUND_COUNT_MAX = 1000
"""kcheck follows at most this many requests; a longer dialogue is `Status.UNFINISHED`."""


class OffsetTruncationState(NamedTuple):
    """The offset where a follower truncates after a reply (OffsetTruncationState of AbstractFetcherThread)."""

    branch: Branch
    """The branch that decided."""
    offset: Offset
    """The truncation offset."""
    completed: bool
    """True if truncation ends with it; otherwise the follower asks again."""


def elected(leader: Leader, leader_epoch: Epoch, *, release: Release) -> Leader:
    """Return the leader after its election (Partition.makeLeader): from 2.0.1 the new epoch starts at its log end.

    2.0.1 and 2.1.0 write the entry even if the message format has no epochs (KAFKA-7897).
    """
    if not release.rules.assigns_epoch_at_election or not release.epoch_cache:
        return leader
    return leader._replace(cache=assign(leader.cache, leader_epoch, leader.log_end_offset, how=release.assign))


def truncate_to(replica: Replica, offset: Offset, *, release: Release) -> Replica:
    """Return the log after `Log.truncateTo(offset)`; ValueError for a negative offset, as in the broker.

    Kafka removes complete batches, yet the log end becomes `offset` even inside a batch. A log start above `offset`
    moves down to it. An offset below the first segment empties the log, which then starts there
    (truncateFullyAndStartAt).
    """
    if offset < 0:
        raise ValueError(f"cannot truncate to {offset}")
    if offset >= replica.log_end_offset:
        if release.rules.noop_truncation_cleans_cache:
            return replica._replace(cache=truncate_from_end(replica.cache, replica.log_end_offset))
        return replica
    if offset < replica.first_segment:
        return truncate_fully_and_start_at(replica, offset)
    lowers = release.truncation_lowers_high_watermark
    return replica._replace(
        cache=truncate_from_end(replica.cache, offset),
        log_end_offset=offset,
        log_start_offset=Offset(min(replica.log_start_offset, offset)),
        high_watermark=Offset(min(replica.high_watermark, offset)) if lowers else replica.high_watermark,
    )


def truncate_fully_and_start_at(replica: Replica, offset: Offset) -> Replica:
    """Return an empty log that starts at `offset` (Log.truncateFullyAndStartAt)."""
    return replica._replace(
        cache=(), log_end_offset=offset, log_start_offset=offset, first_segment=offset, high_watermark=offset
    )


def offset_truncation_state(
    replica: Replica, reply: EpochEndOffset, *, initial_offset: Offset, release: Release
) -> OffsetTruncationState:
    """Return the offset where the follower truncates after the leader's reply.

    AbstractFetcherThread.getOffsetTruncationState 2.0.0 to 4.3.1. If replies never carry an epoch, this is KIP-101's
    rule (ReplicaFetcherThread.maybeTruncate 0.11.0.2 to 1.1.1). `initial_offset` is the partition's fetch offset.
    """
    log_end = replica.log_end_offset
    if reply.end_offset == UNDEFINED_EPOCH_OFFSET:
        return OffsetTruncationState(Branch.UNDEFINED, initial_offset, completed=True)
    if reply.epoch is None or reply.epoch == UNDEFINED_EPOCH:
        to = Offset(min(reply.end_offset, log_end))
        return OffsetTruncationState(Branch.EPOCH_NOT_CARRIED, to, completed=True)
    own = end_offset_for(replica.cache, reply.epoch, log_end_offset=log_end, lookup=release.rules.lookup)
    if own.end_offset == UNDEFINED_EPOCH_OFFSET:
        to = Offset(min(reply.end_offset, log_end))
        return OffsetTruncationState(Branch.BELOW_TRACKED_EPOCHS, to, completed=True)
    if own.epoch != reply.epoch:
        to = Offset(min(own.end_offset, log_end))
        return OffsetTruncationState(Branch.INTERMEDIATE, to, completed=False)
    to = Offset(min(own.end_offset, reply.end_offset, log_end))
    return OffsetTruncationState(Branch.MATCHED_EPOCH, to, completed=True)


def fetch_check(
    leader: Leader, offset: Offset, last_fetched_epoch: Epoch | None, *, release: Release
) -> FetchAnswer | EpochEndOffset:
    """Return the leader's answer to a fetch (records, an error, or the diverging epoch with its end offset).

    Partition.readRecords. Only 2.8.1 and later check the log start before the epoch (KAFKA-12996). In 2.2.0 and earlier
    a log can start above its end after its broker has started. Then its end is in range (Log.read). A leader does not
    send a follower records from remote storage (ReplicaManager.handleOffsetOutOfRangeError 3.6.0 to 4.3.1).
    """
    if last_fetched_epoch is not None:
        end = end_offset_for(
            leader.cache, last_fetched_epoch, log_end_offset=leader.log_end_offset, lookup=release.rules.lookup
        )
        if end.end_offset == UNDEFINED_EPOCH_OFFSET or end.epoch is None:
            return FetchAnswer.OFFSET_OUT_OF_RANGE
        if release.rules.checks_log_start_before_divergence and offset < leader.log_start_offset:
            return FetchAnswer.OFFSET_OUT_OF_RANGE
        if end.epoch < last_fetched_epoch or end.end_offset < offset:
            return end
    is_at_end = offset == leader.log_end_offset and not release.wipes_log_start_above_log_end
    if not (is_at_end or leader.log_start_offset <= offset <= leader.log_end_offset):
        return FetchAnswer.OFFSET_OUT_OF_RANGE
    is_remote = offset < leader.local_log_start_offset
    return FetchAnswer.OFFSET_MOVED_TO_TIERED_STORAGE if is_remote else FetchAnswer.RECORDS


def fetch(replica: Replica, leader: Leader, release: Release) -> FetchRequest:
    """Return a follower's fetch at its log end, and the answer. Only from 2.8 does the fetch carry an epoch."""
    sends_epoch = release.rules.follower is Follower.FETCH
    epoch = latest_epoch(replica.cache) if sends_epoch and replica.cache else None
    offset = replica.log_end_offset
    return FetchRequest(offset, epoch, fetch_check(leader, offset, epoch, release=release))


def plan_truncation(follower: Replica, leader: Leader, *, release: Release) -> Dialogue:
    """Return the dialogue of a follower with a leader that is `elected` already, and the log after it."""
    if begins_at_high_watermark(follower.cache, release):
        to = Offset(min(follower.high_watermark, follower.log_end_offset))
        after = truncate_to(follower, to, release=release)
        steps: tuple[DialogueStep, ...] = (TruncateToHighWatermark(to),)
        if fails_to_truncate(follower, to, release):
            return Dialogue(steps=steps, after=after._replace(cache=follower.cache), status=Status.TRUNCATION_FAILS)
        return fetch_until_records(steps, after, leader, release)
    if release.rules.follower is Follower.FETCH:
        return fetch_until_records((), follower, leader, release)
    return _ask_for_epoch_ends(follower, leader, release)


def begins_at_high_watermark(cache: EpochEntries, release: Release) -> bool:
    """Return whether a follower with these epochs truncates to its high watermark, and asks its leader nothing."""
    asks_without_epochs = release.profile in (Profile.P1A, Profile.P1B, Profile.P2)
    return release.rules.follower is Follower.HIGH_WATERMARK or (not cache and not asks_without_epochs)


def _ask_for_epoch_ends(follower: Replica, leader: Leader, release: Release) -> Dialogue:
    """Send OffsetsForLeaderEpoch until both replicas know the follower's latest epoch, then fetch."""
    steps: list[DialogueStep] = []
    now, initial_offset = follower, follower.high_watermark
    for _ in range(ROUND_COUNT_MAX):
        sent = latest_epoch(now.cache)
        reply = leader_epoch_reply(leader, sent, release)
        branch, to, completed = offset_truncation_state(now, reply, initial_offset=initial_offset, release=release)
        to = Offset(min(to, now.log_end_offset)) if branch is Branch.UNDEFINED else to
        steps.append(EpochRequest(sent, reply, branch, to, completed))
        before, now, initial_offset = now, truncate_to(now, to, release=release), to
        if fails_to_truncate(before, to, release):
            after = now._replace(cache=before.cache)
            return Dialogue(steps=tuple(steps), after=after, status=Status.TRUNCATION_FAILS)
        if completed:
            return fetch_until_records(tuple(steps), now, leader, release)
        if now == before:
            return Dialogue(steps=tuple(steps), after=now, status=Status.NEVER_COMPLETES)
    return Dialogue(steps=tuple(steps), after=now, status=Status.UNFINISHED)


def fails_to_truncate(replica: Replica, to: Offset, release: Release) -> bool:
    """Return whether the follower fails after it has truncated its log here, before it truncates its leader epochs.

    Log.truncateTo 2.4.0 to 2.7.0 lowers the high watermark to the new log end (updateLogEndOffset). Then it looks up
    the first unstable offset in the log (maybeIncrementFirstUnstableOffset). That offset can be in the removed part.
    """
    unstable = replica.first_unstable
    return (
        release.looks_up_cut_transactions
        and unstable is not None
        and to < unstable
        and to < replica.log_end_offset
        and to <= replica.high_watermark
    )


def leader_epoch_reply(leader: Leader, epoch: Epoch, release: Release) -> EpochEndOffset:
    """Return the leader's answer to OffsetsForLeaderEpoch, in the version of the request that the release sends."""
    end = end_offset_for(leader.cache, epoch, log_end_offset=leader.log_end_offset, lookup=release.rules.lookup)
    return end if release.rules.reply_carries_epoch else EpochEndOffset(None, end.end_offset)


def fetch_until_records(
    steps: tuple[DialogueStep, ...], replica: Replica, leader: Leader, release: Release
) -> Dialogue:
    """Continue a dialogue after `steps` with fetches, until the leader sends records; return all of it."""
    done, now = list(steps), replica
    seen: set[Replica] = set()
    out_of_range = False
    while now not in seen:
        if len(seen) == ROUND_COUNT_MAX:
            return Dialogue(steps=tuple(done), after=now, status=Status.UNFINISHED)
        seen.add(now)
        request = fetch(now, leader, release)
        reply = request.reply
        if reply is FetchAnswer.RECORDS:
            # Up to 2.7 a fetch that brings records is not part of the truncation.
            done += [request] if release.rules.follower is Follower.FETCH else []
            exits = out_of_range and release.exits_out_of_range_without_unclean_election
            # The follower refuses a log start above its log end (Log.maybeIncrementLogStartOffset).
            status = Status.FETCH_FAILS if leader.log_start_offset > now.log_end_offset else Status.OK
            return Dialogue(steps=tuple(done), after=now, status=status, exits_without_unclean_election=exits)
        if reply is FetchAnswer.OFFSET_OUT_OF_RANGE:
            done.append(request)
            step, now = handle_out_of_range(now, leader, release)
            out_of_range = out_of_range or step.action is OutOfRange.TO_LEADER_LOG_END
            done.append(step)
            continue
        if reply is FetchAnswer.OFFSET_MOVED_TO_TIERED_STORAGE:
            done.append(request._replace(truncate_to=leader.local_log_start_offset))
            now = _restart_at_local_log_start(now, leader)
            continue
        assert isinstance(reply, EpochEndOffset)
        if release.applies_diverging_fetches:
            if leader.log_start_offset > now.log_end_offset:
                done.append(request)
                return Dialogue(steps=tuple(done), after=now, status=Status.FETCH_FAILS)
            now = raise_log_start(now, leader.log_start_offset, release)
        branch, to, _ = offset_truncation_state(now, reply, initial_offset=now.log_end_offset, release=release)
        done.append(request._replace(branch=branch, truncate_to=to))
        now = truncate_to(now, to, release=release)
    return Dialogue(steps=tuple(done), after=now, status=Status.NEVER_COMPLETES)


def raise_log_start(replica: Replica, offset: Offset, release: Release) -> Replica:
    """Return the log after `Log.maybeIncrementLogStartOffset`."""
    if offset <= replica.log_start_offset:
        return replica
    cache = truncate_from_start(replica.cache, offset, how=release.assign)
    return replica._replace(cache=cache, log_start_offset=offset)


def _restart_at_local_log_start(replica: Replica, leader: Leader) -> Replica:
    """Return an empty log that starts at the leader's local log start, with the leader's epochs before it.

    TierStateMachine.buildRemoteLogAuxState 3.6.0 to 4.3.1. Kafka starts the log after the remote segment that holds
    the offset before the local log start. Both are the same if the leader itself rolled and uploaded that segment.
    """
    start = leader.local_log_start_offset
    now = truncate_fully_and_start_at(replica, start)
    return now._replace(cache=truncate_from_end(leader.cache, start), log_start_offset=leader.log_start_offset)


def handle_out_of_range(replica: Replica, leader: Leader, release: Release) -> tuple[OutOfRangeStep, Replica]:
    """Return the follower's step about an offset out of range, and its log afterwards. It compares no epochs.

    ReplicaFetcherThread.handleOffsetOutOfRange, AbstractFetcherThread.fetchOffsetAndTruncate.
    """
    if leader.log_end_offset < replica.log_end_offset:
        to = leader.log_end_offset
        return OutOfRangeStep(OutOfRange.TO_LEADER_LOG_END, to), truncate_to(replica, to, release=release)
    if leader.log_start_offset > replica.log_end_offset or release.drops_log_when_leader_ends_behind:
        to = leader.log_start_offset
        return OutOfRangeStep(OutOfRange.FULLY_AT_LEADER_START, to), truncate_fully_and_start_at(replica, to)
    return OutOfRangeStep(OutOfRange.KEEP, replica.log_end_offset), replica
