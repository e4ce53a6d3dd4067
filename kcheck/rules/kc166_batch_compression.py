"""A batch cannot be decompressed, though its CRC matches.

What is wrong: the records of the batch are compressed as one, and what stands there breaks off, is none of the codec
that the header names, or does not have its own checksum.

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
    """Find the batches that do not decompress."""
    return records_finding(RULE, view, (RecordFault.COMPRESSION,), undecoded(release))


RULE = Rule(
    id="KC166",
    name="batch-compression",
    severity=Severity.ERROR,
    scope=Scope.FAULTY_SEGMENT,
    check=check,
    page=__doc__,
)
