"""A batch states more records than it has offsets, or a negative number.

What is wrong: A batch holds at most one record for each of its offsets; compaction can only remove some. The CRC covers
the number. If the CRC matches, the producer created the batch with the wrong number.

What the broker does: It does not notice it, and sends the batch to followers. Consumers and compaction fail if the
number is negative, or if the batch does not hold that many records. `--depth records` checks this. If the batch does
hold them, they read all of them.

What to do: kcheck cannot prove any repair in place. If another replica has a correct batch, re-replicate this one.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import BatchFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import KEEP_A_COPY, REFETCH, batches_finding, has_faulty_batches
from kcheck.rules._words import kafka


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find the batches with an impossible number of records."""
    return batches_finding(
        RULE,
        view,
        (BatchFault.COUNT,),
        lambda batch: (
            f"the batch of offsets {batch.base_offset}-{batch.last_offset} states {batch.record_count} records"
        ),
        effect=f"{kafka(release)} does not notice it at startup; consumers fail if the batch does not hold that many.",
        advice=f"{KEEP_A_COPY} {REFETCH}",
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_batches)
