"""A log that ends below its end in the earlier run is a finding of the scan and of the diff, until it is back."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kcheck.fleet.run import open_run
from kcheck.fleet.went_back import went_back
from tests.cli.command import kcheck
from tests.fleet.runs.test_exit_codes import fleet, remove, scan, summary
from tests.fleet.scan.test_local_engine import tables
from tests.fleets import LOG_DIR, PARTITION, forged

__all__ = ["fleet"]
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
_NOW = {**PARTITION, "log_start_offset": 4, "log_end_offset": 10, "topic_id": "a"}


def findings(fleet: Path, run: str) -> list[tuple[str, str, str]]:
    """Return the rows of KC508 in a run."""
    rows = tables(fleet.parent / "out" / f"run={run}")["findings"]
    return [(row["broker"], row["dir"], row["message"]) for row in rows if row["id"] == "KC508"]


def test_a_shorter_log_stays_a_finding_until_it_is_back(fleet: Path) -> None:
    """Also of a follower, which every other answer calls harmless. The report says it first."""
    whole = shutil.copytree(fleet, fleet.with_name("whole"))
    assert 0 == scan(fleet, "a")
    remove(fleet / "calm" / "broker-1" / "data1" / "segments-0", -1)
    assert (1, 1) == (scan(fleet, "b"), scan(fleet, "c"))
    shorter = ("broker-1", "segments-0", "the log end went back from 129 in run a to 120")
    assert ([shorter], [shorter]) == (findings(fleet, "b"), findings(fleet, "c"))
    kinds = [(row["kind"], row["broker"]) for row in summary(fleet, "c")["actions"]]
    assert ("went-back", "broker-1") in kinds
    shutil.rmtree(fleet)
    shutil.copytree(whole, fleet)
    assert (0, []) == (scan(fleet, "d"), findings(fleet, "d"))


def test_a_diff_compares_log_ends_where_no_scan_did(fleet: Path) -> None:
    """Runs in other directories. It counts as a new error, and the page of the report says nothing else."""
    out = fleet.parent / "out"
    assert 0 == scan(fleet, "a")
    remove(fleet / "calm" / "broker-1" / "data1" / "segments-0", -1)
    kcheck(
        "fleet", "scan", fleet / "{cluster}/{broker}/{log_dir}", "--output-dir", fleet.parent / "other", "--run", "b"
    )
    done = kcheck("fleet", "diff", out, fleet.parent / "other", "--format", "json", "--select", "KC508")
    answer = json.loads(done.out)
    assert (1, 1, 1) == (done.code, answer["summary"]["error"], len(answer["lost"]))
    assert {"change": "new", "findings": 1} in answer["counts"]
    text = kcheck("fleet", "diff", out, fleet.parent / "other", columns=400).out
    assert "new: cluster calm broker broker-1: error KC508 the log end went back from 129" in text
    assert 0 == kcheck("fleet", "diff", out, fleet.parent / "other", "--ignore", "KC5").code


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"log_end_offset": 11, "log_start_offset": 9}, []),  # It grew, and retention deleted records.
        ({"log_end_offset": 9}, [(4, 9)]),
        ({"log_end_offset": 9, "log_dir": "/other"}, [(4, 9)]),  # Moved within its broker.
        ({"log_start_offset": 3}, [(3, 10)]),
        ({"log_end_offset": 9, "topic_id": "b"}, []),  # Another topic of this name.
        ({"log_end_offset": 9, "topic_id": None}, [(4, 9)]),
        ({"log_end_offset": 9, "state": "deleted"}, []),
        ({"log_end_offset": None}, []),
        ({"log_end_offset": 0, "broker": "2"}, []),
    ],
)
def test_the_same_replica_is_compared(tmp_path: Path, changes: dict[str, Any], expected: list[tuple[int, int]]) -> None:
    """By broker and partition. The longest of several directories counts."""
    rows = [{**_NOW, **changes}, {**_NOW, "log_dir": "/z", "log_end_offset": 8}][: 1 if changes else 2]
    before = open_run(str(forged(tmp_path, "a", partitions=[_NOW])))
    after = open_run(str(forged(tmp_path, "b", partitions=rows, log_dirs=[LOG_DIR])))
    found = [*went_back(before, after)]
    assert expected == [(row.start, row.end) for _, row in found]
    assert all(place == ("c", "1") for place, _ in found)
