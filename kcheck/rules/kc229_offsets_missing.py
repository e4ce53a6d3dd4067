"""Offsets are missing between two batches of a segment, and no other sign of compaction explains the gap.

What is wrong: A broker assigns every offset to a record. A log that was never compacted has no gaps. Bytes were removed
from the file. KRaft's metadata log is never compacted. For other logs kcheck reports info, and only if the log has no
second gap. Compaction usually leaves many gaps, inside batches too. kcheck does not report partitions that
cleaner-offset-checkpoint lists, nor topics that are always compacted.

What the broker does: It does not notice. Consumers skip the gap, and followers that fetch from here get the same gap. A
KRaft node replays the metadata records that remain. If a later record depends on a missing one, the node stops with a
fatal fault. Otherwise its metadata differs from the other nodes.

What to do: Look for the records in another replica or a backup. Let a KRaft node re-replicate the metadata log from the
other controllers. Nothing is wrong if the topic was compacted in the past.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._segments import KEEP_A_COPY, REFETCH
from kcheck.rules._words import kafka
from kcheck.words import offset_span


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find a gap above the log start, in KRaft's metadata the first one, elsewhere only a single one."""
    start = view.log_start_offset or 0
    read = view.read or ()
    gaps = [(candidate, gap) for candidate in read if not candidate.counts for gap in candidate.gaps if gap.end > start]
    if not gaps or not served(view):
        return
    segment, gap = gaps[0]
    if not view.is_metadata_log:
        is_alone = sum(candidate.holes for candidate in read) == gap.end - gap.start
        if view.is_compacted or not is_alone:
            return
    effect = "does not notice. Consumers skip the gap. The records are lost on this disk, unless the log was compacted"
    if view.is_metadata_log:
        effect = "replays the rest. Then the node stops with a fatal fault, or its metadata differs from the others"
    yield RULE.finding(
        segment.where,
        f"no batch holds {offset_span(gap.start, gap.end)}, between two valid batches",
        effect=f"{kafka(release)} {effect}.",
        advice=f"{KEEP_A_COPY} Look for the records in another replica or a backup. {REFETCH}",
        severity=Severity.ERROR if view.is_metadata_log else Severity.INFO,
        data={"from": gap.start, "to": gap.end - 1},
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.READ_PARTITION, check=check, depends_on_others=True)
