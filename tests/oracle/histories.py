"""What the clusters go through that made `fixtures/brokers`, and that the live tests repeat."""

import json
import re
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from hashlib import md5
from pathlib import Path
from typing import Any

from tests.oracle.jars import jar, numbers, run_java
from tests.oracle.kafka import Cluster, Process, wait_for
from tests.oracle.wire import end_offsets

LOAD, REPLICAS = (Path(__file__).parent / "java" / f"{name}.java" for name in ("Load", "Replicas"))
NOT_LEADER = (3, 5, 6)
"""Error codes of a broker that does not lead: unknown partition, no leader, not the leader."""

CONFIG: dict[str, object] = {
    "unclean.leader.election.enable": "true",
    "auto.leader.rebalance.enable": "false",
    "log.index.size.max.bytes": 1024,
    "log.index.interval.bytes": 200,
    "log.cleaner.backoff.ms": 500,
    "log.flush.start.offset.checkpoint.interval.ms": 2000,
    "replica.lag.time.max.ms": 4000,
    "offsets.topic.segment.bytes": 1 << 20,
}


def config(version: str) -> dict[str, object]:
    """Return the configuration of the brokers of a release."""
    found = dict(CONFIG)
    if numbers(version) >= (3, 5):
        found["unclean.leader.election.interval.ms"] = 2000
    if numbers(version) >= (3, 7):
        found["log.initial.task.delay.ms"] = 1000
    return found


def create(cluster: Cluster, topic: str, assignment: str, **settings: object) -> None:
    """Create a topic with replicas like "1:2,2:1"; the first of each partition leads."""
    extra = [part for key, value in settings.items() for part in ("--config", f"{key.replace('_', '.')}={value}")]
    _topics(cluster, "--create", "--topic", topic, "--replica-assignment", assignment, *extra)


def delete(cluster: Cluster, topic: str) -> None:
    """Delete a topic."""
    _topics(cluster, "--delete", "--topic", topic)


def _topics(cluster: Cluster, *arguments: str) -> None:
    version = numbers(cluster.version)
    tool = "org.apache.kafka.tools.TopicCommand" if version >= (3, 7) else "kafka.admin.TopicCommand"
    where = ["--bootstrap-server", cluster.bootstrap]
    if version < (2, 2):
        where = ["--zookeeper", f"127.0.0.1:{cluster.beside.port}"]
    run_java(cluster.version, tool, *where, *arguments)


def load(cluster: Cluster, *lines: str) -> None:
    """Write what the lines say (see Load.java)."""
    run_java(cluster.version, LOAD, cluster.bootstrap, stdin="\n".join(lines) + "\n")


def delete_records(cluster: Cluster, topic: str, partition: int, offset: int) -> None:
    """Move the log start of a partition (0.11 and later)."""
    new = numbers(cluster.version) >= (3, 6)
    tool = "org.apache.kafka.tools.DeleteRecordsCommand" if new else "kafka.admin.DeleteRecordsCommand"
    wanted = cluster.dir / "delete-records.json"
    row = {"topic": topic, "partition": partition, "offset": offset}
    wanted.write_text(json.dumps({"partitions": [row], "version": 1}))
    arguments = ("--bootstrap-server", cluster.bootstrap, "--offset-json-file", str(wanted))
    run_java(cluster.version, tool, *arguments)


def epoch_lines(directory: Path) -> list[tuple[int, int]]:
    """Return the lines of a partition directory's leader-epoch-checkpoint, empty where there is none."""
    file = directory / "leader-epoch-checkpoint"
    lines = file.read_text().split("\n")[2:-1] if file.exists() else []
    return [(int(epoch), int(start)) for epoch, start in (line.split() for line in lines)]


def directories(broker: Process) -> dict[str, Path]:
    """Return the partition directories of a broker by name."""
    found = (path for log_dir in broker.log_dirs for path in log_dir.iterdir() if path.is_dir())
    return {path.name: path for path in found if re.search(r"-[0-9]+$", path.name)}


def ask_leaders(cluster: Cluster) -> list[dict[str, Any]]:
    """Ask the leader of every partition for the end of every epoch from 0 to one above the latest."""
    return [
        row
        for number, broker in sorted(cluster.brokers.items())
        if broker.alive
        for row in _ask(cluster, number, broker)
    ]


