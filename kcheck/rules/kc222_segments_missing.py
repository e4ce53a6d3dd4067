"""Offsets are missing between two segments of a log, and no sign of compaction explains the gap.

What is wrong: A segment ends below the base offset of the next one. A broker assigns every offset to a record, so a log
that was never compacted has no gaps. A segment was deleted, not copied, or lost its tail. Compaction also leaves gaps,
usually many, and cleaner-offset-checkpoint then lists the partition. So kcheck does not report such partitions, nor
topics that are always compacted. It reports info in two cases that compaction may explain. A follower that has fetched
a compacted log has gaps inside its segments too. A broker that was killed during the first compaction leaves temporary
files or an empty first segment.

What the broker does: It does not notice. Consumers skip the gap, and followers that fetch from here get the same gap.

What to do: Look for the segment in a backup or in another replica. If one is in sync, let the broker re-replicate this
one. Nothing is wrong if the topic was compacted in the past.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import CLEANED, DELETED, SWAP, DirectoryState, log_name
from kcheck.model.release import Release
from kcheck.model.segments import End, SegmentView
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import KEEP_A_COPY, REFETCH
from kcheck.rules._words import DATA_MAX, and_further, kafka
from kcheck.words import offset_range


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Compare the end of each segment with the base offset of the next, from the log start on."""
    gaps = [] if view.is_compacted else [*_gaps(view)]
    if not gaps:
        return
    one, other = gaps[0]
    is_known = view.cleaned is False and view.state is DirectoryState.CURRENT
    dense = is_known and not (any(segment.holes for segment in view.read or ()) or _was_begun(view))
    maybe = "" if dense else ", unless the topic is or was compacted"
    yield RULE.finding(
        other.where,
        f"no segment has {offset_range(one.end_offset, other.base_offset)}: the previous segment {one.base_offset} "
        f"ends at {one.end_offset}{and_further(len(gaps), 'gap')}",
        effect=f"{kafka(release)} does not notice. Consumers skip the gap. The records are lost on this disk{maybe}.",
        advice=f"{KEEP_A_COPY} Look for the missing segment in another replica or a backup. {REFETCH}",
        severity=Severity.ERROR if dense else Severity.INFO,
        data={
            "count": len(gaps),
            "missing": tuple(
                {"from": one.end_offset, "to": other.base_offset - 1, "before": one.base_offset}
                for one, other in gaps[:DATA_MAX]
            ),
        },
    )


def _was_begun(view: PartitionView) -> bool:
    """Return whether a first compaction began.

    cleaner-offset-checkpoint is written at its end, and a compaction goes upwards from the log start.
    Cleaner.cleanSegments (0.10.2 to 4.3.1) leaves a segment in the place of each group, though it may be empty.
    """
    logs = [log_name(segment.base_offset) for segment in view.segments]
    first = (view.read or (None,))[0]
    indexes = () if first is None or first.size else (first.offset_index, first.time_index)
    emptied = bool(indexes) and not any(index is None or index.entries for index in indexes)
    return emptied or any(log + suffix in view.files for log in logs for suffix in (CLEANED, SWAP, DELETED))


def _gaps(view: PartitionView) -> Iterator[tuple[SegmentView, SegmentView]]:
    """Yield neighboring segments with offsets between them. Both have only valid batches, and the first is complete."""
    start = view.log_start_offset or 0
    apart = [pair for pair in pairwise(view.read or ()) if start < pair[1].base_offset > pair[0].end_offset]
    neighbours = {(one.base_offset, other.base_offset) for one, other in pairwise(view.segments)} if apart else set()
    for one, other in apart:
        is_sound = one.end is End.WHOLE and not one.counts and not other.counts
        if is_sound and (one.base_offset, other.base_offset) in neighbours:
            yield one, other


RULE = Rule(severity=Severity.ERROR, scope=Scope.READ_PARTITION, check=check, depends_on_others=True)
