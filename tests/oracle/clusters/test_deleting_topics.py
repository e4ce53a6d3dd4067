"""A topic was deleted while a broker was down, so ZooKeeper still has it, and then a disk was lost: on real brokers.

No controller elects a leader for such a topic, and the tool is refused (InvalidTopicException).
"""

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import kcheck
from kcheck.core.election.progress import PlanState
from kcheck.core.election.steps import RecoveryAction
from kcheck.views.zookeeper_copy import read_zookeeper
from tests.oracle.ask import sampled
from tests.oracle.clusters.recovered import follow, typed
from tests.oracle.incidents.client import Client
from tests.oracle.kafka import Cluster, wait_for

pytestmark = [pytest.mark.oracle, pytest.mark.whole]

BROKERS = ["1=broker-1", "2=broker-2"]
SETTLES = 4.0
"""Seconds within which brokers that have just started lead what they can."""


@pytest.mark.parametrize("version", sampled(("2.8.2", "3.9.2")))
def test_a_topic_that_waits_for_its_deletion_has_no_election(
    version: str, tmp_path: Path, start: Callable[..., Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan elects the other partition alone; the topic goes once both brokers run, and --next says done."""
    with start(version, 2, mode="zk", dir=tmp_path / "cluster") as cluster:
        with Client(cluster.bootstrap) as client:
            for topic in ("orders", "gone"):
                client.ask(f"create {topic} 1,2")
                client.ask(f"send {topic} 0 30 none all")
            cluster[2].stop()
            client.ask("send orders 0 5 none 1")
            client.ask("delete gone")
        wait_for("the deletion on broker 1", lambda: not [*cluster[1].log_dirs[0].glob("gone-0*")])
        cluster[1].stop()
        cluster.kill()
        shutil.rmtree(cluster[1].log_dirs[0] / "orders-0")
        monkeypatch.chdir(cluster.dir)
        assert read_zookeeper("zookeeper", None).image.topics["gone"].deleting
        answer = kcheck.recover(*BROKERS, metadata=["zookeeper"], kafka=version, out="plan")
        elected = [row.topic for step in answer.steps if step.kind is RecoveryAction.ELECT for row in step.partitions]
        assert elected == ["orders"]
        assert any("of a topic that is being deleted (gone-0)" in words for words in answer.sentences)
        cluster.beside.start()
        followed = follow(cluster, answer, lambda _: time.sleep(SETTLES))
        assert (followed.progress, [text[-3:] for text in followed.printed]) == ([], ["[0]"] * len(followed.printed))
        wait_for("the end of the topic", lambda: not [*cluster.dir.glob("broker-*/data1/gone-0")])
        last = kcheck.recovery_progress("plan", *BROKERS, metadata=["zookeeper"], kafka=version)
        assert last.state is PlanState.DONE
        Path("refused.json").write_text(json.dumps({"partitions": [{"topic": "gone", "partition": 0}]}))
        option = "--election-type UNCLEAN --path-to-json-file refused.json"
        assert not typed(cluster, f"bin/kafka-leader-election.sh --bootstrap-server X {option}").endswith("[0]")
