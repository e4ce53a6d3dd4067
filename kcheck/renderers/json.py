"""One JSON document per run."""

import json
from typing import TextIO

from kcheck import __version__
from kcheck.model.report import Report, Row, finding_row
from kcheck.renderers._contract import Options, Renderer


def head(report: Report) -> dict[str, object]:
    """Return the fields that every document begins with."""
    return {"schema": f"kcheck.{report.verb}/1", "kcheck": __version__, "kafka": report.kafka}


def render(report: Report, stream: TextIO, options: Options) -> None:
    """Write the document; a list of rows is written row by row, so that a large one is never one string."""
    del options
    findings = tuple(finding_row(finding) for finding in report.findings)
    fields = {**head(report), **report.body, "findings": findings, "summary": report.summary()}
    separator = "{"
    for name, value in fields.items():
        stream.write(f"{separator}\n {json.dumps(name)}: ")
        separator = ","
        if isinstance(value, tuple) and value:
            _write_rows(value, stream)
        else:
            stream.write(json.dumps(value))
    stream.write("\n}\n")


def _write_rows(rows: tuple[Row, ...], stream: TextIO) -> None:
    separator = "["
    for row in rows:
        stream.write(f"{separator}\n  {json.dumps(row)}")
        separator = ","
    stream.write("\n ]")


RENDERER = Renderer(name="json", render=render)
