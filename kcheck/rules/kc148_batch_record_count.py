"""A batch names more records than it has offsets for, or fewer than none.

What is wrong: a batch holds at most one record for each of its offsets; compaction can only remove some. Its CRC
covers the number, so if that matches, the batch was made wrong by what produced it.

What the broker does: it does not notice it, and hands the batch to followers. Consumers and compaction fail when they
decode it, if it names fewer than none, or does not hold as many as it names: `--depth records` tells. Where it does,
they read all of them.

What to do: no repair in place can be proven. If another replica has the batch right, let this one be fetched anew.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import BatchFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import KEEP_A_COPY, REFETCH, batches_finding, has_faulty_batches
from kcheck.rules._words import kafka


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find the batches whose number of records cannot be."""
    return batches_finding(
        RULE,
        view,
        (BatchFault.COUNT,),
        lambda batch: (
            f"the batch of offsets {batch.base_offset} to {batch.last_offset} names {batch.record_count} records"
        ),
        effect=f"{kafka(release)} does not notice it at a start; consumers fail if the batch does not hold so many.",
        advice=f"{KEEP_A_COPY} {REFETCH}",
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_batches)
