"""Clusters of three brokers whose replicas have diverged, and what really happens when these start again.

Every broker led alone and wrote records that no other has, in epochs that no other knows. Each value carries its writer
and a number.
"""

import re
import shutil
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

from kcheck.disk.local import LOCAL
from kcheck.model.cluster import NO_LEADER, PartitionRegistration
from kcheck.model.entries import Batch
from kcheck.model.source import Source
from kcheck.records.record import BODY_SIZE_MAX, Record, read_records
from kcheck.segments.batches import Walk
from kcheck.views.metadata_copy import read_copy
from kcheck.views.zookeeper_copy import zookeeper_copy
from tests.oracle import histories
from tests.oracle.ask import IS_WHOLE
from tests.oracle.jars import java_command, numbers, run_java
from tests.oracle.kafka import Cluster, wait_for

PERMUTATIONS = tuple(permutations((1, 2, 3)))
ROTATIONS = ((1, 2, 3), (2, 3, 1), (3, 1, 2))
TOPICS: Mapping[str, tuple[tuple[tuple[int, ...], ...], Mapping[str, object]]] = {
    "plain": (PERMUTATIONS, {"unclean_leader_election_enable": "true"}),
    "torn": (ROTATIONS, {"min_insync_replicas": 2}),
    "emptied": (ROTATIONS, {"min_insync_replicas": 2}),
    "txn": (ROTATIONS, {}),
    "compacted": (ROTATIONS, {"cleanup_policy": "compact", "segment_ms": 400, "min_cleanable_dirty_ratio": 0.01}),
    "removed": (((2, 1, 3), (3, 2, 1)), {}),
    "untiered": (
        ROTATIONS,
        {"remote_storage_enable": "true", "local_retention_bytes": 1, "segment_ms": 300, "retention_ms": -1},
    ),
}
"""The replicas of each partition, and the configuration of the topic."""
TIERS_FROM = (3, 9)
"""The first release whose KRaft brokers let a topic leave remote storage (KIP-950): it has the topic `untiered`."""
REMOVED = (2, 3)
"""The brokers whose directories of `removed` are lost, by partition."""
STAYS = 2
"""The broker that stops cleanly."""
FETCHERS = 200
"""Before 2.3 a follower thread that meets an error takes its other partitions along: so many that none has others."""
Content = frozenset[tuple[int, int | None, bytes | None, bytes | None]]
"""The records of a replica: offset, epoch, key and value."""
OPEN_FROM = 41
"""The first offset of the transactions in `txn` that brokers 1 and 2 have and that nobody ends."""
SETTLED = 240.0
"""Seconds until brokers have done what they will do; the machine may be busy."""
LASTING = 2.0 if IS_WHOLE else 0.0
"""Seconds for which what has settled goes on to be so."""
_CRC = 17
"""Where the CRC of a batch is."""


class Replica(NamedTuple):
    """What a directory holds."""

    end: int
    records: Content
    mark: int = 0
    """The high watermark in the checkpoint of its broker, of which there is none for a directory alone."""


def config(version: str) -> dict[str, object]:
    """Return the configuration of the brokers: no transaction ends by itself."""
    return {
        **histories.config(version),
        **({"num.replica.fetchers": FETCHERS} if numbers(version) < (2, 3) else {}),
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": 3_600_000,
        "transaction.remove.expired.transaction.cleanup.interval.ms": 3_600_000,
    }


def first_config(version: str, mode: str | None, remote: Path) -> dict[str, object]:
    """Return the configuration while the brokers write: with a remote storage in a folder where `untiered` needs it."""
    if not tiers(version, mode):
        return config(version)
    everywhere = {"rlmm.config.remote.log.metadata.topic.replication.factor": 3}
    return {**config(version), **histories.tiered_storage(version, remote), **everywhere}


def tiers(version: str, mode: str | None) -> bool:
    """Whether a topic can leave remote storage."""
    return mode != "zk" and numbers(version) >= TIERS_FROM


def topics(cluster: Cluster) -> tuple[str, ...]:
    """Return the topics of a cluster."""
    return tuple(topic for topic in TOPICS if topic != "untiered" or tiers(cluster.version, cluster.mode))


def partitions(cluster: Cluster) -> tuple[tuple[str, int], ...]:
    """Return the partitions of these topics."""
    return tuple((topic, number) for topic in topics(cluster) for number in range(len(TOPICS[topic][0])))


