"""A run in Iceberg tables: appended, replaced by itself, read by snapshot, and by what is older."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from kcheck.fleet.run import open_run
from kcheck.fleet.run_output import run_tables
from kcheck.fleet.runs import iceberg
from tests.cli.command import kcheck
from tests.fleets import PARTITION, finding, forged

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::UserWarning")
"""pyiceberg's own."""


def catalog(folder: Path) -> Any:
    """Return the catalog of a folder."""
    from pyiceberg.catalog import load_catalog

    return load_catalog("lake", type="sql", uri=f"sqlite:///{folder}/lake.db", warehouse=f"file://{folder}")


def publish(run: Path, folder: Path, *more: str) -> Any:
    options = ("--catalog-option", f"uri=sqlite:///{folder}/lake.db", "--catalog-option", f"warehouse=file://{folder}")
    return kcheck("fleet", "publish", run, "--iceberg", "lake.kcheck", *options, *more)


def rows(folder: Path, name: str, **scan: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = catalog(folder).load_table(f"kcheck.{name}").scan(**scan).to_arrow().to_pylist()
    return found


def test_runs_are_appended_and_read_by_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is published twice is there once; an older snapshot has the older run alone."""
    monkeypatch.setattr(iceberg, "_SIZE", 1)
    many = [finding(line=line) for line in range(2_000)]
    first, second = (
        forged(tmp_path / "out", name, findings=found, partitions=[PARTITION], runs=[{"run": name}])
        for name, found in (("a", many), ("b", [finding()]))
    )
    done = publish(first, tmp_path, "--format", "json")
    assert (0, "") == (done.code, done.err)
    tables = {row["table"]: row for row in json.loads(done.out)["tables"]}
    assert {*run_tables()} == {*tables}
    assert 2_000 == tables["findings"]["rows"]
    for run in (second, second):
        assert "run b: 4 rows in 4 tables of lake.kcheck\n" in publish(run, tmp_path).out
    assert {"a": 2_000, "b": 1} == {
        name: sum(row["run"] == name for row in rows(tmp_path, "findings")) for name in ("a", "b")
    }
    assert ["a"] == [row["run"] for row in rows(tmp_path, "runs", snapshot_id=tables["runs"]["snapshot"])]
    (stored,) = rows(tmp_path, "findings", row_filter="run == 'b'")
    (values,) = open_run(str(second)).values("findings", tuple(stored)[1:])
    assert ("b", *values) == tuple(stored.values())


def test_a_newer_run_brings_new_columns(tmp_path: Path) -> None:
    """Older rows have null there."""
    import pyarrow as pa

    lake = catalog(tmp_path)
    lake.create_namespace("kcheck")
    old = pa.table({"run": ["old"], "cluster": ["c"]})
    lake.create_table("kcheck.log_dirs", schema=old.schema).append(old)
    assert 0 == publish(forged(tmp_path / "out"), tmp_path).code
    assert [("old", None), ("r", "/d")] == sorted((row["run"], row["log_dir"]) for row in rows(tmp_path, "log_dirs"))


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    logging.disable(logging.ERROR)
    run = forged(tmp_path / "out")
    done = kcheck("fleet", "publish", run, "--iceberg", "lake")
    assert (2, "--iceberg lake: write CATALOG.NAMESPACE" in done.err) == (done.code, True)
    done = kcheck("fleet", "publish", run, "--iceberg", "lake.kcheck", "--catalog-option", "type=none")
    assert (2, "the catalog lake cannot be opened" in done.err) == (done.code, True)
