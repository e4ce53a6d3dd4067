"""What `kcheck cluster` reads from the files of controllers, and what the living cluster tells of itself.

`KCHECK_SWEEP` takes more releases.
"""

import json
import re
import shutil
import struct
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import kcheck
from tests.oracle.ask import Ask
from tests.oracle.jars import java_command, numbers, run_java
from tests.oracle.kafka import Cluster, Process, wait_for
from tests.oracle.readers.test_cluster_image import assert_images
from tests.reports import document

pytestmark = pytest.mark.oracle

VERSIONS = ("4.3.1", "4.0.2", "3.9.2", "3.6.2", "3.3.2")
OFTEN, NEVER = 600, 1 << 20
"""After so many bytes of records a controller writes a snapshot."""

QUORUMS = (
    ("4.3.1", OFTEN), ("4.3.1", NEVER), ("4.0.2", NEVER), ("3.9.2", OFTEN), ("3.6.2", NEVER), ("3.3.2", OFTEN),
)  # fmt: skip
JAVA = Path(__file__).parents[1] / "java"
FETCHERS = 3
CONFIG = {"num.replica.fetchers": FETCHERS, "auto.leader.rebalance.enable": "false"}
PARTITION = ("topic_id", "leader", "replicas", "isr", "elr", "last_known_elr", "adding", "removing", "min_isr")
TOLD_BY_THREAD = re.compile(r"ReplicaFetcher replicaId=2, leaderId=(\d+), fetcherId=(\d+)\] Truncating partition (\S+)")
BATCH = struct.Struct(">qiibI")
"""The base offset of a batch, its length, epoch, magic and checksum."""

State = dict[str, Any]
"""What `ClusterState.java` tells."""


@contextmanager
def _asking(version: str) -> Iterator[Callable[[Process], State]]:
    """Yield how to ask a broker for its cluster."""
    command = java_command(version, JAVA / "ClusterState.java")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as asked:
        stdin, stdout = asked.stdin, asked.stdout
        assert stdin is not None
        assert stdout is not None

        def state(broker: Process) -> State:
            stdin.write(f"127.0.0.1:{broker.port}\n")
            stdin.flush()
            told: State = json.loads(stdout.readline())
            return told

        yield state
        stdin.close()


def _change(cluster: Cluster, *lines: str, broker: int) -> None:
    where = f"127.0.0.1:{cluster[broker].port}"
    run_java(cluster.version, JAVA / "Replicas.java", where, stdin="".join(f"{line}\n" for line in lines))


def _copied(node: Process, copies: Path) -> Path:
    """Copy what a node has of the metadata; return the new log dir."""
    copy = copies / f"{len(list(copies.glob('*'))):03d}-{node.dir.name}"
    metadata = copy / "__cluster_metadata-0"
    metadata.mkdir(parents=True)
    shutil.copy(node.log_dirs[0] / "meta.properties", copy)
    for pattern in ("*.log", "*.checkpoint", "quorum-state"):
        for file in (node.log_dirs[0] / metadata.name).glob(pattern):
            shutil.copy(file, metadata)
    return copy


def _answer(*paths: Path, fetchers: int | None = None) -> State:
    return document(kcheck.cluster(*paths, fetchers=fetchers).report())


def _as_told(answer: State) -> State:
    """Return what an answer says of the things that a broker tells."""
    assert answer["metadata"]["complete"]
    quorum = {name: answer["quorum"][name] for name in ("leader", "epoch", "voters")}
    return {
        **quorum,
        "features": answer["features"],
        "unfenced": [row["broker_id"] for row in answer["brokers"] if not row["fenced"]],
        "partitions": {
            f"{row['topic']}-{row['partition']}": {name: row[name] for name in PARTITION}
            for row in answer["partitions"]
        },
    }


def _agreed(ask_both: Callable[[], tuple[State, State]]) -> State:
    """Return what a broker tells; fail where the files still say something else once the broker has read them."""
    for _ in range(10):
        answer, told = ask_both()
        end = told.pop("high_watermark")
        assert answer["quorum"]["committed_to"] <= end
        if _as_told(answer) == told:
            break
        time.sleep(1)
    assert _as_told(answer) == told
    return told


def _wait_until(cluster: Cluster, what: str, holds: Callable[[State], bool]) -> None:
    """Return once the controller has written what is wanted."""
    wait_for(what, lambda: holds(_answer(cluster.beside.log_dirs[0])))


