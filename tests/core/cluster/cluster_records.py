"""Metadata records with the fields that Kafka's JSON converters give them, for tests of the replay."""

from typing import Any

from kcheck.core.cluster.metadata_replay import MetadataReplay

MetadataRecord = tuple[str, dict[str, Any]]

TOPIC: MetadataRecord = ("TopicRecord", {"name": "t", "topicId": "T"})
GONE: MetadataRecord = ("RemoveTopicRecord", {"topicId": "T"})
BEGIN, END, ABORT = ((f"{what}TransactionRecord", dict[str, Any]()) for what in ("Begin", "End", "Abort"))


def partition(*replicas: int, number: int = 0, leader: int | None = None, **fields: Any) -> MetadataRecord:
    """Return the record that creates a partition of TOPIC; all replicas are in sync, and the first one leads."""
    data = {
        "partitionId": number, "topicId": "T", "replicas": [*replicas], "isr": [*replicas], "removingReplicas": [],
        "addingReplicas": [], "leader": replicas[0] if leader is None else leader, "leaderEpoch": 0,
        "partitionEpoch": 0,
    }  # fmt: skip
    return "PartitionRecord", {**data, **fields}


def change(number: int = 0, **fields: Any) -> MetadataRecord:
    """Return the record that changes a partition of TOPIC."""
    return "PartitionChangeRecord", {"partitionId": number, "topicId": "T", **fields}


def registration(broker: int = 1, epoch: int = 5, **fields: Any) -> MetadataRecord:
    """Return the record by which a broker registers."""
    data = {
        "brokerId": broker, "incarnationId": "I", "brokerEpoch": epoch, "rack": None, "fenced": True,
        "endPoints": [{"name": "PLAINTEXT", "host": "h", "port": 9092, "securityProtocol": 0}],
        "features": [{"name": "metadata.version", "minSupportedVersion": 7, "maxSupportedVersion": 30}],
    }  # fmt: skip
    return "RegisterBrokerRecord", {**data, **fields}


def replayed(*records: MetadataRecord, start: int = 0) -> MetadataReplay:
    """Return the replay of these records, the first of them at offset `start`."""
    replay = MetadataReplay()
    for offset, (name, data) in enumerate(records, start):
        replay.take(name, data, offset)
    return replay
