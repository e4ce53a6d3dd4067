"""The data of a cluster on the disks of brokers after its metadata is lost, as values."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kcheck.model.cluster import ClusterImage


class HeldReplica(NamedTuple):
    """A replica on a disk."""

    broker_id: int
    """Its broker."""
    log_dir: str
    """The log dir that holds it."""
    topic_id: str | None
    """The topic id in partition.metadata; None without one."""
    epoch: int
    """The largest leader epoch in its batches and its checkpoint; -1 without any."""
    end: int | None
    """Its log end offset after the next start; None if it does not load."""


class HeldPartition(NamedTuple):
    """The replicas of a partition."""

    replicas: tuple[HeldReplica, ...]
    """Those on the disks here, by broker."""
    best: int | None
    """The broker whose replica costs least as leader; None if none loads."""
    lost: int | None = 0
    """The records that no replica has once it leads; None if that is not known."""


class HeldLogDir(NamedTuple):
    """A log dir of a broker."""

    broker_id: int
    """Its broker."""
    path: str
    """The log dir."""
    cluster_id: str | None
    """The cluster.id in meta.properties; None without one."""
    directory_id: str | None
    """The directory.id in meta.properties; None in 3.6 and earlier."""
    version: int | None
    """The version of meta.properties: 1 is KRaft's; None without one."""
    shutdown_epoch: int | None = None
    """The broker epoch in .kafka_cleanshutdown; None without one."""
    locked_by: int | None = None
    """The process that uses it."""
    unlisted: str | None = None
    """The reason why it cannot be read; None if it can."""
    leftovers: tuple[str, ...] = ()
    """Its directories that no broker serves: -delete, -stray, -future."""
    is_bare: bool = False
    """True if the log dir is missing or empty, as without a disk."""


class OldMetadata(NamedTuple):
    """A copy of the metadata that is older than the disks."""

    node_id: int
    """The node that has it."""
    image: ClusterImage
    """The topics, replicas and brokers in it."""
    records: tuple[tuple[str, Mapping[str, Any]], ...]
    """Its configurations, ACLs, credentials, quotas and tokens, as names and fields of records of version 0."""
    missing: str | None = None
    """The place where a part is missing; None if the copy is complete up to its end."""


class HeldDisks(NamedTuple):
    """The data on the disks of all brokers."""

    log_dirs: tuple[HeldLogDir, ...]
    """The log dirs, by broker."""
    partitions: Mapping[tuple[str, int], HeldPartition]
    """The partitions by topic and number."""
    compacted: frozenset[str] = frozenset()
    """The topics that a log cleaner has cleaned."""
    append_time: frozenset[str] = frozenset()
    """The topics with batches that have the time of the broker (LogAppendTime)."""
    tiered: frozenset[str] = frozenset()
    """The topics with records in remote storage alone."""
    producer_id: int = -1
    """The largest producer id in batches, producer snapshots and transactions; -1 without any."""
    timestamp: int = 0
    """The time of the newest batch, in ms since 1970."""
    old: OldMetadata | None = None
    """The newest copy of the metadata; None without any."""
    unnamed: tuple[tuple[int, str], ...] = ()
    """Other log dirs of the same brokers in the same folders, by broker, which the user did not name."""
    ended: tuple[tuple[int, str], ...] = ()
    """The brokers that do not start, by their settings or disks, each with that reason."""

    @property
    def cluster_id(self) -> str | None:
        """The cluster of the disks."""
        return next((row.cluster_id for row in self.log_dirs if row.cluster_id is not None), None)

    @property
    def brokers(self) -> tuple[int, ...]:
        """The brokers here."""
        return tuple(sorted({row.broker_id for row in self.log_dirs}))

    @property
    def holders(self) -> tuple[int, ...]:
        """The brokers with replicas."""
        return tuple(sorted({row.broker_id for held in self.partitions.values() for row in held.replicas}))

    def by_topic(self) -> dict[str, dict[int, HeldPartition]]:
        """Return the partitions of each topic by number."""
        topics: dict[str, dict[int, HeldPartition]] = {}
        for (name, number), held in self.partitions.items():
            topics.setdefault(name, {})[number] = held
        return topics
