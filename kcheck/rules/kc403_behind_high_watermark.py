"""A replica ends below the high watermark of another one.

What is wrong: maybe nothing. A replica that is not in sync is behind. But if it was in sync when its broker stopped,
it has lost committed records.

What the broker does: as a follower it fetches what it lacks. If it is elected leader, what lies between is lost
everywhere.

What to do: do not let it lead while a replica is there that reaches the high watermark.
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
                f"its log end {end} is below the high watermark {mark} of broker {highest.where.broker_id}",
                effect=f"If it leads, {kafka(release)} loses {offset_range(end, mark)}.",
                advice="Do not let it lead while a replica reaches the high watermark.",
                data={"log_end_offset": end, "high_watermark": mark, "other_broker_id": highest.where.broker_id},
            )


RULE = Rule(severity=Severity.INFO, scope=Scope.REPLICAS, check=check)
