"""Which partitions a killed broker leaves without a leader (handleBrokerShutdown 4.0 to 4.3.1)."""

from typing import Any

from kcheck.core.election.election import ELR_FEATURE, BrokerStart
from kcheck.core.election.leaving import Leaderless, left_without_leader
from kcheck.core.releases.releases import release
from kcheck.model.cluster import NO_LEADER, BrokerRegistration, ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.names import TopicPartition

KILLED = BrokerStart(1, clean=False)


def image(*partitions: PartitionRegistration) -> ClusterImage:
    """Return a cluster whose two brokers are fenced."""
    topic = TopicImage("t", "T", dict(enumerate(partitions)))
    brokers = {number: BrokerRegistration(number, 7, fenced=True) for number in (1, 2)}
    return ClusterImage({"t": topic}, brokers=brokers, features={ELR_FEATURE: 1})


def partition(elr: tuple[int, ...], last: tuple[int, ...] = (), **fields: Any) -> PartitionRegistration:
    """Return a partition of brokers 1 and 2 without a leader."""
    return PartitionRegistration((1, 2), (), elr=elr, last_known_elr=last, leader=NO_LEADER, **fields)


def test_nobody_is_left() -> None:
    """The last known leader is another broker, or not known."""
    first, second = (TopicPartition("t", number) for number in (0, 1))
    left = left_without_leader(image(partition((1,), (2,)), partition((1,))), KILLED, release("4.3"))
    assert left == (Leaderless(first, (2,)), Leaderless(second, ()))


def test_somebody_leads() -> None:
    """Another member of the ELR stays, the broker led last, it is in no ELR, or its stop was clean."""
    cluster = image(partition((1, 2)), partition((1,), (1,)), partition((2,)))
    assert left_without_leader(cluster, KILLED, release("4.3")) == ()
    alone = image(partition((1,), (2,)))
    assert left_without_leader(alone, BrokerStart(1, clean=True), release("4.3")) == ()
    assert left_without_leader(alone, BrokerStart(9, clean=False), release("4.3")) == ()
    assert left_without_leader(alone, KILLED, release("3.9")) == ()
