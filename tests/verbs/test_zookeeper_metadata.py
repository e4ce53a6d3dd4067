"""Metadata from ZooKeeper beside findings of several partitions and brokers, and what a start makes of them."""

import json
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

import kcheck
from tests.builders import broker, meta_properties, partition_dir, partition_metadata, run, write
from tests.zookeeper_bytes import node, snapshot

IDS = ("AAAAAAAAAAAAAAAAAAAABQ", "AAAAAAAAAAAAAAAAAAAABg")


@pytest.fixture
def brokers(tmp_path: Path) -> list[Path]:
    """Write the log dirs of two ZooKeeper brokers; the replica of the second one lost its end."""
    paths = []
    for number, last in ((1, 9), (2, 4)):
        path = broker(tmp_path / f"b{number}", run(0, last), broker_id=number)
        write(path, {"meta.properties": meta_properties(number, version=0)})
        write(path / "t-0", {"partition.metadata": partition_metadata(IDS[0]), f"{0:020d}.timeindex": b""})
        paths.append(path)
    return paths


def znodes(path: Path, *, isr: tuple[int, ...] = (1, 2)) -> Path:
    """Write the data of a single ZooKeeper server, which gives the topic the second id."""
    state = {"controller_epoch": 1, "leader": 1, "leader_epoch": 0, "version": 1, "isr": isr}
    partitions = {"0": [1, 2], "1": [1]}
    topic = {"version": 3, "topic_id": IDS[1], "partitions": partitions, "adding_replicas": {}, "removing_replicas": {}}
    values: dict[str, object] = {"/brokers/topics/t": topic, "/controller_epoch": 1}
    values |= {f"/brokers/topics/t/partitions/{number}/state": state for number in partitions}
    names = {str(parent) for name in values for parent in PurePosixPath(name).parents} - {"/", *values}
    texts = dict.fromkeys(names, b"") | {name: json.dumps(value).encode() for name, value in values.items()}
    nodes = (node(name, texts[name]) for name in sorted(texts))
    write(path / "zookeeper" / "version-2", {"snapshot.0": snapshot(nodes)})
    return path / "zookeeper"


def rules(*paths: Path, **asked: Any) -> set[tuple[str, str, int]]:
    """Return rule, directory and broker of the findings about replicas and topic ids."""
    findings = kcheck.check(*paths, kafka="3.6", **asked).to_dict()["findings"]
    told = {(row["id"], row["dir"], row["broker_id"]) for row in findings}
    return {row for row in told if row[0] in ("KC235", "KC303", "KC403", "KC407")}


def outcomes(path: Path, **asked: Any) -> tuple[str, dict[str, str]]:
    """Return what the start makes of a log dir and of its partitions."""
    (start,) = kcheck.predict(path, kafka="3.6", **asked).to_dict()["log_dirs"]
    return start["outcome"], {row["dir"]: row["outcome"] for row in start["partitions"]}


def test_a_replica_that_zookeeper_takes_for_in_sync(brokers: list[Path], tmp_path: Path) -> None:
    """KC407 needs the ISR; the start of its broker is the same with and without it."""
    for path in brokers:
        write(path / "t-0", {"partition.metadata": partition_metadata(IDS[1])})
    plain = rules(*brokers)
    in_sync = rules(*brokers, metadata=[znodes(tmp_path)])
    behind = rules(*brokers, metadata=[znodes(tmp_path, isr=(1,))])
    assert ("KC407", "t-0", 2) in in_sync
    assert not {row for row in plain | behind if row[0] == "KC407"}
    assert outcomes(brokers[1]) == outcomes(brokers[1], metadata=[znodes(tmp_path)]) == ("ok", {"t-0": "ok"})


def test_two_topic_ids_of_one_topic(brokers: list[Path], tmp_path: Path) -> None:
    """KC303 sees two, ZooKeeper says which is wrong: its broker keeps the directory and serves neither."""
    path = brokers[0]
    write(partition_dir(path / "t-1", [run(0, 9)]), {"partition.metadata": partition_metadata(IDS[1])})
    export = znodes(tmp_path)
    told = rules(path, metadata=[export])
    assert "KC303" in {row[0] for row in rules(path)} & {row[0] for row in told}
    assert {row for row in told if row[0] == "KC235"} == {("KC235", "t-0", 1)}
    outcome, partitions = outcomes(path, metadata=[export])
    assert (outcome, partitions["t-0"]) == ("ok", "stray")
    assert "stray" not in outcomes(path)[1].values()
