"""The layout of a plan (each step with its files, proof and result, then the findings without a repair)."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from kcheck.model.loss import LostRecords
from kcheck.model.plan import FileOp, Patch, Plan, Rename, SetAside, Truncate, Why, Write
from kcheck.model.report import Report, Row
from kcheck.plans.losses import PartitionLoss
from kcheck.plans.plan_report import PlanOutcome
from kcheck.plans.repair import NotPlanned, RepairPlan
from kcheck.screen.page import Page, cell, loss_text, size
from kcheck.words import agree, counted, lost_words, some_of

_VERBS: Mapping[type[FileOp], str] = {
    Write: "write", Patch: "patch", Truncate: "cut", Rename: "rename", SetAside: "move aside",
}  # fmt: skip
_PLACE_COUNT = 3
"""At most this many places are named for one rule."""
_SHOWN_COUNT = 3
"""The most operations and losses of one reason in the summary."""


def plan(report: Report, page: Page) -> None:
    """Write the steps in order; operations with the same reason, proof and effect are one step."""
    answer = report.answer
    if isinstance(answer, RepairPlan):
        _repair(answer, page, nothing_read=not report.collected)
        return
    assert isinstance(answer, PlanOutcome)
    done = {number: number in answer.changed for number in _numbers(answer.plan)} if answer.changed is not None else {}
    if answer.is_undone:
        _undone(answer.plan, done, page)
        return
    count = len(answer.plan.operations)
    _head(answer.plan, counted(count, "operation") if count else "nothing to do", page)
    _steps(answer.plan, done, {}, page)
    _emptied(answer.plan, page)


def _emptied(plan: Plan, page: Page) -> None:
    """Write which replicas start empty, as another replica that follows one of them deletes its records."""
    moved: dict[int, list[str]] = {}
    for row in plan.operations:
        leader = (row.why.loses or {}).get("leader")
        if isinstance(leader, int) and isinstance(row, SetAside):
            moved.setdefault(leader, []).append(_directory(row.path, plan.log_dirs))
    if moved:
        page.line()
    for leader, names in sorted(moved.items()):
        them = agree(len(names), names[0], "all of them")
        page.wrapped(
            f"{some_of(names)} {agree(len(names), 'starts', 'start')} empty. Do not start the broker before broker"
            f" {leader} leads {them}. Otherwise the other replicas delete their records. kcheck recover has the order.",
            style="bold red",
        )


def _numbers(plan: Plan) -> range:
    return range(len(plan.operations))


def _head(plan: Plan, words: str, page: Page) -> None:
    page.wrapped(f"Plan for Kafka {plan.kafka}: {words}", style="bold")


def _repair(answer: RepairPlan, page: Page, *, nothing_read: bool) -> None:
    count, refused = len(answer.plan.operations), answer.not_planned
    is_empty = nothing_read and not (count or refused or answer.losses)
    saved = sum(row.saved for row in answer.losses)
    words = "nothing to do" if is_empty else counted(count, "operation")
    page.wrapped(f"Plan: {words}" + (f", saves {counted(saved, 'record')}" if saved else ""), style="bold")
    _steps(answer.plan, {}, _least(answer), page)
    _emptied(answer.plan, page)
    _losses(answer.losses, page)
    if answer.healed:
        page.line()
        page.line("the broker repairs this when it starts; --tidy plans it too", "bold")
    for rule, places in groupby(sorted(answer.healed, key=_by_rule), key=_by_rule):
        page.wrapped(f"{rule}: {_places(places)}", indent="  ", hanging="    ")
    if refused:
        page.line()
        page.line("not repaired by this plan", "bold")
    by_words: dict[tuple[str, str], list[NotPlanned]] = {}
    for row in refused:
        by_words.setdefault((f"{row.severity} {row.finding}", row.why), []).append(row)
    for (rule, why), same in by_words.items():
        page.wrapped(f"{rule} {_places(same)}: {why}", indent="  ", hanging="    ")


def _least(answer: RepairPlan) -> "Least":
    """Return the next start without each step; also without a directory if rule and reason are unique."""
    least: dict[tuple[str | None, str | None, str], str] = {}
    for step in answer.chosen:
        anywhere = (step.finding, "", step.reason)
        least[anywhere] = "" if anywhere in least else step.least
        least[step.finding, step.dir, step.reason] = step.least
    return least


Least = Mapping[tuple[str | None, str | None, str], str]
"""The next start without a step, by its rule, its directory and its reason."""


def _steps(plan: Plan, done: Mapping[int, bool], least: Least, page: Page) -> None:
    for numbers in _of_steps(plan):
        page.line()
        _step([(plan.operations[number], done.get(number)) for number in numbers], page, plan.log_dirs, least)


def _of_steps(plan: Plan) -> Iterator[list[int]]:
    """Yield the numbers of the operations of each step. Their reasons are equal except for losses."""
    for _, numbers in groupby(_numbers(plan), key=lambda number: plan.operations[number].why._replace(loses=None)):
        yield [*numbers]


def _undone(plan: Plan, done: Mapping[int, bool], page: Page) -> None:
    """Write an undone plan, with the reason of each step, and the state of its files."""
    page.wrapped(f"Undo: {counted(len(plan.operations), 'operation')}", style="bold")
    for numbers in _of_steps(plan):
        page.line()
        page.wrapped(_title(plan.operations[numbers[0]].why), hanging="  ", style="bold")
        for number in numbers:
            operation = plan.operations[number]
            words = "removed" if operation.before is None else "restored"
            state = words if done[number] else "already as before"
            page.wrapped(f"{cell(_short(operation.path, plan.log_dirs))}: {state}", indent="  ", hanging="    ")


def _title(why: Why) -> str:
    """Return which finding a step is about, and what it does."""
    return f"{why.finding}: {why.reason}" if why.finding else why.reason


def _losses(losses: Sequence[PartitionLoss], page: Page) -> None:
    """Write the loss of partitions without the plan and with it; the largest savings come first."""
    if not losses:
        return
    page.line()
    page.line("lost by the next start", "bold")
    rows = sorted(losses, key=lambda row: -row.saved)
    for row in rows[:_PLACE_COUNT]:
        without, with_plan = row.start_loses, row.plan_loses
        if without == with_plan:
            words = f"{_lost(without)} with or without this plan"
        else:
            words = f"{_lost(without)} without this plan, {_lost(with_plan)} with it"
        saved = f"; it saves {counted(row.saved, 'record')}" if row.saved else ""
        style = "green" if row.saved else "bold red"
        page.wrapped(f"{cell(row.dir)}: {words}{saved}", indent="  ", hanging="    ", style=style)
    if rows[_PLACE_COUNT:]:
        page.line(f"  and {counted(len(rows) - _PLACE_COUNT, 'more partition')}")


def _lost(lost: LostRecords | None) -> str:
    return "no record" if lost is None else lost_words(lost)


def _places(rows: Iterable[NotPlanned]) -> str:
    """Return the first places in words, and how many more there are."""
    places = (filter(None, (row.log_dir, row.dir, row.file)) for row in rows)
    return some_of(["/".join(parts) for parts in places], _PLACE_COUNT)


def _by_rule(row: NotPlanned) -> str:
    return row.finding


def summary(report: Report, page: Page) -> None:
    """Write the plan in brief, for a decision, with its reasons, and some files and losses of each."""
    assert isinstance(report.answer, PlanOutcome)
    plan = report.answer.plan
    by_reason: dict[tuple[str | None, str], list[FileOp]] = {}
    for operation in plan.operations:
        by_reason.setdefault((operation.why.finding, operation.why.reason), []).append(operation)
    for operations in by_reason.values():
        page.wrapped(_title(operations[0].why), hanging="  ")
        _some([_words(operation, plan.log_dirs) for operation in operations], page, "operations")
        lost = [operation.why.loses for operation in operations if operation.why.loses]
        _some([_in_brief(row) for row in lost], page, "losses")
    page.wrapped(f"{counted(len(plan.operations), 'operation')} in {', '.join(plan.log_dirs)}.")


def _some(lines: Sequence[str], page: Page, what: str) -> None:
    for line in lines[:_SHOWN_COUNT]:
        page.wrapped(line, indent="  ", hanging="    ")
    if lines[_SHOWN_COUNT:]:
        page.line(f"  and {len(lines) - _SHOWN_COUNT} more {what}")


def _words(operation: FileOp, log_dirs: tuple[str, ...]) -> str:
    """Return an operation in a line."""
    to = f" to {cell(operation.to)}" if isinstance(operation, Rename) else ""
    path = cell(_short(operation.path, log_dirs))
    return f"{_VERBS[type(operation)]} {path}{to} ({_sizes(operation)})"


def _step(
    operations: Sequence[tuple[FileOp, bool | None]],
    page: Page,
    log_dirs: tuple[str, ...],
    least: Least,
) -> None:
    why = operations[0][0].why
    page.wrapped(_title(why), hanging="  ", style="bold")
    for operation, is_changed in operations:
        done = "" if is_changed is None else ": changed" if is_changed else ": already applied"
        page.wrapped(_words(operation, log_dirs) + done, indent="  ", hanging="    ")
    places = [_directory(operation.path, log_dirs) for operation, _ in operations]
    only = next(filter(None, (least.get((why.finding, place, why.reason)) for place in [*places, None, ""])), None)
    facts = [("why", only)] if only else []
    facts += [("proof", words) for words in _proofs(why.evidence)]
    facts += [("before", why.broker_now)] if why.broker_now else []
    facts += [("after", why.broker_after)] if why.broker_after else []
    for name, words in facts:
        page.wrapped(f"{name:<6}  {words}", indent="    ", hanging="            ")
    lost = next((operation.why.loses for operation, _ in operations if operation.why.loses), None)
    if lost is not None:
        name, words = _lost_or_moved(lost)
        style = "bold" if lost.get("held") else "bold red"
        page.wrapped(f"{name}  {words}", indent="    ", hanging="           ", style=style)


def _in_brief(lost: Row) -> str:
    return " ".join(_lost_or_moved(lost)) if lost.get("held") else f"loses {_loss_text(lost)}"


def _lost_or_moved(lost: Row) -> tuple[str, str]:
    """Return the verb and the records of an operation, which moves records to the backup if another copy has them."""
    if lost.get("held"):
        what = f"{_loss_text(lost)} to the backup"
        if lost.get("leader") is not None:
            return "moves", f"{what}. {lost['held']}. If the empty replica leads, the cluster loses them"
        return "moves", f"{what}; the cluster loses no committed record: {lost['held']}"
    return "loses", f"{_loss_text(lost)}, on this disk; other replicas were not compared"


def _loss_text(row: Row) -> str:
    """Return the loss by an operation in words; a plan written by hand may lack fields."""
    numbers: dict[str, Any] = {name: value for name, value in row.items() if isinstance(value, int)}
    values = [numbers.get(name) for name in ("from", "to", "records", "bytes", "below_high_watermark")]
    return loss_text(LostRecords._make([*values, numbers.get("at_least", 0)]))


def _short(path: str, log_dirs: tuple[str, ...]) -> str:
    """Return a path relative to its log dir; with several log dirs it begins with the log dir's name."""
    log_dir = next(candidate for candidate in log_dirs if path.startswith(f"{candidate}/"))
    return path[len(log_dir) + 1 :] if len(log_dirs) == 1 else path[len(log_dir.rpartition("/")[0]) + 1 :]


def _directory(path: str, log_dirs: tuple[str, ...]) -> str:
    """Return the first name of a path below its log dir."""
    log_dir = next(candidate for candidate in log_dirs if path.startswith(f"{candidate}/"))
    return path[len(log_dir) + 1 :].partition("/")[0]


def _sizes(operation: FileOp) -> str:
    before, after = operation.before, operation.after
    if before is None:
        return f"new, {size(None if after is None else after.size)}"
    return size(before.size) if after is None else f"{size(before.size)} to {size(after.size)}"


def _proofs(evidence: Row | None) -> Iterator[str]:
    """Yield the proofs of a step; evidence in an unknown form (a plan written by hand) is written as JSON."""
    more = None if evidence is None else evidence.get("more")
    for proof in () if evidence is None else (evidence, *(more if isinstance(more, list) else ())):
        if not isinstance(proof, dict) or not {"file", "position", "crc_verified", "what"} <= proof.keys():
            yield json.dumps(proof)
            continue
        at = "" if proof["position"] is None else f", position {proof['position']}"
        crc = ", CRC verified" if proof["crc_verified"] else ""
        yield f"{proof['file']}{at}{crc}: {proof['what']}"
