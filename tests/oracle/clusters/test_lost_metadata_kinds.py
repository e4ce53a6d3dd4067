"""Metadata from the disks of brokers that keep more than logs: records in remote storage, and share groups."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from kcheck.model.cluster import ClusterImage
from tests.oracle.ask import sampled
from tests.oracle.clusters.lost_metadata import NEW, before, planned, with_controller, without_metadata
from tests.oracle.clusters.lost_quorum import (
    BROKERS,
    Nodes,
    done_by,
    followed,
    topics_of,
    wait_in_sync,
    wait_leads,
)
from tests.oracle.clusters.tiered import BATCH, config
from tests.oracle.conftest import no_kafka
from tests.oracle.incidents.client import Client
from tests.oracle.jars import NoKafkaError
from tests.oracle.kafka import free_port, wait_for

pytestmark = [pytest.mark.oracle, pytest.mark.whole]

BATCHES = 8
SHARED = {
    "share.coordinator.state.topic.replication.factor": 2, "share.coordinator.state.topic.num.partitions": 1,
    "share.coordinator.state.topic.min.isr": 1,
}  # fmt: skip


@contextmanager
def begun(version: str, folder: Path, settings: Mapping[str, object]) -> Iterator[Nodes]:
    """Give a new cluster of one controller and two brokers."""
    known = {"cluster_id": "AAAAAAAAQAaAAAAAAAAAAA", "controllers": (101,), "settings": settings}
    places = {number: free_port() for number in (101, *BROKERS)}
    with Nodes(version, folder / "now", dynamic=False, places=places, **known) as nodes:
        for number in (101, *BROKERS):
            nodes.add(number)
            nodes.format(number)
        nodes.start(101)
        wait_leads(nodes[101])
        nodes.start(*BROKERS)
        yield nodes


def rebuilt(nodes: Nodes, out: Path) -> None:
    """Kill all nodes, lose all metadata, and start everything with what kcheck makes of the disks."""
    nodes.kill()
    old = before(nodes.dir.parent)
    del nodes.nodes[101]
    without_metadata(nodes, *BROKERS)
    with_controller(nodes)
    for number in BROKERS:
        nodes.configure(number, [NEW])
    followed(nodes, planned(nodes, out))
    nodes.start(NEW, *BROKERS)
    wait_leads(nodes[NEW])
    wait_for("the topics", lambda: {*nodes.image(1).topics} == {*old.topics})
    wait_in_sync(nodes)
    assert nodes.strays() == []
    assert holders(nodes.image(1)) == holders(old)


def holders(image: ClusterImage) -> dict[str, tuple[str, list[set[int]]]]:
    """Return the id of each topic, and the brokers of its partitions, of which no disk knows the order."""
    return {name: (known, [{*each} for each in parts.values()]) for name, (known, parts) in topics_of(image).items()}


@pytest.mark.parametrize("version", sampled(("3.9.2", "4.3.1")))
def test_records_in_remote_storage_are_read_again(version: str, tmp_path: Path) -> None:
    """No disk has them: the topic gets remote.storage.enable, and a leader finds the metadata of its segments."""
    try:
        settings = config(version, tmp_path / "store", len(BROKERS))
    except NoKafkaError as error:
        no_kafka(f"Kafka {error}".partition("\n")[0])
    with begun(version, tmp_path, settings) as nodes:
        with Client(nodes.bootstrap) as client:
            size = "internal.segment.bytes" if version >= "4.1" else "segment.bytes"
            done_by(client, f"create archive 1,2 remote.storage.enable=true local.retention.bytes=1 {size}=600")
            for _ in range(BATCHES):
                done_by(client, f"send archive 0 {BATCH} none all")
            wait_for("logs without the first records", lambda: all(first_local(nodes, one) > 0 for one in BROKERS))
            records = client.ask("read archive 0")
            assert len(records) == 1 + BATCH * BATCHES
        rebuilt(nodes, tmp_path / "out")
        with Client(nodes.bootstrap) as client:
            assert client.ask("read archive 0")[1:] == records[1:]
            assert len(done_by(client, f"send archive 0 {BATCH} none all")) == BATCH


def first_local(nodes: Nodes, number: int) -> int:
    """Return the first offset that a broker has on its disk."""
    return min(int(path.stem) for path in (nodes[number].log_dirs[0] / "archive-0").glob("*.log"))


def test_a_share_group_goes_on(tmp_path: Path) -> None:
    """It gets the records that it has not accepted, and none twice."""
    version = "4.3.1"
    with begun(version, tmp_path, SHARED) as nodes:
        with Client(nodes.bootstrap) as client:
            done_by(client, "create work 1,2")
            done_by(client, "send work 0 20 none all")
            accepted = client.ask("share crew work 7")
            assert [row[3] for row in accepted] == [str(number) for number in range(7)]
        rebuilt(nodes, tmp_path / "out")
        with Client(nodes.bootstrap) as client:
            rest = client.ask("share crew work 13")
            assert [row[3] for row in rest] == [str(number) for number in range(7, 20)]
