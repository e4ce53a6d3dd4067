"""The facts from copies of a KRaft log (committed offsets, possible winners of an election, and losses).

Kafka keeps the high watermark of this log in memory alone. Raft: KafkaRaftClient, QuorumState 3.3 to 4.3.1.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kcheck.core.cluster.copies import MetadataCopy, RaftEpoch, newest_copy

_NO_COPY = (-1, -1)
_SEVERAL = 2


class CopyStanding(NamedTuple):
    """The meaning of one copy for the others."""

    copy: MetadataCopy
    """The copy."""
    is_voter: bool | None
    """True if its node is one of the controllers that elect; None if the node is not known."""
    can_win: bool | None
    """True if a majority would vote for it; None if that depends on controllers whose copies are not here."""
    kept_to: int
    """The offset to which it keeps its records if the newest copy leads."""


class NodeDirectory(NamedTuple):
    """A log dir of a node."""

    node_id: int
    """The node."""
    directory_id: str | None
    """The directory.id of the log dir; None if it has none."""
    path: str
    """The log dir."""
    has_metadata_log: bool
    """True if `__cluster_metadata-0` is in it."""
    is_empty: bool
    """True if it has no partition directory."""


class Quorum(NamedTuple):
    """The facts of all copies."""

    newest: MetadataCopy
    """The newest copy. No voter with fewer records can win against it."""
    voters: frozenset[int]
    """The controllers that elect, as it names them."""
    committed_to: int | None
    """Every record below this offset is committed for certain; None if the copies prove nothing."""
    copies: tuple[CopyStanding, ...]
    """Every copy, in the order given."""
    nodes: tuple[NodeDirectory, ...] = ()
    """The log dirs of its given nodes."""

    @property
    def voters_here(self) -> tuple[int, ...]:
        """The controllers that elect and whose copies are here."""
        return tuple(sorted(self.voters & {row.copy.node_id for row in self.copies}))

    @property
    def can_elect(self) -> bool | None:
        """True if a majority of the controllers is here; None for one controller, which elects itself."""
        return None if len(self.voters) < _SEVERAL else 2 * len(self.voters_here) > len(self.voters)

    @property
    def rival(self) -> MetadataCopy | None:
        """The copy that voters of its own elect; None without one."""
        return rival_copy([row.copy for row in self.copies])


def quorum(copies: Sequence[MetadataCopy], nodes: Iterable[NodeDirectory] = ()) -> Quorum:
    """Return the facts that the copies of one cluster prove.

    `copies` is not empty. `nodes` are the log dirs of its nodes.
    """
    newest = newest_copy(tuple(copies))
    assert newest is not None
    voters = newest.voters
    return Quorum(
        newest=newest,
        voters=voters,
        committed_to=committed_to(copies, voters),
        copies=tuple(
            CopyStanding(
                copy=copy,
                is_voter=None if copy.node_id is None else copy.node_id in voters,
                can_win=_can_win(copy, copies, voters),
                kept_to=kept_to(copy, newest),
            )
            for copy in copies
        ),
        nodes=tuple(nodes),
    )


def with_electors(
    copies: Sequence[MetadataCopy], seats: Iterable[frozenset[int]], *, compares: bool
) -> tuple[MetadataCopy, ...]:
    """Return the copies of a cluster with the controllers that elect next.

    `seats` are the lists of voters in the settings of the controllers here. They count where the metadata has no voter
    set: 3.9 and later do not read the voters in quorum-state (KafkaRaftClient.initialize). With `compares` a node ends
    if its quorum-state has others (QuorumState 3.3 to 3.8). Lists that differ do not count, nor does one without a
    holder of the newest copy. Premises compare them.
    """
    newest = newest_copy(tuple(copies))
    lists = {*seats}
    if newest is None or newest.voter_set or len(lists) != 1:
        return tuple(copies)
    (voters,) = lists
    holders = {copy.node_id for copy in copies if _age(copy) == _age(newest)}
    states = [copy.elected for copy in copies if copy.node_id in voters and copy.elected is not None]
    is_refused = compares and any(state.voters and frozenset(state.voters) != voters for state in states)
    if is_refused or not voters & holders:
        return tuple(copies)
    return tuple(copy._replace(voters=voters) for copy in copies)


def started_together(standing: Quorum, order: Sequence[int]) -> tuple[int, ...]:
    """Return the nodes of the first group, in their order, so that the controllers among them elect a leader.

    None where other nodes elect. A node alone would only wait for the others, so it does not start before them. One of
    them has the newest copy of the metadata, and the others vote for it (OffsetAndEpoch). Older copies alone would lose
    metadata records.
    """
    voters = [number for number in order if number in standing.voters]
    majority = len(standing.voters) // 2 + 1
    if len(voters) < majority:
        return ()
    ages = {row.copy.node_id: _age(row.copy) for row in sorted(standing.copies, key=lambda row: _age(row.copy))}
    newest = max(voters, key=lambda number: ages.get(number, _NO_COPY))
    chosen = voters[:majority]
    if all(ages.get(number, _NO_COPY) < ages.get(newest, _NO_COPY) for number in chosen):
        chosen = [*chosen[:-1], newest]
    return tuple(number for number in order if number in chosen)


def committed_to(copies: Sequence[MetadataCopy], voters: frozenset[int]) -> int | None:
    """Return the offset below which every record is committed; None if not known.

    No snapshot goes beyond the high watermark. Beyond it, a record is committed if a majority of the voters have it.
    The last records of these voters must be of the latest epoch that any copy has seen.
    """
    snapshots = max(copy.snapshot for copy in copies)
    held = _of_voters(copies, voters)
    if len(voters) == 1 and held:
        return max(snapshots, held[0].end)
    latest = max(max(copy.epoch, copy.elected.leader_epoch if copy.elected else -1) for copy in copies)
    ends = sorted((copy.end for copy in held if copy.epoch == latest), reverse=True)
    majority = len(voters) // 2 + 1
    if voters and len(ends) >= majority:
        return max(snapshots, ends[majority - 1])
    return snapshots or None


def oldest_elected(copies: Sequence[MetadataCopy], voters: frozenset[int]) -> MetadataCopy | None:
    """Return the oldest copy that a majority of the voters here can elect; None without a majority."""
    majority = len(voters) // 2 + 1
    held = sorted(_of_voters(copies, voters), key=_age)
    return held[majority - 1] if len(held) >= majority else None


def rival_copy(copies: Sequence[MetadataCopy]) -> MetadataCopy | None:
    """Return a copy that voters of its own elect, unlike the voters of the newest copy; None without one.

    Each node counts the votes of the voter set in its own copy, by node and directory.id. A committed change of the
    voters leaves no majority of the former set. A new format with voters, or old copies, can bring one back (VoterSet,
    KafkaRaftClient 3.9 to 4.3.1).
    """
    with_set = [copy for copy in copies if copy.voter_set and copy.directory_id is not None]
    newest = newest_copy(tuple(with_set))
    if newest is None:
        return None
    for copy in with_set:
        votes = {(other.node_id, other.directory_id) for other in with_set if _age(other) <= _age(copy)}
        seats = {(voter.voter_id, voter.directory_id) for voter in copy.voter_set}
        is_other = (copy.node_id, copy.directory_id) in seats and {*copy.voter_set} != {*newest.voter_set}
        if is_other and 2 * len(seats & votes) > len(seats):
            return copy
    return None


def _of_voters(copies: Sequence[MetadataCopy], voters: frozenset[int]) -> list[MetadataCopy]:
    """Return the newest copy of each voter."""
    by_node: dict[int, MetadataCopy] = {}
    for copy in copies:
        if copy.node_id is not None and copy.node_id in voters:
            former = by_node.get(copy.node_id)
            if former is None or _age(copy) > _age(former):
                by_node[copy.node_id] = copy
    return [*by_node.values()]


def _age(copy: MetadataCopy) -> tuple[int, int]:
    """Return the key that a voter compares before it votes, which is the last epoch, then the end (OffsetAndEpoch)."""
    return copy.epoch, copy.end


def _can_win(copy: MetadataCopy, copies: Sequence[MetadataCopy], voters: frozenset[int]) -> bool | None:
    """Return whether a majority of the voters would vote for a copy, as their logs are not ahead of it."""
    if copy.node_id not in voters:
        return None if copy.node_id is None else False
    known = _of_voters(copies, voters)
    granted = sum(_age(other) <= _age(copy) for other in known)
    majority = len(voters) // 2 + 1
    if granted >= majority:
        return True
    return None if granted + len(voters) - len(known) >= majority else False


def kept_to(copy: MetadataCopy, leader: MetadataCopy) -> int:
    """Return the offset to which a copy keeps its records under a leader.

    Raft uses a diverging epoch, as in a partition. If a leader only has a snapshot of these offsets, it sends the
    snapshot. Then only the records of the copy below it count.
    """
    ends_of = dict(_epoch_ends(leader))
    common = [(epoch, end) for epoch, end in _epoch_ends(copy) if epoch in ends_of]
    if not common:
        return min(copy.end, max(copy.snapshot, leader.snapshot))
    epoch, end = max(common)
    return min(end, ends_of[epoch])


def parting(copy: MetadataCopy, other: MetadataCopy) -> RaftEpoch | None:
    """Return the first epoch of a copy whose first batch differs in the other copy, at the same offset.

    A broker does not notice: KafkaRaftClient compares epochs and offsets alone.
    """
    batches = {(epoch.epoch, epoch.start): epoch.crc for epoch in other.epochs}
    return next(
        (epoch for epoch in copy.epochs if None not in (epoch.crc, crc := batches.get(epoch[:2])) and crc != epoch.crc),
        None,
    )


def _epoch_ends(copy: MetadataCopy) -> list[tuple[int, int]]:
    """Return the epochs of a copy, each with the offset where it ends."""
    starts = [epoch.start for epoch in copy.epochs]
    return [(epoch.epoch, end) for epoch, end in zip(copy.epochs, [*starts, copy.end][1:], strict=True)]
