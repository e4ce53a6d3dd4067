"""The leader epochs of a segment's batches fall.

What is wrong: a leader has a larger epoch than every leader before it, so the epochs in a log never fall, and none is
below -1. The CRC does not cover the epoch: a flipped bit goes unnoticed.

What the broker does: as long as its leader-epoch-checkpoint stands, nothing. A recovery of the segment takes the
wrong epoch into that file, and the truncation of this replica or of its followers then goes to wrong offsets. A
negative one it leaves out; a follower that fetches the batch refuses it, and its partition is marked as failed.

What to do: do not let this replica lead while another one is in sync. Let it be fetched anew.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import BatchFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import KEEP_A_COPY, REFETCH, batches_finding, has_faulty_batches
from kcheck.rules._words import kafka


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find the batches with an epoch below one before them, or below -1."""
    negative = any(batch.fault is BatchFault.EPOCH and batch.epoch < 0 for batch in view.faults)
    effect = f"A recovery by {kafka(release)} takes the wrong epoch over, and truncations go to wrong offsets."
    if negative:
        effect += " Followers refuse a batch with a negative epoch."
    return batches_finding(
        RULE,
        view,
        (BatchFault.EPOCH,),
        lambda batch: (
            f"the batch at offset {batch.base_offset} has epoch {batch.epoch}, one before it has {batch.before}"
        ),
        effect=effect,
        advice=f"{KEEP_A_COPY} {REFETCH}",
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_batches)
