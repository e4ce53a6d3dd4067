"""What brokers write to their logs about others: a second one with their id, a lost quorum, files of another user."""

import contextlib
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.oracle import histories
from tests.oracle.jars import java_command, run_java
from tests.oracle.kafka import BROKER_STARTED, Cluster, Process, free_port, wait_for
from tests.oracle.logs.broker_logs import attempt

CONFIG: dict[str, object] = {
    "log.retention.check.interval.ms": 1000, "initial.broker.registration.timeout.ms": 8000,
    "replica.lag.time.max.ms": 2000,
}  # fmt: skip
"""What `contested` and `without_quorum` have on top of the configuration of `histories`."""
LOST = 12.0
"""Seconds without what is lost: longer than any session."""


def contested(cluster: Cluster) -> Iterator[Path]:
    """Start twins of a broker, outrun a follower, lose the controller, forbid files; yield each log."""
    one, two = cluster[1], cluster[2]
    histories.create(cluster, "orders", "1:2,2:1")
    histories.create(cluster, "expiring", "1:2", retention_bytes=1, segment_ms=300)
    histories.load(cluster, "send orders 0 0 500 none", "send orders 1 0 500 none", "send expiring 0 0 5 none")
    twins = [_twin(cluster, name, of) for name, of in (("twin", cluster.cluster_id), ("stranger", "A" * 22))]
    _outrun(cluster)
    _lose([cluster.beside])
    for path in (histories.directories(two)["orders-1"], two.log_dirs[0] / "meta.properties", two.log_dirs[1]):
        _forbid(two, path)
    one.kill()
    two.kill()
    logs = [process.log for process in (one, two, *([cluster.beside] if cluster.mode == "kraft" else []))]
    yield from (*logs, *twins)


def without_quorum(cluster: Cluster) -> Iterator[Path]:
    """Of three nodes that are controllers too, lose two, then freeze them all one after the other; yield each log."""
    histories.create(cluster, "orders", "1:2:3")
    histories.load(cluster, "send orders 0 0 50 none")
    for lost in ((1, 2), (2, 3)):
        _lose([cluster[number] for number in lost])
    cluster.kill()
    yield from (process.log for process in cluster.brokers.values())


def remote_lost(cluster: Cluster, remote: Path) -> Iterator[Path]:
    """Lose segments in remote storage, then all of it, while a broker runs and before its start; yield its log."""
    broker = cluster[1]
    settings: dict[str, object] = {"remote_storage_enable": "true", "local_retention_bytes": 1, "segment_ms": 300}
    histories.create(cluster, "tiered", "1", retention_ms=-1, **settings)
    for first in range(0, 40, 10):
        histories.load(cluster, f"send tiered 0 {first} 10 none")
    local = histories.directories(broker)["tiered-0"]
    wait_for("removal", lambda: [path.name for path in local.glob("*.log")] == [f"{30:020d}.log"])
    for path in remote.rglob("*.log"):
        path.unlink()
    with contextlib.suppress(RuntimeError):
        run_java(cluster.version, histories.LOAD.with_name("Consume.java"), cluster.bootstrap, stdin="tiered 0\n")
    away = remote.with_name("away")
    remote.rename(away)
    remote.write_bytes(b"")
    for first in (40, 50):
        histories.load(cluster, f"send tiered 0 {first} 10 none")
    histories.delete_records(cluster, "tiered", 0, 25)
    broker.wait_quiet()
    broker.kill()
    attempt(broker)
    remote.unlink()
    away.rename(remote)
    yield broker.log


def _twin(cluster: Cluster, name: str, cluster_id: str) -> Path:
    """Let a second broker with the id of broker 1 try to start; return its log."""
    one, folder, port = cluster[1], cluster.dir / name, free_port()
    folder.mkdir()
    text = (one.dir / "server.properties").read_text().replace(str(one.port), str(port))
    properties = folder / "server.properties"
    properties.write_text(re.sub(r"(?m)^log\.dirs=.*$", f"log.dirs={folder / 'data1'}", text))
    if cluster.mode == "kraft":
        tool = java_command(
            cluster.version, "kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(properties)
        )
        subprocess.run(tool, check=True, capture_output=True)
    else:
        (folder / "data1").mkdir()
        (folder / "data1" / "meta.properties").write_text(f"version=0\nbroker.id=1\ncluster.id={cluster_id}\n")
    twin = Process(cluster.version, folder, "kafka.Kafka", properties, BROKER_STARTED, port)
    twin.spawn()
    with contextlib.suppress(TimeoutError):
        wait_for("the end of a twin", lambda: not twin.alive, timeout=LOST)
    twin.kill()
    return twin.log


def _outrun(cluster: Cluster) -> None:
    """Let the log start of a leader pass the log end of its follower."""
    one, two = cluster[1], cluster[2]
    two.kill()
    directory = histories.directories(one)["expiring-0"]
    first = min(directory.glob("*.log"))
    for begin in (100, 200):
        histories.load(cluster, f"send expiring 0 {begin} 5 none")
        time.sleep(1)
    histories.load(cluster, "send expiring 0 300 5 none")
    wait_for("a log start above 5", lambda: not first.exists() and int(min(directory.glob("*.log")).stem) > 5)
    two.start()
    two.wait_quiet()


def _lose(processes: list[Process]) -> None:
    for process in processes:
        process.kill()
    time.sleep(LOST)
    for process in processes:
        process.spawn()
    for process in processes:
        process.wait_started()
        process.wait_quiet()


def _forbid(broker: Process, path: Path) -> None:
    """Start a broker that may not open a file or directory."""
    broker.kill()
    mode = path.stat().st_mode & 0o777
    path.chmod(0)
    broker.obey_modes()
    try:
        attempt(broker)
    finally:
        path.chmod(mode)
        broker.install(broker.version)
