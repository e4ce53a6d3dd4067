"""The replicas of a partition have different topic ids.

What is wrong: A topic that was deleted and recreated has a new id. One of these directories belongs to an older topic
of the same name.

What the broker does: With KRaft it renames the directory whose id the cluster does not have to -stray. 3.6 and earlier
delete it. With ZooKeeper the replica neither leads nor follows. 2.8 ignores the difference, and truncates the replica
to the epochs and offsets that match its leader's by number. In all cases its records differ from the other replica's.

Where the metadata of the cluster prove which directory has another id than its topic, KC235 says so instead.

What to do: Ask the cluster for the id of the topic. Keep a copy of the directory with the other id before its broker
starts.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView, ReplicasView
from kcheck.rules._cluster import has_other_topic_id
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka

_REFUSES = "does not accept one of the two as a replica of the partition"
_TAKES = "accepts both as replicas of the partition, and truncates one where their epochs and offsets differ"


def check(view: ReplicasView, release: Release) -> Iterable[Finding]:
    """Compare existing ids; KC235 alone reports an id that is certainly not the cluster's."""
    named = [replica for replica in view.replicas if replica.topic_id is not None and not _is_refuted(replica)]
    if not release.has_partition_metadata:
        return
    for other in named[1:]:
        if other.topic_id != named[0].topic_id:
            yield RULE.finding(
                other.where,
                f"topic id {other.topic_id} differs from {named[0].topic_id} on broker {named[0].where.broker_id}",
                effect=f"{kafka(release)} {_TAKES if not release.compares_topic_ids else _REFUSES}.",
                advice="Ask the cluster for the topic's id (kafka-topics.sh --describe). Keep a copy of the other one.",
                data={"topic_id": other.topic_id, "other_topic_id": named[0].topic_id},
            )


def _is_refuted(view: PartitionView) -> bool:
    replica = view.in_cluster
    return replica is not None and replica.is_certain and has_other_topic_id(view, replica)


RULE = Rule(severity=Severity.ERROR, scope=Scope.REPLICAS, check=check)
