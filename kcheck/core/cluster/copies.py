"""A copy of the metadata of a cluster, in the KRaft log of one node."""

from collections.abc import Mapping
from typing import NamedTuple

from kcheck.model.cluster import ClusterImage, MetadataProblem, QuorumState, Voter
from kcheck.model.names import SNAPSHOT_ENDINGS


class RaftEpoch(NamedTuple):
    """An epoch of the controllers, and the offset of its first record."""

    epoch: int
    start: int
    crc: int | None = None
    """The CRC of its first batch; None if that is not known."""


class MetadataCopy(NamedTuple):
    """A copy of the metadata of a cluster in the KRaft log of one node."""

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
    """The epochs of the records in its log, in their order."""
    leader: int | None = None
    """The controller that led at its end."""
    elected: QuorumState | None = None
    """The last election that the node knows, by its quorum-state."""
    timestamp: int | None = None
    """The time of its last record, in ms since 1970."""
    written: Mapping[int, int] = {}
    """The time of the last record of each epoch in its log, after the snapshot; in ms since 1970."""
    fenced_at: Mapping[int, int] = {}
    """The time of the record in its log that fenced each broker since its registration, in ms since 1970."""
    cut: MetadataProblem | None = None
    """The place where its log is corrupt. It ends there, and the node truncates it there when it starts."""
    is_cut_at_end: bool = False
    """True if no complete batch follows the corrupt place, so that only the last batch is incomplete or corrupt."""
    problems: tuple[MetadataProblem, ...] = ()
    """Its parts that cannot be read, or that contradict earlier ones."""
    voter_set: tuple[Voter, ...] = ()
    """The controllers that elect, with their log dirs; empty if the configuration of the nodes names them."""
    directory_id: str | None = None
    """The directory.id of the log dir that holds it; None if it has none."""
    in_transaction: bool = False
    """True if the copy ends inside of a metadata transaction (3.6 and later)."""
    corrupt_snapshots: tuple[str, ...] = ()
    """The snapshots that cannot be read in full. Nodes of 3.8 and later end at the newest, or load a part."""
    lacks_base: bool = False
    """True if no intact file has the first part of the metadata."""
    not_started: str | None = None
    """The reason why its node does not start from this log dir; None without one."""

    @property
    def decides(self) -> bool:
        """True if the copy is complete, as far as the node itself will have it after its next start.

        The node truncates a log whose last batch is corrupt before that batch. If a log is corrupt before its end,
        other controllers would send the node the rest again.
        """
        return not self.problems and (self.cut is None or self.is_cut_at_end or self.is_only_voter)

    @property
    def is_complete(self) -> bool:
        """True if intact files replace the corrupt snapshots, and only the last batch may be corrupt."""
        lasting = (problem for problem in self.problems if problem.place not in self.corrupt_snapshots)
        return not self.lacks_base and not any(lasting) and (self.cut is None or self.is_cut_at_end)

    @property
    def defects(self) -> tuple[MetadataProblem, ...]:
        """Its problems, then the place where its log is corrupt."""
        return (*self.problems, *(() if self.cut is None else (self.cut,)))

    @property
    def is_only_voter(self) -> bool:
        """True if the copy is from the only controller, and so has all committed records."""
        return self.voters == {self.node_id}


class LostCopy(NamedTuple):
    """A path given for metadata that has none, or some that cannot be read completely."""

    path: str
    """The log dir, or the copy."""
    node_id: int | None
    """Its node; None if neither its meta.properties nor the settings next to it name one."""
    is_place: bool = False
    """True if the settings next to it keep the metadata log there."""
    damage: str | None = None
    """The unreadable part; None if nothing is there."""

    @property
    def lacks_snapshot(self) -> bool:
        """True if its newest snapshot cannot be read, which 3.8 and later read first."""
        return (self.damage or "").partition(":")[0].endswith(SNAPSHOT_ENDINGS[0])


_MIGRATED = ("migration", "post-migration")
"""The states of a migration in which KRaft has the metadata, and ZooKeeper a copy at most."""


def decides_alone(newest: MetadataCopy | None, in_zookeeper: ClusterImage | None) -> bool:
    """Return whether the cluster obeys a copy of the KRaft metadata, and not ZooKeeper.

    Before the migration KRaft has no topics. After a migration that was given up, no KRaft controller holds
    /controller.
    """
    if newest is None or in_zookeeper is None:
        return newest is not None
    return newest.image.migration in _MIGRATED and in_zookeeper.kraft_controller is not None


def newest_copy(copies: tuple[MetadataCopy, ...]) -> MetadataCopy | None:
    """Return the copy that knows most, of equal ones first a controller's; None without a copy."""
    return max(copies, key=lambda copy: (copy.epoch, copy.end, copy.node_id in copy.voters), default=None)
