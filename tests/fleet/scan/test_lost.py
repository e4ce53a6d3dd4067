"""What a run lacks is a finding and never clean: a lost mount, a log dir, a broker, partitions."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import kcheck
from tests.fleet.scan.test_cluster_metadata import OUTRUN
from tests.fleet.scan.test_local_engine import BROKERS, scanned

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
_LAYOUT = "{cluster}/{broker}/{log_dir}"


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """Copy a cluster with its metadata, and one without."""
    shutil.copytree(OUTRUN, tmp_path / "fleet" / "kraft")
    shutil.copytree(
        BROKERS / "4.3.1" / "diverged", tmp_path / "fleet" / "plain", ignore=lambda *_: ["__cluster_metadata-0"]
    )
    return tmp_path / "fleet"


def lost(fleet: Path, name: str) -> tuple[Any, list[tuple[Any, ...]]]:
    """Return the report of a scan, and its rows of KC505."""
    report, rows = scanned(fleet.parent, fleet / _LAYOUT, name=name)
    return report, [
        (row["cluster"], row["broker"], row["severity"], row["message"].split(" according")[0])
        for row in rows["findings"]
        if row["id"] == "KC505"
    ]


def test_what_was_there_before_or_is_registered_is_never_clean(fleet: Path) -> None:
    """An unmounted disk, a broker that is gone, and partitions; the next run still lacks the log dir."""
    assert [] == lost(fleet, "a")[1]
    empty = fleet / "kraft" / "broker-3" / "data1"
    shutil.rmtree(empty)
    empty.mkdir()
    shutil.rmtree(fleet / "plain" / "broker-2")
    shutil.rmtree(fleet / "plain" / "broker-1" / "data1" / "behind-0")
    report, rows = lost(fleet, "b")
    is_empty = "the log dir is empty, without meta.properties and partition directories"
    gone = ("plain", "broker-2", "error", "the log dir is not in this scan; run a has 3 partition directories in it")
    known = [
        ("kraft", "3", "error", "broker 3 has 1 replica"),
        ("kraft", "broker-3", "error", is_empty),
        gone,
    ]
    fewer = "1 partition directory of run a is gone from this broker: behind-0"
    assert [*known, ("plain", "broker-1", "warning", fewer)] == rows
    assert (3, 5) == (report.body["log_dirs_reached"], report.body["log_dirs_expected"])
    assert known == lost(fleet, "c")[1]
    out = fleet.parent / "out"
    done = kcheck("fleet", "report", out / "run=c", "--format", "json")
    assert 1 == done.code
    by_name = {row["cluster"]: row for row in json.loads(done.out)["clusters"]}
    counts = {name: (row["brokers_reached"], row["brokers_expected"]) for name, row in by_name.items()}
    assert {"kraft": (2, 3), "plain": (1, 2)} == counts
    assert [{"kafka": "4.3", "lowest": None, "highest": None, "brokers": 1}] == by_name["plain"]["releases"]
    assert "lost" not in kcheck("fleet", "diff", out / "run=b", out / "run=c").out


def test_a_diff_says_what_the_later_run_lacks(fleet: Path) -> None:
    """Also where the scans named other roots."""
    lost(fleet, "a")
    shutil.move(fleet, fleet.with_name("other"))
    other = fleet.with_name("other")
    shutil.rmtree(other / "plain" / "broker-2")
    assert [] == [row for row in lost(other, "b")[1] if row[0] == "plain"]
    out = fleet.parent / "out"
    done = kcheck("fleet", "diff", out / "run=a", out / "run=b", "--fail-on", "error")
    said = " ".join(done.out.split())
    assert (1, True) == (
        done.code,
        f"lost: cluster plain broker broker-2: {fleet}/plain/broker-2/data1: the log" in said,
    )
