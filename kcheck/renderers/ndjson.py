"""One JSON object per line, each with its kind. These are the objects of the JSON document, streamed."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import TextIO

from kcheck.documents.answer import head
from kcheck.documents.blocks import Made, nested, objects, pieces
from kcheck.model.report import Report, Row, Rows, finding_row
from kcheck.renderers._contract import Renderer
from kcheck.renderers._next_command import next_command
from kcheck.screen.options import Options


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write a line for the run, one per row, one per finding, and one for the summary.

    A row that holds other rows (a log dir its partitions) is written without them; their lines follow.
    """
    del options
    _rows("run", {**head(report), **report.body}, report.kinds, stream)
    for finding in report.findings():
        _line({"kind": "finding", **finding_row(finding)}, stream)
    last = {} if "next" in report.body else {"next": next_command(report)}
    _line({"kind": "summary", **report.summary(), **last}, stream)


def _rows(kind: str, row: Row, kinds: Mapping[str, str], stream: TextIO) -> None:
    inner = {name: part for name, part in row.items() if name in kinds and isinstance(part, (Iterator, tuple))}
    _line({"kind": kind, **{name: part for name, part in row.items() if name not in inner}}, stream)
    for name, parts in inner.items():
        if isinstance(parts, Rows):
            _blocks(kinds[name], parts, kinds, stream)
            continue
        for part in parts:
            _rows(kinds[name], part, kinds, stream)


def _blocks(kind: str, rows: Rows, kinds: Mapping[str, str], stream: TextIO) -> None:
    """Write rows that come in blocks."""
    inner = Made(objects)
    for block in rows.blocks:
        parts = nested(block)
        for number, text in enumerate(objects(block)):
            stream.write(_tagged(kind, text))
            for name, column in parts.items():
                stream.writelines(map(partial(_tagged, kinds[name]), inner.of(column[number])))


def _tagged(kind: str, text: str) -> str:
    return f'{{"kind": "{kind}", {text[1:]}\n'


def _line(row: Row, stream: TextIO) -> None:
    stream.writelines(chain(pieces(row), ("\n",)))


RENDERER = Renderer(name="ndjson", render=render)
