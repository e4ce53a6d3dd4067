"""Let a directory become a replica of the present topic of its name.

With ZooKeeper the repair moves partition.metadata aside. The broker writes it again, with the id that ZooKeeper has. It
requires a proof that the topic was not deleted. The files of the ZooKeeper server must show no deletion of it. They
must begin with an empty ZooKeeper, or with the topic under the id on disk. Then ZooKeeper was lost and the topic
created again, or its znode was edited.

In all other cases only the user knows that the records should come back. `--adopt` writes the new id into
partition.metadata, also for a topic that was deleted by mistake and created again. The topic must have this partition,
with a replica on this broker. Do so on each broker that has a copy, before any of them starts. If the leader epochs on
the disk are above the topic's present ones, its followers would never come into sync. `kcheck recover topic` writes the
epochs too.

If another topic has the id, the directory may have the wrong name. Then a replica of another broker (`--against`) must
have the same batches under this name.
"""

from collections.abc import Iterator

from kcheck.core.cluster.topic_ids import TopicIdHistory
from kcheck.formats import partition_metadata
from kcheck.formats.partition_metadata import PartitionMetadata
from kcheck.model.cluster import FROM_SNAPSHOT, ReplicaInCluster
from kcheck.model.finding import Finding
from kcheck.model.names import PARTITION_METADATA
from kcheck.repairs._contract import (
    AsideEdit,
    Edit,
    Evidence,
    Impact,
    PartitionSite,
    Refused,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
    Settled,
    WriteEdit,
)
from kcheck.repairs._files import path_of


def plan(partition: PartitionSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield what becomes of partition.metadata."""
    finding, view, log_dir = findings[0], partition.view, partition.log_dir
    replica = view.in_cluster
    assert replica is not None
    assert view.topic_id is not None
    if replica.of_zookeeper and not partition.release.compares_topic_ids:
        yield Settled(finding)  # The broker goes by the name alone.
        return
    why_not = None
    if not log_dir.adopts:
        why_not = _deletion(replica)
        why_not = why_not or why_another_topic(log_dir.topic_id_histories.get(view.topic), view.topic_id)
    if why_not is not None:
        yield Refused(finding, f"{why_not}; if you want the records back: --adopt, or kcheck recover topic")
    elif not replica.is_certain:
        yield Refused(finding, f"{replica.source} may be older than the directory; name newer metadata")
    elif not _is_replica(partition):
        yield Refused(finding, f"the topic has no replica of partition {view.partition} on this broker")
    elif replica.owner is not None and not _is_proven(partition):
        why = f"the id is of {replica.owner}, so the name of the directory may be wrong"
        yield Refused(finding, f"{why}; kcheck recover compares the batches of all brokers")
    elif _has_later_epochs(partition):
        why = "its leader epochs are above the topic's now, so followers would never come into sync"
        yield Refused(finding, f"{why}: kcheck recover topic writes the epochs too")
    else:
        yield _adopted(partition, finding, replica)


def _deletion(replica: ReplicaInCluster) -> str | None:
    """Return the place where the metadata log deletes the topic; None if not known."""
    since = None if replica.stray is None else replica.stray.since
    known = since is not None and since != FROM_SNAPSHOT
    return f"the topic was deleted at offset {since} of {replica.source}" if known else None


def _is_proven(partition: PartitionSite) -> bool:
    """Return whether another broker has the same batches under this name."""
    pairs = ((one, other) for other in partition.holders() for one, other in ((partition, other), (other, partition)))
    return any(bool(other.view.size) and one.contains(other) for one, other in pairs)


def _is_replica(partition: PartitionSite) -> bool:
    view = partition.view
    known = partition.log_dir.registration(view.topic, view.partition)
    return known is not None and view.where.broker_id in known.replicas


def _has_later_epochs(partition: PartitionSite) -> bool:
    """Return whether a leader would empty its epoch cache at its first batch (LeaderEpochFileCache 2.8 to 4.3.1)."""
    view = partition.view
    known = partition.log_dir.registration(view.topic, view.partition)
    last = max((epoch for epoch, _ in view.leader_epochs), default=-1)
    return known is not None and len(known.replicas) > 1 and last > (known.leader_epoch or 0)


def _adopted(partition: PartitionSite, finding: Finding, replica: ReplicaInCluster) -> RepairStep:
    topic_id, path = str(replica.topic_id), path_of(partition, PARTITION_METADATA)
    edit: Edit = WriteEdit(path, partition_metadata.serialize(PartitionMetadata(0, topic_id)))
    reason = f"name the id that the cluster gave {partition.view.topic}, {topic_id}"
    what = f"topic id {topic_id}"
    if replica.of_zookeeper:
        edit, reason = AsideEdit(path), f"{reason}: the broker writes the file again"
    if not partition.log_dir.adopts:
        what = f"{what}, and no deletion of the topic"
    return RepairStep(finding, (edit,), reason, (Evidence(replica.source, None, crc_verified=None, what=what),))


def why_another_topic(history: TopicIdHistory | None, topic_id: str) -> str | None:
    """Return why the topic may be another one than the topic with the old id; None if not.

    It is the same if it was not deleted. Then ZooKeeper was lost and the topic created again, or its znode was edited.
    """
    if history is None:
        return "the given metadata does not show whether the topic was deleted"
    if history.deleted_at is not None:
        return f"the topic was deleted in ZooKeeper's transaction {history.deleted_at:#x}"
    if history.begins_empty or topic_id in history.ids:
        return None
    return "ZooKeeper's files begin after its cluster; whether the topic was deleted before is not known"


REPAIR = Repair(
    name="adopt-directories",
    rank=28,
    scope=RepairScope.PARTITION,
    rules=("KC235",),
    plan=plan,
    impact=Impact.CHECKPOINT,
    page=__doc__,
)
