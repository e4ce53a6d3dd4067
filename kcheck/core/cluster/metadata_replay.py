"""Replays the records of a KRaft cluster's metadata: MetadataDelta and the deltas of its parts, 3.3 to 4.3.1."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from functools import partial
from typing import Any, ClassVar, NamedTuple, TypeAlias

from kcheck.model.cluster import (
    DECISIVE_CONFIGS,
    LIMITED_CONFIGS,
    MIGRATING_DIRECTORY,
    NO_LEADER,
    RETENTION_CONFIGS,
    BrokerRegistration,
    ClusterImage,
    ControllerRegistration,
    Levels,
    PartitionRegistration,
    TopicImage,
    UncleanElection,
    endpoints_of,
    unclean_election,
)

Fields: TypeAlias = Mapping[str, Any]
"""The fields of a record, with the names and values of Kafka's JSON converters. Tagged fields are optional."""

_UNCHANGED = -2
"""The leader of a PartitionChangeRecord that leaves the leader and its epoch as they are."""
RESOURCES = {2: "topic", 4: "broker"}
"""Resources whose settings count, by the type in a ConfigRecord."""
_KEPT_CONFIGS = {
    "topic": DECISIVE_CONFIGS | LIMITED_CONFIGS | RETENTION_CONFIGS,
    "broker": DECISIVE_CONFIGS | RETENTION_CONFIGS,
}
_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
_MIGRATION_STATES = ("none", "migration", "pre-migration", "post-migration")
METADATA_VERSION, KRAFT_VERSION = "metadata.version", "kraft.version"
_PROBLEM_COUNT_MAX = 100


class ReplayProblem(NamedTuple):
    """A record that contradicts the ones before it."""

    offset: int
    """Its offset, or FROM_SNAPSHOT."""
    why: str
    """The contradiction."""


class _Topic(NamedTuple):
    name: str
    partitions: dict[int, PartitionRegistration]


class InBundle(Enum):
    """The part of a record that a bundle keeps."""

    WHOLE = auto()
    """All of it: numbers, ids, and names of topics and features."""
    NO_HOSTS = auto()
    """All but hosts, names of listeners and racks."""
    SOME_VALUES = auto()
    """A setting of a topic or broker; its value only if an allow-list names the setting."""
    NOTHING = auto()
    """A NoOpRecord of its size."""


class RecordType(NamedTuple):
    """A type of record in the metadata log."""

    replay: Callable[["MetadataReplay", Fields, int], None] | None
    """Its effect on the cluster; None if it changes nothing that an image has."""
    in_bundle: InBundle
    """The part of it that a bundle keeps."""
    why: str = ""
    """The reason why a bundle keeps nothing of it."""


_WHOLE, _NO_HOSTS, _SOME_VALUES, _NOTHING = InBundle
_SECRET, _NAMES_CLIENTS = "It holds a secret, or names who has one.", "It names users, groups or clients."


