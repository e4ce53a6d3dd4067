"""The layout of `kcheck truncation`: a block per partition, worst first, with the requests of each follower."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby

from kcheck.core.replication.dialogue import (
    DialogueStep,
    EpochRequest,
    FetchAnswer,
    FetchRequest,
    OutOfRange,
    OutOfRangeStep,
    Status,
    TruncateToHighWatermark,
)
from kcheck.core.replication.leader_costs import NOT_KNOWN
from kcheck.core.replication.truncation_plans import (
    Advantage,
    FollowerPlan,
    RefetchedRecords,
    TruncationPlan,
)
from kcheck.documents.election_words import SEAT_LEGEND, SEATS, amount_lost
from kcheck.documents.uncounted import NOTHING
from kcheck.model.entries import EpochEndOffset
from kcheck.model.loss import LostRecords
from kcheck.model.report import Report
from kcheck.replicas.truncation import Truncation
from kcheck.screen.page import Page, bound_cell, cell, loss_text, size
from kcheck.words import counted, lost_words, offset_range, partition_name, record_count, some_of

_ADVANTAGES = {
    Advantage.FOLLOWERS: "more replicas can follow it",
    Advantage.COMMITTED: "fewest committed records lost",
    Advantage.RECORDS: "fewest records lost",
    Advantage.READABLE: "it serves more of the remote records",
    Advantage.CLEAN: "the controller can elect it cleanly",
    Advantage.BYTES: "the others fetch the least from it",
    Advantage.ASSIGNMENT: "first in the assignment",
    Advantage.NONE: "no other leader costs less",
}
"""The reason why a leader is best."""
_ALONE = (
    "Best is for each partition alone, as the logs are now. kcheck recover also weighs repairs and the order of starts."
)
_PROBLEMS = {
    Status.NEVER_COMPLETES: "Truncation never completes: the follower repeats the same requests forever.",
    Status.UNFINISHED: "kcheck stopped after {steps} requests.",
    Status.FETCH_FAILS: "The follower cannot append the leader's records from offset {end} on; it stops fetching.",
    Status.TRUNCATION_FAILS: (
        "The follower fails as it truncates below an open transaction. It fetches no more until it restarts."
    ),
}
"""Words for the failed ends of a dialogue."""


def truncation(report: Report, page: Page) -> None:
    """Write the plan; without a chosen leader, one line per candidate."""
    answer = report.answer
    assert isinstance(answer, Truncation)
    plans, leader = [*answer.watched()], answer.election.leader
    if not plans:
        page.line("no replicas in these paths")
        return
    partitions = [[*leaders] for _, leaders in groupby(plans, key=lambda plan: (plan.topic, plan.partition))]
    partitions.sort(key=_harm)
    shown = [leaders for leaders in partitions if page.every or not _is_quiet(leaders)]
    if leader is None and shown:
        _candidates(shown, page)
    elif leader is not None:
        for leaders in shown:
            page.line()
            _partition(leaders[0], page)
    for sentence in answer.open_sentences():
        page.wrapped(sentence, hanging="    ", style="bold red")
    if len(shown) < len(partitions):
        rest = counted(len(partitions) - len(shown), "other partition" if shown else "partition")
        page.line()
        page.wrapped(f"{rest}: no replica truncates or loses records; --all lists every partition")


def _harm(leaders: Sequence[TruncationPlan]) -> tuple[int, ...]:
    """Return the sort key of partitions, the worst first (the best leader's cost, then the worst one's)."""
    best = [plan for plan in leaders if plan.is_best] or leaders
    return (*max(map(_losses, best)), *min(map(_losses, leaders)))


def _losses(plan: TruncationPlan) -> tuple[int, int, int]:
    """Return the committed records lost, the records lost, and the logs truncated; negative."""
    lost = plan.lost or NOT_KNOWN
    return -(lost.upper_committed or 0), -(lost.upper_records or 0), -_cut_count(plan)


def _cut_count(plan: TruncationPlan) -> int:
    return sum(follower.truncate_to is not None for follower in plan.followers)


def _is_quiet(leaders: Sequence[TruncationPlan]) -> bool:
    """Return whether under no leader anything is truncated, lost or unknown."""
    followers = (follower for plan in leaders for follower in plan.followers)
    return not any(plan.problem or plan.lost_at_start or _not_in_log(plan) for plan in leaders) and all(
        follower.status == Status.OK
        and (follower.truncate_to, follower.expired, follower.diverges_silently_at) == (None, None, None)
        for follower in followers
    )


def _not_in_log(plan: TruncationPlan) -> bool:
    """Return whether the leader's log lacks records that followers keep, as its segments were removed."""
    return plan.lost is not None and bool(plan.lost.upper_records) and not any(map(_loses, plan.followers))


