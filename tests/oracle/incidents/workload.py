"""What a cluster goes through before the damage: every acknowledged record is known, and how its brokers ended."""

import contextlib
import json
import shutil
import signal
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.oracle.incidents.client import Client
from tests.oracle.incidents.shapes import Shape, cluster, portable
from tests.oracle.jars import numbers
from tests.oracle.kafka import Cluster, wait_for
from tests.oracle.scenes import INDEX_SIZE_MAX

CODECS = ("none", "none", "gzip", "snappy", "lz4", "zstd")
ROUNDS = 3


class Known(NamedTuple):
    """What was acknowledged: the values of records by partition and offset, and the offsets of groups."""

    records: dict[str, dict[int, str]]
    groups: dict[str, int]
    """By "GROUP TOPIC PARTITION"."""
    story: str
    clean: bool
    """Whether every process was shut down cleanly at last."""
    replaced: Mapping[str, list[int]] = {}
    """Offsets of records that are on the disk of a broker that was down, and that an unclean leader gave to others."""


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

    def send(self, topic: str, partition: int, acks: str, count: int | None = None) -> None:
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
                else:
                    self.send(topic, partition, acks)

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


def _all_up(run: Run) -> None:
    run.load()
    run.settle()


def stop(run: Run) -> bool:
    """Shut all down that run, at once; say whether each ended by itself: a quorum needs its majority for that."""
    alive = [broker for broker in run.cluster.brokers.values() if broker.alive]
    for broker in alive:
        broker.send(signal.SIGTERM)
    with contextlib.suppress(TimeoutError):
        wait_for("a shutdown", lambda: not any(broker.alive for broker in alive), timeout=20)
    clean = not any(broker.alive for broker in alive)
    if run.shape.beside == "controller":
        run.cluster.beside.stop()
    run.cluster.kill()
    return clean


def stop_cleanly(run: Run) -> bool:
    """All work, and are shut down."""
    _all_up(run)
    return stop(run)


def kill_all(run: Run) -> bool:
    """All are killed under load."""
    run.settle()
    run.load()
    run.cluster.kill()
    return False


def kill_one_by_one(run: Run) -> bool:
    """One after the other is killed, and the others work on."""
    _all_up(run)
    ids = list(run.cluster.brokers)
    run.random.shuffle(ids)
    for number in ids[:-1]:
        run.cluster[number].kill()
        time.sleep(5)
        run.load({other for other in run.cluster.brokers if run.cluster[other].alive})
    run.cluster.kill()
    return False


def one_behind(run: Run) -> bool:
    """Stop a broker, and let the others work on."""
    return _one_behind(run, "")


def unclean_topic(run: Run) -> bool:
    """Do the same, and then allow unclean elections of a topic."""
    return _one_behind(run, "configure orders unclean.leader.election.enable=true")


def _one_behind(run: Run, last: str) -> bool:
    _all_up(run)
    number = run.random.choice(list(run.cluster.brokers))
    if run.random.random() < 0.5:
        run.cluster[number].stop()
        clean = True
    else:
        run.cluster[number].kill()
        clean = False
        time.sleep(5)
    run.load({other for other in run.cluster.brokers if other != number})
    if last:
        run.client.ask(last)
    return stop(run) and clean


def rolling(run: Run) -> bool:
    """Each is restarted, with records between."""
    for number in run.cluster.brokers:
        run.cluster[number].stop()
        run.load({other for other in run.cluster.brokers if other != number})
        run.cluster[number].start()
        run.settle()
    return stop_cleanly(run)


def unclean_election(run: Run) -> bool:
    """Elect a follower that was out of sync when the leader died; then stop all."""
    _all_up(run)
    ids = list(run.cluster.brokers)
    one, two = run.random.sample(ids, 2)
    run.cluster[two].kill()
    time.sleep(6)
    run.load({one})
    run.cluster[one].kill()
    time.sleep(5)
    run.cluster[two].start()
    for _ in range(3):  # With ZooKeeper the new controller first hears which broker is there.
        run.client.ask("elect unclean")
        time.sleep(2)
    before = {name: dict(records) for name, records in run.records.items()}
    run.load({two})
    for name, records in before.items():
        gone = [at for at, value in records.items() if run.records[name][at] != value]
        run.replaced |= {name: gone} if gone else {}
    stop(run)
    return False


def open_transaction(run: Run) -> bool:
    """End a producer with its transaction open."""
    _all_up(run)
    run.client.ask("open pay 0 3")
    run.settle()
    if run.random.random() < 0.5:
        return stop(run)
    run.cluster.kill()
    return False


