"""A partition is on fewer of the given brokers than another partition of its topic.

What is wrong: possibly nothing. The partitions of a topic usually have the same number of replicas. Here one has fewer
on the brokers that kcheck was given. Its other replica is on a broker that was not given, it is being moved, or its
directory was lost or renamed (-stray, -delete).

What the broker does: it creates a missing directory again, empty, and fetches the records from the leader.

What to do: if you gave every broker of the cluster, compare with the assignment (kafka-topics.sh --describe) before you
start or elect anything: with a lost directory there is one copy fewer.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import ReplicasView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka
from kcheck.words import listed


def check(view: ReplicasView, release: Release) -> Iterable[Finding]:
    """Compare the number of replicas with the largest of the topic."""
    seen = len(view.replicas)
    if seen >= view.replica_count_of_topic:
        return
    one = view.replicas[0]
    ids = [replica.where.broker_id for replica in view.replicas]
    yield RULE.finding(
        one.where,
        f"this partition is on {seen} of the given brokers ({listed(ids)}); another of its topic is on "
        f"{view.replica_count_of_topic}",
        effect=f"If a directory was lost, {kafka(release)} creates it again, empty, and fetches from the leader.",
        advice="If you gave all brokers of the cluster, compare with kafka-topics.sh --describe.",
        data={"brokers": tuple(ids), "replica_count": seen, "replica_count_of_topic": view.replica_count_of_topic},
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.REPLICAS, check=check)
