"""The last committed offset of each group, as a group coordinator reads `__consumer_offsets`.

GroupMetadataManager.doLoadGroupsAndOffsets 0.10.2 to 3.9; CoordinatorLoaderImpl and OffsetMetadataManager 3.7 to 4.3.1.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kcheck.model.entries import Offset

COUNT_MAX = 1_000_000
"""Maximum number of commits in memory, about 400 MB. It includes tombstones and open transactions."""

COMMIT_TYPES = (b"\0\0", b"\0\1")
"""First two bytes of the key of a committed offset (record types 0 and 1)."""
TYPE_SIZE = 2
"""The size of the record type in bytes."""

OffsetKey = tuple[str, str, int]
"""Group, topic, partition."""


class Commit(NamedTuple):
    """A record about a committed offset."""

    log_offset: Offset
    """The offset of the record in the log of the coordinator."""
    committed: Offset | None
    """The committed offset; None for a tombstone, which deletes it."""


class OffsetReplay:
    """The commits of one replica, record by record."""

    def __init__(self, count_max: int = COUNT_MAX) -> None:
        """Start before the first record; `count_max` commits are held at most."""
        self.commits: dict[OffsetKey, Commit] = {}
        self._is_complete = True
        self.count: int = 0
        self._count_max = count_max
        self._pending: dict[int, dict[OffsetKey, Commit]] = {}

    def take(self, key: OffsetKey, commit: Commit, *, producer_id: int | None) -> None:
        """Add a record.

        `producer_id` is the id of its transaction. It is None outside of a transaction, where the order does not
        matter. A tombstone also deletes the earlier commits of open transactions, as coordinators of 3.7 and later do.
        """
        commits = self.commits
        if producer_id is not None and commit.committed is not None:
            commits = self._pending.setdefault(producer_id, {})
        known = commits.get(key)
        if known is None:
            if self.count >= self._count_max:
                self._is_complete = False
                return
            self.count += 1
        if known is None or known.log_offset <= commit.log_offset:
            commits[key] = commit

    def end(self, producer_id: int, *, commits: bool) -> None:
        """End the transaction of a producer; a later commit outside of it stays."""
        pending = self._pending.pop(producer_id, {})
        self.count -= len(pending)
        for key, commit in pending.items() if commits else ():
            known = self.commits.get(key)
            if known is None or known.log_offset < commit.log_offset:
                self.count += known is None
                self.commits[key] = commit

    def replayed(self, start: Offset, end: Offset, *, is_whole: bool) -> "ReplayedReplica":
        """Return the commits in the replica, after its last record; `is_whole`: every record was read."""
        pending = frozenset(key for commits in self._pending.values() for key in commits)
        return ReplayedReplica(self.commits, pending, start, end, is_whole and self._is_complete)


class ReplayedReplica(NamedTuple):
    """The commits in one replica of a partition of `__consumer_offsets`."""

    commits: Mapping[OffsetKey, Commit]
    """The last record of each key."""
    pending: frozenset[OffsetKey]
    """The keys of the records in open transactions."""
    start: Offset
    """Its first offset."""
    end: Offset
    """Its log end offset."""
    is_whole: bool
    """True if every record was read and is held."""

    def proves_deleted(self, key: OffsetKey, commit: Commit) -> bool:
        """Return whether the log cleaner has removed this record here, together with a tombstone that followed it."""
        covers = self.is_whole and self.start <= commit.log_offset < self.end
        return covers and key not in self.commits and key not in self.pending


def last_commits(replicas: Sequence[ReplayedReplica]) -> Iterator[tuple[OffsetKey, Offset]]:
    """Yield the last committed offsets of one partition of `__consumer_offsets`.

    Where replicas disagree, the record at the higher offset of the log counts. Another replica may reach beyond that
    offset without a record of its key. The log cleaner has then removed the record there, together with a tombstone
    that followed.
    """
    latest: dict[OffsetKey, Commit] = {}
    for replica in replicas:
        for key, commit in replica.commits.items():
            if key not in latest or latest[key].log_offset < commit.log_offset:
                latest[key] = commit
    for key, commit in latest.items():
        deleted = any(replica.proves_deleted(key, commit) for replica in replicas)
        if commit.committed is not None and not deleted:
            yield key, commit.committed
