"""Two clusters of a fleet scan have one cluster id, or two brokers of a cluster have one broker id.

What is wrong: Log dirs below two {cluster} names of ROOT have the same cluster.id. Or log dirs below two {broker} names
have the same cluster.id and node.id. Only `kcheck fleet scan` looks. One folder is a copy of the other, or has a disk
of the other. Or one cluster or broker has two names.

What the broker does: A broker joins every cluster that has its cluster id. Brokers of a copy that reach the original
controllers register there. Kafka refuses a second broker with the same id only while the first one runs.

What to do: Give one cluster, and one broker, one name in ROOT. Scan copies apart, with another `--output-dir`. Never
start a copy in the network of the original.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.lost import RunView, SharedBroker, SharedCluster
from kcheck.model.release import Release
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka


def check(view: RunView, release: Release) -> Iterable[Finding]:
    """Report a cluster id that several clusters have, or a broker id that several brokers have."""
    if isinstance(view, SharedCluster):
        yield RULE.finding(
            Location(),
            f"clusters {' and '.join(view.clusters)} have the same cluster.id {view.cluster_id}",
            effect=f"{kafka(release)} lets brokers of a copy join the original.",
            advice="Scan a copy apart. Do not start a copy in the network of the original.",
            data={"cluster_id": view.cluster_id, "clusters": view.clusters},
        )
    if isinstance(view, SharedBroker):
        yield RULE.finding(
            Location(broker_id=view.broker_id),
            f"{' and '.join(view.brokers)} have log dirs of the same broker {view.broker_id}",
            effect=f"{kafka(release)} refuses a second broker with this id while the first one runs. A host that runs"
            " alone leads with the records of its own disks.",
            advice="Find out which disks are the newest, and start no broker with the others. Give one broker one name"
            " in ROOT.",
            severity=Severity.ERROR,
            data={"broker_id": view.broker_id, "brokers": view.brokers},
        )


RULE = Rule(severity=Severity.WARNING, scope=Scope.RUN, check=check)
