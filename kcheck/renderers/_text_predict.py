"""The layout of `kcheck predict`: the verdict on each log dir, then the partitions that the start changes."""

from typing import Any

from kcheck.model.report import Report, Row
from kcheck.screen.page import Page, cell, loss_text, size
from kcheck.words import agree, counted, some_of

_STYLES = {"ok": None, "repaired": "yellow", "lost": "bold red", "stray": "red", "offline": "bold red"}
_FILE_COUNT = 12
"""Number of file names shown of each kind."""
_NAME_COUNT = 3
"""Number of partitions named of those with the same reason."""


def predict(report: Report, page: Page) -> None:
    """Write the prediction for each log dir."""
    body: Any = report.body
    page.line(f"next start of Kafka {report.kafka}", "bold")
    for row in body["log_dirs"]:
        page.line()
        verdicts([row], page)
        _log_dir(row, page)


def preflight(report: Report, page: Page) -> None:
    """Write whether the broker may start, then a line for each reason against it."""
    body: Any = report.body
    good = body["may_start"]
    page.line("may start" if good else "should not start", "bold" if good else "bold red")
    for row in body["reasons"]:
        place = "/".join(row[part] for part in ("log_dir", "dir") if row[part] is not None)
        allowed = " (allowed)" if row["allowed"] else ""
        page.wrapped(f"{row['kind']}{allowed} {place}{': ' if place else ''}{row['why']}", indent="  ", hanging="    ")
    if body["unresolved"]:
        page.wrapped(f"from config providers, not resolved: {', '.join(body['unresolved'])}", hanging="    ")


_MODES = {"kraft": "KRaft", "zk": "ZooKeeper"}


def verdicts(rows: Any, page: Page) -> None:
    """Write the verdict on each log dir, and its reasons."""
    for row in rows:
        broker = "" if row["broker_id"] is None else f"   broker {row['broker_id']}"
        good = row["verdict"] == "will boot"
        page.wrapped(
            f"{cell(row['path'])}{broker}: {row['verdict']}", hanging="    ", style="bold" if good else "bold red"
        )
        for reason in row["reasons"]:
            page.wrapped(str(reason), indent="  ", hanging="    ", style="red")


def worst_partitions(row: Row, page: Page) -> None:
    """Write why the verdict on a log dir is not a good one: each partition that loses, others by what they share."""
    rows: Any = row["partitions"]
    reasons: Any = row["reasons"]
    same: dict[tuple[str, str], list[str]] = {}
    for partition in rows:
        reason = str(partition["reason"] or "").split("; ")[0]
        if partition["lost"]:
            page.wrapped(
                f"{cell(partition['dir'])} loses {loss_text(partition['lost'])}: {reason}", indent="  ", hanging="    "
            )
        elif f"{partition['dir']}: {partition['reason']}" not in reasons:
            same.setdefault((str(partition["outcome"]), reason), []).append(str(partition["dir"]))
    for (outcome, reason), names in same.items():
        page.wrapped(f"{_first(names)}: {outcome}, {reason}", indent="  ", hanging="    ")


def _first(names: list[str]) -> str:
    return some_of([*map(cell, names[:_NAME_COUNT])], _NAME_COUNT, len(names))


def _log_dir(row: Row, page: Page) -> None:
    partitions: Any = row["partitions"]
    start = "after a clean shutdown" if row["clean_start"] else "after an unclean shutdown"
    facts = [
        start,
        _MODES[str(row["mode"])],
        counted(len(partitions), "partition"),
        f"{size(row['scan_bytes'])} of segments to scan",
    ]
    page.wrapped(" · ".join(facts), indent="  ", hanging="    ")
    if row["uncertain"]:
        page.wrapped(f"Uncertain: {row['uncertain']}.", indent="  ", hanging="    ", style="yellow")
    if row["outcome"] == "offline":
        page.wrapped("The broker halts if it has no other log dir.", indent="  ")
    if row["next_start"] == "unclean":
        page.wrapped("The failed start removes .kafka_cleanshutdown, so the next start runs log recovery.", indent="  ")
    changed = [partition for partition in partitions if partition["outcome"] != "ok"]
    for partition in changed:
        _partition(partition, page)
    rest = len(partitions) - len(changed)
    if rest:
        page.wrapped(
            f"{counted(rest, 'partition')} {agree(rest, 'loads', 'load')} without losing records.", indent="  "
        )


def _partition(row: Row, page: Page) -> None:
    page.line(f"  {row['dir']}: {row['outcome']}", _STYLES.get(str(row["outcome"]), "bold red"))
    if row["reason"]:
        for reason in str(row["reason"]).split("; "):
            page.wrapped(reason, indent="    ", hanging="      ")
    if row["uncertain"]:
        page.wrapped(f"Uncertain: {row['uncertain']}.", indent="    ", hanging="      ", style="yellow")
    lost: Any = row["lost"]
    if lost:
        page.wrapped(f"LOST {loss_text(lost)}", indent="    ", hanging="      ", style="bold red")
    if row["log_end_offset"] is not None:
        offsets = (
            f"log start {row['log_start_offset']}, high watermark {row['high_watermark']}, log end"
            f" {row['log_end_offset']}, recovery point {row['recovery_point']}"
        )
        epochs: Any = row["leader_epochs"]
        entries = ", ".join(f"{entry['epoch']} @ {entry['start_offset']}" for entry in epochs) or "none"
        page.wrapped(f"{offsets}; epochs {entries}", indent="    ", hanging="      ")
    files: Any = row["files"]
    for word in ("created", "changed", "removed", "unknown"):
        if files[word]:
            page.wrapped(f"{word}: {_names(files[word])}", indent="    ", hanging="      ")
    if files["renamed"]:
        pairs = [f"{entry['from']} to {entry['to']}" for entry in files["renamed"]]
        page.wrapped(f"renamed: {_names(pairs)}", indent="    ", hanging="      ")


def _names(names: Any) -> str:
    return some_of([*map(cell, names[:_FILE_COUNT])], _FILE_COUNT, len(names))
