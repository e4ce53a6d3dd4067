"""A batch has a magic that no Kafka knows.

What is wrong: the byte that tells the message format is 0, 1 or 2. The CRC does not cover it.

What the broker does: its file reader takes 3 to 127 for format 2, and everything else for an old message, and goes
on, at a recovery too. Consumers, followers and compaction refuse the batch, again and again.

What to do: if another replica is in sync, let this one be fetched anew.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import BatchFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import KEEP_A_COPY, REFETCH, batches_finding, has_faulty_batches
from kcheck.rules._words import kafka


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find the batches of an unknown magic."""
    return batches_finding(
        RULE,
        view,
        (BatchFault.MAGIC,),
        lambda batch: f"the batch at offset {batch.base_offset} has the magic {batch.magic}, known are 0, 1 and 2",
        effect=f"{kafka(release)} does not notice it at a start; consumers and followers fail there.",
        advice=f"{KEEP_A_COPY} {REFETCH}",
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_batches)
