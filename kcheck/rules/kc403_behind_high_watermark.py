"""A replica ends below the high watermark of another one.

What is wrong: Possibly nothing. A replica that is out of sync ends lower. But if it was in sync when its broker
stopped, it has lost committed records.

What the broker does: As a follower it fetches the missing records. If it is elected leader, every replica loses the
records between its log end and the high watermark.

What to do: Do not let it lead while another replica reaches the high watermark.

See: operations/power-loss.md
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import ReplicasView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._lag import lags
from kcheck.rules._words import kafka
from kcheck.words import agree, offset_range


def check(view: ReplicasView, release: Release) -> Iterable[Finding]:
    """Compare each log end with the largest high watermark; a replica in sync is KC407."""
    for lag in lags(view):
        if not lag.in_sync:
            yield RULE.finding(
                lag.replica.where,
                lag.words,
                effect=f"If this replica leads under {kafka(release)}, {offset_range(lag.end, lag.high_watermark)} "
                f"{agree(lag.high_watermark - lag.end, 'is', 'are')} lost.",
                advice="Do not let this replica lead while another one reaches the high watermark.",
                data=lag.data,
            )


RULE = Rule(severity=Severity.INFO, scope=Scope.REPLICAS, check=check, depends_on_others=True)
