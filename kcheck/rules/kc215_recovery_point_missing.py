"""The next start scans the whole log of this partition, because it has no recovery point.

What is wrong: the last stop was unclean, and recovery-point-offset-checkpoint has no entry for this partition, or one
in its first segment, although the log has several segments. That is normal when the broker was killed soon after its
start (the first checkpoint comes after 30 seconds), or after somebody emptied the file.

What the broker does, in every release: it reads and checks every segment of the log before the partition is online.
No data is lost; a broken batch is found, and the log is cut there.

What to do: nothing, but expect a long start. Do not write a higher value into the file: then nobody checks the
segments below.
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
    """Find a log that is scanned whole."""
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
        f"the last stop was unclean, and {RECOVERY_POINT} {has}",
        effect=f"{kafka(release)} scans the whole log before the partition is online: {segments_in_words(view)}.",
        advice="Nothing, but expect a long start. Never raise a recovery point.",
        data={"recovery_point": point, "scan_bytes": view.size, "segments": len(view.segments)},
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.PARTITION, check=check)
