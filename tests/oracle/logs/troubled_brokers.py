"""What brokers in trouble write to their logs: a full disk, a frozen follower, files that no start survives."""

import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.builders import flip_byte
from tests.oracle import histories
from tests.oracle.kafka import Cluster, Process, wait_for
from tests.oracle.logs.broker_logs import attempt

CONFIG: dict[str, object] = {
    "replica.high.watermark.checkpoint.interval.ms": 1000, "replica.lag.time.max.ms": 2000,
    "log.roll.ms": 2000, "log.cleaner.min.cleanable.ratio": 0.01,
}  # fmt: skip
"""What `troubled` has on top of the configuration of `histories`."""
DISK_SIZE = "3m"
METADATA = "__cluster_metadata-0"


def troubled(cluster: Cluster) -> Iterator[Path]:
    """Freeze a follower, wipe it, corrupt what is compacted, fill a disk, spoil files before starts; yield each log."""
    one, two = cluster[1], cluster[2]
    histories.create(cluster, "orders", "1:2,2:1")
    histories.create(cluster, "prices", "1:2", cleanup_policy="compact")
    histories.load(cluster, "send orders 0 0 500 none", "send orders 1 0 500 none", "send prices 0 0 500 none")
    _freeze(two)
    histories.load(cluster, "send prices 0 500 5 none")  # The first segment is closed by then.
    _corrupt_compacted(one)
    _wipe(two, "orders-0")
    _fill_disk(two)
    for spoil in (_other_cluster, _file_for_directory, _bad_snapshots, _cut_metadata, _bad_quorum_state, _no_disk):
        mend = spoil(two)
        attempt(two)
        mend()
    one.kill()
    two.kill()
    yield from (process.log for process in (one, two, *([cluster.beside] if cluster.mode == "kraft" else [])))
    cluster.kill()


def _freeze(broker: Process) -> None:
    """Let the leader and the controller take it for dead, then come back."""
    broker.send(signal.SIGSTOP)
    time.sleep(12)
    broker.send(signal.SIGCONT)
    broker.wait_quiet()


def _corrupt_compacted(broker: Process) -> None:
    """Flip a byte in a closed segment under the cleaner, and start again."""
    for log in sorted(histories.directories(broker)["prices-0"].glob("*.log"))[:-1]:
        flip_byte(log, log.stat().st_size // 2)
    broker.wait_quiet()
    broker.kill()
    broker.start()


def _wipe(broker: Process, partition: str) -> None:
    broker.kill()
    directory = histories.directories(broker)[partition]
    for file in directory.glob("*.[lits]*"):
        if file.stem.isdigit():
            file.write_bytes(b"\1" * 70)
    broker.start()
    broker.wait_quiet()


def _fill_disk(broker: Process) -> None:
    """Put a log dir on a disk of a few MB, and fill it while the broker runs; not where nothing may be mounted."""
    broker.stop()
    disk = broker.log_dirs[1]
    kept = disk.with_name("kept")
    disk.rename(kept)
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_SIZE}", "none", str(disk)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        disk.rmdir()
        kept.rename(disk)
        broker.start()
        return
    try:
        for path in kept.iterdir():
            shutil.copytree(path, disk / path.name) if path.is_dir() else shutil.copy(path, disk / path.name)
        broker.spawn()
        time.sleep(8)
        with (disk / "filler").open("wb", buffering=0) as filler:
            try:
                while filler.write(b"\0" * 4096):
                    pass
            except OSError:
                pass
        wait_for("a full disk", lambda: not broker.alive or "No space left" in broker.log_since_start(), timeout=60)
        broker.wait_quiet()
    except TimeoutError:
        pass  # Nothing was written there.
    finally:
        broker.kill()
        subprocess.run(["umount", "-l", str(disk)], check=False)
        disk.rmdir()
        kept.rename(disk)


def _kept(path: Path, change: Callable[[Path], object]) -> Callable[[], object]:
    """Change a file, and return how to bring it back; nothing happens to one that is not there."""
    if not path.is_file():
        return lambda: None
    before = path.read_bytes()
    change(path)

    def mend() -> None:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        path.write_bytes(before)

    return mend


def _other_cluster(broker: Process) -> Callable[[], object]:
    def change(path: Path) -> None:
        lines = [line for line in path.read_text().splitlines() if not line.startswith("cluster.id")]
        path.write_text("\n".join((*lines, "cluster.id=AAAAAAAAAAAAAAAAAAAAAA", "")))

    return _kept(broker.log_dirs[0] / "meta.properties", change)


def _file_for_directory(broker: Process) -> Callable[[], object]:
    """Put a directory where the broker opens an index."""

    def change(path: Path) -> None:
        path.unlink()
        path.mkdir()

    return _kept(min(histories.directories(broker)["orders-1"].glob("*.index")), change)


def _metadata(broker: Process, pattern: str) -> Path:
    """Return the newest metadata file of a kind, or a path that is not there."""
    return max((path for data in broker.log_dirs for path in data.glob(f"{METADATA}/{pattern}")), default=Path("-"))


def _bad_snapshots(broker: Process) -> Callable[[], object]:
    return _kept(_metadata(broker, "*.checkpoint"), lambda path: path.write_bytes(b"\1" * 100))


def _cut_metadata(broker: Process) -> Callable[[], object]:
    return _kept(_metadata(broker, "*.log"), lambda path: path.write_bytes(path.read_bytes()[:300]))


def _bad_quorum_state(broker: Process) -> Callable[[], object]:
    return _kept(_metadata(broker, "quorum-state"), lambda path: path.write_bytes(b"{"))


def _no_disk(broker: Process) -> Callable[[], object]:
    """Take a log dir away: a file is there."""
    path, away = broker.log_dirs[1], broker.log_dirs[1].with_name("away")
    path.rename(away)
    path.write_bytes(b"")

    def mend() -> None:
        path.unlink()
        away.rename(path)

    return mend