def _leave_remote_storage(cluster: Cluster, topic: str) -> None:
    """Write a few segments, let brokers keep the last one alone, then delete the others and copy none any more."""
    numbered = range(len(TOPICS[topic][0]))
    for first in range(0, 40, 10):
        histories.load(cluster, *(f"send {topic} {number} {9000 + first} 10 none" for number in numbered))
    data = [broker.log_dirs[0] for broker in cluster.brokers.values()]
    logs = [path / f"{topic}-{number}" for path in data for number in numbered]
    wait_for("local retention", lambda: all(len([*log.glob("*.log")]) == 1 for log in logs))
    off = "remote.storage.enable=false,remote.log.delete.on.disable=true"
    where = ("--bootstrap-server", cluster.bootstrap, "--alter", "--topic", topic, "--add-config", off)
    run_java(cluster.version, class_of("kafka-configs", cluster.version), *where)
    (remote,) = re.findall(r"(?m)^rsm\.config\.dir=(.+)$", (cluster[1].dir / "server.properties").read_text())
    wait_for("an empty remote storage", lambda: not any(Path(remote).rglob("*.log")))


def diverge(cluster: Cluster) -> None:
    """Let the brokers write together, then fewer and fewer, then each of the others alone; damage some files.

    Broker 1 is killed, broker 2 stops cleanly, and broker 3 and the controllers are killed at once: by the metadata of
    KRaft it still runs.
    """
    for topic in topics(cluster):
        rows, settings = TOPICS[topic]
        histories.create(cluster, topic, ",".join(":".join(map(str, row)) for row in rows), **settings)
    if "untiered" in topics(cluster):
        _leave_remote_storage(cluster, "untiered")
    _write(cluster, 0, 20, "commit a{} txn {} 0 5", "abort b{} txn {} 50 4")
    histories.quiet()
    cluster[3].kill()
    _wait_led(cluster, 1, 2)
    _write(cluster, 1000, 10, "open c{} txn {} 1050 4")
    cluster[2].stop()
    _wait_led(cluster, 1)
    _write(cluster, 2000, 5, "commit d{} txn {} 2050 3")
    cluster[1].kill()
    for number, count in ((2, 4), (3, 3)):
        cluster[number].start()
        elect_all(cluster, number)
        _wait_led(cluster, number)
        _write(cluster, 1000 * (number + 1), count)
        histories.quiet()
        cluster[number].stop() if number == STAYS else cluster[number].kill()
    cluster.beside.kill()
    _damage(cluster)


def _write(cluster: Cluster, first: int, count: int, *transactions: str) -> None:
    """Write to every partition."""
    lines = []
    for topic, number in partitions(cluster):
        kind = f"keyed compacted {number} {first} {count} 7" if topic == "compacted" else ""
        lines.append(kind or f"send {topic} {number} {first} {count} none")
        if topic == "txn":
            lines += [line.format(number, number) for line in transactions]
    histories.load(cluster, *lines)


def _damage(cluster: Cluster) -> None:
    """Make what disks do: a batch that is not what was written, epoch files without lines, lost directories.

    The clean log keeps its batches: as a leader nobody could fetch a damaged one. It keeps its epochs too where a
    controller fences the dead only after a broker has registered (KRaft up to 3.9): that broker follows a dead leader
    meanwhile, and without epochs truncates to its high watermark.
    """
    fences_late = cluster.mode == "kraft" and numbers(cluster.version) < (4,)
    for number, broker in cluster.brokers.items():
        data = broker.log_dirs[0]
        if number != STAYS:
            log = max((data / f"torn-{number - 1}").glob("*.log"))
            with LOCAL.open(str(log)) as source:
                position = [batch.position for batch in Walk(source, log.stat().st_size)][-1]
            damaged = bytearray(log.read_bytes())
            damaged[position + _CRC] ^= 0xFF
            log.write_bytes(damaged)
        if number != STAYS or not fences_late:
            (data / f"emptied-{number - 1}" / "leader-epoch-checkpoint").write_text("0\n0\n")
    for partition, number in enumerate(REMOVED):
        shutil.rmtree(cluster[number].log_dirs[0] / f"removed-{partition}")


def registrations(cluster: Cluster, topics: Collection[str] = TOPICS) -> dict[tuple[str, int], PartitionRegistration]:
    """Return what the controllers have written of the partitions."""
    if cluster.mode == "zk":
        image = zookeeper_copy(str(cluster.beside.dir)).metadata.image
    else:
        image = read_copy(LOCAL, str(cluster.beside.log_dirs[0] / "__cluster_metadata-0"), 100).image
    rows = ((topic.name, number, row) for topic, number, row in image.partitions() if topic.name in topics)
    return {(topic, number): row for topic, number, row in rows}


