"""Comma-separated values (RFC 4180), where the answer is one table."""

import csv
from typing import TextIO

from kcheck.model.report import Report
from kcheck.renderers._contract import Options, Renderer
from kcheck.renderers._printable import printable
from kcheck.renderers._table import rows


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write a header line and a line for every row; an unknown value is an empty field, and no text moves a cursor."""
    del options
    writer = csv.DictWriter(stream, [column.name for column in report.columns], lineterminator="\r\n")
    writer.writeheader()
    for row in rows(report):
        writer.writerow({key: printable(value) if isinstance(value, str) else value for key, value in row.items()})


RENDERER = Renderer(name="csv", render=render, one_table=True)
