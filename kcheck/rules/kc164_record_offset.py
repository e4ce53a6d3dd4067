"""The offsets of the records in a batch do not increase, or leave the batch.

What is wrong: Each record states the distance between its offset and the batch's base offset. Within a batch these
numbers increase, up to at most the last offset of the batch. Only compaction leaves gaps. A leader checks them only in
compressed batches. A producer can write wrong ones, or the batch was changed together with its CRC.

What the broker does: It does not notice it. A consumer skips records at offsets that it already has, so it never gets
them. A record above the last offset of its batch makes the consumer skip records of the next batch. Compaction keeps
wrong records of a key.

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
    """Find the batches with a record out of order."""
    return records_finding(
        RULE,
        view,
        (RecordFault.OFFSET,),
        lambda _: (
            f"{kafka(release)} does not notice it. Consumers skip every record whose offset is not above the "
            "previous one and never get it."
        ),
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_records)
