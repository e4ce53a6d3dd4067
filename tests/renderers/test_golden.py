"""The answers look as they looked: golden files that `python -m tests.renderers.golden` writes anew."""

import csv
import io
import json
import shlex

import pytest

from tests.cli.command import kcheck
from tests.renderers.golden import BEFORE, GOLDEN, log_dirs, made, names


@pytest.mark.parametrize("name", names())
def test_an_answer_looks_as_it_looked(name: str) -> None:
    """Byte for byte, in every style and at both widths."""
    with log_dirs():
        found = made(name)
    assert (GOLDEN / name).read_bytes() == found


def test_every_golden_file_is_held() -> None:
    """None is left of an answer that is gone."""
    assert sorted(names()) == sorted(path.name for path in GOLDEN.iterdir())


def test_the_documents_are_json() -> None:
    for path in GOLDEN.glob("*.json"):
        assert json.loads(path.read_text("utf-8"))["schema"].startswith("kcheck.")
    for path in GOLDEN.glob("*.ndjson"):
        assert all("kind" in json.loads(line) for line in path.read_text("utf-8").splitlines())


def test_a_document_names_the_command_of_the_screen() -> None:
    for path in GOLDEN.glob("*.json"):
        document = json.loads(path.read_text("utf-8"))
        assert shlex.split(document["next"] or "") == _next(f"{path.stem}.80.txt"), path.name
        *_, last = (GOLDEN / f"{path.stem}.ndjson").read_text("utf-8").splitlines()
        assert json.loads(last).get("next", document["next"]) == document["next"]


def test_the_tables_are_csv() -> None:
    for path in GOLDEN.glob("*.csv"):
        header, *rows = csv.reader(io.StringIO(path.read_bytes().decode()))
        assert {len(header)} == {len(row) for row in rows}


@pytest.mark.parametrize("width", [80, 120])
def test_the_pages_fit(width: int) -> None:
    for path in GOLDEN.glob(f"*.{width}.txt"):
        lines = path.read_text("utf-8").splitlines()
        # A command to type is never wrapped.
        assert max(len(line) for line in lines if not line.lstrip().startswith(("bin/", "kcheck "))) <= width


def _next(name: str) -> list[str]:
    """Return the words of the command that a golden screen ends with."""
    *_, title, command = ["", *(GOLDEN / name).read_text("utf-8").splitlines()]
    return shlex.split(command) if title == "Next:" else []


def test_every_next_command_runs() -> None:
    """No command that a screen ends with is a usage error, once the user has named a directory."""
    commands = {line for name in names() if name.endswith(".80.txt") and (line := tuple(_next(name)))}
    assert len(commands) > 12
    with log_dirs():
        for name in BEFORE:
            made(f"{name}.80.txt")
        codes = {
            command: kcheck(*(f"out{at}" if word == "DIR" else word for word in command[1:])).code
            for at, command in enumerate(commands)
        }
    assert {} == {command: code for command, code in codes.items() if code not in (0, 1, 3)}
