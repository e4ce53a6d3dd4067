"""The layout of a plan: an operation, why it is there, what it loses, what the broker does without and with it."""

import json
from typing import Any

from kcheck.model.report import Report, Row
from kcheck.renderers._page import Page


def plan(report: Report, page: Page) -> None:
    """Write the operations in their order, each with its reasons."""
    operations: Any = report.body["operations"]
    page.line(f"Plan for Kafka {report.kafka}, {len(operations)} operations", "bold")
    for row in operations:
        page.line()
        _operation(row, page)


def _operation(row: Row, page: Page) -> None:
    done = {True: "   changed", False: "   as it should be", None: ""}[row.get("changed")]  # type: ignore[index]
    to = f" to {row['to']}" if "to" in row else ""
    page.wrapped(f"{row['op']} {row['path']}{to}: {_sizes(row)}{done}", hanging="  ")
    finding = f"{row['finding']}: " if row["finding"] else ""
    page.wrapped(f"{finding}{row['reason']}", indent="  ", hanging="    ")
    for name, title in (("broker_now", "without it"), ("broker_after", "with it")):
        if row[name]:
            page.wrapped(f"{title}: {row[name]}", indent="  ", hanging="    ")
    for name in ("evidence", "loses"):
        if row[name]:
            page.wrapped(f"{name}: {json.dumps(row[name])}", indent="  ", hanging="    ")


def _sizes(row: Row) -> str:
    before, after = (None if row[name] is None else row[name]["size"] for name in ("before", "after"))  # type: ignore[index]
    if before is None:
        return f"new, {after} bytes"
    return f"{before} bytes" if after in (None, before) else f"{before} → {after} bytes"
