"""Metadata that controllers could have written: random records, each of which fits the ones before."""

import json
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from kcheck.model.names import log_name
from tests.oracle.ask import Ask
from tests.record_bytes import batch_of, record

NEWEST = "4.3.1"
NAMES = ("orders", "payments", "a.b_c", "t")
BROKERS = range(1, 6)
FEATURES = ("metadata.version", "eligible.leader.replicas.version", "group.version", "share.version")
CONFIGS = ("min.insync.replicas", "unclean.leader.election.enable", "cleanup.policy", "retention.ms")

Made = tuple[str, int, dict[str, Any]]
"""The type of a record, its version and its fields."""


class _Cluster:
    """What the records so far have made."""

    def __init__(self, random: Random, level: int) -> None:
        self.random, self.level = random, level
        self.topics: dict[str, tuple[str, dict[int, int]]] = {}
        self.epochs: dict[int, int] = {}
        self.users: set[tuple[str, int]] = set()

    def uuid(self) -> str:
        return urlsafe_b64encode(self.random.randbytes(16)).decode().rstrip("=").replace("-", "A")

    def brokers(self, low: int = 0) -> list[int]:
        return self.random.sample(BROKERS, self.random.randint(low, 4))

    def some(self) -> bool:
        return self.random.random() < 0.5

    def next(self, offset: int) -> Made:
        """Return the record of an offset."""
        while True:
            made = self.random.choice(_MAKERS)(self, offset)
            if made is not None:
                return made

    def topic(self, offset: int) -> Made | None:
        del offset
        unused = set(NAMES) - {name for name, _ in self.topics.values()}
        if not unused:
            return None
        topic_id, name = self.uuid(), self.random.choice(sorted(unused))
        self.topics[topic_id] = (name, {})
        return "TOPIC_RECORD", 0, {"name": name, "topicId": topic_id}

    def remove_topic(self, offset: int) -> Made | None:
        del offset
        if not self.topics or self.random.random() < 0.7:
            return None
        topic_id = self.random.choice(list(self.topics))
        del self.topics[topic_id]
        return "REMOVE_TOPIC_RECORD", 0, {"topicId": topic_id}

    def partition(self, offset: int) -> Made | None:
        del offset
        if not self.topics:
            return None
        topic_id = self.random.choice(list(self.topics))
        partitions, replicas = self.topics[topic_id][1], self.brokers(1)
        number = self.random.randrange(4)
        partitions[number] = len(replicas)
        data: dict[str, Any] = {
            "partitionId": number, "topicId": topic_id, "replicas": replicas, "isr": self.brokers(),
            "removingReplicas": self.brokers(), "addingReplicas": self.brokers(),
            "leader": self.random.choice((-1, *BROKERS)), "leaderEpoch": self.random.randrange(9),
            "partitionEpoch": self.random.randrange(9),
        }  # fmt: skip
        if self.some():
            data["leaderRecoveryState"] = self.random.randrange(2)
        version = min(self.level, 2)
        if version >= 1:
            data["directories"] = [self.directory() for _ in replicas]
        if version >= 2:
            data |= self.optional("eligibleLeaderReplicas", "lastKnownElr")
        return "PARTITION_RECORD", version, data

    def directory(self) -> str:
        return self.random.choice((self.uuid(), *("A" * 21 + last for last in "AQg")))

    def optional(self, *names: str) -> dict[str, Any]:
        return {name: self.brokers() for name in names if self.some()}

    def change(self, offset: int) -> Made | None:
        del offset
        every = [(topic_id, number) for topic_id, (_, partitions) in self.topics.items() for number in partitions]
        if not every:
            return None
        topic_id, number = self.random.choice(every)
        partitions, version = self.topics[topic_id][1], min(self.level, 2)
        data: dict[str, Any] = {"partitionId": number, "topicId": topic_id}
        data |= self.optional("isr", "removingReplicas", "addingReplicas")
        if self.some():
            data["leader"] = self.random.choice((-1, -2, *BROKERS))
        if self.some():
            data["leaderRecoveryState"] = self.random.choice((-1, 0, 1))
        if self.some():
            data["replicas"] = self.random.sample(BROKERS, partitions[number])
            if version == 0 or self.some():
                data["replicas"] = self.brokers(1)
                partitions[number] = len(data["replicas"])
                data |= {"directories": [self.directory() for _ in data["replicas"]]} if version else {}
        if version >= 2:
            data |= self.optional("eligibleLeaderReplicas", "lastKnownElr")
        return "PARTITION_CHANGE_RECORD", version, data

    def clear_elr(self, offset: int) -> Made | None:
        del offset
        names = [name for name, _ in self.topics.values()]
        return None if self.level < 3 else ("CLEAR_ELR_RECORD", 0, {"topicName": self.random.choice(["", *names])})

    def register(self, offset: int) -> Made:
        broker = self.random.choice(BROKERS)
        self.epochs[broker] = offset
        version = (0, 2, 3, 4)[self.level]
        data: dict[str, Any] = {
            "brokerId": broker, "incarnationId": self.uuid(), "brokerEpoch": offset,
            "endPoints": [{"name": "PLAINTEXT", "host": f"h{offset}", "port": offset, "securityProtocol": 0}],
            "features": [{"name": "metadata.version", "minSupportedVersion": 1, "maxSupportedVersion": 7 + offset}],
            "rack": self.random.choice((None, "r1")), "fenced": self.some(),
        }  # fmt: skip
        if version >= 1:
            data["inControlledShutdown"] = self.some()
        if version >= 2:
            data["isMigratingZkBroker"] = False
        if version >= 3:
            data["logDirs"] = [self.uuid() for _ in range(self.random.randrange(3))]
        if version >= 4 and self.some():
            data["cordonedLogDirs"] = data["logDirs"][:1]
        return "REGISTER_BROKER_RECORD", version, data

    def broker_change(self, offset: int) -> Made | None:
        del offset
        if not self.epochs:
            return None
        broker = self.random.choice(list(self.epochs))
        version = (0, 1, 2, 3)[self.level]
        data: dict[str, Any] = {"brokerId": broker, "brokerEpoch": self.epochs[broker]}
        data["fenced"] = self.random.choice((-1, 0, 1))
        if version >= 1:
            data["inControlledShutdown"] = self.random.choice((0, 1))
        if version >= 2 and self.some():
            data["logDirs"] = [self.uuid() for _ in range(self.random.randrange(3))]
        if version >= 3 and self.some():
            data["cordonedLogDirs"] = [self.uuid() for _ in range(self.random.randrange(2))]
        return "BROKER_REGISTRATION_CHANGE_RECORD", version, data

    def fence(self, offset: int) -> Made | None:
        del offset
        if not self.epochs:
            return None
        broker = self.random.choice(list(self.epochs))
        name = self.random.choice(("FENCE_BROKER_RECORD", "UNFENCE_BROKER_RECORD", "UNREGISTER_BROKER_RECORD"))
        if name.startswith("UNREG"):
            return name, 0, {"brokerId": broker, "brokerEpoch": self.epochs.pop(broker)}
        return name, 0, {"id": broker, "epoch": self.epochs[broker]}

    def config(self, offset: int) -> Made:
        del offset
        kind = self.random.choice((2, 4))
        names = [name for name, _ in self.topics.values()]
        resource = self.random.choice(("", "1", "2") if kind == 4 else (*names, "t"))
        value = self.random.choice((None, "1", "2", "true"))
        data = {"resourceType": kind, "resourceName": resource, "name": self.random.choice(CONFIGS), "value": value}
        return "CONFIG_RECORD", 0, data

    def feature(self, offset: int) -> Made:
        del offset
        name = self.random.choice(FEATURES)
        level = self.random.randint(7, 20) if name == "metadata.version" else self.random.randrange(2)
        return "FEATURE_LEVEL_RECORD", 0, {"name": name, "featureLevel": level}

    def scram(self, offset: int) -> Made:
        del offset
        user = self.random.choice("ab"), self.random.choice((1, 2))
        if user in self.users and self.some():
            self.users.remove(user)
            return "REMOVE_USER_SCRAM_CREDENTIAL_RECORD", 0, {"name": user[0], "mechanism": user[1]}
        self.users.add(user)
        secret = {"salt": "AAAA", "storedKey": "AAAA", "serverKey": "AAAA", "iterations": 4096}
        return "USER_SCRAM_CREDENTIAL_RECORD", 0, {"name": user[0], "mechanism": user[1], **secret}

    def producer_ids(self, offset: int) -> Made:
        return "PRODUCER_IDS_RECORD", 0, {"brokerId": 1, "brokerEpoch": 1, "nextProducerId": 1000 * offset}

    def controller(self, offset: int) -> Made:
        del offset
        data = {"controllerId": self.random.choice((1, 100)), "incarnationId": self.uuid(), "zkMigrationReady": False}
        return "REGISTER_CONTROLLER_RECORD", 0, {**data, "endPoints": [], "features": []}

    def no_op(self, offset: int) -> Made:
        del offset
        return "NO_OP_RECORD", 0, {}


