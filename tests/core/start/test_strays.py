"""Which replicas a cluster has given up; tests/oracle/test_strays.py compares with real brokers."""

from typing import Any

import pytest

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.cluster.metadata_replay import MetadataReplay
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Outcome
from kcheck.core.start.strays import Stray, StrayDetector, becomes_of_strays, directory_of, stray
from kcheck.model.cluster import FROM_SNAPSHOT
from tests.core.cluster.cluster_records import (
    ABORT,
    BEGIN,
    END,
    GONE,
    TOPIC,
    MetadataRecord,
    change,
    partition,
    replayed,
)


def stray_after(*records: MetadataRecord, broker: int | None = 1, number: int = 0, start: int = 0) -> Stray | None:
    """Return why a replica of TOPIC is stray after these records, the first of them at offset `start`."""
    return stray(replayed(*records, start=start).image(), "T", number, broker)


def test_the_replicas_of_a_partition_are_none() -> None:
    assert stray_after(TOPIC, partition(1, 2)) is None
    assert stray_after(TOPIC, partition(1, 2), change()) is None
    assert stray_after(TOPIC, partition(2), change(replicas=[1, 2])) is None


def test_a_replica_that_the_cluster_does_not_know_is_one() -> None:
    """`since` is the offset of the record that says so."""
    assert stray_after(TOPIC, partition(1), GONE, start=5) == Stray("the cluster has no topic with id T", 7)
    assert stray_after() == Stray("the cluster has no topic with id T", None)
    assert stray_after(TOPIC, partition(1), number=3) == Stray(
        "in the cluster the topic has no partition 3", FROM_SNAPSHOT
    )
    moved = Stray("the cluster has no replica of it on broker 1", 2)
    assert stray_after(TOPIC, partition(1), change(replicas=[2])) == moved
    replay = MetadataReplay()
    for record in (TOPIC, partition(2)):
        replay.take(*record, FROM_SNAPSHOT)
    assert stray(replay.image(), "T", 0, 1) == moved._replace(since=FROM_SNAPSHOT)


def test_of_which_broker_a_replica_is_has_to_be_known() -> None:
    assert stray_after(TOPIC, partition(2), broker=None) is None
    assert stray_after(broker=None) is not None


def test_a_transaction_counts_once_it_ends() -> None:
    held: tuple[MetadataRecord, ...] = (BEGIN, GONE)
    for records, is_stray in ((held, False), ((*held, END), True), ((*held, ABORT), False)):
        assert is_stray == (stray_after(TOPIC, partition(1), *records) is not None)


def test_the_log_dir_of_a_replica() -> None:
    """Records of 3.7 and later name one for each replica; a change that names none leaves them as they are."""
    replay = replayed(TOPIC)
    steps: tuple[tuple[MetadataRecord, Any], ...] = (
        (partition(1, 2), None),
        (change(directories=["A", "B"]), "B"),
        (change(directories=["A", "C"]), "C"),
        (change(), "C"),
        (change(replicas=[2, 3], directories=["D", "E"]), "D"),
        (change(directories=["A" * 22, "A" * 22]), None),
    )
    for record, expected in steps:
        replay.take(*record, 1)
        registration = replay.registration("t", 0)[1]
        assert registration is not None
        assert directory_of(registration, 2) == expected


@pytest.mark.parametrize(
    ("kafka", "outcome"), [("3.3", "deleted"), ("3.6", "deleted"), ("3.7", "stray"), ("4.3", "stray")]
)
def test_up_to_3_6_strays_are_deleted(kafka: str, outcome: str) -> None:
    assert becomes_of_strays(release(kafka)) == outcome


def test_what_becomes_of_a_stray_and_why() -> None:
    """The reason names the copy, as far as it goes; of a replica of the cluster there is none."""
    image = replayed(TOPIC, partition(2)).image()
    copy = MetadataCopy("d/__cluster_metadata-0", 1, 0, 2, 0, frozenset({1}), image)
    of_first, of_second = (StrayDetector(copy, number, own=True) for number in (1, 2))
    why = "the cluster has no replica of it on broker 1, according to d/__cluster_metadata-0 up to offset 2"
    assert of_first.outcome("T", 0, release("4.3")) == (
        Outcome.STRAY, f"{why}: the broker renames the directory to -stray and does not serve it", None,
    )  # fmt: skip
    assert of_first.outcome("T", 0, release("3.5")) == (
        Outcome.DELETED, f"{why}: the broker deletes the directory", None,
    )  # fmt: skip
    assert of_second.outcome("T", 0, release("4.3")) is None
