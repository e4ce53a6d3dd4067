"""The leader epochs of the batches in a segment decrease.

What is wrong: Each new leader has a larger epoch than all leaders before it. So the epochs in a log never decrease, and
none is below -1. The CRC does not cover the epoch, so it does not reveal a flipped bit.

What the broker does: Nothing, as long as its leader-epoch-checkpoint exists. Recovery of the segment writes the wrong
epoch to that file. This replica or its followers then truncate to wrong offsets. Recovery skips a negative epoch. A
follower that fetches the batch refuses it, and its partition is marked as failed.

What to do: Do not let this replica lead while another one is in sync. Re-replicate it.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import BatchFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import KEEP_A_COPY, REFETCH, batches_finding, has_faulty_batches
from kcheck.rules._words import kafka


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find batches whose epoch is below the epoch of an earlier batch, or below -1."""
    negative = any(batch.fault is BatchFault.EPOCH and batch.epoch < 0 for batch in view.faults)
    effect = f"Recovery by {kafka(release)} uses the wrong epoch, and replicas truncate to wrong offsets."
    if negative:
        effect += " Followers refuse a batch with a negative epoch."
    return batches_finding(
        RULE,
        view,
        (BatchFault.EPOCH,),
        lambda batch: (
            f"the batch at offset {batch.base_offset} has epoch {batch.epoch}, an earlier one has {batch.before}"
        ),
        effect=effect,
        advice=f"{KEEP_A_COPY} {REFETCH}",
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_batches)
