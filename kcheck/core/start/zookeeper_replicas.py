"""What the metadata in ZooKeeper say of a replica on disk: KafkaController, ReplicaManager 0.8.2 to 3.9.

A controller tells a broker which replicas it has. A directory that no request names is loaded, and stays as it is: only
a KRaft broker, or one that migrates, looks for strays.
"""

from kcheck.core.start.topic_settings import expires, is_compacted
from kcheck.model.cluster import ReplicaInCluster, Stray, StrayCause, StrayDoubt
from kcheck.model.views import LogDirView, PartitionView
from kcheck.model.zookeeper_metadata import ZookeeperCopy


def replica_in_zookeeper(copy: ZookeeperCopy, view: PartitionView, log_dir: LogDirView) -> ReplicaInCluster | None:
    """Return what the metadata say of a replica; None for a directory that is none.

    Also None during a migration to KRaft, for another cluster, and while the broker runs: its files may be newer.
    """
    cluster_id = copy.metadata.cluster_id
    is_other = None not in (cluster_id, log_dir.cluster_id) and cluster_id != log_dir.cluster_id
    if not view.is_replica or is_other or copy.metadata.migration is not None or log_dir.locked_by is not None:
        return None
    topic = copy.metadata.image.topics.get(view.topic)
    topic_id = None if topic is None else topic.topic_id
    differs = None not in (topic_id, view.topic_id) and topic_id != view.topic_id
    return ReplicaInCluster(
        source=copy.path,
        topic_id=topic_id,
        registration=None if topic is None or differs else topic.partitions.get(view.partition),
        stray=_unplaced(copy, view),
        is_certain=copy.is_only,
        of_zookeeper=True,
        compacted=is_compacted(copy.metadata.image, view.topic),
        expires=expires(copy.metadata.image, view.topic),
    )


def _unplaced(copy: ZookeeperCopy, view: PartitionView) -> Stray | None:
    """Return why the cluster has no such replica on the broker; None if it has, or if the copy does not tell."""
    topic, broker_id = copy.metadata.image.topics.get(view.topic), view.where.broker_id
    doubt = None if copy.is_only else StrayDoubt.OLDER
    if topic is None:
        return Stray(StrayCause.TOPIC, None, doubt=doubt) if copy.names_all else None
    registration = topic.partitions.get(view.partition)
    if registration is None:
        return Stray(StrayCause.PARTITION, view.partition, doubt=doubt) if copy.names_all else None
    if broker_id is None or topic.deleting or broker_id in registration.replicas:
        return None
    return Stray(StrayCause.REPLICA, broker_id, doubt=doubt)
