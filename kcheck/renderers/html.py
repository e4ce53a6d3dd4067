"""The report of a fleet as one self-contained HTML page."""

from typing import TextIO

from kcheck.model.report import Report
from kcheck.renderers._contract import Options, Renderer
from kcheck.renderers._html.page import page


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write the page."""
    del options
    stream.writelines(page(report))


RENDERER = Renderer(name="html", render=render, verbs=("fleet-report",))
