"""The logs of two replicas begin at different offsets.

What is wrong: mostly nothing. Each broker removes old segments at its own time, and a follower learns of deleted
records later. But where one replica begins above the end of another, they have no offset in common: that one was away
for longer than the records are kept.

What the broker does: a follower that ends below its leader's log start drops its whole log and begins again there. If
the one that ends lower is elected leader, everything that the other one holds is lost.

What to do: nothing where the logs overlap. Otherwise do not let the one that ends lower lead while the other is there.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import ReplicasView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka


def check(view: ReplicasView, release: Release) -> Iterable[Finding]:
    """Compare each log start with the highest one."""
    known = [replica for replica in view.replicas if replica.log_start_offset is not None]
    highest = max(known, key=lambda replica: replica.log_start_offset or 0, default=None)
    if highest is None or highest.log_start_offset is None:
        return
    start, broker_id = highest.log_start_offset, highest.where.broker_id
    for replica in known:
        if replica.log_start_offset == start:
            continue
        end = replica.log_end_offset
        apart = end is not None and end < start
        said = f"its log start is {replica.log_start_offset}, that of broker {broker_id} is {start}"
        drops = (
            f"As a follower of broker {broker_id} {kafka(release)} drops this log and begins again at {start}; as its "
        )
        yield RULE.finding(
            replica.where,
            f"{said}, above its log end {end}: they have nothing in common" if apart else said,
            effect=f"{drops}leader it has the other one drop everything."
            if apart
            else f"{kafka(release)} removes old records of each replica at its own time.",
            advice=f"Do not let it lead while broker {broker_id} has the partition."
            if apart
            else "Nothing has to be done.",
            severity=Severity.WARNING if apart else Severity.INFO,
            data={
                "log_start_offset": replica.log_start_offset,
                "log_end_offset": end,
                "other_log_start_offset": start,
                "other_broker_id": broker_id,
            },
        )


RULE = Rule(severity=Severity.INFO, scope=Scope.REPLICAS, check=check)
