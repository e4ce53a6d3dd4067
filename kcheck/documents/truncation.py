"""A truncation plan as JSON: each follower's requests and responses, its truncation, and its lost records."""

from collections.abc import Iterator, Mapping

from kcheck.core.replication.dialogue import (
    DialogueStep,
    EpochRequest,
    FetchAnswer,
    FetchRequest,
    OutOfRange,
    OutOfRangeStep,
    TruncateToHighWatermark,
)
from kcheck.core.replication.leader_costs import Amounts
from kcheck.core.replication.truncation_plans import (
    CutPosition,
    FollowerPlan,
    OffsetRange,
    RefetchedRecords,
    TruncatedRecords,
    TruncationPlan,
)
from kcheck.documents.predict import loss_row, lost_row
from kcheck.documents.remote_log import span_rows
from kcheck.formats.leader_epoch_checkpoint import entry_rows
from kcheck.model.cluster import PartitionRegistration
from kcheck.model.entries import EpochEndOffset
from kcheck.model.report import Row


def plan_row(plan: TruncationPlan) -> Row:
    """Return the row of one partition under one leader."""
    return {
        "topic": plan.topic,
        "partition": plan.partition,
        "leader": plan.leader,
        "leader_epoch": plan.leader_epoch,
        "leader_log_end_offset": plan.leader_log_end_offset,
        "lost_at_start": tuple({"broker_id": loss.broker_id, **loss_row(loss.lost)} for loss in plan.lost_at_start),
        "problem": plan.problem,
        "election": None if plan.seat is None else str(plan.seat.kind),
        "seat": None if plan.seat is None else str(plan.seat),
        "cluster": None if plan.registration is None else _registration_row(plan.registration),
        "is_best": plan.is_best,
        "advantage": plan.advantage,
        "lost": None if plan.lost is None else amounts_row(plan.lost),
        "remote_lost": span_rows(plan.remote_lost),
        "remote_unreadable": plan.remote_unreadable,
        "followers": tuple(follower_row(follower, plan) for follower in plan.followers),
    }


def amounts_row(lost: Amounts) -> Row:
    """Return the row of records that no replica has any more, with upper bounds of unknown counts."""
    bounds = {"at_most": lost.at_most, "committed_at_most": lost.committed_at_most}
    return {
        "records": lost.records,
        "committed": lost.committed,
        "bytes": lost.bytes,
        **{name: bound for name, bound in bounds.items() if bound is not None},
    }


def table_rows(plan: TruncationPlan, *, brokers: Mapping[int | None, str | None]) -> Iterator[tuple[object, ...]]:
    """Yield a row of the table `truncation_plans` per follower, without its cluster; `brokers` maps ids to names."""
    for follower in plan.followers:
        yield (
            brokers[follower.broker_id],
            follower.broker_id,
            plan.topic,
            plan.partition,
            brokers[plan.leader],
            plan.leader,
            plan.is_best,
            plan.leader_epoch,
            plan.leader_log_end_offset,
            follower.status,
            follower.problem,
            follower.log_end_offset_before,
            follower.high_watermark,
            follower.truncate_to,
            follower.log_end_offset_after,
            *(follower.lost or (None,) * len(TruncatedRecords._fields)),
            *(follower.expired or (None,) * len(OffsetRange._fields)),
            *(follower.refetch or (None,) * len(RefetchedRecords._fields)),
            follower.diverges_silently_at,
        )


def _registration_row(partition: PartitionRegistration) -> Row:
    return {
        "leader": partition.leader,
        "last_leader": partition.last_leader,
        "leader_epoch": partition.leader_epoch,
        "isr": partition.isr,
        "elr": partition.elr,
        "replicas": partition.replicas,
    }


def follower_row(follower: FollowerPlan, plan: TruncationPlan) -> Row:
    """Return the row of a follower under the leader of a plan."""
    epochs, dialogue = follower.leader_epochs_after, follower.dialogue
    return {
        "broker_id": follower.broker_id,
        "status": follower.status,
        "problem": follower.problem,
        "log_end_offset_before": follower.log_end_offset_before,
        "high_watermark": follower.high_watermark,
        "steps": tuple(_step_row(step, plan) for step in follower.steps),
        "truncate_to": follower.truncate_to,
        "log_end_offset_after": follower.log_end_offset_after,
        "log_start_offset_after": follower.log_start_offset_after,
        "lacks_remote_history": plan.lacks_remote_history(follower),
        "cut": None if follower.cut is None else _cut_row(follower.cut),
        "lost": None if follower.lost is None else {**lost_row(follower.lost), "certain": follower.lost.certain},
        "expired": None if follower.expired is None else {"from": follower.expired.start, "to": follower.expired.end},
        "refetch": None if follower.refetch is None else _refetch_row(follower.refetch),
        "leader_epochs_after": None if epochs is None else entry_rows(epochs),
        "diverges_silently_at": follower.diverges_silently_at,
        "from_store": None if follower.from_store is None else follower.from_store.segment_id,
        "exits_without_unclean_election": dialogue is not None and dialogue.exits_without_unclean_election,
    }


def _cut_row(cut: CutPosition) -> Row:
    return {
        "segment": cut.segment,
        "position": cut.position,
        "base_offset": cut.base_offset,
        "end_after_restart": cut.end_after_restart,
    }


def _refetch_row(refetch: RefetchedRecords) -> Row:
    return {"from": refetch.start, "to": refetch.end, "records": refetch.records, "bytes": refetch.bytes}


def _step_row(step: DialogueStep, plan: TruncationPlan) -> Row:
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
            response = {"log_start_offset": plan.leader_log_start_offset, "log_end_offset": plan.leader_log_end_offset}
            cut = None if action is OutOfRange.KEEP else to
            return {"request": {"api": "ListOffsets"}, "response": response, "truncate_to": cut, "action": str(action)}


def _fetch_response(reply: FetchAnswer | EpochEndOffset) -> Row:
    if isinstance(reply, EpochEndOffset):
        return {"error": "NONE", "diverging_epoch": {"epoch": reply.epoch, "end_offset": reply.end_offset}}
    error = "NONE" if reply is FetchAnswer.RECORDS else str(reply)
    return {"error": error, "diverging_epoch": None}
