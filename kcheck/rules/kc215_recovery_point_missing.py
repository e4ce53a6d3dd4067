"""When the broker starts, it scans all segments of this partition, because it has no recovery point.

What is wrong: The last shutdown was unclean, and the log has several segments. But recovery-point-offset-checkpoint has
no entry for this partition, or an entry in its first segment. That is normal after the file was emptied, or when the
broker was killed before its first checkpoint (30 seconds).

What the broker does: It reads and checks every segment before the partition comes online. No data is lost. If it finds
a corrupt batch, it truncates the log there.

What to do: Nothing, but expect a long start. Do not write a higher value into the file. The broker would then skip the
segments below it.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import RECOVERY_POINT
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import segments_in_words, served
from kcheck.rules._words import kafka

SEGMENT_COUNT_MIN = 2
"""The last segment is scanned in any case, so a log of one segment costs nothing more."""


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find a log of which every segment is scanned."""
    if view.clean_shutdown is not False or view.is_metadata_log or not served(view):
        return
    if len(view.segments) < SEGMENT_COUNT_MIN:
        return
    point = view.recovery_point
    if point is not None and point >= view.segments[1].base_offset:
        return
    has = "has no entry for it" if point is None else f"says {point}, in its first segment"
    yield RULE.finding(
        view.where,
        f"the last shutdown was unclean, and {RECOVERY_POINT} {has}",
        effect=f"{kafka(release)} scans all of the log before the partition comes online: {segments_in_words(view)}.",
        advice="Nothing, but expect a long start. Never raise a recovery point.",
        data={"recovery_point": point, "scan_bytes": view.size, "segments": len(view.segments)},
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.PARTITION, check=check)
