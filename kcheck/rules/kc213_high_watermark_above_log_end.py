"""The high watermark is above the end of the log: committed records are missing in this replica.

What is wrong: replication-offset-checkpoint says up to which offset all replicas in sync had the records, and this
log ends before. The end of the log was lost, or the log was truncated by an unclean leader election and the broker
was killed within seconds, or it was truncated to an offset inside of a batch, which is cut as a whole, or the file
belongs to another log dir. In a -future directory it is an information: brokers of 1.1 write the high watermark of the
replica that they copy there.

What the broker does, in every release: it lowers the high watermark to the log end, without a warning. As a follower
it fetches the records again, if its leader has them. If this replica becomes leader, they are lost for consumers, and
the followers drop them too.

What to do: do not let this replica lead while another one is in sync. Keep a copy of the partition directory if no
other replica is left.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import REPLICATION_OFFSET, DirectoryState
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import offset_range, served
from kcheck.rules._words import kafka


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Compare the high watermark with the log end."""
    mark, end = view.high_watermark, view.log_end_offset
    if mark is None or end is None or mark <= end or not served(view):
        return
    if view.state is DirectoryState.FUTURE:
        effect = f"{kafka(release)} lowers it to {end}, and goes on to copy the replica from the other log dir."
        advice, severity = "Nothing is to be done, if the replica in the other log dir is there.", Severity.INFO
    else:
        effect = (
            f"{kafka(release)} lowers it to {end} and says nothing. This replica once had {offset_range(end, mark)} as "
            "committed and has them no more; if it leads, they are lost."
        )
        advice = "Do not let this replica lead while another one is in sync; as a follower it fetches them again."
        severity = Severity.WARNING
    yield RULE.finding(
        view.where,
        f"the high watermark {mark} in {REPLICATION_OFFSET} is above the log end {end}",
        effect=effect,
        advice=advice,
        severity=severity,
        data={"high_watermark": mark, "log_end_offset": end, "file": REPLICATION_OFFSET},
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.PARTITION, check=check)
