"""A topic was deleted by mistake: its `-delete` directories serve again, on a real cluster."""

import json
import shutil
from pathlib import Path

import pytest

import kcheck
from kcheck.disk.apply import apply
from tests.oracle.ask import sampled
from tests.oracle.clusters.lost_quorum import BROKERS, CONTROLLERS, Nodes, content, copied, done_by
from tests.oracle.clusters.test_lost_quorum import Base, base
from tests.oracle.incidents.client import Client
from tests.oracle.kafka import wait_for

__all__ = ["base"]

pytestmark = [pytest.mark.oracle, pytest.mark.whole]

TOPIC_COMMAND = "org.apache.kafka.tools.TopicCommand"


def left_over(nodes: Nodes) -> list[Path]:
    """Return the directories of the deleted topic."""
    return [path for number in BROKERS for path in nodes[number].log_dirs[0].glob("orders-*-delete")]


@pytest.mark.parametrize("version", sampled(("3.9.2", "4.3.1")))
def test_the_records_of_a_deleted_topic_are_served_again(version: str, base: Base, tmp_path: Path) -> None:
    """Under the id of the topic that was created again; followers come into sync, and the topic takes records."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=()) as nodes:
        nodes.start(*CONTROLLERS, *BROKERS)
        for _ in range(2):  # leader epochs above those of a new topic
            nodes[1].stop()
            nodes.start(1)
        with Client(nodes.bootstrap) as client:
            assert len(done_by(client, "send orders 0 3 none all")) == 3
            before, _ = content(client)
        nodes.tool(TOPIC_COMMAND, "--bootstrap-server", nodes.bootstrap, "--delete", "--topic", "orders")
        wait_for("the directories", lambda: len(left_over(nodes)) == 4)
        for number in BROKERS:
            nodes[number].kill()
        aside = {path: tmp_path / f"{path.parents[1].name}-{path.name}" for path in left_over(nodes)}
        for path, moved in aside.items():
            shutil.move(path, moved)
        nodes.start(*BROKERS)
        with Client(nodes.bootstrap) as client:
            done_by(client, "create orders 1,2;2,1 min.insync.replicas=1")
        wait_for("the topic", lambda: len([*nodes.dir.glob("node-[12]/data/orders-?")]) == 4)
        nodes.kill()
        for path, moved in aside.items():
            shutil.move(moved, path)
        answer = kcheck.recover_topic(
            "orders", *nodes.arguments(*BROKERS), metadata=[nodes[101].log_dirs[0]], out=tmp_path / "out"
        )
        assert answer.refusals == ()
        assert all(row.rewrites_epochs for row in answer.adoptions if row.old.epoch > 0)
        for plan in answer.plans:
            apply((tmp_path / "out" / plan.name).read_bytes(), str(tmp_path / f"backup-{plan.name}"))
        nodes.start(*CONTROLLERS, *BROKERS)
        wait_for("all in sync", lambda: _in_sync(nodes))
        with Client(nodes.bootstrap) as client:
            assert before == content(client)[0]
            assert len(done_by(client, "send orders 0 5 none all")) == 5
        assert nodes.strays() == []


@pytest.mark.parametrize("version", sampled(("3.9.2", "4.3.1")))
def test_a_topic_of_another_cluster_joins_a_live_one(version: str, base: Base, tmp_path: Path) -> None:
    """Its directories are copied as -stray ones of a topic that was created for them; every record is served."""
    foreign, cluster = base(version, dynamic=True), base("4.3.1", dynamic=False)
    known = json.loads((foreign / "picture.json").read_text())["records"]
    with copied(cluster, tmp_path / "run", "4.3.1", dynamic=False, lost=()) as nodes:
        nodes.start(*CONTROLLERS, *BROKERS)
        with Client(nodes.bootstrap) as client:
            done_by(client, "create moved 1,2;2,1 min.insync.replicas=1")
        wait_for("the topic", lambda: len([*nodes.dir.glob("node-[12]/data/moved-?")]) == 4)
        nodes.kill()
        for number in BROKERS:
            for part in range(2):
                source = foreign / "now" / f"node-{number}" / "data" / f"orders-{part}"
                shutil.copytree(source, nodes[number].log_dirs[0] / f"moved-{part}.{'0' * 32}-stray")
        answer = kcheck.recover_topic(
            "moved", *nodes.arguments(*BROKERS), metadata=[nodes[101].log_dirs[0]], out=tmp_path / "out", force=True
        )
        assert answer.refusals == ()
        for plan in answer.plans:
            apply((tmp_path / "out" / plan.name).read_bytes(), str(tmp_path / f"backup-{plan.name}"))
        nodes.start(*CONTROLLERS, *BROKERS)
        wait_for("all in sync", lambda: _in_sync(nodes, "moved"))
        with Client(nodes.bootstrap) as client:
            for part in range(2):
                rows = client.ask(f"read moved {part}")
                assert known[f"orders-{part}"] == [" ".join(row[3:] if row[0] == "r" else row[4:]) for row in rows]
            assert len(done_by(client, "send moved 0 5 none all")) == 5
        assert nodes.strays() == []
        paths = nodes.arguments(*BROKERS)
        assert kcheck.rescue_progress(tmp_path / "out", *paths, metadata=[nodes[101].log_dirs[0]]).state == "done"


def _in_sync(nodes: Nodes, topic: str = "orders") -> bool:
    parts = nodes.image(1).topics[topic].partitions.values()
    return all({*part.isr} == {*part.replicas} and part.leader != -1 for part in parts)
