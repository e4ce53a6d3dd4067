"""The answers look as they looked: golden files that `python -m tests.renderers.golden` writes anew."""

import csv
import io
import json

import pytest

from tests.renderers.golden import GOLDEN, log_dirs, made, names


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
