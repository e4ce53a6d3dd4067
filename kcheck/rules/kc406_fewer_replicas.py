"""A partition is on fewer of the given brokers than another partition of its topic.

What is wrong: Possibly nothing. The partitions of a topic usually have the same number of replicas. One partition has
fewer on the brokers that you gave to kcheck. Its other replica may be on a broker that you did not give, or is being
moved. Or its directory was lost or renamed (-stray, -delete).

What the broker does: It creates a missing directory again, empty, and fetches the records from the leader.

What to do: If you gave every broker of the cluster, a lost directory means one copy fewer. Compare with the assignment
(kafka-topics.sh --describe) before you start or elect anything.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import ReplicasView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka
from kcheck.words import agree, listed


def check(view: ReplicasView, release: Release) -> Iterable[Finding]:
    """Compare the number of replicas with the largest of the topic."""
    seen = len(view.replicas)
    if seen >= view.replica_count_of_topic:
        return
    one = view.replicas[0]
    ids = [replica.where.broker_id for replica in view.replicas]
    yield RULE.finding(
        one.where,
        f"only {agree(seen, 'broker', 'brokers')} {listed(ids)} {agree(seen, 'has', 'have')} this partition; other "
        f"partitions of the topic have {view.replica_count_of_topic} replicas",
        effect=f"If a directory was lost, {kafka(release)} creates it again, empty, and fetches from the leader.",
        advice="If you gave all brokers of the cluster, compare with kafka-topics.sh --describe.",
        data={"brokers": tuple(ids), "replica_count": seen, "replica_count_of_topic": view.replica_count_of_topic},
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.REPLICAS, check=check)
