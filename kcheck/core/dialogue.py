"""What a follower and its leader have, what they say to each other, and how that ends: the values of a truncation."""

from dataclasses import dataclass
from enum import StrEnum

from kcheck.model.entries import Epoch, EpochEndOffset, EpochEntries, Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader:
    """The leader's log: `cache` as it is before the election, offsets `[log_start_offset, log_end_offset)`.

    Those below `local_log_start_offset` are in remote storage alone.
    """

    cache: EpochEntries
    log_end_offset: Offset
    log_start_offset: Offset = Offset(0)
    local_log_start_offset: Offset = Offset(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """A follower's log. `first_segment` is the base offset of its oldest segment, `high_watermark` the one in force."""

    cache: EpochEntries
    log_end_offset: Offset
    high_watermark: Offset
    log_start_offset: Offset = Offset(0)
    first_segment: Offset = Offset(0)


class Branch(StrEnum):
    """Which row of getOffsetTruncationState decided."""

    UNDEFINED = "undefined_use_initial_offset"
    EPOCH_NOT_CARRIED = "epoch_not_carried"
    BELOW_TRACKED_EPOCHS = "below_tracked_epochs"
    INTERMEDIATE = "intermediate"
    MATCHED_EPOCH = "matched_epoch"


class FetchError(StrEnum):
    """How a leader answers a fetch, other than with a diverging epoch."""

    RECORDS = "RECORDS"
    OFFSET_OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"
    OFFSET_MOVED_TO_TIERED_STORAGE = "OFFSET_MOVED_TO_TIERED_STORAGE"


class OutOfRange(StrEnum):
    """What a follower does when its position is outside of the leader's log."""

    TO_LEADER_LOG_END = "truncate_to_leader_leo"
    FULLY_AT_LEADER_START = "truncate_fully_at_leader_start"
    KEEP = "keep_position"


@dataclass(frozen=True, slots=True)
class TruncateToHighWatermark:
    """The follower cuts without asking anybody."""

    truncate_to: Offset


@dataclass(frozen=True, slots=True)
class EpochRequest:
    """OffsetsForLeaderEpoch and its answer; the follower cuts at `truncate_to` and asks again unless `completed`."""

    sent_epoch: Epoch
    reply: EpochEndOffset
    branch: Branch
    truncate_to: Offset
    completed: bool


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """Fetch at `offset` with the last fetched epoch (None: not sent); some answers cut at `truncate_to`.

    These are a diverging epoch, an offset in remote storage, and for an empty log records that begin below `offset`.
    """

    offset: Offset
    last_fetched_epoch: Epoch | None
    reply: FetchError | EpochEndOffset
    branch: Branch | None = None
    truncate_to: Offset | None = None


@dataclass(frozen=True, slots=True)
class OutOfRangeStep:
    """The follower asked the leader for its log end and start, and acts on them."""

    action: OutOfRange
    truncate_to: Offset


Step = TruncateToHighWatermark | EpochRequest | FetchRequest | OutOfRangeStep


class Status(StrEnum):
    """How a dialogue ends."""

    OK = "ok"
    NEVER_COMPLETES = "never_completes"
    UNFINISHED = "unfinished"
    FETCH_FAILS = "fetch_fails"
    """The follower cannot take an answer: up to 2.2 its fetcher thread ends, from 2.3 it marks the partition failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncation:
    """The dialogue of one follower and its log afterwards.

    `exits_without_unclean_election`: up to 2.0.0 the broker process ends at the out-of-range step if unclean leader
    election is disabled for the topic.
    """

    steps: tuple[Step, ...]
    after: Replica
    status: Status = Status.OK
    exits_without_unclean_election: bool = False
