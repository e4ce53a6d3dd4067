"""Where a follower truncates against a leader: the dialogue of each release, request by request, and what it costs.

A follower that has no leader epoch truncates to its high watermark in every release. With epochs, KIP-101 (0.11 to
1.1) asks the leader once; KIP-279 (2.0 to 2.7) asks until both name the same epoch; from 2.8 every fetch carries the
last epoch and the leader answers where the logs diverge. Sources: ReplicaFetcherThread 0.11.0.2 to 2.0.1,
AbstractFetcherThread 2.0.0 to 4.3.1 (getOffsetTruncationState, truncateOnFetchResponse, fetchOffsetAndTruncate),
Partition.readRecords 2.7.0 to 4.3.1, Log.truncateTo.
"""

from collections.abc import Callable, Iterable, Sequence
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
from kcheck.core.lineage import Lineage
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

    Partition.readRecords; only 2.8.1 and later test the log start before the epoch (KAFKA-12996). Up to 2.2.0 the log
    end is in range wherever the log starts (Log.read). What is in remote storage alone is not sent to a follower
    (ReplicaManager.handleOffsetOutOfRangeError 3.6.0 to 4.3.1).
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


def plan_truncation(follower: Replica, leader: Leader, *, release: Release) -> Truncation:
    """Return the whole dialogue of a follower with a leader that is `elected` already, and the log after it."""
    how = release.rules.follower
    empty = not follower.cache
    if how is Follower.HIGH_WATERMARK or (empty and release.profile not in (Profile.P1A, Profile.P1B, Profile.P2)):
        to = Offset(min(follower.high_watermark, follower.log_end_offset))
        after = truncate_to(follower, to, release=release)
        steps: tuple[Step, ...] = (TruncateToHighWatermark(to),)
        return _fetches(steps, after, leader, release)
    if how is Follower.FETCH:
        return _fetches((), follower, leader, release)
    return _asks(follower, leader, release)


def sends_snapshot(
    steps: Iterable[Step], snapshots: Sequence[tuple[Offset, Epoch]], *, log_start_offset: Offset
) -> Offset | None:
    """Return where the snapshot ends that a leader of KRaft's log sends to one of these fetches, None if it sends none.

    Its `snapshots` are end offsets with epochs, ascending (ReplicatedLog.validateOffsetAndEpoch 3.0.0 to 4.2.1,
    RaftLog 4.3.1).
    """
    for step in steps if snapshots else ():
        if not isinstance(step, FetchRequest) or log_start_offset == step.offset == 0:
            continue
        epoch, (_, earliest) = step.last_fetched_epoch or 0, snapshots[0]
        at_start = step.offset == log_start_offset and epoch != earliest
        if step.offset < log_start_offset or at_start or epoch < earliest:
            return snapshots[-1][0]
    return None


def follow(
    found: Truncation, leader: Leader, lineage: Lineage, sent: Callable[[Offset], Iterable[Lineage]], *,
    release: Release,
) -> Truncation:  # fmt: skip
    """Return what becomes of a truncation with what the follower fetches then, up to the end of the leader's log.

    `sent` yields what fetches from an offset on bring, one after another. From 2.8 each carries the last epoch that the
    one before brought, and where the leader's cache does not tell of its own batches (`lineage`), the follower is cut
    once more, as a rule for ever. A batch of magic 2 without an epoch is refused (LeaderEpochFileCache.assign). The
    log `after` is the shortest that it was: what comes behind that is the leader's.
    """
    is_asked = release.rules.follower is Follower.FETCH and release.epoch_cache and not _knows(leader, lineage, release)
    seen: set[Replica] = set()
    after = found.after
    while found.status is Status.OK:
        now = found.after
        if now in seen:
            return replace(found, after=after, status=Status.NEVER_COMPLETES)
        seen.add(now)
        for runs in sent(now.log_end_offset) if now.log_end_offset < leader.log_end_offset else ():
            if runs[0].start < now.log_end_offset:
                found = _append_first(found, runs[0].start, release)
                break
            left = runs if is_asked else tuple(run for run in lineage if run.end > now.log_end_offset)
            if release.epoch_cache and any(run.epoch is not None and run.epoch < 0 for run in left):
                return replace(found, after=after, status=Status.FETCH_FAILS)
            if not is_asked:
                return replace(found, after=after)
            now = _appended(now, runs, release)
            epoch = latest_epoch(now.cache) if now.cache else None
            if fetch_check(leader, now.log_end_offset, epoch, release=release) is FetchError.RECORDS:
                continue
            found = _fetches(found.steps, now, leader, release)
            break
        else:
            return replace(found, after=after)
        after = min(after, found.after, key=lambda each: each.log_end_offset)
    return replace(found, after=after)


