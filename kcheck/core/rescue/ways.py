"""The ways back to a quorum, the gentlest first, and the files that each of them changes.

Each was played on real clusters of 3.3 to 4.3. The voter of a new quorum is alone at first. Empty voters started before
it elect one of themselves, and its log is truncated to theirs. Its epoch is above every epoch that a node has seen.
Otherwise nodes with a higher one wait forever, or two nodes have different records at one offset.
"""

from collections.abc import Container, Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from kcheck.core.rescue.quorum_loss import NO_DIRECTORY, NewVoter, QuorumLoss, RescueNode, is_usable
from kcheck.model.cluster import QuorumState, Voter
from kcheck.model.release import Release

_NOBODY = -1


class Way(StrEnum):
    """The way by which a controller gets the right to elect again."""

    STATIC = "static"
    """The configuration of all nodes names it as the only voter."""
    IDENTITY = "identity"
    """Empty nodes with the ids of lost voters give it a majority again, without forged data."""
    COPY = "copy"
    """It gets the newest copy first, and then is the only voter."""
    VOTERS = "voters"
    """A record at the end of its metadata log names it as the only voter."""


class CopyLog(NamedTuple):
    """Replace a node's files by the newest copy."""

    node: RescueNode
    source: RescueNode


class AddVoters(NamedTuple):
    """Add a record of the voters at the end of the metadata log of a node."""

    node: RescueNode
    offset: int
    epoch: int
    timestamp: int
    voters: tuple[Voter, ...]


class WriteVote(NamedTuple):
    """Write the quorum-state of a node."""

    node: RescueNode
    state: QuorumState


class DropVote(NamedTuple):
    """Set the quorum-state of a node aside."""

    node: RescueNode
    why: str


class DropLog(NamedTuple):
    """Set the metadata log of a node aside."""

    node: RescueNode
    why: str


class DropSnapshots(NamedTuple):
    """Set snapshots of a node aside."""

    node: RescueNode
    names: tuple[str, ...]


RescueEdit = CopyLog | AddVoters | WriteVote | DropVote | DropLog | DropSnapshots


class StandIn(NamedTuple):
    """An empty node that takes the place of a lost voter."""

    node_id: int
    directory_id: str
    listeners: tuple[str, ...]


class Rescue(NamedTuple):
    """A way back."""

    way: Way
    target: RescueNode
    """The controller that leads."""
    edits: tuple[RescueEdit, ...]
    """The changes on the disks."""
    address: str | None
    """HOST:PORT of its listener for controllers; None if it is not known."""
    stand_ins: tuple[StandIn, ...] = ()
    """The empty nodes that give it a majority."""
    retired: tuple[int, ...] = ()
    """The voters whose old disks must never start again."""


class Choice(NamedTuple):
    """A way, and why it is not possible."""

    way: Way
    why_not: str | None


def target_of(loss: QuorumLoss, wanted: NewVoter | None) -> RescueNode | None:
    """Return the controller that is to lead (the wanted one, the best remaining one, or the only new one)."""
    if wanted is not None:
        return loss.node(wanted.node_id)
    if loss.survivors:
        return max(loss.survivors, key=lambda node: (is_usable(node), node.age))
    image = loss.copy.image
    known = {*image.brokers, *(node.node_id for node in loss.nodes if node.dead or node.unread is not None)}
    new = [node for node in loss.nodes if node.copy is None and node.node_id not in known]
    return new[0] if len(new) == 1 else None


def is_newest(loss: QuorumLoss, node: RescueNode) -> bool:
    """Return whether no other copy is newer than the copy of a node."""
    return is_usable(node) and node.age == loss.newest.age


def choices(loss: QuorumLoss, target: RescueNode) -> tuple[Choice, ...]:
    """Return every way, the gentlest first, and why it is not possible for a controller."""
    newest, number = is_newest(loss, target), target.node_id
    stale = None if newest else f"controller {number} does not have the newest copy"
    in_log = "the metadata log names the voters, not the configuration"
    in_settings = "the configuration names the voters, not the metadata log"
    return (
        Choice(Way.STATIC, in_log if loss.is_dynamic else stale),
        Choice(Way.IDENTITY, (stale or _no_stand_in(loss, target)) if loss.is_dynamic else in_settings),
        Choice(Way.COPY, f"controller {number} has the newest copy itself" if newest else None),
        Choice(Way.VOTERS, stale if loss.is_dynamic else in_settings),
    )


def _no_stand_in(loss: QuorumLoss, target: RescueNode) -> str | None:
    """Return why no empty nodes can give a controller a majority again."""
    if target not in loss.survivors:
        return f"controller {target.node_id} is not one of the voters"
    if not target.has_bootstrap:
        return f"controller {target.node_id} has no bootstrap.checkpoint to copy"
    wanted = loss.majority - len(loss.survivors)
    if wanted <= 0:
        return "no controller is lost whose place an empty node could take"
    left = len(_replaceable(loss))
    return None if left >= wanted else "the last leader is the only voter that an empty node could replace"


def _replaceable(loss: QuorumLoss) -> tuple[Voter, ...]:
    """Return the lost voters that an empty node can replace.

    It must not be the leader that a survivor remembers. That node would be told that it leads itself, and end
    (QuorumState.transitionToFollower).
    """
    states = (node.copy.elected for node in loss.survivors if node.copy is not None)
    leaders = {state.leader_id for state in states if state is not None}
    return tuple(
        voter for voter in loss.copy.voter_set if voter.voter_id in loss.lost and voter.voter_id not in leaders
    )


