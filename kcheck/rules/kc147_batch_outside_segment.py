"""A batch has offsets that its segment cannot hold.

What is wrong: a segment is named by an offset that lies at or below all of its own, and holds offsets up to
2147483647 above that one. Here some are outside: the file was renamed or copied under another name, or an offset was
destroyed.

What the broker does: nothing at a clean start; lookups in this segment miss the records. At a recovery, which writes
the indexes anew, the relative offset does not fit and the start fails.

What to do: if the first batch of the file tells that it belongs under another name, and no file has that name, rename
all files of the segment with the broker stopped. Otherwise let the replica be fetched anew.
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
        effect=f"{kafka(release)} finds these records by no lookup; a recovery of this segment fails.",
        advice=f"{KEEP_A_COPY} {REFETCH}",
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_batches)
