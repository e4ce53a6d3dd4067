"""A cluster that lost controllers (the lost voters, and the newest copy of the metadata).

Every node has a copy, brokers too. An observer fetches the same batches as a voter (KafkaRaftClient 3.3 to 4.3.1).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.cluster.quorum import committed_to, with_electors
from kcheck.core.rescue.broker_role import BrokerRole, as_broker, roles_of

NO_DIRECTORY = "A" * 22
"""The directory id of a node that got no vote (Uuid.ZERO_UUID)."""


class RescueNode(NamedTuple):
    """A node of the cluster, and what is on its disk."""

    node_id: int
    """Its id."""
    log_dir: str
    """The log dir that holds its metadata log, or will hold it."""
    cluster_id: str | None = None
    """The cluster.id of the log dir."""
    directory_id: str | None = None
    """The directory.id of the log dir."""
    copy: MetadataCopy | None = None
    """Its copy of the metadata; None if the log dir has none."""
    epoch: int = 0
    """The largest epoch of the controllers on its disk (in the log, its epochs, and quorum-state)."""
    snapshot_end: int = 0
    """The end of its newest snapshot."""
    dead: bool = False
    """True if it never comes back."""
    running: bool = False
    """True if a process holds the lock of the log dir."""
    changing: bool = False
    """True if its metadata log changed between two reads."""
    bad_vote: bool = False
    """True if its quorum-state cannot be read, so that the node ends (FileQuorumStateStore, 3.3 to 4.3.1)."""
    has_bootstrap: bool = False
    """True if the log dir has `bootstrap.checkpoint`."""
    listeners: tuple[str, ...] = ()
    """The listeners for controllers in its settings, as NAME://HOST:PORT."""
    config: str | None = None
    """The server.properties of the node; None if not known."""
    settings: Mapping[str, str] = {}
    """The values in it."""
    configured: frozenset[int] = frozenset()
    """The controllers in them."""
    unread: str | None = None
    """A log dir that is missing or empty, if no other has a copy; None without one."""

    @property
    def role(self) -> BrokerRole | None:
        """The settings to change so that a broker is no controller any more; None without any."""
        settings = as_broker(self.settings)
        return BrokerRole(self.node_id, self.config, settings) if settings and self.config is not None else None

    @property
    def age(self) -> tuple[int, int]:
        """The last epoch and the end of its copy, which voters compare; smaller than any other without a copy."""
        return (-1, -1) if self.copy is None else (self.copy.epoch, self.copy.end)


class NewVoter(NamedTuple):
    """The controller that the user wants as the only voter."""

    node_id: int
    """Its id."""
    host: str | None = None
    """The host of its listener; None if the metadata or its settings name it."""
    port: int | None = None
    """The port of its listener."""


