"""Which replicas are stray, by the copies of the cluster's metadata log that kcheck was given, and how sure that is."""

from typing import NamedTuple

from kcheck.core.cluster_image import ClusterImage, Stray, directory_of, stray


class MetadataCopy(NamedTuple):
    """One copy of the cluster's metadata log."""

    path: str
    """Its directory."""
    node_id: int | None
    """The broker or controller that keeps it; None if it is not known."""
    epoch: int
    """The controllers' epoch at its end."""
    end: int
    """Its log end offset."""
    snapshot: int
    """The end offset of its newest snapshot: everything below is committed."""
    voters: frozenset[int]
    """The node ids of the controllers that it names."""
    image: ClusterImage
    """The metadata at its end."""


class StrayDetector(NamedTuple):
    """Finds the stray replicas of a log dir by the newest copy of the metadata."""

    copy: MetadataCopy
    """The newest copy."""
    broker_id: int | None
    """The broker of the log dir; None if it is not known."""
    own: bool
    """Whether one of the copies is the broker's own."""
    directory_id: str | None = None
    """The id of the log dir; None if it has none."""

    @property
    def of_kraft(self) -> bool:
        """Whether the broker's latest registration is for KRaft."""
        return self.broker_id in self.copy.image.brokers

    def promotes(self, topic_id: str, partition: int) -> bool:
        """Whether a replica belongs in this log dir (LogManager.recoverAbandonedFutureLogs 3.7.1 to 4.3.1)."""
        directory = directory_of(self.copy.image, topic_id, partition, self.broker_id)
        known = self.own or self.copy.voters == {self.copy.node_id}
        return known and directory is not None and directory == self.directory_id

    def stray(self, topic_id: str, partition: int) -> tuple[str, str | None] | None:
        """Return why a replica is stray, and a doubt if there is one; None if it is not stray."""
        reason = stray(self.copy.image, topic_id, partition, self.broker_id)
        if reason is None:
            return None
        return f"{reason.why}, by {self.copy.path} up to offset {self.copy.end}", self._doubt(reason)

    def _doubt(self, reason: Stray) -> str | None:
        """Return why a stray replica may belong to the cluster after all; None if it cannot."""
        if self.copy.voters == {self.copy.node_id}:
            return None  # The only controller: the broker gets exactly this metadata.
        if reason.since is None or not self.own:
            return "those metadata may be older than the directory"
        uncommitted = reason.since >= self.copy.snapshot and len(self.copy.voters) != 1
        return f"offset {reason.since} of those metadata may not be committed" if uncommitted else None


def stray_detector(
    copies: tuple[MetadataCopy, ...], broker_id: int | None, directory_id: str | None
) -> StrayDetector | None:
    """Return the detector of a log dir by the copies of its cluster's metadata; None without a copy."""
    newest = max(copies, key=lambda copy: (copy.epoch, copy.end), default=None)
    if newest is None:
        return None
    own = any(copy.node_id == broker_id for copy in copies)
    return StrayDetector(newest, broker_id, own=own, directory_id=directory_id)
