"""Offsets are missing between two batches of a segment, and nothing else shows that the log was compacted.

What is wrong: a broker gives every offset to a record, so a log that was never compacted has none missing: bytes were
taken out of the file. The log of KRaft's metadata is never compacted. Of other logs it is an information, and told only
where it is the one hole in the whole log: compaction makes holes, and then most logs have many of them, inside of
batches too. It is not told of partitions that cleaner-offset-checkpoint names, and of topics that are always compacted.

What the broker does: it does not notice it. Readers go on behind the hole, and followers that fetch from here get the
hole too. Of KRaft's metadata it replays what is left: where a later record is about what is missing, the node ends with
a fatal fault; otherwise it believes something else than the other nodes do.

What to do: look for the records in another replica or a backup. Let a KRaft node fetch the metadata log anew from the
other controllers. Nothing is wrong if the topic was compacted, and is no more.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import offset_range, served
from kcheck.rules._segments import KEEP_A_COPY, REFETCH
from kcheck.rules._words import kafka


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Tell the first gap above the log start, of KRaft's metadata any, elsewhere the one that is alone."""
    start = view.log_start_offset or 0
    read = view.read or ()
    found = [(each, gap) for each in read if not each.counts for gap in each.gaps if gap.end > start]
    if not found or not served(view):
        return
    segment, gap = found[0]
    if not view.is_metadata_log:
        is_alone = sum(each.holes for each in read) == gap.end - gap.start
        if view.is_compacted or not is_alone:
            return
    effect = "does not notice it: readers go on behind the hole. The records are lost here, unless it was compacted"
    if view.is_metadata_log:
        effect = "replays what is left: the node ends with a fatal fault, or believes something else than the others"
    yield RULE.finding(
        segment.where,
        f"no batch holds {offset_range(gap.start, gap.end)}, though batches stand before and behind",
        effect=f"{kafka(release)} {effect}.",
        advice=f"{KEEP_A_COPY} Look for the records in another replica or a backup. {REFETCH}",
        severity=Severity.ERROR if view.is_metadata_log else Severity.INFO,
        data={"from": gap.start, "to": gap.end - 1},
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.READ_PARTITION, check=check)
