"""The offsets of a segment's batches do not rise.

What is wrong: each batch begins above the last offset of the one before it, also in a compacted log. Here one begins
at or below it, or ends below its own beginning. The base offset is not covered by the CRC, so a flipped bit goes
unnoticed; or a log was written over, or put together from two.

What the broker does: it does not notice it, in any release. Readers get records twice, or not at all; followers
refuse such a batch and their fetcher fails, again and again. If it is the last batch, the log end is wrong.

What to do: do not let this replica lead while another one is in sync. Let it be fetched anew.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import BatchFault, FaultyBatch, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import KEEP_A_COPY, REFETCH, batches_finding, has_faulty_batches
from kcheck.rules._words import kafka


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find the batches whose offsets do not lie above those before them."""
    return batches_finding(
        RULE,
        view,
        (BatchFault.ORDER, BatchFault.DELTA),
        _saying,
        effect=f"{kafka(release)} does not notice it: readers get records twice or not at all, followers fail there.",
        advice=f"{KEEP_A_COPY} {REFETCH}",
    )


def _saying(batch: FaultyBatch) -> str:
    if batch.fault is BatchFault.DELTA:
        return f"the batch at offset {batch.base_offset} ends at offset {batch.last_offset}, below its own beginning"
    return f"the batch at offset {batch.base_offset} follows offset {batch.before}"


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_batches)
