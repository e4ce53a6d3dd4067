"""The folders in which the commands of the pages about incidents run: copies of the log dirs of real brokers, damaged.

Each function makes what its page of docs/operations is about; broker N is in the folder `broker-N`.
"""

import re
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

from kcheck.verbs.simulate import ReleasesCompared, simulate, write_directories
from tests.oracle.scenes import FIXTURES, unpacked, with_controller

RECOVERED = FIXTURES / "incidents" / "after"
"""The disks of a page after real brokers had taken every step of its plan."""


def power_loss(folder: Path) -> None:
    """Kill three brokers under load; parts of the last writes are zeros, or never reached the disk."""
    _unpack("power-loss", folder)


def dead_disk(folder: Path) -> None:
    """Replace a log dir of broker 1 by an empty one; the broker had been killed."""
    _copy("brokers/4.3.1/killed", folder)
    shutil.rmtree(folder / "broker-1/data2")
    (folder / "broker-1/data2").mkdir()
    _properties(folder / "broker-1", "broker-1/data1,broker-1/data2")
    _with_controller(folder)


def disk_full(folder: Path) -> None:
    """Stop broker 2 in the middle of an append: a torn batch, an unfinished checkpoint, segments not deleted yet."""
    _copy("brokers/4.3.1/killed", folder)
    data = folder / "broker-2/data1"
    cut_tail(data / "plain-0" / FIRST, 60)
    (data / "replication-offset-checkpoint.tmp").touch()
    for file in (data / "segments-0").glob("000000000000000000[024]0.*"):
        file.rename(f"{file}.deleted")
    _properties(folder / "broker-2", "broker-2/data1")
    _with_controller(folder)


def lost_quorum(folder: Path) -> None:
    """Kill three nodes that are brokers and controllers; node 1 has no disk any more, node 3 lags behind."""
    _copy("clusters/4.3.1/quorum", folder)
    shutil.rmtree(folder / "broker-1")
    cut_tail(folder / "broker-3/data1/__cluster_metadata-0" / FIRST, 5 * NO_OP_SIZE)


def lost_metadata(folder: Path) -> None:
    """Kill three brokers; no node has its metadata any more, and the disk of a new controller is formatted."""
    _copy("brokers/4.3.1/killed", folder)
    for path in folder.glob("broker-*/data*/__cluster_metadata-0"):
        shutil.rmtree(path)
    _new_controller(folder)
    (folder / "answers.json").write_text(answers_of("lost-metadata"))


def lost_zookeeper(folder: Path) -> None:
    """Kill three brokers of 2.8.2, whose ZooKeeper is lost; the disk of a new controller of 4.3.1 is formatted."""
    _copy("brokers/2.8.2/killed", folder)
    _new_controller(folder)


def answers_of(page: str) -> str:
    """Return the answers file that a page shows."""
    (shown,) = _JSON.findall((PAGES / f"{page}.md").read_text("utf-8"))
    return str(shown)


def stray_replica(folder: Path) -> None:
    """Leave a stray on broker 1 with records that the replicas lack; all three are stopped, broker 1 last."""
    _copy("clusters/4.3.1/strayed", folder)


def unclean_election(folder: Path) -> None:
    """Leave a partition without a leader; the broker that is down has the longest log."""
    _copy("clusters/4.3.1/outrun", folder)
    _with_controller(folder)


def unclean_happened(folder: Path) -> None:
    """Let broker 3, elected uncleanly, get records while brokers 1 and 2 are down; they have more."""
    _unpack("unclean-happened", folder)


def old_copy(folder: Path) -> None:
    """Put a copy of the disks of broker 2 back that is older than its last stop."""
    _unpack("old-copy", folder)


def deleted_topic(folder: Path) -> None:
    """Delete topic `old`, and kill all brokers before they remove its directories."""
    _unpack("deleted-topic", folder)
    (folder / "aside").mkdir()


def moved_by_hand(folder: Path) -> None:
    """Move, copy and rename directories on three brokers that are stopped."""
    _unpack("directories-moved", folder)


def upgrade(folder: Path) -> None:
    """Start broker 1 of 4.3 with the server.properties of a broker with ZooKeeper."""
    unpacked("incidents/4.3.1-kraft-no-roles-n2", folder)
    (folder / "incident.json").unlink()
    own, other = ((folder / f"broker-{number}/server.properties").read_text() for number in (1, 2))
    kraft = other.replace("node.id=2", "node.id=1").replace("broker-2/", "broker-1/")
    listeners, theirs = (re.findall("(?m)^listeners=.*", text)[0] for text in (own, other))
    (folder / "kraft.properties").write_text(kraft.replace(theirs, listeners))


