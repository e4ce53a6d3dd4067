"""`fleet scan` writes the same tables of a bundle as of the directories, but for hosts and the run's own clock."""

import contextlib
import shutil
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from tests.capture.answers import SUFFIX, captured, fresh, run
from tests.capture.test_answers import EVERY, OLD, SCENES

DIFFER = {"cluster_brokers": {"endpoints", "rack"}, "runs": {"started", "ended", "roots"}}
"""Columns that a bundle masks, and what a run says of itself."""
SAMPLE = [scene for scene in SCENES if scene.parent.name not in OLD]


def tables(root: Path, out: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each table of a scan, with the names of directories for bundles."""
    with contextlib.chdir(root.parent):
        options = ["--output-dir", str(out), "--run", "r", "--depth", "crc", "--no-progress"]
        code, _, errors = run(["fleet", "scan", root.name, *options])
    assert code in (0, 1, 3), errors
    rows: dict[str, list[dict[str, Any]]] = {}
    for file in sorted(out.glob("run=r/*/*.parquet")):
        rows.setdefault(file.parent.name, []).extend(parquet.ParquetFile(file).read().to_pylist())
    return {name: [_comparable(name, row) for row in table] for name, table in rows.items()}


def _comparable(table: str, row: dict[str, Any]) -> dict[str, Any]:
    kept = {column: value for column, value in row.items() if column not in DIFFER.get(table, ())}
    return {key: value.replace(SUFFIX, "") if isinstance(value, str) else value for key, value in kept.items()}


@pytest.mark.parametrize("scene", SAMPLE if EVERY else SAMPLE[-1:], ids=lambda scene: "/".join(scene.parts[-2:]))
def test_a_scan_writes_the_same_tables(scene: Path, tmp_path: Path) -> None:
    """Of each broker alone."""
    for broker in sorted(scene.glob("broker-*"))[: None if EVERY else 1]:
        shutil.copytree(broker, tmp_path / broker.name)
        bundle = captured([tmp_path / broker.name], tmp_path)
        at_home = tables(tmp_path / broker.name, tmp_path / "home" / broker.name)
        assert at_home["partitions"]
        assert tables(bundle, tmp_path / "away" / broker.name) == at_home
    fresh()
