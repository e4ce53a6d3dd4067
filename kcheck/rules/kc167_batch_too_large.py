"""A batch has more bytes of records than kcheck reads.

What is wrong: Perhaps nothing. kcheck keeps at most 10 MiB of decompressed records of one batch in memory. It did not
read the records of this one. A small batch that grows this much can be a decompression bomb. Every reader needs that
much memory.

What the broker does: It stores and serves the batch as it is. `max.message.bytes` limits only the compressed size.
Consumers need memory for the largest record in it, and some clients for all of them.

What to do: If you do not expect a batch this large, find its producer.
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
    """Find the batches whose records kcheck did not read."""
    return records_finding(
        RULE,
        view,
        (RecordFault.SIZE,),
        lambda _: f"{kafka(release)} serves it as it is.",
        advice="If you do not expect a batch this large, find its producer.",
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_records)
