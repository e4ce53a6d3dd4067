"""Directories of a topic's former id become replicas of the new one: on request, or if nobody deleted the topic."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.core.cluster.topic_ids import TopicIdHistory
from kcheck.disk.apply import apply, undo
from kcheck.model.plan import SetAside, Write
from kcheck.plans.repair import RepairPlan
from kcheck.repairs.adopt_directories import why_another_topic
from tests.cases.build import CASES, lay_out
from tests.cli.command import kcheck as command
from tests.repairs.test_cases import contents
from tests.zookeeper_bytes import create, log, multi, record, set_data, snapshot

RULE = CASES / "kc235-topic-id-not-of-cluster"
OLD, NEW = "MAsayBzqQmiFg7Ge660lOA", "HGQHoLKmSA2oTesIbc18gw"
CREATE, DELETE, SET_DATA, MULTI = 1, 2, 5, 14
TOPIC = "/brokers/topics/orders"
PARENTS = ("/brokers", "/brokers/topics", "/admin", "/admin/delete_topics")


@pytest.fixture
def adopted(tmp_path: Path) -> Callable[..., RepairPlan]:
    """Lay out a case, and return what plans for it."""

    def planned(case: str, broker: str, *, kafka: str, **asked: Any) -> RepairPlan:
        if not (tmp_path / case).exists():
            lay_out(RULE / case, tmp_path / case)
        return kcheck.repair(tmp_path / case / broker, kafka=kafka, keep=lambda rule, _: rule == "KC235", **asked)

    return planned


def why_not(made: RepairPlan) -> set[str]:
    """Return why nothing is planned."""
    assert made.plan.operations == ()
    return {row.why for row in made.not_planned}


def test_zookeeper_was_lost_and_nobody_deleted_the_topic(adopted: Callable[..., RepairPlan], tmp_path: Path) -> None:
    """The broker writes the file anew; it goes by the name alone before 3.0."""
    zookeeper, broker = tmp_path / "zookeeper-lost" / "zookeeper", tmp_path / "zookeeper-lost" / "broker-1"
    made = adopted("zookeeper-lost", "broker-1", kafka="3.9", metadata=[zookeeper])
    before = contents(broker)
    moved = [operation for operation in made.plan.operations if isinstance(operation, SetAside)]
    assert [operation.path.split("/")[-2:] for operation in moved] == [
        [f"orders-{number}", "partition.metadata"] for number in range(2)
    ]
    apply(made.plan_bytes(), str(tmp_path / "backup"))
    (start,) = kcheck.predict(broker / "data", kafka="3.9", metadata=[zookeeper]).log_dirs
    ends = {row.dir: row.log.log_end_offset for row in start.partitions if row.log is not None}
    assert (ends["orders-0"], {str(row.outcome) for row in start.partitions}) == (40, {"ok"})
    undo(str(tmp_path / "backup"))
    assert before == contents(broker)
    by_name = adopted("zookeeper-lost", "broker-1", kafka="2.8", metadata=[zookeeper])
    assert (by_name.plan.operations, by_name.not_planned) == ((), ())


def test_recover_repairs_the_id_before_the_start(adopted: Callable[..., RepairPlan], tmp_path: Path) -> None:
    """Without the repair the broker refuses its 40 records, and the plan would call the partition empty."""
    zookeeper, broker = tmp_path / "zookeeper-lost" / "zookeeper", tmp_path / "zookeeper-lost" / "broker-1"
    adopted("zookeeper-lost", "broker-1", kafka="3.9", metadata=[zookeeper])
    asked = kcheck.recover(broker, kafka="3.9", metadata=[zookeeper])
    assert [str(step.kind) for step in asked.steps] == ["repair", "start"]
    assert "partition.metadata does not name the id of their topics" in asked.texts[0].title
    assert asked.scenario("plan").lost.records == 0
    assert asked.scenario("start-all").lost.records is None
    predicted = command("predict", broker, "--metadata", zookeeper, "--kafka", "3.9").out
    assert "Next:\n  kcheck repair " in predicted


def test_epochs_above_that_of_the_topic_are_not_adopted(adopted: Callable[..., RepairPlan], tmp_path: Path) -> None:
    """A leader would forget its epochs at its first batch, and followers never come into sync."""
    lay_out(RULE / "created-again", tmp_path / "created-again")
    broker = tmp_path / "created-again" / "broker-1"
    (path,) = broker.glob("*/anew-0/leader-epoch-checkpoint")
    path.write_text("0\n2\n0 0\n7 20\n")
    metadata = [tmp_path / "created-again" / "broker-2"]
    (why,) = why_not(adopted("created-again", "broker-1", kafka="4.3", metadata=metadata, adopt=True))
    assert why.endswith("followers would never come into sync: kcheck recover topic writes the epochs too")
    answer = kcheck.recover_topic("anew", f"1={path.parents[1]}", metadata=metadata, kafka="4.3")
    assert [(row.name, row.topic_id) for row in answer.topic.old] == [("anew-0", path_id(path))]


def path_id(path: Path) -> str:
    """Return the topic id beside a file."""
    return (path.parent / "partition.metadata").read_text().split()[-1]


def topic(topic_id: str | None) -> bytes:
    """Return the znode of a topic with one partition."""
    named = "" if topic_id is None else f'"topic_id":"{topic_id}",'
    return f'{{"version":3,{named}"partitions":{{"0":[1]}}}}'.encode()


def written(path: Path, *changes: tuple[int, bytes]) -> Path:
    """Write a ZooKeeper server that begins with the cluster, and the transactions after the parents of topics."""
    parents = [(CREATE, create(name)) for name in PARENTS]
    records = [record(kind, body, zxid=zxid) for zxid, (kind, body) in enumerate((*parents, *changes), 1)]
    version_2 = path / "zookeeper" / "version-2"
    shutil.rmtree(version_2, ignore_errors=True)
    version_2.mkdir(parents=True)
    (version_2 / "snapshot.0").write_bytes(snapshot([]))
    (version_2 / "log.1").write_bytes(log(*records))
    return path / "zookeeper"


def removed(name: str) -> bytes:
    """Return the body of a delete."""
    return create(name)[: 4 + len(name)]


@pytest.mark.parametrize(("changes", "why"), [
    ([(CREATE, create(TOPIC, topic(NEW)))], None),
    ([(CREATE, create(TOPIC, topic(OLD))), (SET_DATA, set_data(TOPIC, topic(None), 1)),
      (SET_DATA, set_data(TOPIC, b"{", 2)), (SET_DATA, set_data(TOPIC, topic(NEW), 3))], None),
    ([(CREATE, create(TOPIC, topic(OLD))), (DELETE, removed(TOPIC)), (CREATE, create(TOPIC, topic(NEW)))], "0x6"),
    ([(CREATE, create(TOPIC, topic(OLD))), (CREATE, create("/admin/delete_topics/orders")),
      (MULTI, multi((DELETE, removed(TOPIC)), (DELETE, removed("/admin/delete_topics/orders")))),
      (CREATE, create(TOPIC, topic(NEW)))], "0x6"),
])  # fmt: skip
def test_what_the_transactions_show(
    changes: list[tuple[int, bytes]], why: str | None, adopted: Callable[..., RepairPlan], tmp_path: Path
) -> None:
    """Created once, or its znode edited; deleted, and created again."""
    zookeeper = written(tmp_path, *changes)
    made = adopted("zookeeper-lost", "broker-1", kafka="3.9", metadata=[zookeeper], partitions=ORDERS_0)
    if why is None:
        assert len(made.plan.operations) == 1
    else:
        (told,) = why_not(made)
        assert f"the topic was deleted in ZooKeeper's transaction {why};" in told


ORDERS_0 = kcheck.PartitionFilter(partitions=("orders-0",))


@pytest.mark.parametrize(("history", "why"), [
    (None, "the given metadata does not show whether the topic was deleted"),
    (TopicIdHistory(begins_empty=False, ids=(NEW,)), "ZooKeeper's files begin after its cluster"),
    (TopicIdHistory(begins_empty=True, ids=(OLD, NEW), deleted_at=9), "the topic was deleted in"),
    (TopicIdHistory(begins_empty=False, ids=(OLD, NEW)), None),
    (TopicIdHistory(begins_empty=True, ids=(NEW,)), None),
])  # fmt: skip
def test_whether_it_is_the_same_topic(history: TopicIdHistory | None, why: str | None) -> None:
    told = why_another_topic(history, OLD)
    assert (told is None) == (why is None)
    assert (told or "").startswith(why or "")


def test_on_request_a_deleted_topic_gets_its_records_back(adopted: Callable[..., RepairPlan], tmp_path: Path) -> None:
    """With the new id the broker does not set the directory aside, and its log ends where it did."""
    (told,) = why_not(adopted("created-again", "broker-1", kafka="4.3", metadata=[tmp_path / "created-again/broker-2"]))
    assert told.startswith("the topic was deleted at offset 73 of ")
    metadata = [tmp_path / "created-again" / "broker-2"]
    made = adopted("created-again", "broker-1", kafka="4.3", metadata=metadata, adopt=True)
    (operation,) = made.plan.operations
    assert isinstance(operation, Write)
    assert operation.content.endswith(b"topic_id: z9eEnkJsRGGonwoZgmv3Gg")
    before = contents(tmp_path / "created-again")
    apply(made.plan_bytes(), str(tmp_path / "backup"))
    starts = kcheck.predict(tmp_path / "created-again" / "broker-1", kafka="4.3", metadata=metadata).log_dirs
    assert [str(row.outcome) for start in starts for row in start.partitions if row.dir == "anew-0"] == ["ok"]
    undo(str(tmp_path / "backup"))
    assert before == contents(tmp_path / "created-again")


def test_not_by_metadata_that_may_be_older(adopted: Callable[..., RepairPlan], tmp_path: Path) -> None:
    metadata = [tmp_path / "older-copy" / "broker-1"]
    (told,) = why_not(adopted("older-copy", "broker-2", kafka="4.3", metadata=metadata, adopt=True))
    assert told.endswith("may be older than the directory; name newer metadata")


def test_not_where_the_topic_has_no_such_replica(adopted: Callable[..., RepairPlan], tmp_path: Path) -> None:
    """The topic of this name has one partition now."""
    lay_out(RULE / "zookeeper-lost", tmp_path / "zookeeper-lost")
    zookeeper = written(tmp_path, (CREATE, create(TOPIC, topic(NEW))))
    made = adopted("zookeeper-lost", "broker-1", kafka="3.9", metadata=[zookeeper], adopt=True)
    assert [operation.path.split("/")[-2] for operation in made.plan.operations] == ["orders-0"]
    assert [row.why for row in made.not_planned] == ["the topic has no replica of partition 1 on this broker"]
