"""The cluster does not place this replica on this broker.

What is wrong: In the cluster metadata the topic is deleted or has no partition of this number. Or the partition has no
replica on this broker. Usually that happened while the broker was down. The topic was deleted, or the partition was
reassigned. Or the directory was copied here. The metadata comes from `__cluster_metadata-0`, or from `--metadata`.

What a KRaft broker does with the directory when it starts:

- 3.7 and later: It renames it to `-stray`. The data stays on the disk, but the broker no longer serves it.
- 3.3 to 3.6: it DELETES it, unless a partition of the broker has no partition.metadata.

A ZooKeeper broker loads the directory, and neither serves nor deletes it. It only takes disk space, and the finding is
an info. It is a warning if ZooKeeper has no topic of this name and the directory holds records. ZooKeeper may have lost
its data. A broker that migrates to KRaft may rename it; the rule does not cover a migration.

Where the finding is a warning, the broker may see other metadata when it starts. This copy may be old, or its end not
committed.

What to do: Nothing, if the topic was deleted or moved on purpose. Otherwise copy the directory outside every log dir
before you start the broker. Kafka never deletes a renamed directory. Remove it when its records are not needed. If its
records should be served again, create the topic again and use `kcheck recover topic`.

If ZooKeeper lost its data, restore that. Do not create a topic while its directories are in the log dirs. The new topic
begins at leader epoch 0, and brokers take the old logs for its logs. Replicas then never come into sync, or differ. In
2.8 and later they refuse the directories. `kcheck recover topic` has the steps for a topic, and `kcheck recover
metadata --zookeeper` for all of them.

See: operations/stray-replica.md
"""

from collections.abc import Iterable

from kcheck.documents.strays import doubt_words, stray_words
from kcheck.model.cluster import ReplicaInCluster, StrayCause
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._cluster import has_metadata, has_other_topic_id
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import has_data, offsets_held
from kcheck.rules.kc235_topic_id_not_of_cluster import becomes_stray
from kcheck.words import shell_word


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find the replica that the metadata does not place here; one of a topic that was created again is KC235."""
    replica = view.in_cluster
    if replica is None or replica.stray is None or has_other_topic_id(view, replica):
        return
    doubt = doubt_words(replica.stray, replica.end)
    is_orphan = replica.of_zookeeper and replica.stray.cause is StrayCause.TOPIC and has_data(view)
    parts = [
        stray_words(replica.stray, replica.source),
        *([doubt] if doubt else []),
        *([f"the directory is an orphan that holds records{offsets_held(view)}"] if is_orphan else []),
    ]
    yield RULE.finding(
        view.where,
        "; ".join(parts),
        effect=becomes_stray(view, replica, release),
        advice=_create(view) if is_orphan else _advice(replica),
        severity=Severity.WARNING if is_orphan else _severity(replica, doubt),
        data={"topic_id": view.topic_id, "size": view.size},
    )


def _create(view: PartitionView) -> str:
    """Return how to get the records of a topic back that ZooKeeper has lost."""
    return (
        "If ZooKeeper lost its data, restore that. Do not create the topic while its directories are in the log dirs."
        f" kcheck recover topic {shell_word(view.topic)} has the steps, with the log dirs of all brokers."
    )


def _severity(replica: ReplicaInCluster, doubt: str | None) -> Severity:
    if replica.of_zookeeper:
        return Severity.INFO
    return Severity.WARNING if doubt else Severity.ERROR


def _advice(replica: ReplicaInCluster) -> str:
    if replica.of_zookeeper:
        return "Ask the cluster (kafka-topics.sh --describe). If it has no replica here, the directory is not needed."
    return (
        "Before the broker starts, copy the directory outside every log dir, unless the topic was deleted or moved on "
        "purpose. kcheck recover topic brings its records back into a topic of this name."
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.PARTITION, check=check, when=has_metadata, cites_metadata=True)
