"""One JSON document per run."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TextIO

from kcheck.documents.answer import head
from kcheck.documents.blocks import Made, nested, objects, pieces
from kcheck.model.report import Report, Rows, finding_row
from kcheck.renderers._contract import Renderer
from kcheck.renderers._next_command import next_command
from kcheck.screen.options import Options

_JSON = (str, bool, int, float)
"""The types of values that JSON has as they are. Enums are texts or numbers of a subclass."""


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write the document row by row, so that a large answer does not fill memory."""
    del options
    separator = "{"
    for name, value in _fields(report):
        stream.write(f"{separator}\n {json.dumps(name)}: ")
        _write(value, stream)
        separator = ","
    stream.write("\n}\n")


def document(report: Report) -> dict[str, object]:
    """Return the document as plain values, equal to the parsed text."""
    return {name: _plain(value) for name, value in _fields(report)}


def _fields(report: Report) -> Iterator[tuple[str, object]]:
    """Yield the fields of the document. Findings are complete only after the rows have been read."""
    yield from {**head(report), **report.body}.items()
    yield "findings", map(finding_row, report.findings())
    yield "summary", report.summary()
    if "next" not in report.body:
        yield "next", next_command(report)


def _plain(value: object) -> object:
    """Return a value in the types of JSON; rows are read to their end."""
    if value is None or type(value) in _JSON:
        return value
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (str, int)):
        return str(value) if isinstance(value, str) else int(value)
    assert isinstance(value, Iterable)
    return [*map(_plain, value)]


def _write(value: object, stream: TextIO) -> None:
    if isinstance(value, Rows):
        _write_blocks(value, stream)
    elif isinstance(value, (Iterator, tuple)):
        separator = "["
        for row in value:
            stream.write(f"{separator}\n  ")
            _write(row, stream)
            separator = ","
        stream.write("[]" if separator == "[" else "\n ]")
    elif isinstance(value, Mapping) and any(isinstance(part, Iterator) for part in value.values()):
        separator = "{"
        for name, part in value.items():
            stream.write(f"{separator}{json.dumps(name)}: ")
            _write(part, stream)
            separator = ", "
        stream.write("}")
    else:
        stream.writelines(pieces(value))


def _write_blocks(rows: Rows, stream: TextIO) -> None:
    """Write rows that come in blocks."""
    inner = Made(objects)
    separator = "["
    for block in rows.blocks:
        parts = nested(block)
        for number, text in enumerate(objects(block)):
            stream.write(f"{separator}\n  {text[:-1] if parts else text}")
            separator = ","
            for name, column in parts.items():
                texts = inner.of(column[number])
                first = next(texts, None)
                stream.write(f", {json.dumps(name)}: " + ("[]" if first is None else f"[\n  {first}"))
                stream.writelines(map(",\n  ".__add__, texts))
                stream.write("" if first is None else "\n ]")
            if parts:
                stream.write("}")
    stream.write("[]" if separator == "[" else "\n ]")


RENDERER = Renderer(name="json", render=render)