def rescue(loss: QuorumLoss, target: RescueNode, way: Way, wanted: NewVoter | None, release: Release) -> Rescue:
    """Return a way back that `choices` calls possible, or that the user forces."""
    address = _address(loss, target, wanted)
    if way is Way.IDENTITY:
        return _with_stand_ins(loss, target, address)
    edits: list[RescueEdit] = []
    if way is Way.COPY:
        edits.append(CopyLog(target, loss.newest))
    chosen = loss.newest if way is Way.COPY else target
    end = max(chosen.age[1], 0)
    if loss.is_dynamic:
        timestamp = 0 if chosen.copy is None else chosen.copy.timestamp or 0
        edits += (
            AddVoters(target, end, loss.epoch, timestamp, (_voter(loss, target, wanted),)),
            WriteVote(target, QuorumState(_NOBODY, loss.epoch, _NOBODY, None, NO_DIRECTORY)),
        )
    elif way is Way.COPY or checks_voters(release) or target.bad_vote or target.epoch + 1 < loss.epoch:
        edits.append(WriteVote(target, QuorumState(_NOBODY, loss.epoch, _NOBODY, (target.node_id,))))
    dropped = tuple(_dropped(loss, target, end))
    gone = {edit.node.node_id for edit in dropped}
    replaced = {*gone, *((target.node_id,) if way is Way.COPY else ())}
    edits += (*dropped, *corrupt_files(loss.nodes, replaced))
    edits += dropped_votes(
        loss.nodes, {*gone, target.node_id}, names_voters=not loss.is_dynamic and checks_voters(release)
    )
    retired = tuple(number for number in loss.lost if number != target.node_id)
    return Rescue(way, target, tuple(edits), address, retired=retired)


def checks_voters(release: Release) -> bool:
    """Return whether a node ends if its quorum-state names other voters than its configuration.

    By `QuorumState.initialize` 3.3.2 and 3.6.2 compare all of them, and 3.8.1 the leader that the file names. 3.9.2 and
    later compare nothing.
    """
    return not release.knows_voter_records


def dropped_votes(nodes: Iterable[RescueNode], others: Container[int], *, names_voters: bool) -> Iterator[DropVote]:
    """Yield the quorum-state files with which nodes would not start; `others` are nodes with another edit."""
    for node in nodes:
        if node.dead or node.node_id in others:
            continue
        if node.bad_vote:
            yield DropVote(node, "the node would not start with this file")
        elif names_voters and node.copy is not None and node.copy.elected is not None:
            yield DropVote(node, "it names voters that the configuration no longer has")


def corrupt_files(nodes: Iterable[RescueNode], others: Container[int]) -> Iterator[DropLog | DropSnapshots]:
    """Yield the corrupt snapshots, which nodes cannot load in full; `others` are nodes that get another log."""
    for node in nodes:
        copy = node.copy
        if copy is None or node.dead or node.node_id in others:
            continue
        if copy.lacks_base:
            yield DropLog(node, "the node cannot read the first part of its metadata log")
        elif copy.corrupt_snapshots:
            yield DropSnapshots(node, copy.corrupt_snapshots)


def _dropped(loss: QuorumLoss, target: RescueNode, end: int) -> list[DropLog]:
    """Return the metadata logs that must not come back, of other voters or with a later snapshot."""
    edits = []
    for node in loss.nodes:
        if node.node_id == target.node_id or node.dead or node.copy is None:
            continue
        if loss.is_voter(node):
            edits.append(DropLog(node, "it must not vote, and comes back as a new controller"))
        elif node.snapshot_end > end:
            edits.append(DropLog(node, f"its snapshot of offset {node.snapshot_end} is beyond the end of the new log"))
    return edits


def _with_stand_ins(loss: QuorumLoss, target: RescueNode, address: str | None) -> Rescue:
    wanted = loss.majority - len(loss.survivors)
    stand_ins = tuple(
        StandIn(voter.voter_id, voter.directory_id, voter.endpoints) for voter in _replaceable(loss)[:wanted]
    )
    seen = max(node.epoch for node in loss.survivors)
    edits: tuple[RescueEdit, ...] = ()
    if seen + 1 < loss.epoch or target.bad_vote:
        edits = (WriteVote(target, QuorumState(_NOBODY, loss.epoch, _NOBODY, None, NO_DIRECTORY)),)
    edits += (
        *corrupt_files(loss.nodes, ()),
        *dropped_votes(loss.nodes, {target.node_id}, names_voters=False),
    )
    return Rescue(Way.IDENTITY, target, edits, address, stand_ins, loss.lost)


def _voter(loss: QuorumLoss, target: RescueNode, wanted: NewVoter | None) -> Voter:
    """Return the only voter of the new quorum, as a record names it."""
    return Voter(target.node_id, target.directory_id or NO_DIRECTORY, listeners_of(loss, target, wanted))


def listeners_of(loss: QuorumLoss, target: RescueNode, wanted: NewVoter | None) -> tuple[str, ...]:
    """Return the listeners of a controller, by the user, its settings, or the metadata."""
    known = {voter.voter_id: voter.endpoints for voter in loss.copy.voter_set}
    registered = loss.copy.image.controllers.get(target.node_id)
    if wanted is not None and wanted.host is not None:
        names = [endpoint.partition("://")[0] for endpoints in known.values() for endpoint in endpoints]
        return (f"{next(iter(names), 'CONTROLLER')}://{wanted.host}:{wanted.port}",)
    return target.listeners or known.get(target.node_id) or (() if registered is None else registered.endpoints)


def _address(loss: QuorumLoss, target: RescueNode, wanted: NewVoter | None) -> str | None:
    listeners = listeners_of(loss, target, wanted)
    return listeners[0].partition("://")[2] if listeners else None
