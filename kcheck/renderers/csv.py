"""Comma-separated values (RFC 4180), where the answer is one table."""

import csv
from typing import Any, TextIO

from kcheck.model.report import Report
from kcheck.renderers._contract import Options, Renderer
from kcheck.renderers._printable import printable


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write a header line and a line for every row; an unknown value is an empty field, and no text moves a cursor."""
    del options
    assert report.table is not None
    rows: Any = report.body[report.table]
    writer = csv.DictWriter(stream, fieldnames=report.columns, lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: printable(value) if isinstance(value, str) else value for key, value in row.items()})


RENDERER = Renderer(name="csv", render=render, one_table=True)
