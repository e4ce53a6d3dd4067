"""The data of Kafka's znodes (kafka.zk.ZkData 1.1 to 3.9, ZkUtils 0.8 to 1.0), as JSON in most of them.

No secrets are kept. Only the decisive configurations are kept, and the names of SCRAM credentials and delegation
tokens.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar
from urllib.parse import unquote

from kcheck.model.cluster import (
    DECISIVE_CONFIGS,
    NO_LEADER,
    RETENTION_CONFIGS,
    BrokerRegistration,
    ClusterImage,
    Levels,
    MetadataProblem,
    PartitionRegistration,
    TopicImage,
)
from kcheck.model.java import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, java_bytes, java_int, java_long
from kcheck.model.znodes import Znode
from kcheck.model.zookeeper_metadata import PartitionName, ZookeeperMetadata, ZookeeperMigration
from kcheck.records.json_reader import read_json

T = TypeVar("T")
ZnodeFields = Mapping[str, Any]

_MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
_KINDS = {"topics": "topic", "brokers": "broker"}
_DEFAULT = "<default>"
"""The name of the configurations of all brokers."""
_PROBLEM_COUNT_MAX = 100
_PLACE_SIZE_MAX = 1000
"""Maximum length of a path that a problem names, as no topic of Kafka has a longer one."""
_STATE = re.compile(r"(/brokers/topics/[^/]+)/partitions/([^/]+)/state")
_EPOCH = "kraftControllerEpoch"
_MIGRATION = ("kraft_controller_id", "kraft_controller_epoch", "kraft_metadata_offset", "kraft_metadata_epoch")


def read_cluster(znodes: Mapping[str, Znode], chroot: str = "") -> ZookeeperMetadata:
    """Return the metadata of the cluster below `chroot`; the first hundred problems are kept."""
    return _ClusterReader(znodes, chroot).metadata()


def partition_paths(chroot: str, topic: str, number: int) -> tuple[str, str]:
    """Return the znodes that hold the replicas of a partition, and its state."""
    path = f"{chroot}/brokers/topics/{topic}"
    return path, f"{path}/partitions/{number}/state"


def read_state(data: bytes | None) -> PartitionRegistration:
    """Return the state of a partition, without its replicas; ValueError if it is corrupt."""
    return _with_state(PartitionRegistration((), ()), _object(data or b""), None)


def read_partition(
    topic: str, number: int, replicas: Znode | None, state: Znode | None
) -> tuple[str | None, PartitionRegistration | None]:
    """Return the topic's id, and the partition, by its two znodes; ValueError if their data is corrupt."""
    if replicas is None:
        return None, None
    image = _topic(topic, _object(replicas.data or b""), deleting=False)
    registration = image.partitions.get(number)
    if registration is not None and state is not None:
        registration = _with_state(registration, _object(state.data or b""), state.version)
    return image.topic_id, registration


