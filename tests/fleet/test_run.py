"""A run is read again: which one is meant, and what is said of one that is damaged."""

import gc
import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from kcheck.errors import KcheckError, UsageError
from kcheck.fleet.run import FleetRun, open_run
from kcheck.fleet.run_output import MANIFEST
from tests.fleets import finding, forged

NAMES = ("cluster", "id", "line", "message")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Write a run of 300 findings."""
    return forged(tmp_path / "out", findings=[finding(line=number) for number in range(300)])


def read(run: FleetRun) -> list[tuple[Any, ...]]:
    return list(run.values("findings", NAMES))


def test_a_run_is_read_as_it_was_written(written: Path) -> None:
    """By its own name, and as the newest in its folder."""
    run = open_run(str(written))
    assert ("r", "4.3", "headers", True, 1_700_000_000_000) == (
        run.name, run.kafka, run.depth, run.finished, run.started,
    )  # fmt: skip
    assert [("c", "KC201", number, "it is wrong") for number in range(300)] == read(run)
    assert (300, 0, 0) == (run.rows("findings"), run.rows("partitions"), run.rows("none"))
    assert run == open_run(str(written.parent))._replace(path=str(written))


def test_the_newest_run_is_the_one_that_ended_last(tmp_path: Path) -> None:
    """Whatever its name; a directory without a manifest is no run."""
    for name, started in (("z", 1), ("a", 3), ("m", 2)):
        forged(tmp_path, name, started=started)
    (tmp_path / "run=dead").mkdir()
    assert open_run(str(tmp_path)).name == "a"


def test_where_no_run_is_it_is_said(tmp_path: Path) -> None:
    for path, said in ((tmp_path / "none", "no such file or directory"), (tmp_path, "no run in it")):
        with pytest.raises(UsageError, match=said):
            open_run(str(path))


def change(run: Path, key: str, value: Any) -> None:
    """Change a field of the manifest; the name of a table changes what is said of it."""
    path = run / MANIFEST
    manifest = json.loads(path.read_text())
    (manifest["tables"] if key in manifest["tables"] else manifest)[key] = value
    path.write_text(json.dumps(manifest))


PART = {"file": "part-00000.parquet", "rows": 1, "size": 1}


@pytest.mark.parametrize(
    ("key", "value", "error", "said"),
    [
        ("schema", "kcheck.run/2", UsageError, "has the schema kcheck.run/2; this kcheck reads kcheck.run/1"),
        ("findings", {"version": 99, "parts": []}, UsageError, "which a newer kcheck wrote"),
        ("tables", {}, KcheckError, "the table findings is not named"),
        ("tables", 7, KcheckError, "corrupt"),
        ("run", 7, KcheckError, "a field has a value of another type"),
        ("started", "today", KcheckError, "a field has a value of another type"),
        ("findings", {"version": 1, "parts": [{**PART, "file": "../x"}]}, KcheckError, "not part of a table"),
        ("findings", {"version": 1, "parts": [{**PART, "file": 7}]}, KcheckError, "corrupt"),
        ("findings", {"version": 1, "parts": [{**PART, "rows": "1"}]}, KcheckError, "not part of a table"),
        ("findings", {"version": 1}, KcheckError, "corrupt"),
        ("findings", {"version": "1", "parts": []}, KcheckError, "corrupt"),
    ],
)
def test_a_manifest_is_not_believed(key: str, value: Any, error: type[KcheckError], said: str, written: Path) -> None:
    """A newer one is a wrong argument, a damaged one ends what was asked for."""
    change(written, key, value)
    with pytest.raises(KcheckError, match=said) as raised:
        open_run(str(written))
    assert type(raised.value) is error


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"7", b"\xff", b"[" * 100_000, b'{"schema": null'])
def test_a_manifest_that_is_no_json_is_damaged(content: bytes, written: Path) -> None:
    (written / MANIFEST).write_bytes(content)
    with pytest.raises(KcheckError, match="is corrupt"):
        open_run(str(written))


def test_a_table_that_is_gone_or_cut_is_told(written: Path) -> None:
    part = written / "findings" / "part-00000.parquet"
    part.write_bytes(part.read_bytes()[:-1])
    with pytest.raises(KcheckError, match=r"part-00000.parquet cannot be read: it has \d+ bytes"):
        read(open_run(str(written)))
    part.unlink()
    with pytest.raises(KcheckError, match="cannot be read: No such file"):
        read(open_run(str(written)))
    shutil.rmtree(written / "findings")
    with pytest.raises(KcheckError, match="cannot be read"):
        read(open_run(str(written)))


def is_told(run: FleetRun, expected: list[tuple[Any, ...]]) -> bool:
    """Whether a table cannot be read, and one line says so; if it can, it is the one that is expected."""
    try:
        found = read(run)
    except KcheckError as error:
        said = str(error)
    else:
        assert expected == found
        return False
    assert " cannot be read: " in said
    assert "\n" not in said
    return True


def test_no_byte_of_a_table_changes_unseen(written: Path) -> None:
    """Flipped anywhere it is told, or stands where it changes no row; nothing else is raised."""
    part = written / "findings" / "part-00000.parquet"
    whole, run = part.read_bytes(), open_run(str(written))
    expected, told = read(run), 0
    for position in range(0, len(whole), len(whole) // 200):
        part.write_bytes(whole[:position] + bytes([whole[position] ^ 0x10]) + whole[position + 1 :])
        told += is_told(run, expected)
    assert told > 50


def test_a_table_of_another_shape_is_refused(written: Path) -> None:
    """A column that is not there is null: an older kcheck did not have it. One of another type is damage."""
    part = written / "findings" / "part-00000.parquet"

    def rewrite(table: pa.Table, rows: int) -> FleetRun:
        parquet.write_table(table, part)
        about = {"file": part.name, "rows": rows, "size": part.stat().st_size}
        change(written, "findings", {"version": 1, "parts": [about]})
        return open_run(str(written))

    table = pa.table({"cluster": ["c"], "id": ["KC201"], "message": ["m"]})
    assert [("c", "KC201", None, "m")] == read(rewrite(table, 1))
    with pytest.raises(KcheckError, match="it has 1 rows, and the manifest names 2"):
        read(rewrite(table, 2))
    with pytest.raises(KcheckError, match="the column id is of type int64, not string"):
        read(rewrite(pa.table({"cluster": ["c"], "id": [7]}), 1))
    raw = pa.StringArray.from_buffers(1, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff"))
    with pytest.raises(KcheckError, match="UTF"):
        read(rewrite(pa.table({"cluster": raw, "id": ["KC201"]}), 1))


def test_the_rows_of_a_cluster_are_its_own(tmp_path: Path) -> None:
    """Also where the rows of several clusters are in one part of a file."""
    run = open_run(str(forged(tmp_path, findings=[finding(cluster=name) for name in "abab"])))
    assert [("a", 1), ("a", 1)] == [*run.values("findings", ("cluster", "broker_id"), "a")]
    assert [] == [*run.values("findings", ("cluster",), "z")]
    assert 4 == len([*run.values("findings", ("broker_id",))])


def test_reading_leaves_no_metadata_of_files(written: Path) -> None:
    """Decisions for thousands of clusters read each file again, and kcheck seldom looks for cycles of references."""
    run = open_run(str(written))
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        rows = [*run.values("findings", ("id",), "c")]
        gc.collect()
        kept = [type(value).__name__ for value in gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert len(rows) == 300
    assert "FileMetaData" not in kept