def _fenced(*brokers: int) -> Callable[[State], bool]:
    """Return whether brokers are fenced."""
    return lambda answer: {*brokers} == {row["broker_id"] for row in answer["brokers"] if row["fenced"]}


def _all_in_sync(answer: State) -> bool:
    return all({*row["replicas"]} == {*row["isr"]} and not row["adding"] for row in answer["partitions"])


@pytest.mark.whole
@pytest.mark.parametrize("version", VERSIONS)
def test_a_controller(version: str, tmp_path: Path, start: Callable[..., Cluster], ask: Ask) -> None:
    """Topics made, deleted, made again and moved; brokers that stop and die, until partitions have no leader."""
    copies = tmp_path / "copies"
    with start(version, 3, dir=tmp_path / "cluster", broker_config=CONFIG) as cluster, _asking(version) as state:

        def compare() -> State:
            return _agreed(lambda: (_answer(_copied(cluster.beside, copies)), state(cluster[3])))

        if numbers(version)[:2] == (4, 0):
            tool, where = "org.apache.kafka.tools.FeatureCommand", ("--bootstrap-server", cluster.bootstrap)
            run_java(version, tool, *where, "upgrade", "--feature", "eligible.leader.replicas.version=1")
        _change(
            cluster,
            "create keep 1:2:3,2:3:1,3:1:2 min.insync.replicas=2,unclean.leader.election.enable=false",
            "create pair 1:2,2:1 min.insync.replicas=2",
            "create single 1:2,2:3,3:1,1:3,2:1",
            "create moved 1:2,2:1",
            "create gone 1:2",
            "create anew 2:3",
            "delete gone",
            "delete anew",
            "create anew 3:1",
            "reassign moved 0 2:3",
            broker=3,
        )
        _wait_until(cluster, "the reassignment", _all_in_sync)
        compare()
        expected = _fetched_by_2(_answer(_copied(cluster.beside, copies), fetchers=FETCHERS))
        cluster[2].stop()
        _wait_until(cluster, "the end of 2", _fenced(2))
        compare()
        cluster[2].start()
        _wait_until(cluster, "broker 2 in sync", lambda answer: _fenced()(answer) and _all_in_sync(answer))
        lines = TOLD_BY_THREAD.findall(cluster[2].log_since_start())
        assert {(int(leader), int(fetcher), name) for leader, fetcher, name in lines} == expected
        compare()
        cluster[2].kill()
        _wait_until(cluster, "the death of 2", _fenced(2))
        _change(cluster, "reassign moved 1 1:2:3", "reassign anew 0 3:2", broker=3)
        _wait_until(cluster, "the new replica", lambda answer: _row(answer, "moved", 1)["isr"] == [1, 3])
        before = compare()
        cluster[1].kill()
        _wait_until(cluster, "the death of 1", _fenced(1, 2))
        after = compare()
        cluster.beside.kill()
        answer = _answer(cluster.beside.log_dirs[0])
        assert _as_told(answer) == after
        leaderless = [row for row in answer["partitions"] if row["leader"] == -1]
        assert {f"{row['topic']}-{row['partition']}" for row in leaderless} >= {"pair-0", "pair-1", "single-0"}
        for row in leaderless:
            assert row["last_leader"] == before["partitions"][f"{row['topic']}-{row['partition']}"]["leader"]
        has_elr = numbers(version) >= (4, 0)
        assert (_row(answer, "pair", 0)["isr"], _row(answer, "pair", 0)["elr"]) == (
            ([], [1, 2]) if has_elr else ([1], [])
        )
        assert _row(answer, "pair", 0)["last_known_elr"] == ([1] if has_elr else [])
        assert _row(answer, "keep", 0)["elr"] == ([1] if has_elr else [])
        everything = sorted(copies.glob("*/__cluster_metadata-0"))
        assert_images(ask, "4.3.1", everything)
        if numbers(version) <= (3, 9, 2):
            assert_images(ask, "3.9.2", everything)


def _row(answer: State, topic: str, partition: int) -> State:
    return next(row for row in answer["partitions"] if (row["topic"], row["partition"]) == (topic, partition))


def _fetched_by_2(answer: State) -> set[tuple[int, int, str]]:
    """Return the leader, the thread and the name of every partition that broker 2 fetches."""
    rows = [row for row in answer["fetchers"] if row["broker_id"] == 2]
    return {(row["leader"], row["fetcher"], name) for row in rows for name in row["names"]}


