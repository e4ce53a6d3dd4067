"""The layout of `kcheck verify`: the verdict, what differs, what is not known, and how much went as planned."""

from collections.abc import Mapping
from typing import Any

from kcheck.model.report import Report
from kcheck.renderers._text_truncation import row_name
from kcheck.screen.page import Page
from kcheck.words import counted

_SHOWN_COUNT = 5
_HEADINGS: Mapping[str, str] = {
    "records": "Saved records",
    "leader": "Leaders",
    "topic": "Topics",
    "leader-epoch": "Leader epochs",
    "log-end": "Log ends",
    "truncation": "Followers",
    "broker": "Brokers to start",
    "replicas": "Replicas to restore",
    "isr": "Replicas to wait for",
    "config": "Configuration to set back",
    "stray": "Directories to look at, then remove",
}
"""What steps are called, the worst first."""


def verify(report: Report, page: Page) -> None:
    """Write what differs from the plan."""
    body: Any = report.body
    steps: list[Any] = list(body["steps"])
    page.wrapped(body["verdict"], style="bold")
    differs = [step for step in steps if step["ok"] is False]
    _groups(differs, page)
    unknown = [step for step in steps if step["ok"] is None]
    if unknown:
        page.line()
        page.line("Not known:", "yellow")
        _groups(unknown, page)
    good = len(steps) - len(differs) - len(unknown)
    if (differs or unknown) and good:
        page.line()
        page.line(f"{counted(good, 'step')} as planned.")
    worst = next((step for kind in _HEADINGS for step in differs if step["kind"] == kind and step["topic"]), None)
    page.line()
    if worst is None:
        page.wrapped("kcheck check PATH... looks for damage in the same directories.")
    else:
        name = row_name(worst)
        page.wrapped(f"kcheck elect BROKER=PATH... --partition {name} shows that partition in full.")


def _groups(steps: list[Any], page: Page) -> None:
    for kind, heading in _HEADINGS.items():
        rows = [step for step in steps if step["kind"] == kind]
        if not rows:
            continue
        page.line()
        page.line(heading, "bold")
        for step in rows if page.every else rows[:_SHOWN_COUNT]:
            name = "" if step["topic"] is None else f"{row_name(step)}: "
            page.wrapped(f"{name}{step['expected']}; seen: {step['seen']}", indent="  ", hanging="    ")
        if len(rows) > _SHOWN_COUNT and not page.every:
            page.line(f"  {len(rows) - _SHOWN_COUNT} more; --all lists them")
