"""A replica of a compacted topic has keys that another replica has deleted.

What is wrong: A tombstone deletes a key. Log cleaners remove tombstones too, after delete.retention.ms (24 hours by
default). The broker of this replica was down for longer, or its disk is an old copy. Its log has a value of the key,
and no replica has the tombstone any more.

What the broker does: A follower fetches only newer records, and keeps these values for ever. As a leader the broker
gives consumers the deleted keys again.

What to do: Do not let this replica lead. While another replica is in sync, stop the broker and move this partition
directory outside every log dir. The broker then fetches a new copy.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import ReplicasView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import REFETCH
from kcheck.rules._words import kafka
from kcheck.words import counted


def check(view: ReplicasView, release: Release) -> Iterable[Finding]:
    """Name each replica with deleted keys, and one without them."""
    for keys in view.returning:
        yield RULE.finding(
            keys.where,
            f"{counted(keys.key_count, 'key', 'keys')} that broker {keys.other.broker_id} has deleted, from offset"
            f" {keys.first} on",
            effect=f"{kafka(release)} does not notice. If this replica leads, consumers get the deleted keys again.",
            advice=f"Do not let this replica lead. {REFETCH}",
            data={"keys": keys.key_count, "first_offset": keys.first, "other_broker_id": keys.other.broker_id},
        )


RULE = Rule(severity=Severity.WARNING, scope=Scope.REPLICAS, check=check)
