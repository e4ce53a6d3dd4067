"""The layout of a plan that was carried out or taken back: each operation, what became of it, why it was there."""

import json
from typing import Any

from kcheck.model.report import Report, Row
from kcheck.renderers._page import Page, plural, size


def plan(report: Report, page: Page) -> None:
    """Write the operations in their order, each with its reasons."""
    operations: Any = report.body["operations"]
    page.line(f"a plan for Kafka {report.kafka}: {plural(len(operations), 'operation')}", "bold")
    for row in operations:
        page.line()
        _operation(row, page)


def _operation(row: Row, page: Page) -> None:
    done = "changed" if row["changed"] else "as it should be"
    to = f" to {row['to']}" if "to" in row else ""
    page.wrapped(f"{row['op']} {row['path']}{to} ({_sizes(row)}): {done}", hanging="  ")
    finding = f"{row['finding']}: " if row["finding"] else ""
    page.wrapped(f"{finding}{row['reason']}", indent="  ", hanging="    ")
    for name, title in (("broker_now", "without it"), ("broker_after", "with it")):
        if row[name]:
            page.wrapped(f"{title}: {row[name]}", indent="  ", hanging="    ")
    if row["loses"]:
        page.wrapped(f"loses: {json.dumps(row['loses'])}", indent="  ", hanging="    ")


def _sizes(row: Row) -> str:
    before, after = (None if row[name] is None else row[name]["size"] for name in ("before", "after"))  # type: ignore[index]  # a row of a plan
    if before is None:
        return f"new, {size(after)}"
    return size(before) if after in (None, before) else f"{size(before)} to {size(after)}"
