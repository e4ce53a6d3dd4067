"""The metadata is of a newer metadata.version than the software supports.

What is wrong: The finalized `metadata.version` of the cluster says which records the controllers write. That version is
above what the release of `--kafka` supports, or above what a registered broker supports. Or the release does not
support another finalized feature, like `share.version`. Or it is 4.0 or newer, and the metadata.version is below
3.3-IV3 (7). Often a cluster is to go back to an older Kafka, or skips releases. Or the files belong to another cluster.

What the broker does: A node that reads records newer than it knows does not start. Its log has "Can't read version 4 of
BrokerEndpoint" or "No MetadataVersion with feature level 30". If it can read them, the controller refuses to register
it: "does not support finalized version". No node serves a partition. But a broker of 3.6 and earlier that is not also a
controller continues after records that it cannot read. It loads its logs, DELETES the replicas of topics that it has
not read, and stops.

What to do: Start the nodes with a release that supports the metadata.version. To go back, first lower the
metadata.version with the newer release while the cluster runs. Use `kafka-features.sh downgrade`, as far as Kafka
permits it.

See: operations/upgrade.md
"""

from collections.abc import Iterable

from kcheck.core.cluster.metadata_replay import METADATA_VERSION
from kcheck.core.cluster.metadata_version import FinalizedFeature, finalized_features, unsupported
from kcheck.core.cluster.quorum import Quorum
from kcheck.core.start.startup import Outcome
from kcheck.core.start.strays import becomes_of_strays
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.rules._cluster import place_of
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import kafka
from kcheck.words import listed


def check(view: Quorum, release: Release) -> Iterable[Finding]:
    """Compare the finalized features with the release, and with the levels of the registered brokers."""
    image = view.newest.image
    where = place_of(view.newest)._replace(dir=None)  # it is about the node, whatever becomes of the directory
    refused = unsupported(image, release)
    if refused is not None:
        is_metadata_version = refused.name == METADATA_VERSION
        yield RULE.finding(
            where,
            feature_words(refused),
            effect=f"{effect(release)}.",
            advice=_advice(refused),
            data={"metadata_version": refused.level} if is_metadata_version else {refused.name: refused.level},
        )
    version = next((feature for feature in finalized_features(image) if feature.name == METADATA_VERSION), None)
    if version is None:
        return
    below = [
        broker.broker_id
        for _, broker in sorted(image.brokers.items())
        if METADATA_VERSION in broker.features and broker.features[METADATA_VERSION].highest < version.level
    ]
    if below:
        yield RULE.finding(
            where,
            f"{feature_words(version)}; the software of broker {listed(below)} does not support it",
            effect="The controller refuses to register these brokers, so they do not start.",
            advice=_advice(version),
            data={"metadata_version": version.level, "broker_ids": tuple(below)},
        )


def feature_words(feature: FinalizedFeature) -> str:
    """Return `metadata.version is 30, of Kafka 4.3`."""
    return f"{feature.name} is {feature.level}, of Kafka {feature.first}"


def _advice(feature: FinalizedFeature) -> str:
    if feature.last is None:
        return f"Start the nodes with Kafka {feature.first} or later."
    return f"Start the nodes with Kafka {feature.first} to {feature.last}, and raise {feature.name} before an upgrade."


def effect(release: Release) -> str:
    """Return the reaction of a node to the metadata of a cluster with features that it does not support."""
    stops = f"{kafka(release)} does not start with these metadata"
    if becomes_of_strays(release) is not Outcome.DELETED:
        return stops
    return f"{stops}; a broker without controller role can DELETE replicas as strays before it stops"


RULE = Rule(severity=Severity.FATAL, scope=Scope.CLUSTER, check=check)
