"""The thread of a broker that fetches a partition from its leader: AbstractFetcherManager.getFetcherId 0.8 to 4.3.1."""

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.model.cluster import ClusterImage, PartitionRegistration
from kcheck.model.java import java_hash, wrapped


class Fetch(NamedTuple):
    """A replica, and the thread that fetches it."""

    topic: str
    """Its topic."""
    partition: int
    """Its partition number."""
    broker_id: int
    """The broker that fetches."""
    leader: int
    """The broker that it fetches from."""
    fetcher: int
    """The number of the thread, from 0; there is one thread of each number for each leader."""


def fetcher_of(topic: str, partition: int, count: int) -> int:
    """Return the number of the thread, of `count` (`num.replica.fetchers`): by Java's hash of the topic."""
    number = wrapped(31 * java_hash(topic) + partition, 32)
    # Utils.abs: Integer.MIN_VALUE, which has no positive counterpart, becomes 0.
    return (0 if number == -(2**31) else abs(number)) % count


def fetches(image: ClusterImage, count: int) -> Iterator[Fetch]:
    """Yield every replica that a broker fetches once it has restarted while the others run, by broker.

    It then leads nothing. For partitions that it leads now, another replica in sync becomes the leader.
    """
    for topic, number, partition in image.partitions():
        for broker_id in partition.replicas:
            leader = leader_without(partition, broker_id)
            if leader is not None:
                yield Fetch(topic.name, number, broker_id, leader, fetcher_of(topic.name, number, count))


def leader_without(partition: PartitionRegistration, broker_id: int) -> int | None:
    """Return the leader while a broker restarts, which is the present leader or the first other replica in sync.

    Without a present leader, the last leader counts. None if the broker is alone.
    """
    leader = partition.leader if partition.leader >= 0 else partition.last_leader
    if leader is not None and leader != broker_id:
        return leader
    return next((replica for replica in partition.replicas if replica in partition.isr and replica != broker_id), None)
