"""How much of a fleet was reached: too little gives no run."""

import shutil
from pathlib import Path

import pytest

from tests.cli.command import kcheck
from tests.fleet.scan.test_cluster_metadata import OUTRUN
from tests.fleet.scan.test_local_engine import LAYOUT, scanned

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def reached(tmp_path: Path, *roots: str | Path) -> tuple[object, object]:
    """Return how many log dirs a scan without a minimum has reached, and how many it has expected."""
    name = f"r{len([*tmp_path.glob('out/*')])}"
    report, rows = scanned(tmp_path, *roots, name=name)
    (row,) = rows["runs"]
    numbers = (report.body["log_dirs_reached"], report.body["log_dirs_expected"])
    assert numbers == (row["log_dirs_reached"], row["log_dirs_expected"])
    return numbers


def test_a_missing_log_dir_of_an_inventory_is_not_reached(data: Path, tmp_path: Path) -> None:
    """The table says why; with the default there is no run, and the error names what is missing."""
    there = data.parents[1] / "1"
    names = tmp_path / "names.csv"
    names.write_text(f"log_dir,cluster,broker\n{there}/d1,c,1\n{there}/d2,c,1\n{there}/d3,c,1\n")
    assert (2, 3) == reached(tmp_path, names)
    _, rows = scanned(tmp_path, names, name="again")
    assert [None, None, "No such file or directory"] == [row["problem"] for row in rows["log_dirs"]]
    done = kcheck("fleet", "scan", names, "--output-dir", tmp_path / "all", "--run", "x")
    said = " ".join(done.err.split())
    assert (3, True) == (done.code, "the scan reached 2 of 3 log dirs, and --min-coverage is 100 %: no run" in said)
    assert f"Not reached: {there}/d3 (No such file or directory)" in said
    assert [] == [*(tmp_path / "all").iterdir()]
    done = kcheck("fleet", "scan", names, "--output-dir", tmp_path / "all", "--run", "x", "--min-coverage", "50")
    assert (3, True) == (done.code, "reached 2 of 3 log dirs" in done.out)
    done = kcheck("fleet", "scan", names, "--output-dir", tmp_path / "all", "--min-coverage", "101")
    assert (2, True) == (done.code, "from 0 to 100" in done.err)


def test_a_part_of_a_cluster_can_be_scanned(tmp_path: Path) -> None:
    """The log dir of the other broker is expected: it may be a lost disk."""
    assert (2, 3) == reached(tmp_path, OUTRUN / "broker-1", OUTRUN / "broker-2")


def test_damage_in_a_log_dir_costs_no_coverage(tmp_path: Path) -> None:
    """Not even a lost meta.properties."""
    data = tmp_path / "some"
    shutil.copytree(OUTRUN, data / "c")
    for broker in (data / "c").iterdir():
        broker.rename(broker.with_name(broker.name.removeprefix("broker-")))
    (data / "c" / "2" / "data1" / "meta.properties").unlink()
    assert (3, 3) == reached(tmp_path, data / LAYOUT)
