"""Replaying a cluster's metadata records; tests/oracle/test_strays.py compares with real brokers."""

from typing import Any

import pytest

from kcheck.core.cluster_image import FROM_SNAPSHOT, MetadataReplay, Stray, becomes_of_strays, directory_of, stray
from kcheck.core.releases import release

TOPIC = ("TopicRecord", {"name": "t", "topicId": "T"})
GONE = ("RemoveTopicRecord", {"topicId": "T"})
BEGIN, END, ABORT = (f"{what}TransactionRecord" for what in ("Begin", "End", "Abort"))

MetadataRecord = tuple[str, dict[str, Any]]


def partition(*replicas: int, number: int = 0, change: bool = False) -> MetadataRecord:
    """Return the record of a partition of TOPIC, or of a change to it, with or without new replicas."""
    data = {"partitionId": number, "topicId": "T", **({"replicas": [*replicas]} if replicas else {})}
    return "PartitionChangeRecord" if change else "PartitionRecord", data


def stray_after(*records: MetadataRecord, broker: int | None = 1, number: int = 0, start: int = 0) -> Stray | None:
    """Return why a replica of TOPIC is stray after these records, the first of them at offset `start`."""
    replay = MetadataReplay()
    for offset, (name, data) in enumerate(records, start):
        replay.take(name, data, offset if start >= 0 else FROM_SNAPSHOT)
    return stray(replay.image(), "T", number, broker)


def test_the_replicas_of_a_partition_are_none() -> None:
    assert stray_after(TOPIC, partition(1, 2)) is None
    assert stray_after(TOPIC, partition(1, 2), partition(change=True)) is None
    assert stray_after(TOPIC, partition(2), partition(1, 2, change=True)) is None


def test_a_replica_that_the_cluster_does_not_know_is_one() -> None:
    """`since` is the offset of the record that says so."""
    assert stray_after(TOPIC, partition(1), GONE, start=5) == Stray("the cluster has no topic with id T", 7)
    assert stray_after() == Stray("the cluster has no topic with id T", None)
    assert stray_after(TOPIC, partition(1), number=3) == Stray(
        "in the cluster the topic has no partition 3", FROM_SNAPSHOT
    )
    moved = Stray("the cluster has no replica of it on broker 1", 2)
    assert stray_after(TOPIC, partition(1), partition(2, change=True)) == moved
    assert stray_after(TOPIC, partition(2), start=FROM_SNAPSHOT) == moved._replace(since=FROM_SNAPSHOT)


def test_of_which_broker_a_replica_is_has_to_be_known() -> None:
    assert stray_after(TOPIC, partition(2), broker=None) is None
    assert stray_after(broker=None) is not None


def test_a_transaction_counts_once_it_ends() -> None:
    held: tuple[MetadataRecord, ...] = ((BEGIN, {}), GONE)
    for records, is_stray in ((held, False), ((*held, (END, {})), True), ((*held, (ABORT, {})), False)):
        assert is_stray == (stray_after(TOPIC, partition(1), *records) is not None)
    assert stray_after(TOPIC, partition(1), (END, {})) is None


@pytest.mark.parametrize("record", [GONE, partition(1), partition(2, change=True)])
def test_a_record_about_what_does_not_exist(record: MetadataRecord) -> None:
    with pytest.raises(ValueError, match="at offset 0"):
        stray_after(record)
    if record[0] == "PartitionChangeRecord":
        with pytest.raises(ValueError, match="at offset 1"):
            stray_after(TOPIC, record)


def test_brokers_of_kraft_say_so_when_they_register() -> None:
    """A broker that still runs with ZooKeeper during a migration does not; the last registration counts."""
    replay = MetadataReplay()
    for offset, (broker, migrating) in enumerate(((1, True), (2, None), (3, True), (3, False), (4, False), (4, True))):
        fields = {} if migrating is None else {"isMigratingZkBroker": migrating}
        replay.take("RegisterBrokerRecord", {"brokerId": broker, **fields}, offset)
    assert replay.image().brokers == {2, 3}


def test_the_log_dir_of_a_replica() -> None:
    """Records of 3.7 and later name one for each replica. New replicas without one are in an unknown log dir."""
    replay = MetadataReplay()
    replay.take(*TOPIC, 0)
    for replicas, directories, expected in (
        ([1, 2], ["A", "B"], "B"), (None, ["A", "C"], "C"), (None, None, "C"), ([2, 3], None, None),
    ):  # fmt: skip
        fields = {"replicas": replicas, "directories": directories}
        data = {
            "partitionId": 0,
            "topicId": "T",
            **{name: value for name, value in fields.items() if value is not None},
        }
        replay.take("PartitionRecord" if replicas == [1, 2] else "PartitionChangeRecord", data, 1)
        assert directory_of(replay.image(), "T", 0, 2) == expected
    assert directory_of(replay.image(), "T", 1, 2) is None


def test_other_records_say_nothing_of_replicas() -> None:
    assert stray_after(TOPIC, partition(1), ("ConfigRecord", {"name": "x"})) is None


def test_up_to_3_6_strays_are_deleted() -> None:
    assert ["deleted", "deleted", "stray", "stray"] == [
        becomes_of_strays(release(version)) for version in ("3.3", "3.6", "3.7", "4.3")
    ]
