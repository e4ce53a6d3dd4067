"""`kcheck fleet scan --engine spark` behind Spark Connect, to whose server kcheck is sent."""

from pathlib import Path

import pytest

from kcheck.scan.fleet import scan
from tests.cli.command import shell
from tests.scan.test_fleet import LAYOUT, tables
from tests.spark.cluster import connect_server
from tests.spark.conftest import needs_java
from tests.spark.test_fleet import FIXTURES, asked

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def test_a_scan_behind_a_server_has_the_rows_of_one_machine(tmp_path: Path) -> None:
    """Row by row, and the command ends as it does on one machine."""
    needs_java()
    root = str(FIXTURES / "brokers" / "4.3.1" / LAYOUT)
    with connect_server(tmp_path) as master:
        arguments = (root, "--out", "out", "--run", "there", "--engine", "spark", "--master", master)
        done = shell("fleet", "scan", *arguments, cwd=tmp_path)
    assert 1 == done.code, done.err
    assert done.err.endswith("Written: out/run=there\n")
    scan([root], asked(tmp_path / "out", "here"))
    expected, found = (tables(tmp_path / "out" / f"run={name}") for name in ("here", "there"))
    assert {**expected, "runs": 1} == {**found, "runs": len(found["runs"])}