def tutorial(folder: Path) -> None:
    """Write what `kcheck demo --dir` leaves: three simulated brokers after a power loss, and zeros in a file."""
    answer = simulate("unclean-shortest")
    assert not isinstance(answer, ReleasesCompared)
    write_directories(answer.replay, str(folder / "brokers"), 11)
    epochs = folder / "brokers/broker-3/simulated-0/leader-epoch-checkpoint"
    epochs.write_bytes(bytes(epochs.stat().st_size))


def after_the_plan(page: str, folder: Path) -> None:
    """Put the disks in place that real brokers had after the last step of the plan of a page."""
    with tarfile.open(RECOVERED / f"{Path(page).stem}.tar.xz") as tar:
        for place in {Path(*Path(name).parts[:2]) for name in tar.getnames()}:
            shutil.rmtree(folder / place, ignore_errors=True)
        tar.extractall(folder, filter="data")


PAGES = Path(__file__).parents[2] / "docs" / "operations"
RESCUED = ("lost-metadata", "lost-zookeeper")
"""Pages about a rescue: their commands are followed one by one, not the plan of `kcheck recover`."""
_JSON = re.compile(r"^```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIRST = "00000000000000000000.log"
NO_OP_SIZE = 72
"""The size of a batch with the record that a controller writes while nothing happens."""


def _copy(scene: str, folder: Path) -> None:
    shutil.copytree(FIXTURES / scene, folder, dirs_exist_ok=True)


def _unpack(scene: str, folder: Path) -> None:
    unpacked(f"clusters/4.3.1/{scene}", folder)
    _with_controller(folder)


def zero_tail(log: Path, size: int) -> None:
    """Make zeros of the last bytes: the file system knew the size of the file, and had not written these yet."""
    data = log.read_bytes()
    log.write_bytes(data[:-size] + bytes(size))


def cut_tail(log: Path, size: int) -> None:
    """Remove the last bytes: the file system did not know the new size yet."""
    log.write_bytes(log.read_bytes()[:-size])


def _with_controller(folder: Path) -> None:
    """Give a cluster its controller, with Kafka's defaults for everything that decides elections."""
    with_controller(folder)
    lines = "process.roles=controller\nnode.id=100\nlog.dirs=controller/data1\n"
    (folder / "controller/server.properties").write_text(lines)


def _new_controller(folder: Path) -> None:
    """Give a cluster the disk of a new controller, as kafka-storage.sh of 4.3.1 formats it."""
    shutil.copytree(FIXTURES / "formatted" / "4.3.1" / "no-initial-controllers", folder / "controller")
    own, other = (folder / name / "data1" / "meta.properties" for name in ("controller", "broker-1"))
    (cluster,) = re.findall(r"(?m)^cluster\.id=.+$", other.read_text())
    text = re.sub(r"(?m)^cluster\.id=.+$", cluster, own.read_text())
    own.write_text(re.sub(r"(?m)^node\.id=.+$", "node.id=100", text))
    lines = "process.roles=controller\nnode.id=100\nlog.dirs=controller/data1\ncontroller.listener.names=CONTROLLER\n"
    (folder / "controller/server.properties").write_text(f"{lines}listeners=CONTROLLER://controller:9093\n")


def _properties(broker: Path, log_dirs: str) -> None:
    """Write the server.properties of a broker; paths count from the folder in which the commands run."""
    number = broker.name.rpartition("-")[2]
    lines = f"process.roles=broker\nnode.id={number}\nlog.dirs={log_dirs}\n"
    (broker / "server.properties").write_text(lines)


INCIDENTS: dict[str, Callable[[Path], None]] = {
    "docs/operations/dead-disk.md": dead_disk,
    "docs/operations/deleted-topic.md": deleted_topic,
    "docs/operations/disk-full.md": disk_full,
    "docs/operations/lost-metadata.md": lost_metadata,
    "docs/operations/lost-quorum.md": lost_quorum,
    "docs/operations/lost-zookeeper.md": lost_zookeeper,
    "docs/operations/moved-by-hand.md": moved_by_hand,
    "docs/operations/old-copy.md": old_copy,
    "docs/operations/power-loss.md": power_loss,
    "docs/operations/stray-replica.md": stray_replica,
    "docs/operations/unclean-election.md": unclean_election,
    "docs/operations/unclean-happened.md": unclean_happened,
    "docs/operations/upgrade.md": upgrade,
    "docs/start.md": tutorial,
}
"""What has happened on the page."""
