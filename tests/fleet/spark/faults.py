"""Faults at random moments of a scan by a real Spark cluster: `python -m tests.fleet.spark.faults --count 20 --seed 1`.

Each fault meets a run of its own: an executor, a worker with its executor, the Python or the Java of the driver is
killed, or the disk of the run is full or read-only from a moment on, or the log dirs vanish on one of the two hosts.
The run then has the rows of one that nobody disturbed, or there is none, and kcheck has said so in one line. Queries
over all runs go on, and the same `--run` can be tried again. Printed is the table of docs/fleet.md. Faults of
disks need the right to mount.
"""

import argparse
import contextlib
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import duckdb

from kcheck.fleet.run import open_runs
from kcheck.fleet.runs.by_cluster import needing_a_person
from kcheck.fleet.runs.recover import decision_columns
from kcheck.fleet.scan.local_engine import ScanRun, scan
from kcheck.fleet.scan.releases import ReleaseOptions
from tests.cases.build import FIXTURES
from tests.cli.command import KCHECK, environment, left_to_nobody
from tests.fleet.scan.test_local_engine import LAYOUT, Rows, tables
from tests.fleet.spark.cluster import HOSTS, SparkCluster, cluster, options
from tests.fleet.spark.test_engine import asked

_SIZE = "64m"
_SECONDS = 900
_CANNOT = 3
"""The exit code of a run that there is not."""


class Scene(NamedTuple):
    """What faults meet: a cluster, log dirs in `tree`, runs in `out`, the rows of a run that nobody disturbed."""

    cluster: SparkCluster
    tree: Path
    out: Path
    rows: Rows

    @property
    def root(self) -> str:
        """The layout of the log dirs."""
        return str(self.tree / LAYOUT)


class Met(NamedTuple):
    """A fault: at which second, the exit code of the command, its line if there is no run."""

    fault: str
    second: float
    code: int
    line: str | None


def _executor(scene: Scene, command: "subprocess.Popen[bytes]", chance: random.Random) -> None:
    """Kill an executor."""
    victims = _awaited(scene.cluster.executors, command)
    if victims:
        _kill(chance.choice(sorted(victims.values())))


def _worker(scene: Scene, command: "subprocess.Popen[bytes]", chance: random.Random) -> None:
    """Kill a worker and its executor, as where a host is lost."""
    del command
    scene.cluster.end_worker(chance.choice(HOSTS))


def _busy_worker(scene: Scene, command: "subprocess.Popen[bytes]", chance: random.Random) -> None:
    """Kill a worker and its executor while both hosts scan."""
    staged = scene.out / ".unfinished=r" / "_staging"
    while command.poll() is None and not (len(scene.cluster.executors()) == len(HOSTS) and staged.exists()):
        time.sleep(0.02)
    _worker(scene, command, chance)


def _driver(scene: Scene, command: "subprocess.Popen[bytes]", chance: random.Random) -> None:
    """Kill the Python of the driver."""
    del scene, chance
    _kill(command.pid)


def _java(scene: Scene, command: "subprocess.Popen[bytes]", chance: random.Random) -> None:
    """Kill the Java of the driver."""
    del scene, chance
    victims = _awaited(lambda: _java_of(command.pid), command)
    if victims:
        _kill(*victims.values())


def _full(scene: Scene, command: "subprocess.Popen[bytes]", chance: random.Random) -> None:
    """Fill the disk of the run."""
    del command, chance
    with (scene.out.parent / "filler").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1 << 16))


def _read_only(scene: Scene, command: "subprocess.Popen[bytes]", chance: random.Random) -> None:
    """Let nothing more be written to the disk of the run."""
    del chance
    while command.poll() is None and not _mount("-o", "remount,ro", str(scene.out.parent)):
        time.sleep(0.01)  # A file is open.


