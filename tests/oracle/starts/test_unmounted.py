"""A log dir whose disk is not mounted: real brokers start with it or not, and no verb is green where they lose by it.

`KCHECK_SWEEP` takes every release; `tests/cli/test_unmounted.py` asks more without brokers.
"""

import contextlib
import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.cli.command import kcheck
from tests.oracle.ask import sampled
from tests.oracle.incidents.client import Client
from tests.oracle.kafka import Cluster, Process, wait_for

pytestmark = pytest.mark.oracle


def _empty(path: Path) -> None:
    shutil.rmtree(path)
    path.mkdir()


def _lost_and_found(path: Path) -> None:
    _empty(path)
    (path / "lost+found").mkdir()


def _bare_identity(path: Path) -> None:
    text = (path / "meta.properties").read_bytes()
    _empty(path)
    (path / "meta.properties").write_bytes(text)


def _nothing(path: Path) -> None:
    shutil.rmtree(path)


def _file(path: Path) -> None:
    shutil.rmtree(path)
    path.touch()


SHAPES: Mapping[str, Callable[[Path], None]] = {
    "empty": _empty, "lost+found": _lost_and_found, "meta.properties alone": _bare_identity, "missing": _nothing,
    "a file": _file,
}  # fmt: skip


def _starts(process: Process) -> bool:
    """Start a broker; return whether it does, once it says so or has ended."""
    process.spawn()
    wait_for("a start or an end", lambda: not process.alive or "started (kafka.server" in process.log_since_start())
    return process.alive


def _answers(folder: Path, metadata: str, kafka: str, disks: str) -> dict[str, int]:
    """Return the exit codes of what an operator asks about broker 1 before the start."""
    commands = [f"preflight broker-1/server.properties {metadata} {kafka}"]
    commands += [f"{verb} {disks} {metadata} {kafka}" for verb in ("predict", "")]
    with contextlib.chdir(folder):
        return {command: kcheck(*shlex.split(command)).code for command in commands}


@pytest.mark.parametrize("version", sampled(("3.3.2", "3.6.2", "3.7.2", "3.9.2", "4.0.2", "4.3.1")))
def test_with_kraft(version: str, start: Callable[..., Cluster], tmp_path: Path) -> None:
    """A broker of two log dirs and its controller: one of the log dirs has no meta.properties, or none has one."""
    told = {}
    with start(version, 1, dir=tmp_path / "c", log_dirs=2) as cluster:
        with Client(cluster.bootstrap) as client:
            for command in ("create orders 1;1;1;1", *(f"send orders {number} 10 none all" for number in range(4))):
                client.ask(command)
            assert client.said == []
        cluster.stop()
        shutil.copytree(cluster[1].dir, tmp_path / "kept")
        for name, shape in SHAPES.items():
            for emptied in ((2,), (1, 2)):
                for number in (1, 2):
                    if cluster[1].log_dirs[number - 1].is_file():
                        cluster[1].log_dirs[number - 1].unlink()
                    shutil.rmtree(cluster[1].log_dirs[number - 1], ignore_errors=True)
                    shutil.copytree(tmp_path / "kept" / f"data{number}", cluster[1].log_dirs[number - 1])
                for number in emptied:
                    shape(cluster[1].log_dirs[number - 1])
                there = [number for number in (1, 2) if cluster[1].log_dirs[number - 1].is_dir()]
                disks = " ".join(f"1=broker-1/data{number}" for number in there) or "1=broker-1/server.properties"
                codes = _answers(cluster.dir, "", f"--kafka {version}", disks)
                # Of the other log dir alone, predict and PATH say that one is not given.
                allowed = {0, 1, 3} if there == [1] else {1, 3}
                assert set(codes.values()) <= allowed, (name, emptied, codes)
                told[name, emptied] = _starts(cluster[1])
                cluster[1].kill()
    assert told == {
        (name, emptied): name == "meta.properties alone" or (name == "a file" and emptied == (2,))
        for name in SHAPES
        for emptied in ((2,), (1, 2))
    }


@pytest.mark.parametrize("version", sampled(("2.4.1", "2.8.2", "3.9.2")))
@pytest.mark.parametrize("shape", ["empty", "meta.properties alone"])
def test_with_zookeeper(version: str, shape: str, start: Callable[..., Cluster], tmp_path: Path) -> None:
    """The broker starts, and leads what it was the last in sync of: 30 acknowledged records are gone everywhere."""
    with start(version, 2, dir=tmp_path / "c", mode="zk") as cluster:
        with Client(cluster.bootstrap) as client:
            for command in ("create orders 1,2", "send orders 0 30 none all"):
                client.ask(command)
            assert client.said == []
        cluster[2].stop()
        cluster[1].stop()
        SHAPES[shape](cluster[1].log_dirs[0])
        cluster.beside.stop()
        codes = _answers(cluster.dir, "--metadata zookeeper", f"--kafka {version}", "1=broker-1/data1")
        elect = "recover 1=broker-1/data1 2=broker-2/data1"
        with contextlib.chdir(cluster.dir):
            codes[elect] = kcheck(*shlex.split(elect), "--kafka", version).code
        assert set(codes.values()) == {1}, codes
        cluster.beside.start()
        assert _starts(cluster[1])
        cluster[2].start()
        with Client(cluster.bootstrap) as client:
            rows = client.ask("read orders 0")
            assert not [row for row in rows if row[0] == "r"], rows
