"""The rows of an answer that is one table."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kcheck.model.report import FINDINGS, Report, Row, finding_row


def rows(report: Report) -> Iterator[Row]:
    """Yield the rows of the table; one that stands in the rows of others (`files.batches`) tells their path too.

    Rows and lists in a field are JSON.
    """
    assert report.table is not None
    names = tuple(column.name for column in report.columns)
    if report.table == FINDINGS:
        found: Iterator[Row] = map(finding_row, report.findings())
    else:
        outer, *inner = report.table.split(".")
        found = _within(report.body[outer], inner, tuple(name for name in names if name == "path"))
    for row in found:
        yield {name: _field(row.get(name)) for name in names}


def _within(parts: Any, inner: list[str], around: tuple[str, ...]) -> Iterator[Row]:
    for part in parts:
        if not inner:
            yield part
            continue
        for row in _within(part[inner[0]], inner[1:], around):
            yield {**{name: part[name] for name in around if name in part}, **row}


def _field(value: object) -> object:
    return json.dumps(value) if isinstance(value, (tuple, Mapping)) else value
