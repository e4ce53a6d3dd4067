"""The broker of the replicas on some disks, according to the cluster metadata."""

from collections.abc import Iterable

from kcheck.model.cluster import ClusterImage
from kcheck.model.names import CLUSTER_METADATA, DirectoryState, PartitionDirectory, TopicPartition


def replicas_in(directories: Iterable[PartitionDirectory]) -> frozenset[TopicPartition]:
    """Return the partitions that have a current directory; no broker is assigned the metadata log."""
    return frozenset(
        TopicPartition(directory.topic, directory.partition)
        for directory in directories
        if directory.state is DirectoryState.CURRENT and directory.topic != CLUSTER_METADATA
    )


def owner_of(replicas: frozenset[TopicPartition], image: ClusterImage) -> int | None:
    """Return the only broker that is assigned exactly these partitions; None for no broker, or several."""
    assigned: dict[int, set[TopicPartition]] = {}
    for topic, number, registration in image.partitions():
        for broker_id in registration.replicas:
            assigned.setdefault(broker_id, set()).add(TopicPartition(topic.name, number))
    owners = [broker_id for broker_id, partitions in assigned.items() if replicas and partitions == replicas]
    return owners[0] if len(owners) == 1 else None
