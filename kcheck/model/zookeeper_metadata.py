"""The metadata of a cluster in ZooKeeper, with facts that KRaft controllers do not have."""

from collections.abc import Mapping
from typing import NamedTuple

from kcheck.model.cluster import ClusterImage, MetadataProblem

PartitionName = tuple[str, int]
"""A topic and the number of its partition."""


class ZookeeperMigration(NamedTuple):
    """The progress of a migration to KRaft (ZkMigrationLeadershipState, 3.4 to 3.9)."""

    controller_id: int
    """The KRaft controller that last wrote to ZooKeeper."""
    controller_epoch: int
    """Its epoch."""
    metadata_offset: int
    """The last offset of the metadata log that it wrote to ZooKeeper; -1 before it has copied everything."""
    metadata_epoch: int
    """The epoch of that record."""

    @property
    def state(self) -> str:
        """The state in KRaft's words; a migration that has ended leaves the znode as it was."""
        return "migration" if self.metadata_offset > 0 else "pre-migration"


class ZookeeperMetadata(NamedTuple):
    """The metadata of one Kafka cluster."""

    image: ClusterImage
    """Topics, partitions, brokers, configurations, the controller (during a migration the KRaft one)."""
    cluster_id: str | None = None
    """The cluster's id (0.10.1 and later)."""
    controller_epoch: int | None = None
    """The epoch of the latest controller."""
    isr_changes: tuple[PartitionName, ...] = ()
    """Partitions whose ISR changed, of which the controller has not been notified yet."""
    reassigning: tuple[PartitionName, ...] = ()
    """Partitions of a pending reassignment (2.3 and earlier, or by the tool of an old release)."""
    electing: tuple[PartitionName, ...] = ()
    """Partitions whose preferred leader is to be elected."""
    log_dir_changes: tuple[int, ...] = ()
    """Brokers with a log dir that failed, of which the controller has not been notified yet (1.0 and later)."""
    migration: ZookeeperMigration | None = None
    """The state of a migration to KRaft; None if none began."""
    closed: frozenset[int] = frozenset()
    """The brokers that closed their last session themselves, as they do at the end of a clean stop."""
    registered_at: Mapping[int, int] = {}
    """The last registrations of brokers, in ms since 1970, as far as the logs have their transactions."""
    endpoints: Mapping[int, tuple[str, ...]] = {}
    """The listeners of their last registrations, like PLAINTEXT://host:9092, as far as the files have them."""
    asked_at: Mapping[int, int] = {}
    """The last changes by brokers in their last sessions, in ms since 1970, without the end of a session."""
    created_at: Mapping[str, int] = {}
    """The last creations of topics, in ms since 1970, as far as the logs have their transactions."""
    chroot: str = ""
    """The znode below which the cluster keeps its own (zookeeper.connect); empty for the root."""
    zxid: int | None = None
    """The last transaction that counts; None for an export."""
    timestamp: int | None = None
    """Its time, in ms since 1970; None if no log has it."""
    problems: tuple[MetadataProblem, ...] = ()
    """The files and znodes that are unreadable."""


class ZookeeperCopy(NamedTuple):
    """The metadata of a cluster in a path that the user names."""

    path: str
    """The path."""
    metadata: ZookeeperMetadata
    """The metadata."""
    names_all: bool = False
    """True if they name every topic, as a server's files do and an export need not."""
    is_only: bool = False
    """True if they come from a standalone server, so that no other server of the ensemble can have newer ones."""