class _ClusterReader:
    def __init__(self, znodes: Mapping[str, Znode], chroot: str) -> None:
        self._znodes, self._chroot = znodes, chroot
        self._problems: list[MetadataProblem] = []
        self._children: dict[str, list[str]] = {}
        for path in znodes:
            parent, _, name = path.rpartition("/")
            if name and path.startswith(f"{chroot}/"):
                self._children.setdefault(parent.removeprefix(chroot), []).append(name)
        self._migration = self._json("/migration", _migration)

    def metadata(self) -> ZookeeperMetadata:
        """Read every znode that kcheck knows."""
        controller, is_kraft = self._json("/controller", _controller) or (None, False)
        return ZookeeperMetadata(
            image=self._image()._replace(controller=controller, kraft_controller=controller if is_kraft else None),
            cluster_id=self._json("/cluster/id", lambda fields: _text(fields, "id")),
            controller_epoch=self._read("/controller_epoch", _controller_epoch),
            isr_changes=tuple(
                partition
                for partitions in self._each("/isr_change_notification", _partitions)
                for partition in partitions
            ),
            reassigning=self._json("/admin/reassign_partitions", _partitions) or (),
            electing=self._json("/admin/preferred_replica_election", _partitions) or (),
            log_dir_changes=tuple(self._each("/log_dir_event_notification", lambda fields: _int(fields, "broker"))),
            migration=self._migration,
            chroot=self._chroot,
            problems=tuple(self._problems[:_PROBLEM_COUNT_MAX]),
        )

    def _image(self) -> ClusterImage:
        deleting = frozenset(self._children.get("/admin/delete_topics", ()))
        names = self._children.get("/brokers/topics", ())
        topics = {name: topic for name in names if (topic := self._topic(name, name in deleting)) is not None}
        self._check_states(topics)
        return ClusterImage(
            topics=topics,
            topics_by_id={topic.topic_id: topic for topic in topics.values() if topic.topic_id is not None},
            brokers=self._brokers(),
            features=self._json("/feature", _features) or {},
            configs=self._configs(),
            next_producer_id=self._read("/latest_producer_id_block", _next_producer_id),
            scram_users=self._scram_users(),
            delegation_tokens=tuple(sorted(self._children.get("/delegation_token/tokens", ()))),
            migration=None if self._migration is None else self._migration.state,
        )

    def _read(self, path: str, build: Callable[[bytes], T]) -> T | None:
        """Return the value that `build` makes of a znode; None without a znode, or if its data is a problem."""
        znode = self._znodes.get(self._chroot + path)
        if znode is None:
            return None
        try:
            return build(znode.data or b"")
        except ValueError as error:
            self._problem(path, str(error))
            return None

    def _problem(self, path: str, why: str) -> None:
        self._problems.append(MetadataProblem((self._chroot + path)[:_PLACE_SIZE_MAX], why))

    def _json(self, path: str, build: Callable[[ZnodeFields], T]) -> T | None:
        return self._read(path, lambda data: build(_object(data)))

    def _each(self, parent: str, build: Callable[[ZnodeFields], T]) -> Iterator[T]:
        """Yield what `build` makes of each child, by name."""
        for name in sorted(self._children.get(parent, ())):
            value = self._json(f"{parent}/{name}", build)
            if value is not None:
                yield value

    def _topic(self, name: str, deleting: bool) -> TopicImage | None:
        path = f"/brokers/topics/{name}"
        topic = self._json(path, lambda fields: _topic(name, fields, deleting))
        if topic is None:
            return None
        partitions = {
            number: self._with_state(partition, f"{path}/partitions/{number}/state").with_last_leader()
            for number, partition in topic.partitions.items()
        }
        return topic._replace(partitions=partitions)

    def _check_states(self, topics: Mapping[str, TopicImage]) -> None:
        """Note the states of partitions that their topic does not have; an export may lack the topic."""
        for path in self._znodes:
            state = _STATE.fullmatch(path, len(self._chroot))
            if state is None or not path.startswith(self._chroot):
                continue
            topic = topics.get(state[1].rpartition("/")[2])
            is_problem = topic is None and self._chroot + state[1] in self._znodes
            if not is_problem and (topic is None or _number(state[2]) not in topic.partitions):
                self._problem(state[0], "its topic does not name the replicas of this partition")

    def _with_state(self, partition: PartitionRegistration, path: str) -> PartitionRegistration:
        """Return the partition with its state; as it is if the controller has not written one yet."""
        znode = self._znodes.get(self._chroot + path)
        version = None if znode is None else znode.version
        return self._json(path, lambda fields: _with_state(partition, fields, version)) or partition

    def _brokers(self) -> dict[int, BrokerRegistration]:
        brokers = {}
        for name in self._children.get("/brokers/ids", ()):
            path, broker_id = f"/brokers/ids/{name}", _number(name)
            if broker_id is None:
                self._problem(path, "its name is no broker id")
            elif (broker := self._json(path, partial(_broker, broker_id))) is not None:
                epoch = self._znodes[self._chroot + path].czxid or None
                brokers[broker_id] = broker._replace(epoch=epoch, migrating=self._migration is not None)
        return brokers

    def _configs(self) -> dict[tuple[str, str], Mapping[str, str]]:
        configs: dict[tuple[str, str], Mapping[str, str]] = {}
        for folder, kind in _KINDS.items():
            for name in self._children.get(f"/config/{folder}", ()):
                config = self._json(f"/config/{folder}/{name}", _decisive_configs)
                if config:
                    configs[kind, "" if name == _DEFAULT else name] = config
        return configs

    def _scram_users(self) -> tuple[str, ...]:
        users = []
        for name in self._children.get("/config/users", ()):
            config = self._json(f"/config/users/{name}", _config) or {}
            users += [f"{unquote(name)} ({mechanism})" for mechanism in _MECHANISMS if mechanism in config]
        return tuple(sorted(users))


def _object(data: bytes) -> ZnodeFields:
    """Return a JSON object; raise a ValueError that does not quote the data."""
    try:
        fields = read_json(data.decode("utf-8"))
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        raise ValueError("its data is no JSON object")  # noqa: TRY004  the data is wrong, not the program
    return fields


def _no_sense(name: str) -> ValueError:
    return ValueError(f"its {name} is missing or makes no sense")


def _int(fields: ZnodeFields, name: str, least: int = 0, most: int = INT_MAX) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise _no_sense(name)
    return value


def _number(text: str) -> int | None:
    """Return the id or number that a name or key is; None if Kafka gives none like this."""
    number = java_int(text)
    return number if number is not None and number >= 0 and str(number) == text else None


def _ints(value: object, name: str) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise _no_sense(name)
    return tuple(_int({name: number}, name) for number in value)


