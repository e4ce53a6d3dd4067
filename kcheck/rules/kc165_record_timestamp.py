"""The largest timestamp in a batch header differs from its records.

What is wrong: With producer timestamps (CreateTime), the header of a batch states the largest timestamp of its records.
It is -1 if none is above it. A leader sets it for every batch that it writes, and compaction sets it again. kcheck does
not compare batches with the broker's timestamp (LogAppendTime).

What the broker does: It does not notice it. Retention by time and lookups by time use the header. Records are kept too
long or deleted too early. A consumer that asks for a time can start after records that it should get.

What to do: Compare the batch with the other replicas. If another replica has it right, stop the broker and move this
partition directory outside every log dir. The broker then re-replicates it. If all replicas have the same batch, it
came from its producer, and consumers must seek past it.
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
    """Find the batches whose header states another largest timestamp."""
    return records_finding(
        RULE,
        view,
        (RecordFault.TIMESTAMP,),
        lambda _: f"{kafka(release)} does not notice it. Retention and lookups by time use the header.",
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_records)
