"""Clusters whose preferred replicas get the lead back: with segments missing, with records of their own, or behind.

Broker 1 is preferred in all partitions but one. It stops first and loses segments and epochs; the other brokers start
before it.
"""

from collections.abc import Mapping
from typing import TypedDict

from tests.oracle import histories
from tests.oracle.clusters import diverged
from tests.oracle.jars import run_java
from tests.oracle.kafka import Cluster, wait_for

TOPICS: Mapping[str, str] = {
    "head": "1:2:3",  # broker 1 loses its first segment
    "hole": "1:2:3",  # broker 1 loses a middle segment
    "spread": "2:1:3",  # broker 1 loses its first segment, and is not preferred
    "emptied": "1:2:3",  # broker 1 has records of its own below its high watermark, and no epochs
    "late": "1:2:3",  # broker 1 lacks the last records
}
"""The replicas of the one partition of each topic."""
ORDER = (2, 3, 1)
"""In which order the brokers start."""
FIRST, SETTLED = 2, {topic: int(replicas[0]) for topic, replicas in TOPICS.items()}
"""Who leads first, and who leads in the end."""
MODES = {"4.3.1": "kraft", "3.9.2": "zk"}
"""The releases that were recorded, and who elects."""
SENT = 10
Values = list[list[object]]
"""Offsets and values of records."""


class Outcome(TypedDict):
    """What becomes of a topic."""

    leaders: list[int]
    """Who leads first, and who leads in the end."""
    logs: dict[str, Values]
    """What the log of each broker holds then."""


Outcomes = dict[str, Outcome]


def config(version: str, *, balances: bool) -> dict[str, object]:
    """Return the configuration of the brokers; if it `balances`, they look at the leaders every few seconds."""
    often = {"leader.imbalance.check.interval.seconds": 5, "log.retention.check.interval.ms": 1000}
    return {
        **histories.config(version), **histories.OUTRUN, **often, "auto.leader.rebalance.enable": str(balances).lower(),
    }  # fmt: skip


def stage(cluster: Cluster) -> None:
    """Write with all brokers, then with broker 1 alone, then with broker 2 alone; stop all, and damage broker 1."""
    for topic, replicas in TOPICS.items():
        histories.create(cluster, topic, replicas, segment_ms=300, min_insync_replicas=1)
    for first in range(0, 3 * SENT, SENT):
        histories.load(cluster, *(f"send {topic} 0 {first} {SENT} none" for topic in TOPICS))
        histories.quiet()
    cluster[3].stop()
    cluster[2].stop()
    histories.load(cluster, "send emptied 0 1000 5 none")
    histories.quiet()
    cluster[1].stop()
    cluster[2].start()
    elect(cluster, FIRST, "UNCLEAN")
    histories.load(cluster, *(f"send emptied 0 {first} 5 none" for first in (2000, 3000)), "send late 0 2000 7 none")
    cluster[3].start()
    histories.quiet()
    for node in (cluster[3], cluster[2], cluster.beside):
        node.stop() if node is not cluster.beside or cluster.mode == "kraft" else node.kill()
    damage(cluster)


def damage(cluster: Cluster) -> None:
    """Remove segments of broker 1, and the lines of an epoch file."""
    directories = histories.directories(cluster[1])
    for topic, which in (("head", 0), ("spread", 0), ("hole", 1)):
        base = sorted(directories[f"{topic}-0"].glob("*.log"))[which].stem
        for suffix in ("log", "index", "timeindex"):
            (directories[f"{topic}-0"] / f"{base}.{suffix}").unlink()
    (directories["emptied-0"] / "leader-epoch-checkpoint").write_text("0\n0\n")


def elect(cluster: Cluster, broker: int, kind: str) -> None:
    """Have the controller elect leaders, by Kafka's own tool, until one broker leads everything."""
    tool = diverged.class_of("kafka-leader-election", cluster.version)
    where = ("--bootstrap-server", f"127.0.0.1:{cluster[broker].port}", "--election-type", kind)

    def elected() -> bool:
        run_java(cluster.version, tool, *where, "--all-topic-partitions")
        return {*leaders(cluster).values()} == {broker}

    wait_for(f"leader {broker}", elected)


def leaders(cluster: Cluster) -> dict[str, int]:
    """Return who leads each topic."""
    return {topic: row.leader for (topic, _), row in diverged.registrations(cluster, TOPICS).items()}


def play(cluster: Cluster) -> Outcomes:
    """Start the brokers one after the other; return who leads first and in the end, and what each log then holds."""
    cluster.beside.start()
    for number in ORDER[:-1]:
        cluster[number].start()
        wait_for(f"leader {FIRST}", lambda: {*leaders(cluster).values()} == {FIRST})
    cluster[ORDER[-1]].start()
    wait_for("preferred leaders", lambda: leaders(cluster) == SETTLED)
    for _ in range(3):
        histories.quiet()
    found = {topic: [FIRST, leader] for topic, leader in leaders(cluster).items()}
    cluster.stop()
    return {topic: Outcome(leaders=row, logs=logs(cluster, topic)) for topic, row in found.items()}


def logs(cluster: Cluster, topic: str) -> dict[str, Values]:
    """Return the offsets and values that each broker has of a topic."""
    replicas = {number: broker.log_dirs[0] / f"{topic}-0" for number, broker in cluster.brokers.items()}
    return {str(number): diverged.values(path) for number, path in replicas.items()}
