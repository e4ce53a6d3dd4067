"""A compacted topic has records without a key, and the log cleaner deletes them.

What is wrong: `cleanup.policy=compact` was set for a topic whose records have no key. Brokers refuse new records
without key in this topic. But old ones stay in the log until the cleaner reads it.

What the broker does: The cleaner keeps the newest record of each key. Its first run deletes records without key in
every segment but the active one (Cleaner.shouldRetainRecord). If the topic was never cleaned, that is within seconds
after the broker starts. Its log then says "Found N invalid messages during compaction". Those of the active segment
follow once it rolls.

kcheck finds this with --depth records, if the metadata of the cluster show the configuration of the topic. `kcheck
preflight` reads the keys of compacted topics that the cleaner has never cleaned.

What to do: Before the broker starts, set `cleanup.policy=delete` for the topic (`kafka-configs.sh`), if its controller
runs elsewhere. Otherwise start the broker with `log.cleaner.enable=false`, change the topic, and start it again.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import COMPACTED
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._words import kafka
from kcheck.words import agree, counted


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Count the records without key of a topic whose configuration says that it is compacted."""
    if view.in_cluster is None or not view.in_cluster.compacted or view.topic in COMPACTED or not served(view):
        return
    read = view.read or ()
    counts = [(segment.active, segment.records.keyless) for segment in read if segment.records is not None]
    total = sum(count for _, count in counts)
    removed = sum(count for active, count in counts if not active)
    if total:
        deletes = f"deletes {removed} at its first run" if removed else "deletes them once their segment rolls"
        yield RULE.finding(
            view.where,
            f"{view.topic} is compacted; {counted(total, 'record')} {agree(total, 'has', 'have')} no key",
            effect=f"The cleaner of {kafka(release)} {deletes}.",
            advice="Set cleanup.policy=delete for the topic before the broker starts (kafka-configs.sh --alter"
            f" --entity-type topics --entity-name {view.topic} --add-config cleanup.policy=delete). You can "
            f"also start it with"
            " log.cleaner.enable=false.",
            data={"records": total, "removed": removed},
        )


RULE = Rule(severity=Severity.WARNING, scope=Scope.READ_PARTITION, check=check)
