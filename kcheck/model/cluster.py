"""The metadata of a cluster at one moment (topics, partitions, brokers, controllers), from KRaft or ZooKeeper.

The names come from Kafka's images PartitionRegistration, BrokerRegistration and ControllerRegistration 4.3.1.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import Enum, StrEnum, auto
from typing import Any, NamedTuple, Self

FROM_SNAPSHOT = -1
"""The offset of a fact that comes from a snapshot, not from a record."""
NO_LEADER = -1
MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY, LOST_DIRECTORY = (f"{'A' * 21}{last}" for last in "AQg")
"""The directory ids that name no log dir (DirectoryId 3.7 to 4.3.1)."""
UNCLEAN, MIN_ISR = "unclean.leader.election.enable", "min.insync.replicas"
AUTO_REBALANCE = "auto.leader.rebalance.enable"
IMBALANCE = "leader.imbalance.per.broker.percentage"
DELETES_TOPICS = "delete.topic.enable"
CORDONED = "cordoned.log.dirs"
PROVIDER = "${"
"""Text in the value of each setting that comes from a config provider."""
CLEANUP_POLICY = "cleanup.policy"
DECISIVE_CONFIGS = frozenset({UNCLEAN, MIN_ISR, CLEANUP_POLICY, "remote.storage.enable", CORDONED})
"""The configurations that change a decision. The values of all others are never kept, because they can be passwords."""
RETENTION_MS, RETENTION_BYTES = "retention.ms", "retention.bytes"
LOCAL_RETENTION_BYTES, LOCAL_RETENTION_MS = "local.retention.bytes", "local.retention.ms"
BROKER_DEFAULTS = {
    CLEANUP_POLICY: {"log.cleanup.policy": 1},
    RETENTION_MS: {"log.retention.ms": 1, "log.retention.minutes": 60_000, "log.retention.hours": 3_600_000},
    RETENTION_BYTES: {"log.retention.bytes": 1},
    LOCAL_RETENTION_BYTES: {"log.local.retention.bytes": 1},
    LOCAL_RETENTION_MS: {"log.local.retention.ms": 1},
}
"""The settings of a broker for topics without their own, the decisive one first, with their units."""
RETENTION_CONFIGS = frozenset(BROKER_DEFAULTS).union(*BROKER_DEFAULTS.values())
"""The retention and the policy of topics and of brokers, kept too, but in no answer."""
LIMITED_CONFIGS = frozenset({"flush.messages", "segment.bytes", "segment.index.bytes"})
"""The numbers of a topic that some releases refuse, kept too, but in no answer."""


class ElectionKind(StrEnum):
    """The ways in which the controller can elect a leader. The value is the name in an answer."""

    CLEAN = "clean"
    """It is in the ISR, or with an empty ISR in the ELR. The controller elects it as soon as its broker runs."""
    UNCLEAN = "unclean"
    """It is neither: acknowledged records may be lost, and the controller elects it only if it is allowed to."""


class Seat(StrEnum):
    """The place in a partition that makes a replica its leader. The value is the name in an answer."""

    ISR = "isr"
    """It is in sync."""
    ELR = "elr"
    """The ISR is empty, and it is in the ELR after every broker has registered."""
    LAST_KNOWN = "last-known-leader"
    """ISR and ELR are empty, and it led last (4.0 and later)."""
    NONE = "unclean"
    """It is the first replica that is there, and unclean elections are on."""

    @property
    def kind(self) -> ElectionKind:
        """The way in which the controller elects it."""
        return ElectionKind.CLEAN if self in (Seat.ISR, Seat.ELR) else ElectionKind.UNCLEAN


class PartitionRegistration(NamedTuple):
    """The state of a partition. A field is None where the source does not tell."""

    replicas: tuple[int, ...]
    """The brokers of its replicas, the preferred leader first."""
    isr: tuple[int, ...]
    """The replicas in sync."""
    leader: int = NO_LEADER
    """The broker that leads it, or NO_LEADER."""
    leader_epoch: int | None = None
    """The leader epoch; a clean stop of the last broker raises it too."""
    partition_epoch: int | None = None
    """The number of changes; with ZooKeeper the version of the znode."""
    removing: tuple[int, ...] = ()
    """The replicas that a reassignment removes."""
    adding: tuple[int, ...] = ()
    """The replicas that a reassignment adds."""
    elr: tuple[int, ...] = ()
    """The eligible leader replicas (4.0 and later)."""
    last_known_elr: tuple[int, ...] = ()
    """The last leader, once neither ISR nor ELR has a member (4.0 and later)."""
    directories: tuple[str, ...] = ()
    """The log dir ids of `replicas`, in their order (3.7 and later); empty if none are known."""
    recovering: bool = False
    """True if the leader was elected uncleanly and has not recovered yet."""
    last_leader: int | None = None
    """The latest leader; without any known leader the only broker that can have been it, else None."""
    last_leader_epoch: int | None = None
    """The epoch of that leader; None if only a snapshot of a later time is known."""
    replicas_since: int = FROM_SNAPSHOT
    """The offset of the record that set the replicas."""
    changed: int = FROM_SNAPSHOT
    """The offset of the record that last changed the partition."""

    @property
    def in_sync(self) -> frozenset[int]:
        """The replicas with every committed record, that is the ISR, the ELR, and the last known leader."""
        return frozenset((*self.isr, *self.elr, *self.last_known_elr))

    @property
    def lacks_state(self) -> bool:
        """True if ZooKeeper has its replicas, but no leader, leader epoch or ISR."""
        return self.leader == NO_LEADER and self.leader_epoch is None and not self.in_sync

    def led_alone(self, broker_id: int) -> int | None:
        """Return the epoch in which the broker of the only replica led last; None for others, or if not known.

        With more replicas the epoch also rises as they leave the ISR. A stopping leader does not notice that.
        """
        if self.replicas != (broker_id,):
            return None
        return self.last_leader_epoch if self.leader == NO_LEADER else self.leader_epoch

    def with_last_leader(self) -> Self:
        """Return the partition with its latest leader, which is its leader or the only possible one."""
        if self.leader != NO_LEADER:
            return self._replace(last_leader=self.leader, last_leader_epoch=self.leader_epoch)
        members = self.isr or self.last_known_elr or self.elr
        return self._replace(last_leader=members[0] if len(members) == 1 else None)


class TopicImage(NamedTuple):
    """A topic."""

    name: str
    """Its name."""
    topic_id: str | None
    """Its id; None in 2.7 and earlier."""
    partitions: Mapping[int, PartitionRegistration]
    """Its partitions by number."""
    deleting: bool = False
    """True if its deletion is pending (ZooKeeper)."""
    left_out: int = 0
    """Number of its partitions that are not in `partitions`, as a task of a scan has only its own."""

    @property
    def partition_count(self) -> int:
        """Number of its partitions."""
        return len(self.partitions) + self.left_out


class Levels(NamedTuple):
    """The levels of a feature that a node supports."""

    lowest: int
    highest: int


class BrokerRegistration(NamedTuple):
    """A broker that is registered."""

    broker_id: int
    """Its id."""
    epoch: int | None
    """Its broker epoch: the offset of its registration; with ZooKeeper the transaction (2.2 and later), if known."""
    fenced: bool
    """True if it leads nothing and joins no ISR: it is stopped, or starting."""
    in_controlled_shutdown: bool = False
    """True if it hands over its leaderships to stop."""
    incarnation_id: str | None = None
    """The id of its process."""
    log_dirs: tuple[str, ...] = ()
    """The directory ids of its online log dirs (3.7 and later)."""
    cordoned_log_dirs: tuple[str, ...] = ()
    """Those that get no new replicas (4.3 and later)."""
    endpoints: tuple[str, ...] = ()
    """Its listeners, like PLAINTEXT://host:9092."""
    rack: str | None = None
    """Its rack."""
    features: Mapping[str, Levels] = {}
    """The feature levels that its software supports."""
    migrating: bool = False
    """True if it runs with ZooKeeper while the cluster migrates (3.4 to 3.9)."""


