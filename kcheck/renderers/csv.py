"""Comma-separated values (RFC 4180), where the answer is one table."""

import csv
from typing import TextIO

from kcheck.documents.table import rows
from kcheck.model.report import Report
from kcheck.renderers._contract import Options, Renderer
from kcheck.renderers._printable import printable


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write a header line and a line for every row; an unknown value is an empty field, and no text moves a cursor."""
    del options
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow([column.name for column in report.columns])
    writer.writerows(rows(report, printable))


RENDERER = Renderer(name="csv", render=render, one_table=True)
