"""`kcheck fleet scan` as it is typed: what it says, how it ends, what it refuses."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.builders import log_dir, partition_dir, run
from tests.cli.command import environment, kcheck, left_to_nobody, shell

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
"""The test runner has threads where kcheck has none."""


@pytest.fixture
def root(tmp_path: Path) -> str:
    """Make a fleet of one log dir and return its layout."""
    data = log_dir(tmp_path / "fleet" / "1" / "d", recovery_point={"t-0": 10}, high_watermark={"t-0": 10})
    partition_dir(data / "t-0", [run(0, 9)])
    return f"{tmp_path}/fleet/{{broker}}/{{log_dir}}"


def test_it_says_what_was_written(root: str, tmp_path: Path) -> None:
    """The run is named by the time, or as it was told; the last line tells where it is."""
    done = shell("fleet", "scan", root, "--output-dir", "out", "--fail-on", "fatal", cwd=tmp_path)
    (written,) = (tmp_path / "out").iterdir()
    assert re.fullmatch(r"run=\d{8}T\d{6}\.\d{3}Z", written.name)
    assert (0, f"Written: out/{written.name}\n") == (done.code, done.err)
    assert "1 log dir, 1 partition directory, 1 finding in " in done.out
    options = ("--run", "x", "--quiet", "--format", "json", "--fail-on", "fatal")
    done = shell("fleet", "scan", root, "--output-dir", "out", *options, cwd=tmp_path)
    found = json.loads(done.out)
    assert (0, "") == (done.code, done.err)
    assert ("kcheck.fleet-scan/1", "x", "out/run=x", 1) == (
        found["schema"], found["run"], found["path"], found["rows"]["partitions"],
    )  # fmt: skip
    assert sum(found["summary"].values()) == found["rows"]["findings"] > 0
    assert found["finished"]


def test_it_ends_as_check_does(root: str, tmp_path: Path) -> None:
    """1 on a finding to fail on, shown or not; 3 where something could not be looked at, and it says so."""
    common = ("fleet", "scan", root, "--output-dir", tmp_path / "out")
    assert 1 == kcheck(*common, "--run", "a", "--fail-on", "info").code
    assert 1 == kcheck(*common, "--run", "b", "--fail-on", "info", "--severity", "fatal").code
    assert 0 == kcheck(*common, "--run", "c", "--fail-on", "info", "--ignore", "KC").code
    (tmp_path / "fleet" / "1" / "d" / "t-1").symlink_to("/")
    done = kcheck(*common, "--run", "d")
    assert 3 == done.code
    assert "Incomplete: findings KC000 and KC001" in done.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--depth", "deep"), "--depth deep: not one of checkpoints, headers, crc, records"),
        (("--engine", "flink"), "--engine flink: not one of local, spark"),
        (("--time-limit", "0"), "--time-limit 0: must be more than 0 seconds"),
        (("--run", "../x"), "--run ../x: use up to 64 letters, digits and ._-"),
        (("--jobs", "0"), "--jobs 0: must be from 1 to 256"),
        (("--format", "csv"), "--format csv: the tables are Parquet; use text, json, ndjson"),
        (("-o", "none/x"), "-o none/x: no such directory: none"),
    ],
)
def test_what_makes_no_sense_is_refused(options: tuple[str, ...], said: str, root: str, tmp_path: Path) -> None:
    """Before anything is looked at or written."""
    done = kcheck("fleet", "scan", root, "--output-dir", tmp_path / "out", *options)
    assert (2, "") == (done.code, done.out)
    assert said in done.err
    assert not (tmp_path / "out").exists()


SLOW = """
import sys, time
from kcheck.cli.app import main
from kcheck.fleet.scan import steps as fleet_stages

fleet_stages.check_partition = lambda *_: time.sleep(3600)
sys.argv[0] = "kcheck"
main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_stopped_leaves_nothing(number: int, code: int, root: str, tmp_path: Path) -> None:
    """At once, also while a directory is looked at."""
    command = [sys.executable, "-c", SLOW, "fleet", "scan", root, "--output-dir", "out", "--jobs", "2"]
    with (
        subprocess.Popen(command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True) as started,
        left_to_nobody(started),
    ):
        while not [*tmp_path.glob("out/.unfinished=*/segments")]:
            time.sleep(0.05)
        time.sleep(0.5)
        started.send_signal(number)
        _, said = started.communicate(timeout=60)
    assert code == started.returncode
    assert "Traceback" not in said
    assert [] == [*(tmp_path / "out").iterdir()]


def test_it_looks_only_at_what_changed(root: str, tmp_path: Path) -> None:
    """Since a run, or the newest one below a directory; it says how much that was."""
    common = ("fleet", "scan", root, "--output-dir", tmp_path / "out", "--fail-on", "fatal")
    assert 0 == kcheck(*common, "--run", "a", "--remember").code
    for since in (tmp_path / "out" / "run=a", tmp_path / "out"):
        done = kcheck(*common, "--since-run", since)
        assert (0, True) == (done.code, "1 unchanged partition directories" in done.out), done.err
    partition_dir(tmp_path / "fleet" / "1" / "d" / "t-0", [run(0, 9), run(10, 19)])
    assert 0 == json.loads(kcheck(*common, "--since-run", tmp_path / "out", "--format", "json").out)["carried_over"]
    assert "carried_over" not in json.loads(kcheck(*common, "--format", "json").out)


def test_a_run_that_was_stopped_goes_on(root: str, tmp_path: Path) -> None:
    """By its name, or that of its directory; what is left of it is hidden, and nothing is left when it is whole."""
    hidden = tmp_path / "out" / ".run=x"
    hidden.mkdir(parents=True)
    common = ("fleet", "scan", root, "--output-dir", tmp_path / "out", "--fail-on", "fatal")
    done = kcheck(*common, "--resume", f"{tmp_path}/out/run=x/")
    assert (0, True) == (
        done.code,
        "0 unchanged partition directories were not read again" in " ".join(done.out.split()),
    ), done.err
    assert ["run=x"] == [path.name for path in (tmp_path / "out").iterdir()]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--since", "none"), "none: no such file or directory"),
        (("--since-run", "{out}"), "remembers no directory, because it was scanned without --remember"),
        (("--resume", "y"), "--resume y: nothing is left of it"),
        (("--resume", "x"), "run=x is complete"),
        (("--resume", "y", "--run", "z"), "leave out --run and --since-run"),
        (("--resume", "y", "--since-run", "{out}"), "leave out --run and --since-run"),
    ],
)
def test_what_nobody_remembers_is_refused(options: tuple[str, ...], said: str, root: str, tmp_path: Path) -> None:
    """In one line, and no run is begun."""
    out = tmp_path / "out"
    common = ("fleet", "scan", root, "--output-dir", out)
    kcheck(*common, "--run", "x")
    done = kcheck(*common, *(option.replace("{out}", str(out)) for option in options))
    assert (2, "", True) == (done.code, done.out, said in done.err), done.err
    assert ["run=x"] == [path.name for path in out.iterdir()]
