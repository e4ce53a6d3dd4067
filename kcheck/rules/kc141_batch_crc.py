"""The CRC of a batch does not match its bytes: records were changed on disk.

What is wrong: each batch names a CRC over its attributes and records. The bytes that stand there give another one. A
disk, a controller, a copy or an editor has changed them.

What the broker does:

- At a start after an unclean stop it reads the segments from the recovery point on. At the first batch that is wrong
  it cuts the log and deletes every later segment, whatever stands behind.
- After a clean stop, and in segments below the recovery point, it does not look. Consumers and followers that reach
  the batch fail there, again and again, and compaction leaves the partition out.

What to do: do not let this replica lead while another one is in sync. Best: stop the broker, move this partition
directory out of the log dir, and let the broker fetch it anew. If this is the only replica, keep a copy first: what
stands behind the batch is lost with it when the broker cuts there.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import BatchFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import KEEP_A_COPY, REFETCH, batches_finding, cut_or_unnoticed, has_faulty_batches


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find the batches whose CRC does not match."""
    first = next((batch for batch in view.faults if batch.fault is BatchFault.CRC), None)
    if first is None:
        return []
    unnoticed = f"whoever reads offset {first.base_offset} fails there"
    return batches_finding(
        RULE,
        view,
        (BatchFault.CRC,),
        lambda batch: f"the CRC of the batch at offset {batch.base_offset} does not match its {batch.size} bytes",
        effect=cut_or_unnoticed(view, release, unnoticed),
        advice=f"{KEEP_A_COPY} {REFETCH}",
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_batches)