def _batches(log_dir: Path) -> dict[int, tuple[int, int]]:
    """Return the epoch and the checksum of every batch of a metadata log, by base offset."""
    batches, position = {}, 0
    (segment,) = (log_dir / "__cluster_metadata-0").glob("*.log")
    data = segment.read_bytes()
    while position + BATCH.size <= len(data):
        base, length, epoch, _, checksum = BATCH.unpack_from(data, position)
        batches[base] = epoch, checksum
        position += 12 + length
    return batches


def _below(log_dir: Path, end: int) -> dict[int, tuple[int, int]]:
    return {base: batch for base, batch in _batches(log_dir).items() if base < end}


def _promised_to(copies: Iterable[Path]) -> int:
    """Return the highest offset that any of the copies, alone or together, are said to prove committed."""
    every = list(copies)
    sets = [chosen for count in range(1, len(every) + 1) for chosen in combinations(every, count)]
    return max(_answer(*chosen)["quorum"]["committed_to"] or 0 for chosen in sets)


def _can_win(copies: dict[int, Path]) -> dict[int, bool | None]:
    return {row["node_id"]: row["can_win"] for row in _answer(*copies.values())["copies"]}


def _start_two(cluster: Cluster, *nodes: int) -> None:
    for node in nodes:
        cluster[node].spawn()
    for node in nodes:
        cluster[node].wait_started()


@pytest.mark.whole
@pytest.mark.parametrize(("version", "snapshot_bytes"), QUORUMS)
def test_a_quorum(version: str, snapshot_bytes: int, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """What is committed, who can win, and what the old leader loses that nobody followed.

    One of three controllers dies early, then all but the leader, which writes on alone. The next leader knows more than
    the one that died early, and less than the old leader.
    """
    folder = tmp_path / "copies"
    config = {**CONFIG, "metadata.log.max.record.bytes.between.snapshots": snapshot_bytes}
    with (
        start(version, 3, dir=tmp_path / "cluster", combined=True, broker_config=config) as cluster,
        _asking(version) as state,
    ):

        def copied() -> dict[int, Path]:
            return {number: _copied(node, folder) for number, node in cluster.brokers.items()}

        for topic in ("first", "second"):
            _change(cluster, f"create {topic} 1:2:3,2:3:1", broker=1)
            copies = copied()
            assert _promised_to(copies.values()) <= state(cluster[1])["high_watermark"]
        old = _agreed(lambda: (_answer(*copied().values()), state(cluster[1])))["leader"]
        late, other = {1, 2, 3} - {old}
        cluster[late].kill()
        _change(cluster, f"create third {old}:{other}", broker=old)
        copies = copied()
        assert _promised_to(copies.values()) <= state(cluster[old])["high_watermark"]
        cluster[other].kill()
        time.sleep(2)
        cluster[old].kill()
        alone = copied()
        promised = _promised_to(alone.values())
        assert _can_win(alone) == {old: True, other: True, late: False}

        _start_two(cluster, late, other)
        assert state(cluster[late])["leader"] == other
        _change(cluster, f"create fourth {late}:{other}", broker=late)
        cluster[late].kill()
        cluster[other].kill()
        divided = copied()
        answer = _answer(*divided.values())
        (kept,) = {row["kept_to"] for row in answer["copies"] if row["node_id"] == old}
        assert kept < _answer(alone[old])["metadata"]["end_offset"]
        assert not _can_win(divided)[old]

        _start_two(cluster, old, late)
        assert state(cluster[late])["leader"] == late
        rejoined = _copied(cluster[old], folder)
        for node in (rejoined, divided[other], divided[late]):
            assert _below(node, promised) == _below(alone[old], promised)
        assert _below(rejoined, kept) == _below(alone[old], kept)
        assert not _batches(rejoined).items() & {*_batches(alone[old]).items()} - {*_below(alone[old], kept).items()}


@pytest.mark.whole
def test_voters_that_the_log_names(tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """A controller of its own, whose voters no configuration names (KIP-853)."""
    with (
        start("4.3.1", dir=tmp_path / "cluster", standalone=True, broker_config=CONFIG) as cluster,
        _asking("4.3.1") as state,
    ):
        copies = tmp_path / "copies"
        told = _agreed(lambda: (_answer(_copied(cluster[1], copies)), state(cluster[1])))
        assert told["features"]["kraft.version"] == 1
