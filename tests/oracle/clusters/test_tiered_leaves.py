"""A topic leaves remote storage, and a follower had deleted more of its disk than the leader. That leaves a hole."""

from collections.abc import Callable
from pathlib import Path

import pytest

import kcheck
from kcheck.model.report import PartitionFilter
from tests.oracle import histories
from tests.oracle.admin_requests import elect
from tests.oracle.clusters import tiered
from tests.oracle.clusters.tiered import BATCH, stored
from tests.oracle.kafka import Cluster, wait_for
from tests.oracle.wire import first_fetched, log_start

pytestmark = pytest.mark.oracle
Start = Callable[..., Cluster]


@pytest.mark.sample(1)
@pytest.mark.parametrize("version", ["3.9.2", "4.3.1"])
def test_a_follower_that_deleted_more(version: str, tmp_path: Path, start: Start) -> None:
    """Its epochs begin at the leader's local start. After a restart it leads, and the other replica loses the hole."""
    store = tmp_path / "store"
    store.mkdir()
    config = tiered.config(version, store, 2)
    with start(version, 2, dir=tmp_path / "cluster", broker_config=config) as cluster:
        leave(cluster, store)
        disks, controller = tiered.copies(cluster, tmp_path / "left")
        hole = list(range(BATCH, 4 * BATCH))
        answer = kcheck.check(*disks, metadata=[controller], partitions=PartitionFilter(topics=("left",)))
        (found,) = (row for row in answer.findings if row.id == "KC203")
        assert (found.where.broker_id, str(found.severity)) == (2, "error")
        (row,) = kcheck.elect(*disks, metadata=[controller], partitions=PartitionFilter(topics=("left",))).partitions
        lost = {lead.broker_id: lead.lost and lead.lost.upper_records for lead in row.candidates}
        assert (row.best, lost) == (1, {1: 0, 2: len(hole)})
        assert first_fetched(cluster[1].port, "left", BATCH) == BATCH

        cluster[2].stop()
        cluster[2].start()
        wait_for("broker 2 follows", tiered.led_by(cluster, 1, "left", 1))
        cluster[1].stop()
        wait_for("broker 2 leads", tiered.led_by(cluster, 2, "left", 2))
        cluster[1].start()
        wait_for("broker 1 follows", tiered.led_by(cluster, 1, "left", 2))
        tiered.wait_log_start(cluster, 1, "left", 4 * BATCH)
        assert [first_fetched(cluster[2].port, "left", offset) for offset in (hole[0], hole[-1])] == [None, None]


def leave(cluster: Cluster, store: Path) -> None:
    """Let a topic leave remote storage. The leader looks once for segments that it need not keep on disk."""
    settings = cluster[1].dir / "server.properties"
    cluster[1].stop()
    late = settings.read_text().replace(
        "log.retention.check.interval.ms=1000", "log.retention.check.interval.ms=3600000"
    )
    settings.write_text(late.replace("log.initial.task.delay.ms=500", "log.initial.task.delay.ms=8000"))
    cluster[1].start()
    tiered.create(cluster, "left")
    tiered.send(cluster, ("left",), 2)
    tiered.wait_copied(store, "left", 1)
    cluster[1].stop()
    cluster[1].start()
    tiered.wait_local_start(cluster, 1, "left", BATCH)
    wait_for("both in sync", tiered.led_by(cluster, 1, "left", 2))
    elect(cluster[2].port, "left", unclean=False)
    wait_for("broker 1 leads", tiered.led_by(cluster, 1, "left", 1))
    tiered.send(cluster, ("left",), 3)
    wait_for("copies", lambda: len({row.start for row in stored(store, "left")}) == 4)
    tiered.wait_local_start(cluster, 2, "left", 4 * BATCH)
    histories.replicas(cluster, "alter left remote.storage.enable=false,remote.log.delete.on.disable=true")
    wait_for("deletion", lambda: not stored(store, "left"))
    for number in (1, 2):
        wait_for(f"log start of {number}", lambda of=number: log_start(cluster[of].port, "left") == BATCH)  # type: ignore[misc]  # a default
