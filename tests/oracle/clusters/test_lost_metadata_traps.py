"""What loses a cluster whose metadata is made again, played on real ones; and that the plan goes around it.

Each test changes one thing of a plan that works (`test_lost_metadata.py`).
"""

import json
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.core.rescue.progress import RescueAction
from kcheck.core.rescue.rebuild import ELR, records_of
from kcheck.disk.local import LOCAL
from kcheck.model.names import log_name
from kcheck.plans.recover_metadata import MetadataRecovery
from kcheck.records.raft_batch import snapshot
from kcheck.schemas.encode import metadata_record
from kcheck.views.metadata_copy import read_copy
from tests.oracle.ask import sampled
from tests.oracle.clusters.lost_metadata import NEW, answers, planned, started, with_controller, without_metadata
from tests.oracle.clusters.lost_quorum import (
    BROKERS,
    CONTROLLERS,
    Nodes,
    content,
    copied,
    followed,
    wait_leads,
    wait_says,
)
from tests.oracle.clusters.test_lost_quorum import Base, base
from tests.oracle.incidents.client import Client
from tests.oracle.kafka import wait_for

__all__ = ["base"]

pytestmark = [pytest.mark.oracle, pytest.mark.whole]

Record = tuple[str, int, Mapping[str, Any]]
Changed = Callable[[list[Record]], Iterable[Record]]

_PARTITION = "PartitionRecord"
WAITS = re.compile("still catching up because we still don't know the high water mark")
BY_PLAN = pytest.mark.parametrize("by_plan", [True, False])
"""Whether a test does what the plan says: then the cluster is as before."""


def lost(base: Base, folder: Path, version: str = "4.3.1") -> AbstractContextManager[Nodes]:
    """Return the context of a cluster without controllers."""
    return copied(base(version, dynamic=False), folder, version, dynamic=False, lost=CONTROLLERS)


def changed(nodes: Nodes, answer: MetadataRecovery, change: Changed) -> None:
    """Follow a plan, but with other records in its snapshot."""
    followed(nodes, answer)
    records = change([*records_of(answer.rebuild, answer.disks)])
    values = [metadata_record(name, version, data) for name, version, data in records]
    assert answer.place is not None
    end, epoch = answer.place
    (nodes.metadata(NEW) / f"{end:020}-{epoch:010}.checkpoint").write_bytes(snapshot(values, epoch, 0))


def without_registrations(records: list[Record]) -> Iterator[Record]:
    """Yield ELR as kafka-storage.sh turns it on, and brokers that the controller has never seen."""
    yield "FeatureLevelRecord", 0, {"name": ELR, "featureLevel": 1}
    yield from (row for row in records if row[1:2] != (3,) and row[2].get("name") != ELR)


def test_elr_without_registrations_leaves_no_leader(base: Base, tmp_path: Path) -> None:
    """M2: each first registration counts as unclean, and the last one empties the ISR."""
    with lost(base, tmp_path / "run") as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        changed(nodes, planned(nodes, tmp_path / "out"), without_registrations)
        nodes.start(NEW, *BROKERS)

        def is_lost() -> bool:
            parts = [part for topic in nodes.image(NEW).topics.values() for part in topic.partitions.values()]
            return bool(parts) and all(part.leader == -1 and not part.isr for part in parts)

        wait_for("no leader", is_lost)


@BY_PLAN
def test_a_topic_without_partition_0_stops_every_registration(by_plan: bool, base: Base, tmp_path: Path) -> None:
    """M5: the controller resigns, and no broker can start; the plan has a partition that stays offline."""
    with lost(base, tmp_path / "run") as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        for number in BROKERS:
            shutil.rmtree(nodes[number].log_dirs[0] / "orders-0")
        answer = planned(nodes, tmp_path / "out", dead=[9])
        if by_plan:
            followed(nodes, answer)
            nodes.start(NEW, *BROKERS)
            wait_leads(nodes[NEW])
            parts = answer.rebuild.topics[[topic.name for topic in answer.rebuild.topics].index("orders")].partitions
            assert parts[0].replicas == (9,)
            wait_for("leaders", lambda: nodes.image(NEW).topics["orders"].partitions[1].leader in BROKERS)
            assert nodes.image(NEW).topics["orders"].partitions[0].leader == -1
            assert nodes.strays() == []
            return
        (orders,) = (topic.topic_id for topic in answer.rebuild.topics if topic.name == "orders")

        def without_first(records: list[Record]) -> Iterator[Record]:
            for name, version, data in records:
                if (name, data.get("topicId"), data.get("partitionId")) != (_PARTITION, orders, 0):
                    yield name, version, data

        changed(nodes, answer, without_first)
        nodes[NEW].start()
        wait_leads(nodes[NEW])
        nodes[1].spawn()
        wait_for("the failure", lambda: "NullPointerException" in nodes[NEW].log_since_start())


