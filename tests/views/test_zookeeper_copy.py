"""The metadata of clusters with ZooKeeper, in every form that an operator can have, whole and damaged."""

import gzip
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from shutil import copy, copytree

import pytest

from kcheck.disk.listing import Listing
from kcheck.disk.local import LocalTree
from kcheck.model.cluster import ClusterImage, MetadataProblem
from kcheck.model.unreadable import UnreadableError
from kcheck.model.zookeeper_metadata import ZookeeperMetadata
from kcheck.views import zookeeper_copy, zookeeper_server
from kcheck.views.zookeeper_copy import is_zookeeper, read_zookeeper
from tests.zookeeper_bytes import WRITTEN, create, log, node, record, snapshot

RELEASES = ["1.1.1", "3.9.2"]
OBJECTS: Mapping[str, object] = {
    "/brokers/topics/t": {"version": 1, "partitions": {"0": [1, 2]}},
    "/brokers/topics/t/partitions/0/state": {"controller_epoch": 1, "leader": 1, "leader_epoch": 2, "isr": [1]},
    "/brokers/ids/1": {"version": 4, "endpoints": ["PLAINTEXT://a:1"]},
    "/controller_epoch": 1,
}


def written(path: Path, data: bytes | str) -> Path:
    """Write a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def copied(version: str, target: Path) -> Path:
    """Return a copy of a data directory."""
    return Path(copytree(WRITTEN / version, target))


def problems(path: Path) -> list[tuple[str, str]]:
    """Return the problems, each with the path below the read one."""
    assert is_zookeeper(str(path))
    return [
        (os.path.relpath(place, path) if place.startswith(str(path)) else place, why)
        for place, why in read_zookeeper(str(path)).problems
    ]


def flip(path: Path, position: int) -> None:
    """Change a byte."""
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("version", RELEASES)
def test_a_data_directory(version: str, tmp_path: Path) -> None:
    """Also the folder in it, a copy of its files under another name, and logs that lie apart."""
    wanted = read_zookeeper(str(WRITTEN / version))
    assert wanted.problems == ()
    assert {name: set(topic.partitions) for name, topic in wanted.image.topics.items()} == {
        "plain": {0, 1},
        "strict": {0},
    }
    inner = WRITTEN / version / "version-2"
    copytree(inner, tmp_path / "other")
    for path in (inner, tmp_path / "other"):
        assert is_zookeeper(str(path))
        assert read_zookeeper(str(path)) == wanted
    apart, logs = copied(version, tmp_path / "apart"), tmp_path / "logs"
    for path in (apart / "version-2").glob("log.*"):
        written(logs / "version-2" / path.name, path.read_bytes())
        path.unlink()
    assert is_zookeeper(str(apart))
    assert read_zookeeper(str(apart), str(logs)) == wanted
    assert read_zookeeper(str(apart), str(tmp_path / "none")).problems == (
        MetadataProblem(str(tmp_path / "none"), "No such file or directory"),
    )


@pytest.mark.parametrize("version", [*RELEASES, "3.9.2-migration"])
def test_the_files_say_what_kafka_topics_said(version: str) -> None:
    def shown(path: Path) -> dict[tuple[str, str | None, int], tuple[object, ...]]:
        partitions = read_zookeeper(str(path)).image.partitions()
        return {(topic.name, topic.topic_id, number): state[:3] for topic, number, state in partitions}

    assert shown(WRITTEN / version) == shown(WRITTEN / version / "describe.txt")


def test_a_migration() -> None:
    """The KRaft controller has taken /controller and writes topics to ZooKeeper."""
    metadata = read_zookeeper(str(WRITTEN / "3.9.2-migration"))
    migration = metadata.migration
    assert migration is not None
    assert (metadata.image.controller, migration.controller_id, metadata.problems) == (100, 100, ())
    assert (metadata.image.migration, migration.metadata_offset > 0) == ("migration", True)
    assert [broker.migrating for broker in metadata.image.brokers.values()] == [True]
    assert set(metadata.image.topics) == {"before", "during"}


@pytest.mark.parametrize("version", RELEASES)
def test_one_file_of_a_server(version: str, tmp_path: Path) -> None:
    """A snapshot is whole alone; a log says that what came before is missing. The user may name a link."""
    folder = WRITTEN / version / "version-2"
    newest = max(folder.glob("snapshot.*"), key=lambda path: int(path.name.split(".")[1], 16))
    assert {"plain", "strict"} <= set(read_zookeeper(str(newest)).image.topics)
    assert problems(newest) == []
    last = max(folder.glob("log.*"), key=lambda path: int(path.name.split(".")[1], 16))
    assert problems(last)[0] == (".", "the transactions after 0 are missing, because a log is not here")
    link = tmp_path / newest.name
    link.symlink_to(newest)
    assert read_zookeeper(str(link)) == read_zookeeper(str(newest))
    renamed = copy(folder / "log.1", tmp_path / "renamed")
    assert is_zookeeper(str(renamed))


@pytest.mark.parametrize("name", ["", "version-2"])
def test_an_emptied_server_has_no_topic(name: str, tmp_path: Path) -> None:
    """It starts without a znode; so does a new one, whose snapshot has none of Kafka."""
    inner = tmp_path / "version-2"
    inner.mkdir()
    path = str(tmp_path / name)
    for znodes in (None, [node("/zookeeper", b"")]):
        if znodes is not None:
            written(inner / "snapshot.0", snapshot(znodes))
        assert is_zookeeper(path)
        metadata = read_zookeeper(path)
        assert (dict(metadata.image.topics), metadata.problems) == ({}, ())
    written(tmp_path / "other" / "version-2" / "x", b"")
    assert not is_zookeeper(str(tmp_path / "other"))


def test_a_compressed_snapshot(tmp_path: Path) -> None:
    """Outside of version-2 its first bytes count."""
    made = snapshot(
        [node("/brokers", b""), node("/brokers/topics", b""), node("/brokers/topics/t", b'{"partitions":{}}')]
    )
    packed = written(tmp_path / "a" / "snapshot.4a.gz", gzip.compress(made))
    assert (problems(packed), problems(packed.parent)) == ([], [])
    assert set(read_zookeeper(str(packed)).image.topics) == {"t"}
    assert not is_zookeeper(str(written(tmp_path / "b.gz", gzip.compress(made))))


def test_a_damaged_snapshot_gives_way_to_an_older_one(tmp_path: Path) -> None:
    folder = copied("3.9.2", tmp_path / "z")
    flip(folder / "version-2" / "snapshot.48.gz", 800)
    ((place, _),) = problems(folder)
    assert place == "version-2/snapshot.48.gz"
    assert read_zookeeper(str(folder)).image == read_zookeeper(str(WRITTEN / "3.9.2")).image


def test_without_an_intact_snapshot_zookeeper_does_not_start(tmp_path: Path) -> None:
    folder = copied("1.1.1", tmp_path / "z")
    for path in (folder / "version-2").glob("snapshot.*"):
        flip(path, 50)
    last = problems(folder)[-1]
    assert last == (
        ".",
        "ZooKeeper does not start, because no snapshot is intact; only the transactions of its logs are shown",
    )
    for path in (folder / "version-2").glob("snapshot.*"):
        path.unlink()
        path.symlink_to(WRITTEN / "1.1.1" / "version-2" / path.name)
    *links, last = problems(folder)
    assert last == (".", "kcheck can read no snapshot; only the transactions of its logs are shown")
    assert {why for _, why in links} == {"a symbolic link: not followed"}
    assert len(read_zookeeper(str(folder)).image.topics) == 2


def test_logs_without_a_snapshot(tmp_path: Path) -> None:
    """ZooKeeper 3.5.9 of Kafka 2.8.2 ended. Its logs alone, one by one, say nothing of that."""
    folder = copied("3.9.2", tmp_path / "z")
    for path in (folder / "version-2").glob("snapshot.*"):
        path.unlink()
    why = "ZooKeeper 3.5.3 and later does not start, because no snapshot is next to its logs"
    assert (".", why) in problems(folder)
    for path in (folder / "version-2").glob("log.*"):
        assert why not in dict(problems(path)).values()


def test_a_snapshot_beyond_the_limits_says_nothing_of_the_start(tmp_path: Path) -> None:
    made = snapshot([node("/a", bytes(1 << 23))])
    written(tmp_path / "version-2" / "snapshot.1.gz", gzip.compress(made))
    assert problems(tmp_path)[1] == (".", "kcheck can read no snapshot; only the transactions of its logs are shown")


def test_damaged_logs(tmp_path: Path) -> None:
    """A torn tail is passed over; after a wrong checksum later transactions are left out."""
    first = record(1, create("/brokers", b""), zxid=1)
    for name, data, why in (
        (
            "torn",
            log(first)[:-41],
            "position 16: the last transaction is incomplete: its end needs 1 bytes, but 0 are left",
        ),
        ("wrong", log(first).replace(b"/brokers", b"/broker?"), "position 16: the Adler-32 of the transaction is"),
    ):
        folder = tmp_path / name / "version-2"
        written(folder / "log.1", data)
        more = ("/brokers", "/brokers/topics", "/brokers/topics/t")
        written(folder / "log.2", log(*(record(1, create(path, b"{}"), zxid=2 + at) for at, path in enumerate(more))))
        (place, said), *_ = problems(folder)
        assert (place, said[: len(why)]) == ("log.1", why)
        assert (name == "wrong") == said.endswith("; ZooKeeper does not start; later transactions are left out")
        assert any(place == "/brokers/topics/t" for place, _ in problems(folder)) == (name == "torn")


def test_logs_beyond_the_limit_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zookeeper_server, "LOGS_SIZE_MAX", 100)
    written(tmp_path / "version-2" / "log.1", log(record(1, create("/a", b""))))
    assert (
        "version-2/log.1",
        "143 bytes are too many for a file of this kind; later transactions are left out",
    ) in (problems(tmp_path))


@pytest.mark.parametrize(
    "arrange", [dict, lambda objects: [{"path": path, "data": data} for path, data in objects.items()]]
)
def test_an_export(arrange: Callable[[Mapping[str, object]], object], tmp_path: Path) -> None:
    """Below every chroot; without one the first counts, and the others are named."""
    objects = {f"/b{path}": value for path, value in OBJECTS.items()}
    path = written(tmp_path / "znodes.json", json.dumps(arrange(objects)))
    assert problems(path) == []
    alone = read_zookeeper(str(path))
    assert alone.image.topics["t"].partitions[0].last_leader_epoch == 2
    assert alone == read_zookeeper(str(path), chroot="/b/")
    assert [problem.why for problem in read_zookeeper(str(path), chroot="/c").problems] == [
        "no topics of Kafka below /c"
    ]
    more = {**objects, "/c/brokers/topics/x": {"partitions": {}}, "/a/brokers/topics/y": {"partitions": {}}}
    path = written(tmp_path / "more.json", json.dumps(arrange(more)))
    assert problems(path) == [(".", "3 clusters: /a is shown, not /b, /c")]
    assert set(read_zookeeper(str(path)).image.topics) == {"y"}
    assert read_zookeeper(str(path), chroot="/b").image == alone.image
    assert read_zookeeper(str(path), wanted="/b") == alone
    assert [problem.why for problem in read_zookeeper(str(path), wanted="/d").problems] == [problems(path)[0][1]]


def test_lines_of_an_export(tmp_path: Path) -> None:
    lines = [json.dumps({"path": path, "data": json.dumps(data), "dataVersion": 7}) for path, data in OBJECTS.items()]
    path = written(tmp_path / "znodes.jsonl", "\n".join([*lines, "{"]))
    assert problems(path) == [(".", "line 5, column 1: this is no JSON object with a path and data")]
    assert read_zookeeper(str(path)).image.topics["t"].partitions[0].partition_epoch == 7


@pytest.mark.parametrize("version", RELEASES)
def test_a_description(version: str, tmp_path: Path) -> None:
    path = WRITTEN / version / "describe.txt"
    assert problems(path) == []
    assert {partition.leader for _, _, partition in read_zookeeper(str(path)).image.partitions()} == {2}
    part = written(tmp_path / "part", "\n".join(path.read_text().splitlines()[:-1]))
    ((_, why),) = problems(part)
    assert why.endswith(" are listed")
    rows = [{"topic": "t", "partition": 0, "leader": 1, "replicas": [1], "isr": [1]}]
    assert set(read_zookeeper(str(written(tmp_path / "rows.json", json.dumps(rows)))).image.topics) == {"t"}


def tree(root: Path) -> Path:
    """Write the znodes as files."""
    for path, value in OBJECTS.items():
        file = root / path[1:]
        written(file / "data" if path.endswith("/t") else file, json.dumps(value))
    written(root / "other" / "secret", "secret")
    return root


def test_a_tree_of_files(tmp_path: Path) -> None:
    root = tree(tmp_path)
    state = root / "brokers" / "topics" / "t" / "partitions" / "0" / "state"
    state.write_text(state.read_text() + "\ncZxid = 0x1\ndataVersion = 9\n")
    (root / "admin" / "delete_topics" / "t").mkdir(parents=True)
    assert problems(root) == []
    metadata = read_zookeeper(str(root))
    assert metadata.image.topics["t"].deleting
    assert (metadata.controller_epoch, metadata.image.topics["t"].partitions[0].partition_epoch) == (1, 9)


def test_no_link_in_a_tree_is_followed(tmp_path: Path) -> None:
    """Neither out of it nor inside; a pipe is not opened."""
    root = tree(tmp_path / "tree")
    written(tmp_path / "out" / "3", '{"endpoints": []}')
    (root / "brokers" / "ids" / "3").symlink_to(tmp_path / "out" / "3")
    (root / "config").symlink_to(tmp_path / "out")
    (root / "cluster").symlink_to(root / "brokers")
    os.mkfifo(root / "controller")
    link = "a symbolic link: not followed"
    assert sorted(problems(root)) == [
        ("brokers/ids/3", link),
        ("cluster", link),
        ("config", link),
        ("controller", "not a regular file"),
    ]
    assert set(read_zookeeper(str(root)).image.brokers) == {1}


def test_limits_of_a_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tree(tmp_path)
    monkeypatch.setattr(zookeeper_copy, "_DEPTH_MAX", 3)
    rest = "too many files or directories; the rest is left out"
    assert ("brokers/topics/t/partitions", rest) in problems(root)
    monkeypatch.setattr(zookeeper_copy, "_DEPTH_MAX", 16)
    monkeypatch.setattr(zookeeper_copy, "EXPORT_SIZE_MAX", 60)
    assert any(why.endswith("are too many for a file of this kind") for _, why in problems(root))
    monkeypatch.setattr(zookeeper_copy, "TREE_COUNT_MAX", 3)
    assert rest in [why for _, why in problems(root)]


def test_what_the_system_refuses_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory that cannot be listed leaves the others; a path that cannot be listed is nothing known."""
    root = tree(tmp_path / "tree")
    refused = [str(root / "brokers" / "ids")]

    seen = LocalTree.listing

    def listing(tree: LocalTree, path: str) -> Listing:
        if path in refused:
            raise UnreadableError("Permission denied")
        return seen(tree, path)

    monkeypatch.setattr(LocalTree, "listing", listing)
    assert problems(root) == [("brokers/ids", "Permission denied")]
    refused.append(str(root))
    assert not is_zookeeper(str(root))
    assert read_zookeeper(str(root)).problems == (MetadataProblem(str(root), "Permission denied"),)