class ControllerRegistration(NamedTuple):
    """A controller that is registered (3.7 and later)."""

    controller_id: int
    """Its id."""
    incarnation_id: str
    """The id of its process."""
    endpoints: tuple[str, ...]
    """Its listeners."""
    features: Mapping[str, Levels]
    """The feature levels that its software supports."""


class Voter(NamedTuple):
    """A controller that elects, as the metadata log of a dynamic quorum names it (3.9 and later)."""

    voter_id: int
    """Its node id."""
    directory_id: str
    """The directory id of the log dir with its metadata log."""
    endpoints: tuple[str, ...]
    """Its listeners, like CONTROLLER://host:9093."""


def voters_in(fields: Mapping[str, Any]) -> tuple[Voter, ...]:
    """Return the voters in the fields of a control record; empty if it does not name their log dirs."""
    return tuple(
        Voter(voter["voter_id"], voter["voter_directory_id"], endpoints_of(voter["endpoints"]))
        for voter in fields.get("voters", ())
        if "voter_directory_id" in voter
    )


def endpoints_of(listeners: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return listeners in a record as a text each."""
    return tuple(f"{listener['name']}://{listener['host']}:{listener['port']}" for listener in listeners)


class QuorumState(NamedTuple):
    """The last election of a controller that a node knows; -1 means no node."""

    leader_id: int
    """The controller that leads."""
    leader_epoch: int
    """The epoch of the election."""
    voted_id: int
    """The controller that the node voted for."""
    voters: tuple[int, ...] | None
    """The voters; None in version 1, where the log names them."""
    voted_directory_id: str | None = None
    """The directory id of the controller that the node voted for (version 1)."""


class UncleanElection(NamedTuple):
    """An election of a leader that may have lacked committed records."""

    leader: int
    """The new leader, which was not the last one."""
    epoch: int
    """Its leader epoch."""
    offset: int
    """The offset of the metadata record; with ZooKeeper the transaction."""
    before: tuple[int, ...] = ()
    """The replicas that had every committed record before it, and have not been in sync since."""
    others: tuple[int, ...] = ()
    """The other replicas that have not been in sync since."""

    def followed_by(self, isr: Collection[int]) -> "UncleanElection":
        """Return the election once these replicas are in sync with its leader."""
        before, others = (tuple(one for one in row if one not in isr) for row in (self.before, self.others))
        return self if (before, others) == self[-2:] else self._replace(before=before, others=others)


def unclean_election(
    earlier: UncleanElection | None, former: PartitionRegistration, leader: int, offset: int
) -> UncleanElection:
    """Return the unclean election of a leader, after the state before it and the last such election."""
    last = () if former.last_leader is None else (former.last_leader,)
    earlier_members = () if earlier is None else (earlier.leader, *earlier.before)
    before = former.in_sync.union(last, earlier_members) - {leader}
    others = {*former.replicas} - before - {leader}
    return UncleanElection(
        leader, (former.leader_epoch or 0) + 1, offset, tuple(sorted(before)), tuple(sorted(others))
    )  # fmt: skip


class StrayCause(Enum):
    """The part of a replica that a cluster lacks."""

    TOPIC = auto()
    """It has no topic with this id, or with this name."""
    PARTITION = auto()
    """Its topic has no such partition."""
    REPLICA = auto()
    """It has no replica of the partition on the broker."""


class StrayDoubt(Enum):
    """The reason why a broker may see other metadata when it starts."""

    OLDER = auto()
    """The copy may be older than the directory."""
    UNCOMMITTED = auto()
    """The record may not be committed."""


class Stray(NamedTuple):
    """The reason why a replica does not belong to the cluster."""

    cause: StrayCause
    """The part that the cluster lacks."""
    about: str | int | None
    """The topic id, the partition, or the broker; None for a topic by its name."""
    since: int | None = None
    """The offset of the metadata record that says so, or FROM_SNAPSHOT; None if no record is known."""
    doubt: StrayDoubt | None = None
    """The reason why the broker may see other metadata; None if it sees these."""


class ReplicaInCluster(NamedTuple):
    """The facts in the metadata of its cluster about a replica on the disk of a broker."""

    source: str
    """The copy of the metadata."""
    topic_id: str | None
    """The id of the topic with this name; None without one."""
    registration: PartitionRegistration | None
    """The partition by the topic id on disk, or without an id by the name; None without a partition."""
    end: int | None = None
    """The offset where the copy ends; None in ZooKeeper."""
    stray: Stray | None = None
    """The reason why the cluster has no such replica on this broker; None if it has."""
    is_certain: bool = False
    """True if the metadata is at least as new as the broker's metadata when it wrote the replica."""
    directory_id: str | None = None
    """The id of the log dir that the replica belongs to; None if it is not known."""
    own_directory_id: str | None = None
    """The id of the log dir that holds it; None if it has none."""
    broker_epoch: int | None = None
    """The epoch with which the broker registered last."""
    shutdown_epoch: int | None = None
    """The broker epoch in .kafka_cleanshutdown; None without one."""
    compacted: bool = False
    """True if the configuration of the topic lets the cleaner compact it."""
    unclean: UncleanElection | None = None
    """The last unclean election of the partition; None if none is known."""
    expires: bool = True
    """True if retention by time deletes segments of the topic, as far as its configuration says."""
    of_zookeeper: bool = False
    """True if ZooKeeper keeps the metadata. Then brokers keep directories that the cluster does not place on them."""


def is_reserved(directory_id: str) -> bool:
    """Return whether a directory id means no log dir; but for LOST, its replica counts as online."""
    return directory_id in (MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY, LOST_DIRECTORY)


class MetadataProblem(NamedTuple):
    """A part of the metadata that cannot be read, or contradicts earlier parts."""

    place: str
    """The file or znode, with the offset or position."""
    why: str
    """The problem."""


class MetadataOrigin(NamedTuple):
    """The source of a cluster's metadata."""

    kind: str
    """`kraft`, `zookeeper`, `export` for an export of znodes, or `none` if every copy is lost."""
    path: str
    """The path."""
    end_offset: int | None
    """The offset where a copy of the KRaft log ends; None with ZooKeeper."""
    epoch: int | None
    """The epoch of the controller at the end."""
    timestamp: int | None
    """The time of the last record, in ms since 1970."""
    committed_to: int | None
    """Every record below this offset is committed for certain; None if that is not known of any."""
    problems: tuple[MetadataProblem, ...]
    """The parts that cannot be read, or contradict earlier parts."""


class MetadataTail(NamedTuple):
    """The part of a copy of the KRaft log that may not be committed."""

    start: int
    """The first offset."""
    end: int
    """The offset after the last one."""
    records: Mapping[str, int]
    """The number of records of each type."""


STATIC = ("static", "")
"""The key of the settings from controllers' server.properties. Settings with unclean elections go first."""


class ClusterImage(NamedTuple):
    """The metadata at one moment."""

    topics: Mapping[str, TopicImage]
    """The topics by name."""
    topics_by_id: Mapping[str, TopicImage] = {}
    """Those of them that have an id, by that id."""
    brokers: Mapping[int, BrokerRegistration] = {}
    """The registered brokers by id."""
    controllers: Mapping[int, ControllerRegistration] = {}
    """The registered controllers by id."""
    features: Mapping[str, int] = {}
    """The finalized level of each feature."""
    configs: Mapping[tuple[str, str], Mapping[str, str]] = {}
    """The decisive configurations by kind (topic, broker) and name; the name of a cluster's default is empty."""
    removed: Mapping[str, int] = {}
    """The offset of the record that removed a topic, by the topic's id."""
    deleted: Mapping[str, int] = {}
    """The offset of the last record that removed a topic of this name; it may have been created again."""
    unclean: Mapping[tuple[str, int], UncleanElection] = {}
    """The last unclean election of a partition, by topic id (or name without one) and number.

    It covers the remaining records, or ZooKeeper's transactions after its newest snapshot.
    """
    next_producer_id: int | None = None
    """The first producer id that no broker has; None if none was given yet."""
    scram_users: tuple[str, ...] = ()
    """The users with SCRAM credentials, with the mechanism; the credentials are never kept."""
    delegation_tokens: tuple[str, ...] = ()
    """The ids of the delegation tokens."""
    migration: str | None = None
    """The progress of a migration from ZooKeeper; None if none is known."""
    controller: int | None = None
    """The active controller, or the last active one; None if not known."""
    kraft_controller: int | None = None
    """The KRaft controller in /controller of ZooKeeper; None for a broker there, or without that znode."""
    settings: tuple[str, ...] = ()
    """The server.properties of controllers that STATIC is from; empty if none was seen."""

    def runs_kraft(self, broker_id: int | None) -> bool:
        """Return whether the latest registration of a broker is for KRaft, not for a migration."""
        broker = None if broker_id is None else self.brokers.get(broker_id)
        return broker is not None and not broker.migrating

    def partitions(self) -> Iterator[tuple[TopicImage, int, PartitionRegistration]]:
        """Yield every partition, by topic and number."""
        for _, topic in sorted(self.topics.items()):
            for number, partition in sorted(topic.partitions.items()):
                yield topic, number, partition

    def without_topics(self, names: Collection[str]) -> "ClusterImage":
        """Return the metadata without these topics."""
        if not names:
            return self
        of_names, of_ids = (
            {key: topic for key, topic in topics.items() if topic.name not in names}
            for topics in (self.topics, self.topics_by_id)
        )
        return self._replace(topics=of_names, topics_by_id=of_ids)

    def unclean_election(self, topic: TopicImage, number: int) -> UncleanElection | None:
        """Return the last unclean election of a partition; None if none is known."""
        return self.unclean.get((topic.topic_id or topic.name, number))

    def config(self, topic: str, name: str) -> str | None:
        """Return the effective value for a topic, from its own configuration, the controller's, the cluster's, or a
        file's.

        None if no given file has it (KafkaConfigSchema.resolveEffectiveTopicConfig 3.3 to 4.3.1; with ZooKeeper
        KafkaConfig of the controller).

        The default of `min.insync.replicas` and of unclean elections has the same name for brokers as for topics.
        """
        for place in (("topic", topic), ("broker", str(self.controller)), ("broker", ""), STATIC):
            value = self.configs.get(place, {}).get(name)
            if value is not None:
                return value
        return None
