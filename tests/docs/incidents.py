"""The folders in which the commands of the pages about incidents run: copies of the log dirs of real brokers, damaged.

Each function makes what its page of docs/operations is about; broker N is in the folder `broker-N`.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

FIXTURES = Path(__file__).parents[2] / "fixtures"


def power_loss(folder: Path) -> None:
    """Kill three brokers; what two of them had written last never reached the disk."""
    _copy("brokers/4.3.1/killed", folder)
    zero_tail(folder / "broker-1/data2/plain-0" / FIRST, 166)
    cut_tail(folder / "broker-2/data1/codecs-0" / FIRST, 100)


def dead_disk(folder: Path) -> None:
    """Replace a log dir of broker 1 by an empty one; the broker had been killed."""
    _copy("brokers/4.3.1/killed", folder)
    shutil.rmtree(folder / "broker-1/data2")
    (folder / "broker-1/data2").mkdir()
    _properties(folder / "broker-1", "broker-1/data1,broker-1/data2")


def disk_full(folder: Path) -> None:
    """Stop a broker in the middle of an append: a torn batch, an unfinished checkpoint, segments not deleted yet."""
    _copy("brokers/4.3.1/killed/broker-2", folder / "broker-2")
    data = folder / "broker-2/data1"
    cut_tail(data / "plain-0" / FIRST, 60)
    (data / "replication-offset-checkpoint.tmp").touch()
    for file in (data / "segments-0").glob("000000000000000000[024]0.*"):
        file.rename(f"{file}.deleted")
    _properties(folder / "broker-2", "broker-2/data1")


def lost_quorum(folder: Path) -> None:
    """Kill three nodes that are brokers and controllers; node 1 has no disk any more, node 3 lags behind."""
    _copy("clusters/4.3.1/quorum", folder)
    shutil.rmtree(folder / "broker-1")
    cut_tail(folder / "broker-3/data1/__cluster_metadata-0" / FIRST, 5 * NO_OP_SIZE)
    new = folder / "broker-2.new/data1"
    new.mkdir(parents=True)
    for name in ("meta.properties", "bootstrap.checkpoint"):
        shutil.copy(folder / "broker-2/data1" / name, new)


def stray_replica(folder: Path) -> None:
    """Leave a stray on broker 1 with records that the replicas lack; all three are stopped, broker 1 last."""
    _copy("clusters/4.3.1/strayed", folder)


def unclean_election(folder: Path) -> None:
    """Leave a partition without a leader; the broker that is down has the longest log."""
    _copy("clusters/4.3.1/outrun", folder)


FIRST = "00000000000000000000.log"
NO_OP_SIZE = 72
"""The size of a batch with the record that a controller writes while nothing happens."""


def _copy(scene: str, folder: Path) -> None:
    shutil.copytree(FIXTURES / scene, folder, dirs_exist_ok=True)


def zero_tail(log: Path, size: int) -> None:
    """Make zeros of the last bytes: the file system knew the size of the file, and had not written these yet."""
    data = log.read_bytes()
    log.write_bytes(data[:-size] + bytes(size))


def cut_tail(log: Path, size: int) -> None:
    """Remove the last bytes: the file system did not know the new size yet."""
    log.write_bytes(log.read_bytes()[:-size])


def _properties(broker: Path, log_dirs: str) -> None:
    """Write the server.properties of a broker; paths count from the folder in which the commands run."""
    number = broker.name.rpartition("-")[2]
    lines = f"process.roles=broker\nnode.id={number}\nlog.dirs={log_dirs}\n"
    (broker / "server.properties").write_text(lines)


INCIDENTS: dict[str, Callable[[Path], None]] = {
    "docs/operations/dead-disk.md": dead_disk,
    "docs/operations/disk-full.md": disk_full,
    "docs/operations/lost-quorum.md": lost_quorum,
    "docs/operations/power-loss.md": power_loss,
    "docs/operations/stray-replica.md": stray_replica,
    "docs/operations/unclean-election.md": unclean_election,
}
"""What has happened on the page."""
