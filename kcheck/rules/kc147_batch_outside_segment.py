"""A batch has offsets outside the range of its segment.

What is wrong: The name of a segment is an offset at or below all of its own. The segment can hold offsets up to
2147483647 above its name. Some offsets are outside that range. The file was renamed or copied under another name, or an
offset is corrupt.

What the broker does: Nothing at a clean start; lookups in this segment miss the records. Recovery rebuilds the indexes.
The relative offset does not fit, and the broker does not start.

What to do: The first batch of the file may show its right name. If no file has that name, stop the broker and rename
all files of the segment. Otherwise re-replicate this replica.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import BatchFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import KEEP_A_COPY, REFETCH, batches_finding, has_faulty_batches
from kcheck.rules._words import kafka


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find the batches below the segment's base offset, or too far above it."""
    return batches_finding(
        RULE,
        view,
        (BatchFault.RANGE,),
        lambda batch: (
            f"the batch holds offsets {batch.base_offset}-{batch.last_offset}, its segment is {view.base_offset}"
        ),
        effect=f"{kafka(release)} does not find these records by lookup; recovery of this segment fails.",
        advice=f"{KEEP_A_COPY} {REFETCH}",
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_batches)