def _wait_led(cluster: Cluster, *brokers: int) -> None:
    """Return when these brokers lead everything, and nobody else is in sync."""

    def led() -> bool:
        rows = registrations(cluster).values()
        return all(row.leader in brokers and set(row.isr) <= set(brokers) for row in rows)

    wait_for(f"leaders {brokers}", led)


def elect_all(cluster: Cluster, broker: int) -> None:
    """Elect uncleanly, by Kafka's own tool, wherever it can be done, if the controllers do not obey a configuration."""
    if cluster.mode == "kraft" and numbers(cluster.version) < (3, 9):
        elect_uncleanly(cluster, broker)


def elect_uncleanly(cluster: Cluster, broker: int) -> None:
    """Elect leaders by Kafka's own tool wherever there is none; leaders that are gone are noticed first."""
    wait_for("dead leaders to be noticed", lambda: _dead_are_known(cluster), SETTLED)
    tool = class_of("kafka-leader-election", cluster.version)
    where = ("--bootstrap-server", f"127.0.0.1:{cluster[broker].port}")
    run_java(cluster.version, tool, *where, "--election-type", "UNCLEAN", "--all-topic-partitions")


def class_of(tool: str, version: str) -> str:
    """Return the main class of an official tool in a release, as its script names it."""
    package = "org.apache.kafka.tools" if numbers(version) >= (3, 7) else "kafka.admin"
    return {
        "kafka-leader-election": f"{package}.LeaderElectionCommand",
        "kafka-reassign-partitions": (
            "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
            if numbers(version) >= (3, 7)
            else "kafka.admin.ReassignPartitionsCommand"
        ),
        "kafka-topics": f"{package}.TopicCommand",
        "kafka-configs": "kafka.admin.ConfigCommand",
        "kafka-consumer-groups": (
            "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
            if numbers(version) >= (3, 8)
            else "kafka.admin.ConsumerGroupCommand"
        ),
        "zookeeper-shell": "org.apache.zookeeper.ZooKeeperMain -server",
    }[tool]


def run_plan(cluster: Cluster, folder: Path, broker: int, before: int | None = None) -> str:
    """Run the elections of plan.md that come before a broker starts, as they are written; return what they print."""
    (folder / "bin").mkdir(exist_ok=True)
    for tool in ("leader-election", "reassign-partitions", "topics", "configs"):
        _script(cluster, folder, f"kafka-{tool}")
    _script(cluster, folder, "zookeeper-shell")
    printed = ""
    for section in (folder / "plan.md").read_text().split("\n## ")[1:]:
        title = section.partition("\n")[0]
        of = re.search(r"before broker (\d+) starts", title)
        if not re.search(r"by an unclean election|^\d+\. Put the wanted", title) or before != (of and int(of[1])):
            continue
        blocks = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
        done, *check = (_addressed(cluster, broker, block) for block in blocks)
        printed += _shell(folder, done)
        for block in check:
            _until_silent(folder, block)
        if "--add-config" in done:
            if "Wait first until every replica" in section:
                _until_silent(folder, check[0].replace("--unavailable-partitions", "--under-replicated-partitions"))
            loop = "".join(done.partition("\ndone")[:2])
            _shell(folder, re.sub(r"--add-config (\S+)=true", r"--delete-config \1", loop))
    return printed


def _addressed(cluster: Cluster, broker: int, block: str) -> str:
    """Return commands with the addresses of a cluster."""
    text = re.sub(r"(--bootstrap-server) \S+", rf"\1 127.0.0.1:{cluster[broker].port}", block)
    return re.sub(r"(--zookeeper|zookeeper-shell\.sh) \S+", rf"\1 127.0.0.1:{cluster.beside.port}", text)


def _until_silent(folder: Path, block: str) -> None:
    wait_for("nothing to be printed", lambda: _shell(folder, block) == "")


