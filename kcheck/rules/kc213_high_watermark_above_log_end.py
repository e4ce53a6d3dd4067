"""The high watermark is above the log end, so committed records are missing in this replica.

What is wrong: replication-offset-checkpoint has a high watermark above the log end. All in-sync replicas had the
records up to it. The tail of the log was lost, or the file belongs to another log dir. Two normal events look the same.
An unclean leader election truncated the log, and the broker was killed within seconds. Or the log was truncated to an
offset inside a batch, which removes all of the batch. In a -future directory kcheck reports info, because 1.1 writes
the high watermark of the replica that it copies there.

What the broker does: It lowers the high watermark to the log end, without a warning. As a follower it fetches the
records again, if its leader has them. If this replica becomes leader, consumers never get the records, and the
followers lose them too.

What to do: Do not let this replica lead while another one has the records. Keep a copy of the partition directory if
no other replica is left. `kcheck recover` compares the disks of all brokers.
"""

from collections.abc import Iterable

from kcheck.model.finding import Claimed, Finding, Severity
from kcheck.model.names import REPLICATION_OFFSET, DirectoryState
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import says, served
from kcheck.rules._words import kafka
from kcheck.words import offset_range


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Compare the high watermark with the log end."""
    mark, end = view.high_watermark, view.log_end_offset
    if mark is None or end is None or mark <= end or not served(view):
        return
    if view.state is DirectoryState.FUTURE:
        words = f"{kafka(release)} lowers it to {end}, and continues to copy the replica from the other log dir."
        advice, severity = "Nothing, if the replica in the other log dir exists.", Severity.INFO
    else:
        words = (
            f"{kafka(release)} lowers it to {end} without a warning. If a broker wrote it, committed records are "
            f"missing here: {offset_range(end, mark)}. If this replica leads, consumers lose them."
        )
        advice = "Do not let this replica lead while another one has these records; as a follower it fetches them."
        severity = Severity.WARNING
    yield RULE.finding(
        view.where,
        f"the high watermark {mark} in {REPLICATION_OFFSET} is above the log end {end}",
        effect=says(words, Claimed.ENDS, end),
        advice=advice,
        severity=severity,
        data={"high_watermark": mark, "log_end_offset": end, "file": REPLICATION_OFFSET},
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.PARTITION, check=check, depends_on_others=True)
