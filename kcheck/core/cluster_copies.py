"""Which replicas a cluster does not place on a broker, by the copies of the cluster's metadata that kcheck has."""

from typing import NamedTuple

from kcheck.core.strays import Stray, directory_of, stray
from kcheck.model.cluster import ClusterImage, MetadataProblem, QuorumState


class RaftEpoch(NamedTuple):
    """An epoch of the controllers, and the offset of its first record."""

    epoch: int
    start: int


class MetadataCopy(NamedTuple):
    """A copy of the metadata of a cluster: the KRaft log of one node."""

    path: str
    """The directory of the log."""
    node_id: int | None
    """The node that it belongs to, None where that is not known."""
    epoch: int
    """The controller epoch at its end."""
    end: int
    """The offset where the copy ends."""
    snapshot: int
    """The offset of its newest snapshot, 0 without one; everything below is committed."""
    voters: frozenset[int]
    """The ids of the controllers that it names."""
    image: ClusterImage
    """The topics, replicas and brokers after its last record."""
    epochs: tuple[RaftEpoch, ...] = ()
    """The epochs of the records above the snapshot."""
    leader: int | None = None
    """The controller that led at its end."""
    elected: QuorumState | None = None
    """The last election that the node knows, by its quorum-state."""
    timestamp: int | None = None
    """The time of its last record, in ms since 1970."""
    cut: MetadataProblem | None = None
    """Where its log is corrupt: it ends there, and a start of the node truncates it there."""
    problems: tuple[MetadataProblem, ...] = ()
    """What of it cannot be read, or contradicts what stands before."""

    @property
    def decides(self) -> bool:
        """Whether the copy is complete, as far as the node itself will have it after its next start.

        Of a corrupt log, other controllers would send the node the rest again.
        """
        return not self.problems and (self.cut is None or self.is_only_voter)

    @property
    def is_only_voter(self) -> bool:
        """Whether the copy is that of the only controller: it holds all that is committed."""
        return self.voters == {self.node_id}


class StrayReplica(NamedTuple):
    """A replica that the cluster does not place on the broker."""

    why: str
    """What the metadata say."""
    uncertain: str | None
    """Why the broker may see other metadata; None where it sees these."""


class StrayDetector(NamedTuple):
    """Finds the stray replicas of a broker by the newest copy of the metadata."""

    copy: MetadataCopy
    """The newest copy."""
    broker_id: int | None
    """The broker, None where it is not known."""
    own: bool
    """Whether one of the copies is that of the broker itself."""
    directory_id: str | None = None
    """The directory.id of the log dir that holds the replicas, None without one."""

    @property
    def of_kraft(self) -> bool:
        """Whether the broker ran with KRaft when it last registered."""
        return self.copy.image.runs_kraft(self.broker_id)

    def promotes(self, topic_id: str, partition: int) -> bool:
        """Whether a replica belongs in this log dir (LogManager.recoverAbandonedFutureLogs 3.7.1 to 4.3.1)."""
        topic = self.copy.image.topics_by_id.get(topic_id)
        registration = None if topic is None else topic.partitions.get(partition)
        directory_id = None if registration is None else directory_of(registration, self.broker_id)
        sees_copy = self.own or self.copy.is_only_voter
        return sees_copy and directory_id is not None and directory_id == self.directory_id

    def stray(self, topic_id: str, partition: int) -> StrayReplica | None:
        """Return why a replica is a stray; None where it is none."""
        replica = stray(self.copy.image, topic_id, partition, self.broker_id)
        if replica is None:
            return None
        why = f"{replica.why}, according to {self.copy.path} up to offset {self.copy.end}"
        return StrayReplica(why, self._doubt(replica))

    def _doubt(self, replica: Stray) -> str | None:
        if self.copy.is_only_voter:
            return None
        if replica.since is None or not self.own:
            return "this copy of the metadata may be older than the directory"
        uncommitted = replica.since >= self.copy.snapshot and len(self.copy.voters) != 1
        return f"offset {replica.since} of this copy of the metadata may not be committed" if uncommitted else None


def newest_copy(copies: tuple[MetadataCopy, ...]) -> MetadataCopy | None:
    """Return the copy that knows most; None without a copy."""
    return max(copies, key=lambda copy: (copy.epoch, copy.end), default=None)


def stray_detector(
    copies: tuple[MetadataCopy, ...], broker_id: int | None, directory_id: str | None
) -> StrayDetector | None:
    """Return the detector for a log dir by the copies of its cluster; None without a copy."""
    newest = newest_copy(copies)
    if newest is None:
        return None
    return StrayDetector(
        newest, broker_id, own=any(copy.node_id == broker_id for copy in copies), directory_id=directory_id
    )
