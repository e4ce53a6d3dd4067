"""One decision for each cluster of a run: by when to act, what to do, and the command."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import kcheck
from tests.fleet.scan.test_local_engine import BROKERS, tables
from tests.fleets import forged

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


def test_a_partition_without_any_log_is_bounded_by_checkpoints(fleet: Path) -> None:
    """Its high watermarks bound the loss. Without them it is unknown, and a restart still makes an empty log."""
    shutil.rmtree(fleet / "killed")
    for log in (fleet / "stopped").glob("broker-*/*/plain-0"):
        shutil.rmtree(log)
    row = decisions(fleet, "a")["stopped"]
    assert "before a restart" == row["when"]
    assert "Starting everything now: at most 40 records are lost, all of them committed." in row["what"]
    asked = ("--format", "json")
    disks = json.loads(kcheck("recover", fleet / "stopped", *asked).out)["start_all"]
    tables_say = json.loads(kcheck("recover", "--from", fleet.parent / "out" / "run=a", *asked).out)["clusters"][0]
    assert disks["lost"] == tables_say["start_all"]["lost"]
    for checkpoint in (fleet / "stopped").glob("broker-*/*/replication-offset-checkpoint"):
        checkpoint.unlink()
    row = decisions(fleet, "b")["stopped"]
    assert "before a restart" == row["when"]
    assert row["what"].startswith("Do not restart broker-2 of stopped yet: plain-0 may lead here without a directory.")


def test_a_cluster_that_needs_a_person_is_never_green(tmp_path: Path) -> None:
    """No rule says error. The exit code, the finding, the metric and the risk follow the decision all the same."""
    shutil.copytree(BROKERS / "4.3.1" / "tiered", tmp_path / "fleet" / "tiered")
    row = decisions(tmp_path / "fleet", "a")["tiered"]
    assert ("before a restart", "Do not restart broker-1 of tiered: it will lose 10 records.") == (
        row["when"], row["what"]
    )  # fmt: skip
    errors = [row for row in tables(tmp_path / "out" / "run=a")["findings"] if row["severity"] == "error"]
    assert [("KC507", None)] == [(row["id"], row["broker"]) for row in errors]
    asked = ("fleet", "report", tmp_path / "out", "--prometheus", tmp_path / "k.prom", "--format", "json")
    for code, *options in ((1,), (1, "--severity", "fatal"), (0, "--select", "KC101")):
        done = kcheck(*asked, *options)
        body = json.loads(done.out)
        assert (code, [row], "error") == (done.code, body["decisions"], body["clusters"][0]["risk"])
    assert 'kcheck_fleet_decision{cluster="tiered",when="before a restart"} 1' in (tmp_path / "k.prom").read_text()


def test_a_loss_under_every_leader_is_no_zero(tmp_path: Path) -> None:
    """An older scan wrote no finding for it. The report decides by the same rows."""
    replicas = {"cluster": "c", "broker": "1", "topic": "t", "partition": 0, "replicas_of_topic": 1, "lost": 7,
                "lost_below_high_watermark": 7}  # fmt: skip
    run = forged(tmp_path, replica_sets=[replicas])
    done = kcheck("fleet", "report", run, "--prometheus", tmp_path / "k.prom", "--format", "json")
    body = json.loads(done.out)
    assert (1, 1, "before a restart") == (done.code, body["failing"], body["decisions"][0]["when"])
    assert ("error", "clean", 7) == tuple(body["clusters"][0][name] for name in ("risk", "verdict", "least_committed"))
    told = (tmp_path / "k.prom").read_text()
    assert 'kcheck_fleet_cluster_committed_lost_best{cluster="c"} 7' in told
    assert "kcheck_fleet_cluster_committed_lost{" not in told  # Without metadata nobody knows who leads.


@pytest.mark.parametrize("name", ["no-clean-leader", "premise"])
def test_long_lists_hide_no_cluster(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the first rows of a list are shown. Every cluster is decided."""
    monkeypatch.setattr("kcheck.fleet.risk.PARTITION_COUNT", 1)
    monkeypatch.setattr("kcheck.fleet.runs.premises.SHOWN_COUNT", 1)
    of_set = {"topic": "t", "partition": 0, "replicas_of_topic": 1, "lost": 7, "lost_below_high_watermark": 7}
    premise = {"id": "P304", "status": "refuted", "sentence": "it is gone", "evidence": "[]", "broker_id": 1}
    rows = [{"cluster": f"c{number}", "broker": "1", "log_dir": "/d"} for number in range(3)]
    run = forged(
        tmp_path, log_dirs=rows, replica_sets=[{**row, **of_set} for row in rows if name == "no-clean-leader"],
        premises=[{**row, **premise} for row in rows if name == "premise"],
    )  # fmt: skip
    body = json.loads(kcheck("fleet", "report", run, "--format", "json").out)
    assert ["before a restart"] * 3 == [row["when"] for row in body["decisions"]]
    assert 1 == len(body["partitions"] + body["premises"])


def test_a_scan_that_reads_less_says_less(fleet: Path) -> None:
    """A segment without its end is not seen at this depth. So "nothing" is bounded on the screen and in both files."""
    (log,) = (fleet / "stopped").glob("broker-1/*/plain-1/*.log")
    log.write_bytes(log.read_bytes()[:70] + b"\0" + log.read_bytes()[71:])
    shutil.rmtree(fleet / "killed")
    bound = "as far as --depth {} reads ({})"
    for depth, unread in (("checkpoints", "segments are not read"), ("headers", "batches are not verified")):
        words = bound.format(depth, unread)
        row = decisions(fleet, depth, "--depth", depth)["stopped"]
        assert ("nothing", f"Nothing {words}.") == (row["when"], row["what"])
        run, page = fleet.parent / "out" / f"run={depth}", fleet.parent / "page.html"
        shown = kcheck("fleet", "report", run, "--html", page, columns=400)
        assert f"Nothing to do {words}: stopped." in shown.out
        assert f"Nothing to do {words}: stopped." in page.read_text("utf-8")
        assert f"nothing is lost {words}" in kcheck("recover", "--from", run, columns=400).out
    assert "nothing" != decisions(fleet, "crc", "--depth", "crc")["stopped"]["when"]


def test_a_cluster_that_is_not_safe_is_never_soon(tmp_path: Path) -> None:
    """An unread meta.properties hides a log dir. Nothing at hand is lost, and the rest is not known."""
    shutil.copytree(BROKERS / "4.3.1" / "stopped", tmp_path / "fleet" / "big")
    path = tmp_path / "fleet" / "big" / "broker-1" / "data1" / "meta.properties"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    row = decisions(tmp_path / "fleet", "a")["big"]
    assert "not known" == row["when"]
    assert row["what"].endswith("The disks show what a restart loses, and the plan.")
    assert row["command"].startswith("kcheck recover 1=")