@BY_PLAN
def test_the_defaults_of_a_broker_delete_records_without_a_configuration(
    by_plan: bool, base: Base, tmp_path: Path
) -> None:
    """M7: the plan turns retention off; without its records one second is all that is left."""
    with lost(base, tmp_path / "run") as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        for number in BROKERS:
            with (nodes.dir / f"node-{number}" / "server.properties").open("a") as settings:
                settings.write(
                    "log.retention.ms=1000\nlog.retention.check.interval.ms=500\nlog.initial.task.delay.ms=0\n"
                )
        answer = planned(nodes, tmp_path / "out")
        first = nodes[1].log_dirs[0] / "orders-0" / log_name(0)
        if by_plan:
            followed(nodes, answer)
            nodes.start(NEW, *BROKERS)
            time.sleep(10)  # twenty checks of retention
            with Client(nodes.bootstrap) as client:
                known = json.loads((base("4.3.1", dynamic=False) / "picture.json").read_text())
                assert known["records"] == content(client)[0]
            return
        changed(nodes, answer, lambda records: (row for row in records if row[0] != "ConfigRecord"))
        nodes.start(NEW, *BROKERS)
        wait_for("the deletion", lambda: not first.exists())


def test_brokers_with_a_newer_copy_wait_for_ever(base: Base, tmp_path: Path) -> None:
    """M9: of a snapshot that is not above their copies; that of the plan is."""
    with lost(base, tmp_path / "run") as nodes:
        with_controller(nodes)
        known = answers(nodes, base("4.3.1", dynamic=False), tmp_path / "answers", force=True)
        answer = planned(nodes, tmp_path / "out", answers=known, force=True)
        followed(nodes, answer)
        (path,) = nodes.metadata(NEW).glob("*.checkpoint")
        values = [metadata_record(*row) for row in records_of(answer.rebuild, answer.disks)]
        path.rename(path.with_name(f"{5:020}-{1:010}.checkpoint")).write_bytes(snapshot(values, 1, 0))
        for number in BROKERS:
            for checkpoint in nodes.metadata(number).glob("*.checkpoint"):
                checkpoint.unlink()
            state = nodes.metadata(number) / "quorum-state"
            document = json.loads(state.read_text())
            state.write_text(json.dumps(document | {"leaderId": -1, "leaderEpoch": 99, "votedId": -1}))
        nodes[NEW].start()
        wait_leads(nodes[NEW])
        nodes[1].spawn()
        wait_for("the broker waits", lambda: WAITS.search(nodes[1].log_since_start()) is not None)
        assert nodes[1].alive


@BY_PLAN
def test_a_replica_without_a_topic_id_becomes_stray(by_plan: bool, base: Base, tmp_path: Path) -> None:
    """M10: unless the plan writes partition.metadata."""
    cluster = base("4.3.1", dynamic=False)
    with lost(base, tmp_path / "run") as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        path = nodes[2].log_dirs[0] / "orders-0" / "partition.metadata"
        path.unlink()
        answer = planned(nodes, tmp_path / "out", answers=answers(nodes, cluster, tmp_path / "answers"))
        assert [plan.node_id for plan in answer.plans] == [NEW, 2]
        if by_plan:
            started(nodes, answer, cluster)
            return
        followed(nodes, answer)
        path.unlink()
        nodes.start(NEW, *BROKERS)
        wait_for("a stray", lambda: nodes.strays() == ["orders-0"])


