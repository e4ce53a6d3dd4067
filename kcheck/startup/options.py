"""The options of a prediction; this module imports no prediction."""

from collections.abc import Mapping
from typing import NamedTuple

from kcheck.core.cluster.copies import LostCopy, MetadataCopy, decides_alone, newest_copy
from kcheck.core.start.startup import Mode, Settings, mode_of_metadata
from kcheck.model.cluster import ClusterImage
from kcheck.model.premises import PremiseEvidence
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.model.zookeeper_metadata import ZookeeperCopy


class StartOptions(NamedTuple):
    """The options of a predicted start."""

    clean: bool | None
    """True if the last shutdown was clean; None lets the marker of each log dir decide."""
    settings: Settings
    """The settings of the broker."""
    release: Release
    """The Kafka release of the broker."""
    wanted: PartitionFilter = PartitionFilter()
    """The partitions to look at."""
    copies: Mapping[str, tuple[MetadataCopy, ...]] = {}
    """The copies of cluster metadata that the user gave, by cluster id."""
    metadata: tuple[str, ...] = ()
    """The paths of more copies that the user names."""
    zookeeper: ZookeeperCopy | None = None
    """The metadata in ZooKeeper that the user names."""
    clusters: tuple[PremiseEvidence, ...] = ()
    """The cluster ids of the metadata that the user names, with its paths."""
    lost_copies: tuple[LostCopy, ...] = ()
    """The log dirs that the user names for their metadata, and that have none."""
    config: str | None = None
    """The server.properties that the user names next to the log dirs."""
    controller_config: str | None = None
    """The server.properties of a controller that the user names."""
    without: frozenset[str] = frozenset()
    """The log dirs in log.dirs that are given up."""
    added: frozenset[str] = frozenset()
    """The log dirs that log.dirs will name."""
    planned: Mapping[int, Mapping[str, str]] = {}
    """The settings that a plan changes, by broker; an empty value removes one."""
    mode_of_disks: Mode | None = None
    """The place of the cluster's metadata by all meta.properties of the given log dirs; None if they do not agree."""
    has_log_without_id: bool = False
    """True if a log has no topic id and the release looks for no strays then (in 3.6 and earlier)."""

    @property
    def mode_of_cluster(self) -> Mode | None:
        """The place of the cluster's metadata by its given copies, else by the disks; None if nothing decides it."""
        seen = mode_of_metadata(kraft=any(self.copies.values()), zookeeper=self.zookeeper is not None)
        return seen or self.mode_of_disks

    def image_of(self, cluster_id: str | None) -> ClusterImage | None:
        """Return the given metadata of a cluster; None without any."""
        newest = newest_copy(self.copies.get(cluster_id or "", ()))
        in_zookeeper = None if self.zookeeper is None else self.zookeeper.metadata.image
        return newest.image if newest is not None and decides_alone(newest, in_zookeeper) else in_zookeeper