def frozen_follower(run: Run) -> bool:
    """Kill a leader whose records with acks=1 no follower has fetched, and let another one lead."""
    _all_up(run)
    seats = {(row[1], int(row[2])): int(row[3]) for row in run.client.ask("leaders")}
    leader = seats["audit", 0]
    others = [broker for number, broker in run.cluster.brokers.items() if number != leader]
    for broker in others:
        broker.send(signal.SIGSTOP)
    run.send("audit", 0, "1", 7)
    run.cluster[leader].kill()
    for broker in others:
        broker.send(signal.SIGCONT)
    time.sleep(5)
    run.load({number for number in run.cluster.brokers if number != leader})
    stop(run)
    return False


def trimmed(run: Run) -> bool:
    """Delete records as kafka-delete-records does."""
    _all_up(run)
    for name in ("orders-0", "solo-0"):
        topic, _, partition = name.rpartition("-")
        offsets = sorted(run.records.get(name, {}))
        if len(offsets) > 4:
            cut = offsets[run.random.randrange(1, len(offsets) - 1)]
            run.client.ask(f"trim {topic} {partition} {cut}")
            run.records[name] = {at: value for at, value in run.records[name].items() if at >= cut}
    run.settle()
    return stop_cleanly(run) if run.random.random() < 0.5 else kill_all(run)


def reassigning(run: Run) -> bool:
    """Begin to move partitions to a broker that is down."""
    _all_up(run)
    number = run.random.choice(list(run.cluster.brokers))
    other = run.random.choice([each for each in run.cluster.brokers if each != number])
    run.cluster[number].stop()
    run.load({each for each in run.cluster.brokers if each != number})
    run.client.ask(f"reassign solo {other - 1} {number}")
    run.client.ask(f"reassign audit 0 {number},{other}")
    time.sleep(1)
    return stop(run)


def moved_away(run: Run) -> bool:
    """Give partitions of a broker that is down to the others; it comes back with what is not its own any more."""
    _all_up(run)
    number = run.random.choice(list(run.cluster.brokers))
    others = [each for each in run.cluster.brokers if each != number]
    run.cluster[number].kill()
    time.sleep(5)
    for name in ("orders 0", "orders 1", "again 0"):
        run.client.ask(f"reassign {name} {','.join(map(str, others))}")
    time.sleep(2)
    run.load(set(others))
    stop(run)
    return False


def recreated_behind(run: Run) -> bool:
    """Delete a topic and create it again while a broker with its directories is down."""
    _all_up(run)
    number = run.random.choice(list(run.cluster.brokers))
    run.cluster[number].stop()
    recreate(run)
    run.load({each for each in run.cluster.brokers if each != number})
    return stop(run)


def trimmed_behind(run: Run) -> bool:
    """Delete records while a broker that has them is down."""
    _all_up(run)
    number = run.random.choice(list(run.cluster.brokers))
    run.cluster[number].kill()
    time.sleep(5)
    run.load({each for each in run.cluster.brokers if each != number})
    for name in ("orders-0", "orders-1", "audit-0"):
        topic, _, partition = name.rpartition("-")
        offsets = sorted(run.records.get(name, {}))
        if len(offsets) > 4 and not run.client.ask(f"trim {topic} {partition} {offsets[-3]}"):
            run.records[name] = {at: value for at, value in run.records[name].items() if at >= offsets[-3]}
    time.sleep(2)
    stop(run)
    return False


def lost_disk(run: Run) -> bool:
    """Let the second log dir of a broker fail under load; it is back when all is over."""
    _all_up(run)
    broker = run.cluster[run.random.choice(list(run.cluster.brokers))]
    log_dir = broker.log_dirs[-1]
    aside = log_dir.with_name("failed")
    log_dir.rename(aside)
    time.sleep(6)
    run.load()
    run.settle()
    stop(run)
    shutil.rmtree(log_dir, ignore_errors=True)
    aside.rename(log_dir)
    return False


def between_disks(run: Run) -> bool:
    """Move partitions from one log dir to the other, slowly; then kill all, or stop them."""
    for number, broker in run.cluster.brokers.items():
        run.client.ask(f"slow {number}")
        for name in ("orders 0", "solo 0", "pay 0", f"solo {number - 1}"):
            run.client.ask(f"move {name} {number} {broker.log_dirs[run.random.randrange(2)]}")
    run.load()
    run.settle()
    run.load()
    if run.random.random() < 0.5:
        return stop(run)
    run.cluster.kill()
    return False


def more_in_sync(run: Run) -> bool:
    """Ask for more replicas in sync than there are."""
    _all_up(run)
    run.cluster[run.random.choice(list(run.cluster.brokers))].kill()
    run.client.ask("configure orders min.insync.replicas=3")
    time.sleep(5)
    run.load()
    stop(run)
    return False


