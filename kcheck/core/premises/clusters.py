"""The cluster of several brokers whose disks name different ones."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.model.premises import PremiseEvidence


class NodeCluster(NamedTuple):
    """The cluster that one log dir names."""

    path: str
    """The log dir."""
    cluster_id: str
    """The cluster.id in its meta.properties."""
    directory_id: str | None
    """The directory.id in its meta.properties; None if it has none."""


def contested_cluster(
    nodes: Iterable[NodeCluster], copies: Mapping[str, tuple[MetadataCopy, ...]], *, one_cluster: bool
) -> tuple[PremiseEvidence, ...]:
    """Return the cluster that log dirs of different cluster ids belong to; empty if each may be of its own.

    `one_cluster`: the user says that they are of one. Else the metadata of one id has to list a log dir of another id.
    Most log dirs decide, then the newest copy of the metadata.
    """
    nodes = tuple(nodes)
    ids = {node.cluster_id for node in nodes}
    if len(ids) < 2 or not (one_cluster or _listed_elsewhere(nodes, copies)):
        return ()
    counts = Counter(node.cluster_id for node in nodes)

    def weight(cluster_id: str) -> tuple[int, int, int, str]:
        newest = max(((copy.epoch, copy.end) for copy in copies.get(cluster_id, ())), default=(-1, -1))
        return (counts[cluster_id], *newest, cluster_id)

    cluster_id = max(ids, key=weight)
    return tuple(PremiseEvidence(node.path, node.cluster_id) for node in nodes if node.cluster_id == cluster_id)


def _listed_elsewhere(nodes: tuple[NodeCluster, ...], copies: Mapping[str, tuple[MetadataCopy, ...]]) -> bool:
    """Return whether the metadata of one cluster id lists a log dir with another cluster id."""
    listed = {
        (cluster_id, directory)
        for cluster_id, of_cluster in copies.items()
        for copy in of_cluster
        for broker in copy.image.brokers.values()
        for directory in broker.log_dirs
    }
    return any(
        (other, node.directory_id) in listed
        for node in nodes
        for other in copies
        if other != node.cluster_id and node.directory_id is not None
    )
