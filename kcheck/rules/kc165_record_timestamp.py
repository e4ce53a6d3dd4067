"""The largest timestamp of a batch is not that of its records.

What is wrong: where timestamps are those of the producers (CreateTime), the header of a batch names the largest one of
its records, -1 where none is above it. A leader sets it for every batch that it writes, and compaction sets it anew.
Batches with the time of the broker (LogAppendTime) are not compared.

What the broker does: it does not notice it. Retention by time and lookups by time go by the header: records are kept
too long or deleted too early, and a consumer that asks for a time can be sent behind records that it should get.

What to do: compare the batch with the other replicas. Where one holds it right, stop the broker, move this partition
directory out of the log dir, and let the broker fetch it anew. Where all hold the same, it came from its producer:
consumers have to seek behind it.
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
    """Find the batches whose header names another largest timestamp."""
    return records_finding(
        RULE,
        view,
        (RecordFault.TIMESTAMP,),
        lambda _: f"{kafka(release)} does not notice it. Retention and lookups by time go by the header.",
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_records)