STORIES: tuple[tuple[Callable[[Run], bool], int], ...] = (
    (stop_cleanly, 1), (stop_cleanly, 1), (kill_all, 1), (kill_all, 1), (kill_one_by_one, 2), (one_behind, 2),
    (rolling, 2), (unclean_election, 2), (open_transaction, 1), (frozen_follower, 2), (trimmed, 1),
    (reassigning, 2), (more_in_sync, 3), (unclean_topic, 2), (moved_away, 2), (recreated_behind, 2),
    (trimmed_behind, 2), (lost_disk, 2), (between_disks, 1),
)  # fmt: skip
"""What happens last, and how many brokers it takes; what stands here twice is likelier."""
OF_TWO_DISKS = (lost_disk, between_disks)
"""Those that need two log dirs."""


def build(random: Random, shape: Shape, folder: Path, stories: Collection[str] = ()) -> Known:
    """Let a cluster work; keep its disks, its settings, an older copy of one broker's disks, and what is known.

    It lives through one of these stories, if any are named.
    """
    work = folder.with_name(f"{folder.name}-work")
    of = cluster(shape, work)
    fitting = [story for story, brokers in STORIES if brokers <= shape.brokers]
    fitting = [story for story in fitting if shape.log_dirs > 1 or story not in OF_TWO_DISKS]
    story = random.choice([story for story in fitting if story.__name__ in stories] or fitting)
    with of, Client(of.bootstrap) as client:
        run = Run(random, shape, of, client)
        if shape.elr is not None:
            client.ask(f"elr {shape.elr}")
        topics(run)
        for number in range(ROUNDS):
            run.load()
            time.sleep(0.4)
            if number == 0:
                run.learn(client.ask("offset readers orders 0 1"))
            if number == 1:
                _old_copy(random, run, folder)
                _live_copies(run, folder)
                recreate(run)
        clean = story(run)
        of.kill()
        if client.said:
            (folder / "client.txt").write_text("\n".join(client.said))
    keep(of, shape, folder)
    shutil.rmtree(work)
    known = Known(run.records, run.groups, story.__name__, clean, run.replaced)
    (folder / "known.json").write_text(json.dumps(known._asdict()))
    return known


def known(folder: Path) -> Known:
    """Read what `build` has written."""
    return parsed(json.loads((folder / "known.json").read_text()))


def parsed(row: dict[str, Any]) -> Known:
    """Return what JSON tells: its keys are texts."""
    row["records"] = {name: {int(at): value for at, value in of.items()} for name, of in row["records"].items()}
    return Known(**row)


def _old_copy(random: Random, run: Run, folder: Path) -> None:
    """Copy the disks of a broker that is stopped for a moment."""
    number = random.choice(list(run.cluster.brokers))
    broker = run.cluster[number]
    time.sleep(1)
    broker.stop()
    for log_dir in broker.log_dirs:
        copy(log_dir, folder / "old" / broker.dir.name / log_dir.name)
    if run.shape.mode == "zk":
        shutil.copytree(run.cluster.beside.dir / "version-2", folder / "old" / "zookeeper" / "version-2")
    broker.start()
    run.settle()


def _live_copies(run: Run, folder: Path) -> None:
    """Copy the disks of all processes while they run, one after the other, with records between."""
    nodes = list(run.shape.nodes)
    run.random.shuffle(nodes)
    for number, name in enumerate(nodes):
        for log_dir in sorted((run.cluster.dir / name).glob("data*")):
            with contextlib.suppress(shutil.Error):  # a file that is gone by now
                copy(log_dir, folder / "live" / name / log_dir.name)
        if number == 0:
            run.load()
    if run.shape.mode == "zk":
        shutil.copytree(run.cluster.beside.dir / "version-2", folder / "live" / "zookeeper" / "version-2")


def copy(source: Path, target: Path) -> None:
    """Copy a log dir of a broker that does not run, as a minute later; big indexes of the metadata log are cut."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(".lock", "again-*-delete"))
    for index in target.glob("__cluster_metadata-0/*index"):
        with index.open("r+b") as file:
            file.truncate(min(index.stat().st_size, INDEX_SIZE_MAX))


def keep(of: Cluster, shape: Shape, folder: Path) -> None:
    """Copy the disks and settings of all processes of a cluster that does not run."""
    for name in shape.nodes:
        for log_dir in sorted((of.dir / name).glob("data*")):
            copy(log_dir, folder / "now" / name / log_dir.name)
        text = portable((of.dir / name / "server.properties").read_text(), of.dir)
        (folder / "now" / name / "server.properties").write_text(text)
    if shape.mode == "zk":
        shutil.copytree(of.dir / "zookeeper" / "version-2", folder / "now" / "zookeeper" / "version-2")
