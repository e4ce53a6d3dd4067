"""The cost of a truncation, as values, and the leader that costs least.

A `TruncationPlan` is one partition under one leader; it holds a `FollowerPlan` for each other replica.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from kcheck.core.replication.dialogue import Dialogue, DialogueStep
from kcheck.core.replication.leader_costs import Amounts, LeaderCost, leader_cost
from kcheck.core.sums import known_sum
from kcheck.model.cluster import ElectionKind, PartitionRegistration, Seat
from kcheck.model.entries import Epoch, EpochEntries, Offset
from kcheck.model.loss import LostRecords
from kcheck.model.remote_log import RemoteSegment, Spans


class OffsetRange(NamedTuple):
    """Offsets `[start, end)` of a log."""

    start: Offset
    """The first offset."""
    end: Offset
    """The offset after the last one."""


class RefetchedRecords(NamedTuple):
    """The records that a follower fetches from its leader after it has truncated."""

    start: Offset
    """The first offset it fetches."""
    end: Offset
    """The leader's log end offset."""
    records: int | None
    """Records in the leader's batches there; None if no batches were read."""
    bytes: int | None
    """Bytes of those batches; None if no batches were read."""


class Refetched(NamedTuple):
    """The records that all followers fetch from a leader. A count is None if it is not known."""

    records: int | None = 0
    bytes: int | None = 0


class TruncatedRecords(NamedTuple):
    """The records that a follower removes and its leader does not have."""

    start: Offset
    """The first offset."""
    end: Offset
    """The offset after the last one."""
    records: int | None
    """Records in the follower's batches there; None if no batches were read."""
    bytes: int | None
    """Bytes of those batches; None if no batches were read."""
    below_high_watermark: int | None
    """Number of the records below the follower's high watermark; None if that is not known."""
    certain: bool
    """False if the place where the two logs diverge is not known. At most these records are lost then."""


class CutPosition(NamedTuple):
    """The place where the log is truncated, at the batch that holds the truncation offset, or follows it."""

    segment: Offset
    """Base offset of the segment."""
    position: int
    """Bytes of the segment that stay."""
    base_offset: Offset
    """Base offset of the first removed batch. Kafka removes complete batches."""
    end_after_restart: Offset
    """The log end offset that a restart finds, where the last remaining batch ends."""
    of_wrapper: bool = False
    """True if that batch is a compressed wrapper of messages of magic 0 or 1, which was decompressed."""


class FollowerPlan(NamedTuple):
    """The steps of one follower when it meets the leader."""

    broker_id: int | None
    """Its broker; None for a bare file that names none."""
    log_end_offset_before: Offset | None
    """Its log end offset before the truncation; None if it could not be found."""
    high_watermark: Offset | None
    """Its high watermark; None if no checkpoint names one."""
    problem: str | None = None
    """The reason why it cannot take part; None if it does."""
    dialogue: Dialogue | None = None
    """Its requests, the answers, and its log afterwards; None if it cannot take part."""
    truncate_to: Offset | None = None
    """The offset it truncates to; None if it keeps its log."""
    cut: CutPosition | None = None
    """The place of that offset in its files; None if it keeps its log or starts an empty one."""
    lost: TruncatedRecords | None = None
    """The records that are lost for good; None if nothing is."""
    expired: OffsetRange | None = None
    """Offsets that the follower removes because the leader has already deleted them; None without any."""
    refetch: RefetchedRecords | None = None
    """The records that it fetches afterwards; None if it is up to date, or cannot fetch."""
    diverges_silently_at: Offset | None = None
    """The first offset from which it keeps records that the leader does not have; None without any."""
    from_store: RemoteSegment | None = None
    """The remote segment with the leader epochs and producer state that the follower takes; None without one."""

    @property
    def steps(self) -> tuple[DialogueStep, ...]:
        """The requests of the dialogue in order."""
        return () if self.dialogue is None else self.dialogue.steps

    @property
    def status(self) -> str:
        """The end of the dialogue, `unknown` if the follower cannot take part."""
        return "unknown" if self.dialogue is None else str(self.dialogue.status)

    @property
    def log_end_offset_after(self) -> Offset | None:
        """Its log end offset after the truncation."""
        return None if self.dialogue is None else self.dialogue.after.log_end_offset

    @property
    def log_start_offset_after(self) -> Offset | None:
        """Its log start after the truncation."""
        return None if self.dialogue is None else self.dialogue.after.log_start_offset

    @property
    def leader_epochs_after(self) -> EpochEntries | None:
        """Its leader epochs after the truncation."""
        return None if self.dialogue is None else self.dialogue.after.cache


class StartLoss(NamedTuple):
    """The records that a replica loses when its broker starts, before any leader is elected."""

    broker_id: int | None
    """The broker that starts."""
    lost: LostRecords
    """The records it loses."""