_MAKERS = (
    _Cluster.topic, _Cluster.remove_topic, _Cluster.partition, _Cluster.partition, _Cluster.change, _Cluster.change,
    _Cluster.change, _Cluster.clear_elr, _Cluster.register, _Cluster.broker_change, _Cluster.fence, _Cluster.config,
    _Cluster.feature, _Cluster.scram, _Cluster.producer_ids, _Cluster.controller, _Cluster.no_op,
)  # fmt: skip


def _made(random: Random, level: int, count: int) -> list[list[Made]]:
    """Return batches of one to five records; the first one tells the version of the metadata."""
    cluster = _Cluster(random, level)
    batches: list[list[Made]] = [[("FEATURE_LEVEL_RECORD", 0, {"name": "metadata.version", "featureLevel": 7})]]
    left = 0
    for offset in range(1, count):
        made = cluster.next(offset)
        # What one batch removes, and what it adds before or after that, Kafka takes together, and errs: it keeps the
        # first configuration of a topic that goes, and forgets the user that comes while another one goes.
        is_removal = made[0].startswith("REMOVE_")
        if left <= 0 or is_removal:
            batches.append([])
            left = random.randint(1, 5)
        batches[-1].append(made)
        left = 0 if is_removal else left - 1
    return batches


def write_logs(ask: Ask, folder: Path, random: Random, *, level: int, logs: int, size: int) -> list[Path]:
    """Write metadata logs of records of a level: 0 is 3.3, 1 is 3.7, 2 is 3.9, 3 is 4.3; return their directories."""
    made = [_made(random, level, size) for _ in range(logs)]
    cases = [f"{name} {version} {json.dumps(data)}" for log in made for batch in log for name, version, data in batch]
    values = iter(map(b64decode, ask(NEWEST, "MetadataRecords.java", cases)))
    paths = [folder / f"level-{level}-{number}" / "__cluster_metadata-0" for number in range(logs)]
    for path, log in zip(paths, made, strict=True):
        path.mkdir(parents=True)
        (path / log_name(0)).write_bytes(_log([[next(values) for _ in batch] for batch in log]))
    return paths


def _log(batches: Sequence[Sequence[bytes]]) -> bytes:
    data, offset = b"", 0
    for values in batches:
        records = b"".join(record(index, None, value) for index, value in enumerate(values))
        data += batch_of(records, len(values), base_offset=offset)
        offset += len(values)
    return data
