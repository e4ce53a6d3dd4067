"""A partition during one event. Nodes and controller change, messages travel, decisions are noted."""

from kcheck.core.replication.replication import Member
from kcheck.model.cluster import NO_LEADER
from kcheck.model.release import Release
from kcheck.simulation.decisions import Decision
from kcheck.simulation.mutants import Conditions
from kcheck.simulation.state import (
    CONTROLLER,
    Append,
    ClusterState,
    Controller,
    Held,
    NetworkMessage,
    Node,
    PartitionState,
    ReplicaMode,
    Rules,
)


class World:
    """The state that an event changes; every value in it is immutable, and is replaced."""

    def __init__(self, state: ClusterState, rules: Rules) -> None:
        """Begin with a state."""
        self.rules: Rules = rules
        self.release: Release = rules.release
        self.conditions: Conditions = rules.conditions
        self.nodes: list[Node] = list(state.nodes)
        self.controller: Controller = state.controller
        self.held: list[Held] = list(state.held)
        self.holding: frozenset[tuple[int, int]] = state.holding
        self.appends: list[Append] = list(state.appends)
        self.reads: frozenset[tuple[int, int, int]] = state.reads
        self.now: int = state.now
        self.decided: list[Decision] = []
        self.notes: list[str] = []
        self.sent: list[tuple[int, int, NetworkMessage]] = []
        self.inbox: list[Held] = []

    def state(self) -> ClusterState:
        """Return the state after the event."""
        return ClusterState(
            nodes=tuple(self.nodes),
            controller=self.controller,
            held=tuple(self.held),
            holding=self.holding,
            appends=tuple(self.appends),
            reads=self.reads,
            now=self.now,
        )

    def decide(self, decision: Decision, note: str | None = None) -> None:
        """Note which rule decided, and what happened."""
        if decision not in self.decided:
            self.decided.append(decision)
        if note is not None:
            self.notes.append(note)

    def send(self, source: int, target: int, message: NetworkMessage) -> None:
        """Send a message: it arrives later in this event, unless its link holds it."""
        self.sent.append((source, target, message))
        incarnation = 0 if target == CONTROLLER else self.nodes[target].incarnation
        held = Held(source, target, message, incarnation)
        if (source, target) in self.holding:
            if not (isinstance(message, PartitionState) and held in self.held):  # To be told twice changes nothing.
                self.held.append(held)
        else:
            self.inbox.append(held)

    def tell_producer(self, number: int, *, acked: bool) -> None:
        """Tell a producer whether its records are safe."""
        append = self.appends[number]
        replaced = append.replaced and self.is_replaced(append.leader)  # Not if it leads again.
        self.appends[number] = append._replace(acked=acked, replaced=replaced)

    def is_replaced(self, leader: int) -> bool:
        """Return whether another broker leads in a later epoch than this leader knows."""
        epoch = self.nodes[leader].leader_epoch
        return any(self.leads(number) and node.leader_epoch > epoch for number, node in enumerate(self.nodes))

    def waiting(self, leader: int) -> list[tuple[int, Append]]:
        """Return the appends whose producers wait for this leader."""
        return [
            (number, append)
            for number, append in enumerate(self.appends)
            if append.acked is None and append.leader == leader
        ]

    def leads(self, number: int) -> bool:
        """Return whether a broker runs and takes itself for the leader."""
        return self.nodes[number].running and self.nodes[number].mode is ReplicaMode.LEADER

    def member(self, number: int, leader: Node) -> Member:
        """Return a follower as its leader sees it; what it sees of the controller is up to date."""
        assert leader.lead is not None
        controller = self.controller
        live = number in controller.live and number not in controller.stopping
        return Member(leader.lead.remotes[number], live, controller.broker_epochs[number])

    @property
    def leader(self) -> int | None:
        """The leader according to the controller; None without one."""
        number = self.controller.seats.leader
        return None if number == NO_LEADER else number
