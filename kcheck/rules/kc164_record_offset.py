"""The offsets of the records in a batch do not rise, or leave the batch.

What is wrong: each record says how far its offset lies above that of the batch. In a batch these numbers rise, from 0
at least to the last offset of the batch at most; only compaction leaves gaps. A leader checks them in compressed
batches alone: a faulty producer can write them, or the batch was changed together with its CRC.

What the broker does: it does not notice it. A consumer skips records whose offsets it has had already, so that they are
lost to it; a record above the last offset of its batch makes it skip records of the next one. Compaction keeps wrong
records of a key.

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
    """Find the batches with a record that is out of order."""
    return records_finding(
        RULE,
        view,
        (RecordFault.OFFSET,),
        lambda _: (
            f"{kafka(release)} does not notice it. Consumers skip every record that is not above the one before: "
            "they never get it."
        ),
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_records)