def _loses(follower: FollowerPlan) -> bool:
    return any(part is not None for part in (follower.lost, follower.expired, follower.diverges_silently_at))


def _candidates(partitions: Sequence[Sequence[TruncationPlan]], page: Page) -> None:
    header: tuple[str, ...] = ("partition", "leader", "log end", "truncate", "lost", "committed", "refetch")
    plans = [plan for leaders in partitions for plan in leaders]
    rows: list[tuple[object, ...]] = [*map(_candidate, plans)]
    is_placed = any(plan.seat for plan in plans)
    if is_placed:
        header = (*header, "election")
        rows = [(*row, SEATS[plan.seat]) for row, plan in zip(rows, plans, strict=True)]
    page.table(header, rows)
    if is_placed:
        page.wrapped(SEAT_LEGEND)
    best_of: dict[tuple[int | None, str], list[str]] = defaultdict(list)
    for leaders in partitions:
        _starts(leaders[0], page, f"{_name(leaders[0])}: ")
        for plan in leaders:
            if plan.is_best and len(leaders) > 1:
                best_of[plan.leader, _advantage(plan)].append(_name(plan))
    for (leader, why), names in best_of.items():
        page.wrapped(f"* broker {cell(leader)} is the best leader of {some_of(names)}: {why}", hanging="  ")
    if best_of:
        page.wrapped(_ALONE, hanging="  ")
    for plan in plans:
        for follower in plan.followers:
            if follower.problem:
                under = f"{_name(plan)} under leader {cell(plan.leader)}"
                text = f"{under}: broker {cell(follower.broker_id)} skipped: {follower.problem}"
                page.wrapped(text, hanging="  ", style="yellow")


def _advantage(plan: TruncationPlan) -> str:
    assert plan.advantage is not None
    return _ADVANTAGES[plan.advantage]


def _candidate(plan: TruncationPlan) -> tuple[object, ...]:
    followers, lost = plan.followers, plan.lost or NOT_KNOWN
    sums = (
        bound_cell(lost.records, lost.at_most),
        bound_cell(lost.committed, lost.committed_at_most),
        plan.refetched.records,
    )
    return (
        _name(plan),
        f"{cell(plan.leader)}{' *' if plan.is_best else ''}",
        plan.leader_log_end_offset,
        f"{_cut_count(plan)} of {len(followers)}",
        *((None,) * len(sums) if any(follower.problem for follower in followers) else sums),
    )


def _name(plan: TruncationPlan) -> str:
    """Return the partition as TOPIC-N, or `bare files` if no topic is known."""
    return "bare files" if plan.topic is None else partition_name(plan.topic, plan.partition)


def _partition(plan: TruncationPlan, page: Page) -> None:
    name = _name(plan)
    if plan.problem:
        page.wrapped(f"{name}   leader {cell(plan.leader)} cannot lead: {plan.problem}", hanging="  ")
        return
    state = f"log end {cell(plan.leader_log_end_offset)}, epoch {cell(plan.leader_epoch)}"
    page.line(f"{name}   leader {cell(plan.leader)} ({state})", "bold")
    if plan.is_best:
        page.line(f"  the best leader: {_advantage(plan)}")
    _starts(plan, page, "  ")
    if not plan.followers:
        page.line("  no other replica in these paths")
    for part in plan.followers:
        follower(part, plan, page)
    if _not_in_log(plan) and not plan.lost_at_start and plan.lost is not None:
        lost = amount_lost(plan.lost, NOTHING)
        text = f"LOST under leader {cell(plan.leader)}: {lost}; its log has no segment with them"
        page.wrapped(text, indent="  ", hanging="      ", style="bold red")


def _starts(plan: TruncationPlan, page: Page, indent: str) -> None:
    """Write which records the brokers lose at their own starts, before any follower truncates."""
    for loss in plan.lost_at_start:
        text = f"startup of broker {cell(loss.broker_id)}: LOST {loss_text(loss.lost)}"
        page.wrapped(text, indent=indent, hanging="      ", style="bold red")


