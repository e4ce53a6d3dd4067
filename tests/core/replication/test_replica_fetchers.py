"""Which thread fetches a partition; tests/oracle/clusters/test_cluster.py asks Kafka's own AbstractFetcherManager."""

import pytest

from kcheck.core.replication.replica_fetchers import Fetch, fetcher_of, fetches, leader_without
from kcheck.model.cluster import ClusterImage, PartitionRegistration, TopicImage


@pytest.mark.parametrize(
    ("topic", "partition", "count", "thread"),
    [
        ("orders", 0, 4, 1),
        ("orders", 1, 4, 0),
        ("orders", 2, 4, 3),
        ("", 0, 7, 0),
        ("orders", 0, 1, 0),
        ("t", 0, 2, 0),
        ("t", 1, 2, 1),
    ],
)
def test_the_thread_comes_from_the_hash_of_the_topic(topic: str, partition: int, count: int, thread: int) -> None:
    """Java: 31 * "orders".hashCode() overflows an int; the hash is -1008770331."""
    assert thread == fetcher_of(topic, partition, count)


def test_the_smallest_int_counts_as_zero() -> None:
    """Utils.abs: it has no positive counterpart."""
    assert fetcher_of("", -(2**31), 3) == 0


def test_every_replica_but_the_leader_fetches() -> None:
    """And the leader, too, once it was restarted: from the first other replica in sync."""
    topic = TopicImage(
        "t", None, {0: PartitionRegistration((1, 2, 3), (1, 3), 1), 1: PartitionRegistration((1,), (1,), 1)}
    )
    assert [*fetches(ClusterImage({"t": topic}), 1)] == [
        Fetch("t", 0, 1, 3, 0), Fetch("t", 0, 2, 1, 0), Fetch("t", 0, 3, 1, 0),
    ]  # fmt: skip


def test_without_leader_the_last_one_is_expected_back() -> None:
    stopped = PartitionRegistration((1, 2), (2,), last_leader=2)
    assert [leader_without(stopped, broker) for broker in (1, 2)] == [2, None]
    assert leader_without(stopped._replace(last_leader=None), 1) == 2
