"""Three logs that end at 35, 30 and 20: the shortest one wins an unclean election, and elect says so beforehand.

The cluster goes on from where it was recorded; `KCHECK_SWEEP=1` writes the logs first. `test_elect.py` also lets the
last broker in sync come back.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.disk.local import LOCAL
from kcheck.model.cluster import NO_LEADER, UNCLEAN, PartitionRegistration
from kcheck.replicas.elect import ClusterElection
from kcheck.views.metadata_copy import read_copy
from tests.oracle import histories
from tests.oracle.clusters.diverged import settled
from tests.oracle.jars import run_java
from tests.oracle.kafka import CONTROLLER_ID, Cluster, wait_for
from tests.oracle.scenes import recorded

pytestmark = pytest.mark.oracle

VERSION = "4.3.1"
CONFIG = {**histories.config(VERSION), "unclean.leader.election.enable": "false"}


@pytest.fixture
def cluster(tmp_path: Path, start: Callable[..., Cluster]) -> Iterator[Cluster]:
    """Yield a cluster after `histories.outrun`, whose brokers are to be started; all are killed in the end."""
    kept = recorded("clusters/4.3.1/outrun", tmp_path / "kept")
    cluster = start(VERSION, 3, dir=tmp_path / "c", broker_config=CONFIG, begins_with=kept)
    yield cluster
    cluster.kill()


def registration(cluster: Cluster, topic: str) -> PartitionRegistration:
    """Return what the controller knows of the partition."""
    path = cluster.beside.log_dirs[0] / "__cluster_metadata-0"
    return read_copy(LOCAL, str(path), 100).image.topics[topic].partitions[0]


def asked(cluster: Cluster, topic: str, *brokers: int, **how: Any) -> ClusterElection:
    """Return what elect says of the partition, with these brokers here."""
    paths = [f"{number}={cluster[number].log_dirs[0]}" for number in brokers]
    only = kcheck.PartitionFilter(topics=(topic,))
    return kcheck.elect(*paths, metadata=cluster.beside.log_dirs, partitions=only, **how)


def predicted(cluster: Cluster, topic: str, *brokers: int, **how: Any) -> dict[str, Any]:
    """Return what `asked` returns, as JSON."""
    return asked(cluster, topic, *brokers, **how).to_dict()


def tool(cluster: Cluster, name: str, *arguments: str) -> str:
    """Run a tool against broker 2; RuntimeError if it refuses."""
    where = ("--bootstrap-server", f"127.0.0.1:{cluster[2].port}")
    return run_java(VERSION, f"org.apache.kafka.tools.{name}", *where, *arguments)


def reassigned(cluster: Cluster, topic: str, *replicas: int) -> str:
    """Let kafka-reassign-partitions execute another assignment."""
    wanted = cluster.dir / "reassignment.json"
    row = {"topic": topic, "partition": 0, "replicas": list(replicas)}
    wanted.write_text(json.dumps({"version": 1, "partitions": [row]}))
    arguments = ("--execute", "--reassignment-json-file", str(wanted))
    return tool(cluster, "reassign.ReassignPartitionsCommand", *arguments)


@pytest.mark.whole
def test_the_shortest_log_wins_where_it_was_written(tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """The brokers are killed one after the other, and two of them are started on the spot."""
    with start(VERSION, 3, dir=tmp_path / "c", broker_config=CONFIG) as cluster:
        histories.fall_behind(cluster, "t")
        wait_for("no leader", lambda: registration(cluster, "t").leader == NO_LEADER)
        goes_as_predicted(cluster, "t")


@pytest.mark.whole
def test_the_shortest_log_wins(cluster: Cluster) -> None:
    """Nobody but its place in the assignment elects broker 3; what it costs was known before any broker started."""
    cluster.beside.start()
    goes_as_predicted(cluster, "orders")


def goes_as_predicted(cluster: Cluster, topic: str) -> None:
    """Ask elect, start brokers 3 and 2, let Kafka's own tools elect, and start broker 1."""
    known = registration(cluster, topic)
    assert (known.isr, known.elr, known.last_known_elr, known.leader_epoch) == ((), (1,), (1,), 1)

    answer = predicted(cluster, topic, 1, 2, 3)
    (partition,) = answer["partitions"]
    assert [row["log_end_offset"] for row in partition["candidates"]] == [35, 30, 20]
    assert [row["lost"]["records"] for row in partition["candidates"]] == [0, 5, 15]
    assert (partition["kafka_elects"], partition["best"]) == ({"clean": 1, "unclean": 1}, 1)
    assert answer["start_order"] == [1, 2, 3]
    assert f"Start broker 1 first: it is in the ELR of {topic}-0." in answer["verdict"]
    assert "nothing is lost" in answer["verdict"]
    (without,) = predicted(cluster, topic, 2, 3)["partitions"]
    assert (without["best"], without["unknown_replicas"]) == (None, [1])
    (given_up,) = predicted(cluster, topic, 2, 3, dead=[1])["partitions"]
    assert (given_up["kafka_elects"], given_up["best"]) == ({"clean": None, "unclean": 2}, 2)
    (third,) = [row for row in partition["candidates"] if row["broker_id"] == 3]
    (cut,) = [row["truncate_to"] for row in third["followers"] if row["broker_id"] == 2]

    for number in (3, 2):
        cluster[number].start()
    described = tool(cluster, "TopicCommand", "--describe", "--topic", topic)
    assert re.search(r"Leader: none\s+Replicas: 1,2,3\s+Isr: \s*Elr: 1\s+LastKnownElr: 1\s", described)
    with pytest.raises(RuntimeError, match="Unknown broker id 1"):
        reassigned(cluster, topic, 3, 2, 1)
    assert "Successfully started" in reassigned(cluster, topic, 3, 2)
    known = registration(cluster, topic)
    assert (known.leader, known.replicas, known.removing) == (NO_LEADER, (3, 2, 1), (1,))
    elect = ("LeaderElectionCommand", "--topic", topic, "--partition", "0", "--election-type")
    with pytest.raises(RuntimeError, match="PreferredLeaderNotAvailable"):
        tool(cluster, *elect, "PREFERRED")
    assert "Successfully completed" in tool(cluster, *elect, "UNCLEAN")
    wait_for("two in sync", lambda: set(registration(cluster, topic).isr) == {2, 3})
    wait_for("the reassignment", lambda: registration(cluster, topic).replicas == (3, 2))
    known = registration(cluster, topic)
    assert (known.leader, known.replicas, known.elr) == (3, (3, 2), ())
    assert re.search(rf"{topic}-0 .*starts at leader epoch 2 from offset {cut} ", cluster[3].log_since_start())
    said = cluster[2].log_since_start()
    assert re.search(rf"Truncating partition {topic}-0 with TruncationState\(offset={cut},", said)
    cluster[1].start()
    wait_for("a stray", lambda: any(cluster[1].log_dirs[0].glob(f"{topic}-0.*-stray")))
    (stray,) = cluster[1].log_dirs[0].glob(f"{topic}-0.*-stray")
    cluster.stop()

    saved = predicted(cluster, topic, 1, 2, 3)
    rows = {(row["broker_id"], row["state"]): row for row in saved["partitions"][0]["candidates"]}
    assert rows[1, "stray"]["dir"] == stray.name
    assert (rows[1, "stray"]["log_end_offset"], rows[3, "current"]["log_end_offset"]) == (35, 20)


@pytest.mark.whole
def test_a_controller_obeys_its_own_configuration(cluster: Cluster) -> None:
    """Before the cluster's default, never that of another node; elect says so before a broker starts."""
    cluster.beside.start()
    configured(cluster, "--entity-default", "false")
    for node, leader in ((2, NO_LEADER), (CONTROLLER_ID, 2)):
        configured(cluster, f"--entity-name={node}", "true")
        (partition,) = asked(cluster, "orders", 2, 3, dead=(1,)).partitions
        assert (partition.kafka_now or NO_LEADER) == leader
        for number in (2, 3):
            cluster[number].start()
        assert settled(lambda leader=leader: registration(cluster, "orders").leader == leader, lasting=8)  # type: ignore[misc]
        for number in (2, 3):
            cluster[number].kill()


def configured(cluster: Cluster, whose: str, unclean: str) -> None:
    """Let kafka-configs say at a controller whether unclean elections are allowed."""
    where = ("--bootstrap-controller", f"127.0.0.1:{cluster.beside.port}", "--entity-type", "brokers", whose)
    run_java(VERSION, "kafka.admin.ConfigCommand", *where, "--alter", "--add-config", f"{UNCLEAN}={unclean}")