def test_more_problems_than_anybody_reads(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", '{"path": "/a"}\n' + "x\n" * 500)
    assert len(read_zookeeper(str(path)).problems) == 100
    root = tree(tmp_path / "tree")
    for number in range(200):
        (root / "brokers" / "ids" / f"{number + 5}").symlink_to("/")
    assert len(read_zookeeper(str(root)).problems) == 100


def test_what_is_not_of_zookeeper(tmp_path: Path) -> None:
    """A log.1 of another program, a link named like a snapshot, an empty file, a missing path."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "brokers").mkdir()
    for path in (
        written(tmp_path / "log.1", "started").parent,
        written(tmp_path / "e", ""),
        written(tmp_path / "j.json", '{"verb": "check"}'),
        written(tmp_path / "s" / "version-2" / "other", "").parent.parent,
        tmp_path / "empty",
    ):
        assert not is_zookeeper(str(path))
        why = "no files of ZooKeeper, and no export of znodes"
        assert read_zookeeper(str(path)) == ZookeeperMetadata(
            ClusterImage({}), problems=(MetadataProblem(str(path), why),)
        )
    (tmp_path / "empty" / "snapshot.1").symlink_to(tmp_path / "missing")
    assert not is_zookeeper(str(tmp_path / "empty"))
    missing = str(tmp_path / "missing")
    assert not is_zookeeper(missing)
    assert read_zookeeper(missing).problems == (MetadataProblem(missing, "No such file or directory"),)
