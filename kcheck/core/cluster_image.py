"""Which replicas the metadata of a KRaft cluster know: TopicsDelta and TopicDelta 3.3 to 4.3.1.

A start sets aside, or deletes, what they do not know: LogManager.isStrayKraftReplica 3.7.1 to 4.2, isStrayReplica 4.3;
up to 3.6 BrokerMetadataPublisher.findStrayPartitions.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kcheck.core.startup import Outcome
from kcheck.model.release import Release

FROM_SNAPSHOT = -1
"""The offset of what a snapshot says."""


class ClusterImage(NamedTuple):
    """The replicas of each partition, by topic id and number, the directory ids of their log dirs, and since when.

    `topics` are the ids of those that exist, `since` the offsets of the records that removed a topic (its id) or told
    the replicas of a partition (id, number); FROM_SNAPSHOT where a snapshot told them. `brokers` are those that
    registered last as brokers of KRaft: one that still runs with ZooKeeper while its cluster migrates says so (3.4 to
    3.9, RegisterBrokerRecord).
    """

    topics: frozenset[str]
    replicas: Mapping[tuple[str, int], tuple[int, ...]]
    directories: Mapping[tuple[str, int], tuple[str, ...]]
    since: Mapping[str | tuple[str, int], int]
    brokers: frozenset[int]


class Stray(NamedTuple):
    """Why a replica is none of the cluster. `since` is the offset that made it one, None where none is known."""

    why: str
    since: int | None


class MetadataReplay:
    """Takes the records of the metadata in their order; `image()` is what they amount to.

    ValueError for records that contradict what came before: nothing is known then.
    """

    def __init__(self) -> None:
        self._topics: dict[str, dict[int, tuple[int, ...]]] = {}
        self._directories: dict[tuple[str, int], tuple[str, ...]] = {}
        self._since: dict[str | tuple[str, int], int] = {}
        self._brokers: set[int] = set()
        self._held: list[tuple[str, Mapping[str, Any], int]] | None = None

    def take(self, name: str, data: Mapping[str, Any], offset: int) -> None:
        """Take a record; those of a transaction (3.6 and later) count once it ends (OffsetControlManager)."""
        if name == "BeginTransactionRecord":
            self._held = []
        elif name in ("EndTransactionRecord", "AbortTransactionRecord"):
            held, self._held = self._held or [], None
            for each in held if name == "EndTransactionRecord" else ():
                self._apply(*each)
        elif self._held is not None:
            self._held.append((name, data, offset))
        else:
            self._apply(name, data, offset)

    def _apply(self, name: str, data: Mapping[str, Any], offset: int) -> None:
        if name == "TopicRecord":
            self._topics[data["topicId"]] = {}
        elif name == "RemoveTopicRecord":
            if self._topics.pop(data["topicId"], None) is None:
                raise ValueError(f"a topic is removed that does not exist, at offset {offset}")
            self._since[data["topicId"]] = offset
        elif name == "RegisterBrokerRecord":
            (self._brokers.discard if data.get("isMigratingZkBroker") else self._brokers.add)(data["brokerId"])
        elif name in ("PartitionRecord", "PartitionChangeRecord"):
            topic, number, replicas = data["topicId"], data["partitionId"], data.get("replicas")
            known = self._topics.get(topic)
            if known is None or (name == "PartitionChangeRecord" and number not in known):
                raise ValueError(f"a partition is changed that does not exist, at offset {offset}")
            if replicas is not None:
                known[number] = tuple(replicas)
                self._since[topic, number] = offset
            if replicas is not None or "directories" in data:
                self._directories[topic, number] = tuple(data.get("directories") or ())

    def image(self) -> ClusterImage:
        """Return what is known after the records so far."""
        replicas = {
            (topic, number): found for topic, numbers in self._topics.items() for number, found in numbers.items()
        }
        return ClusterImage(frozenset(self._topics), replicas, self._directories, self._since, frozenset(self._brokers))


def stray(image: ClusterImage, topic_id: str, partition: int, broker_id: int | None) -> Stray | None:
    """Return why the cluster has no such replica on the broker, None where it has, or where the broker is not known."""
    if topic_id not in image.topics:
        return Stray(f"the cluster has no topic of the id {topic_id}", image.since.get(topic_id))
    place = topic_id, partition
    if place not in image.replicas:
        return Stray(f"the topic has no partition {partition} in the cluster", FROM_SNAPSHOT)
    if broker_id is None or broker_id in image.replicas[place]:
        return None
    return Stray(f"broker {broker_id} is no replica of it in the cluster", image.since[place])


def directory_of(image: ClusterImage, topic_id: str, partition: int, broker_id: int | None) -> str | None:
    """Return the id of the log dir that a replica belongs to (3.7 and later), None where that is not known."""
    place = topic_id, partition
    pairs = zip(image.replicas.get(place, ()), image.directories.get(place, ()), strict=False)
    return next((directory for broker, directory in pairs if broker == broker_id), None)


def becomes_of_strays(release: Release) -> Outcome:
    """Return what a start does to them: deleted up to 3.6, set aside from 3.7 on."""
    return Outcome.STRAY if release.keeps_strays else Outcome.DELETED
