"""__remote_log_metadata loses, or will lose, the first records of remote segments.

What is wrong: The record with the offsets of a remote segment is missing; only later records are left. Retention or
compaction has deleted the older segments of __remote_log_metadata. Or the topic allows that by retention.bytes,
compaction, or a shorter retention.ms than a topic in remote storage has. The topic needs retention.ms=-1 and
cleanup.policy=delete.

What the broker does (3.6 and later): It does not find these segments (KAFKA-15632). It neither serves nor deletes them,
and their objects stay in the store.

What to do: Set retention.ms=-1, retention.bytes=-1 and cleanup.policy=delete for __remote_log_metadata. Restore its
directories from a backup that has the older records.
"""

from collections.abc import Iterable

from kcheck.core.tiered.reports import forgets_metadata, without_record
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.remote_log import REMOTE_LOG_METADATA
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._remote import is_tiered, metadata_words
from kcheck.rules._words import kafka
from kcheck.words import counted


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Look for segments without their first record."""
    short = () if view.remote is None else without_record(view.remote)
    if short:
        yield RULE.finding(
            view.where,
            f"{metadata_words(view)} lacks the first record of {counted(len(short), 'remote segment')}",
            effect=f"{kafka(release)} neither serves nor deletes them.",
            advice="Set retention.ms=-1 and cleanup.policy=delete for __remote_log_metadata; restore its directories.",
            data={"segments": len(short), "metadata_partition": view.remote and view.remote.metadata_partition},
        )
    elif view.remote is not None and (setting := forgets_metadata(view.remote)) is not None:
        yield RULE.finding(
            view.where,
            f"{REMOTE_LOG_METADATA} has {setting}",
            effect=f"{kafka(release)} forgets remote segments of {view.where.dir} before they expire, and never deletes"
            " them.",
            advice=f"Set retention.ms=-1, retention.bytes=-1 and cleanup.policy=delete for {REMOTE_LOG_METADATA}.",
            data={"setting": setting},
        )


RULE = Rule(severity=Severity.ERROR, scope=Scope.PARTITION, check=check, when=is_tiered)
