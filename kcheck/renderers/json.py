"""One JSON document per run."""

import json
from collections.abc import Iterator, Mapping
from typing import TextIO

from kcheck import __version__
from kcheck.model.report import Report, finding_row
from kcheck.renderers._contract import Options, Renderer


def head(report: Report) -> dict[str, object]:
    """Return the fields that every document begins with."""
    return {"schema": f"kcheck.{report.verb}/1", "kcheck": __version__, "kafka": report.kafka}


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write the document; iterators are written row by row, so that a large answer is never whole in memory."""
    del options
    separator = "{"
    for name, value in {**head(report), **report.body}.items():
        stream.write(f"{separator}\n {json.dumps(name)}: ")
        _write(value, stream)
        separator = ","
    # The findings are complete only now.
    stream.write(',\n "findings": ')
    _write(map(finding_row, report.findings()), stream)
    stream.write(f',\n "summary": {json.dumps(report.summary())}\n}}\n')


def _write(value: object, stream: TextIO) -> None:
    if isinstance(value, (Iterator, tuple)):
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
        stream.write(json.dumps(value))


RENDERER = Renderer(name="json", render=render)
