"""A truncation's dialogue as rows: each request, its response, and where the follower cuts."""

from kcheck.core.dialogue import (
    EpochRequest,
    FetchError,
    FetchRequest,
    Leader,
    OutOfRange,
    OutOfRangeStep,
    Step,
    TruncateToHighWatermark,
)
from kcheck.model.entries import EpochEndOffset
from kcheck.model.report import Row


def step_rows(steps: tuple[Step, ...], leader: Leader) -> tuple[Row, ...]:
    """Return a dialogue as JSON shows it."""
    return tuple(_row(step, leader) for step in steps)


def _row(step: Step, leader: Leader) -> Row:
    match step:
        case TruncateToHighWatermark(to):
            return {"request": None, "response": None, "truncate_to": to}
        case EpochRequest(sent, reply, _, to, completed):
            request: Row = {"api": "OffsetsForLeaderEpoch", "leader_epoch": sent}
            response: Row = {"epoch": reply.epoch, "end_offset": reply.end_offset}
            return {"request": request, "response": response, "truncate_to": to, "completed": completed}
        case FetchRequest(offset, epoch, reply, _, cut):
            request = {"api": "Fetch", "fetch_offset": offset, "last_fetched_epoch": epoch}
            return {"request": request, "response": _fetch_response(reply), "truncate_to": cut}
        case OutOfRangeStep(action, to):
            response = {"log_start_offset": leader.log_start_offset, "log_end_offset": leader.log_end_offset}
            cut = None if action is OutOfRange.KEEP else to
            return {"request": {"api": "ListOffsets"}, "response": response, "truncate_to": cut, "action": str(action)}


def _fetch_response(reply: FetchError | EpochEndOffset) -> Row:
    if isinstance(reply, EpochEndOffset):
        return {"error": "NONE", "diverging_epoch": {"epoch": reply.epoch, "end_offset": reply.end_offset}}
    error = "NONE" if reply is FetchError.RECORDS else str(reply)
    return {"error": error, "diverging_epoch": None}
