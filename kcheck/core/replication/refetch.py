"""Fetches of a follower after its truncation, and fetches that make it truncate again.

Sources: AbstractFetcherThread.processFetchRequest 2.8.0 to 4.3.1, Log.appendAsFollower, LeaderEpochFileCache.assign.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from kcheck.core.replication.dialogue import Dialogue, DialogueStep, FetchAnswer, FetchRequest, Leader, Replica, Status
from kcheck.core.replication.leader_epochs import assign, end_offset_for
from kcheck.core.replication.lineage import Lineage
from kcheck.core.replication.truncation import fetch, fetch_until_records, truncate_fully_and_start_at
from kcheck.model.entries import Epoch, Offset
from kcheck.model.release import Follower, Release


def follow(
    truncation: Dialogue, leader: Leader, lineage: Lineage, sent: Callable[[Offset], Iterable[Lineage]], *,
    release: Release,
) -> Dialogue:  # fmt: skip
    """Return the truncation after the follower has fetched up to the leader's log end.

    `sent` yields the contents of fetches from an offset, one after another. `lineage` are the epochs of the leader's
    own batches. In 2.8 and later each fetch carries the last epoch that the fetch before it brought. If the leader's
    cache lacks that epoch, the follower truncates again, usually forever. It refuses a batch of magic 2 without an
    epoch (LeaderEpochFileCache.assign). `after` is the log at its shortest. Everything later comes from the leader.
    """
    may_diverge = (
        release.rules.follower is Follower.FETCH and release.epoch_cache and not _cache_covers(leader, lineage, release)
    )
    seen: set[Replica] = set()
    after = truncation.after
    while truncation.status is Status.OK:
        now = truncation.after
        if now in seen:
            return truncation._replace(after=after, status=Status.NEVER_COMPLETES)
        seen.add(now)
        for runs in sent(now.log_end_offset) if now.log_end_offset < leader.log_end_offset else ():
            if runs[0].start < now.log_end_offset:
                truncation = _append_first(truncation, runs[0].start, release)
                break
            left = runs if may_diverge else tuple(run for run in lineage if run.end > now.log_end_offset)
            if release.epoch_cache and any(run.epoch is not None and run.epoch < 0 for run in left):
                return truncation._replace(after=after, status=Status.FETCH_FAILS)
            if not may_diverge:
                return truncation._replace(after=after)
            now = _appended(now, runs, release)
            if fetch(now, leader, release).reply is FetchAnswer.RECORDS:
                continue
            truncation = fetch_until_records(truncation.steps, now, leader, release)
            break
        else:
            return truncation._replace(after=after)
        after = min(after, truncation.after, key=lambda replica: replica.log_end_offset)
    return truncation._replace(after=after)


def _append_first(truncation: Dialogue, base_offset: Offset, release: Release) -> Dialogue:
    """Return the truncation after a fetch that brings a batch from `base_offset`, which is below the log end.

    An empty log starts again at the batch (KAFKA-6975); any other log refuses it
    (Partition.appendRecordsToFollowerOrFutureReplica, Log.append).
    """
    now = truncation.after
    assert base_offset < now.log_end_offset
    if now.log_end_offset != now.log_start_offset or not release.begins_empty_log_with_batch:
        return truncation._replace(status=Status.FETCH_FAILS)
    fetch_is_a_step = release.rules.follower is Follower.FETCH
    steps = truncation.steps[:-1] if fetch_is_a_step else truncation.steps
    step = FetchRequest(
        offset=now.log_end_offset, last_fetched_epoch=None, reply=FetchAnswer.RECORDS, truncate_to=base_offset
    )
    return truncation._replace(steps=(*steps, step), after=truncate_fully_and_start_at(now, base_offset))


@lru_cache(16)  # Each follower of a leader asks it.
def _cache_covers(leader: Leader, lineage: Lineage, release: Release) -> bool:
    """Return whether the leader's cache has every epoch of its batches, and ends each at or above its last batch."""
    for run in lineage:
        if run.epoch is None:
            continue
        end = end_offset_for(leader.cache, run.epoch, log_end_offset=leader.log_end_offset, lookup=release.rules.lookup)
        if end.epoch != run.epoch or end.end_offset < run.end:
            return False
    return True


def _appended(replica: Replica, runs: Lineage, release: Release) -> Replica:
    """Return the log with the fetched records (`Log.appendAsFollower`); magic 0 and 1 empty the cache (KAFKA-7601)."""
    cache = replica.cache
    for run in runs:
        cache = () if run.epoch is None else assign(cache, run.epoch, run.start, how=release.assign)
    return replica._replace(cache=cache, log_end_offset=runs[-1].end)


def sends_snapshot(
    steps: Iterable[DialogueStep], snapshots: Sequence[tuple[Offset, Epoch]], *, log_start_offset: Offset
) -> Offset | None:
    """Return the end offset of the snapshot that a KRaft leader sends instead of records; None if it sends none.

    `snapshots` are the leader's, as end offset and epoch, ascending (ReplicatedLog.validateOffsetAndEpoch 3.0.0 to
    4.2.1, RaftLog 4.3.1).
    """
    for step in steps if snapshots else ():
        if not isinstance(step, FetchRequest) or log_start_offset == step.offset == 0:
            continue
        epoch, (_, earliest) = step.last_fetched_epoch or 0, snapshots[0]
        at_start = step.offset == log_start_offset and epoch != earliest
        if step.offset < log_start_offset or at_start or epoch < earliest:
            return snapshots[-1][0]
    return None
