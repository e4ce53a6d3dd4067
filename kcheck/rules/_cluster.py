"""Shared parts of the rules that compare files with the metadata of the cluster."""

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.model.cluster import ReplicaInCluster
from kcheck.model.finding import Location
from kcheck.model.views import PartitionView

MAY_BE_OLDER = "; this copy of the metadata may be older than the directory"


def has_metadata(view: PartitionView) -> bool:
    """Return whether the metadata of the cluster covers a replica, which is the precondition of these rules."""
    return view.in_cluster is not None and view.is_replica


def has_other_topic_id(view: PartitionView, replica: ReplicaInCluster) -> bool:
    """Return whether the cluster gave the topic of this name another id than partition.metadata has."""
    return None not in (view.topic_id, replica.topic_id) and view.topic_id != replica.topic_id


def source_of(replica: ReplicaInCluster) -> str:
    """Return the copy of the metadata, and whether it may be older than the directory. Its end grows every night."""
    return f"{replica.source}{'' if replica.is_certain else MAY_BE_OLDER}"


def place_of(copy: MetadataCopy) -> Location:
    """Return the location of a copy of the metadata."""
    log_dir, _, name = copy.path.rpartition("/")
    return Location(broker_id=copy.node_id, log_dir=log_dir or None, dir=name)
