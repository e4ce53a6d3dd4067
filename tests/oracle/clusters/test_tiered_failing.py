"""Real brokers whose remote store fails lose what kcheck says, and what `repair --store` restores they keep."""

import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

import kcheck
from kcheck.model.report import PartitionFilter
from tests.cli.command import kcheck as command
from tests.oracle.admin_requests import elect
from tests.oracle.clusters import tiered
from tests.oracle.clusters.test_tiered import offsets, remote_ids, replica, segments_in
from tests.oracle.clusters.tiered import BATCH, stored
from tests.oracle.jars import numbers
from tests.oracle.kafka import Cluster, Process, wait_for
from tests.oracle.wire import first_fetched, log_start

pytestmark = pytest.mark.oracle
Start = Callable[..., Cluster]
RETENTION = 600
"""Keeps four segments of about 140 bytes."""


@contextmanager
def failing(start: Start, version: str, brokers: int, folder: Path) -> Iterator[tuple[Cluster, Path, Path]]:
    """Run a cluster; yield it, its store, and the folder whose files OPERATION.TOPIC make the store fail."""
    store, flags = folder / "store", folder / "flags"
    store.mkdir()
    flags.mkdir()
    config = tiered.config(version, store, brokers, flags=flags)
    with start(version, brokers, dir=folder / "cluster", broker_config=config) as cluster:
        yield cluster, store, flags


@pytest.mark.sample(2)
@pytest.mark.parametrize("version", tiered.RELEASES)
def test_a_follower_killed_while_it_builds_its_state(version: str, tmp_path: Path, start: Start) -> None:
    """It joins without the epochs of the remote segments, and deletes them when it leads: not after a repair."""
    topics = ("lost", "kept")
    with failing(start, version, 2, tmp_path) as (cluster, store, flags):
        two_epochs(cluster, topics)
        for topic in topics:
            shutil.rmtree(cluster[2].log_dirs[0] / f"{topic}-0")
            (flags / f"index.{topic}").touch()
        cluster[2].start()
        for topic in topics:
            wait_for(f"high watermark of {topic}", partial(has_mark, cluster, topic, 4 * BATCH))
        cluster[2].kill()
        for topic in topics:
            (flags / f"index.{topic}").unlink()
        cluster[2].start()
        for topic in topics:
            wait_for(f"broker 2 follows {topic}", tiered.led_by(cluster, 1, topic, 1))
        cluster[2].stop()
        repair(cluster, store, "kept", tmp_path)
        lead(cluster, store, tmp_path)


def has_mark(cluster: Cluster, topic: str, mark: int) -> bool:
    """Whether broker 2 has written a high watermark: without one it begins at 0 after a kill, and is whole again."""
    marks = cluster[2].log_dirs[0] / "replication-offset-checkpoint"
    return f"{topic} 0 {mark}\n" in marks.read_text()


def has_second(cluster: Cluster, topic: str) -> bool:
    """Whether broker 2 has the second segment with its records."""
    log = cluster[2].log_dirs[0] / f"{topic}-0" / f"{BATCH:020}.log"
    return log.exists() and log.stat().st_size > 0


def two_epochs(cluster: Cluster, topics: tuple[str, ...]) -> None:
    """Copy two segments of each of two epochs; broker 2 is down then."""
    for topic in topics:
        tiered.create(cluster, topic)
    tiered.send(cluster, topics, 2)
    for topic in topics:
        wait_for(f"all of {topic} on broker 2", partial(has_second, cluster, topic))  # acks=1: it may lead without
    cluster[1].stop()
    cluster[1].start()
    for topic in topics:
        wait_for(f"both have {topic}", tiered.led_by(cluster, 1, topic, 2))
        elect(cluster[2].port, topic, unclean=False)
        wait_for(f"broker 1 leads {topic}", tiered.led_by(cluster, 1, topic, 1))
    tiered.send(cluster, topics, 3)
    for topic in topics:
        tiered.wait_local_start(cluster, 1, topic, 4 * BATCH)  # 3.6 copies a segment twice after an election
    cluster[2].stop()


def repair(cluster: Cluster, store: Path, topic: str, tmp_path: Path) -> None:
    """Restore the epochs of broker 2 from the store."""
    plan = kcheck.repair(
        cluster[2].log_dirs[0], store=store, partitions=PartitionFilter(topics=(topic,)),
        metadata=[cluster.beside.log_dirs[0]],
    )  # fmt: skip
    assert [row.finding for row in plan.chosen if row.dir == f"{topic}-0"] == ["KC240"]
    kcheck.apply(plan, backup=tmp_path / "undo")


def lead(cluster: Cluster, store: Path, tmp_path: Path) -> None:
    """Let broker 2 lead."""
    disks, controller = tiered.copies(cluster, tmp_path / "joined")
    answer = kcheck.tiered(*disks, store=store, metadata=[controller]).to_dict()
    assert remote_ids(answer) == ["KC240", "KC242"]
    deletes = {topic: replica(answer, topic, 2)["deletes_if_leading"] for topic in ("lost", "kept")}
    assert (offsets(deletes["lost"]) >= set(range(2 * BATCH)), deletes["kept"]) == (True, [])
    before = {topic: stored(store, topic) for topic in deletes}
    cluster[2].start()
    for topic in deletes:
        wait_for(f"broker 2 follows {topic}", tiered.led_by(cluster, 1, topic, 1))
    cluster[1].stop()
    for topic in deletes:
        wait_for(f"broker 2 leads {topic}", tiered.led_by(cluster, 2, topic, 2))
    cluster[1].start()
    below = {row for row in before["lost"] if row.start < 2 * BATCH}
    wait_for("deletion of lost", lambda: not below & stored(store, "lost"))
    assert before["lost"] - stored(store, "lost") <= segments_in(deletes["lost"], before["lost"])
    assert before["kept"] <= stored(store, "kept")
    assert log_start(cluster[2].port, "kept") == 0
    wait_for("offset 0 of kept", lambda: first_fetched(cluster[2].port, "kept", 0) == 0)


