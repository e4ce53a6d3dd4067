"""Disks of brokers without metadata, as values."""

from collections.abc import Iterable, Mapping
from typing import Any

from kcheck.core.rescue.answers import NONE, MetadataAnswers
from kcheck.core.rescue.held import HeldDisks, HeldLogDir, HeldPartition, HeldReplica, OldMetadata
from kcheck.core.rescue.rebuild import Wanted
from kcheck.model.cluster import BrokerRegistration, ClusterImage, PartitionRegistration, TopicImage

FEATURES = {"metadata.version": 30, "eligible.leader.replicas.version": 1}


def replica(broker: int, topic_id: str | None = "id-t", epoch: int = 3, end: int | None = 50) -> HeldReplica:
    """Return a replica in the log dir of its broker."""
    return HeldReplica(broker, f"/{broker}", topic_id, epoch, end)


def partition(*replicas: HeldReplica, best: int | None = 1, lost: int | None = 0) -> HeldPartition:
    """Return a partition; by default on brokers 1 and 2."""
    return HeldPartition(replicas or (replica(1), replica(2)), best, lost)


def log_dir(broker: int, **fields: Any) -> HeldLogDir:
    """Return the log dir of a broker of cluster C."""
    known: dict[str, Any] = {"cluster_id": "C", "directory_id": f"dir-{broker}", "version": 1}
    return HeldLogDir(broker, f"/{broker}", **(known | fields))


def disks(partitions: Mapping[tuple[str, int], HeldPartition] | None = None, **fields: Any) -> HeldDisks:
    """Return disks of brokers 1 and 2."""
    known = {"log_dirs": (log_dir(1), log_dir(2)), "partitions": {("t", 0): partition()}}
    return HeldDisks(**(known | fields | ({} if partitions is None else {"partitions": partitions})))


def wanted(answers: MetadataAnswers = NONE, **fields: Any) -> Wanted:
    """Return a question to a controller that 4.3 formatted."""
    return Wanted(answers, **({"features": FEATURES} | fields))


def old(
    *topics: str, replicas: tuple[int, ...] = (2, 1), epoch: int = 2, records: Iterable[Any] = (), ids: str = "id-",
    brokers: tuple[int, ...] = (1, 2), next_producer_id: int | None = None, missing: str | None = None,
    features: Mapping[str, int] | None = None,
) -> OldMetadata:  # fmt: skip
    """Return an older copy, of node 9, with topics of one partition."""
    part = PartitionRegistration(replicas, replicas, replicas[0], epoch, 1)
    images = {name: TopicImage(name, f"{ids}{name}", {0: part}) for name in topics}
    image = ClusterImage(
        images, {topic.topic_id or "": topic for topic in images.values()},
        brokers={number: BrokerRegistration(number, number, fenced=False) for number in brokers},
        next_producer_id=next_producer_id, features=features or {},
    )  # fmt: skip
    return OldMetadata(9, image, tuple(records), missing)
