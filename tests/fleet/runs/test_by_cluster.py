"""One decision for each cluster of a run: by when to act, what to do, and the command."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import kcheck
from tests.fleet.scan.test_local_engine import BROKERS

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """Copy a cluster that was stopped cleanly, and one that was killed."""
    for name in ("stopped", "killed"):
        shutil.copytree(BROKERS / "4.3.1" / name, tmp_path / "fleet" / name)
    return tmp_path / "fleet"


def decisions(fleet: Path, run: str, *options: object) -> dict[str, Any]:
    """Return the decisions of a scan by cluster."""
    out = fleet.parent / "out"
    kcheck("fleet", "scan", fleet / "{cluster}/{broker}/{log_dir}", "--output-dir", out, "--run", run, *options)
    rows = json.loads(kcheck("fleet", "report", out / f"run={run}", "--format", "json").out)["decisions"]
    return {row["cluster"]: row for row in rows}


def test_a_start_that_the_run_does_not_show_is_read_from_the_disks(fleet: Path) -> None:
    """Nothing is to do while the brokers run. With --depth crc the start is known."""
    rows = decisions(fleet, "a")
    assert ("not known", "Nothing while its brokers run.") == (rows["killed"]["when"], rows["killed"]["what"][:30])
    assert rows["killed"]["command"].startswith("kcheck recover 1=")
    assert "not known" != decisions(fleet, "b", "--depth", "crc")["killed"]["when"]


def test_a_cluster_that_is_gone_comes_first(fleet: Path) -> None:
    """Its disks are to be mounted. The screen ends the list with the clusters without anything to do."""
    decisions(fleet, "a")
    shutil.rmtree(fleet / "killed")
    rows = decisions(fleet, "b")
    assert ["killed", "stopped"] == list(rows)
    assert "now" == rows["killed"]["when"]
    assert rows["killed"]["what"] == "Cluster killed was not found. Mount its disks, or name its folder in ROOT."
    page = fleet.parent / "report.html"
    shown = kcheck("fleet", "report", fleet.parent / "out", "--html", page).out
    assert "\nwhat to do, by cluster\n1. killed, now: Cluster killed was not found." in shown
    assert '<li class="now"><p><strong>killed, now:</strong> Cluster killed was not found.' in page.read_text("utf-8")


def test_a_cluster_without_metadata_is_not_called_safe(tmp_path: Path) -> None:
    """Its elections are not known."""
    shutil.copytree(BROKERS / "2.8.2" / "stopped" / "broker-1", tmp_path / "fleet" / "zk" / "broker-1")
    row = decisions(tmp_path / "fleet", "a")["zk"]
    assert "not known" == row["when"]
    assert "no metadata of this cluster" in row["what"]
