"""Real clusters, started here: what they answer and do against what kcheck says of their disks."""

import contextlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kcheck.formats import partition_metadata
from kcheck.formats.partition_metadata import PartitionMetadata
from kcheck.model.names import PARTITION_METADATA
from tests.oracle import histories
from tests.oracle.ask import IS_WHOLE
from tests.oracle.jars import numbers
from tests.oracle.kafka import Cluster, Process, wait_for
from tests.oracle.scenes import FIXTURES, begun, recorded
from tests.oracle.starts.test_strays import MARKED

pytestmark = pytest.mark.oracle


def kcheck(*arguments: str) -> dict[str, Any]:
    """Return kcheck's answer as a script gets it; exit code 1 is that of the epoch file that lost its entries."""
    command = [sys.executable, "-m", "kcheck", *arguments, "--format", "json"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def answered(cluster: Cluster) -> list[dict[str, Any]]:
    """Return what kcheck answers from the disks to all that the leaders were asked, in the same form."""
    return [
        {**row, "error": 0 if row["error"] == "NONE" else row["error"]}
        for number, broker in cluster.brokers.items()
        for row in kcheck("end-offset", *map(str, broker.log_dirs), "--kafka", cluster.version)["answers"]
        if row["broker_id"] == number
    ]


@contextlib.contextmanager
def diverged(version: str, mode: str | None, folder: Path, start: Callable[..., Cluster]) -> Iterator[Cluster]:
    """Yield a cluster after `histories.diverge`: the recorded one where its metadata were recorded as well."""
    settings, scene = histories.config(version), f"brokers/{version}/diverged"
    if mode != "zk" and numbers(version) >= (3, 3) and (FIXTURES / scene).exists():
        kept = recorded(scene, folder / "kept")
        with begun(start(version, 2, dir=folder / "cluster", broker_config=settings, begins_with=kept), 2) as cluster:
            yield cluster
        return
    with start(version, 2, dir=folder / "cluster", mode=mode, broker_config=settings) as cluster:
        histories.diverge(cluster)
        yield cluster


@pytest.mark.parametrize("version", ["4.3.1", *(["2.8.2", "1.1.1"] if IS_WHOLE else [])])
def test_a_cluster_does_what_was_predicted(version: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """An unclean election: where the old leader truncates, and what every leader answers for every epoch.

    kcheck is asked for the truncation before the old leader starts, and for the answers after all have stopped.
    """
    with diverged(version, None, tmp_path, start) as cluster:
        plans = {}
        for topic in ("diverged", "emptied", "behind"):
            epoch = histories.epoch_lines(histories.directories(cluster[2])[f"{topic}-0"])[-1][0]
            paths = [f"{number}={broker.dir}" for number, broker in cluster.brokers.items()]
            election = ("--leader", "2", "--leader-epoch", str(epoch), "--topic", topic, "--kafka", version)
            ((follower,),) = (part["followers"] for part in kcheck("truncation", *paths, *election)["partitions"])
            plans[topic] = follower
        histories.rejoin(cluster, 1, 2, *plans)
        for topic, follower in plans.items():
            said = histories.truncations(cluster[1], f"{topic}-0")
            # A truncation to the log end cuts nothing; a broker logs it all the same.
            cut = [offset for offset in said if offset < follower["log_end_offset_before"]]
            assert follower["truncate_to"] == (cut[-1] if cut else None), topic
        assert plans["diverged"]["truncate_to"] is not None
        histories.quiet()
        # Under ZooKeeper the last broker gets one more epoch when the other one stops: ask for those that exist.
        asked = [row for row in histories.ask_leaders(cluster) if cluster.mode == "kraft" or row["end_offset"] >= 0]
        cluster.stop()
    found = answered(cluster)
    keys = ("broker_id", "topic", "partition", "requested_epoch", "error", "epoch", "end_offset")
    shown = [{key: row[key] for key in keys} for row in found]
    assert len(asked) > len(plans)
    assert [] == [row for row in asked if row not in shown and not _in_a_gap(row, shown)]


KINDS = (
    ("4.3.1", "kraft"), ("2.8.2", "zk"), ("3.0.2", "zk"), ("3.3.2", "zk"), ("3.6.2", "zk"), ("3.9.2", "kraft"),
    ("3.9.2", "zk"),
)  # fmt: skip
"""KRaft of 3.6.2 makes no unclean election by itself, that of 3.9.2 does."""


@pytest.mark.whole
@pytest.mark.parametrize(("version", "mode"), KINDS)
def test_a_replica_of_another_topic(version: str, mode: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """What an older topic of the name left on a broker: it follows nobody, or is truncated as any other by 2.8."""
    with diverged(version, mode, tmp_path, start) as cluster:
        left = histories.directories(cluster[1])["diverged-0"]
        metadata = partition_metadata.serialize(PartitionMetadata(0, histories.topic_id("older")))
        (left / PARTITION_METADATA).write_bytes(metadata)
        paths = [f"{number}={broker.dir}" for number, broker in cluster.brokers.items()]
        election = ("--leader", "2", "--topic", "diverged", "--kafka", version)
        ((follower,),) = (part["followers"] for part in kcheck("truncation", *paths, *election)["partitions"])
        histories.rejoin(cluster, 1, 2, "behind")
        cluster[1].wait_quiet()
        cuts = histories.truncations(cluster[1], "diverged-0")
        kept = [path.name for path in left.parent.iterdir() if _has(path, metadata)]
    follows = version.startswith("2.8")
    assert ("ok" if follows else "unknown") == follower["status"]
    assert cuts == ([follower["truncate_to"]] if follows else [])
    if mode == "zk":
        assert kept == ["diverged-0"]
    else:
        assert all(MARKED.fullmatch(name) for name in kept)


@pytest.mark.whole
@pytest.mark.parametrize("version", ["4.3.1", "3.9.2", "3.3.2"])
def test_the_log_of_kraft(version: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """A controller that lost the end of its log: the broker that had it truncates to what both have."""
    name = "__cluster_metadata-0"
    with start(version, 2, dir=tmp_path / "cluster", broker_config=histories.config(version)) as cluster:
        controller, (log_dir,) = cluster.beside, cluster.beside.log_dirs
        shutil.copytree(log_dir, tmp_path / "older")
        histories.create(cluster, "lost", "1:2")
        cluster.kill()
        shutil.rmtree(log_dir)
        shutil.copytree(tmp_path / "older", log_dir)
        paths = [f"{number}={path}/{name}" for number, path in ((100, log_dir), (1, cluster[1].log_dirs[0]))]
        election = ("--leader", "100", "--kafka", version)
        ((follower,),) = (part["followers"] for part in kcheck("truncation", *paths, *election)["partitions"])
        controller.start()
        cluster[1].start()
        assert [follower["truncate_to"]] == histories.truncations(cluster[1], name)


@pytest.mark.whole
def test_a_follower_begins_behind_the_remote_log(tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """One that is behind, and one that diverges before what its leader still has in its log dir."""
    version = "3.9.2"
    copies = "rlmm.config.remote.log.metadata.topic.replication.factor"
    config = histories.config(version) | histories.tiered_storage(version, tmp_path / "remote") | {copies: 2}
    topics = ("behind", "apart")
    remote = {"remote_storage_enable": "true", "local_retention_bytes": 1, "segment_ms": 300, "retention_ms": -1}
    with start(version, 2, dir=tmp_path / "cluster", broker_config=config) as cluster:
        for topic in topics:
            histories.create(cluster, topic, "1:2", **remote)
        histories.load(cluster, *(f"send {topic} 0 0 10 none" for topic in topics))
        histories.quiet()
        cluster[1].kill()
        histories.load(cluster, "send apart 0 100 5 none")
        cluster[2].kill()
        cluster[1].start()
        for first in (200, 210, 220):
            histories.load(cluster, *(f"send {topic} 0 {first} 10 none" for topic in topics))
            time.sleep(0.5)
        wait_for("removal", lambda: all(_begin(cluster[1], topic) == 30 for topic in topics))
        histories.quiet()
        paths = [f"{number}={broker.dir}" for number, broker in cluster.brokers.items()]
        plans = {
            part["topic"]: part["followers"][0]
            for part in kcheck("truncation", *paths, "--leader", "1", "--kafka", version)["partitions"]
        }
        histories.rejoin(cluster, 2, 1, *topics)
        left = {topic: histories.epoch_lines(histories.directories(cluster[2])[f"{topic}-0"]) for topic in topics}
        begins = [_begin(cluster[2], topic) for topic in topics]
    assert begins == [plans[topic]["log_end_offset_after"] for topic in topics] == [30, 30]
    assert [None, (10, 15)] == [(lost := plans[topic]["lost"]) and (lost["from"], lost["to"]) for topic in topics]
    told = {topic: [tuple(entry.values()) for entry in plans[topic]["leader_epochs_after"]] for topic in topics}
    assert told == left


def _begin(broker: Process, topic: str) -> int:
    """Return the base offset of the first segment."""
    return min(int(path.stem) for path in histories.directories(broker)[f"{topic}-0"].glob("*.log"))


def _has(path: Path, metadata: bytes) -> bool:
    file = path / PARTITION_METADATA
    return file.exists() and file.read_bytes() == metadata


def _in_a_gap(row: dict[str, Any], said: list[dict[str, Any]]) -> bool:
    """Whether kcheck, which shows the two ends of a gap between epochs, left this epoch out of one."""
    partition = [other for other in said if (other["topic"], other["partition"]) == (row["topic"], row["partition"])]
    return row["requested_epoch"] not in [other["requested_epoch"] for other in partition]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("version", "gone"), [("4.3.1", True), ("3.9.2", False)])
def test_a_lost_disk(version: str, gone: bool, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """A log dir of KRaft that is not there, or empty, ends the start: kcheck tells it by the server.properties."""
    cluster = start(version, dir=tmp_path / "cluster", log_dirs=2, broker_config=histories.config(version))
    lost = cluster[1].log_dirs[1]
    shutil.rmtree(lost)
    if not gone:
        lost.mkdir()
    with pytest.raises(RuntimeError, match=f"No `meta.properties` found in {lost} "):
        cluster.start()
    command = [sys.executable, "-m", "kcheck", "predict", "--format", "json", "--kafka", version]
    done = subprocess.run([*command, str(cluster[1].dir / "server.properties")], check=False, capture_output=True)
    found = json.loads(done.stdout)["log_dirs"]
    assert [("abort", f"{lost} has no readable meta.properties; readable in {cluster[1].log_dirs[0]}")] * 2 == [
        (each["outcome"], each["reason"]) for each in found
    ]
    assert (3 if gone else 1) == done.returncode
