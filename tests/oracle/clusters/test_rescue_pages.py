"""The commands of the pages about rescues, typed on real nodes word for word: from the loss to a working cluster."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from kcheck.core.election.progress import PlanState
from kcheck.disk.local import LOCAL
from kcheck.records.record import Record, read_records
from kcheck.segments.batches import Walk
from tests.docs.incidents import RESCUED
from tests.oracle.clusters.page_plans import followed
from tests.oracle.clusters.recovered import Content, Held, held
from tests.oracle.clusters.rescue_pages import OF_ZOOKEEPER, SECTIONS, begun_with, typed_all
from tests.oracle.kafka import Cluster, wait_for

pytestmark = [pytest.mark.oracle, pytest.mark.whole]


def everything(brokers: Mapping[int, Held]) -> Content:
    """Return the records that some broker has."""
    return frozenset[tuple[str, int, int | None, bytes | None, bytes | None]]().union(
        *(row.records for row in brokers.values())
    )


@pytest.mark.parametrize("page", RESCUED)
def test_the_commands_of_a_page_bring_the_cluster_back(
    page: str, tmp_path: Path, start: Callable[..., Cluster]
) -> None:
    """Every record is there, every partition is led and in sync, and no directory is stray."""
    cluster = begun_with(page, tmp_path, start)
    before = everything(held(cluster))
    try:
        printed = typed_all(cluster, page, SECTIONS.get(page))
    finally:
        cluster.kill()
    asked = [text for text in printed if " --next " in text]
    assert "Done" in asked[-1]
    assert_works(cluster, printed, before)


def test_a_new_zookeeper_gets_its_metadata(tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """Brokers of 2.8.2 go on with what `zookeeper-shell.sh` makes of the plan."""
    page = "lost-zookeeper"
    cluster = begun_with(page, tmp_path, start, "2.8.2", "zk")
    before = everything(held(cluster))
    try:
        cluster.beside.start()
        printed = typed_all(cluster, page, OF_ZOOKEEPER)
    finally:
        cluster.kill()
    assert_works(cluster, printed, before)


def assert_works(cluster: Cluster, printed: list[str], before: Content) -> None:
    """Assert that every partition was led and in sync, and that every record is there."""
    for option in ("--unavailable-partitions", "--under-replicated-partitions"):
        assert [text for text in printed if option in text and "Topic:" in text] == []
    assert [*cluster.dir.glob("broker-*/data*/*-stray")] == []
    assert before - everything(held(cluster)) == frozenset()


DELETED = "deleted-topic"


@pytest.mark.parametrize("keeps_offsets", [True, False])
def test_a_deleted_topic_comes_back(keeps_offsets: bool, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """Its directories are moved aside, the brokers start by their plan, and the topic is created again."""
    cluster = begun_with(DELETED, tmp_path, start)
    wanted = old_records(cluster, "old-?.*-delete")
    assert len(wanted) == 80
    try:
        typed_all(cluster, DELETED, "Which records are left")
        assert followed(cluster)[-1].state is PlanState.DONE
        section = "Or put the directories back" if keeps_offsets else "Create the topic again"
        printed = typed_all(cluster, DELETED, section)
        wait_for("the records", lambda: len(old_records(cluster, "old-?")) == len(wanted))
    finally:
        cluster.kill()
    if keeps_offsets:
        assert "Done" in printed[-1]
        assert wanted == old_records(cluster, "old-?")
    else:
        assert {row[2:] for row in wanted} == {row[2:] for row in old_records(cluster, "old-?")}
    assert [*cluster.dir.glob("broker-*/data*/*-stray")] == []


def old_records(cluster: Cluster, pattern: str) -> frozenset[tuple[str, int, bytes | None, bytes | None]]:
    """Return partition, offset, key and value of the records in directories of topic `old` on broker 1."""
    found = set()
    for path in cluster.dir.glob(f"broker-1/data?/{pattern}"):
        for log in path.glob("*.log"):
            with LOCAL.open(str(log)) as source:
                for batch in Walk(source):
                    for record in read_records(source.pread(batch.size, batch.position)):
                        assert isinstance(record, Record)
                        key, value = (None if data is None else bytes(data) for data in (record.key, record.value))
                        found.add((path.name[:5], int(record.offset), key, value))
    return frozenset(found)
