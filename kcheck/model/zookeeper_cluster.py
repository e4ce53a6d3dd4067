"""What Kafka keeps in ZooKeeper: topics, partitions, brokers, the controller."""

from collections.abc import Mapping
from typing import NamedTuple

DECISIVE_CONFIGS = frozenset(
    {"unclean.leader.election.enable", "min.insync.replicas", "cleanup.policy", "remote.storage.enable"}
)
"""The configurations that change a decision. The values of all others are never kept: they can be passwords."""


class LeaderIsrAndControllerEpoch(NamedTuple):
    """The state of a partition, as its controller or leader last wrote it."""

    leader: int
    """The broker that leads it; -1 if none does."""
    leader_epoch: int
    """The leader epoch."""
    isr: tuple[int, ...]
    """The replicas in sync."""
    controller_epoch: int
    """The epoch of the controller that wrote it."""
    partition_epoch: int | None
    """The version of the znode; None if an export does not have it."""
    recovering: bool = False
    """Whether the leader was elected uncleanly and has not recovered yet (3.2 and later)."""


class ZookeeperPartition(NamedTuple):
    """One partition."""

    replicas: tuple[int, ...]
    """The brokers of its replicas, the preferred leader first."""
    adding: tuple[int, ...] = ()
    """Those that a reassignment adds (2.4 and later)."""
    removing: tuple[int, ...] = ()
    """Those that a reassignment removes (2.4 and later)."""
    state: LeaderIsrAndControllerEpoch | None = None
    """Its state; None if the controller has not written one yet, or if it is unreadable."""


class ZookeeperTopic(NamedTuple):
    """One topic."""

    topic_id: str | None
    """Its id (2.8 and later)."""
    partitions: Mapping[int, ZookeeperPartition]
    """Its partitions."""
    deleting: bool = False
    """Whether its deletion is pending."""


class ZookeeperBroker(NamedTuple):
    """A broker that was registered; its registration ends with its session."""

    endpoints: tuple[str, ...]
    """Its listeners, like PLAINTEXT://host:9092."""
    rack: str | None
    """Its rack."""


class ZookeeperMigration(NamedTuple):
    """How far a migration to KRaft came (ZkMigrationLeadershipState, 3.4 to 3.9)."""

    controller_id: int
    """The KRaft controller that last wrote to ZooKeeper."""
    controller_epoch: int
    """Its epoch."""
    metadata_offset: int
    """The last offset of the metadata log that it wrote to ZooKeeper."""
    metadata_epoch: int
    """The epoch of that record."""


class ZookeeperCluster(NamedTuple):
    """The metadata of one Kafka cluster."""

    cluster_id: str | None
    """Its id (0.10.1 and later)."""
    topics: Mapping[str, ZookeeperTopic]
    """The topics by name."""
    brokers: Mapping[int, ZookeeperBroker]
    """The registered brokers by id."""
    controller: int | None
    """The broker that is the controller; None if there is none."""
    controller_epoch: int | None
    """The epoch of the latest controller."""
    configs: Mapping[tuple[str, str], Mapping[str, str]]
    """The decisive configurations by kind (topics, brokers) and name."""
    isr_changes: tuple[tuple[str, int], ...]
    """Partitions whose ISR changed, of which the controller has not been notified yet."""
    reassigning: tuple[tuple[str, int], ...]
    """Partitions of a reassignment that is pending (up to 2.3, or by the tool of an old release)."""
    electing: tuple[tuple[str, int], ...]
    """Partitions whose preferred leader is to be elected."""
    features: Mapping[str, int]
    """The finalized level of each feature (2.7 and later)."""
    migration: ZookeeperMigration | None
    """The state of a migration to KRaft; None if none began."""
    scram_users: tuple[str, ...]
    """The users with SCRAM credentials, which are never kept."""
    delegation_tokens: int
    """The number of delegation tokens, which are never kept."""
    problems: tuple[tuple[str, str], ...]
    """The znodes that are unreadable, as (path, why)."""
