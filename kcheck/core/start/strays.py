"""The replicas in the metadata of a KRaft cluster (TopicsDelta and TopicDelta 3.3 to 4.3.1).

When a broker starts, it deletes every other replica, or renames it to -stray. LogManager.isStrayKraftReplica 3.7.1 to
4.2 and isStrayReplica 4.3 decide, in 3.6 and earlier BrokerMetadataPublisher.findStrayPartitions.
"""

from collections.abc import Container
from typing import NamedTuple

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.cluster.quorum import quorum
from kcheck.core.start.startup import Outcome
from kcheck.core.start.topic_settings import expires, is_compacted
from kcheck.model.cluster import (
    FROM_SNAPSHOT,
    ClusterImage,
    PartitionRegistration,
    ReplicaInCluster,
    Stray,
    StrayCause,
    StrayDoubt,
    is_reserved,
)
from kcheck.model.names import DirectoryState
from kcheck.model.release import Release
from kcheck.model.views import LogDirView, PartitionView


def stray(image: ClusterImage, topic_id: str, partition: int, broker_id: int | None) -> Stray | None:
    """Return why the cluster has no such replica on the broker; None if it has, or if `broker_id` is None."""
    topic = image.topics_by_id.get(topic_id)
    if topic is None:
        return Stray(StrayCause.TOPIC, topic_id, image.removed.get(topic_id))
    registration = topic.partitions.get(partition)
    if registration is None:
        return Stray(StrayCause.PARTITION, partition, FROM_SNAPSHOT)
    if broker_id is None or broker_id in registration.replicas:
        return None
    return Stray(StrayCause.REPLICA, broker_id, registration.replicas_since)


def directory_of(registration: PartitionRegistration, broker_id: int | None) -> str | None:
    """Return the id of the log dir to which a replica belongs (3.7 and later); None if not known."""
    pairs = zip(registration.replicas, registration.directories, strict=False)
    return next((directory for broker, directory in pairs if broker == broker_id), None)


def is_not_here(log_dir: str | None, here: Container[str | None]) -> bool:
    """Return whether the metadata names a log dir for a replica that is not `here`, by ids."""
    return log_dir is not None and not is_reserved(log_dir) and log_dir not in here


_NO_EPOCH = -1
"""The former epoch of a broker without one in its marker."""


def registers_cleanly(*, clean: bool, shutdown_epoch: int | None, broker_epoch: int | None) -> bool:
    """Return whether a broker keeps its places in ISR and ELR when it registers (4.0 to 4.3.1).

    The result covers one log dir. Its clean shutdown marker must hold the epoch of the broker's last registration. The
    broker needs this of every log dir (LogManager.readBrokerEpochFromCleanShutdownFiles,
    ClusterControlManager.registerBroker). Without a marker the broker names -1, as a registration of rebuilt metadata
    does.
    """
    named = shutdown_epoch if clean and shutdown_epoch is not None else _NO_EPOCH
    return named == broker_epoch


def becomes_of_strays(release: Release) -> Outcome:
    """Return the fate of stray replicas: 3.6 and earlier delete them, 3.7 and later rename them to -stray."""
    return Outcome.STRAY if release.keeps_strays else Outcome.DELETED


