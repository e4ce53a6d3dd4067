"""The logs of two replicas begin at different offsets.

What is wrong: Usually nothing. Each broker removes old segments at its own time, and a follower learns of deleted
records later. But if one replica begins above the end of another, the two have no offset in common. The other one was
offline for longer than the retention time.

What the broker does: A follower that ends below its leader's log start deletes all of its records. It begins again
there. If the replica that ends lower is elected leader, all records of the other one are lost.

What to do: Nothing where the logs overlap. Otherwise do not let the replica that ends lower lead while the other one
exists.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import ReplicasView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._remote import lacked_histories
from kcheck.rules._words import kafka


def check(view: ReplicasView, release: Release) -> Iterable[Finding]:
    """Compare each log start with the highest one."""
    known = [replica for replica in view.replicas if replica.log_start_offset is not None]
    highest = max(known, key=lambda replica: replica.log_start_offset or 0, default=None)
    if highest is None or highest.log_start_offset is None:
        return
    start, broker_id = highest.log_start_offset, highest.where.broker_id
    if any(lacking.view is highest for lacking in lacked_histories(view, release)):
        return  # KC411 says more.
    for replica in known:
        if replica.log_start_offset == start:
            continue
        end = replica.log_end_offset
        apart = end is not None and end < start
        said = f"the log start is {replica.log_start_offset}; on broker {broker_id} it is {start}"
        drops = (
            f"As a follower of broker {broker_id} {kafka(release)} deletes this log and begins again at {start}. As "
        )
        yield RULE.finding(
            replica.where,
            f"{said}, above the log end {end} here; the two have no offset in common" if apart else said,
            effect=f"{drops}its leader it makes broker {broker_id} delete its log."
            if apart
            else f"{kafka(release)} removes old records of each replica at its own time.",
            advice=f"Do not let this replica lead while broker {broker_id} has the partition." if apart else "Nothing.",
            severity=Severity.WARNING if apart else Severity.INFO,
            data={
                "log_start_offset": replica.log_start_offset,
                "log_end_offset": end,
                "other_log_start_offset": start,
                "other_broker_id": broker_id,
            },
        )


RULE = Rule(severity=Severity.INFO, scope=Scope.REPLICAS, check=check, depends_on_others=True)