def _ask(cluster: Cluster, number: int, broker: Process) -> Iterable[dict[str, Any]]:
    for name, path in sorted(directories(broker).items()):
        topic, _, partition = name.rpartition("-")
        if topic == "__cluster_metadata":
            continue
        latest = max((epoch for epoch, _ in epoch_lines(path)), default=0)
        epochs = list(range(latest + 2))
        answers = end_offsets(broker.port, cluster.version, topic, int(partition), epochs)
        for asked, (error, epoch, end) in zip(epochs, answers, strict=True):
            if error not in NOT_LEADER:
                yield {
                    "broker_id": number, "topic": topic, "partition": int(partition), "requested_epoch": asked,
                    "error": error, "epoch": epoch, "end_offset": end,
                }  # fmt: skip


def headers(cluster: Cluster, topic: str) -> None:
    """Write records of every codec with headers, nulls and bytes that are no text."""
    codecs = ("none", "gzip", "snappy", "lz4", "zstd")
    run_java(cluster.version, LOAD.with_name("Headers.java"), cluster.bootstrap, topic, *codecs)


def quiet() -> None:
    """Return when followers have caught up and high watermarks have been checkpointed (every 5 s)."""
    time.sleep(6)


def ordinary(cluster: Cluster) -> None:
    """Several topics, elections with and without records, compaction, DeleteRecords, transactions, a group."""
    version = numbers(cluster.version)
    create(cluster, "plain", "1:2,2:1,1:2")
    create(cluster, "codecs", "2:1")
    create(cluster, "segments", "1:2", segment_ms=400)
    create(cluster, "compacted", "1:2", cleanup_policy="compact", segment_ms=400, min_cleanable_dirty_ratio=0.01)
    create(cluster, "deleted", "1:2")
    codecs = ["none", "gzip", "snappy", "lz4", *(["zstd"] if version >= (2, 1) else [])]
    lines = [f"send codecs 0 {100 * n} 12 {codec}" for n, codec in enumerate(codecs)]
    lines += [
        "send plain 0 0 20 none",
        "send plain 1 0 15 none",
        "send deleted 0 0 30 none",
        "offset readers plain 0 7",
    ]
    load(cluster, *lines)
    for n in range(6):
        load(cluster, f"send segments 0 {20 * n} 20 none", f"keyed compacted 0 {20 * n} 20 5")
        time.sleep(0.5)
    if version >= (0, 11):
        delete_records(cluster, "deleted", 0, 17)
        create(cluster, "transactions", "1:2")
        lines = ["commit a transactions 0 0 5", "abort b transactions 0 100 7", "commit a transactions 0 200 3"]
        load(cluster, *lines, "open c transactions 0 300 4")
    cluster[1].stop()  # 2 leads everything
    load(cluster, "send plain 0 200 9 gzip", "send segments 0 200 9 none")
    cluster[1].start()
    quiet()
    cluster[2].stop()  # 1 leads everything; plain-1 and plain-2 get an epoch without records
    load(cluster, "send plain 0 300 5 none", "send plain 0 400 6 lz4")
    cluster[2].start()
    quiet()

    def cleaned() -> bool:
        files = [path / "cleaner-offset-checkpoint" for broker in cluster.brokers.values() for path in broker.log_dirs]
        return any(b"compacted" in file.read_bytes() for file in files if file.exists())

    wait_for("a compaction", cleaned)


def diverge(cluster: Cluster) -> None:
    """Broker 1 leads and writes alone, dies; broker 2 is elected uncleanly and writes in two epochs.

    Afterwards broker 1 is down and broker 2 runs. Topic `emptied` is the same with an epoch file that lost its entries;
    `behind` is a follower that merely misses the end.
    """
    for topic in ("diverged", "emptied"):
        create(cluster, topic, "1:2")
    create(cluster, "behind", "2:1")
    both = [f"send {topic} 0 0 50 none" for topic in ("diverged", "emptied")]
    load(cluster, *both, "send behind 0 0 20 none")
    quiet()
    cluster[2].stop()
    load(cluster, *(f"send {topic} 0 {100 + 10 * n} {8 + n} none" for topic in ("diverged", "emptied") for n in (0, 1)))
    cluster[1].kill()
    cluster[2].start()
    load(cluster, "send diverged 0 200 9 none", "send diverged 0 300 4 gzip", "send emptied 0 200 9 none")
    cluster[2].stop()
    cluster[2].start()
    load(cluster, "send diverged 0 400 5 none", "send behind 0 100 15 none")
    emptied = directories(cluster[1])["emptied-0"] / "leader-epoch-checkpoint"
    if emptied.exists():
        emptied.write_text("0\n0\n")
    quiet()