def follower(follower: FollowerPlan, plan: TruncationPlan, page: Page) -> None:
    """Write the steps of a follower (its requests, its truncation, and its losses)."""
    before, after = follower.log_end_offset_before, follower.log_end_offset_after
    ends = f"log end {cell(before)}" + ("" if before == after else f" → {cell(after)}")
    back = "" if follower.refetch is None else f", refetch {_amount(follower.refetch)}"
    page.wrapped(f"broker {cell(follower.broker_id)}   {ends}{back}", indent="  ", hanging="      ")
    if follower.problem:
        page.wrapped(follower.problem, indent="    ", style="yellow")
    for step in follower.steps:
        page.wrapped(_step(step, plan), indent="    ", hanging="      ")
    if follower.from_store is not None:
        name = f"{follower.from_store.start_offset or 0:020d}-{follower.from_store.segment_id}"
        text = f"needs .leader_epoch_checkpoint and .snapshot of remote segment {name} (kcheck tiered --store PLACE)"
        page.wrapped(text, indent="    ", hanging="      ")
    if follower.dialogue is not None and follower.dialogue.status in _PROBLEMS:
        text = _PROBLEMS[follower.dialogue.status].format(steps=len(follower.steps), end=cell(after))
        page.wrapped(text, indent="    ", style="red")
    if plan.lacks_remote_history(follower):
        start = cell(follower.log_start_offset_after)
        text = f"log start {start} and no older epochs; it must not lead afterwards (KC411)"
        page.wrapped(text, indent="    ", style="red")
    _outcome(follower, page)


def _amount(part: RefetchedRecords) -> str:
    count = record_count(part.records)
    return count if part.bytes is None else f"{count} ({size(part.bytes)})"


def _outcome(follower: FollowerPlan, page: Page) -> None:
    lost, expired, cut = follower.lost, follower.expired, follower.cut
    if lost is not None:
        words = lost_words(LostRecords(lost.start, lost.end, lost.records, lost.bytes or 0, None))
        amount = f"{'' if lost.certain or lost.records is None else 'at most '}{words}" + (
            "" if lost.bytes is None else f", {size(lost.bytes)}"
        )
        below = f"{cell(lost.below_high_watermark)} below its high watermark {cell(follower.high_watermark)}"
        text = f"LOST on broker {cell(follower.broker_id)}: {amount}; {below}"
        page.wrapped(text, indent="    ", hanging="      ", style="bold red")
    if expired is not None:
        text = f"deleted: {offset_range(expired.start, expired.end)}, below the leader's log start"
        page.wrapped(text, indent="    ", hanging="      ")
    if cut is not None and cut.end_after_restart != follower.truncate_to:
        text = f"truncation removes the batch at {cut.base_offset}: after a restart the log ends at offset"
        page.wrapped(f"{text} {cut.end_after_restart}", indent="    ", hanging="      ")
    if follower.diverges_silently_at is not None:
        text = f"STILL DIVERGES from offset {follower.diverges_silently_at}: no broker detects it"
        page.wrapped(text, indent="    ", hanging="      ", style="bold red")
    if follower.dialogue is not None and follower.dialogue.exits_without_unclean_election:
        text = "The broker process exits here if unclean leader election is disabled for the topic."
        page.wrapped(text, indent="    ", hanging="      ", style="yellow")


def _step(step: DialogueStep, plan: TruncationPlan) -> str:
    match step:
        case TruncateToHighWatermark(to):
            return f"no epoch to compare; uses its own high watermark{_cut(to)}"
        case EpochRequest():
            epoch = "" if step.reply.epoch is None else f"epoch {step.reply.epoch}, "
            reply = f"{epoch}end {step.reply.end_offset}"
            return f"asks for the end of epoch {step.sent_epoch} → {reply}{_cut(step.truncate_to)}"
        case OutOfRangeStep():
            cut = " → no change" if step.action is OutOfRange.KEEP else _cut(step.truncate_to)
            return f"asks for the log → {plan.leader_log_start_offset} to {plan.leader_log_end_offset}{cut}"
        case FetchRequest():
            last = "" if step.last_fetched_epoch is None else f" last epoch {step.last_fetched_epoch}"
            return f"fetch {step.offset}{last} → {_reply(step.reply)}{_cut(step.truncate_to)}"


def _reply(reply: FetchAnswer | EpochEndOffset) -> str:
    if isinstance(reply, EpochEndOffset):
        return f"diverging epoch {reply.epoch}, end {reply.end_offset}"
    return "records" if reply is FetchAnswer.RECORDS else str(reply)


def _cut(to: int | None) -> str:
    return "" if to is None else f" → truncate to {to}"
