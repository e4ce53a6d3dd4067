"""A message of magic 0 or 1, or what stands in a compressed wrapper of them, cannot be read or contradicts itself.

What is wrong: up to message format 0.10 each entry is one message, or a wrapper whose value holds compressed messages.
Here a key or value leads out of its message, a message in a wrapper has a wrong CRC, is compressed itself, does not lie
above the one before it, or the last one has another offset than its wrapper. The CRC of the entry matches.

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
    """Find the entries of magic 0 and 1 that cannot be read."""
    return records_finding(RULE, view, (RecordFault.MESSAGE,), undecoded(release))


RULE = Rule(
    id="KC169",
    name="message-set",
    severity=Severity.ERROR,
    scope=Scope.FAULTY_SEGMENT,
    check=check,
    page=__doc__,
)
