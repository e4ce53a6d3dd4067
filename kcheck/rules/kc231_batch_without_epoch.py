"""Batches have no leader epoch, and no follower can fetch them.

What is wrong: nothing in this replica. The log held messages of magic 0 or 1, and compaction by 4.0 or later wrote
them anew as batches of magic 2; such a batch has the epoch -1 (Cleaner 4.0.0). Up to 3.9 compaction keeps the magic.

What the broker does: it starts, and serves consumers. A follower that fetches such a batch refuses it in every release
that keeps epochs (LeaderEpochFileCache.assign), and its partition is marked as failed: a new or an empty replica never
catches up, neither on another broker nor in another log dir of the same one. Replicas that have the batches already
go on.

What to do: keep the replicas that are in sync; do not reassign the partition, and do not empty a replica to let it be
fetched anew. Write each of these keys anew, so that compaction removes the old records, or copy the topic to a new one.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._words import and_further, kafka


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Tell the first of them that a follower would fetch."""
    start = view.log_start_offset or 0
    read = (each for each in view.read or () if each.end_offset > start)
    found = [(each.where, each.epochless) for each in read if each.epochless is not None]
    if not found or not release.epoch_cache or not served(view):
        return
    (where, first), count = found[0], sum(each.batches for _, each in found)
    yield RULE.finding(
        where._replace(position=first.position),
        f"position {first.position}: the batch at offset {first.base_offset} has no leader epoch"
        + and_further(count, "batch", "batches"),
        effect=f"{kafka(release)} serves it; a follower that fetches it fails, so that no new replica catches up.",
        advice="Keep the replicas that are in sync; do not reassign the partition before these keys are written anew.",
        data={"count": count, "position": first.position, "base_offset": first.base_offset},
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.READ_PARTITION, check=check)