def _vanished(scene: Scene, command: "subprocess.Popen[bytes]", chance: random.Random) -> None:
    """Hide the log dirs from one host."""
    del command
    worker = chance.choice(sorted(scene.cluster.have_workers().values()))
    hide = ("mount", "-t", "tmpfs", "none", str(scene.tree))
    subprocess.run(["nsenter", "-m", "-t", str(worker), *hide], check=True)


KILLS: Mapping[str, Callable[[Scene, "subprocess.Popen[bytes]", random.Random], None]] = {
    "executor killed": _executor,
    "worker killed": _worker,
    "driver killed": _driver,
    "Java of the driver killed": _java,
}
DISKS: Mapping[str, Callable[[Scene, "subprocess.Popen[bytes]", random.Random], None]] = {
    "disk of the run full": _full,
    "disk of the run read-only": _read_only,
    "log dirs vanished on one host": _vanished,
}


BUSY = {"busy worker killed": _busy_worker}


def as_command(out: Path, name: str, **how: str) -> ScanRun:
    """Return a run as the command has it, which also decides each cluster."""
    return asked(out, name, auto=ReleaseOptions(), **how)._replace(decide=decision_columns, needed=needing_a_person)


@contextlib.contextmanager
def scene_in(folder: Path) -> Iterator[Scene]:
    """Make a scene in a folder, with a disk of its own for the runs where that can be mounted."""
    tree, disk = folder / "tree", folder / "disk"
    shutil.copytree(FIXTURES / "brokers" / "4.3.1", tree)
    disk.mkdir()
    with contextlib.ExitStack() as stack:
        if _mount("-t", "tmpfs", "-o", f"size={_SIZE}", "none", str(disk)):
            stack.callback(subprocess.run, ["umount", "-l", str(disk)], check=True)
        scan([str(tree / LAYOUT)], as_command(disk / "out", "before"))
        (folder / "cluster").mkdir()
        started = stack.enter_context(cluster(folder / "cluster"))
        yield Scene(started, tree, disk / "out", tables(disk / "out" / "run=before"))


def can_mount() -> bool:
    """Whether this process may mount a disk, and hide one from a worker."""
    with tempfile.TemporaryDirectory() as folder:
        if not _mount("-t", "tmpfs", "none", folder):
            return False
        subprocess.run(["umount", folder], check=True)
    return shutil.which("nsenter") is not None


def meet(scene: Scene, fault: str, second: float, chance: random.Random) -> Met:
    """Disturb a run at a moment, and hold what this module promises."""
    if fault == "log dirs vanished on one host":
        for host in HOSTS:
            scene.cluster.end_worker(host)
        scene.cluster.have_workers("unshare", "-m")
    begin = time.monotonic()
    with _scanning(scene) as (command, said):
        with contextlib.suppress(subprocess.TimeoutExpired):
            command.wait(second)
        second = time.monotonic() - begin
        {**KILLS, **DISKS, **BUSY}[fault](scene, command, chance)
        code = command.wait(_SECONDS)
    if fault == "log dirs vanished on one host":
        for host in HOSTS:  # The next fault meets hosts that see the log dirs.
            scene.cluster.end_worker(host)
    _mended(scene)
    line = _judged(scene, code, said)
    _tried_again(scene)
    return Met(fault, second, code, line)


@contextlib.contextmanager
def _scanning(scene: Scene) -> "Iterator[tuple[subprocess.Popen[bytes], Path]]":
    """Start a scan by the cluster; gives it, and the file with what it says."""
    folder = scene.out.parent.parent
    told = [*options(scene.cluster.address, folder / "local"), "--conf", "spark.log.level=OFF", "pyspark-shell"]
    arguments = ["fleet", "scan", scene.root, "--output-dir", str(scene.out), "--run", "r", "--fail-on", "fatal"]
    arguments += ["--engine", "spark", "--master", scene.cluster.address, "--no-progress"]
    changes = {"SPARK_LOCAL_IP": HOSTS[0], "PYSPARK_SUBMIT_ARGS": shlex.join(told), "PYSPARK_PYTHON": sys.executable}
    said = folder / "said"
    with (
        said.open("wb") as stream,
        subprocess.Popen(
            [*KCHECK, *arguments], env=environment(**changes), stdout=subprocess.DEVNULL, stderr=stream, cwd=folder
        ) as command,
        left_to_nobody(command),
    ):
        yield command, said