class Advantage(StrEnum):
    """The reason why a leader costs less than the next best one, in the order in which leaders are compared."""

    FOLLOWERS = "followers"
    """More replicas can follow it."""
    COMMITTED = "committed"
    """Fewer committed records are lost."""
    RECORDS = "records"
    """Fewer records are lost."""
    READABLE = "readable"
    """It serves more of the records in remote storage."""
    CLEAN = "clean"
    """The controller can elect it cleanly."""
    BYTES = "bytes"
    """The others fetch less from it."""
    ASSIGNMENT = "assignment"
    """It comes first in the assignment."""
    NONE = "none"
    """No other replica costs more."""


class TruncationPlan(NamedTuple):
    """One partition under one leader."""

    topic: str | None
    """The topic; None for bare files."""
    partition: int | None
    """The partition; None for bare files."""
    leader: int | None
    """The broker that leads."""
    leader_epoch: Epoch
    """The epoch of the election."""
    leader_log_end_offset: Offset | None
    """The leader's log end; None if it could not be found."""
    leader_log_start_offset: Offset | None
    """The leader's log start; None if it cannot lead."""
    lost_at_start: tuple[StartLoss, ...]
    """The records that the replicas lose when their brokers start, before the election."""
    problem: str | None
    """The reason why the leader cannot lead; None if it can."""
    followers: tuple[FollowerPlan, ...]
    """Every other replica, by broker id."""
    is_best: bool | None = None
    """True if no leader costs less; None if the others were not tried."""
    advantage: Advantage | None = None
    """The reason why the best leader is better than the next; None if it is not the best."""
    registration: PartitionRegistration | None = None
    """The partition in the cluster metadata; None without metadata."""
    seat: Seat | None = None
    """By which place the controller can elect this leader, if it starts first; None without metadata."""
    lost: Amounts | None = None
    """The records that no other replica here has once it leads; None if it cannot lead."""
    remote_lost: Spans = ()
    """Offsets of these in remote storage that it deletes, or where it has other records."""
    remote_unreadable: int = 0
    """Number of offsets in remote storage that it does not serve, although they stay there."""
    is_tiered: bool = False
    """True if a part of the leader's log is in remote storage."""
    served: Mapping[Epoch, Spans] = {}
    """The offsets that the leader of a tiered log serves, remote and local, by the epoch of their records."""

    @property
    def loses_committed(self) -> bool:
        """True if committed records are lost, as far as is known."""
        return self.lost is not None and (self.lost.upper_committed or 0) > 0

    def lacks_remote_history(self, follower: FollowerPlan) -> bool:
        """Return whether a truncation below its first local segment leaves a follower without the leader's older
        epochs.

        UnifiedLog.truncateFullyAndStartAt 3.6 to 4.3.1 raises the log start, and later fetches do not lower it.
        """
        start, after = self.leader_log_start_offset, follower.log_start_offset_after
        return self.is_tiered and follower.truncate_to is not None and start is not None and (after or start) > start

    @property
    def strangers(self) -> int:
        """Number of replicas that do not follow the leader."""
        return sum(follower.problem is not None for follower in self.followers)

    @property
    def refetched(self) -> Refetched:
        """The records that all followers fetch from the leader."""
        parts = [follower.refetch for follower in self.followers if follower.refetch is not None]
        return Refetched(known_sum(part.records for part in parts), known_sum(part.bytes for part in parts))


def cost(plan: TruncationPlan) -> LeaderCost:
    """Return the sort key of the leaders of a partition, the best one first."""
    known, clean = plan.registration, None if plan.seat is None else plan.seat.kind is ElectionKind.CLEAN
    replicas = () if known is None else known.replicas
    place = replicas.index(plan.leader) if plan.leader in replicas else len(replicas)
    return leader_cost(
        plan.lost, plan.refetched.bytes, strangers=plan.strangers, clean=clean, place=place, broker_id=plan.leader,
        unreadable=plan.remote_unreadable,
    )  # fmt: skip


def marked(plans: Sequence[TruncationPlan]) -> list[TruncationPlan]:
    """Return the plans of all leaders of a partition, with the cheapest marked as the best, and the reason."""
    costs = [cost(plan) for plan in plans]
    ranked = sorted(range(len(plans)), key=costs.__getitem__)
    advantage = Advantage.NONE
    if len(ranked) > 1:
        pairs = zip(Advantage, costs[ranked[0]], costs[ranked[1]], strict=True)
        advantage = next((why for why, least, more in pairs if least < more), Advantage.NONE)
    return [
        plan._replace(is_best=at == ranked[0], advantage=advantage if at == ranked[0] else None)
        for at, plan in enumerate(plans)
    ]
