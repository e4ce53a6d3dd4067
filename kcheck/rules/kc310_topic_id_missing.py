"""A partition on a KRaft broker has no partition.metadata, so the broker does not know which topic it is.

What is wrong: A KRaft broker writes partition.metadata into each partition directory before the first record. This
directory has records and no file. It was removed, or not copied with the rest.

What a KRaft broker does:

- 3.7.1 and later: It treats the directory as stray and renames it to `-stray`. THE DATA DISAPPEARS FROM THE BROKER. It
  stays on the disk, but the broker does not serve it, and creates the replica again, empty.
- 3.7.0: it does not start.
- 3.3 to 3.6: it logs "Error deleting stray partitions" and keeps running.
- 3.0 to 3.2: it fails to publish the cluster metadata.

What to do: Before you start the broker, copy partition.metadata from another partition of the same topic, on any
broker. All partitions of a topic have the same id. Never invent an id. If the cluster lost its metadata or its
ZooKeeper, and no partition has the file, run `kcheck recover metadata`. It gives the topic an id everywhere.

See: operations/lost-zookeeper.md
"""

from collections.abc import Iterable

from kcheck.core.start.identity import formatted_for_kraft
from kcheck.model.finding import Claimed, Effect, Finding, Severity
from kcheck.model.names import PARTITION_METADATA
from kcheck.model.release import Release
from kcheck.model.views import LogDirView, PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import has_data, says, served
from kcheck.rules._words import kafka
from kcheck.words import counted


def check(view: LogDirView, release: Release) -> Iterable[Finding]:
    """Find the partitions without an id in a log dir that is KRaft's."""
    if not release.has_kraft or not formatted_for_kraft(view):
        return
    for partition in view.partitions:
        has_no_id = partition.topic_id is None and PARTITION_METADATA not in partition.files
        if has_no_id and not partition.is_metadata_log and served(partition):
            yield _finding(partition, release)


def _finding(partition: PartitionView, release: Release) -> Finding:
    severity, effect = _outcome(partition, release)
    # The file is written in the background, so a kill can leave a new directory without it.
    new = not has_data(partition) and severity is not Severity.FATAL
    return RULE.finding(
        partition.where,
        "partition.metadata is missing" + (": the directory is new" if new else ""),
        effect=effect,
        advice="Before you start the broker, copy partition.metadata from another partition of the same topic. Never "
        "invent an id.",
        severity=Severity.INFO if new else severity,
        data={"size": partition.size},
    )


def _outcome(partition: PartitionView, release: Release) -> tuple[Severity, str | Effect]:
    who = kafka(release)
    if release.sets_aside_without_topic_id:
        held = counted(partition.size, "byte")
        words = f"{who} will RENAME THE DIRECTORY to -stray and no longer serve it ({held})."
        return Severity.ERROR, says(words, Claimed.STRAY)
    if release.aborts_without_topic_id:
        return Severity.FATAL, f"{who} does not start."
    if release.passes_over_logs_without_id:
        return Severity.WARNING, f'{who} logs "Error deleting stray partitions" and keeps running.'
    return Severity.ERROR, f"{who} fails to publish the cluster metadata to its partitions."


RULE = Rule(severity=Severity.ERROR, scope=Scope.LOG_DIR, check=check)
