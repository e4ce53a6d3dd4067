"""Which replicas a cluster has given up; tests/oracle/starts/test_strays.py compares with real brokers."""

from typing import Any

import pytest

from kcheck.core.cluster.metadata_replay import MetadataReplay
from kcheck.core.releases.releases import release
from kcheck.core.start.strays import becomes_of_strays, directory_of, stray
from kcheck.model.cluster import FROM_SNAPSHOT, Stray, StrayCause
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
    assert stray_after(TOPIC, partition(1), GONE, start=5) == Stray(StrayCause.TOPIC, "T", 7)
    assert stray_after() == Stray(StrayCause.TOPIC, "T", None)
    assert stray_after(TOPIC, partition(1), number=3) == Stray(StrayCause.PARTITION, 3, FROM_SNAPSHOT)
    moved = Stray(StrayCause.REPLICA, 1, 2)
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
