"""A batch has more bytes of records than kcheck looks into.

What is wrong: perhaps nothing. kcheck holds at most 10 MiB of records of one batch in memory, after decompression, and
did not look at the records of this one. A small batch that grows so much can be a decompression bomb: whoever reads it
needs that memory.

What the broker does: it stores and serves the batch as it is. `max.message.bytes` bounds the compressed size alone.
Consumers need the memory for the largest record in it, and some clients for the whole batch.

What to do: if the batch is not expected to be so large, find its producer.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import RecordFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._records import records_finding
from kcheck.rules._segments import has_faulty_records
from kcheck.rules._words import kafka


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find the batches that were not looked into."""
    return records_finding(
        RULE,
        view,
        (RecordFault.SIZE,),
        lambda _: f"{kafka(release)} serves it as it is.",
        advice="If so large a batch is not expected, find its producer.",
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_records)
