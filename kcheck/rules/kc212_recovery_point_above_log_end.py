"""The recovery point is above the log end, because records that were on the disk are lost.

What is wrong: The broker has flushed the log up to the recovery point, but the log ends below it. A segment was
truncated, removed or restored from an older copy, or the disk lost writes that it had confirmed. Or the file belongs to
another log dir. One harmless case looks the same. A truncation to an offset inside a batch removes all of the batch.
The recovery point is still inside it.

What the broker does: After a clean shutdown it ignores the recovery point. After an unclean shutdown it scans only the
last segment and then lowers the recovery point to the log end. With the largest possible value (9223372036854775807) it
scans nothing. It logs nothing about the missing records. If this replica becomes leader, the other replicas lose their
copies too.

What to do: Keep a copy of the partition directory. Do not let this replica lead while another one is in sync; as a
follower it fetches the records again. To make the broker scan all segments, remove the line of this partition from
recovery-point-offset-checkpoint. Then lower the count in line 2 by one. That is always safe.
"""

from collections.abc import Iterable

from kcheck.model.finding import Claimed, Finding, Severity
from kcheck.model.java import LONG_MAX
from kcheck.model.names import RECOVERY_POINT
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import says, served
from kcheck.rules._words import kafka
from kcheck.words import offset_range


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Compare the recovery point with the log end."""
    point, end = view.recovery_point, view.log_end_offset
    if point is None or end is None or point <= end or not served(view):
        return
    yield RULE.finding(
        view.where,
        f"the recovery point {point} in {RECOVERY_POINT} is above the log end {end}",
        effect=says(f"{kafka(release)} {_effect(view, point)}. {_gone(point, end)}", Claimed.ENDS, end),
        advice="Keep a copy of the partition directory. Do not let this replica lead while another one is in sync. The "
        f"broker scans every segment if you remove the line of this partition from {RECOVERY_POINT}, and lower "
        "its count by one.",
        data={"recovery_point": point, "log_end_offset": end, "file": RECOVERY_POINT},
    )


def _effect(view: PartitionView, point: int) -> str:
    if view.clean_shutdown:
        return "ignores it, because the last shutdown was clean"
    scans = "scans nothing" if point == LONG_MAX else "scans only the last segment"
    return f"{scans} after an unclean shutdown, and then lowers it to the log end"


def _gone(point: int, end: int) -> str:
    if point == LONG_MAX:
        return "No log reaches that offset."
    return f"If a broker wrote it, records are missing here, truncated or lost: {offset_range(end, point)}."


RULE = Rule(severity=Severity.WARNING, scope=Scope.PARTITION, check=check, depends_on_others=True)