def _text(fields: ZnodeFields, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise _no_sense(name)
    return java_bytes(value).decode()


def _inner(fields: ZnodeFields, name: str, *, needed: bool = False) -> ZnodeFields:
    value = fields.get(name, None if needed else {})
    if not isinstance(value, dict):
        raise _no_sense(name)
    return value


def _controller(fields: ZnodeFields) -> tuple[int, bool]:
    """Return the controller, and whether KRaft has this one. Brokers write no epoch of KRaft, or -1."""
    return _int(fields, "brokerid"), _int({_EPOCH: -1, **fields}, _EPOCH, -1) >= 0


def _controller_epoch(data: bytes) -> int:
    epoch = _number(data.decode("ascii", "replace"))
    if epoch is None:
        raise ValueError("its data is no epoch")
    return epoch


def _topic(name: str, fields: ZnodeFields, deleting: bool) -> TopicImage:
    adding, removing = _inner(fields, "adding_replicas"), _inner(fields, "removing_replicas")
    partitions = {}
    for key, replicas in _inner(fields, "partitions", needed=True).items():
        number = _number(key)
        if number is None:
            raise _no_sense("partitions")
        partitions[number] = PartitionRegistration(
            replicas=_ints(replicas, "partitions"),
            isr=(),
            adding=_ints(adding.get(key, []), "adding_replicas"),
            removing=_ints(removing.get(key, []), "removing_replicas"),
        )
    return TopicImage(name, _text(fields, "topic_id") if "topic_id" in fields else None, partitions, deleting)


def _with_state(partition: PartitionRegistration, fields: ZnodeFields, version: int | None) -> PartitionRegistration:
    _int(fields, "controller_epoch")  # Kafka reads no state without it
    return partition._replace(
        leader=max(_int(fields, "leader", INT_MIN), NO_LEADER),
        leader_epoch=_int(fields, "leader_epoch"),
        isr=_ints(fields.get("isr"), "isr"),
        partition_epoch=version,
        recovering="leader_recovery_state" in fields and _int(fields, "leader_recovery_state") == 1,
    )


def _broker(broker_id: int, fields: ZnodeFields) -> BrokerRegistration:
    """Return a registration; in 0.8 and earlier it names one host and port instead of endpoints."""
    endpoints = fields.get("endpoints")
    if endpoints is None:
        endpoints = [f"PLAINTEXT://{_text(fields, 'host')}:{_int(fields, 'port')}"]
    if not isinstance(endpoints, list):
        raise _no_sense("endpoints")
    return BrokerRegistration(
        broker_id=broker_id,
        epoch=None,
        fenced=False,
        endpoints=tuple(_text({"endpoints": endpoint}, "endpoints") for endpoint in endpoints),
        rack=None if fields.get("rack") is None else _text(fields, "rack"),
        features={
            name: Levels(_int(level, "min_version"), _int(level, "max_version"))
            for name, level in _levels(fields).items()
        },
    )


def registered_endpoints(data: bytes | None) -> tuple[str, ...]:
    """Return the listeners in the znode of a broker; none if unreadable."""
    try:
        return _broker(0, _object(data or b"")).endpoints
    except ValueError:
        return ()


def _config(fields: ZnodeFields) -> ZnodeFields:
    return _inner(fields, "config")


def _decisive_configs(fields: ZnodeFields) -> dict[str, str]:
    config = _config(fields)
    return {name: _text(config, name) for name in sorted((DECISIVE_CONFIGS | RETENTION_CONFIGS) & config.keys())}


def _partitions(fields: ZnodeFields) -> tuple[PartitionName, ...]:
    partitions = fields.get("partitions")
    if not isinstance(partitions, list) or not all(isinstance(partition, dict) for partition in partitions):
        raise _no_sense("partitions")
    return tuple((_text(partition, "topic"), _int(partition, "partition")) for partition in partitions)


def _features(fields: ZnodeFields) -> dict[str, int]:
    """Return the levels; in 3.2 and earlier a feature had a least level too."""
    return {name: _int(level, "max_version_level") for name, level in _levels(fields).items()}


def _levels(fields: ZnodeFields) -> dict[str, ZnodeFields]:
    levels = _inner(fields, "features")
    if not all(isinstance(level, dict) for level in levels.values()):
        raise _no_sense("features")
    return {java_bytes(name).decode(): level for name, level in levels.items()}


def _next_producer_id(data: bytes) -> int | None:
    """Return the id after the last block that a broker took.

    Kafka writes the ends of a block as text. The data is empty before the first block.
    """
    if not data:
        return None
    last = java_long(_text(_object(data), "block_end"))
    if last is None or not 0 <= last < LONG_MAX:
        raise _no_sense("block_end")
    return last + 1


def _migration(fields: ZnodeFields) -> ZookeeperMigration:
    return ZookeeperMigration(*(_int(fields, name, LONG_MIN, LONG_MAX) for name in _MIGRATION))
