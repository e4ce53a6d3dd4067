"""A replica in the ISR ends below the high watermark of another one.

What is wrong: Every replica in the ISR has all records below the high watermark. This one has not. It lost the end of
its log, as in a crash of its machine, or is an older copy. Or the partition had an unclean election, and what the
others have above it is lost already. kcheck reads the ISR from the metadata in `__cluster_metadata-0`, or where
`--metadata` points.

What the broker does: It may be elected leader, as if it had everything. Then every other replica truncates its log to
the end of this one, and committed records are lost.

What to do: Start no broker yet. `kcheck recover`, with the log dirs of all brokers, says which one starts first. A
replica that reaches the high watermark should lead; this one then fetches the missing records.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import ReplicasView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._lag import lags
from kcheck.rules._words import kafka
from kcheck.words import offset_range


def check(view: ReplicasView, release: Release) -> Iterable[Finding]:
    """Compare the log end of each replica in the ISR with the largest high watermark."""
    for lag in lags(view):
        if lag.in_sync:
            yield RULE.finding(
                lag.replica.where,
                f"{lag.words}, and the cluster lists this replica as in sync",
                effect=f"{kafka(release)} may elect this replica, and then loses "
                f"{offset_range(lag.end, lag.high_watermark)}.",
                advice="Start no broker yet. kcheck recover, with the log dirs of all brokers, gives the order.",
                data=lag.data,
            )


RULE = Rule(severity=Severity.ERROR, scope=Scope.REPLICAS, check=check, depends_on_others=True)
