"""Comma-separated values (RFC 4180), where the answer is one table."""

import csv
from typing import Any, TextIO

from kcheck.errors import UsageError
from kcheck.model.report import Report
from kcheck.renderers._contract import Options, Renderer
from kcheck.renderers._printable import printable


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write a header line and a line for every row; an unknown value is an empty field, and no text moves a cursor.

    UsageError where the answer is more than one table.
    """
    del options
    if report.table is None:
        raise UsageError(f"--format csv: the answer of {report.verb} is not one table; use json or ndjson")
    rows: Any = report.body[report.table]
    writer = csv.DictWriter(stream, fieldnames=report.columns, lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: printable(value) if isinstance(value, str) else value for key, value in row.items()})


RENDERER = Renderer(name="csv", render=render)
