"""`kcheck fleet scan --engine spark` behind Spark Connect, to whose server kcheck is sent."""

import json
import subprocess
from pathlib import Path
from typing import Any

import fsspec
import pytest

from kcheck.fleet.scan.local_engine import scan
from kcheck.fleet.scan.releases import ReleaseOptions
from tests.cases.build import FIXTURES
from tests.cli.command import KCHECK, environment, shell
from tests.fleet.scan.test_local_engine import LAYOUT, tables
from tests.fleet.spark.cluster import connect_server, wait_for
from tests.fleet.spark.conftest import needs_java
from tests.fleet.spark.test_engine import asked
from tests.stores import upload

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*fork:DeprecationWarning", "ignore::DeprecationWarning:botocore", "ignore::ResourceWarning"
)


@pytest.mark.whole
def test_a_scan_behind_a_server_has_the_rows_of_one_machine(s3: dict[str, Any], tmp_path: Path) -> None:
    """Row by row, written into a store, and the command ends as it does on one machine."""
    needs_java()
    root = str(FIXTURES / "brokers" / "4.3.1" / LAYOUT)
    (tmp_path / "nothing").mkdir()
    url = upload(tmp_path / "nothing", "connect", s3)
    options = [f"--storage-option={name}={json.dumps(value)}" for name, value in s3.items()]
    with connect_server(tmp_path) as master:
        arguments = (root, "--output-dir", url, "--run", "there", "--engine", "spark", "--master", master, *options)
        done = shell("fleet", "scan", *arguments, cwd=tmp_path)
    assert 0 == done.code, done.err
    assert done.err.endswith(f"Written: {url}/run=there\n")
    scan([root], asked(tmp_path / "out", "here", auto=ReleaseOptions()))
    fsspec.filesystem("s3", **s3).get(f"{url}/run=there", str(tmp_path / "out" / "run=there"), recursive=True)
    expected, found = (tables(tmp_path / "out" / f"run={name}") for name in ("here", "there"))
    assert {**expected, "runs": 1} == {**found, "runs": len(found["runs"])}


@pytest.mark.whole
def test_a_server_that_ends_is_told_in_a_line(tmp_path: Path) -> None:
    """Its client asks for it again, for about a minute; then there is no run."""
    needs_java()
    root, out = FIXTURES / "brokers" / "4.3.1" / LAYOUT, tmp_path / "out"
    arguments = ("fleet", "scan", root, "--output-dir", out, "--run", "r", "--engine", "spark", "--quiet", "--master")
    with connect_server(tmp_path) as master:
        command = [*KCHECK, *map(str, arguments), master]
        process = subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True)
        wait_for((out / ".unfinished=r").exists, process)
    _, err = process.communicate(timeout=300)
    assert (3, []) == (process.returncode, [*out.iterdir()]), err
    assert 1 == len(err.splitlines()), err
    assert err.startswith("kcheck: Spark could not finish: ")
