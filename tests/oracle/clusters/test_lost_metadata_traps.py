"""What loses a cluster whose metadata is made again, played on real ones; and that the plan goes around it.

Each test changes one thing of a plan that works (`test_lost_metadata.py`).
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.core.rescue.rebuild import ELR, records_of
from kcheck.model.names import log_name
from kcheck.plans.recover_metadata import MetadataRecovery
from kcheck.records.raft_batch import snapshot
from kcheck.schemas.encode import metadata_record
from tests.oracle.ask import sampled
from tests.oracle.clusters.lost_metadata import NEW, answers, planned, with_controller, without_metadata
from tests.oracle.clusters.lost_quorum import (
    BROKERS,
    CONTROLLERS,
    Nodes,
    content,
    copied,
    followed,
    wait_leads,
)
from tests.oracle.clusters.test_lost_quorum import Base, base
from tests.oracle.incidents.client import Client
from tests.oracle.kafka import wait_for

__all__ = ["base"]

pytestmark = [pytest.mark.oracle, pytest.mark.whole]

Record = tuple[str, int, Mapping[str, Any]]
Changed = Callable[[list[Record]], Iterable[Record]]


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
    """M2: ELR as kafka-storage.sh turns it on, and brokers that the controller has never seen."""
    yield "FeatureLevelRecord", 0, {"name": ELR, "featureLevel": 1}
    yield from (row for row in records if row[1:2] != (3,) and row[2].get("name") != ELR)


def test_elr_without_registrations_leaves_no_leader(base: Base, tmp_path: Path) -> None:
    """Each first registration counts as unclean, and the last one empties the ISR."""
    with lost(base, tmp_path / "run") as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        changed(nodes, planned(nodes, tmp_path / "out"), without_registrations)
        nodes.start(NEW, *BROKERS)

        def is_lost() -> bool:
            parts = [part for topic in nodes.image(NEW).topics.values() for part in topic.partitions.values()]
            return bool(parts) and all(part.leader == -1 and not part.isr for part in parts)

        wait_for("no leader", is_lost)


def test_a_topic_without_partition_0_stops_every_registration(base: Base, tmp_path: Path) -> None:
    """The controller resigns, and no broker can start; the plan has a partition that stays offline."""
    with lost(base, tmp_path / "run") as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        answer = planned(nodes, tmp_path / "out")
        (orders,) = (topic.topic_id for topic in answer.rebuild.topics if topic.name == "orders")

        def without_first(records: list[Record]) -> Iterator[Record]:
            for name, version, data in records:
                if (name, data.get("topicId"), data.get("partitionId")) != ("PartitionRecord", orders, 0):
                    yield name, version, data

        changed(nodes, answer, without_first)
        nodes[NEW].start()
        wait_leads(nodes[NEW])
        nodes[1].spawn()
        wait_for("the failure", lambda: "NullPointerException" in nodes[NEW].log_since_start())


def test_the_defaults_of_a_broker_delete_records_without_a_configuration(base: Base, tmp_path: Path) -> None:
    """The plan turns retention off; without its records one second is all that is left."""
    with lost(base, tmp_path / "run") as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        for number in BROKERS:
            with (nodes.dir / f"node-{number}" / "server.properties").open("a") as settings:
                settings.write(
                    "log.retention.ms=1000\nlog.retention.check.interval.ms=500\nlog.initial.task.delay.ms=0\n"
                )
        answer = planned(nodes, tmp_path / "out")
        changed(nodes, answer, lambda records: (row for row in records if row[0] != "ConfigRecord"))
        nodes.start(NEW, *BROKERS)
        first = nodes[1].log_dirs[0] / "orders-0" / log_name(0)
        wait_for("the deletion", lambda: not first.exists())


def test_brokers_with_a_newer_copy_wait_for_ever(base: Base, tmp_path: Path) -> None:
    """Of a snapshot that is not above their copies; that of the plan is."""
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
        waits = re.compile("still catching up because we still don't know the high water mark")
        wait_for("the broker waits", lambda: waits.search(nodes[1].log_since_start()) is not None)
        assert nodes[1].alive


def test_a_replica_without_a_topic_id_becomes_stray(base: Base, tmp_path: Path) -> None:
    """Unless the plan writes partition.metadata."""
    with lost(base, tmp_path / "run") as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        path = nodes[2].log_dirs[0] / "single-0" / "partition.metadata"
        path.unlink()
        answer = planned(nodes, tmp_path / "out")
        assert [plan.node_id for plan in answer.plans] == [NEW, 2]
        followed(nodes, answer)
        path.unlink()
        nodes.start(NEW, *BROKERS)
        wait_for("a stray", lambda: nodes.strays() == ["single-0"])


def test_a_short_replica_in_the_isr_loses_records(base: Base, tmp_path: Path) -> None:
    """The last of the ISR to register leads, and the better one cuts its log; the plan refuses such an ISR."""
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
    """It has none of the topics; the plan refuses a controller that is not empty."""
    with lost(base, tmp_path / "run") as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        answer = planned(nodes, tmp_path / "out", bootstrap=True)
        nodes[NEW].start()
        wait_leads(nodes[NEW])
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
    """Up to 3.5 a bootstrap file is one batch of 10,000 records at most; the plan refuses it."""
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
        records = [*records_of(answer.rebuild, answer.disks)]
        name, level, data = next(row for row in records if row[0] == "ConfigRecord")
        configs = [(name, level, {**data, "name": f"retention.{number}"}) for number in range(10_001)]
        values = [metadata_record(*row) for row in (*records, *configs)]
        (nodes[NEW].log_dirs[0] / "bootstrap.checkpoint").write_bytes(snapshot(values, 0, 0))
        nodes[NEW].spawn()
        wait_for("the refusal", lambda: "maxRecordsPerBatch" in nodes[NEW].log_since_start())
