"""Real brokers with tiered storage lose what kcheck says from their disks and the store, and no more."""

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.model.report import PartitionFilter
from tests.cli.command import kcheck as command
from tests.oracle.admin_requests import elect
from tests.oracle.ask import IS_WHOLE
from tests.oracle.clusters import tiered
from tests.oracle.clusters.tiered import BATCH, stored
from tests.oracle.jars import numbers
from tests.oracle.kafka import Cluster, wait_for
from tests.oracle.wire import first_fetched, log_start
from tests.views.test_rebuilt_records import manifest, segment_records

pytestmark = pytest.mark.oracle
Start = Callable[..., Cluster]
RELEASES = tiered.RELEASES if IS_WHOLE else tiered.RELEASES[-1:]
REMOTE = ("KC24", "KC411")


def offsets(spans: Iterable[dict[str, int]]) -> set[int]:
    """Return the offsets of ranges."""
    return {offset for row in spans for offset in range(row["from"], row["to_exclusive"])}


def segments_in(spans: Iterable[dict[str, int]], rows: Iterable[tiered.StoredSegment]) -> set[tiered.StoredSegment]:
    """Return the segments that begin in ranges of offsets."""
    inside = offsets(spans)
    return {row for row in rows if row.start in inside}


def replica(answer: dict[str, Any], topic: str, broker: int) -> dict[str, Any]:
    """Return a row of `kcheck tiered`."""
    (row,) = (row for row in answer["replicas"] if (row["topic"], row["broker_id"]) == (topic, broker))
    return dict(row)


def remote_ids(answer: dict[str, Any]) -> list[str]:
    """Return the rules about remote storage that fired, without info."""
    found = (row for row in answer["findings"] if row["id"].startswith(REMOTE) and row["severity"] != "info")
    return [row["id"] for row in found]


@pytest.mark.parametrize("version", RELEASES)
def test_what_an_unclean_election_deletes(version: str, tmp_path: Path, start: Start) -> None:
    """An empty replica that leads deletes all; an old leader that leads again deletes what is below its epochs."""
    store = tmp_path / "store"
    store.mkdir()
    with start(version, 2, dir=tmp_path / "cluster", broker_config=tiered.config(version, store, 2)) as cluster:
        elect_uncleanly(cluster, store, tmp_path)
        lead_again(cluster, store, tmp_path)


def elect_uncleanly(cluster: Cluster, store: Path, tmp_path: Path) -> None:
    """Let broker 2 lead, which is behind in one topic and empty in the other."""
    for topic in ("uncl", "empty"):
        tiered.create(cluster, topic)
    tiered.send(cluster, ("uncl", "empty"), 5)
    for topic in ("uncl", "empty"):
        tiered.wait_copied(store, topic, 4)
    cluster[2].stop()
    tiered.send(cluster, ("uncl",), 4)
    tiered.wait_copied(store, "uncl", 8)
    tiered.wait_local_start(cluster, 1, "uncl", 8 * BATCH)
    shutil.rmtree(cluster[2].log_dirs[0] / "empty-0")
    cluster[1].stop()
    disks, controller = tiered.copies(cluster, tmp_path / "before")
    costs = {
        row.topic: {lead.broker_id: lead.lost and lead.lost.upper_records for lead in row.candidates}
        for row in kcheck.elect(*disks, metadata=[controller]).partitions
        if row.topic in {"uncl", "empty"}
    }
    assert costs == {"uncl": {1: 0, 2: 4 * BATCH}, "empty": {1: 0, 2: 5 * BATCH}}
    assert remote_ids(kcheck.tiered(*disks, store=store, metadata=[controller]).to_dict()) == []

    old = {topic: stored(store, topic) for topic in ("uncl", "empty")}
    cluster[2].start()
    for topic in ("uncl", "empty"):
        tiered.lead_uncleanly(cluster, 2, topic)
    tiered.send(cluster, ("uncl", "empty"), 4)
    assert {topic: stored(store, topic) for topic in old} == old  # __remote_log_metadata has no leader

    cluster[1].start()
    for topic in ("uncl", "empty"):
        wait_for(f"broker 1 follows {topic}", tiered.led_by(cluster, 1, topic, 2))
    wait_for("deletion of empty", lambda: not old["empty"] & stored(store, "empty"))
    # 3.6 takes the offsets of the older lineage for copied: it copies none of the new one up to there.
    tiered.wait_copied(store, "uncl", 8 if numbers(cluster.version) < (3, 7) else 8 + 3)
    assert old["uncl"] <= stored(store, "uncl")
    tiered.wait_log_start(cluster, 1, "uncl", 5 * BATCH)