def twice(cluster: Cluster) -> None:
    """Fail over and back (the case of KIP-279): the follower diverges inside an epoch that the leader never saw.

    Afterwards broker 2 is down and broker 1 runs.
    """
    create(cluster, "twice", "1:2")
    load(cluster, "send twice 0 0 10 none")
    quiet()
    cluster[2].stop()
    load(cluster, "send twice 0 100 5 none")
    cluster[1].kill()
    cluster[2].start()
    load(cluster, "send twice 0 200 3 none", "send twice 0 300 5 none")
    cluster[2].kill()
    cluster[1].start()
    load(cluster, "send twice 0 400 6 none")
    quiet()


def outlived(cluster: Cluster) -> None:
    """Go on without broker 1, which was killed: topics deleted, created again and moved, one with an ELR (4.0 on).

    Afterwards broker 1 is down and broker 2 runs.
    """
    topics = ("keep", "gone", "anew", "moved", "eligible")
    replicas(cluster, *(f"create {topic} 1:2" for topic in topics[:-1]), "create eligible 1:2 min.insync.replicas=2")
    load(cluster, *(f"send {topic} 0 0 9 none" for topic in topics))
    quiet()
    cluster[1].kill()
    quiet()
    changes = ("delete gone", "delete anew", "reassign moved 0 2", "create anew 2:1")
    replicas(cluster, *changes, broker=2)
    load(cluster, "send anew 0 0 3 none")
    quiet()


OUTRUN: dict[str, object] = {"unclean.leader.election.enable": "false"}
"""What `outrun` and `strayed` have on top of `config`: nothing is elected uncleanly unless somebody says so."""


def fall_behind(cluster: Cluster, topic: str) -> None:
    """Write 20, 10 and 5 records with acks=all; after each part kill a broker: 3, then 2, then 1, the leader."""
    create(cluster, topic, "1:2:3", min_insync_replicas=1)
    for first, count, number in ((0, 20, 3), (100, 10, 2), (200, 5, 1)):
        load(cluster, f"send {topic} 0 {first} {count} none")
        quiet()
        cluster[number].kill()


def outrun(cluster: Cluster) -> None:
    """Kill the leader when the others are already down with shorter logs, and start those (4.0 and later).

    Afterwards broker 1 is down, and brokers 2 and 3 run without a leader.
    """
    fall_behind(cluster, "orders")
    cluster[3].start()
    cluster[2].start()
    quiet()  # before, broker 1 still leads for the controller


def strayed(cluster: Cluster) -> None:
    """After `outrun` let the shortest log lead; the longest comes back as a stray, then as a replica.

    All brokers are stopped at the end, broker 1 last.
    """
    outrun(cluster)
    replicas(cluster, "reassign orders 0 3:2", broker=3)
    elect_uncleanly(cluster, "orders", 0, broker=3)
    load(cluster, "send orders 0 300 4 none")
    quiet()
    cluster[1].start()
    quiet()
    replicas(cluster, "reassign orders 0 1:2:3", broker=3)
    quiet()
    for number in (3, 2, 1):
        cluster[number].stop()


def elect_uncleanly(cluster: Cluster, topic: str, partition: int, *, broker: int) -> None:
    """Elect a leader that is not in sync, by Kafka's own tool and one broker."""
    where = ["--bootstrap-server", f"127.0.0.1:{cluster[broker].port}", "--election-type", "unclean"]
    what = ["--topic", topic, "--partition", str(partition)]
    run_java(cluster.version, "org.apache.kafka.tools.LeaderElectionCommand", *where, *what)


def replicas(cluster: Cluster, *lines: str, broker: int = 1) -> None:
    """Change topics and their replicas (see Replicas.java), by way of one broker."""
    where = f"127.0.0.1:{cluster[broker].port}"
    run_java(cluster.version, REPLICAS, where, stdin="".join(f"{line}\n" for line in lines))


COORDINATORS: dict[str, object] = {
    "share.coordinator.state.topic.num.partitions": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "metadata.log.max.record.bytes.between.snapshots": 3000,
    "offsets.retention.minutes": 1 << 20,
}
"""What `coordinators` needs on top of `config`."""


