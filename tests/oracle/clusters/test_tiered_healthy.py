"""Healthy clusters with remote storage: ten verbs see no loss, and have no work for an operator."""

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cli.command import document
from tests.cli.command import kcheck as command
from tests.oracle import histories
from tests.oracle.admin_requests import delete_records, delete_topic, elect, reorder
from tests.oracle.clusters import tiered
from tests.oracle.clusters.tiered import BATCH, stored
from tests.oracle.kafka import Cluster, wait_for
from tests.oracle.wire import log_start, states

pytestmark = pytest.mark.oracle
Start = Callable[..., Cluster]


def keeps_little(cluster: Cluster, store: Path) -> None:
    """Play retention, DeleteRecords, deleted topics that are created again, transactions, and a compacted topic."""
    create(cluster, "kept", "gone", "again")
    create(cluster, "short", retention_bytes=600)
    histories.replicas(cluster, "create compacted 1:2 cleanup.policy=compact")
    fill(cluster, "kept", "short", "short", "gone", "again")
    transactions = (f"{('commit', 'abort')[n % 2]} id{n} kept 0 {10 * n} 5" for n in range(4))
    histories.load(cluster, *transactions, "keyed compacted 0 0 10 4", "keyed compacted 0 10 10 4")
    wait_for("copies", lambda: all(len(stored(store, topic)) >= 4 for topic in ("kept", "again")))
    for topic in ("gone", "again"):
        delete_topic(cluster[1].port, cluster.version, topic)
    delete_records(cluster[1].port, "kept", BATCH + 2)
    wait_for("deletion", lambda: not {"again-0", "gone-0"} & states(cluster[1].port).keys())
    create(cluster, "again")
    fill(cluster, "again")
    wait_for("retention", lambda: log_start(cluster[1].port, "short") > 0)
    wait_for("deletion of objects", lambda: min(row.start for row in stored(store, "kept")) >= BATCH)


def moves(cluster: Cluster, store: Path) -> None:
    """Change leaders and replicas, let a follower fill an empty log, and kill the brokers."""
    create(cluster, "led")
    create(cluster, "alone", brokers=[1])
    fill(cluster, "led", "alone")
    reorder(cluster[1].port, "alone", [1, 2])
    wait_for("the second replica", lambda: sorted(states(cluster[1].port)["alone-0"][3]) == [1, 2])
    for number in (1, 2, 1):
        cluster[number].stop()
        fill(cluster, "led")
        cluster[number].start()
        wait_for("both in sync", both_in_sync(cluster, "led", "alone"))
    elect(cluster[1].port, "led", unclean=False)
    wait_for("copies", lambda: len({row.start for row in stored(store, "led")}) >= 19)
    cluster[2].stop()
    (directory,) = (row / "led-0" for row in cluster[2].log_dirs if (row / "led-0").exists())
    shutil.rmtree(directory)
    cluster[2].start()
    wait_for("a follower with an empty log", both_in_sync(cluster, "led", "alone"))
    for broker in (cluster[1], cluster[2]):
        broker.kill()
    cluster.start()
    wait_for("both in sync", both_in_sync(cluster, "led", "alone"))


def leaves(cluster: Cluster, store: Path) -> None:
    """Let one topic leave remote storage, and another one copy no more (3.9 and later).

    Both brokers have deleted the local copies by then: the log start moves to the leader's local start alone, and a
    follower that had deleted more would have a hole (KC203).
    """
    create(cluster, "left", "ended", "kept")
    fill(cluster, "left", "ended", "kept")
    wait_for("copies", lambda: all(len(stored(store, topic)) >= 4 for topic in ("left", "ended", "kept")))
    wait_for("local retention", lambda: local_starts(cluster, "left") == {4 * BATCH})
    histories.replicas(
        cluster,
        "alter left remote.storage.enable=false,remote.log.delete.on.disable=true",
        "alter ended remote.log.copy.disable=true,local.retention.ms=-2,local.retention.bytes=-2",
    )
    fill(cluster, "left", "ended", "kept")
    wait_for("deletion of left", lambda: not stored(store, "left"))


def create(cluster: Cluster, *topics: str, retention_bytes: int = -1, brokers: Sequence[int] = ()) -> None:
    """Create topics that elect no replica out of sync."""
    for topic in topics:
        tiered.create(cluster, topic, retention_bytes=retention_bytes, brokers=brokers, unclean=False)


def fill(cluster: Cluster, *topics: str) -> None:
    """Write five batches to topics."""
    tiered.send(cluster, topics, 5)


def local_starts(cluster: Cluster, topic: str) -> set[int]:
    """Return the offsets that the local logs of a topic begin with."""
    dirs = [log_dir / f"{topic}-0" for broker in cluster.brokers.values() for log_dir in broker.log_dirs]
    return {min(int(path.stem) for path in directory.glob("*.log")) for directory in dirs if directory.exists()}


def both_in_sync(cluster: Cluster, *topics: str) -> Callable[[], bool]:
    """Return a condition: both replicas of topics are in sync."""
    return lambda: all(sorted(states(cluster[1].port)[f"{topic}-0"][3]) == [1, 2] for topic in topics)