@BY_PLAN
def test_a_short_replica_in_the_isr_loses_records(by_plan: bool, base: Base, tmp_path: Path) -> None:
    """M4: the last of the ISR to register leads, and the better one cuts its log; the plan refuses such an ISR."""
    with lost(base, tmp_path / "run") as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        short = nodes[2].log_dirs[0] / "orders-0"
        for path in short.iterdir():
            if path.suffix in (".index", ".timeindex"):
                path.unlink()
        (short / log_name(0)).write_bytes(b"")
        (short / "leader-epoch-checkpoint").unlink(missing_ok=True)
        known = answers(nodes, base("4.3.1", dynamic=False), tmp_path / "answers")
        if by_plan:
            started(nodes, planned(nodes, tmp_path / "out", answers=known), base("4.3.1", dynamic=False))
            return
        document = json.loads(known.read_text())
        document["topics"]["orders"]["isr"]["0"] = [1, 2]
        known.write_text(json.dumps(document))
        refused = kcheck.recover_metadata(*nodes.arguments(NEW, *BROKERS), answers=known)
        assert [refusal.name for refusal in refused.refusals] == ["short-replica"]
        answer = planned(nodes, tmp_path / "out", answers=known, force=True)
        followed(nodes, answer)
        nodes[NEW].start()
        wait_leads(nodes[NEW])
        for number in BROKERS:  # broker 2 registers last
            nodes.start(number)
        with Client(nodes.bootstrap) as client:
            wait_for("the loss", lambda: content(client)[0]["orders-0"] == ["0 0"])  # start and end


def test_a_controller_with_a_log_ignores_the_bootstrap_file(base: Base, tmp_path: Path) -> None:
    """M13: it has none of the topics; the plan refuses a controller that is not empty."""
    with lost(base, tmp_path / "run") as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        answer = planned(nodes, tmp_path / "out", bootstrap=True)
        nodes[NEW].start()
        wait_for("its first records", lambda: "metadata.version" in nodes.image(NEW).features)
        nodes.kill()
        refused = kcheck.recover_metadata(*nodes.arguments(NEW, *BROKERS), bootstrap=True, voter=str(NEW))
        assert "controller-not-empty" in [refusal.name for refusal in refused.refusals]
        plan = json.loads((tmp_path / "out" / f"plan-{NEW}.json").read_text())
        assert plan["operations"]
        followed(nodes, answer)
        end = nodes.end(NEW)
        nodes[NEW].start()
        wait_leads(nodes[NEW])
        wait_for("new records", lambda: nodes.end(NEW) > end)
        assert not nodes.image(NEW).topics


@pytest.mark.parametrize("version", sampled(("3.3.2",)))
def test_too_many_records_for_the_first_batch(version: str, base: Base, tmp_path: Path) -> None:
    """M11: up to 3.5 a bootstrap file is one batch of 10,000 records at most; the plan refuses it."""
    with lost(base, tmp_path / "run", version=version) as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        answer = planned(nodes, tmp_path / "out", bootstrap=True)
        known = answers(nodes, base(version, dynamic=False), tmp_path / "answers")
        document = json.loads(known.read_text())
        document["topics"]["orders"] |= {"partitions": 10_001, "replicas": {}, "isr": {}}
        known.write_text(json.dumps(document))
        refused = kcheck.recover_metadata(*nodes.arguments(NEW, *BROKERS), answers=known, bootstrap=True, dead=[9])
        assert "too-many-records" in [refusal.name for refusal in refused.refusals]
        with_many_configs(nodes, answer, 10_001)
        nodes[NEW].spawn()
        wait_for("the refusal", lambda: "maxRecordsPerBatch" in nodes[NEW].log_since_start())


def with_many_configs(nodes: Nodes, answer: MetadataRecovery, count: int) -> None:
    """Follow a plan, but let the first records of the controller end with many settings of a topic."""
    records = [*records_of(answer.rebuild, answer.disks)]
    name, level, data = next(row for row in records if row[0] == "ConfigRecord")
    configs = [(name, level, {**data, "name": f"retention.{number}"}) for number in range(count)]
    values = [metadata_record(*row) for row in (*records, *configs)]
    (nodes[NEW].log_dirs[0] / "bootstrap.checkpoint").write_bytes(snapshot(values, 0, 0))


