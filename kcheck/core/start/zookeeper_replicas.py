"""The metadata in ZooKeeper about a replica on disk (KafkaController, ReplicaManager 0.8.2 to 3.9).

A controller tells a broker which replicas it has. The broker also loads a directory that no request names, and does not
change it. Only a KRaft broker, or a migrating one, looks for strays. A directory with another topic id than the request
is not served either (Partition.topicId, ReplicaManager.becomeLeaderOrFollower 3.0 to 3.9:
InconsistentTopicIdException).
"""

from typing import NamedTuple

from kcheck.core.start.topic_settings import expires, is_compacted
from kcheck.model.cluster import ReplicaInCluster, Stray, StrayCause, StrayDoubt
from kcheck.model.names import ids_differ
from kcheck.model.views import LogDirView, PartitionView
from kcheck.model.zookeeper_metadata import ZookeeperCopy


class ZookeeperReplicas(NamedTuple):
    """Finds the replicas on a broker that no broker serves, by the metadata in ZooKeeper."""

    copy: ZookeeperCopy
    """The metadata."""
    broker_id: int | None
    """The broker; None where it is not known."""
    compares_topic_ids: bool
    """True if the broker's release refuses a replica with another topic id."""

    def unserved(self, topic: str, partition: int, topic_id: str | None) -> Stray | None:
        """Return why no broker serves a replica; None if it leads or follows, or if the metadata does not tell."""
        known = self.copy.metadata.image.topics.get(topic)
        if known is not None and known.deleting:
            return None
        if known is not None and self.compares_topic_ids and ids_differ(topic_id, known.topic_id):
            return Stray(StrayCause.TOPIC, topic_id, doubt=_doubt(self.copy))
        return unplaced(self.copy, topic, partition, self.broker_id)


def zookeeper_replicas(
    copy: ZookeeperCopy, log_dir: LogDirView, *, compares_topic_ids: bool
) -> ZookeeperReplicas | None:
    """Return the detector of unserved replicas in a log dir; None if the metadata does not apply.

    None during a migration to KRaft, for another cluster, and while the broker runs. Its files may then be newer.
    """
    is_other = ids_differ(copy.metadata.cluster_id, log_dir.cluster_id)
    if is_other or copy.metadata.migration is not None or log_dir.locked_by is not None:
        return None
    return ZookeeperReplicas(copy, log_dir.where.broker_id, compares_topic_ids)


def replica_in_zookeeper(copy: ZookeeperCopy, view: PartitionView, log_dir: LogDirView) -> ReplicaInCluster | None:
    """Return the metadata of a replica; None for a directory that is not a replica.

    Also None during a migration to KRaft, for another cluster, and while the broker runs. Its files may then be newer.
    """
    if not view.is_replica or zookeeper_replicas(copy, log_dir, compares_topic_ids=True) is None:
        return None
    topic = copy.metadata.image.topics.get(view.topic)
    topic_id = None if topic is None else topic.topic_id
    differs = ids_differ(topic_id, view.topic_id)
    return ReplicaInCluster(
        source=copy.path,
        topic_id=topic_id,
        registration=None if topic is None or differs else topic.partitions.get(view.partition),
        stray=unplaced(copy, view.topic, view.partition, view.where.broker_id),
        is_certain=copy.is_only,
        unclean=None if topic is None or differs else copy.metadata.image.unclean_election(topic, view.partition),
        of_zookeeper=True,
        compacted=is_compacted(copy.metadata.image, view.topic, view.where.broker_id),
        expires=expires(copy.metadata.image, view.topic, view.where.broker_id),
        owner=copy.metadata.image.owner_of(view.topic_id, view.topic),
    )


def unplaced(copy: ZookeeperCopy, topic: str, partition: int, broker_id: int | None) -> Stray | None:
    """Return why the cluster has no such replica on the broker.

    None if it has one, or if the copy does not show it.
    """
    known, doubt = copy.metadata.image.topics.get(topic), _doubt(copy)
    if known is None:
        return Stray(StrayCause.TOPIC, None, doubt=doubt) if copy.names_all else None
    registration = known.partitions.get(partition)
    if registration is None:
        return Stray(StrayCause.PARTITION, partition, doubt=doubt) if copy.names_all else None
    if broker_id is None or known.deleting or broker_id in registration.replicas:
        return None
    return Stray(StrayCause.REPLICA, broker_id, doubt=doubt)


def _doubt(copy: ZookeeperCopy) -> StrayDoubt | None:
    return None if copy.is_only else StrayDoubt.OLDER
