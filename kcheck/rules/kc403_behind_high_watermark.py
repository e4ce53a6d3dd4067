"""A replica ends below the high watermark of another one.

What is wrong: possibly nothing. A replica that is out of sync lags behind. But if it was in sync when its broker
stopped, it has lost committed records.

What the broker does: as a follower it fetches the missing records. If it is elected leader, every replica loses the
records between its log end and the high watermark.

What to do: do not let it lead while another replica reaches the high watermark.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import ReplicasView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import offset_range
from kcheck.rules._words import kafka


def check(view: ReplicasView, release: Release) -> Iterable[Finding]:
    """Compare each log end with the largest high watermark."""
    known = [replica for replica in view.replicas if replica.high_watermark is not None]
    highest = max(known, key=lambda replica: replica.high_watermark or 0, default=None)
    if highest is None or highest.high_watermark is None:
        return
    mark = highest.high_watermark
    for replica in view.replicas:
        end = replica.log_end_offset
        if end is not None and end < mark and replica is not highest:
            yield RULE.finding(
                replica.where,
                f"the log end {end} is below the high watermark {mark} of broker {highest.where.broker_id}",
                effect=f"If this replica leads, {kafka(release)} loses {offset_range(end, mark)}.",
                advice="Do not let this replica lead while another one reaches the high watermark.",
                data={"log_end_offset": end, "high_watermark": mark, "other_broker_id": highest.where.broker_id},
            )


RULE = Rule(severity=Severity.INFO, scope=Scope.REPLICAS, check=check)