def is_at_rest(cluster: Cluster) -> bool:
    """Return whether all replicas are in sync, no directory waits for its deletion, and nothing is written."""
    in_sync = all(len(row[2]) == len(row[3]) for row in states(cluster[1].port).values())
    dirs = [log_dir for broker in cluster.brokers.values() for log_dir in broker.log_dirs]
    if not in_sync or [row for log_dir in dirs for row in log_dir.glob("*-delete")]:
        return False
    before = written(cluster)
    time.sleep(2)
    return written(cluster) == before and len({tuple(sorted(row.items())) for row in before.values()}) == 1


def written(cluster: Cluster) -> dict[int, dict[str, int]]:
    """Return the bytes of each copy of `__remote_log_metadata`, by broker."""
    return {
        number: {
            path.parent.name: path.stat().st_size
            for log_dir in broker.log_dirs
            for path in sorted(log_dir.glob("__remote_log_metadata-*/*.log"))
        }
        for number, broker in cluster.brokers.items()
    }


class Healthy(NamedTuple):
    """A cluster and what happens to it."""

    version: str
    story: Callable[[Cluster, Path], None]
    log_dirs: int = 1


CLUSTERS = (
    Healthy("3.9.2", leaves), Healthy("3.6.2", keeps_little), Healthy("3.6.2", moves), Healthy("3.7.2", moves),
    Healthy("3.8.1", keeps_little), Healthy("4.0.2", moves), Healthy("4.1.1", keeps_little, log_dirs=2),
    Healthy("4.3.1", leaves), Healthy("4.3.1", moves, log_dirs=2), Healthy("4.3.1", keeps_little),
)  # fmt: skip
"""The first, the sixth and the last one are the sample: one of each story."""


@pytest.mark.sample(3)
@pytest.mark.parametrize("healthy", CLUSTERS, ids=lambda row: f"{row.version}-{row.story.__name__}-{row.log_dirs}")
def test_nothing_is_wrong(healthy: Healthy, tmp_path: Path, start: Start) -> None:
    """Every verb is asked about the disks of a cleanly stopped cluster, and about the disks as they were killed."""
    store = tmp_path / "store"
    store.mkdir()
    config = tiered.config(healthy.version, store, 2)
    with start(
        healthy.version, 2, dir=tmp_path / "cluster", broker_config=config, log_dirs=healthy.log_dirs
    ) as cluster:
        healthy.story(cluster, store)
        wait_for("rest", partial(is_at_rest, cluster))
        cluster[2].stop()
        cluster[1].stop()
        stopped = snapshot(cluster, store, tmp_path / "stopped")
        cluster.start()
        wait_for("all in sync", lambda: all(len(row[2]) == len(row[3]) for row in states(cluster[1].port).values()))
        cluster.kill()
        killed = snapshot(cluster, store, tmp_path / "killed")
    assert [*alarms(stopped), *alarms(killed)] == []


def snapshot(cluster: Cluster, store: Path, folder: Path) -> Path:
    """Copy all disks, the store, and settings that name the copies."""
    skipped = shutil.ignore_patterns(".lock", "*.tmp", "server.log")
    for node in (*cluster.brokers.values(), cluster.beside):
        copy = folder / node.dir.name
        shutil.copytree(node.dir, copy, ignore=skipped)
        text = (copy / "server.properties").read_text()
        (copy / "server.properties").write_text(text.replace(str(node.dir), str(copy)))
    shutil.copytree(store, folder / "store")
    return folder


def alarms(of: Path) -> Iterator[str]:
    """Yield what the verbs call wrong or not known about a copy of the cluster."""
    disks = [f"{number}={disk}" for number in (1, 2) for disk in sorted((of / f"broker-{number}").glob("data*"))]
    metadata = ("--metadata", of / "controller" / "data1")
    plan = of / "plan"
    command("elect", *disks, *metadata, "--output-dir", plan)
    calls: dict[str, Sequence[object]] = {
        "inspect": disks,
        "check": (*disks, *metadata),
        "predict": (*disks, *metadata),
        "truncation": (*disks, *metadata, "--all"),
        "elect": (*disks, *metadata),
        "recover": (*disks, *metadata),
        "verify": (plan, *disks, *metadata),
        "tiered": (*disks, *metadata, "--store", of / "store"),
    }
    for verb, arguments in calls.items():
        yield from (f"{of.name}: {verb}: {words}" for words in wrong(document(verb, *map(str, arguments))))
    for number in (1, 2):
        answer = document("preflight", str(of / f"broker-{number}" / "server.properties"), *map(str, metadata))
        yield from (f"{of.name}: preflight {number}: {words}" for words in wrong(answer))
    scan = command("fleet", "scan", of, "--output-dir", of / "run", "--store", of / "store")
    yield from [] if scan.code == 0 else [f"{of.name}: fleet scan: {scan.out}{scan.err}"]


def wrong(answer: dict[str, Any]) -> Iterator[str]:
    """Yield findings above info, and premises that do not hold or are not known."""
    yield from (f"{row['id']} {row['message']}" for row in answer["findings"] if row["severity"] != "info")
    for row in answer.get("premises", ()):
        if row["status"] == "refuted" or (row["status"] == "not-seen" and row["provide"] is not None):
            yield f"{row['id']} {row['sentence']}"