def is_tried(broker: Process, topic: str, tries: int) -> bool:
    """Whether a broker has begun so often to delete one remote segment: the records of all tries but one are there."""
    begun = re.findall(rf"About to delete remote log segment \S+:{topic}-0, id=([\w-]+)", broker.log_since_start())
    return max(Counter(begun).values(), default=0) >= tries


@pytest.mark.sample(1)
@pytest.mark.parametrize("version", tiered.RELEASES)
def test_copies_and_deletes_that_fail(version: str, tmp_path: Path, start: Start) -> None:
    """Offsets that a lost local segment alone had are in no place; failing deletes delete what retention keeps.

    3.6 moves the log start no further than retention asks. 3.6 and 3.7 do not write it into a checkpoint, so that a
    restart brings back what retention keeps. After it 3.6 deletes no segment of which a deletion had begun.
    """
    runs_ahead, is_in_file = numbers(version) >= (3, 7), numbers(version) >= (3, 8)
    with failing(start, version, 1, tmp_path) as (cluster, store, flags):
        (flags / "delete.more").touch()
        tiered.create(cluster, "gap")
        tiered.create(cluster, "more", retention_bytes=RETENTION)
        tiered.send(cluster, ("gap",), 5)
        tiered.wait_copied(store, "gap", 4)
        tiered.wait_local_start(cluster, 1, "gap", 4 * BATCH)
        (flags / "copy.gap").touch()
        tiered.send(cluster, ("gap",), 2)
        tiered.send(cluster, ("more",), 9)
        wait_for("log start of more", lambda: log_start(cluster[1].port, "more") >= (5 + runs_ahead) * BATCH)
        wait_for("a third try to delete", partial(is_tried, cluster[1], "more", 3))
        started = log_start(cluster[1].port, "more")
        assert (started > 5 * BATCH) is runs_ahead
        cluster[1].stop()
        data = cluster[1].log_dirs[0]
        usual = {"KC243", "KC244", *(() if is_in_file else ("KC242",))}
        assert set(remote_ids(kcheck.tiered(str(data), store=store).to_dict())) <= usual
        for name in (data / "gap-0").glob(f"{4 * BATCH:020d}.*"):
            if name.suffix != ".snapshot":
                name.unlink()
        answer = kcheck.tiered(str(data), store=store).to_dict()
        rows = {row["id"]: row for row in answer["findings"]}
        assert offsets(replica(answer, "gap", 1)["gaps"]) == set(range(4 * BATCH, 5 * BATCH))
        assert {"KC241", "KC244"} <= rows.keys()
        assert (rows["KC244"]["dir"], rows["KC244"]["severity"]) == ("more-0", "error" if runs_ahead else "warning")
        started = replica(answer, "more", 1)["log_start_offset"] if is_in_file else 5 * BATCH
        assert (started > 5 * BATCH) is is_in_file
        (flags / "delete.more").unlink()
        cluster[1].start()
        wait_for("the last offset before the gap", lambda: first_fetched(cluster[1].port, "gap", 0) == 0)
        assert first_fetched(cluster[1].port, "gap", 4 * BATCH) is None
        wait_for("offset after the gap", lambda: first_fetched(cluster[1].port, "gap", 5 * BATCH) == 5 * BATCH)
        if not runs_ahead:
            assert {0, 4 * BATCH} <= {row.start for row in stored(store, "more")}
            return
        wait_for("deletion of more", lambda: all(row.start >= started for row in stored(store, "more")))
        assert log_start(cluster[1].port, "more") >= started


@pytest.mark.sample(1)
@pytest.mark.parametrize("version", tiered.RELEASES)
def test_remote_storage_is_switched_off(version: str, tmp_path: Path, start: Start) -> None:
    """The broker leads its logs from their first local segments on, as P319 says."""
    with failing(start, version, 1, tmp_path) as (cluster, store, _):
        tiered.create(cluster, "off")
        tiered.send(cluster, ("off",), 5)
        tiered.wait_copied(store, "off", 4)
        tiered.wait_local_start(cluster, 1, "off", 4 * BATCH)
        cluster[1].stop()
        settings = cluster[1].dir / "server.properties"
        assert command("preflight", settings).code == 0
        settings.write_text(settings.read_text().replace("system.enable=true", "system.enable=false"))
        refused = command("preflight", settings)
        assert (refused.code, "loss P319" in refused.out) == (1, True)
        cluster[1].start()
        wait_for("the first local offset", lambda: first_fetched(cluster[1].port, "off", 4 * BATCH) == 4 * BATCH)
        assert first_fetched(cluster[1].port, "off", 0) is None
