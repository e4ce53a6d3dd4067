"""The metadata are of a newer metadata.version than the software supports.

What is wrong: the finalized `metadata.version` of the cluster says which records the controllers write. Here it is
above what the release supports that `--kafka` names, or above what a registered broker supports. Somebody wants to go
back to an older Kafka, or the files belong to another cluster.

What the broker does: a node that reads records newer than it knows fails to load the metadata and does not start
("Can't read version 4 of BrokerEndpoint", "No MetadataVersion with feature level 30"). If it can read them, the
controller refuses to register it: "does not support finalized version".

What to do: start the nodes with a release that supports the metadata.version. To go back, first lower the
metadata.version with the newer release while the cluster runs (`kafka-features.sh downgrade`), as far as Kafka permits
it.
"""

from collections.abc import Iterable

from kcheck.core.metadata_replay import METADATA_VERSION
from kcheck.core.quorum import Quorum
from kcheck.core.release_evidence import age, line_of, line_of_level
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.rules._cluster import place_of
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka, listed


def check(view: Quorum, release: Release) -> Iterable[Finding]:
    """Compare the finalized level with the release, and with the levels of the registered brokers."""
    image = view.newest.image
    level = image.features.get(METADATA_VERSION)
    if level is None:
        return
    first = line_of_level(level)
    where = place_of(view.newest)._replace(dir=None)  # it is about the node, whatever becomes of the directory
    message = f"metadata.version is {level}, of Kafka {first}"
    advice = f"Start the nodes with Kafka {first} or later."
    if age(line_of(release.name)) < age(first):
        yield RULE.finding(
            where,
            message,
            effect=f"{kafka(release)} does not start with these metadata.",
            advice=advice,
            data={"metadata_version": level},
        )
    below = [
        broker.broker_id
        for _, broker in sorted(image.brokers.items())
        if METADATA_VERSION in broker.features and broker.features[METADATA_VERSION].highest < level
    ]
    if below:
        yield RULE.finding(
            where,
            f"{message}; the software of broker {listed(below)} does not support it",
            effect="The controller refuses to register these brokers: they do not start.",
            advice=advice,
            data={"metadata_version": level, "broker_ids": tuple(below)},
        )


RULE = Rule(severity=Severity.FATAL, scope=Scope.CLUSTER, check=check)
