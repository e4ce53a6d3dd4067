"""The report or the findings of a fleet, an election or a history, as one self-contained HTML page."""

from typing import TextIO

from kcheck.model.report import Report
from kcheck.renderers._contract import Renderer
from kcheck.renderers._html.election import election_page
from kcheck.renderers._html.finding_history import finding_history_page
from kcheck.renderers._html.history import history_page
from kcheck.renderers._html.page import page
from kcheck.screen.options import Options

_PAGES = {"fleet-report": page, "fleet-history": finding_history_page, "elect": election_page, "simulate": history_page}


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write the page."""
    del options
    stream.writelines(_PAGES[report.verb](report))


RENDERER = Renderer(name="html", render=render, verbs=tuple(_PAGES))
