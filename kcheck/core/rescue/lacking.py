"""The differences of one copy of the metadata from the newest one, by name."""

from typing import NamedTuple

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.cluster.quorum import kept_to
from kcheck.model.cluster import ClusterImage, PartitionRegistration


class CopyGap(NamedTuple):
    """The records that a copy lacks of the newest one, and its own ones."""

    records: int
    """The records of the newest copy that it lacks."""
    own: int
    """Its records that the newest copy does not have."""
    created: tuple[str, ...]
    """The topics that it does not know."""
    deleted: tuple[str, ...]
    """The topics that it still has, and that are deleted."""
    changed: int
    """The partitions whose replicas, leader, or ISR it has as they were before."""

    @property
    def is_nothing(self) -> bool:
        """True if both copies are the same."""
        return not self.records and not self.own


def lacking(copy: MetadataCopy, newest: MetadataCopy) -> CopyGap:
    """Return the records that a copy lacks of the newest copy of the same cluster."""
    common = kept_to(copy, newest)
    old, new = copy.image.topics_by_id, newest.image.topics_by_id
    return CopyGap(
        records=newest.end - common,
        own=copy.end - common,
        created=tuple(sorted(topic.name for topic_id, topic in new.items() if topic_id not in old)),
        deleted=tuple(sorted(topic.name for topic_id, topic in old.items() if topic_id not in new)),
        changed=_changed(copy.image, newest.image),
    )


def _changed(old: ClusterImage, new: ClusterImage) -> int:
    """Return how many partitions of topics that both have differ."""
    return sum(
        _version(old.topics_by_id[topic_id].partitions.get(number)) != _version(partition)
        for topic_id, topic in new.topics_by_id.items()
        if topic_id in old.topics_by_id
        for number, partition in topic.partitions.items()
    )


def _version(partition: PartitionRegistration | None) -> tuple[int | None, int | None] | None:
    """Return the epochs that changes of a partition raise; None for a missing one."""
    return None if partition is None else (partition.leader_epoch, partition.partition_epoch)
