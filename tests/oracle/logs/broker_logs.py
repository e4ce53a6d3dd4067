"""What brokers write to their logs about damaged and diverged directories, by a history that makes them write it."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.builders import flip_byte
from tests.oracle import histories
from tests.oracle.kafka import Cluster, Process, wait_for

CONFIG: dict[str, object] = {"replica.high.watermark.checkpoint.interval.ms": 1000, "log.flush.interval.messages": 1000}
"""What `damaged` has on top of the configuration of `histories`."""
_ENDED = re.compile(
    r"started \(kafka\.server\.Kafka(?:Raft)?Server\)|shut ?down completed|Halting|Exiting Kafka|Shutdown broker",
    re.IGNORECASE,
)


def damaged(cluster: Cluster) -> Iterator[Path]:
    """Let two brokers with two log dirs each diverge, damage what they left, start them; yield each log when complete.

    A corrupt batch, corrupt indexes and snapshots, checkpoints with strange lines; then a log dir that fails while its
    broker runs, and starts that abort: a foreign directory, two copies of a partition, a wrong id.
    """
    histories.diverge(cluster)
    one, two = cluster[1], cluster[2]
    two.kill()
    _damage(histories.directories(two))
    two.start()
    histories.rejoin(cluster, 1, 2, "diverged")
    _fail_disk(one)
    one.kill()
    _mend(one)
    for spoil in (_bad_checkpoints, _foreign, _twice, _other_id, _bad_epochs):
        mend = spoil(one)
        attempt(one)
        mend()
    one.start()
    cluster.stop()
    # ZooKeeper is no broker.
    yield from (process.log for process in (one, two, *([cluster.beside] if cluster.mode == "kraft" else [])))


def _damage(partitions: dict[str, Path]) -> None:
    behind, emptied = partitions["behind-0"], partitions["emptied-0"]
    log = max(behind.glob("*.log"))
    flip_byte(log, log.stat().st_size - 3)
    for index in (*emptied.glob("*.index"), *emptied.glob("*.timeindex")):
        index.write_bytes(b"\1" * 13)
    for snapshot in emptied.glob("*.snapshot"):
        snapshot.write_bytes(b"\0" * 20)
    (emptied / f"{7:020d}.index").write_bytes(b"")


def _fail_disk(broker: Process) -> None:
    """Let the next write of a checkpoint fail."""
    obstacle = broker.log_dirs[0] / "replication-offset-checkpoint.tmp"
    obstacle.unlink(missing_ok=True)
    obstacle.mkdir()
    (obstacle / "full").touch()
    said = re.compile(r"[Ee]rror (?:while )?writing to (?:checkpoint|highwatermark) file")
    wait_for("a failed log dir", lambda: not broker.alive or said.search(broker.log_since_start()) is not None)
    broker.wait_quiet()


def _mend(broker: Process) -> None:
    obstacle = broker.log_dirs[0] / "replication-offset-checkpoint.tmp"
    (obstacle / "full").unlink()
    obstacle.rmdir()


def attempt(broker: Process) -> None:
    """Start a broker that may not come up, and end it."""
    broker.spawn()
    wait_for("the end of a start", lambda: not broker.alive or _ENDED.search(broker.log_since_start()) is not None)
    broker.wait_quiet()
    broker.kill()


def _bad_checkpoints(broker: Process) -> Callable[[], object]:
    path = broker.log_dirs[0] / "recovery-point-offset-checkpoint"
    before = path.read_bytes()
    path.write_bytes(b"0\n1\nx\n")
    return lambda: path.write_bytes(before)


def _foreign(broker: Process) -> Callable[[], object]:
    path = broker.log_dirs[0] / "backup"
    path.mkdir()
    return path.rmdir


def _twice(broker: Process) -> Callable[[], object]:
    partition = next(path for path in broker.log_dirs[0].glob("*-0") if not path.name.startswith("__cluster"))
    copy = broker.log_dirs[1] / partition.name
    copy.mkdir()

    def mend() -> None:
        shutil.rmtree(copy, ignore_errors=True)  # The start may rename it.

    return mend


def _other_id(broker: Process) -> Callable[[], object]:
    path = broker.log_dirs[0] / "meta.properties"
    text = path.read_text()
    path.write_text(re.sub(r"(broker|node)\.id=1", r"\1.id=7", text))
    return lambda: path.write_text(text)


def _bad_epochs(broker: Process) -> Callable[[], object]:
    partition = next(path for path in broker.log_dirs[0].glob("*-0") if not path.name.startswith("__cluster"))
    path = partition / "leader-epoch-checkpoint"
    before = path.read_bytes() if path.exists() else None
    path.write_bytes(b"0\n1\n-1 0\n")

    def mend() -> None:
        path.unlink() if before is None else path.write_bytes(before)

    return mend
