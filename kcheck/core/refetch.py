"""What a follower fetches once its truncation is over, and where that begins the dialogue anew.

Sources: AbstractFetcherThread.processFetchRequest 2.8.0 to 4.3.1, Log.appendAsFollower, LeaderEpochFileCache.assign.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from kcheck.core.dialogue import FetchError, FetchRequest, Leader, Replica, Status, Step, Truncation
from kcheck.core.leader_epochs import assign, end_offset_for
from kcheck.core.lineage import Lineage
from kcheck.core.truncation import fetch, fetches, truncate_fully_and_start_at
from kcheck.model.entries import Epoch, Offset
from kcheck.model.release import Follower, Release


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
            if fetch(now, leader, release).reply is FetchError.RECORDS:
                continue
            found = fetches(found.steps, now, leader, release)
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
