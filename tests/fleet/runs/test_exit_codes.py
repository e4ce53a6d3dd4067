"""A cluster that needs somebody is never green: exit codes of scan, report, diff and trend agree with actions."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import kcheck
from tests.fleet.scan.test_cluster_metadata import OUTRUN
from tests.fleet.scan.test_local_engine import BROKERS, tables

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
_LAYOUT = "{cluster}/{broker}/{log_dir}"
_NO_HARM = ("on-one-disk",)
"""The actions that keep a broker running."""


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """Copy a cluster that was stopped cleanly."""
    shutil.copytree(BROKERS / "4.3.1" / "stopped", tmp_path / "fleet" / "calm")
    return tmp_path / "fleet"


def scan(fleet: Path, run: str, *options: object) -> int:
    """Return the exit code of a scan."""
    return kcheck("fleet", "scan", fleet / _LAYOUT, "--output-dir", fleet.parent / "out", "--run", run, *options).code


def codes(fleet: Path, run: str) -> tuple[int, int, int]:
    """Return the exit codes of report, diff and trend after the run `calm`."""
    before, after = (fleet.parent / "out" / f"run={name}" for name in ("calm", run))
    answers = kcheck("fleet", "report", after), *(kcheck("fleet", verb, before, after) for verb in ("diff", "trend"))
    return answers[0].code, answers[1].code, answers[2].code


def summary(fleet: Path, run: str) -> Any:
    """Return the report of a run."""
    return json.loads(kcheck("fleet", "report", fleet.parent / "out" / f"run={run}", "--format", "json").out)


def remove(place: Path, at: int) -> None:
    """Remove one segment, by its number in the directory."""
    log = sorted(place.glob("*.log"))[at]
    for file in place.glob(f"{log.stem}*"):
        if file.suffix != ".snapshot":
            file.unlink()


def last(fleet: Path) -> None:
    """Lose the last segment of the only eligible leader. The high watermark still counts its records."""
    remove(fleet / "calm" / "broker-2" / "data1" / "segments-0", -1)


def middle(fleet: Path) -> None:
    """Lose a segment in the middle."""
    remove(fleet / "calm" / "broker-2" / "data1" / "segments-0", 3)


@pytest.mark.parametrize(
    ("depth", "damage", "premise", "rule"),
    [("checkpoints", last, "P306", "KC315"), ("crc", last, "P306", "KC315"), ("crc", middle, "P305", "KC222")],
)
def test_a_refuted_premise_is_never_green(
    fleet: Path, depth: str, damage: Callable[[Path], None], premise: str, rule: str
) -> None:
    """Rules say a warning only, as they do not know who leads. If a rule says error, that is enough."""
    assert 0 == scan(fleet, "calm", "--depth", depth)
    damage(fleet)
    assert (1, 1, 1, 1) == (scan(fleet, "hurt", "--depth", depth), *codes(fleet, "hurt"))
    body = summary(fleet, "hurt")
    assert premise in {row["id"] for row in body["premises"]}
    assert ("error", "error") == (body["clusters"][0]["risk"], body["clusters"][0]["verdict"])
    errors = {row["id"] for row in tables(fleet.parent / "out" / "run=hurt")["findings"] if row["severity"] == "error"}
    assert {rule} == errors & {"KC315", "KC222"}


def test_a_start_that_loses_committed_records_is_a_finding(tmp_path: Path) -> None:
    """Also where no file is corrupt. It is about the cluster, so no broker is named."""
    shutil.copytree(OUTRUN, tmp_path / "fleet" / "outrun")
    assert 1 == scan(tmp_path / "fleet", "r", "--depth", "crc")
    body = summary(tmp_path / "fleet", "r")
    rows = [row for row in body["worst"] if row["id"] == "KC507"]
    assert [("outrun", None, "error")] == [(row["cluster"], row["broker"], row["severity"]) for row in rows]
    assert "if all brokers start now, at most 15 committed records are lost" == rows[0]["message"]
    text = kcheck("fleet", "report", tmp_path / "out").out
    assert "broker ?" not in text
    shown = kcheck("fleet", "report", tmp_path / "out", "--prometheus", tmp_path / "kcheck.prom")
    assert 1 == shown.code
    assert 'rule="KC507",severity="error"} 1' in (tmp_path / "kcheck.prom").read_text()


@pytest.mark.sample(4)
@pytest.mark.parametrize("place", sorted((BROKERS / "4.3.1").glob("*/broker-1")), ids=lambda path: path.parent.name)
def test_an_action_is_never_green(place: Path, tmp_path: Path) -> None:
    """What a report tells to do first decides the exit codes of the scan and of the report."""
    shutil.copytree(place.parent, tmp_path / "fleet" / "c")
    code = scan(tmp_path / "fleet", "r", "--depth", "crc")
    report = kcheck("fleet", "report", tmp_path / "out", "--format", "json")
    needed = [row["kind"] for row in json.loads(report.out)["actions"] if row["kind"] not in _NO_HARM]
    assert code == report.code
    assert bool(code) >= bool(needed)
