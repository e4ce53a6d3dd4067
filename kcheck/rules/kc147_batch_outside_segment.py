"""A batch has offsets outside the range of its segment.

What is wrong: the name of a segment is an offset at or below all of its own. The segment can hold offsets up to
2147483647 above its name. Here some are outside that range: somebody renamed the file or copied it under another
name, or an offset is corrupt.

What the broker does: nothing at a clean start; lookups in this segment miss the records. Recovery rebuilds the
indexes: the relative offset does not fit, and the start fails.

What to do: if the first batch of the file shows that it belongs under another name, and no file has that name, rename
all files of the segment with the broker stopped. Otherwise re-replicate this replica.
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
            f"the batch holds offsets {batch.base_offset} to {batch.last_offset}, its segment is {view.base_offset}"
        ),
        effect=f"{kafka(release)} does not find these records by lookup; recovery of this segment fails.",
        advice=f"{KEEP_A_COPY} {REFETCH}",
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_batches)
