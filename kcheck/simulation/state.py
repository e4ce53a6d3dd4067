"""The state of a simulated partition. Brokers are numbered in the order of the assignment; every value hashes."""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from kcheck.core.election.election import ElectionRules, Seats
from kcheck.core.replication.replication import Remote
from kcheck.model.cluster import NO_LEADER
from kcheck.model.entries import EpochEntries
from kcheck.model.release import Release
from kcheck.simulation.mutants import Conditions

NO_EPOCH = -1
"""The leader epoch of a broker that has not been told of a leader."""
CONTROLLER = -1
"""The node of the controller."""


class LogBatch(NamedTuple):
    """Records of one append, in a log."""

    base_offset: int
    """The offset of the first record."""
    end_offset: int
    """The offset after the last record."""
    epoch: int
    """The leader epoch in the batch; -1 in a message format without epochs."""
    append: int
    """Number of their append, from 0. Two batches with the same number have the same records."""


class ReplicaMode(IntEnum):
    """The mode of a replica in its process."""

    NONE = 0
    """No leader is known to it."""
    LEADER = 1
    """It leads."""
    TRUNCATING = 2
    """It asks its leader where to truncate."""
    FETCHING = 3
    """It fetches records."""
    FAILED = 4
    """It refused an answer and fetches no more until it has another leader."""
    STARTING = 5
    """Its process has started, and has not heard that the controller has registered it."""


class FetcherEpoch(IntEnum):
    """The knowledge of fetches about the last epoch of the follower's log."""

    FIRST = 0
    """They do, and its leader has not answered yet; also in every release that never forgets it."""
    NAMED = 1
    """They do."""
    FORGOTTEN = 2
    """They do not: its leader's first answer had no records (KAFKA-15510)."""


class LeaderState(NamedTuple):
    """The memory of a leader in its process."""

    epoch_start: int
    """Its log end when it was elected."""
    isr: tuple[int, ...]
    """The ISR that the controller has confirmed."""
    proposed: tuple[int, ...]
    """The ISR that it has asked for; the same if no request is under way."""
    remotes: tuple[Remote, ...]
    """Its knowledge about each broker's log."""


class EpochsFile(IntEnum):
    """The state of leader-epoch-checkpoint on disk."""

    SYNCED = 0
    """All of it, whatever happens to the machine."""
    WRITTEN = 1
    """A power loss can erase its bytes, as a truncation has written it without a sync (KAFKA-16541)."""
    TORN = 2
    """A power loss has replaced its bytes by zeros."""


class Node(NamedTuple):
    """A broker's replica, on its disk and in its process."""

    batches: tuple[LogBatch, ...] = ()
    """Its log in page cache and on disk, which a killed process leaves."""
    log_end_offset: int = 0
    """The offset after its last record; beyond the last batch after a truncation inside of a batch."""
    log_start_offset: int = 0
    """Its first offset."""
    epochs: EpochEntries = ()
    """Its leader epochs, in the process and in leader-epoch-checkpoint."""
    high_watermark: int = 0
    """The high watermark of its process."""
    checkpoint: int = 0
    """The high watermark in replication-offset-checkpoint."""
    flushed: int = 0
    """The offset up to which its log is on disk, whatever happens to the machine."""
    running: bool = True
    """True if its process runs."""
    clean: bool = False
    """True if its last stop was a controlled shutdown."""
    incarnation: int = 0
    """Number of starts of its process."""
    mode: ReplicaMode = ReplicaMode.NONE
    """Its mode."""
    leader: int = NO_LEADER
    """The leader that it knows."""
    leader_epoch: int = NO_EPOCH
    """The leader epoch that it knows."""
    partition_epoch: int = -1
    """The version of the partition's state that it knows (zkVersion, partition epoch)."""
    controller_epoch: int = 0
    """The controller that it obeys."""
    unheard: int = -1
    """The high watermark that came with a diverging epoch, and was not taken over; -1 without one.

    Its leader does not repeat it, because a fetch session omits unchanged values (KIP-227).
    """
    in_session: bool = False
    """True if its leader has answered in its fetch session, and does not keep the leader epoch (KAFKA-9338)."""
    lead: LeaderState | None = None
    """Its memory as the leader; None if it does not lead."""
    fetcher_epoch: FetcherEpoch = FetcherEpoch.FIRST
    """True if its fetches name an epoch."""
    epochs_file: EpochsFile = EpochsFile.SYNCED
    """The effect of a power loss on leader-epoch-checkpoint."""


class Controller(NamedTuple):
    """The knowledge of the controller, which is the partition's state in ZooKeeper or in the metadata log."""

    seats: Seats
    """Replicas, ISR, ELR, and the leader."""
    leader_epoch: int = 0
    """The epoch of the last election."""
    partition_epoch: int = 0
    """It rises with every change of the state."""
    epoch: int = 0
    """The epoch of the controller itself."""
    live: tuple[int, ...] = ()
    """The brokers that are registered and not fenced."""
    stopping: tuple[int, ...] = ()
    """The brokers in controlled shutdown."""
    broker_epochs: tuple[int, ...] = ()
    """The epoch of each broker's registration, which is the registered incarnation."""
    target: tuple[int, ...] = ()
    """The replicas that a reassignment will leave; empty if none is under way."""
    added: tuple[int, ...] = ()
    """Those of them that were no replicas before."""