def test_brokers_that_wait_for_the_first_records_see_no_topic(base: Base, tmp_path: Path) -> None:
    """M1: they set every replica aside while the transaction of the controller runs; the plan starts it first.

    Many settings make the transaction long, so that the race has one end. Brokers of 4.3.1 waited for its end.
    """
    with lost(base, tmp_path / "run", version="3.9.2") as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        answer = planned(nodes, tmp_path / "out", bootstrap=True)
        first = [step.action for step in answer.steps if step.action in (RescueAction.CONTROLLER, RescueAction.BROKERS)]
        assert first == [RescueAction.CONTROLLER, RescueAction.BROKERS]
        followed(nodes, answer)
        with_many_configs(nodes, answer, 40_000)
        for number in BROKERS:
            nodes[number].spawn()
        for number in BROKERS:
            wait_says(nodes[number], WAITS)
        nodes[NEW].spawn()
        wait_for("strays", lambda: "orders-0" in nodes.strays())


@BY_PLAN
def test_a_leader_in_the_records_is_elected_uncleanly(by_plan: bool, base: Base, tmp_path: Path) -> None:
    """M3: its first registration empties the ISR, and ELR elects the last leader of it, whatever its log has.

    The plan registers the brokers, and names no leader.
    """
    cluster = base("4.3.1", dynamic=False)
    with lost(base, tmp_path / "run") as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        known = answers(nodes, cluster, tmp_path / "answers")
        known.write_text(json.dumps({**json.loads(known.read_text()), "elr": True}))
        answer = planned(nodes, tmp_path / "out", answers=known)
        rows = [*records_of(answer.rebuild, answer.disks)]
        assert {row["leader"] for name, _, row in rows if name == _PARTITION} == {-1}

        def with_leaders(records: list[Record]) -> Iterator[Record]:
            for name, version, data in without_registrations(records):
                yield name, version, {**data, **({"leader": data["isr"][0]} if name == _PARTITION else {})}

        if by_plan:
            started(nodes, answer, cluster)
            assert not recovering(nodes)
            return
        changed(nodes, answer, with_leaders)
        nodes.start(NEW, *BROKERS)
        wait_for("an unclean election", lambda: "single" in recovering(nodes))


def recovering(nodes: Nodes) -> set[str]:
    """Return the topics of which a partition has a leader that may lack records, as the records of elections say."""
    found = set()

    def observe(replay: object, name: str, data: object, offset: int, timestamp: int) -> None:
        del replay, offset, timestamp
        fields = dict(data)  # type: ignore[call-overload]
        if name in (_PARTITION, "PartitionChangeRecord") and fields.get("leaderRecoveryState", 0) > 0:
            found.add(fields["topicId"])

    topics = read_copy(LOCAL, str(nodes.metadata(NEW)), NEW, observe=observe).image.topics_by_id
    return {topics[topic_id].name for topic_id in found}


def test_producer_ids_that_are_given_twice_lose_records(base: Base, tmp_path: Path) -> None:
    """M6: a new producer has the id of an old one. A leader takes its records for repeated ones, or refuses them."""
    cluster = base("4.3.1", dynamic=False)
    with lost(base, tmp_path / "run") as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        answer = planned(nodes, tmp_path / "out", answers=answers(nodes, cluster, tmp_path / "answers"))
        assert answer.rebuild.next_producer_id > answer.disks.producer_id
        changed(nodes, answer, lambda records: (row for row in records if row[0] != "ProducerIdsRecord"))
        nodes.start(NEW, *BROKERS)
        wait_leads(nodes[NEW])
        with Client(nodes.bootstrap) as client:
            end = int(content(client)[0]["orders-0"][0].split()[1])

            def is_bitten() -> bool:
                offsets = [int(row[3]) for row in client.ask("send orders 0 40 none all")]
                return min(offsets, default=end) < end or any("OutOfOrderSequence" in said for said in client.said)

            wait_for("a producer of an old id", is_bitten)


@pytest.mark.parametrize("version", sampled(("3.3.2",)))
def test_a_partition_with_directories_below_their_version_stops_the_controller(
    version: str, base: Base, tmp_path: Path
) -> None:
    """M12: a controller of metadata.version 16 and below reads version 0 of the record alone, as the plan writes it."""
    with lost(base, tmp_path / "run", version=version) as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        answer = planned(nodes, tmp_path / "out")
        rows = [*records_of(answer.rebuild, answer.disks)]
        assert {version for name, version, _ in rows if name == _PARTITION} == {0}
        changed(nodes, answer, lambda records: ((name, int(name == _PARTITION) or level, data)
                                                for name, level, data in records))  # fmt: skip
        nodes[NEW].spawn()
        wait_for("the refusal", lambda: "of garbage after" in nodes[NEW].log_since_start())