def _append_first(found: Truncation, base_offset: Offset, release: Release) -> Truncation:
    """Return what becomes of a truncation whose fetch brings a batch that begins at `base_offset`, below the log end.

    An empty log begins anew with the batch (KAFKA-6975), any other refuses it
    (Partition.appendRecordsToFollowerOrFutureReplica, Log.append).
    """
    now = found.after
    assert base_offset < now.log_end_offset
    if now.log_end_offset != now.log_start_offset or not release.begins_empty_log_with_batch:
        return replace(found, status=Status.FETCH_FAILS)
    checked = release.rules.follower is Follower.FETCH
    steps = found.steps[:-1] if checked else found.steps
    step = FetchRequest(now.log_end_offset, None, FetchError.RECORDS, truncate_to=base_offset)
    return replace(found, steps=(*steps, step), after=truncate_fully_and_start_at(now, base_offset))


def _knows(leader: Leader, lineage: Lineage, release: Release) -> bool:
    """Whether the leader's cache tells of each epoch that its batches have, as far as they have it."""
    for run in lineage:
        if run.epoch is None:
            continue
        end = end_offset_for(leader.cache, run.epoch, log_end_offset=leader.log_end_offset, lookup=release.rules.lookup)
        if end.epoch != run.epoch or end.end_offset < run.end:
            return False
    return True


def _appended(replica: Replica, runs: Lineage, release: Release) -> Replica:
    """Return the log with what a fetch brought (`Log.appendAsFollower`): messages empty the cache (KAFKA-7601)."""
    cache = replica.cache
    for run in runs:
        cache = () if run.epoch is None else assign(cache, run.epoch, run.start, how=release.assign)
    return replace(replica, cache=cache, log_end_offset=runs[-1].end)


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
            return _fetches(tuple(steps), now, leader, release)
        if now == before:
            return Truncation(steps=tuple(steps), after=now, status=Status.NEVER_COMPLETES)
    return Truncation(steps=tuple(steps), after=now, status=Status.UNFINISHED)


def _answer(leader: Leader, epoch: Epoch, release: Release) -> EpochEndOffset:
    end = end_offset_for(leader.cache, epoch, log_end_offset=leader.log_end_offset, lookup=release.rules.lookup)
    return end if release.rules.reply_carries_epoch else EpochEndOffset(None, end.end_offset)


def _fetches(steps: tuple[Step, ...], replica: Replica, leader: Leader, release: Release) -> Truncation:
    """Fetch until the leader sends records; without truncation on fetch only the offset is compared."""
    checked = release.rules.follower is Follower.FETCH
    done, now = list(steps), replica
    seen: set[Replica] = set()
    out_of_range = False
    while now not in seen:
        if len(seen) == ROUND_COUNT_MAX:
            return Truncation(steps=tuple(done), after=now, status=Status.UNFINISHED)
        seen.add(now)
        epoch = latest_epoch(now.cache) if checked and now.cache else None
        reply = fetch_check(leader, now.log_end_offset, epoch, release=release)
        if reply is FetchError.RECORDS:
            # Before truncation on fetch a fetch that is answered is no part of the truncation.
            done += [FetchRequest(now.log_end_offset, epoch, reply)] if checked else []
            exits = out_of_range and release.exits_out_of_range_without_unclean_election
            # It is told of a log start above its log end (Log.maybeIncrementLogStartOffset).
            status = Status.FETCH_FAILS if leader.log_start_offset > now.log_end_offset else Status.OK
            return Truncation(steps=tuple(done), after=now, status=status, exits_without_unclean_election=exits)
        if reply is FetchError.OFFSET_OUT_OF_RANGE:
            done.append(FetchRequest(now.log_end_offset, epoch, reply))
            step, now = _out_of_range(now, leader, release)
            out_of_range = out_of_range or step.action is OutOfRange.TO_LEADER_LOG_END
            done.append(step)
            continue
        if reply is FetchError.OFFSET_MOVED_TO_TIERED_STORAGE:
            start = leader.local_log_start_offset
            done.append(FetchRequest(now.log_end_offset, epoch, reply, truncate_to=start))
            now = _begun_behind_remote_log(now, leader)
            continue
        assert isinstance(reply, EpochEndOffset)
        if release.applies_diverging_fetches:
            if leader.log_start_offset > now.log_end_offset:
                done.append(FetchRequest(now.log_end_offset, epoch, reply))
                return Truncation(steps=tuple(done), after=now, status=Status.FETCH_FAILS)
            now = _raise_log_start(now, leader.log_start_offset, release)
        branch, to, _ = offset_truncation_state(now, reply, initial_offset=now.log_end_offset, release=release)
        done.append(FetchRequest(now.log_end_offset, epoch, reply, branch, to))
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