class StrayDetector(NamedTuple):
    """Finds the stray replicas of a broker by the newest copy of the metadata."""

    copy: MetadataCopy
    """The newest copy."""
    broker_id: int | None
    """The broker, None where it is not known."""
    own: bool
    """True if the broker itself has one of the copies."""
    directory_id: str | None = None
    """The directory.id of the log dir that holds the replicas, None without one."""
    committed_to: int | None = None
    """The offset below which the copies prove every record committed."""
    keeps_strays: bool = False
    """True if the broker looks for no strays. In 3.6 and earlier one log without a topic id is enough."""

    @property
    def is_complete(self) -> bool:
        """True if all of the copy is committed. Then the broker will see it, and the copies lack nothing."""
        return self.copy.is_only_voter or (self.committed_to or 0) >= self.copy.end > 0

    @property
    def sees_copy(self) -> bool:
        """True if the broker will have at least the records of the copy when it starts."""
        return self.own or self.is_complete

    @property
    def of_kraft(self) -> bool:
        """True if the broker ran with KRaft when it last registered."""
        return self.copy.image.runs_kraft(self.broker_id)

    def promotes(self, topic_id: str, partition: int) -> bool:
        """Return whether a replica belongs in this log dir (LogManager.recoverAbandonedFutureLogs 3.7.1 to 4.3.1)."""
        topic = self.copy.image.topics_by_id.get(topic_id)
        registration = None if topic is None else topic.partitions.get(partition)
        directory_id = None if registration is None else directory_of(registration, self.broker_id)
        return self.sees_copy and directory_id is not None and directory_id == self.directory_id

    def stray(self, topic_id: str, partition: int) -> Stray | None:
        """Return why a replica is a stray; None if it is not a stray."""
        replica = None if self.keeps_strays else stray(self.copy.image, topic_id, partition, self.broker_id)
        return None if replica is None else replica._replace(doubt=self._doubt(replica))

    def _doubt(self, replica: Stray) -> StrayDoubt | None:
        if self.is_complete:
            return None
        if replica.since is None or not self.own:
            return StrayDoubt.OLDER
        committed = max(self.copy.snapshot, self.committed_to or 0)
        is_committed = replica.since < committed or len(self.copy.voters) == 1
        return None if is_committed else StrayDoubt.UNCOMMITTED


def stray_detector(
    copies: tuple[MetadataCopy, ...], broker_id: int | None, directory_id: str | None, *, keeps_strays: bool = False
) -> StrayDetector | None:
    """Return the detector for a log dir by the copies of its cluster; None without a copy."""
    if not copies:
        return None
    standing = quorum(copies)
    own = any(copy.node_id == broker_id for copy in copies)
    return StrayDetector(standing.newest, broker_id, own, directory_id, standing.committed_to, keeps_strays)


def is_promoted(view: PartitionView, release: Release) -> bool:
    """Return whether the broker replaces the current directory by a -future directory, by the given metadata."""
    replica = view.in_cluster
    if replica is None or not replica.is_certain or not release.promotes_future_logs:
        return False
    return replica.directory_id is not None and replica.directory_id == replica.own_directory_id


def replica_in_cluster(detector: StrayDetector, view: PartitionView, log_dir: LogDirView) -> ReplicaInCluster | None:
    """Return the metadata of a replica; None for the metadata log, a -delete directory, and in another mode.

    Also None if the broker looks for no strays, and while it runs. Its files may then be newer than the metadata, which
    was read before.
    """
    is_none = view.is_metadata_log or view.state is DirectoryState.DELETED
    if is_none or not detector.of_kraft or detector.keeps_strays or log_dir.locked_by is not None:
        return None
    image, broker_id = detector.copy.image, detector.broker_id
    named = image.topics.get(view.topic)
    topic = named if view.topic_id is None else image.topics_by_id.get(view.topic_id)
    registration = None if topic is None else topic.partitions.get(view.partition)
    assigned = None if registration is None else directory_of(registration, broker_id)
    broker = None if broker_id is None else image.brokers.get(broker_id)
    return ReplicaInCluster(
        source=detector.copy.path,
        end=detector.copy.end,
        topic_id=None if named is None else named.topic_id,
        registration=registration,
        stray=None if view.topic_id is None or not view.is_replica else detector.stray(view.topic_id, view.partition),
        is_certain=detector.sees_copy,
        compacted=is_compacted(image, view.topic, broker_id),
        unclean=None if topic is None else image.unclean_election(topic, view.partition),
        expires=expires(image, view.topic, broker_id),
        directory_id=None if assigned is None or is_reserved(assigned) else assigned,
        own_directory_id=detector.directory_id,
        broker_epoch=None if broker is None else broker.epoch,
        shutdown_epoch=log_dir.shutdown_epoch,
        owner=image.owner_of(view.topic_id, view.topic),
    )
