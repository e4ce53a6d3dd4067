"""Comma-separated values (RFC 4180), where the answer is one table."""

import csv
from collections.abc import Iterator
from typing import Any, TextIO

from kcheck.model.report import Report, Row
from kcheck.renderers._contract import Options, Renderer
from kcheck.renderers._printable import printable


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write a header line and a line for every row; an unknown value is an empty field, and no text moves a cursor."""
    del options
    assert report.table is not None
    writer = csv.DictWriter(stream, fieldnames=report.columns, lineterminator="\r\n")
    writer.writeheader()
    for row in _rows(report):
        writer.writerow({key: printable(value) if isinstance(value, str) else value for key, value in row.items()})


def _rows(report: Report) -> Iterator[Row]:
    """Yield the rows of the table; one that stands in the rows of another (`files.batches`) has their columns too."""
    outer, _, inner = (report.table or "").partition(".")
    rows: Any = report.body[outer]
    for row in rows:
        if not inner:
            yield row
            continue
        around = {name: row[name] for name in report.columns if name == "path"}
        for part in row[inner]:
            yield {**around, **part}


RENDERER = Renderer(name="csv", render=render, one_table=True)
