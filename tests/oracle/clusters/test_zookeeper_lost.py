"""ZooKeeper is lost: the disks of its brokers go into a KRaft cluster of 4.3.1, or under topics created again."""

import shutil
import subprocess
from pathlib import Path

import pytest

import kcheck
from kcheck.disk.apply import apply
from kcheck.model.names import log_name
from tests.oracle.ask import sampled
from tests.oracle.clusters.lost_metadata import NEW
from tests.oracle.clusters.lost_quorum import BROKERS, Nodes, content, done_by, followed, wait_leads
from tests.oracle.conftest import no_kafka
from tests.oracle.incidents.client import Client
from tests.oracle.jars import NoKafkaError, java_command
from tests.oracle.kafka import Cluster, free_port, wait_for
from tests.oracle.wire import states

pytestmark = [pytest.mark.oracle, pytest.mark.whole]

RELEASE = "4.3.1"


@pytest.mark.parametrize("version", sampled(("2.6.3", "2.8.2", "3.6.2")))
def test_disks_of_zookeeper_serve_in_kraft(version: str, tmp_path: Path) -> None:
    """Same records and group offsets, everything in sync, and no directory becomes stray; 2.6 has no topic ids."""
    try:
        made = Cluster(version, 2, dir=tmp_path / "zookeeper", mode="zk")
    except NoKafkaError as error:
        no_kafka(f"Kafka {error}".partition("\n")[0])
    with made as cluster:
        with Client(cluster.bootstrap) as client:
            for command in (
                "create orders 1,2;2,1 min.insync.replicas=1", "create single 2", "send orders 0 40 none all",
                "send orders 1 30 gzip all", "send single 0 20 none all", "offset readers orders 0 17",
            ):  # fmt: skip
                done_by(client, command)
            records, groups = content(client)
        for process in (*cluster.brokers.values(), cluster.beside):
            process.kill()
        identity = (cluster[1].log_dirs[0] / "meta.properties").read_text()
        (cluster_id,) = (line.partition("=")[2] for line in identity.split() if line.startswith("cluster.id"))
        places = {number: free_port() for number in (NEW, *BROKERS)}
        with Nodes(RELEASE, tmp_path / "kraft", dynamic=False, places=places, cluster_id=cluster_id) as nodes:
            for number in BROKERS:
                shutil.copytree(cluster[number].log_dirs[0], nodes.dir / f"node-{number}" / "data")
                nodes.add(number, voters=[NEW])
            nodes.add(NEW, voters=[NEW])
            nodes.format(NEW)
            answer = kcheck.recover_metadata(*nodes.arguments(NEW, *BROKERS), out=tmp_path / "out")
            assert answer.refusals == ()
            followed(nodes, answer)
            nodes.start(NEW, *BROKERS)
            wait_leads(nodes[NEW])
            wait_for("all in sync", lambda: _in_sync(nodes))
            assert nodes.strays() == []
            with Client(nodes.bootstrap) as client:
                assert (records, groups) == content(client)
                assert len(done_by(client, "send orders 0 7 none all")) == 7
                assert len(done_by(client, "commit orders 1 3")) == 3


@pytest.mark.parametrize("version", sampled(("3.6.2", "3.9.2")))
def test_the_directories_of_a_topic_that_was_created_again_serve(version: str, tmp_path: Path) -> None:
    """As after a lost ZooKeeper: the brokers refuse them by their topic id until the plan gives them the new one."""
    try:
        made = Cluster(version, 2, dir=tmp_path / "zookeeper", mode="zk")
    except NoKafkaError as error:
        no_kafka(f"Kafka {error}".partition("\n")[0])
    with made as cluster:
        with Client(cluster.bootstrap) as client:
            done_by(client, "create orders 1,2;2,1 min.insync.replicas=1")
            assert len(done_by(client, "send orders 0 40 none all")) == 40
        for number in (1, 2, 1, 2):  # leader epochs above those of a new topic
            cluster[number].stop()
            cluster[number].start()
            wait_for("the ISR", lambda: _isr(cluster) == {*BROKERS})
        with Client(cluster.bootstrap) as client:
            done_by(client, "create single 2")
            assert len(done_by(client, "send orders 0 3 none all")) == 3
            before, _ = content(client)
            for number in BROKERS:
                shutil.copytree(cluster[number].log_dirs[0], tmp_path / f"old-{number}")
        command = ("--bootstrap-server", cluster.bootstrap, "--delete", "--topic", "orders")
        tool = "kafka.admin.TopicCommand" if version < "3.7" else "org.apache.kafka.tools.TopicCommand"
        subprocess.run(java_command(version, tool, *command), check=True, capture_output=True)
        wait_for("the deletion", lambda: not [*cluster.dir.glob("*/*/orders-?")])
        with Client(cluster.bootstrap) as client:
            done_by(client, "create orders 1,2;2,1 min.insync.replicas=1")
        wait_for("the topic", lambda: len([*cluster.dir.glob("*/*/orders-?")]) == 4)
        cluster.stop()
        for number in BROKERS:
            for path in cluster[number].log_dirs[0].glob("orders-*"):
                shutil.rmtree(path)
            for path in (tmp_path / f"old-{number}").glob("orders-?"):
                shutil.copytree(path, cluster[number].log_dirs[0] / path.name)
        answer = kcheck.recover_topic(
            "orders", *(f"{number}={cluster[number].log_dirs[0]}" for number in BROKERS),
            metadata=[cluster.beside.dir], out=tmp_path / "out", kafka=version.rpartition(".")[0],
        )  # fmt: skip
        assert answer.refusals == ()
        assert {row.rewrites_epochs for row in answer.adoptions if row.old.partition == 0} == {True}
        for plan in answer.plans:
            apply((tmp_path / "out" / plan.name).read_bytes(), str(tmp_path / f"backup-{plan.name}"))
        cluster.start()
        with Client(cluster.bootstrap) as client:
            assert before == content(client)[0]
            assert len(done_by(client, "send orders 0 5 none all")) == 5
        ends = [_log_of(cluster, number).stat().st_size for number in BROKERS]
        assert ends[0] == ends[1] > 0


def _isr(cluster: Cluster) -> set[int]:
    state = states(cluster[1].port).get("orders-0")
    return set() if state is None else {*state[3]}


def _log_of(cluster: Cluster, number: int) -> Path:
    return cluster[number].log_dirs[0] / "orders-0" / log_name(0)


def _in_sync(nodes: Nodes) -> bool:
    parts = [part for topic in nodes.image(1).topics.values() for part in topic.partitions.values()]
    return len(parts) >= 4 and all({*part.isr} == {*part.replicas} and part.leader != -1 for part in parts)
