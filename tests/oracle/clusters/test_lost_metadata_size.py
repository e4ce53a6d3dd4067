"""20,000 partitions: their metadata from the disks of brokers, by both routes.

`KCHECK_SWEEP` takes all.
"""

import time
from pathlib import Path

import pytest

import kcheck
from kcheck.core.rescue.made_ids import made_id
from tests.builders import log_dir, partition_dir, partition_metadata, run, write
from tests.oracle.ask import sampled
from tests.oracle.clusters.lost_metadata import NEW, before, planned, with_controller, without_metadata
from tests.oracle.clusters.lost_quorum import BROKERS, LEADS, Nodes, done_by, followed, topics_of, wait_leads
from tests.oracle.conftest import no_kafka
from tests.oracle.incidents.client import Client
from tests.oracle.jars import NoKafkaError
from tests.oracle.kafka import free_port, wait_for

pytestmark = [pytest.mark.oracle, pytest.mark.whole]

CLUSTER = "AAAAAAAAQAaAAAAAAAAAAA"
COUNT, EACH = 20_000, 2_000
"""The partitions, and those of a topic."""
CPU_MAX = 120
"""The seconds of CPU that the plan for 20,000 partitions may take."""
LIMITS = {
    "broker.session.timeout.ms": 60_000, "log.index.size.max.bytes": 4096,
    "metadata.log.max.record.bytes.between.snapshots": 20 << 20,
}  # fmt: skip


@pytest.mark.parametrize(
    ("version", "bootstrap"), [(version, False) for version in sampled(("3.3.2", "4.3.1"))] + [("4.3.1", True)]
)
def test_twenty_thousand_partitions_load(version: str, bootstrap: bool, tmp_path: Path) -> None:
    """No bound on the records of a transaction counts: a snapshot has none. 3.3 takes 10,000 of a bootstrap file."""
    count, cluster_id = COUNT, CLUSTER
    names = [(f"t{number // 10}", number % 10) for number in range(count)]
    sample = {file.name: file.read_bytes() for file in partition_dir(tmp_path / "sample", [run(0, 9)]).iterdir()}
    data = log_dir(tmp_path / "nodes" / "node-1" / "data", cluster_id=cluster_id)
    for topic, number in names:
        write(data / f"{topic}-{number}", {**sample, "partition.metadata": partition_metadata(made_id(topic))})
    with Nodes(version, tmp_path / "nodes", dynamic=False, places={}, cluster_id=cluster_id) as nodes:
        nodes.add(1, voters=[NEW])
        try:
            with_controller(nodes)
        except NoKafkaError as error:
            no_kafka(f"Kafka {error}".partition("\n")[0])
        answer = kcheck.recover_metadata(
            *nodes.arguments(NEW, 1), out=tmp_path / "out", kafka=version[:3], bootstrap=bootstrap
        )
        assert answer.refusals == ()
        followed(nodes, answer)
        nodes[NEW].start()
        wait_leads(nodes[NEW])
        wait_for("the topics", lambda: len(nodes.image(NEW).topics) == count // 10)
        first = 0 if answer.place is None else answer.place[0]
        wait_for("a record of its own", lambda: nodes.end(NEW) > first)
        assert nodes[NEW].alive
        assert sum(len(topic.partitions) for topic in nodes.image(NEW).topics.values()) == count


@pytest.mark.parametrize(
    ("version", "bootstrap"), [(version, False) for version in sampled(("3.3.2", "4.3.1"))] + [("4.3.1", True)]
)
def test_twenty_thousand_partitions_come_back(
    version: str, bootstrap: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two brokers have 10,000 each, as many as a process here may open; all get a leader, with their ids and records.

    3.3 takes 10,000 records of a bootstrap file at most, so it gets a snapshot.
    """
    monkeypatch.setenv("_JAVA_OPTIONS", "-Xmx1g")
    names = [f"t{number}" for number in range(COUNT // EACH)]
    places = {number: free_port() for number in (101, *BROKERS)}
    known = {"dynamic": False, "cluster_id": CLUSTER, "controllers": (101,), "settings": LIMITS}
    with Nodes(version, tmp_path / "base" / "now", places=dict(places), **known) as nodes:
        for number in (101, *BROKERS):
            nodes.add(number)
            try:
                nodes.format(number)
            except NoKafkaError as error:
                no_kafka(f"Kafka {error}".partition("\n")[0])
        nodes.start(101)
        wait_for("a leader", lambda: LEADS.search(nodes[101].log_since_start()) is not None)
        nodes.start(*BROKERS)
        with Client(nodes.bootstrap) as client:
            for number, name in enumerate(names):
                done_by(client, f"create {name} {';'.join([str(BROKERS[number % 2])] * EACH)}")
                wait_for(name, lambda: has_leaders(nodes, (number + 1) * EACH), 600)  # noqa: B023 - at once
            for at, name in enumerate(names):
                wait_for("records", lambda: len(client.ask(f"send {name} {at} 5 none all")) == 5, 600)  # noqa: B023
            all_of_before = all_of(client, names)
        nodes.kill()
        old = before(tmp_path / "base")
        del nodes.nodes[101]
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        for number in BROKERS:
            nodes.configure(number, [NEW])
        began = time.process_time()
        answer = planned(nodes, tmp_path / "out", bootstrap=bootstrap)
        assert time.process_time() - began < CPU_MAX
        followed(nodes, answer)
        nodes[NEW].start()
        wait_leads(nodes[NEW])
        wait_for("the topics", lambda: len(nodes.image(NEW).topics) == len(names), 600)
        nodes.start(*BROKERS)
        wait_for("leaders", lambda: has_leaders(nodes, COUNT), 600)
        assert nodes.strays() == []
        assert topics_of(nodes.image(1)) == topics_of(old)
        with Client(nodes.bootstrap) as client:
            wait_for("the records of before", lambda: all_of(client, names) == all_of_before, 600)
            for at, name in enumerate(names):
                wait_for("records", lambda: len(client.ask(f"send {name} {at + 1} 5 none all")) == 5, 600)  # noqa: B023


def has_leaders(nodes: Nodes, count: int) -> bool:
    """Return whether so many partitions have a leader, as broker 1 knows."""
    time.sleep(1)
    return sum(part.leader in BROKERS for _, _, part in nodes.image(1).partitions()) == count


def all_of(client: Client, names: list[str]) -> list[list[list[str]]]:
    """Return the bounds and records of one partition of each topic, without its leader."""
    each = [client.ask(f"read {name} {at}") for at, name in enumerate(names)]
    return [[row if row[0] == "r" else [*row[:3], *row[4:]] for row in rows] for rows in each]
