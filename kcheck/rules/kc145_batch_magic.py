"""A batch has a magic byte that no Kafka release knows.

What is wrong: The byte for the message format must be 0, 1 or 2. The CRC does not cover it.

What the broker does: Its file reader treats 3 to 127 as format 2. It treats other values as an old message. Recovery
does the same. Consumers, followers and compaction refuse the batch, again and again.

What to do: If another replica is in sync, re-replicate this one.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import BatchFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import KEEP_A_COPY, REFETCH, batches_finding, has_faulty_batches
from kcheck.rules._words import kafka


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find the batches with an unknown magic."""
    return batches_finding(
        RULE,
        view,
        (BatchFault.MAGIC,),
        lambda batch: f"the batch at offset {batch.base_offset} has magic {batch.magic}; only 0, 1 and 2 are known",
        effect=f"{kafka(release)} does not notice it at startup; consumers and followers fail there.",
        advice=f"{KEEP_A_COPY} {REFETCH}",
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_batches)
