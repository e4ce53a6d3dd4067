"""The CRC of a batch does not match its bytes, because records changed on disk.

What is wrong: The header of a batch holds a CRC of its attributes and records. The bytes on disk have a different CRC.
A disk, a controller, a copy or an editor changed them.

What the broker does:

- After an unclean shutdown, log recovery reads the segments from the recovery point on. At the first corrupt batch it
  truncates the log and deletes every later segment.
- After a clean shutdown, and in segments below the recovery point, it does not check. Consumers and followers that
  reach the batch fail there, again and again. Compaction skips the partition.

What to do: Do not let this replica lead while another one is in sync. The best repair is another copy. Stop the broker,
move this partition directory outside every log dir, and let the broker re-replicate it. If this is the only replica,
keep a copy first. When the broker truncates the log, everything after the batch is lost too.

See: operations/fleet.md
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
    unnoticed = f"every read of offset {first.base_offset} fails"
    return batches_finding(
        RULE,
        view,
        (BatchFault.CRC,),
        lambda batch: f"the CRC of the batch at offset {batch.base_offset} does not match its {batch.size} bytes",
        effect=cut_or_unnoticed(view, release, unnoticed),
        advice=f"{KEEP_A_COPY} {REFETCH}",
    )


RULE = Rule(
    severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_batches, depends_on_others=True
)
