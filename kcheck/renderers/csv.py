"""Comma-separated values (RFC 4180), for answers that are one table."""

import csv
from typing import TextIO

from kcheck.documents.table import rows
from kcheck.model.report import Report
from kcheck.renderers._contract import Renderer
from kcheck.screen.options import Options
from kcheck.screen.printable import printable


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write a header line and a line per row; unknown values are empty, unprintable characters escaped."""
    del options
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow([column.name for column in report.columns])
    writer.writerows(rows(report, printable))


RENDERER = Renderer(name="csv", render=render, one_table=True)
