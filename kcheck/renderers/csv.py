"""Comma-separated values (RFC 4180), where the answer is one table."""

import csv
import json
from collections.abc import Iterator, Mapping
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
        writer.writerow({key: _field(value) for key, value in row.items() if key in report.columns})


def _field(value: object) -> object:
    """Return a value that fits into a field: rows and lists in it are JSON."""
    if isinstance(value, (tuple, Mapping)):
        value = json.dumps(value)
    return printable(value) if isinstance(value, str) else value


def _rows(report: Report) -> Iterator[Row]:
    """Yield the rows of the table; one that stands in the rows of others (`files.batches`) tells their path too."""
    outer, *inner = (report.table or "").split(".")
    rows: Any = report.body[outer]
    around = tuple(name for name in report.columns if name == "path")
    for row in rows:
        yield from _within(row, inner, around)


def _within(row: Row, inner: list[str], around: tuple[str, ...]) -> Iterator[Row]:
    if not inner:
        yield row
        return
    parts: Any = row[inner[0]]
    for part in parts:
        yield from _within({**{name: row[name] for name in around}, **part}, inner[1:], around)


RENDERER = Renderer(name="csv", render=render, one_table=True)
