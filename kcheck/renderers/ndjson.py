"""One JSON object a line, each with its kind: the same objects as in the document."""

import json
from typing import TextIO

from kcheck.model.report import Report, finding_row
from kcheck.renderers._contract import Options, Renderer
from kcheck.renderers.json import head


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write a line for the run, one for every row, one for every finding, and one for the summary."""
    del options
    lists = {name: value for name, value in report.body.items() if isinstance(value, tuple)}
    single = {name: value for name, value in report.body.items() if name not in lists}
    _line({"kind": "run", **head(report), **single}, stream)
    for name, rows in lists.items():
        kind = (report.kinds or {}).get(name, name)
        for row in rows:
            _line({"kind": kind, **row}, stream)
    for finding in report.findings:
        _line({"kind": "finding", **finding_row(finding)}, stream)
    _line({"kind": "summary", **report.summary()}, stream)


def _line(row: dict[str, object], stream: TextIO) -> None:
    stream.write(json.dumps(row) + "\n")


RENDERER = Renderer(name="ndjson", render=render)
