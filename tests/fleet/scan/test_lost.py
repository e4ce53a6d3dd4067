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
    fewer = "1 partition directory of run a is missing on this broker: behind-0"
    assert [*known, ("plain", "broker-1", "warning", fewer)] == rows
    assert (3, 5) == (report.body["log_dirs_reached"], report.body["log_dirs_expected"])
    assert report.body["finished"] is False
    assert known == lost(fleet, "c")[1]
    out = fleet.parent / "out"
    done = kcheck("fleet", "report", out / "run=c", "--format", "json")
    assert 3 == done.code
    by_name = {row["cluster"]: row for row in json.loads(done.out)["clusters"]}
    counts = {name: (row["brokers_reached"], row["brokers_expected"]) for name, row in by_name.items()}
    assert {"kraft": (2, 3), "plain": (1, 2)} == counts
    assert [{"kafka": "4.3", "lowest": None, "highest": None, "brokers": 1}] == by_name["plain"]["releases"]
    assert "lost" not in kcheck("fleet", "diff", out / "run=b", out / "run=c").out


def test_a_diff_says_what_the_later_run_lacks(fleet: Path) -> None:
    """Also where the scans named other roots. The later scan compares layouts of the same form itself."""
    lost(fleet, "a")
    shutil.move(fleet, fleet.with_name("other"))
    other = fleet.with_name("other")
    shutil.rmtree(other / "plain" / "broker-2")
    gone = "the log dir is not in this scan; run a has 3 partition directories in it"
    assert [("plain", "broker-2", "error", gone)] == [row for row in lost(other, "b")[1] if row[0] == "plain"]
    out = fleet.parent / "out"
    done = kcheck("fleet", "diff", out / "run=a", out / "run=b", "--fail-on", "error")
    said = " ".join(done.out.split())
    assert (1, True) == (done.code, "cluster plain broker broker-2 new: error KC505 the log dir is not in" in said)
    # A layout of a part of the fleet is another scan.
    _, rows = scanned(fleet.parent, other / "kraft" / "{broker}" / "{log_dir}", name="c")
    assert not [row for row in rows["findings"] if row["id"] == "KC505"]


@pytest.mark.parametrize(("manifest", "words"), [("{", "is corrupt"), ('{"schema": "kcheck.run/2"}', "kcheck.run/2")])
def test_a_run_that_cannot_be_read_does_not_hide_a_loss(fleet: Path, manifest: str, words: str) -> None:
    """A corrupt run, or one of a newer kcheck, beside the earlier run: both are findings, and the scan ends."""
    lost(fleet, "a")
    other = fleet.parent / "out" / "run=b"
    other.mkdir()
    (other / "_manifest.json").write_text(manifest)
    shutil.rmtree(fleet / "plain" / "broker-2")
    report, rows = scanned(fleet.parent, fleet / _LAYOUT, name="c")
    assert report.body["finished"] is False
    messages = {row["id"]: row["message"] for row in rows["findings"] if row["id"] in ("KC001", "KC505")}
    assert "the earlier run is not compared" in messages["KC001"]
    assert words in messages["KC001"]
    assert messages["KC505"].startswith("the log dir is not in this scan; run a")


def test_an_empty_log_dir_does_not_make_its_broker_two(tmp_path: Path) -> None:
    """The broker is known by another log dir, so an empty one adds none to the expected brokers."""
    shutil.copytree(BROKERS / "4.3.1" / "stopped", tmp_path / "fleet" / "c")
    empty = tmp_path / "fleet" / "c" / "broker-1" / "data1"
    scanned(tmp_path, tmp_path / "fleet" / _LAYOUT, name="a")
    shutil.rmtree(empty)
    empty.mkdir()
    scanned(tmp_path, tmp_path / "fleet" / _LAYOUT, name="b")
    (row,) = json.loads(kcheck("fleet", "report", tmp_path / "out", "--format", "json").out)["clusters"]
    assert (row["brokers_expected"], row["brokers_reached"], row["risk"]) == (3, 3, "fatal")


