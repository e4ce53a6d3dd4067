"""A cluster that needs somebody is never green: exit codes of scan, report, diff and trend agree with actions."""

import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import kcheck
from tests.fleet.scan.test_cluster_metadata import OUTRUN
from tests.fleet.scan.test_local_engine import BROKERS, tables
from tests.oracle.incidents import kept

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
    # "Do not restart" beside the steps of the plan would be two answers.
    (plan,) = [row["what"] for row in body["actions"] if row["kind"] == "recover"]
    assert (True, False) == ("First look at broker-2 of calm: " in plan, "First steps" in plan)
    assert "premise-refuted" not in {row["kind"] for row in body["actions"]}


def test_a_missing_disk_comes_before_the_steps_of_a_plan(fleet: Path) -> None:
    """The steps go on without the disk. What only that disk has is not counted, so a loss of 0 is not known."""
    shutil.rmtree(fleet / "calm" / "broker-1" / "data2")
    settings = "process.roles=broker\nnode.id=1\nlog.dirs=/x/data1,/x/data2\n"
    (fleet / "calm" / "broker-1" / "server.properties").write_text(settings)
    assert 3 == scan(fleet, "r")
    body = summary(fleet, "r")
    (row,) = body["clusters"]
    assert None is row["start_all_lost"] is row["start_all_committed"]
    plans = [action["what"] for action in body["actions"] if action["kind"] == "recover"]
    assert all(plan.startswith("Cluster calm: First look at broker-1 of calm: log dir") for plan in plans)
    assert not any("First steps" in plan for plan in plans)
    (decision,) = body["decisions"]
    assert "Until then, do not start or stop this broker, and elect no leader by hand." in decision["what"]
    assert ("now", "calm") == (decision["when"], decision["cluster"])


def test_without_metadata_the_loss_under_the_best_leaders_is_a_finding(tmp_path: Path) -> None:
    """ZooKeeper tells who leads. Here the newest segment of an only replica is gone."""
    with tarfile.open(kept.PLACE / "3.9.2-zk-remove-files+second-name-l12g.tar.xz") as tar:
        tar.extractall(tmp_path / "fleet", filter="data")
    log_dirs = sorted((tmp_path / "fleet").glob("broker-*/data*"))
    done = kcheck("fleet", "scan", *log_dirs, "--output-dir", tmp_path / "out", "--run", "r", "--depth", "crc")
    assert 1 == done.code
    rows = [row for row in summary(tmp_path / "fleet", "r")["worst"] if row["id"] == "KC507"]
    assert ["even under the best leaders at most 40 committed records are lost"] == [row["message"] for row in rows]
    assert [] == tables(tmp_path / "out" / "run=r")["clusters"]


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


def test_a_missing_disk_is_incomplete_whatever_is_shown(fleet: Path) -> None:
    """--select and --severity choose rows. --ignore of the rule says that the missing log dirs are known."""
    shutil.rmtree(fleet / "calm" / "broker-1" / "data2")
    assert 3 == scan(fleet, "selected", "--select", "KC222")
    assert 3 == scan(fleet, "fatal", "--severity", "fatal")
    assert 0 == scan(fleet, "known", "--ignore", "KC505", "--select", "KC222")


def test_exit_code_3_hides_no_finding(fleet: Path) -> None:
    """Scan and report say how many findings would be exit code 1. A diff says new trouble before an incomplete run."""
    assert 0 == scan(fleet, "calm")
    shutil.rmtree(fleet / "calm" / "broker-1" / "data2")
    out = fleet.parent / "out"
    done = kcheck("fleet", "scan", fleet / _LAYOUT, "--output-dir", out, "--run", "a", columns=400)
    also = "Exit code 3, because the run is incomplete. Also"
    assert (3, True) == (done.code, also in done.out)
    assert summary(fleet, "a")["failing"] > 0
    shown = kcheck("fleet", "report", out, "--html", out.parent / "page.html", columns=400)
    assert (3, True, True) == (shown.code, also in shown.out, also in (out.parent / "page.html").read_text())
    assert 3 == scan(fleet, "b")
    newer, same = (out / "run=calm", out / "run=a"), (out / "run=a", out / "run=b")
    assert (1, 1) == (kcheck("fleet", "diff", *newer).code, kcheck("fleet", "trend", *newer).code)
    assert (3, 3) == (kcheck("fleet", "diff", *same).code, kcheck("fleet", "trend", *same).code)


def test_a_report_says_what_was_not_read_again(fleet: Path) -> None:
    """A bit that flips changes neither size nor time of a file, so the depth alone would promise too much."""
    assert 0 == scan(fleet, "a", "--remember", "--depth", "crc")
    out = fleet.parent / "out"
    assert 0 == scan(fleet, "b", "--since-run", out / "run=a", "--depth", "crc")
    (row,) = tables(out / "run=b")["runs"]
    count = row["carried_over"]
    assert ("a", True) == (row["since"], count > 0)
    words = f"{count} of 25 partition directories had the sizes and times of run a. This run did not read their bytes"
    shown = kcheck("fleet", "report", out / "run=b", "--html", out.parent / "page.html", columns=400)
    assert (True, True) == (words in shown.out, words in (out.parent / "page.html").read_text())
    assert "bytes again" not in kcheck("fleet", "report", out / "run=a", columns=400).out
