"""Which replicas the metadata of a KRaft cluster contains: TopicsDelta and TopicDelta 3.3 to 4.3.1.

A start deletes every other replica on the broker, or renames it to -stray: LogManager.isStrayKraftReplica 3.7.1 to 4.2,
isStrayReplica 4.3; up to 3.6 BrokerMetadataPublisher.findStrayPartitions.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kcheck.core.startup import Outcome
from kcheck.model.release import Release

FROM_SNAPSHOT = -1
"""The offset of a fact that comes from a snapshot, not from a record."""


class ClusterImage(NamedTuple):
    """The metadata at one offset. A partition's key is (topic id, partition number)."""

    topics: frozenset[str]
    """The ids of the topics that exist."""
    replicas: Mapping[tuple[str, int], tuple[int, ...]]
    """The broker ids of each partition's replicas."""
    directories: Mapping[tuple[str, int], tuple[str, ...]]
    """The log dir ids of these replicas, in the same order; empty if the records name none."""
    since: Mapping[str | tuple[str, int], int]
    """The offset of the record that removed a topic (by id) or set a partition's replicas; or FROM_SNAPSHOT."""
    brokers: frozenset[int]
    """The brokers whose latest registration is for KRaft.

    From 3.4 to 3.9 a broker that still runs with ZooKeeper, while its cluster migrates, registers as migrating
    (RegisterBrokerRecord).
    """
    topic_ids: Mapping[str, str] = {}
    """The ids of these topics by name."""


class Stray(NamedTuple):
    """Why a replica does not belong to the cluster."""

    why: str
    """The reason in words."""
    since: int | None
    """The offset of the metadata record that says so, or FROM_SNAPSHOT; None if no record is known."""


class MetadataReplay:
    """Replays metadata records in order; `image()` is the result.

    ValueError for a record that contradicts the ones before it; the image is then worthless.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._topics: dict[str, dict[int, tuple[int, ...]]] = {}
        self._directories: dict[tuple[str, int], tuple[str, ...]] = {}
        self._since: dict[str | tuple[str, int], int] = {}
        self._brokers: set[int] = set()
        self._held: list[tuple[str, Mapping[str, Any], int]] | None = None

    def take(self, name: str, data: Mapping[str, Any], offset: int) -> None:
        """Replay a record; those of a transaction (3.6 and later) count once it ends (OffsetControlManager)."""
        if name == "BeginTransactionRecord":
            self._held = []
        elif name in ("EndTransactionRecord", "AbortTransactionRecord"):
            held, self._held = self._held or [], None
            for record in held if name == "EndTransactionRecord" else ():
                self._apply(*record)
        elif self._held is not None:
            self._held.append((name, data, offset))
        else:
            self._apply(name, data, offset)

    def _apply(self, name: str, data: Mapping[str, Any], offset: int) -> None:
        if name == "TopicRecord":
            self._topics[data["topicId"]] = {}
            self._names[data["topicId"]] = data["name"]
        elif name == "RemoveTopicRecord":
            if self._topics.pop(data["topicId"], None) is None:
                raise ValueError(f"the record at offset {offset} removes a topic that does not exist")
            self._since[data["topicId"]] = offset
        elif name == "RegisterBrokerRecord":
            (self._brokers.discard if data.get("isMigratingZkBroker") else self._brokers.add)(data["brokerId"])
        elif name in ("PartitionRecord", "PartitionChangeRecord"):
            topic, number, replicas = data["topicId"], data["partitionId"], data.get("replicas")
            known = self._topics.get(topic)
            if known is None or (name == "PartitionChangeRecord" and number not in known):
                raise ValueError(f"the record at offset {offset} changes a partition that does not exist")
            if replicas is not None:
                known[number] = tuple(replicas)
                self._since[topic, number] = offset
            if replicas is not None or "directories" in data:
                self._directories[topic, number] = tuple(data.get("directories") or ())

    def image(self) -> ClusterImage:
        """Return the metadata after the records so far."""
        replicas = {
            (topic, number): brokers for topic, numbers in self._topics.items() for number, brokers in numbers.items()
        }
        return ClusterImage(
            topics=frozenset(self._topics),
            replicas=replicas,
            directories=self._directories,
            since=self._since,
            brokers=frozenset(self._brokers),
            topic_ids={self._names[topic]: topic for topic in self._topics},
        )


def stray(image: ClusterImage, topic_id: str, partition: int, broker_id: int | None) -> Stray | None:
    """Return why the cluster has no such replica on the broker; None if it has, or if `broker_id` is None."""
    if topic_id not in image.topics:
        return Stray(f"the cluster has no topic with id {topic_id}", image.since.get(topic_id))
    key = topic_id, partition
    if key not in image.replicas:
        return Stray(f"in the cluster the topic has no partition {partition}", FROM_SNAPSHOT)
    if broker_id is None or broker_id in image.replicas[key]:
        return None
    return Stray(f"the cluster has no replica of it on broker {broker_id}", image.since[key])


def directory_of(image: ClusterImage, topic_id: str, partition: int, broker_id: int | None) -> str | None:
    """Return the id of the log dir that a replica belongs to (3.7 and later); None if it is not known."""
    key = topic_id, partition
    pairs = zip(image.replicas.get(key, ()), image.directories.get(key, ()), strict=False)
    return next((directory for broker, directory in pairs if broker == broker_id), None)


def becomes_of_strays(release: Release) -> Outcome:
    """Return what a start does with stray replicas: it deletes them up to 3.6 and renames them to -stray from 3.7."""
    return Outcome.STRAY if release.keeps_strays else Outcome.DELETED