def test_a_registered_log_dir_is_missed_in_the_first_run(tmp_path: Path) -> None:
    """No earlier run, and no settings, know it; a clone of the cluster that still has it does not hide it."""
    for name in ("south", "west"):
        shutil.copytree(BROKERS / "4.3.1" / "stopped", tmp_path / "fleet" / name)
    shutil.rmtree(tmp_path / "fleet" / "west" / "broker-1" / "data2")
    report, rows = scanned(tmp_path, tmp_path / "fleet" / _LAYOUT, name="a")
    known = [(row["cluster"], row["broker"], row["id"]) for row in rows["findings"] if row["id"] in ("KC505", "KC506")]
    assert [("west", "broker-1", "KC505"), ("south", None, "KC506"), ("west", None, "KC506")] == known
    assert (7, 8, False) == tuple(report.body[name] for name in ("log_dirs_reached", "log_dirs_expected", "finished"))
    ignored, rows = scanned(tmp_path, tmp_path / "fleet" / _LAYOUT, name="b", is_part=True)
    assert (7, 7, True) == tuple(ignored.body[name] for name in ("log_dirs_reached", "log_dirs_expected", "finished"))


def test_a_listed_log_dir_is_missed_by_path_and_by_a_scan(tmp_path: Path) -> None:
    """The server.properties beside the log dirs lists it: the same premise, and no second finding about it."""
    shutil.copytree(BROKERS / "4.3.1" / "stopped", tmp_path / "fleet" / "c")
    broker = tmp_path / "fleet" / "c" / "broker-1"
    shutil.rmtree(broker / "data2")
    (broker / "server.properties").write_text("process.roles=broker\nnode.id=1\nlog.dirs=/x/data1,/x/data2\n")
    done = kcheck(broker, columns=400)
    assert f"{broker}/data2   broker 1\n  fatal KC315 log dir" in done.out
    report, rows = scanned(tmp_path, tmp_path / "fleet" / _LAYOUT, name="a")
    found = [
        (row["id"], row["severity"], row["log_dir"]) for row in rows["findings"] if row["id"] in ("KC315", "KC505")
    ]
    assert [("KC315", "fatal", f"{broker}/data2")] == found
    assert (3, 4, False) == tuple(report.body[name] for name in ("log_dirs_reached", "log_dirs_expected", "finished"))
    (premise,) = (row for row in rows["premises"] if row["id"] == "P301" and row["broker"] == "broker-1")
    assert "log.dirs contains /x/data2" in premise["evidence"]


def test_a_clone_does_not_hide_what_the_other_run_had(tmp_path: Path) -> None:
    """Log dirs of both clusters have one directory id; a log dir that moved is still the same."""
    fleet = tmp_path / "fleet"
    for name in ("south", "west"):
        shutil.copytree(BROKERS / "4.3.1" / "stopped", fleet / name)
    scanned(tmp_path, fleet / _LAYOUT, name="a")
    shutil.rmtree(fleet / "west" / "broker-3")
    shutil.move(fleet / "south" / "broker-1" / "data2", fleet / "south" / "broker-1" / "moved")
    _, rows = scanned(tmp_path, fleet / _LAYOUT, name="b")
    lost_dirs = [
        (row["cluster"], row["log_dir"]) for row in rows["findings"] if row["id"] == "KC505" and row["log_dir"]
    ]
    assert [("west", f"{fleet}/west/broker-3/data1")] == lost_dirs


def test_a_cloned_host_is_an_error(fleet: Path) -> None:
    """Two hosts have the disks of one broker. Elections count one broker, and nothing else looks wrong."""
    shutil.copytree(fleet / "kraft" / "broker-1", fleet / "kraft" / "broker-9")
    _, rows = scanned(fleet.parent, fleet / _LAYOUT, name="a")
    found = [(row["cluster"], row["broker"], row["severity"]) for row in rows["findings"] if row["id"] == "KC506"]
    assert [("kraft", "broker-1", "error"), ("kraft", "broker-9", "error")] == found
