"""The layout of a plan: each step with its files, proof and result, then the findings without a repair."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from kcheck.model.report import Report, Row
from kcheck.screen.page import Page, cell, loss_of, loss_text, size
from kcheck.words import counted, lost_words, some_of

_VERBS = {"write": "write", "patch": "patch", "truncate": "cut", "rename": "rename", "set-aside": "move aside"}
_PLACE_COUNT = 3
"""At most this many places are named for one rule."""
_SHOWN_COUNT = 3
"""The most operations and losses of one reason in the summary."""
_STEP = ("finding", "reason", "evidence", "broker_now", "broker_after")
"""The fields that the operations of a step share; only some of these operations have `loses`."""


def plan(report: Report, page: Page) -> None:
    """Write the steps in order; operations with the same reason, proof and effect are one step."""
    body: Any = report.body
    if report.reverts:
        _reverted(body, page)
        return
    refused, healed = body.get("refused", ()), body.get("healed", ())
    nothing = not (body["operations"] or refused or body.get("losses") or report.collected)
    words = "nothing to do" if nothing else counted(len(body["operations"]), "operation")
    page.wrapped(f"plan for Kafka {report.kafka}: {words}", style="bold")
    least = {(row["finding"], row["reason"]): row["least"] for row in body.get("chosen", ())}
    for _, rows in groupby(body["operations"], key=lambda row: [row[part] for part in _STEP]):
        page.line()
        _step(list(rows), page, body["log_dirs"], least)
    _losses(body.get("losses", ()), page)
    if healed:
        page.line()
        page.line("the next start heals this itself; --tidy plans it too", "bold")
    for rule, places in groupby(sorted(healed, key=_by_rule), key=_by_rule):
        page.wrapped(f"{rule}: {_places(list(places))}", indent="  ", hanging="    ")
    if refused:
        page.line()
        page.line("not repaired by this plan", "bold")
    rows_by_words: dict[tuple[str, str], list[Row]] = {}
    for row in refused:
        rows_by_words.setdefault((f"{row['severity']} {row['finding']}", str(row["why"])), []).append(row)
    for (rule, why), same in rows_by_words.items():
        page.wrapped(f"{rule} {_places(same)}: {why}", indent="  ", hanging="    ")


def _reverted(body: Any, page: Page) -> None:
    """Write a plan that was undone: what each step was for, and what became of its files."""
    page.wrapped(f"undo: {counted(len(body['operations']), 'operation')}", style="bold")
    for _, rows in groupby(body["operations"], key=lambda row: [row[part] for part in _STEP]):
        page.line()
        for number, row in enumerate(rows):
            if not number:
                page.wrapped(_title(row), hanging="  ", style="bold")
            done = ("removed" if row["before"] is None else "restored") if row["changed"] else "already as before"
            page.wrapped(f"{cell(_short(str(row['path']), body['log_dirs']))}: {done}", indent="  ", hanging="    ")


def _title(row: Row) -> str:
    """Return which finding a step is about, and what it does."""
    return f"{row['finding']}: {row['reason']}" if row["finding"] else str(row["reason"])


def _losses(losses: Any, page: Page) -> None:
    """Write what partitions lose without the plan and with it; those of which it saves most come first."""
    if not losses:
        return
    page.line()
    page.line("lost at the next start", "bold")
    rows = sorted(losses, key=lambda row: -row["saved"])
    for row in rows[:_PLACE_COUNT]:
        without, with_plan = row["start_loses"], row["plan_loses"]
        if without == with_plan:
            words = f"{_lost(without)} with or without this plan"
        else:
            words = f"{_lost(without)} without this plan, {_lost(with_plan)} with it"
        saved = f": it saves {counted(row['saved'], 'record')}" if row["saved"] else ""
        page.wrapped(f"{cell(row['dir'])}: {words}{saved}", indent="  ", hanging="    ", style="bold red")
    if rows[_PLACE_COUNT:]:
        page.line(f"  and {counted(len(rows) - _PLACE_COUNT, 'more partition')}")


def _lost(lost: Row | None) -> str:
    if lost is None:
        return "no record"
    return lost_words(loss_of(lost))


def _places(rows: Sequence[Row]) -> str:
    """Return the first places in words, and how many more there are."""
    return some_of([*map(_place, rows[:_PLACE_COUNT])], count=len(rows))


def _place(row: Row) -> str:
    return "/".join(str(row[part]) for part in ("log_dir", "dir", "file") if row[part] is not None)


def _by_rule(row: Row) -> str:
    return str(row["finding"])


def summary(report: Report, page: Page) -> None:
    """Write the plan in brief, for somebody who decides: its reasons, each with some of its files and losses."""
    body: Any = report.body
    rows_by_reason: dict[tuple[object, object], list[Row]] = {}
    for row in body["operations"]:
        rows_by_reason.setdefault((row["finding"], row["reason"]), []).append(row)
    for rows in rows_by_reason.values():
        page.wrapped(_title(rows[0]), hanging="  ")
        _some([_words(row, body["log_dirs"]) for row in rows], page, "operations")
        _some([f"loses {loss_text(row['loses'])}" for row in rows if row["loses"]], page, "losses")  # type: ignore[arg-type]  # a row of a plan
    page.wrapped(f"{counted(len(body['operations']), 'operation')} in {', '.join(body['log_dirs'])}.")


def _some(lines: list[str], page: Page, what: str) -> None:
    for line in lines[:_SHOWN_COUNT]:
        page.wrapped(line, indent="  ", hanging="    ")
    if lines[_SHOWN_COUNT:]:
        page.line(f"  and {len(lines) - _SHOWN_COUNT} more {what}")


def _words(row: Row, log_dirs: tuple[str, ...]) -> str:
    """Return an operation in a line."""
    to = f" to {cell(row['to'])}" if "to" in row else ""
    return f"{_VERBS[str(row['op'])]} {cell(_short(str(row['path']), log_dirs))}{to} ({_sizes(row)})"


def _step(rows: list[Row], page: Page, log_dirs: tuple[str, ...], least: dict[tuple[str, str], str]) -> None:
    first = rows[0]
    page.wrapped(_title(first), hanging="  ", style="bold")
    for row in rows:
        done = "" if "changed" not in row else ": changed" if row["changed"] else ": already applied"
        page.wrapped(_words(row, log_dirs) + done, indent="  ", hanging="    ")
    facts = [("proof", words) for words in _proofs(first["evidence"])]
    facts += [("now", str(first["broker_now"]))] if first["broker_now"] else []
    why = least.get((str(first["finding"]), str(first["reason"])))
    facts += [("least", f"without this step: {why}")] if why else []
    facts += [("then", str(first["broker_after"]))] if first["broker_after"] else []
    for name, words in facts:
        page.wrapped(f"{name:<5}  {words}", indent="    ", hanging="           ")
    lost: Any = next((row["loses"] for row in rows if row["loses"]), None)
    if lost is not None:
        name, words = ("moves", _for_the_cluster(lost)) if lost.get("held") else ("loses", _on_this_disk(lost))
        page.wrapped(f"{name}  {words}", indent="    ", hanging="           ", style="bold red")


def _for_the_cluster(lost: Row) -> str:
    return f"{loss_text(lost)}, out of this disk; the cluster loses no committed record: {lost['held']}"


def _on_this_disk(lost: Row) -> str:
    return f"{loss_text(lost)}, on this disk; other replicas were not compared"


def _short(path: str, log_dirs: tuple[str, ...]) -> str:
    """Return a path relative to its log dir; with several log dirs it begins with the log dir's name."""
    log_dir = next(candidate for candidate in log_dirs if path.startswith(f"{candidate}/"))
    return path[len(log_dir) + 1 :] if len(log_dirs) == 1 else path[len(log_dir.rpartition("/")[0]) + 1 :]


def _sizes(row: Row) -> str:
    before, after = (None if row[name] is None else row[name]["size"] for name in ("before", "after"))  # type: ignore[index]  # a row of a plan
    if before is None:
        return f"new, {size(after)}"
    return size(before) if after is None else f"{size(before)} to {size(after)}"


def _proofs(evidence: Any) -> Iterator[str]:
    """Yield the proofs of a step; evidence in an unknown form (a plan written by hand) is written as JSON."""
    more = None if evidence is None else evidence.get("more")
    for proof in () if evidence is None else (evidence, *(more if isinstance(more, list) else ())):
        if not isinstance(proof, dict) or not {"file", "position", "crc_verified", "what"} <= proof.keys():
            yield json.dumps(proof)
            continue
        at = "" if proof["position"] is None else f", position {proof['position']}"
        crc = ", CRC verified" if proof["crc_verified"] else ""
        yield f"{proof['file']}{at}{crc}: {proof['what']}"
