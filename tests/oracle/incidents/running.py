"""A cluster at work: its topics, what is written to them, and what was acknowledged."""

import time
from collections.abc import Iterable
from random import Random

from tests.oracle.incidents.client import Client
from tests.oracle.incidents.shapes import Shape
from tests.oracle.jars import numbers
from tests.oracle.kafka import Cluster, wait_for

KEYS = 60
"""So many that each partition has enough for premise P313."""
CODECS = ("none", "none", "gzip", "snappy", "lz4", "zstd")


class Run:
    """A cluster at work."""

    def __init__(self, random: Random, shape: Shape, of: Cluster, client: Client) -> None:
        self.random, self.shape, self.cluster, self.client = random, shape, of, client
        self.records: dict[str, dict[int, str]] = {}
        self.groups: dict[str, int] = {}
        self.partitions: list[tuple[str, int, str]] = []
        """Topic, partition and acks of what is written to."""
        self.replaced: dict[str, list[int]] = {}
        self.keys: dict[tuple[str, str, str], int] = {}
        """Where the newest record of each key of a compacted topic is."""

    def create(self, topic: str, assignment: Iterable[Iterable[int]], acks: str, **configs: object) -> None:
        """Create a topic, to be written to with these acks."""
        rows = [",".join(map(str, row)) for row in assignment]
        more = [f"{name.replace('_', '.')}={value}" for name, value in configs.items()]
        self.client.ask(" ".join(["create", topic, ";".join(rows), *more]))
        self.partitions += [(topic, number, acks) for number in range(len(rows))]

    def send(self, topic: str, partition: int | str, acks: str, count: int | None = None) -> None:
        """Send some records."""
        many = count or self.random.choice((1, 5, 20, 40))
        self.learn(self.client.ask(f"send {topic} {partition} {many} {self.random.choice(CODECS)} {acks}"))

    def learn(self, answer: list[list[str]]) -> None:
        """Note what was acknowledged."""
        for row in answer:
            if row[0] == "a" and len(row) > 5:
                self.replace(row[1], row[2], row[5])
                self.keys[row[1], row[2], row[5]] = int(row[3])
            if row[0] == "a":
                self.records.setdefault(f"{row[1]}-{row[2]}", {})[int(row[3])] = row[4]
            elif row[0] == "g":
                self.groups[" ".join(row[1:4])] = int(row[4])

    def replace(self, topic: str, partition: str, key: str) -> None:
        """Forget the record that a newer one of its key replaces: the cleaner may remove it."""
        self.records.get(f"{topic}-{partition}", {}).pop(self.keys.get((topic, partition, key), -1), None)

    def load(self, brokers: Iterable[int] | None = None) -> None:
        """Write something to most partitions; what has no leader among `brokers` is left out."""
        seats = {(row[1], int(row[2])): int(row[3]) for row in self.client.ask("leaders")}
        for topic, partition, acks in self.partitions:
            leader = seats.get((topic, partition), -1)
            if leader > 0 and (brokers is None or leader in brokers) and self.random.random() < 0.8:
                if topic == "pay" and self.random.random() < 0.7:
                    how = self.random.choice(("commit", "commit", "abort"))
                    self.learn(self.client.ask(f"{how} {topic} {partition} {self.random.choice((2, 7))}"))
                elif topic == "keys":
                    self.learn(self.client.ask(f"keyed {topic} {partition} {self.random.choice((9, 30))} none {acks}"))
                elif topic != "spread" or partition == 0:
                    is_keyed = topic == "spread"
                    self.send(topic, "-" if is_keyed else partition, acks, KEYS if is_keyed else None)

    def settle(self) -> None:
        """Return when followers have caught up and high watermarks are checkpointed."""
        alive = sum(broker.alive for broker in self.cluster.brokers.values())

        def in_sync() -> bool:
            rows = self.client.ask("leaders")
            return all(len(row[4].split(",") if len(row) > 4 else []) >= min(alive, 1) for row in rows)

        wait_for("leaders", in_sync, timeout=20)
        time.sleep(1.5)


def topics(run: Run) -> None:
    """Create the topics of every incident."""
    ids = list(run.cluster.brokers)
    count = min(3, len(ids))

    def some() -> list[int]:
        return run.random.sample(ids, count)

    few: dict[str, object] = {"min_insync_replicas": 2} if count == 3 and run.random.random() < 0.7 else {}
    run.create("orders", [some() for _ in range(3)], "all", segment_ms=300, **few)
    run.create("audit", [some()[: max(1, count - 1)] for _ in range(2)], "1")
    run.create("pay", [some()], "all", **few)
    run.create("solo", [[number] for number in ids], "all", segment_ms=300)
    run.create("spread", [ids[:1]] * 3, "all")
    run.create("again", [some()], "all")
    cleaned = {"cleanup_policy": "compact", "segment_ms": 300, "min_cleanable_dirty_ratio": 0.01}
    run.create("keys", [some()], "all", **cleaned)
    if numbers(run.shape.release) < (3, 0):
        old = run.random.choice(("0.9.0", "0.10.0", "0.11.0"))
        run.create("aged", [some()], "-1", segment_ms=300, message_format_version=old)


def recreate(run: Run) -> None:
    """Delete a topic and create it again under its name: what was written to it is gone, and known to be."""
    run.client.ask("delete again")
    run.partitions = [row for row in run.partitions if row[0] != "again"]
    run.records.pop("again-0", None)
    wait_for("the end of a topic", lambda: all(row[1] != "again" for row in run.client.ask("leaders")), timeout=30)
    time.sleep(1)
    count = min(3, len(run.cluster.brokers))
    run.create("again", [run.random.sample(list(run.cluster.brokers), count)], "all")
