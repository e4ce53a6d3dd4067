"""Which cluster an incident is of."""

import re
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.oracle.jars import numbers
from tests.oracle.kafka import Cluster

RELEASES = (
    ("4.3.1", "kraft"),
    ("4.0.2", "kraft"),
    ("3.9.2", "kraft"),
    ("3.9.2", "zk"),
    ("2.8.2", "zk"),
    ("2.4.1", "zk"),
)


OTHER_RELEASE = "release.txt"
"""Names the release to start, where that is not the one that wrote the disks."""


class Shape(NamedTuple):
    """A cluster; `elr` is the level of eligible.leader.replicas.version, None where the release has none."""

    release: str
    mode: str
    brokers: int
    log_dirs: int
    combined: bool
    standalone: bool
    elr: int | None
    ibp: str | None = None
    """inter.broker.protocol.version, where it is older than the release."""

    @property
    def beside(self) -> str | None:
        """The folder of what runs beside the brokers, None where broker 1 is its own controller."""
        if self.mode == "zk":
            return "zookeeper"
        return None if self.combined or self.brokers == 1 else "controller"

    @property
    def nodes(self) -> tuple[str, ...]:
        """The folders of all processes that have settings."""
        names = tuple(f"broker-{number}" for number in range(1, self.brokers + 1))
        return (*names, "controller") if self.beside == "controller" else names

    def __str__(self) -> str:
        words = [self.release, self.mode, f"{self.brokers} brokers", f"{self.log_dirs} log dirs"]
        words += ["combined"] * self.combined + ["dynamic voter"] * self.standalone
        words += [] if self.ibp is None else [f"protocol {self.ibp}"]
        return ", ".join([*words, *([] if self.elr is None else [f"ELR {self.elr}"])])


PROTOCOLS = {"2.4.1": ("0.11.0", "1.0", "2.0", "2.3"), "2.8.2": ("0.11.0", "2.3", "2.7"), "3.9.2": ("2.8", "3.2")}
"""Older ones that brokers with ZooKeeper still speak."""


def started(of: Shape, folder: Path) -> str:
    """Return the release that is started on the disks of an incident."""
    other = folder / OTHER_RELEASE
    return other.read_text() if other.exists() else of.release


def shape(random: Random, release: str, mode: str) -> Shape:
    """Return the cluster of a seed."""
    brokers = random.choice((1, 2, 2, 3, 3))
    kraft = mode == "kraft"
    return Shape(
        release=release,
        mode=mode,
        brokers=brokers,
        log_dirs=random.choice((1, 2)),
        combined=kraft and brokers == 3 and random.random() < 0.3,
        standalone=kraft and brokers == 1 and numbers(release) >= (3, 9) and random.random() < 0.5,
        elr=random.choice((0, 1)) if kraft and numbers(release) >= (4, 0) else None,
        ibp=random.choice(PROTOCOLS[release]) if not kraft and random.random() < 0.4 else None,
    )


def settings(shape: Shape) -> dict[str, object]:
    """Return what stands in the server.properties of every process."""
    common: dict[str, object] = {
        "log.index.size.max.bytes": 4096,
        "log.index.interval.bytes": 200,
        "auto.leader.rebalance.enable": "false",
        "auto.create.topics.enable": "false",
        "replica.high.watermark.checkpoint.interval.ms": 500,
        "log.flush.offset.checkpoint.interval.ms": 2000,
        "replica.lag.time.max.ms": 4000,
        "offsets.topic.segment.bytes": 1 << 20,
        "log.cleaner.enable": "true",
        "log.cleaner.backoff.ms": 1000,
        "log.retention.check.interval.ms": 4000,
    }
    if shape.ibp is not None:
        common["inter.broker.protocol.version"] = shape.ibp
        if numbers(shape.release) < (3, 0):
            common["log.message.format.version"] = shape.ibp
    if numbers(shape.release) >= (3, 8):
        common["log.initial.task.delay.ms"] = 1000
    if shape.mode == "kraft" and shape.log_dirs > 1:
        common["metadata.log.max.record.bytes.between.snapshots"] = 4000
    return common


def cluster(shape: Shape, folder: Path, begins_with: Path | None = None) -> Cluster:
    """Return the cluster, not started."""
    return Cluster(
        shape.release, shape.brokers, dir=folder, mode=shape.mode, log_dirs=shape.log_dirs, begins_with=begins_with,
        broker_config=settings(shape), combined=shape.combined, standalone=shape.standalone,
    )  # fmt: skip


def portable(text: str, folder: Path) -> str:
    """Return settings whose paths hold from the folder of an incident."""
    return text.replace(f"{folder}/", "")


def ports(text: str) -> list[str]:
    """Return the ports that settings name, in their order."""
    return re.findall(r"127\.0\.0\.1:(\d+)", text)
