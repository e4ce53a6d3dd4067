"""Holds the values of a truncation (two logs, the requests and answers of follower and leader, and the result)."""

from enum import StrEnum
from typing import NamedTuple

from kcheck.model.entries import Epoch, EpochEndOffset, EpochEntries, Offset


class Leader(NamedTuple):
    """The leader's log, offsets `[log_start_offset, log_end_offset)`."""

    cache: EpochEntries
    """Its leader epochs. `truncation.elected` adds the epoch of the election."""
    log_end_offset: Offset
    """The offset after its last record."""
    log_start_offset: Offset = Offset(0)
    """Its first offset, in remote storage or on disk."""
    local_log_start_offset: Offset = Offset(0)
    """Its first offset on disk; lower offsets are in remote storage only."""


class Replica(NamedTuple):
    """A follower's log, offsets `[log_start_offset, log_end_offset)`."""

    cache: EpochEntries
    """Its leader epochs."""
    log_end_offset: Offset
    """The offset after its last record."""
    high_watermark: Offset
    """The high watermark in force when it meets the leader."""
    log_start_offset: Offset = Offset(0)
    """Its first offset."""
    first_segment: Offset = Offset(0)
    """Base offset of its oldest segment."""
    first_unstable: Offset | None = None
    """The first offset of the first transaction that counts as open after the broker starts; None without any."""


class Branch(StrEnum):
    """The branch of getOffsetTruncationState that decided."""

    UNDEFINED = "undefined_use_initial_offset"
    """The leader does not know the epoch. The follower truncates to its fetch offset."""
    EPOCH_NOT_CARRIED = "epoch_not_carried"
    """The reply has an end offset and no epoch. The follower truncates to that end offset."""
    BELOW_TRACKED_EPOCHS = "below_tracked_epochs"
    """The follower does not know the leader's epoch. It truncates to the leader's end offset."""
    INTERMEDIATE = "intermediate"
    """The follower has an older epoch instead. It truncates to the end of that epoch and asks again."""
    MATCHED_EPOCH = "matched_epoch"
    """Both know the epoch. The follower truncates to the smaller of the two end offsets."""


class FetchAnswer(StrEnum):
    """The answer of a leader to a fetch, other than with a diverging epoch."""

    RECORDS = "RECORDS"
    """It sends records, or nothing at its log end; no error."""
    OFFSET_OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"
    """The offset is not in its log."""
    OFFSET_MOVED_TO_TIERED_STORAGE = "OFFSET_MOVED_TO_TIERED_STORAGE"
    """The offset is in remote storage only."""


class OutOfRange(StrEnum):
    """The step of a follower when its fetch offset is outside of the leader's log."""

    TO_LEADER_LOG_END = "truncate_to_leader_leo"
    """Its log is longer. It truncates to the leader's log end."""
    FULLY_AT_LEADER_START = "truncate_fully_at_leader_start"
    """Its log ends below the leader's log start. It deletes everything and starts there."""
    KEEP = "keep_position"
    """It keeps its log and fetches again at its log end."""


class TruncateToHighWatermark(NamedTuple):
    """The follower truncates without asking the leader."""

    truncate_to: Offset
    """Its high watermark, or its log end if that is lower."""


class EpochRequest(NamedTuple):
    """An OffsetsForLeaderEpoch request, its reply, and what the follower does with it."""

    sent_epoch: Epoch
    """The follower's latest epoch."""
    reply: EpochEndOffset
    """The leader's end of that epoch."""
    branch: Branch
    """The branch of getOffsetTruncationState that decided."""
    truncate_to: Offset
    """The offset to which the follower truncates."""
    completed: bool
    """True if truncation ends here; otherwise the follower asks again."""


class FetchRequest(NamedTuple):
    """A fetch, its answer, and what the follower does with it."""

    offset: Offset
    """The follower's log end."""
    last_fetched_epoch: Epoch | None
    """The follower's latest epoch; None if the request does not carry one."""
    reply: FetchAnswer | EpochEndOffset
    """An error or records, or the diverging epoch with its end offset."""
    branch: Branch | None = None
    """The branch that decided about a diverging epoch; None for other answers."""
    truncate_to: Offset | None = None
    """The offset where the follower's log ends or starts again; None if the answer does not truncate it.

    Three answers do: a diverging epoch, an offset in remote storage, and records below the end of an empty log.
    """


class OutOfRangeStep(NamedTuple):
    """The follower asks the leader for its log start and log end, and acts on them."""

    action: OutOfRange
    """Its kind."""
    truncate_to: Offset
    """Its log end afterwards."""


DialogueStep = TruncateToHighWatermark | EpochRequest | FetchRequest | OutOfRangeStep


class Status(StrEnum):
    """The end of a dialogue."""

    OK = "ok"
    """The leader sends records."""
    NEVER_COMPLETES = "never_completes"
    """The follower comes back to a state that it was in before."""
    UNFINISHED = "unfinished"
    """kcheck stopped after `truncation.ROUND_COUNT_MAX` requests."""
    FETCH_FAILS = "fetch_fails"
    """The follower refuses an answer. Its fetcher thread ends (2.2 and earlier) or marks the partition failed."""
    TRUNCATION_FAILS = "truncation_fails"
    """The follower truncates its log and then fails. It fetches again only after its broker restarts."""


class Dialogue(NamedTuple):
    """The dialogue of one follower, and its log afterwards."""

    steps: tuple[DialogueStep, ...]
    """The requests in order."""
    after: Replica
    """The follower's log at the end of the dialogue."""
    status: Status = Status.OK
    """The end of the dialogue."""
    exits_without_unclean_election: bool = False
    """True if the broker exits at the out-of-range step when unclean leader election is disabled (2.0.0 and earlier).
    """