def coordinators(cluster: Cluster) -> None:
    """One broker with two log dirs, and records of most kinds that it writes for itself (4.2 and later).

    Groups: classic with two members, one of them static, two of the consumer protocol, one of them with a regular
    expression, a share group, a deleted one. Transactions: committed, aborted, open; the first and the last with
    offsets. Cluster: topics made, grown, moved to another log dir and deleted, configurations, quotas, credentials,
    access control; the broker goes and comes back, and snapshots are taken.
    """
    run_java(cluster.version, Path(__file__).parent / "java" / "Coordinators.java", cluster.bootstrap)
    cluster[1].stop()
    cluster[1].start()
    quiet()


def tiered_storage(version: str, remote: Path) -> dict[str, object]:
    """Return the configuration of a broker with a remote storage in `remote`: Kafka's own for tests, a folder."""
    return {
        "remote.log.storage.system.enable": "true",
        "remote.log.storage.manager.class.name": "org.apache.kafka.server.log.remote.storage.LocalTieredStorage",
        "remote.log.storage.manager.class.path": jar(f"org.apache.kafka:kafka-storage:{version}:jar:test"),
        "remote.log.metadata.manager.listener.name": "PLAINTEXT",
        "remote.log.manager.task.interval.ms": 500,
        "log.retention.check.interval.ms": 1000,
        "rlmm.config.remote.log.metadata.topic.replication.factor": 1,
        "rlmm.config.remote.log.metadata.topic.num.partitions": 1,
        "rsm.config.dir": remote,
    }


def tiered(cluster: Cluster) -> None:
    """Topics in remote storage and one without: old segments are gone from the log dir; the log start moved, or not.

    `gone` is deleted, there too.
    """
    names = ("tiered", "whole", "gone")
    for name in names:
        settings: dict[str, object] = {"remote_storage_enable": "true", "local_retention_bytes": 1, "segment_ms": 300}
        create(cluster, name, "1", retention_ms=-1, **settings)
    create(cluster, "plain", "1", retention_bytes=1, segment_ms=300)
    for n in range(4):
        load(cluster, *(f"send {name} 0 {10 * n} 10 none" for name in (*names, "plain")))
    everywhere = (*names, "plain")
    wait_for("removal", lambda: all(_logs(cluster[1], name) == [f"{30:020d}.log"] for name in everywhere))
    delete_records(cluster, "tiered", 0, 15)
    delete(cluster, "gone")
    quiet()


def topic_id(topic: str) -> str:
    """Return an id that belongs to a name."""
    return urlsafe_b64encode(md5(topic.encode()).digest()).decode().rstrip("=")


def log_starts(broker: Process) -> dict[str, list[int]]:
    """Return the log start and log end of each directory that a broker of 3.0 and later loaded at its last start."""
    loaded = re.compile(r"Completed load of Log\(dir=(\S+?),.*logStartOffset=(\d+), logEndOffset=(\d+)\)")
    found = loaded.finditer(broker.log_since_start())
    return {Path(match[1]).name: [int(match[2]), int(match[3])] for match in found}


def _logs(broker: Process, topic: str) -> list[str]:
    return sorted(path.name for path in directories(broker)[f"{topic}-0"].glob("*.log"))


def truncations(broker: Process, partition: str) -> list[int]:
    """Return the offsets to which a broker says that it truncated a partition since its start."""
    name = re.escape(partition)
    said = re.compile(rf"(?:partition={name},[^\]]*\] Truncating to offset|Truncating log {name} to offset) (\d+)")
    return [int(match[1]) for match in said.finditer(broker.log_since_start())]


def rejoin(cluster: Cluster, follower: int, leader: int, *topics: str) -> None:
    """Start a broker; return when its logs of these topics (one partition each) are as large as the leader's.

    Up to 1.1 a follower may keep what differs from its leader, so its log may stay of another size.
    """
    cluster[follower].start()
    if numbers(cluster.version) < (2,):
        time.sleep(10)
        return

    def caught_up() -> bool:
        return all(_size(cluster[follower], topic) == _size(cluster[leader], topic) for topic in topics)

    wait_for(f"catching up of broker {follower}", caught_up)


def _size(broker: Process, topic: str) -> int:
    return sum(path.stat().st_size for path in directories(broker)[f"{topic}-0"].glob("*.log"))
