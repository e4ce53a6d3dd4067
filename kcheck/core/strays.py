"""Which replicas the metadata of a KRaft cluster contains: TopicsDelta and TopicDelta 3.3 to 4.3.1.

A start deletes every other replica on the broker, or renames it to -stray: LogManager.isStrayKraftReplica 3.7.1 to 4.2,
isStrayReplica 4.3; up to 3.6 BrokerMetadataPublisher.findStrayPartitions.
"""

from typing import NamedTuple

from kcheck.core.startup import Outcome
from kcheck.model.cluster import FROM_SNAPSHOT, ClusterImage, PartitionRegistration
from kcheck.model.release import Release


class Stray(NamedTuple):
    """Why a replica does not belong to the cluster."""

    why: str
    """The reason in words."""
    since: int | None
    """The offset of the metadata record that says so, or FROM_SNAPSHOT; None if no record is known."""


def stray(image: ClusterImage, topic_id: str, partition: int, broker_id: int | None) -> Stray | None:
    """Return why the cluster has no such replica on the broker; None if it has, or if `broker_id` is None."""
    topic = image.topics_by_id.get(topic_id)
    if topic is None:
        return Stray(f"the cluster has no topic with id {topic_id}", image.removed.get(topic_id))
    registration = topic.partitions.get(partition)
    if registration is None:
        return Stray(f"in the cluster the topic has no partition {partition}", FROM_SNAPSHOT)
    if broker_id is None or broker_id in registration.replicas:
        return None
    return Stray(f"the cluster has no replica of it on broker {broker_id}", registration.replicas_since)


def directory_of(registration: PartitionRegistration, broker_id: int | None) -> str | None:
    """Return the id of the log dir that a replica belongs to (3.7 and later); None if it is not known."""
    pairs = zip(registration.replicas, registration.directories, strict=False)
    return next((directory for broker, directory in pairs if broker == broker_id), None)


def becomes_of_strays(release: Release) -> Outcome:
    """Return what a start does with stray replicas: it deletes them up to 3.6 and renames them to -stray from 3.7."""
    return Outcome.STRAY if release.keeps_strays else Outcome.DELETED
