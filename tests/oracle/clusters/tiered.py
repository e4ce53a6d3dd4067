"""Real clusters with tiered storage: LocalTieredStorage of Kafka's own test jars, segments of one batch."""

import contextlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.oracle import histories
from tests.oracle.admin_requests import create_topic, elect
from tests.oracle.jars import compiled, jar, numbers
from tests.oracle.kafka import Cluster, wait_for
from tests.oracle.wire import log_start, states

RELEASES = ("3.6.2", "3.7.2", "3.8.1", "3.9.2", "4.0.2", "4.1.1", "4.3.1")
"""Every minor release that has tiered storage and that Maven serves here, and the last of each."""
BATCH = 5
"""Records in a batch, which fills a segment."""
_METADATA_PARTITIONS = 3
JAVA = Path(__file__).parents[1] / "java"


def config(version: str, store: Path, brokers: int, *, flags: Path | None = None) -> dict[str, object]:
    """Return the settings of brokers that copy to a folder, and look for work twice a second.

    With `flags` an operation fails while the file OPERATION.TOPIC is there: copy, index or delete.
    """
    jars = [jar(f"org.apache.kafka:{name}:{version}:jar:test") for name in ("kafka-storage", "kafka-clients")]
    metadata = "rlmm.config.remote.log.metadata"
    settings: dict[str, object] = {
        "remote.log.storage.system.enable": "true",
        "remote.log.storage.manager.class.name": "org.apache.kafka.server.log.remote.storage.LocalTieredStorage",
        "remote.log.storage.manager.class.path": ":".join(map(str, jars)),
        "remote.log.storage.manager.impl.prefix": "rsm.config.",
        "rsm.config.dir": store,
        "remote.log.metadata.manager.listener.name": "PLAINTEXT",
        f"{metadata}.topic.num.partitions": _METADATA_PARTITIONS,
        f"{metadata}.topic.replication.factor": brokers,
        f"{metadata}.initialization.retry.interval.ms": 500,
        "remote.log.manager.task.interval.ms": 500,
        "log.retention.check.interval.ms": 1000,
        "log.flush.offset.checkpoint.interval.ms": 1000,
        "log.flush.start.offset.checkpoint.interval.ms": 1000,
        "log.segment.delete.delay.ms": 500,
        "replica.lag.time.max.ms": 3000,
        "auto.create.topics.enable": "false",
        "auto.leader.rebalance.enable": "false",
    }
    if flags is not None:
        jars.append(compiled(version, JAVA / "FailingStorage.java"))
        settings |= {
            "remote.log.storage.manager.class.name": "FailingStorage",
            "remote.log.storage.manager.class.path": ":".join(map(str, jars)),
            "rsm.config.flags": flags,
        }
    if numbers(version) >= (3, 7):
        settings["log.initial.task.delay.ms"] = 500
    if numbers(version) >= (4, 2):
        settings[f"{metadata}.topic.min.isr"] = 1  # else nothing is copied with one broker of two
    return settings


def create(
    cluster: Cluster, topic: str, *, retention_bytes: int = -1, brokers: Sequence[int] = (), unclean: bool = True
) -> None:
    """Create a topic in remote storage with one partition, on all brokers, which keeps no closed segment on disk."""
    settings = {
        "remote.storage.enable": "true",
        "internal.segment.bytes" if numbers(cluster.version) >= (4, 1) else "segment.bytes": "200",
        "local.retention.bytes": "1",
        "retention.bytes": str(retention_bytes),
        "file.delete.delay.ms": "500",
        "unclean.leader.election.enable": str(unclean).lower(),
        "min.insync.replicas": "1",
    }
    port = next(broker.port for broker in cluster.brokers.values() if broker.alive)
    create_topic(port, cluster.version, topic, brokers or sorted(cluster.brokers), settings)
    wait_for(f"a leader of {topic}", lambda: states(port).get(f"{topic}-0", (-1,))[0] > 0)


def send(cluster: Cluster, topics: Sequence[str], batches: int) -> None:
    """Write batches to topics."""
    lines = (f"send {topic} 0 {BATCH * number} {BATCH} none" for topic in topics for number in range(batches))
    histories.load(cluster, *lines)


class StoredSegment(NamedTuple):
    """A segment in the store."""

    start: int
    """Its first offset."""
    segment_id: str
    """Its id."""


def stored(store: Path, topic: str) -> set[StoredSegment]:
    """Return the segments of a topic that have a `.log` in the store."""
    logs = store.glob(f"kafka-tiered-storage/{topic}-0-*/*.log")
    return {StoredSegment(int(log.name[:20]), log.name[21:43]) for log in logs}


def wait_copied(store: Path, topic: str, segments: int) -> None:
    """Return when the store has this number of segments of a topic."""
    wait_for(f"{segments} segments of {topic}", lambda: len(stored(store, topic)) == segments)


def wait_local_start(cluster: Cluster, broker: int, topic: str, start: int) -> None:
    """Return when a broker's first local segment begins at an offset."""
    folder = cluster[broker].log_dirs[0] / f"{topic}-0"
    wait_for(f"{topic} from {start}", lambda: min(int(log.stem) for log in folder.glob("*.log")) == start)


def wait_log_start(cluster: Cluster, broker: int, topic: str, start: int) -> None:
    """Return when a running replica begins at an offset; 3.6 and 3.7 do not write it into a checkpoint."""
    wait_for(f"log start of broker {broker}", lambda: log_start(cluster[broker].port, topic) == start)


def copies(cluster: Cluster, folder: Path) -> tuple[list[str], str]:
    """Copy what the disks hold now; return the arguments for the brokers, and the copy of the controller.

    Beside a copy are its settings: no file of 3.6 says how many log dirs a broker has.
    """
    arguments = []
    for number, broker in cluster.brokers.items():
        copy = folder / f"broker-{number}"
        _copy(broker.log_dirs[0], copy / "data1")
        text = (broker.dir / "server.properties").read_text()
        (copy / "server.properties").write_text(text.replace(str(broker.dir), str(copy)))
        arguments.append(f"{number}={copy}/data1")
    controller = folder / "controller"
    _copy(cluster.beside.log_dirs[0], controller)
    return arguments, str(controller)


def _copy(log_dir: Path, to: Path) -> None:
    """Copy a log dir, once more if the running broker removed one of its files meanwhile."""
    skipped = shutil.ignore_patterns(".lock", "*.tmp", "*.deleted")
    for _ in range(9):
        shutil.rmtree(to, ignore_errors=True)
        with contextlib.suppress(shutil.Error):
            shutil.copytree(log_dir, to, ignore=skipped)
            return
    shutil.copytree(log_dir, to, ignore=skipped, dirs_exist_ok=True)


def led_by(cluster: Cluster, asked: int, topic: str, leader: int) -> Callable[[], bool]:
    """Return a condition: one broker says that another leads a topic, and that both are in sync if both run."""
    running = sorted(number for number, broker in cluster.brokers.items() if broker.alive)

    def holds() -> bool:
        who, _, _, isr = states(cluster[asked].port)[f"{topic}-0"]
        return who == leader and sorted(isr) == running

    return holds


def lead_uncleanly(cluster: Cluster, broker: int, topic: str) -> None:
    """Let the only running broker lead a topic; 3.8 and earlier do so only if somebody asks for it."""
    holds = led_by(cluster, broker, topic, broker)

    def asked() -> bool:
        if not holds():
            elect(cluster[broker].port, topic, unclean=True)
        return holds()

    wait_for(f"broker {broker} leads {topic}", asked)
