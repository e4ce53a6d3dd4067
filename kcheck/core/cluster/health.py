"""Unhealthy partitions by the cluster's own metadata, and the counts that an operator looks at first."""

from collections.abc import Iterable
from enum import StrEnum

from kcheck.model.cluster import (
    MIGRATING_DIRECTORY,
    MIN_ISR,
    NO_LEADER,
    UNASSIGNED_DIRECTORY,
    ClusterImage,
    PartitionRegistration,
    TopicImage,
)
from kcheck.model.java import java_int

_COUNT_AS_ONLINE = (MIGRATING_DIRECTORY, UNASSIGNED_DIRECTORY)
"""Ids of no directory (DirectoryId.MIGRATING and UNASSIGNED)."""


class Health(StrEnum):
    """A reason why a partition is not healthy, the worst first. Answers use the value."""

    OFFLINE = "offline"
    """It has no leader, and no replica that may be elected, as ISR and ELR are empty."""
    LEADERLESS = "leaderless"
    """It has no leader. The controller elects a member of the ISR, or of an ELR, once its broker runs."""
    ELR_ONLY = "elr-only"
    """Its ISR is empty, and its ELR is not (4.0 and later)."""
    UNDER_MIN_ISR = "under-min-isr"
    """It has a leader, but fewer replicas in sync than `min.insync.replicas`: acks=all fails."""
    RECOVERING = "recovering"
    """Its leader was elected uncleanly and has not recovered yet. Acknowledged records may be lost."""
    LOG_DIR_OFFLINE = "log-dir-offline"
    """A replica belongs to a log dir that its broker did not register."""
    UNDER_REPLICATED = "under-replicated"
    """It has replicas that are not in sync."""
    REASSIGNING = "reassigning"
    """A reassignment adds or removes replicas."""


def health(image: ClusterImage, topic: TopicImage, partition: PartitionRegistration) -> tuple[Health, ...]:
    """Return the reasons for a partition, the worst first; nothing for a healthy one."""
    leads = partition.leader != NO_LEADER
    holds = {
        Health.OFFLINE: not leads and not partition.isr and not partition.elr,
        Health.LEADERLESS: not leads and bool(partition.isr or partition.elr),
        Health.ELR_ONLY: not partition.isr and bool(partition.elr),
        Health.UNDER_MIN_ISR: leads and len(partition.isr) < min_isr(image, topic, partition),
        Health.RECOVERING: partition.recovering,
        Health.LOG_DIR_OFFLINE: any(offline_replicas(image, partition)),
        Health.UNDER_REPLICATED: not set(partition.replicas) <= set(partition.isr),
        Health.REASSIGNING: bool(partition.adding or partition.removing),
    }
    return tuple(kind for kind, is_so in holds.items() if is_so)


def min_isr(image: ClusterImage, topic: TopicImage, partition: PartitionRegistration) -> int:
    """Return how many replicas must be in sync for acks=all; at most all (PartitionChangeBuilder 4.0 to 4.3.1).

    Without a configuration in the metadata it is 1, unless the server.properties of the brokers say another number.
    """
    stated = java_int(image.config(topic.name, MIN_ISR) or "")
    return min(len(partition.replicas), 1 if stated is None else stated)


def offline_replicas(image: ClusterImage, partition: PartitionRegistration) -> Iterable[int]:
    """Yield the brokers whose log dir for this replica is offline (ClusterControlManager 3.7 to 4.3.1)."""
    for broker_id, directory in zip(partition.replicas, partition.directories, strict=False):
        broker = image.brokers.get(broker_id)
        if broker is not None and broker.log_dirs and directory not in {*broker.log_dirs, *_COUNT_AS_ONLINE}:
            yield broker_id


def is_stopped(image: ClusterImage) -> bool:
    """Return whether every broker is fenced, leaving, or missing, which explains partitions without leader."""
    return all(broker.fenced or broker.in_controlled_shutdown for broker in image.brokers.values())
