"""ZooKeeper is lost: the disks of its brokers go straight into a KRaft cluster of 4.3.1."""

import shutil
from pathlib import Path

import pytest

import kcheck
from tests.oracle.ask import sampled
from tests.oracle.clusters.lost_metadata import NEW
from tests.oracle.clusters.lost_quorum import BROKERS, Nodes, content, done_by, followed, wait_leads
from tests.oracle.conftest import no_kafka
from tests.oracle.incidents.client import Client
from tests.oracle.jars import NoKafkaError
from tests.oracle.kafka import Cluster, free_port, wait_for

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


def _in_sync(nodes: Nodes) -> bool:
    parts = [part for topic in nodes.image(1).topics.values() for part in topic.partitions.values()]
    return len(parts) >= 4 and all({*part.isr} == {*part.replicas} and part.leader != -1 for part in parts)