def _judged(scene: Scene, code: int, said: Path) -> str | None:
    """Hold that a run has all rows, or is none; return what the command said of one that is none."""
    log = said.read_text()
    assert "Traceback" not in log, log
    runs = {run.name for run in open_runs([str(scene.out)])}
    lines = [line for line in log.splitlines() if line.startswith("kcheck: ")]
    if "r" in runs:
        found = tables(scene.out / "run=r")
        assert {**scene.rows, "runs": 1} == {**found, "runs": len(found["runs"])}
        assert code in (0, 1, -signal.SIGKILL), log
    else:
        assert code in (_CANNOT, -signal.SIGKILL), log
        assert len(lines) == (code == _CANNOT), log
    (count,) = duckdb.execute(f"SELECT count(*) FROM '{scene.out}/run=*/findings/*.parquet'").fetchall()[0]
    assert len(scene.rows["findings"]) * len(runs) == count
    return None if "r" in runs else "".join(lines)


def _tried_again(scene: Scene) -> None:
    """Hold that a run of the same name is written now, and that nothing else is left."""
    if not (scene.out / "run=r").exists():
        scan([scene.root], as_command(scene.out, "r"))
    found = tables(scene.out / "run=r")
    assert {**scene.rows, "runs": 1} == {**found, "runs": len(found["runs"])}
    shutil.rmtree(scene.out / "run=r")
    assert ["run=before"] == [path.name for path in scene.out.iterdir()]


def _mended(scene: Scene) -> None:
    """Have the cluster and the disks as they were."""
    _mount("-o", "remount,rw", str(scene.out.parent))
    (scene.out.parent / "filler").unlink(missing_ok=True)
    scene.cluster.have_workers()


def _awaited(victims: Callable[[], Mapping[str, int]], command: "subprocess.Popen[bytes]") -> Mapping[str, int]:
    """Return those that there are, as soon as there is one; none if the command ends before that."""
    while not (found := victims()) and command.poll() is None:
        time.sleep(0.02)
    return found


def _java_of(process: int) -> dict[str, int]:
    """Return the Java of Spark that a process has started, not the one that only says its version."""
    found = {}
    with contextlib.suppress(OSError):  # it has ended
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                if b"org.apache.spark.deploy.SparkSubmit" in Path(f"/proc/{child}/cmdline").read_bytes():
                    found["java"] = int(child)
    return found


def _kill(*processes: int) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def _mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], check=False, capture_output=True).returncode == 0


def main() -> None:
    """Meet faults one after the other, each kind in its turn, and print what became of the runs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=20, help="processes that are killed")
    parser.add_argument("--disks", type=int, default=6, help="disks that fail")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--within", type=float, default=60, help="seconds of the scan at which they fail")
    given = parser.parse_args()
    chance = random.Random(given.seed)
    disks = ([*DISKS] * given.disks)[: given.disks * can_mount()]
    kinds = [*disks, *([*KILLS][::-1] * given.count)[: given.count]]
    seen: list[Met] = []
    with tempfile.TemporaryDirectory() as name, scene_in(Path(name)) as scene:
        for kind in kinds:
            seen.append(meet(scene, kind, chance.uniform(0, given.within), chance))
            fault, second, code, line = seen[-1]
            said = "the run is complete" if line is None else line or "no run"
            print(f"{fault}, at {second:.1f} s: exit code {code}, {said}", flush=True)
    print("\n| Fault | Runs | complete, with equal rows | no run |\n|---|---|---|---|")
    counts = Counter((met.fault, met.line is None) for met in seen)
    for kind in dict.fromkeys(kinds):
        complete, none = counts[kind, True], counts[kind, False]
        print(f"| {kind} | {complete + none} | {complete} | {none} |")


if __name__ == "__main__":
    main()
