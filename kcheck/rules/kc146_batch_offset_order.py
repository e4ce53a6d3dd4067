"""The offsets of the batches in a segment do not increase.

What is wrong: Each batch begins above the last offset of the previous one, also in a compacted log. One batch begins at
or below that offset, or ends below its own base offset. The CRC does not cover the base offset, so it does not reveal a
flipped bit. Or a log was overwritten, or combined from two.

What the broker does: No release notices it. Readers get records twice, or not at all. Followers refuse the batch, and
their fetcher fails again and again. If it is the last batch, the log end offset is wrong.

What to do: Do not let this replica lead while another one is in sync. Re-replicate it.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import BatchFault, FaultyBatch, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import KEEP_A_COPY, REFETCH, batches_finding, has_faulty_batches
from kcheck.rules._words import kafka


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find batches whose offsets are not above the offsets of the batches before them."""
    return batches_finding(
        RULE,
        view,
        (BatchFault.ORDER, BatchFault.DELTA),
        _message,
        effect=f"{kafka(release)} does not notice it. Readers get records twice or not at all, and followers fail "
        "there.",
        advice=f"{KEEP_A_COPY} {REFETCH}",
    )


def _message(batch: FaultyBatch) -> str:
    if batch.fault is BatchFault.DELTA:
        return f"the batch at offset {batch.base_offset} ends at offset {batch.last_offset}, below its base offset"
    return f"the batch at offset {batch.base_offset} follows offset {batch.before}"


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_batches)
