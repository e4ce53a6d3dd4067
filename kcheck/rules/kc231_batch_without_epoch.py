"""Batches have no leader epoch, and no follower can fetch them.

What is wrong: Nothing in this replica. The log held messages of magic 0 or 1. A compaction by 4.0 and later rewrote
them as batches of magic 2 with epoch -1 (Cleaner 4.0.0). In 3.9 and earlier compaction keeps the magic.

What the broker does: It starts, and serves consumers. A follower that fetches the batch rejects it and marks the
partition as failed (LeaderEpochFileCache.assign). A new or empty replica never catches up, on another broker or in
another log dir of this one. Replicas that already have the batches keep working.

What to do: Keep the replicas that are in sync. Do not reassign the partition, and do not empty a replica to
re-replicate it. Write each of these keys again, so that compaction removes the old records. Or copy the topic to a new
one.
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
    read = (candidate for candidate in view.read or () if candidate.end_offset > start)
    epochless = [(candidate.where, candidate.epochless) for candidate in read if candidate.epochless is not None]
    if not epochless or not release.epoch_cache or not served(view):
        return
    (where, first), count = epochless[0], sum(candidate.batches for _, candidate in epochless)
    yield RULE.finding(
        where._replace(position=first.position),
        f"position {first.position}: the batch at offset {first.base_offset} has no leader epoch"
        + and_further(count, "batch"),
        effect=f"{kafka(release)} serves it, but a follower that fetches it fails, so no new replica catches up.",
        advice="Keep the replicas that are in sync, and rewrite these keys before you reassign the partition.",
        data={"count": count, "position": first.position, "base_offset": first.base_offset},
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.READ_PARTITION, check=check)
