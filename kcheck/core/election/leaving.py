"""Lists partitions without a leader when a broker registers as after an unclean shutdown (4.0 to 4.3.1).

The broker leaves every ELR (ReplicationControlManager.handleBrokerShutdown). This does no harm if another member stays.
It does no harm either if the broker led last, as the controller elects the last known leader by itself.
"""

from typing import NamedTuple

from kcheck.core.election.election import BrokerStart, eligible, registered, standing
from kcheck.core.election.fencing import fencing_order
from kcheck.model.cluster import ClusterImage
from kcheck.model.names import TopicPartition
from kcheck.model.release import Release


class Leaderless(NamedTuple):
    """A partition that waits for another broker, or for an unclean election."""

    partition: TopicPartition
    """The partition."""
    last_known: tuple[int, ...]
    """The broker that led last; empty if that is not known."""


def left_without_leader(image: ClusterImage, start: BrokerStart, release: Release) -> tuple[Leaderless, ...]:
    """Return the partitions that have no replica in ISR or ELR any more once the broker has registered."""
    if start.clean or not release.has_eligible_leader_replicas or start.broker_id not in image.brokers:
        return ()
    fenced = fencing_order(image.brokers, release)
    left = []
    for topic, number, partition in image.partitions():
        seats, rules = standing(image, topic, partition, fenced, release, kraft=True)
        if start.broker_id not in seats.elr:
            continue
        after = registered(seats, start, rules, (start.broker_id,))
        if not eligible(after) and after.last_known != (start.broker_id,):
            left.append(Leaderless(TopicPartition(topic.name, number), after.last_known))
    return tuple(left)
