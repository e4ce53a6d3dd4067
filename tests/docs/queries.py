"""The queries of docs/queries.md, and their answers for a real run: a block `sql`, and below it a block `text`."""

import contextlib
import io
import re
import tempfile
from collections.abc import Iterator
from unittest import mock

import duckdb

from kcheck.cli.app import main
from kcheck.fleet.run import open_runs
from kcheck.fleet.runs.sql import views
from tests.docs.examples import ROOT

PAGE = "docs/queries.md"
COMMAND = (
    "fleet", "scan", "fixtures/brokers/4.3.1/{cluster}/{broker}/{log_dir}", "--depth", "headers", "--run", "r",
    "--output-dir",
)  # fmt: skip
_QUERY = re.compile(r"^```sql\n(.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def queries(text: str) -> list[tuple[str, str]]:
    """Return every query of the page, and the answer below it."""
    return _QUERY.findall(text)


@contextlib.contextmanager
def scanned() -> Iterator[str]:
    """Give a run of real brokers."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(ROOT):
        with (
            contextlib.redirect_stdout(io.StringIO()),
            mock.patch("sys.argv", ["kcheck", *COMMAND, folder, "--quiet", "--fail-on", "fatal"]),
            contextlib.suppress(SystemExit),
        ):
            main()
        yield f"{folder}/run=r"


def answer(query: str, run: str) -> str:
    """Return the answer as lines of columns, by the views of the run; what is not known is empty."""
    connection = duckdb.connect()
    connection.execute("\n".join(views("duckdb", open_runs([run]))))
    found = connection.execute(query)
    names = [column[0] for column in found.description or ()]
    rows = [names, *(["" if value is None else str(value) for value in row] for row in found.fetchall())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "".join(line + "\n" for line in lines)


def with_current_answers(text: str) -> str:
    """Return the page with the answers made anew."""
    with scanned() as run:
        return _QUERY.sub(lambda found: f"```sql\n{found[1]}```\n\n```text\n{answer(found[1], run)}```", text)