class QuorumLoss(NamedTuple):
    """The quorum after a loss."""

    nodes: tuple[RescueNode, ...]
    """The given nodes."""
    newest: RescueNode
    """The node with the newest copy that can be used."""
    voters: tuple[int, ...]
    """The controllers that elect, as the newest copy names them."""
    is_dynamic: bool
    """True if the metadata log names them (kraft.version 1), not the configuration."""
    dead: frozenset[int]
    """The nodes that never come back."""
    committed_to: int | None
    """Every record below this offset is committed for certain; None if the copies prove nothing."""
    epoch: int
    """An epoch above all that any disk has seen."""
    is_one_history: bool = True
    """True if the newest copy has every record that it must share with the others."""
    is_stale: bool = False
    """True if disks of brokers have topics or leader epochs that the newest copy does not have."""
    former: tuple[int, ...] = ()
    """The controllers of the last election, if the settings name others now."""
    proven_end: int = 0
    """Records of the newest copy below this offset were committed, because a leader or a broker acted on them."""

    def proven_to(self, offset: int) -> "QuorumLoss":
        """Return the quorum once the records of the newest copy below an offset are known to be committed."""
        known = self._replace(proven_end=offset)
        return known._replace(committed_to=offset or None) if known.behind else known

    @property
    def copy(self) -> MetadataCopy:
        """The newest copy."""
        assert self.newest.copy is not None
        return self.newest.copy

    @property
    def survivors(self) -> tuple[RescueNode, ...]:
        """The voters that come back with their metadata."""
        left: dict[int, RescueNode] = {}
        for node in self.nodes:
            if self.can_vote(node) and node.copy is not None and not node.dead:
                left[node.node_id] = max(node, left.get(node.node_id, node), key=lambda one: one.age)
        return tuple(left.values())

    @property
    def strangers(self) -> tuple[RescueNode, ...]:
        """The controllers that come back with their metadata, but with another directory id than their vote."""
        return tuple(
            node
            for node in self.nodes
            if self.is_voter(node) and not self.can_vote(node) and node.copy is not None and not node.dead
        )

    @property
    def older(self) -> tuple[int, ...]:
        """The survivors that lack records of the newest one, if they could elect a leader among themselves."""
        best = max((node.age for node in self.survivors), default=None)
        older = tuple(node.node_id for node in self.survivors if node.age != best)
        return older if len(older) >= self.majority else ()

    @property
    def may_be_behind(self) -> bool:
        """True if a majority lacks records of the newest copy, which can have been committed."""
        return sum(node.age < self.newest.age for node in self.survivors) >= self.majority

    @property
    def lost(self) -> tuple[int, ...]:
        """The voters that do not come back, or without their metadata."""
        left = {node.node_id for node in self.survivors}
        return tuple(number for number in self.voters if number not in left)

    @property
    def unseen(self) -> tuple[int, ...]:
        """The lost voters whose disk is not here, and may still have their metadata."""
        away = {node.node_id for node in self.nodes if node.unread is not None}
        here = {node.node_id for node in self.nodes} - away
        return tuple(number for number in self.lost if number not in here | self.dead)

    @property
    def damaged(self) -> tuple[int, ...]:
        """The voters that come back with a part of their metadata."""
        return tuple(node.node_id for node in self.survivors if not is_usable(node))

    @property
    def majority(self) -> int:
        """Number of voters that elect a leader."""
        return len(self.voters) // 2 + 1

    @property
    def has_majority(self) -> bool:
        """True if the voters that are left elect a leader without help, and the other nodes keep their metadata."""
        usable = len(self.survivors) - len(self.damaged)
        return usable >= self.majority and not self.behind and self.is_one_history

    @property
    def behind(self) -> tuple[int, ...]:
        """The voters that would elect a leader without metadata of the newest copy; empty if they would not.

        Any majority has everything below a snapshot. A majority of all voters has everything that an observer has
        fetched (KafkaRaftClient 3.3 to 4.3.1). Otherwise they were formatted again, or restored from an old state. A
        corrupt copy may have had it too. Their leader would truncate the newest copy.
        """
        holders = {node.node_id for node in self.nodes if node.copy is not None}
        is_ahead = not self.is_voter(self.newest) and holders.issuperset(self.voters)
        older = [node for node in self.survivors if node.age < self.newest.age]
        if not is_ahead and all(map(is_usable, older)):
            older = [node for node in older if node.age[1] < self.proven_end]
        return tuple(node.node_id for node in older) if len(older) >= self.majority else ()

    @property
    def has_all_committed(self) -> bool:
        """True if the disks of a majority are here, so that the newest copy has all that was committed."""
        former = self._replace(voters=self.former or self.voters)
        usable = {node.node_id for node in self.nodes if former.can_vote(node) and is_usable(node)}
        return len(usable) >= former.majority and not (self.behind or self.is_stale) and self.is_one_history

    @property
    def unnamed(self) -> tuple[int, ...]:
        """The nodes in the metadata that are neither here nor given up."""
        image = self.copy.image
        known = {node.node_id for node in self.nodes} | self.dead
        return tuple(sorted({*self.voters, *image.brokers, *image.controllers} - known))

    def is_voter(self, node: RescueNode) -> bool:
        """Return whether a node is one of the controllers that elect."""
        return node.node_id in self.voters

    def can_vote(self, node: RescueNode) -> bool:
        """Return whether a node has a vote, by its id, and by its directory id where the log names voters."""
        return self.is_voter(node) and node.directory_id in (None, self.voting_directory(node) or node.directory_id)

    def voting_directory(self, node: RescueNode) -> str | None:
        """Return the id of the log dir that votes for a node; None if any does."""
        ids = {voter.voter_id: voter.directory_id for voter in self.copy.voter_set}
        known = ids.get(node.node_id, NO_DIRECTORY)
        return None if known == NO_DIRECTORY else known

    def node(self, number: int) -> RescueNode | None:
        """Return a node that is here; None if it is not."""
        return next((node for node in self.nodes if node.node_id == number), None)


def is_usable(node: RescueNode) -> bool:
    """Return whether the copy of a node is complete; only its last batch may be incomplete or corrupt."""
    return node.copy is not None and node.copy.is_complete


def quorum_loss(nodes: Sequence[RescueNode], dead: Iterable[int], *, compares: bool = False) -> QuorumLoss | None:
    """Return the quorum after a loss; None if there is no copy of the metadata.

    A corrupt copy counts only where no other is left. `compares`: as in `with_electors`.
    """
    given_up = frozenset(dead)
    held = [node for node in nodes if node.copy is not None]
    seats = (node.configured for node in nodes if "controller" in roles_of(node.settings))
    elected = with_electors([node.copy for node in held if node.copy is not None], seats, compares=compares)
    named = dict(zip(map(id, held), elected, strict=True))
    nodes = [node._replace(copy=named.get(id(node))) for node in nodes]
    marked = tuple(node._replace(dead=node.dead or node.node_id in given_up) for node in nodes)
    copies = [node for node in marked if node.copy is not None]
    if not copies:
        return None
    newest = max(filter(is_usable, copies) if any(map(is_usable, copies)) else copies, key=_for_source)
    assert newest.copy is not None
    voters = frozenset(voter.voter_id for voter in newest.copy.voter_set) or newest.copy.voters or newest.configured
    held_before = (node.copy for node in held if node.log_dir == newest.log_dir)
    former = next((copy.voters for copy in held_before if copy is not None and not copy.voter_set), voters)
    loss = QuorumLoss(
        nodes=marked,
        newest=newest,
        voters=tuple(sorted(voters)),
        is_dynamic=bool(newest.copy.voter_set),
        dead=given_up,
        committed_to=committed_to([node.copy for node in copies if node.copy is not None], former or voters),
        epoch=1 + max(node.epoch for node in marked),
        former=tuple(sorted(former)) if former - voters else (),
    )
    return loss.proven_to(newest.copy.snapshot)


def _for_source(node: RescueNode) -> tuple[tuple[int, int], bool, bool]:
    """Return the sort key of the copies to continue with (the age, then the node)."""
    assert node.copy is not None
    return node.age, node.node_id in node.copy.voters, not node.dead