class ClusterState(NamedTuple):
    """Everything: the same state does the same with the same event."""

    nodes: tuple[Node, ...]
    """The replicas, by broker."""
    controller: Controller
    """The controller."""
    held: tuple["Held", ...] = ()
    """Messages that are under way on links which hold them, oldest first."""
    holding: frozenset[tuple[int, int]] = frozenset()
    """The links, from and to, that hold what is sent."""
    appends: tuple["Append", ...] = ()
    """The appends of producers, by number."""
    reads: frozenset[tuple[int, int, int]] = frozenset()
    """The records that consumers have read (from, to, and the append)."""
    now: int = 0
    """Time in milliseconds."""


class Acks(IntEnum):
    """The acknowledgments that a producer waits for."""

    ALL = -1
    NONE = 0
    LEADER = 1


class Append(NamedTuple):
    """Records that a leader has taken from a producer."""

    base_offset: int
    """The offset of the first record."""
    end_offset: int
    """The offset after the last record."""
    acks: Acks
    """The acknowledgments that its producer waits for."""
    leader: int
    """The broker that took them."""
    leader_epoch: int
    """The epoch in which it did."""
    acked: bool | None = None
    """True if the producer was told that they are safe; None while it waits."""
    replaced: bool = False
    """True if another broker led in a later epoch when it took them, and still when it told the producer."""


class PartitionState(NamedTuple):
    """The controller's message to a broker (LeaderAndIsr, PartitionChangeRecord)."""

    controller_epoch: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    partition_epoch: int


class StopReplica(NamedTuple):
    """The controller's message to a broker to delete a replica that a reassignment has removed."""

    controller_epoch: int


class AlterIsr(NamedTuple):
    """A leader's request to change the ISR, or its write into ZooKeeper."""

    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    broker_epochs: tuple[int, ...]
    """The broker epoch of each broker's fetches."""


class Registration(NamedTuple):
    """A broker's registration: BrokerRegistrationRequest, or its znode."""

    incarnation: int
    """The incarnation that registers."""
    clean: bool
    """True if it registers as after a controlled shutdown."""


class Registered(NamedTuple):
    """The controller's answer to a registration."""

    incarnation: int
    """The registered incarnation."""


class EpochQuestion(NamedTuple):
    """OffsetsForLeaderEpoch of a follower."""

    leader_epoch: int
    """The leader epoch that the follower knows."""
    epoch: int
    """Its latest epoch."""


class EpochReply(NamedTuple):
    """The leader's answer, with the question."""

    question: EpochQuestion
    error: str
    epoch: int | None
    end_offset: int


class ReplicaFetch(NamedTuple):
    """A follower's fetch."""

    leader_epoch: int
    """The leader epoch that the follower knows."""
    offset: int
    """Its log end offset."""
    last_epoch: int | None
    """Its latest epoch; None if the request does not carry one."""
    broker_epoch: int
    """Its broker epoch."""
    epoch_forgotten: bool = False
    """True if its leader does not see the leader epoch, as the fetch session does not keep it."""


class Fetched(NamedTuple):
    """The leader's answer to a fetch."""

    fetch: ReplicaFetch
    error: str
    """NONE, or the name of Kafka's error."""
    batches: tuple[LogBatch, ...] = ()
    """The records."""
    diverging: tuple[int, int] | None = None
    """The diverging epoch and its end offset."""
    high_watermark: int = 0
    """The leader's high watermark."""
    log_start_offset: int = 0
    """The leader's log start offset."""


class TruncationDue(NamedTuple):
    """The pending step of a fetcher after a diverging answer (truncateOnFetchResponse), sent by a broker to itself."""

    answer: Fetched
    """The answer."""


NetworkMessage = (
    PartitionState
    | StopReplica
    | AlterIsr
    | EpochQuestion
    | EpochReply
    | ReplicaFetch
    | Fetched
    | Registration
    | Registered
    | TruncationDue
)


class Held(NamedTuple):
    """A message that is under way."""

    source: int
    target: int
    message: NetworkMessage
    incarnation: int
    """The incarnation of the target, if it matters; otherwise of the source."""


class Rules(NamedTuple):
    """The constants of a history."""

    release: Release
    """The Kafka of every broker."""
    election: ElectionRules
    """The rules of the controller's elections."""
    min_isr: int = 1
    """min.insync.replicas, at most the number of replicas."""
    unclean: bool = False
    """unclean.leader.election.enable."""
    lag_time_max: int = 30_000
    """replica.lag.time.max.ms."""
    checkpoint_interval: int | None = None
    """replica.high.watermark.checkpoint.interval.ms; None: no time writes a checkpoint."""
    batch_epochs: bool = True
    """True if batches carry leader epochs, by the message format."""
    conditions: Conditions = Conditions()
    """The conditions that Kafka keeps."""
    mutant: str | None = None
    """The condition that `--mutant` switches off, or a behavior of the release."""


def names_of(numbers: Sequence[int], names: Sequence[str]) -> list[str]:
    """Return the names of brokers; the controller's for its number."""
    return ["controller" if number == CONTROLLER else names[number] for number in numbers]
