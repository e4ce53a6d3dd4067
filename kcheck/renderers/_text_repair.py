"""The layout of `kcheck repair`: the plan, operation by operation, and what is not planned."""

from itertools import groupby
from typing import Any

from kcheck.model.report import Report, Row
from kcheck.renderers._page import Page, cell, plural, size

_VERBS = {"write": "write", "patch": "patch", "truncate": "cut", "rename": "rename", "set-aside": "move aside"}


def repair(report: Report, page: Page) -> None:
    """Write the answer."""
    body: Any = report.body
    page.wrapped(f"a plan for Kafka {report.kafka}: {plural(len(body['operations']), 'operation')}", style="bold")
    for (finding, reason), rows in groupby(body["operations"], key=lambda row: (row["finding"], row["reason"])):
        _step(str(finding), str(reason), list(rows), page, body["log_dirs"])
    if body["refused"]:
        page.line()
        page.line("not planned", "bold")
    for row in body["refused"]:
        place = "/".join(str(row[part]) for part in ("log_dir", "dir", "file") if row[part] is not None)
        page.wrapped(f"{row['severity']} {row['finding']} {place}: {row['why']}", indent="  ", hanging="    ")


def _step(finding: str, reason: str, rows: list[Row], page: Page, log_dirs: tuple[str, ...]) -> None:
    page.line()
    page.wrapped(f"{finding}: {reason}", hanging="  ", style="bold")
    for row in rows:
        before: Any = row["before"]
        after: Any = row["after"]
        sizes = f"{'new' if before is None else size(before['size'])}"
        sizes += "" if after is None else f" to {size(after['size'])}" if before else f", {size(after['size'])}"
        page.wrapped(
            f"{_VERBS[str(row['op'])]} {cell(_short(str(row['path']), log_dirs))} ({sizes})",
            indent="  ",
            hanging="    ",
        )
    first: Any = rows[0]
    proof: Any = first["evidence"]
    for each in (proof, *proof["more"]):
        at = "" if each["position"] is None else f", position {each['position']}"
        crc = ", CRC verified" if each["crc_verified"] else ""
        page.wrapped(f"proof  {each['file']}{at}{crc}: {each['what']}", indent="    ", hanging="           ")
    page.wrapped(f"now    {first['broker_now']}", indent="    ", hanging="           ")
    page.wrapped(f"then   {rows[-1]['broker_after']}", indent="    ", hanging="           ")
    losses = [row["loses"] for row in rows if row["loses"] is not None]
    if losses:
        page.wrapped(f"loses  {_lost(losses[0])}", indent="    ", hanging="           ", style="bold red")


def _short(path: str, log_dirs: tuple[str, ...]) -> str:
    """Return a path from its log dir on, with the last name of that where there are several."""
    log_dir = next(each for each in log_dirs if path.startswith(f"{each}/"))
    return path[len(log_dir) + 1 :] if len(log_dirs) == 1 else path[len(log_dir.rpartition("/")[0]) + 1 :]


def _lost(lost: Any) -> str:
    records = "an unknown number of records" if lost["records"] is None else plural(int(lost["records"]), "record")
    offsets = "" if lost["from"] is None or lost["to"] is None else f", offsets {lost['from']} to {lost['to'] - 1}"
    below = lost["below_high_watermark"]
    known = "" if below is None else f", {below} of them below the high watermark"
    held = "" if lost["held"] is None else f"; {lost['held']}"
    return f"{records}{offsets}, {size(lost['bytes'])}{known}{held}"
