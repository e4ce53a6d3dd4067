"""The report or the findings of a fleet, an election or a history, as one self-contained HTML page."""

from collections.abc import Iterator
from typing import TextIO

from kcheck.model.report import Report
from kcheck.renderers._contract import Renderer
from kcheck.screen.options import Options


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write the page."""
    del options
    stream.writelines(_PAGES[report.verb](report))


def _fleet_report(report: Report) -> Iterator[str]:
    from kcheck.renderers._html.page import page

    return page(report)


def _fleet_history(report: Report) -> Iterator[str]:
    from kcheck.renderers._html.finding_history import finding_history_page

    return finding_history_page(report)


def _election(report: Report) -> Iterator[str]:
    from kcheck.renderers._html.election import election_page

    return election_page(report)


def _simulation(report: Report) -> Iterator[str]:
    from kcheck.renderers._html.history import history_page

    return history_page(report)


_PAGES = {
    "fleet-report": _fleet_report, "fleet-history": _fleet_history, "elect": _election, "simulate": _simulation,
}  # fmt: skip
"""The page of each verb; each imports its own parts."""

RENDERER = Renderer(name="html", render=render, verbs=tuple(_PAGES))
