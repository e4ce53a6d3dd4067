"""The report or the findings of a fleet, an election or a history, as one self-contained HTML page."""

import importlib
from typing import TextIO

from kcheck.model.report import Report
from kcheck.renderers._contract import Renderer
from kcheck.screen.options import Options

_PAGES = {"fleet-report": "page", "fleet-history": "finding_history", "elect": "election", "simulate": "history"}
"""The module of the page of each verb."""


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write the page; imports its parts alone."""
    del options
    stream.writelines(importlib.import_module(f"kcheck.renderers._html.{_PAGES[report.verb]}").page(report))


RENDERER = Renderer(name="html", render=render, verbs=tuple(_PAGES))
