"""All metadata is lost, and a broker or a disk is away during the rescue: the rest serves, and it may come back."""

import re
import shutil
from pathlib import Path

import pytest

import kcheck
from tests.cli.command import kcheck as command
from tests.oracle.clusters.lost_metadata import NEW, planned, with_controller, without_metadata
from tests.oracle.clusters.lost_quorum import (
    BROKERS,
    CONTROLLERS,
    Nodes,
    copied,
    done_by,
    followed,
    wait_leads,
)
from tests.oracle.clusters.test_deleted_topic import TOPIC_COMMAND
from tests.oracle.clusters.test_lost_quorum import Base, base
from tests.oracle.incidents.client import Client
from tests.oracle.kafka import wait_for

__all__ = ["base"]

pytestmark = [pytest.mark.oracle, pytest.mark.whole]

VERSION = "4.3.1"


def values(client: Client, topic: str, number: int) -> list[list[str]]:
    """Return the records of a partition."""
    return [row[1:] for row in client.ask(f"read {topic} {number}") if row[0] == "r"]


def serves(nodes: Nodes, topic: str, number: int) -> bool:
    """Return whether a partition has a leader."""
    known = nodes.image(1).topics.get(topic)
    return known is not None and known.partitions[number].leader in BROKERS


def test_a_broker_comes_back_with_its_old_disk(base: Base, tmp_path: Path) -> None:
    """The plan without it says what to ask first; its only replica serves again as the plan of recover topic says."""
    cluster = base(VERSION, dynamic=False)
    with copied(cluster, tmp_path / "run", VERSION, dynamic=False, lost=CONTROLLERS) as nodes:
        away = tmp_path / "away"
        shutil.move(nodes[2].log_dirs[0], away)
        without_metadata(nodes, 1)
        with_controller(nodes)
        answer = kcheck.recover_metadata(*nodes.arguments(NEW, 1), out=tmp_path / "out", dead=[2])
        assert answer.refusals == ()
        followed(nodes, answer)
        nodes.configure(2, [NEW])
        nodes.start(NEW, 1)
        wait_leads(nodes[NEW])
        wait_for("leaders", lambda: all(serves(nodes, "orders", number) for number in (0, 1)))
        with Client(nodes.bootstrap) as client:
            before = [values(client, "orders", number) for number in (0, 1)]
        assert [len(rows) for rows in before] == [45, 30]

        (step,) = (step for step in answer.steps if "broker 2 starts with an old disk" in step.title)
        shutil.move(away, nodes[2].log_dirs[0])
        shutil.rmtree(nodes.metadata(2))
        shown = command(*step.commands[0].replace("PATH", str(nodes[2].log_dirs[0])).split()[1:], columns=500)
        assert "single-0" in shown.out
        (kept,) = nodes[2].log_dirs[0].glob("single-0")
        shutil.move(kept, tmp_path / "single-0")
        nodes.start(2)
        with Client(nodes.bootstrap) as client:
            assert before == [values(client, "orders", number) for number in (0, 1)]
        nodes.kill()

        shutil.move(tmp_path / "single-0", kept)
        asked = {"metadata": [nodes[NEW].log_dirs[0]]}
        refused = kcheck.recover_topic("single", *nodes.arguments(*BROKERS), **asked)
        assert [row.name for row in refused.refusals] == ["no-topic"]
        shutil.move(kept, tmp_path / "single-0")
        nodes.start(NEW, *BROKERS)
        (create,) = re.findall(
            r"kafka-topics\.sh --bootstrap-server HOST:9092 (--create [^)]+)\)", refused.refusals[0].bring
        )
        nodes.tool(TOPIC_COMMAND, "--bootstrap-server", nodes.bootstrap, *create.split())
        wait_for("the topic", lambda: serves(nodes, "single", 0))
        nodes.kill()
        shutil.move(tmp_path / "single-0", f"{kept}.{'0' * 32}-stray")
        back = kcheck.recover_topic("single", *nodes.arguments(*BROKERS), **asked, out=tmp_path / "back")
        assert back.refusals == ()
        for line in (line for step in back.steps for line in step.commands if line.startswith("kcheck apply")):
            assert command(*line.split()[1:]).code == 0
        nodes.start(NEW, *BROKERS)
        wait_for("a leader", lambda: serves(nodes, "single", 0))
        with Client(nodes.bootstrap) as client:
            assert len(values(client, "single", 0)) == 20
            assert len(done_by(client, "send single 0 5 none all")) == 5


def test_one_of_two_log_dirs_is_lost(base: Base, tmp_path: Path) -> None:
    """It is refused until server.properties names it no more; what another disk has comes back, nothing is stray."""
    cluster = base(VERSION, dynamic=False, disks=2)
    with copied(cluster, tmp_path / "run", VERSION, dynamic=False, lost=CONTROLLERS, disks=2) as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        first, second = nodes[2].log_dirs
        shutil.rmtree(second)
        refused = kcheck.recover_metadata(*nodes.arguments(NEW, *BROKERS))
        assert "missing-disk" in [row.name for row in refused.refusals]
        settings = nodes.dir / "node-2" / "server.properties"
        settings.write_text(settings.read_text().replace(f"{first},{second}", str(first)))
        again = kcheck.recover_metadata(*nodes.arguments(NEW, *BROKERS))
        assert {row.name for row in again.refusals} <= {"fewer-replicas"}
        answer = planned(nodes, tmp_path / "out", force=bool(again.refusals))
        followed(nodes, answer)
        nodes.start(NEW, *BROKERS)
        wait_leads(nodes[NEW])
        here = {topic.name: [*topic.partitions] for topic in answer.rebuild.topics}
        assert {"orders", "__consumer_offsets"} <= here.keys()
        wait_for("leaders", lambda: all(serves(nodes, name, number) for name in here for number in here[name]))
        assert nodes.strays() == []
        with Client(nodes.bootstrap) as client:
            assert [len(values(client, "orders", number)) for number in (0, 1)] == [45, 30]
            assert client.ask("group readers") == [["g", "readers", "orders", "0", "17"]]
            assert len(done_by(client, "create later 2,1") or [1]) == 1
            assert len(done_by(client, "send later 0 5 none all")) == 5