def _shell(folder: Path, block: str) -> str:
    done = subprocess.run(["bash", "-e", "-c", block], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (block, done.stdout, done.stderr[-2000:])
    return done.stdout


def _script(cluster: Cluster, folder: Path, tool: str) -> None:
    main, *options = class_of(tool, cluster.version).split()
    command = " ".join(f"'{word}'" for word in java_command(cluster.version, main, *options))
    script = folder / "bin" / f"{tool}.sh"
    script.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    script.chmod(0o755)


def contents(cluster: Cluster) -> dict[tuple[str, int], dict[int, Replica]]:
    """Return what each broker has of each partition."""
    marks = {number: _marks(broker.log_dirs[0]) for number, broker in cluster.brokers.items()}
    return {
        key: {
            number: _replica(broker.log_dirs[0] / "{}-{}".format(*key))._replace(mark=marks[number].get(key, 0))
            for number, broker in cluster.brokers.items()
        }
        for key in partitions(cluster)
    }


def _marks(log_dir: Path) -> dict[tuple[str, int], int]:
    rows = map(str.split, (log_dir / "replication-offset-checkpoint").read_text("utf-8").splitlines()[2:])
    return {(topic, int(partition)): int(offset) for topic, partition, offset in rows}


def saved(folder: Path, topic: str, partition: int) -> Content:
    """Return the records that `elect --save-lost` has copied of a partition."""
    directories = (folder / f"{topic}-{partition}").glob("broker-*")
    return frozenset().union(*(_replica(directory).records for directory in directories))


def _replica(directory: Path) -> Replica:
    records = set()
    for source, batch in _batches(directory):
        for record in read_records(source.pread(batch.size, batch.position), BODY_SIZE_MAX):
            assert isinstance(record, Record)
            key, value = (None if data is None else bytes(data) for data in (record.key, record.value))
            records.add((int(record.offset), batch.epoch, key, value))
    return Replica(_end(directory), frozenset(records))


def _batches(directory: Path) -> Iterator[tuple[Source, Batch]]:
    for log in sorted(directory.glob("*.log")):
        with LOCAL.open(str(log)) as source:
            yield from ((source, batch) for batch in Walk(source, log.stat().st_size))


def _end(directory: Path) -> int:
    """Return where a log ends; a broker may write it meanwhile."""
    first = max((int(log.stem) for log in directory.glob("*.log")), default=0)
    return max((first, *(batch.last_offset + 1 for _, batch in _batches(directory))))


def ends(cluster: Cluster) -> dict[tuple[str, int], dict[int, int]]:
    """Return where each replica of each partition ends now."""
    return {
        (topic, partition): {
            number: _end(broker.log_dirs[0] / f"{topic}-{partition}") for number, broker in cluster.brokers.items()
        }
        for topic, partition in partitions(cluster)
    }


def begin(cluster: Cluster) -> None:
    """Start what is beside the brokers; where that ends the sessions of brokers, return when it has."""
    cluster.beside.start()
    if cluster.mode == "zk":
        wait_for("the end of sessions", lambda: _dead_are_known(cluster), SETTLED)
    elif numbers(cluster.version) >= (4,):
        wait_for("fencing", lambda: all(row.leader == NO_LEADER for row in registrations(cluster).values()))


def _dead_are_known(cluster: Cluster) -> bool:
    """Whether the sessions of dead brokers have ended; in KRaft, whether none of them leads."""
    alive = {number for number, broker in cluster.brokers.items() if broker.alive}
    if cluster.mode == "zk":
        return set(zookeeper_copy(str(cluster.beside.dir)).metadata.image.brokers) <= alive
    return all(row.leader in {NO_LEADER, *alive} for row in registrations(cluster).values())


def settled(condition: Callable[[], bool], *, lasting: float = LASTING) -> bool:
    """Whether a condition holds soon, and goes on to hold for some seconds."""
    deadline, since = time.monotonic() + SETTLED, None
    while (now := time.monotonic()) < deadline:
        since = (since or now) if condition() else None
        if since is not None and now - since >= lasting:
            return True
        time.sleep(0.5)
    return False


def truncations(cluster: Cluster, topic: str, partition: int, before: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the brokers that say that they truncated a partition, and the last offset to which they did.

    A truncation to the log end cuts nothing; a broker logs it all the same.
    """
    for number, broker in cluster.brokers.items():
        if not broker.log.exists():  # It never started.
            continue
        said = [offset for offset in histories.truncations(broker, f"{topic}-{partition}") if offset < before[number]]
        if said:
            yield number, said[-1]


def leaders(cluster: Cluster) -> dict[tuple[str, int], int | None]:
    """Return who leads, of the brokers that run."""
    alive = {number for number, broker in cluster.brokers.items() if broker.alive}
    rows = registrations(cluster).items()
    return {key: row.leader if row.leader != NO_LEADER and row.leader in alive else None for key, row in rows}


def values(directory: Path) -> list[list[object]]:
    """Return the offsets and values of the records in a directory."""
    records = _replica(directory).records
    return sorted([offset, None if value is None else value.decode()] for offset, _, _, value in records)
