"""The data of Kafka's znodes (kafka.zk.ZkData 1.1 to 3.9, ZkUtils 0.8 to 1.0), as JSON in most of them.

Nothing secret is kept: of configurations only the decisive ones, of SCRAM credentials and delegation tokens none.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import unquote

from kcheck.formats._json_reader import read_json
from kcheck.model.java import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, java_bytes, java_int
from kcheck.model.znodes import Znode
from kcheck.model.zookeeper_cluster import (
    DECISIVE_CONFIGS,
    LeaderIsrAndControllerEpoch,
    ZookeeperBroker,
    ZookeeperCluster,
    ZookeeperMigration,
    ZookeeperPartition,
    ZookeeperTopic,
)

T = TypeVar("T")
ZnodeFields = Mapping[str, Any]

_SCRAM = "SCRAM-SHA-"
_MIGRATION = ("kraft_controller_id", "kraft_controller_epoch", "kraft_metadata_offset", "kraft_metadata_epoch")


def read_cluster(znodes: Mapping[str, Znode], chroot: str = "") -> ZookeeperCluster:
    """Return the metadata of the cluster below `chroot`."""
    return _ClusterReader(znodes, chroot).cluster()


class _ClusterReader:
    def __init__(self, znodes: Mapping[str, Znode], chroot: str) -> None:
        self._znodes, self._chroot = znodes, chroot
        self._problems: list[tuple[str, str]] = []
        self._children: dict[str, list[str]] = {}
        for path in znodes:
            parent, _, name = path.rpartition("/")
            if name and path.startswith(f"{chroot}/"):
                self._children.setdefault(parent.removeprefix(chroot), []).append(name)

    def cluster(self) -> ZookeeperCluster:
        """Read every znode that kcheck knows."""
        deleting = frozenset(self._children.get("/admin/delete_topics", ()))
        return ZookeeperCluster(
            cluster_id=self._json("/cluster/id", lambda fields: _text(fields, "id")),
            topics={
                name: topic
                for name in self._children.get("/brokers/topics", ())
                if (topic := self._topic(name, name in deleting)) is not None
            },
            brokers=self._brokers(),
            controller=self._json("/controller", lambda fields: _int(fields, "brokerid")),
            controller_epoch=self._read("/controller_epoch", _controller_epoch),
            configs=self._configs(),
            isr_changes=tuple(
                partition
                for name in sorted(self._children.get("/isr_change_notification", ()))
                for partition in self._json(f"/isr_change_notification/{name}", _partitions) or ()
            ),
            reassigning=self._json("/admin/reassign_partitions", _partitions) or (),
            electing=self._json("/admin/preferred_replica_election", _partitions) or (),
            features=self._json("/feature", _features) or {},
            migration=self._json("/migration", _migration),
            scram_users=self._scram_users(),
            delegation_tokens=len(self._children.get("/delegation_token/tokens", ())),
            problems=tuple(self._problems),
        )

    def _read(self, path: str, build: Callable[[bytes], T]) -> T | None:
        """Return what `build` makes of a znode; None if there is none, or if its data is a problem."""
        znode = self._znodes.get(self._chroot + path)
        if znode is None:
            return None
        try:
            return build(znode.data or b"")
        except ValueError as error:
            self._problem(path, str(error))
            return None

    def _problem(self, path: str, why: str) -> None:
        self._problems.append((self._chroot + path, why))

    def _json(self, path: str, build: Callable[[ZnodeFields], T]) -> T | None:
        return self._read(path, lambda data: build(_object(data)))

    def _topic(self, name: str, deleting: bool) -> ZookeeperTopic | None:
        path = f"/brokers/topics/{name}"
        topic = self._json(path, lambda fields: _topic(fields, deleting))
        if topic is None:
            return None
        return topic._replace(
            partitions={
                number: partition._replace(state=self._state(f"{path}/partitions/{number}/state"))
                for number, partition in topic.partitions.items()
            }
        )

    def _state(self, path: str) -> LeaderIsrAndControllerEpoch | None:
        znode = self._znodes.get(self._chroot + path)
        return self._json(path, lambda fields: _state(fields, znode and znode.version))

    def _brokers(self) -> dict[int, ZookeeperBroker]:
        brokers = {}
        for name in self._children.get("/brokers/ids", ()):
            path, broker_id = f"/brokers/ids/{name}", _number(name)
            if broker_id is None:
                self._problem(path, "its name is no broker id")
            elif (broker := self._json(path, _broker)) is not None:
                brokers[broker_id] = broker
        return brokers

    def _configs(self) -> dict[tuple[str, str], Mapping[str, str]]:
        configs: dict[tuple[str, str], Mapping[str, str]] = {}
        for kind in ("topics", "brokers"):
            for name in self._children.get(f"/config/{kind}", ()):
                config = self._json(f"/config/{kind}/{name}", _decisive_configs)
                if config:
                    configs[kind, name] = config
        return configs

    def _scram_users(self) -> tuple[str, ...]:
        users = []
        for name in self._children.get("/config/users", ()):
            config = self._json(f"/config/users/{name}", _config) or {}
            if any(key.startswith(_SCRAM) for key in config):
                users.append(unquote(name))
        return tuple(sorted(users))


def _object(data: bytes) -> ZnodeFields:
    """Return a JSON object; raise ValueError, whose words do not quote the data."""
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


def _controller_epoch(data: bytes) -> int:
    epoch = _number(data.decode("ascii", "replace"))
    if epoch is None:
        raise ValueError("its data is no epoch")
    return epoch


def _topic(fields: ZnodeFields, deleting: bool) -> ZookeeperTopic:
    adding, removing = _inner(fields, "adding_replicas"), _inner(fields, "removing_replicas")
    partitions = {}
    for key, replicas in _inner(fields, "partitions", needed=True).items():
        number = _number(key)
        if number is None:
            raise _no_sense("partitions")
        partitions[number] = ZookeeperPartition(
            _ints(replicas, "partitions"),
            _ints(adding.get(key, []), "adding_replicas"),
            _ints(removing.get(key, []), "removing_replicas"),
        )
    return ZookeeperTopic(_text(fields, "topic_id") if "topic_id" in fields else None, partitions, deleting)


def _state(fields: ZnodeFields, version: int | None) -> LeaderIsrAndControllerEpoch:
    return LeaderIsrAndControllerEpoch(
        leader=max(_int(fields, "leader", INT_MIN), -1),
        leader_epoch=_int(fields, "leader_epoch"),
        isr=_ints(fields.get("isr"), "isr"),
        controller_epoch=_int(fields, "controller_epoch"),
        partition_epoch=version,
        recovering="leader_recovery_state" in fields and _int(fields, "leader_recovery_state") == 1,
    )


def _broker(fields: ZnodeFields) -> ZookeeperBroker:
    """Return a registration; up to 0.8 it names one host and port instead of endpoints."""
    endpoints = fields.get("endpoints")
    if endpoints is None:
        endpoints = [f"PLAINTEXT://{_text(fields, 'host')}:{_int(fields, 'port')}"]
    if not isinstance(endpoints, list):
        raise _no_sense("endpoints")
    texts = tuple(_text({"endpoints": endpoint}, "endpoints") for endpoint in endpoints)
    return ZookeeperBroker(texts, None if fields.get("rack") is None else _text(fields, "rack"))


def _config(fields: ZnodeFields) -> ZnodeFields:
    return _inner(fields, "config")


def _decisive_configs(fields: ZnodeFields) -> dict[str, str]:
    config = _config(fields)
    return {name: _text(config, name) for name in sorted(DECISIVE_CONFIGS & config.keys())}


def _partitions(fields: ZnodeFields) -> tuple[tuple[str, int], ...]:
    partitions = fields.get("partitions")
    if not isinstance(partitions, list) or not all(isinstance(partition, dict) for partition in partitions):
        raise _no_sense("partitions")
    return tuple((_text(partition, "topic"), _int(partition, "partition")) for partition in partitions)


def _features(fields: ZnodeFields) -> dict[str, int]:
    """Return the levels; up to 3.2 a feature had a least level too."""
    levels = _inner(fields, "features")
    if not all(isinstance(level, dict) for level in levels.values()):
        raise _no_sense("features")
    return {java_bytes(name).decode(): _int(level, "max_version_level") for name, level in levels.items()}


def _migration(fields: ZnodeFields) -> ZookeeperMigration:
    return ZookeeperMigration(*(_int(fields, name, LONG_MIN, LONG_MAX) for name in _MIGRATION))