class MetadataReplay:
    """Replays metadata records in order; `image()` is the result.

    `observe` is called after each record that counts, with its name, fields, offset and timestamp (ms since 1970).
    """

    def __init__(self, observe: Callable[[str, Fields, int, int], None] | None = None) -> None:
        """Start with an empty cluster."""
        self.problems: list[ReplayProblem] = []
        self._observe = observe
        self._topics: dict[str, _Topic] = {}
        self._ids: dict[str, str] = {}
        self._removed: dict[str, int] = {}
        self._deleted: dict[str, int] = {}
        self._unclean: dict[tuple[str, int], UncleanElection] = {}
        self._brokers: dict[int, BrokerRegistration] = {}
        self._controllers: dict[int, ControllerRegistration] = {}
        self._features: dict[str, int] = {}
        self._configs: dict[tuple[str, str], dict[str, str]] = {}
        self._scram_users: dict[tuple[str, int], None] = {}
        self._tokens: dict[str, None] = {}
        self._next_producer_id: int | None = None
        self._migration: str | None = None
        self._now = -1
        self.fenced_at: dict[int, int] = {}
        """The time of the record that fenced each broker since its registration, in ms since 1970."""
        self._held: list[tuple[str, Fields, int, int]] | None = None
        self._lists: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def take(self, name: str, data: Fields, offset: int, timestamp: int = -1) -> None:
        """Replay a record; records of a transaction (3.6 and later) count once it ends (OffsetControlManager)."""
        if name == "BeginTransactionRecord":
            if self._held is not None:
                self.problem(offset, "a transaction begins inside of another one")
            self._held = []
        elif name in ("EndTransactionRecord", "AbortTransactionRecord"):
            held, self._held = self._held, None
            if held is None:
                self.problem(offset, "a transaction ends that has not begun")
            for record in held or () if name == "EndTransactionRecord" else ():
                self._apply(*record)
        elif self._held is not None:
            self._held.append((name, data, offset, timestamp))
        else:
            self._apply(name, data, offset, timestamp)

    @property
    def in_transaction(self) -> bool:
        """True if a transaction has begun that has not ended."""
        return self._held is not None

    def registration(self, topic: str, number: int) -> tuple[str | None, PartitionRegistration | None]:
        """Return the id of the topic of this name, and the partition, as of the records so far."""
        topic_id = self._ids.get(topic)
        return topic_id, None if topic_id is None else self._topics[topic_id].partitions.get(number)

    def leader_epoch(self, topic_id: str, number: int) -> int:
        """Return the leader epoch of a partition, as of the records so far; -1 if not known."""
        topic = self._topics.get(topic_id)
        part = None if topic is None else topic.partitions.get(number)
        return -1 if part is None else part.leader_epoch or 0

    def image(self) -> ClusterImage:
        """Return the metadata after the records so far."""
        topics = {
            topic_id: TopicImage(topic.name, topic_id, dict(topic.partitions))
            for topic_id, topic in self._topics.items()
        }
        return ClusterImage(
            topics={name: topics[topic_id] for name, topic_id in self._ids.items()},
            topics_by_id=topics,
            brokers=dict(self._brokers),
            controllers=dict(self._controllers),
            features=dict(self._features),
            configs={place: dict(config) for place, config in self._configs.items() if config},
            removed=dict(self._removed),
            deleted=dict(self._deleted),
            unclean=dict(self._unclean),
            next_producer_id=self._next_producer_id,
            scram_users=tuple(
                sorted(f"{user} ({_MECHANISMS.get(mechanism, mechanism)})" for user, mechanism in self._scram_users)
            ),
            delegation_tokens=tuple(sorted(self._tokens)),
            migration=self._migration,
        )

    def problem(self, offset: int, why: str) -> None:
        """Note that a record contradicts the ones before it; the first hundred are kept."""
        if len(self.problems) < _PROBLEM_COUNT_MAX:
            self.problems.append(ReplayProblem(offset, why))

    def _apply(self, name: str, data: Fields, offset: int, timestamp: int) -> None:
        record = self.RECORDS.get(name)
        self._now = timestamp
        if record is not None and record.replay is not None:
            record.replay(self, data, offset)
        if self._observe is not None:
            self._observe(name, data, offset, timestamp)

    def _shared(self, values: Sequence[Any] | None) -> tuple[Any, ...]:
        """Return a list as a tuple. Equal lists are one object, as thousands of partitions have the same brokers."""
        shared = tuple(values or ())
        return self._lists.setdefault(shared, shared)

    def _topic(self, data: Fields, offset: int) -> None:
        name, topic_id = data["name"], data["topicId"]
        if name in self._ids:
            self.problem(offset, f"topic {name} is created again, and was not removed")
            self._topics.pop(self._ids[name])
        self._topics[topic_id] = _Topic(name, {})
        self._ids[name] = topic_id

    def _remove_topic(self, data: Fields, offset: int) -> None:
        topic = self._topics.pop(data["topicId"], None)
        if topic is None:
            self.problem(offset, f"topic {data['topicId']} is removed, and does not exist")
            return
        self._removed[data["topicId"]] = self._deleted[topic.name] = offset
        del self._ids[topic.name]
        self._configs.pop(("topic", topic.name), None)

    def _partition(self, data: Fields, offset: int) -> None:
        topic, number = self._topics.get(data["topicId"]), data["partitionId"]
        if topic is None:
            self.problem(offset, f"partition {number} is of topic {data['topicId']}, which does not exist")
            return
        partition = PartitionRegistration(
            replicas=self._shared(data["replicas"]),
            isr=self._shared(data["isr"]),
            leader=data["leader"],
            leader_epoch=data["leaderEpoch"],
            partition_epoch=data["partitionEpoch"],
            removing=self._shared(data["removingReplicas"]),
            adding=self._shared(data["addingReplicas"]),
            elr=self._shared(data.get("eligibleLeaderReplicas")),
            last_known_elr=self._shared(data.get("lastKnownElr")),
            directories=_directories(self._shared(data.get("directories"))),
            recovering=data.get("leaderRecoveryState", 0) == 1,
            replicas_since=offset,
            changed=offset,
        )
        former = topic.partitions.get(number)
        topic.partitions[number] = self._checked(_with_last_leader(partition, former), number, offset)

    def _partition_change(self, data: Fields, offset: int) -> None:
        topic, number = self._topics.get(data["topicId"]), data["partitionId"]
        former = None if topic is None else topic.partitions.get(number)
        if topic is None or former is None:
            self.problem(offset, f"partition {number} of topic {data['topicId']} is changed, and does not exist")
            return
        changed: dict[str, Any] = {
            field: self._shared(data[name]) for name, field in _LISTS.items() if data.get(name) is not None
        }
        partition = former._replace(**changed, changed=offset, partition_epoch=(former.partition_epoch or 0) + 1)
        leader, recovery = data.get("leader", _UNCHANGED), data.get("leaderRecoveryState", -1)
        if leader != _UNCHANGED:
            partition = partition._replace(leader=leader, leader_epoch=(former.leader_epoch or 0) + 1)
            # An election from RECOVERING to RECOVERING does not name the state (PartitionChangeBuilder 3.3 to 4.3.1).
            is_unclean = recovery == 1 or (former.recovering and leader not in former.isr)
            if is_unclean and leader not in (NO_LEADER, former.last_leader):
                key = data["topicId"], number
                self._unclean[key] = unclean_election(self._unclean.get(key), former, leader, offset)
        known = self._unclean.get((data["topicId"], number))
        if known is not None and "isr" in changed:
            self._unclean[data["topicId"], number] = known.followed_by(partition.isr)
        if recovery >= 0:
            partition = partition._replace(recovering=recovery == 1)
        if "replicas" in changed:
            partition = partition._replace(replicas_since=offset)
        partition = partition._replace(directories=_directories(partition.directories))
        topic.partitions[number] = self._checked(_with_last_leader(partition, former), number, offset)

    def _checked(self, partition: PartitionRegistration, number: int, offset: int) -> PartitionRegistration:
        if partition.directories and len(partition.directories) != len(partition.replicas):
            counts = f"{len(partition.replicas)} replicas, but {len(partition.directories)} directories"
            self.problem(offset, f"partition {number} has {counts}")
        return partition

    def _clear_elr(self, data: Fields, offset: int) -> None:
        wanted = data["topicName"]
        if wanted and wanted not in self._ids:
            self.problem(offset, f"the ELR of topic {wanted} is cleared, and it does not exist")
        for topic_id in [self._ids[wanted]] if wanted in self._ids else [] if wanted else [*self._topics]:
            partitions = self._topics[topic_id].partitions
            for number, former in partitions.items():
                if former.elr or former.last_known_elr:
                    epoch = (former.partition_epoch or 0) + 1
                    partitions[number] = former._replace(
                        elr=(), last_known_elr=(), partition_epoch=epoch, changed=offset
                    )

    def _register_broker(self, data: Fields, offset: int) -> None:
        del offset
        self.fenced_at.pop(data["brokerId"], None)
        self._brokers[data["brokerId"]] = BrokerRegistration(
            broker_id=data["brokerId"],
            epoch=data["brokerEpoch"],
            fenced=data["fenced"],
            in_controlled_shutdown=data.get("inControlledShutdown", False),
            incarnation_id=data["incarnationId"],
            log_dirs=tuple(data.get("logDirs") or ()),
            cordoned_log_dirs=tuple(data.get("cordonedLogDirs") or ()),
            endpoints=endpoints_of(data["endPoints"]),
            rack=data["rack"],
            features=_features(data),
            migrating=data.get("isMigratingZkBroker", False),
        )

    def _broker(self, broker_id: int, epoch: int, offset: int) -> BrokerRegistration | None:
        broker = self._brokers.get(broker_id)
        if broker is None or broker.epoch != epoch:
            known = "is not registered" if broker is None else f"has epoch {broker.epoch}"
            self.problem(offset, f"broker {broker_id} is changed with epoch {epoch}, but {known}")
            return None
        return broker

    def _unregister_broker(self, data: Fields, offset: int) -> None:
        if self._broker(data["brokerId"], data["brokerEpoch"], offset) is not None:
            del self._brokers[data["brokerId"]]

    def _fence(self, data: Fields, offset: int, *, fenced: bool) -> None:
        broker = self._broker(data["id"], data["epoch"], offset)
        if broker is not None:
            self._brokers[broker.broker_id] = self._fenced(broker, fenced=fenced)

    def _fenced(self, broker: BrokerRegistration, *, fenced: bool) -> BrokerRegistration:
        if fenced and not broker.fenced:
            self.fenced_at[broker.broker_id] = self._now
        return broker._replace(fenced=fenced)

    def _broker_change(self, data: Fields, offset: int) -> None:
        broker = self._broker(data["brokerId"], data["brokerEpoch"], offset)
        if broker is None:
            return
        if data.get("fenced", 0):
            broker = self._fenced(broker, fenced=data["fenced"] > 0)
        if data.get("inControlledShutdown", 0) > 0:
            broker = broker._replace(in_controlled_shutdown=True)
        if data.get("logDirs"):
            broker = broker._replace(log_dirs=tuple(data["logDirs"]))
        if data.get("cordonedLogDirs") is not None:
            broker = broker._replace(cordoned_log_dirs=tuple(data["cordonedLogDirs"]))
        self._brokers[broker.broker_id] = broker

    def _register_controller(self, data: Fields, offset: int) -> None:
        del offset
        self._controllers[data["controllerId"]] = ControllerRegistration(
            data["controllerId"], data["incarnationId"], endpoints_of(data["endPoints"]), _features(data)
        )

    def _feature(self, data: Fields, offset: int) -> None:
        del offset
        self._features[data["name"]] = data["featureLevel"]
        if not data["featureLevel"]:
            del self._features[data["name"]]

    def _config(self, data: Fields, offset: int) -> None:
        del offset
        kind, name = RESOURCES.get(data["resourceType"]), data["name"]
        if kind is None or name not in _KEPT_CONFIGS[kind]:
            return
        config = self._configs.setdefault((kind, data["resourceName"]), {})
        if data["value"] is None:
            config.pop(name, None)
        else:
            config[name] = data["value"]

    def _scram(self, data: Fields, offset: int, *, removed: bool) -> None:
        del offset
        user = data["name"], data["mechanism"]
        if removed:
            self._scram_users.pop(user, None)
        else:
            self._scram_users[user] = None

    def _token(self, data: Fields, offset: int, *, removed: bool) -> None:
        del offset
        if removed:
            self._tokens.pop(data["tokenId"], None)
        else:
            self._tokens[data["tokenId"]] = None

    def _producer_ids(self, data: Fields, offset: int) -> None:
        del offset
        self._next_producer_id = data["nextProducerId"]

    def _zk_migration(self, data: Fields, offset: int) -> None:
        del offset
        state = data["zkMigrationState"]
        self._migration = _MIGRATION_STATES[state] if 0 <= state < len(_MIGRATION_STATES) else str(state)

    RECORDS: ClassVar[Mapping[str, RecordType]] = {
        "TopicRecord": RecordType(_topic, _WHOLE),
        "RemoveTopicRecord": RecordType(_remove_topic, _WHOLE),
        "PartitionRecord": RecordType(_partition, _WHOLE),
        "PartitionChangeRecord": RecordType(_partition_change, _WHOLE),
        "ClearElrRecord": RecordType(_clear_elr, _WHOLE),
        "RegisterBrokerRecord": RecordType(_register_broker, _NO_HOSTS),
        "UnregisterBrokerRecord": RecordType(_unregister_broker, _WHOLE),
        "FenceBrokerRecord": RecordType(partial(_fence, fenced=True), _WHOLE),
        "UnfenceBrokerRecord": RecordType(partial(_fence, fenced=False), _WHOLE),
        "BrokerRegistrationChangeRecord": RecordType(_broker_change, _WHOLE),
        "RegisterControllerRecord": RecordType(_register_controller, _NO_HOSTS),
        "FeatureLevelRecord": RecordType(_feature, _WHOLE),
        "ConfigRecord": RecordType(_config, _SOME_VALUES),
        "UserScramCredentialRecord": RecordType(partial(_scram, removed=False), _NOTHING, _SECRET),
        "RemoveUserScramCredentialRecord": RecordType(partial(_scram, removed=True), _NOTHING, _SECRET),
        "DelegationTokenRecord": RecordType(partial(_token, removed=False), _NOTHING, _SECRET),
        "RemoveDelegationTokenRecord": RecordType(partial(_token, removed=True), _NOTHING, _SECRET),
        "ProducerIdsRecord": RecordType(_producer_ids, _WHOLE),
        "ZkMigrationStateRecord": RecordType(_zk_migration, _WHOLE),
        "BeginTransactionRecord": RecordType(None, _WHOLE),
        "EndTransactionRecord": RecordType(None, _WHOLE),
        "AbortTransactionRecord": RecordType(None, _WHOLE),
        "NoOpRecord": RecordType(None, _WHOLE),
        "ClientQuotaRecord": RecordType(None, _NOTHING, _NAMES_CLIENTS),
        "AccessControlEntryRecord": RecordType(None, _NOTHING, _NAMES_CLIENTS),
        "RemoveAccessControlEntryRecord": RecordType(None, _NOTHING, "Its entry is not kept."),
    }
    """Every type of record. Transactions decide in `MetadataReplay.take` when the records between them count."""


_LISTS = {
    "isr": "isr", "replicas": "replicas", "removingReplicas": "removing", "addingReplicas": "adding",
    "eligibleLeaderReplicas": "elr", "lastKnownElr": "last_known_elr", "directories": "directories",
}  # fmt: skip


def _directories(directories: tuple[str, ...]) -> tuple[str, ...]:
    """Return the directories of replicas; none are known if all are still migrating (PartitionRegistration)."""
    return () if all(directory == MIGRATING_DIRECTORY for directory in directories) else directories


def _with_last_leader(partition: PartitionRegistration, former: PartitionRegistration | None) -> PartitionRegistration:
    """Return the partition with its latest leader, which the record before may name."""
    if partition.leader == NO_LEADER and former is not None and former.last_leader is not None:
        return partition._replace(last_leader=former.last_leader, last_leader_epoch=former.last_leader_epoch)
    return partition.with_last_leader()


def _features(data: Fields) -> dict[str, Levels]:
    return {
        feature["name"]: Levels(feature["minSupportedVersion"], feature["maxSupportedVersion"])
        for feature in data["features"]
    }