def lead_again(cluster: Cluster, store: Path, tmp_path: Path) -> None:
    """Let the old leader, which is the preferred one, lead again."""
    disks, controller = tiered.copies(cluster, tmp_path / "back")
    wanted = PartitionFilter(topics=("uncl",))
    answer = kcheck.tiered(*disks, store=store, metadata=[controller], partitions=wanted).to_dict()
    # 3.7 and earlier have no entry for its log start: after a restart it is 0, below its first epoch.
    is_in_file = numbers(cluster.version) >= (3, 8)
    assert remote_ids(answer) == (["KC411"] if is_in_file else ["KC240", "KC242"])
    deletes = replica(answer, "uncl", 1)["deletes_if_leading"]
    assert replica(answer, "uncl", 2)["deletes_if_leading"] == []
    (row,) = kcheck.elect(*disks, metadata=[controller], partitions=wanted).partitions
    assert row.best == 2
    assert {lead.broker_id: lead.lost and lead.lost.upper_records for lead in row.candidates} == {1: 5 * BATCH, 2: 0}

    before = stored(store, "uncl")
    elect(cluster[2].port, "uncl", unclean=False)
    wait_for("broker 1 leads", tiered.led_by(cluster, 1, "uncl", 1))
    below = {row for row in before if row.start + BATCH <= 5 * BATCH}
    wait_for("deletion of uncl", lambda: not below & stored(store, "uncl"))
    # A running broker of 3.6 keeps the local start that it had before it truncated below it.
    tiered.wait_log_start(cluster, 2, "uncl", 8 * BATCH if numbers(cluster.version) < (3, 7) else 5 * BATCH)
    if is_in_file:
        (lost,) = (row["data"]["lost"] for row in answer["findings"] if row["id"] == "KC411")
        assert offsets(lost) == set(range(5 * BATCH))
    assert before - stored(store, "uncl") <= segments_in(deletes, before)


@pytest.mark.parametrize("version", RELEASES)
def test_lost_metadata_and_objects(version: str, tmp_path: Path, start: Start) -> None:
    """A clean cluster has no finding; lost metadata raise the log start to the local start, as kcheck says."""
    store = tmp_path / "store"
    store.mkdir()
    with start(version, 1, dir=tmp_path / "cluster", broker_config=tiered.config(version, store, 1)) as cluster:
        fill(cluster, store, "t")
        rebuild_metadata(cluster, tmp_path)
        lose_directory(cluster, store)
        lose_metadata(cluster, store)


def fill(cluster: Cluster, store: Path, topic: str) -> None:
    """Copy four segments, and stop the broker."""
    tiered.create(cluster, topic)
    tiered.send(cluster, (topic,), 5)
    tiered.wait_copied(store, topic, 4)
    tiered.wait_local_start(cluster, 1, topic, 4 * BATCH)
    cluster[1].stop()


def rebuild_metadata(cluster: Cluster, tmp_path: Path) -> None:
    """Lose the metadata, and start with what manifests give back: the broker serves the oldest records."""
    data, manifests = cluster[1].log_dirs[0], tmp_path / "manifests"
    manifests.mkdir()
    for folder in data.glob("__remote_log_metadata-*"):
        for log in folder.glob("*.log"):
            for _, fields in segment_records(log):
                name = f"{fields['startOffset']:020d}-{fields['remoteLogSegmentId']['id']}.rsm-manifest"
                (manifests / name).write_text(json.dumps(manifest(fields)))
        shutil.rmtree(folder)
    assert remote_ids(kcheck.tiered(str(data)).to_dict()) == ["KC245"]
    rebuilt = tmp_path / "rebuilt"
    assert command("tiered", str(data), "--store", str(manifests), "--rebuild", str(rebuilt)).code == 1
    for folder in rebuilt.iterdir():
        shutil.copytree(folder, data / folder.name)
    assert remote_ids(kcheck.tiered(str(data)).to_dict()) == []
    cluster[1].start()
    wait_for("offset 0 of t", lambda: first_fetched(cluster[1].port, "t", 0) == 0)
    assert log_start(cluster[1].port, "t") == 0
    cluster[1].stop()


def lose_directory(cluster: Cluster, store: Path) -> None:
    """Remove the directory of an only replica: the empty log that leads deletes its remote segments."""
    data = cluster[1].log_dirs[0]
    cluster[1].start()
    fill(cluster, store, "gone")
    shutil.rmtree(data / "gone-0")
    said = " ".join(command("predict", data, "--topic", "gone").out.split())
    assert "P302 gone-0 would start empty" in said
    assert "P811 gone-0 starts empty. Then Kafka deletes at most 4 remote segments (offsets 0-19)" in said
    cluster[1].start()
    wait_for("deletion of gone", lambda: not stored(store, "gone"))
    assert [first_fetched(cluster[1].port, "gone", offset) for offset in (0, 4 * BATCH)] == [None, None]
    cluster[1].stop()


def lose_metadata(cluster: Cluster, store: Path) -> None:
    """Remove an object, then the directories of __remote_log_metadata."""
    data = cluster[1].log_dirs[0]
    clean = kcheck.tiered(str(data), store=store).to_dict()
    assert (remote_ids(clean), replica(clean, "t", 1)["deletes_if_leading"]) == ([], [])
    copied = {row["topic"]: (row["segments"], row["to_copy"]) for row in clean["topics"]}
    assert copied["t"] == (len(stored(store, "t")), 0)

    next((store / "kafka-tiered-storage").glob(f"t-0-*/{BATCH:020d}-*.log")).unlink()
    assert remote_ids(kcheck.tiered(str(data), store=store).to_dict()) == ["KC247"]
    for folder in data.glob("__remote_log_metadata-*"):
        shutil.rmtree(folder)
    answer = kcheck.tiered(str(data)).to_dict()
    assert remote_ids(answer) == ["KC245"]
    (lost,) = replica(answer, "t", 1)["without_metadata"]
    cluster[1].start()
    tiered.wait_log_start(cluster, 1, "t", lost["to_exclusive"])
