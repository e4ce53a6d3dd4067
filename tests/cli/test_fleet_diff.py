"""`kcheck fleet diff` as it is typed: its formats, how it ends, what it says of runs that are not alike."""

import csv
import io
import json
from pathlib import Path

import pytest
from pyarrow import parquet

from kcheck.tables.changes import TABLE
from tests.cli.command import kcheck, shell
from tests.fleets import finding, forged

SHOWN = """\
fleet diff, Kafka 4.3 rules
before: run a in out/run=a, depth headers, Kafka 4.3 rules, ended 2023-11-14T22:14:21Z
after: run b in out/run=b, depth headers, Kafka 4.3 rules, ended 2023-11-14T22:14:21Z, incomplete

cluster c broker ?
  new: fatal KC202 a\\nb in /d/t-0/leader-epoch-checkpoint, line 3

cluster c broker 1
  changed: error KC101 is in /d/t-0/leader-epoch-checkpoint, line 3
    before: warning KC101 was
  gone: error KC201 it is wrong in /d/t-0/leader-epoch-checkpoint, line 3

1 new (1 fatal), 1 gone, 1 changed, 1 unchanged

Next:
  kcheck fleet report out/run=b
"""


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Write two runs that differ."""
    same = finding(id="KC213", severity="warning")
    old = [finding(), finding(id="KC101", severity="warning", message="was"), same]
    new = [finding(id="KC101", message="is"), finding(id="KC202", severity="fatal", message="a\nb", broker=None), same]
    forged(tmp_path / "out", "a", findings=old)
    forged(tmp_path / "out", "b", findings=new, finished=False)
    return tmp_path / "out"


def test_it_tells_the_differences(out: Path) -> None:
    """A place once, then what happened there; exit 1 because there is something new to fail on."""
    done = shell("fleet", "diff", "out/run=a", "out/run=b", cwd=out.parent)
    assert (1, "") == (done.code, done.err)
    assert SHOWN == done.out


def test_every_format_tells_the_same(out: Path) -> None:
    common = ("fleet", "diff", out / "run=a", out / "run=b", "--quiet")
    whole = json.loads(kcheck(*common, "--format", "json").out)
    assert ("kcheck.fleet-diff/1", False) == (whole["schema"], whole["after"]["finished"])
    lines = [json.loads(line) for line in kcheck(*common, "--format", "ndjson").out.splitlines()]
    assert ["run", *["change"] * 3, *["count"] * 5, "summary"] == [line["kind"] for line in lines]
    assert whole["changes"] == [{name: value for name, value in line.items() if name != "kind"} for line in lines[1:4]]
    assert {"kind": "summary", "info": 0, "warning": 0, "error": 0, "fatal": 1, "next": whole["next"]} == lines[-1]
    rows = [*csv.DictReader(io.StringIO(kcheck(*common, "--format", "csv").out, newline=""))]
    assert [TABLE.names, ("new", "changed", "gone")] == [tuple(rows[0]), tuple(row["change"] for row in rows)]
    kcheck(*common, "--format", "parquet", "-o", out / "x.parquet")
    table = parquet.read_table(out / "x.parquet")
    assert [(column.name, "int64" if column.type == "int64" else "string") for column in TABLE.columns] == [
        (field.name, str(field.type)) for field in table.schema
    ]
    assert [row["message"].replace("\n", "\\n") for row in table.to_pylist()] == [row["message"] for row in rows]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 1),
        (("--select", "KC101"), 1),
        (("--select", "KC201"), 3),
        (("--select", "KC213"), 3),
        (("--ignore", "KC101,KC202"), 3),
        (("--fail-on", "fatal", "--ignore", "KC202"), 3),
        (("--fail-on", "fatal", "--severity", "fatal"), 1),
    ],
)
def test_it_ends_by_what_is_new(options: tuple[str, ...], code: int, out: Path) -> None:
    """Not by what was there before. The later run is incomplete, which is exit code 3 where nothing is new."""
    assert code == kcheck("fleet", "diff", out / "run=a", out / "run=b", *options).code


def test_runs_that_looked_for_different_things_are_told(out: Path) -> None:
    path = out / "run=b" / "_manifest.json"
    path.write_text(path.read_text().replace('"headers"', '"crc"'))
    done = kcheck("fleet", "diff", out / "run=a", out / "run=b")
    assert "The runs used different options" in done.out


def test_what_is_no_run_is_refused(out: Path) -> None:
    """In one line; a damaged table too, which is found while it is read."""
    done = kcheck("fleet", "diff", out / "run=a", out / "none")
    assert (2, "", True) == (done.code, done.out, "none: no such file or directory" in done.err)
    part = out / "run=b" / "findings" / "part-00000.parquet"
    content = bytearray(part.read_bytes())
    content[40] ^= 1
    part.write_bytes(content)
    done = kcheck("fleet", "diff", out / "run=a", out / "run=b")
    assert (3, 1) == (done.code, done.err.count("\n"))
    assert f"{part} cannot be read: " in done.err
