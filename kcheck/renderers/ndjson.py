"""One JSON object a line, each with its kind: the same objects as in the document, streamed."""

import json
from collections.abc import Iterator, Mapping
from typing import TextIO

from kcheck.model.report import Report, Row, finding_row
from kcheck.renderers._contract import Options, Renderer
from kcheck.renderers.json import head


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write a line for the run, one for every row, one for every finding, and one for the summary.

    A row that holds an iterator of rows (the partitions of a log dir) is a line without them; theirs follow.
    """
    del options
    _rows("run", {**head(report), **report.body}, report.kinds, stream)
    for finding in report.findings():
        _line({"kind": "finding", **finding_row(finding)}, stream)
    _line({"kind": "summary", **report.summary()}, stream)


def _rows(kind: str, row: Row, kinds: Mapping[str, str], stream: TextIO) -> None:
    nested = {name: part for name, part in row.items() if name in kinds and isinstance(part, (Iterator, tuple))}
    _line({"kind": kind, **{name: part for name, part in row.items() if name not in nested}}, stream)
    for name, parts in nested.items():
        for part in parts:
            _rows(kinds[name], part, kinds, stream)


def _line(row: Row, stream: TextIO) -> None:
    stream.write(json.dumps(row) + "\n")


RENDERER = Renderer(name="ndjson", render=render)
