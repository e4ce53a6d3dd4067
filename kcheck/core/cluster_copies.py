"""Which replicas the metadata of a cluster do not know, told by the copies of these that are here."""

from typing import NamedTuple

from kcheck.core.cluster_image import ClusterImage, Stray, directory_of, stray


class MetadataCopy(NamedTuple):
    """A copy of the metadata of a cluster, and whose it is.

    What lies below the offset `snapshot` is committed. `epoch` is that of the controllers at the offset `end`, where
    the copy ends; `voters` are the controllers that it names.
    """

    path: str
    node_id: int | None
    epoch: int
    end: int
    snapshot: int
    voters: frozenset[int]
    image: ClusterImage


class StrayDetector(NamedTuple):
    """Tells the strays of a broker by the newest copy that is here; `own`: one copy is that of the broker itself.

    `directory_id` is that of the log dir that is looked at.
    """

    copy: MetadataCopy
    broker_id: int | None
    own: bool
    directory_id: str | None = None

    @property
    def of_kraft(self) -> bool:
        """Whether the broker ran with KRaft when it registered last."""
        return self.broker_id in self.copy.image.brokers

    def promotes(self, topic_id: str, partition: int) -> bool:
        """Whether a replica belongs in this log dir (LogManager.recoverAbandonedFutureLogs 3.7.1 to 4.3.1)."""
        found = directory_of(self.copy.image, topic_id, partition, self.broker_id)
        known = self.own or self.copy.voters == {self.copy.node_id}
        return known and found is not None and found == self.directory_id

    def stray(self, topic_id: str, partition: int) -> tuple[str, str | None] | None:
        """Return why a replica is a stray, and why that is not certain; None where it is none."""
        found = stray(self.copy.image, topic_id, partition, self.broker_id)
        if found is None:
            return None
        return f"{found.why}, by {self.copy.path} up to offset {self.copy.end}", self._doubt(found)

    def _doubt(self, found: Stray) -> str | None:
        if self.copy.voters == {self.copy.node_id}:
            return None  # It is what the broker will be told.
        if found.since is None or not self.own:
            return "those metadata may be older than the directory"
        uncommitted = found.since >= self.copy.snapshot and len(self.copy.voters) != 1
        return f"offset {found.since} of those metadata may not be committed" if uncommitted else None


def stray_detector(
    copies: tuple[MetadataCopy, ...], broker_id: int | None, directory_id: str | None
) -> StrayDetector | None:
    """Return the judge of a log dir by the copies of its cluster, None without any."""
    newest = max(copies, key=lambda copy: (copy.epoch, copy.end), default=None)
    return newest and StrayDetector(newest, broker_id, any(copy.node_id == broker_id for copy in copies), directory_id)
