"""The published tables: their columns are the fields of the rows, and csv and Parquet show the same."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from kcheck.dumps.filter import DumpDetail, Filter
from kcheck.registry import discover
from kcheck.renderers import Options
from kcheck.renderers import parquet as renderer
from kcheck.screen.printable import printable
from kcheck.tables import Table
from kcheck.verbs.dump import dump
from tests.builders import log, run
from tests.cases.build import CASES, shared_copy
from tests.cli.command import kcheck

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
"""The test runner has threads where kcheck has none."""

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"
ORDERS = BROKERS / "4.3.1" / "coordinators" / "broker-1" / "data1" / "orders-1"
CONTROLLER = ORDERS.parent
LOG = BROKERS.parent / "logs" / "4.3.1" / "server.log"
NAME = "00000000000000000000"
DAMAGED = shared_copy(CASES / "kc141-batch-crc" / "flipped-bit")
INDEX = next(path for path in BROKERS.glob("*/*/*/*/*/*.index") if any(path.read_bytes()))
TIMES = next(path for path in BROKERS.glob("*/*/*/*/*/*.timeindex") if path.stat().st_size)
TABLES = {table.name: table for table in discover("kcheck.tables", "TABLE") if isinstance(table, Table)}
RUN = [name for name, table in TABLES.items() if table.in_run is not None]
OFFSETS = next(BROKERS.glob("4.3.1/coordinators/*/*/__consumer_offsets-0/*.log"))
COMMANDS: dict[str, tuple[str | Path, ...]] = {
    "batches": ("dump", ORDERS / f"{NAME}.log"),
    "records": ("dump", OFFSETS, "--print-data", "utf8", "--decode", "offsets"),
    "offset_index_entries": (
        "dump",
        next(path for path in BROKERS.glob("*/*/*/*/*/*.index") if any(path.read_bytes())),
    ),
    "time_index_entries": ("dump", TIMES),
    "transaction_index_entries": ("dump", ORDERS / f"{NAME}.txnindex"),
    "producer_snapshot_entries": ("dump", ORDERS / "00000000000000000005.snapshot"),
    "end_offsets": ("end-offset", ORDERS),
    "findings": ("check", "--depth", "crc", DAMAGED),
    "rules": ("rules",),
    "log_events": ("explain", LOG),
    "cluster_partitions": ("cluster", CONTROLLER),
    "cluster_brokers": ("cluster", CONTROLLER, "--table", "brokers"),
    "cluster_history": ("cluster", CONTROLLER, "--changes", "orders-0"),
}


def test_steps_of_a_scan_make_every_table_of_a_run_but_six() -> None:
    """Those of the run, broker logs, owners and remote storage are of no step; Spark derives its columns from steps."""
    assert {"runs", "log_events", "owners", "remote_segments", "tiered_partitions", "remote_objects"} == {
        name for name in RUN if not TABLES[name].steps
    }
    assert not [name for name, table in TABLES.items() if table.steps and name not in RUN]


def rows_in(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield every row in a document, at any depth."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from rows_in(part)


def test_every_table_is_written_by_a_command() -> None:
    """That of files without rows is one that no row fills; those of a run are written by `fleet scan`.

    Those of changes and of the history of findings need several runs: tests/cli/test_fleet_diff.py and
    tests/fleet/runs/test_history.py write them.
    """
    assert {*COMMANDS, "files", "changes", "finding_history", *RUN} == set(TABLES)
    assert {"findings", "cluster_brokers", "cluster_partitions", "log_events"} == set(COMMANDS) & set(RUN)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_columns_are_the_fields_of_the_rows(name: str) -> None:
    """Of all rows in JSON that have as many of them; rows in a row are no column."""
    columns = set(TABLES[name].names) - {"path"}
    found = [
        set(row) - {"records", "candidates"}
        for row in rows_in(json.loads(kcheck(*COMMANDS[name], "--format", "json").out))
    ]
    assert columns in found


@pytest.mark.parametrize("name", COMMANDS)
def test_parquet_holds_what_csv_shows(name: str, tmp_path: Path) -> None:
    """Row by row; the types are those that the table names."""
    file = tmp_path / "out.parquet"
    written = kcheck(*COMMANDS[name], "--format", "parquet", "-o", file)
    shown = kcheck(*COMMANDS[name], "--format", "csv")
    assert written.code == shown.code
    read = parquet.read_table(file)
    arrow = {"int64": "int64", "bool": "bool", "string": "string", "json": "string"}
    assert [(column.name, arrow[column.type]) for column in TABLES[name].columns] == [
        (field.name, str(field.type)) for field in read.schema
    ]
    expected = list(csv.DictReader(io.StringIO(shown.out, newline="")))
    assert expected == [
        {key: "" if value is None else printable(str(value)) for key, value in row.items()} for row in read.to_pylist()
    ]
    assert expected


def test_a_large_table_is_written_in_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderer, "_ROW_COUNT", 4)
    path, file = tmp_path / f"{NAME}.log", tmp_path / "out.parquet"
    path.write_bytes(log(run(0, 99)))
    report = dump([str(path)], as_kind=None, wanted=Filter(), shown=DumpDetail()).report()
    with file.open("wb") as stream:
        renderer.render(report, stream, Options())
    found = parquet.ParquetFile(file).metadata
    assert [4, 4, 2] == [found.row_group(number).num_rows for number in range(found.num_row_groups)]


def test_large_texts_are_not_held_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(renderer, "_TEXT_SIZE_MAX", 1)
    file = tmp_path / "out.parquet"
    kcheck("rules", "--format", "parquet", "-o", file)
    found = parquet.ParquetFile(file).metadata
    assert found.num_rows == found.num_row_groups


def test_a_name_that_is_no_unicode_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "\udcff.log"
    path.write_bytes(log(run(0, 9)))
    file = tmp_path / "out.parquet"
    kcheck("dump", path, "--format", "parquet", "-o", file)
    (row,) = parquet.read_table(file).to_pylist()
    assert f"{tmp_path}/\\udcff.log" == row["path"]


def test_parquet_needs_a_file_and_a_table(tmp_path: Path) -> None:
    done = kcheck("rules", "--format", "parquet")
    assert (2, "") == (done.code, done.out)
    assert "--format parquet needs -o FILE" in done.err
    done = kcheck("inspect", ORDERS, "--format", "parquet", "-o", tmp_path / "x")
    assert 2 == done.code
    assert "more than one table" in done.err
    assert not (tmp_path / "x").exists()


def test_a_run_holds_the_tables_that_say_so(tmp_path: Path) -> None:
    """With their columns, of the types that the page names, and with their versions."""
    layout = BROKERS / "4.3.1" / "{cluster}" / "{broker}" / "{log_dir}"
    assert 0 == kcheck("fleet", "scan", layout, "--output-dir", tmp_path, "--run", "a", "--fail-on", "fatal").code
    arrow = {"int64": "int64", "bool": "bool", "string": "string", "json": "string", "time": "timestamp[us, tz=UTC]"}
    assert sorted(RUN) == sorted(path.name for path in (tmp_path / "run=a").iterdir() if path.is_dir())
    for name in RUN:
        schema = parquet.read_schema(tmp_path / "run=a" / name / "part-00000.parquet")
        assert [(column.name, arrow[column.type]) for column in TABLES[name].run_columns] == [
            (field.name, str(field.type)) for field in schema
        ]
        assert f"{name}/{TABLES[name].version}".encode() == schema.metadata[b"table"]
