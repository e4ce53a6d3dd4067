"""A ZooKeeper broker without any meta.properties keeps its id, where ZooKeeper shows whose replicas are here."""

import json
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

import pytest

import kcheck
from kcheck.core.cluster.owner import owner_of
from kcheck.disk.apply import apply
from kcheck.model.cluster import ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.names import TopicPartition
from kcheck.plans.repair import RepairPlan
from kcheck.repairs import Owner, RepairStep, WriteEdit, write_meta_properties
from tests.builders import broker, partition_dir, run, write
from tests.zookeeper_bytes import node, snapshot

CLUSTER = "HYMg_Lc3RlubcZNUIr8saw"
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def image(*replicas: tuple[int, ...]) -> ClusterImage:
    """Return a cluster with topic t, whose partitions have these replicas."""
    partitions = {number: PartitionRegistration(of, of) for number, of in enumerate(replicas)}
    return ClusterImage(topics={"t": TopicImage("t", None, partitions)})


@pytest.mark.parametrize(("replicas", "here", "owner"), [
    (((1, 2), (1,)), {T0, T1}, 1),
    (((1, 2), (1,)), {T0}, 2),
    (((1, 2), (1, 2)), {T0, T1}, None),
    (((1, 2), (1,)), {T1}, None),
    (((1,),), set(), None),
])  # fmt: skip
def test_the_only_broker_with_exactly_these_replicas(
    replicas: tuple[tuple[int, ...], ...], here: set[TopicPartition], owner: int | None
) -> None:
    assert owner_of(frozenset(here), image(*replicas)) == owner


def znodes(path: Path) -> Path:
    """Write the data of a ZooKeeper server: partition 0 of t is on brokers 1 and 2, partition 1 on 1 alone."""
    state = {"controller_epoch": 1, "leader": 1, "leader_epoch": 0, "version": 1, "isr": [1]}
    values: dict[str, object] = {
        "/brokers/topics/t": {"version": 1, "partitions": {"0": [1, 2], "1": [1]}},
        "/cluster/id": {"version": "1", "id": CLUSTER},
    }
    values |= {f"/brokers/topics/t/partitions/{number}/state": state for number in range(2)}
    names = {str(parent) for name in values for parent in PurePosixPath(name).parents} - {"/", *values}
    texts = dict.fromkeys(names, b"") | {name: json.dumps(value).encode() for name, value in values.items()}
    write(path / "zookeeper" / "version-2", {"snapshot.0": snapshot(node(name, texts[name]) for name in sorted(texts))})
    return path / "zookeeper"


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """Write broker 1 with two log dirs that have lost their meta.properties; return its server.properties."""
    one, two = broker(tmp_path / "b" / "d1", run(0, 9)), broker(tmp_path / "b" / "d2", run(0, 9))
    (two / "t-0").rename(two / "t-1")
    for path in (one, two):
        (path / "meta.properties").unlink()
    text = f"broker.id=-1\nzookeeper.connect=z:1\nlog.dirs={one},{two}\n"
    write(tmp_path / "b", {"server.properties": text.encode()})
    return tmp_path / "b" / "server.properties"


def planned(path: Path, **asked: Any) -> RepairPlan:
    """Return the plan of a broker of 3.9 for what its premises say."""
    return kcheck.repair(path, kafka="3.9", keep=lambda rule, _: rule == "KC315", **asked)


def test_each_log_dir_gets_the_broker_and_the_cluster(settings: Path, tmp_path: Path) -> None:
    """The broker starts then, and keeps its replicas."""
    zookeeper = znodes(tmp_path)
    made = planned(settings, metadata=[zookeeper])
    assert [(operation.path.rpartition("/")[2], operation.why.finding) for operation in made.plan.operations] == [
        ("meta.properties", "KC315")
    ] * 2
    apply(made.plan_bytes(), str(tmp_path / "backup"))
    written = {path.read_bytes() for path in tmp_path.glob("b/*/meta.properties")}
    assert written == {f"version=0\nbroker.id=1\ncluster.id={CLUSTER}\n".encode()}
    assert {str(start.outcome) for start in made.starts} == {"ok"}
    left = planned(settings, metadata=[zookeeper])
    assert (left.plan.operations, left.not_planned) == ((), ())


def test_nothing_is_written_without_a_proof(settings: Path, tmp_path: Path) -> None:
    """Without ZooKeeper's data, or with another partition here; and what a preflight says is the same."""
    (row,) = planned(settings).not_planned
    assert row.why.startswith("no log dir has a meta.properties: with broker.id=-1 the broker gets a new id")
    zookeeper = znodes(tmp_path)
    (reason,) = kcheck.preflight(settings, kafka="3.9", metadata=[zookeeper]).reasons
    assert reason.why.endswith(f"the 2 replicas here belong to broker 1 according to {zookeeper}")
    partition_dir(settings.parent / "d1" / "t-2", [run(0, 9)])
    (row,) = planned(settings, metadata=[zookeeper]).not_planned
    assert "stay with the old one" in row.why


def test_other_premises_are_not_about_this_file() -> None:
    """A cluster before 0.10.1 has no id."""
    site: Any = SimpleNamespace(owner=Owner(1, None, 2, "zookeeper"))
    about = [
        Finding("KC315", "x", Severity.FATAL, Location(), "", "", "", data={"premise": premise})
        for premise in ("P101", "P103")
    ]
    (step,) = write_meta_properties.plan(site, tuple(about))
    assert isinstance(step, RepairStep)
    assert step.finding is about[1]
    assert step.edits == (WriteEdit("meta.properties", b"version=0\nbroker.id=1\n"),)
