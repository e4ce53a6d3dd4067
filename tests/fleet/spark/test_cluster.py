"""A scan by a real cluster, in the middle of which something fails: the rows of one machine, or no run and one line."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from kcheck.fleet.scan.local_engine import scan
from tests.cli.command import KCHECK, environment, left_to_nobody
from tests.fleet.scan.test_local_engine import tables
from tests.fleet.spark.cluster import HOSTS, around, options, wait_for
from tests.fleet.spark.conftest import needs_java
from tests.fleet.spark.faults import BUSY, DISKS, KILLS, Scene, as_command, can_mount, meet, scene_in
from tests.fleet.spark.test_engine import brokers, cases
from tests.oracle.ask import SEED

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

SLOW = Path(__file__).parent / "executor"
FAULTS = [*KILLS] * 5 + [*DISKS] * 2 * can_mount()
_SECONDS = 20
"""What an undisturbed scan takes, more or less."""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Start a cluster."""
    needs_java()
    with scene_in(tmp_path_factory.mktemp("scene")) as made:
        yield made


def test_a_worker_that_is_killed_in_the_middle_changes_no_row(scene: Scene) -> None:
    """The other one of the two runs its tasks again; the tables are those of one machine."""
    met = meet(scene, next(iter(BUSY)), 0, Random(SEED))
    assert (0, None) == (met.code, met.line)


@pytest.mark.whole
@pytest.mark.parametrize(("number", "fault"), [*enumerate(FAULTS)])
def test_a_fault_leaves_all_rows_or_no_run(number: int, fault: str, scene: Scene) -> None:
    """At a random moment; what is no run is said in one line, breaks no query, and the same name is free again."""
    chance = Random(f"{SEED} {number}")
    meet(scene, fault, chance.uniform(0, _SECONDS), chance)


@pytest.mark.whole
def test_lost_executors_and_second_copies_change_no_row(scene: Scene, tmp_path: Path) -> None:
    """One task hangs until a copy of it is run on the other host; the executor there is killed meanwhile."""
    roots = [*map(str, brokers(tmp_path)), *map(str, [*cases()][::4])]
    assert len(roots) > 50
    marks = tmp_path / "marks"
    marks.mkdir()
    arguments = ["fleet", "submit", *roots, "--output-dir", "out", "--run", "there", "--fail-on", "fatal"]
    arguments += ["--depth", "headers"]
    told = options(scene.cluster.address, tmp_path / "local", PYTHONPATH=str(SLOW), KCHECK_TEST_MARKS=str(marks))
    with (
        (tmp_path / "said").open("wb") as said,
        subprocess.Popen(
            [*KCHECK, *arguments, "--", *told], cwd=tmp_path, env=environment(SPARK_LOCAL_IP=HOSTS[0]), stderr=said,
            stdout=subprocess.PIPE,
        ) as started,
        left_to_nobody(started),
    ):  # fmt: skip
        straggler = marks / "straggler"
        wait_for(lambda: straggler.exists() and straggler.read_text(), started)
        wait_for(lambda: [*tmp_path.glob("out/.unfinished=there/_staging/scan/_temporary/0/task_*")], started)
        kept = {*around(int(straggler.read_text()))}
        (victim,) = (process for process in scene.cluster.executors().values() if process not in kept)
        os.kill(victim, signal.SIGKILL)
        shown, _ = started.communicate(timeout=600)
    log = (tmp_path / "said").read_text()
    assert 1 == started.returncode, log
    assert "Lost executor" in log
    assert shown.decode().endswith("Written: out/run=there\n")  # spark-submit shows stderr on stdout
    scan(roots, as_command(tmp_path / "out", "here", depth="headers"))
    expected, found = (tables(tmp_path / "out" / f"run={name}") for name in ("here", "there"))
    assert {**expected, "runs": 1} == {**found, "runs": len(found["runs"])}
