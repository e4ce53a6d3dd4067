"""The records of a batch cannot be read, though its CRC matches.

What is wrong: a batch holds as many records as its header names, each as long as its own length tells, with fields
that fill it. Here a length leads out of the batch, fields do not end where their record does, records are missing, or
bytes stand behind the last one. The CRC covers all that: the batch was made wrong, or was changed with its CRC.

What the broker does:

- A start, a follower and a fetch of a consumer take the batch as it is: none of them decodes records.
- A consumer fails at the first offset of the batch that it cannot decode (InvalidRecordException, KafkaException),
  again and again. It can only seek behind it.
- Compaction fails when it decodes the batch. From 2.1 on the cleaner leaves this partition out from then on; before,
  its thread ends, and no partition is compacted until the broker is started anew.
- Coordinators that load `__consumer_offsets` or `__transaction_state` fail to load the partition.

What to do: compare the batch with the other replicas. Where one holds it right, stop the broker, move this partition
directory out of the log dir, and let the broker fetch it anew. Where all hold the same, it came from its producer:
consumers have to seek behind it.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import RecordFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._records import records_finding, undecoded


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find the batches whose records do not fill them."""
    return records_finding(RULE, view, (RecordFault.FRAMING,), undecoded(release))


RULE = Rule(
    id="KC163",
    name="record-framing",
    severity=Severity.ERROR,
    scope=Scope.FAULTY_SEGMENT,
    check=check,
    page=__doc__,
)
