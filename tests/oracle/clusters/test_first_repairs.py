"""Real brokers, brought back by the runbook of `kcheck recover`, all lead, and lose what it says: nothing.

Both clusters were damaged by hand after real 4.3.1 brokers had ended (fixtures/README.md). As they lie, broker 3 of
`power-loss` does not start, nor do brokers 1 and 2 of `directories-moved`. In `power-loss` broker 1 has to stop again
so that the tool elects broker 2.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

import kcheck
from kcheck.core.election.steps import RecoveryAction
from kcheck.disk.local import LOCAL
from kcheck.model.cluster import NO_LEADER, PartitionRegistration
from kcheck.model.names import CLUSTER_METADATA
from kcheck.views.metadata_copy import read_copy
from tests.oracle.clusters import diverged
from tests.oracle.clusters.recovered import follow, held
from tests.oracle.kafka import Cluster, Process
from tests.oracle.scenes import unpacked

pytestmark = pytest.mark.oracle

VERSION = "4.3.1"
SCENES = {"directories-moved": (1, 2), "power-loss": (3,)}
"""The brokers that are to be repaired first."""
CONFIG: Mapping[str, object] = {
    "log.retention.ms": -1,
    "log.cleaner.enable": "false",
    "group.initial.rebalance.delay.ms": 0,
    "auto.create.topics.enable": "false",
}
LASTING = 3.0
"""Seconds for which nobody else comes to lead: then a start has settled."""


@pytest.mark.sample(1)
@pytest.mark.parametrize("scene", SCENES)
def test_the_runbook_brings_all_back(
    scene: str, tmp_path: Path, start: Callable[..., Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every partition has the leader of the plan in the end, and all whole records of the disks are in its log."""
    unpacked(f"clusters/{VERSION}/{scene}", tmp_path / "kept")
    cluster = start(
        VERSION, 3, dir=tmp_path / "played", log_dirs=2, broker_config=CONFIG, begins_with=tmp_path / "kept"
    )
    monkeypatch.chdir(cluster.dir)
    paths = [f"{number}=broker-{number}" for number in (1, 2, 3)]
    answer = kcheck.recover(*paths, metadata=["controller"], out="plan")
    assert SCENES[scene] == tuple(repair.broker_id for repair in answer.election.repairs)
    assert {answer.scenario(name)[1:3] for name in ("plan", "best")} == {(answer.scenario("best").lost, 0)}
    assert answer.scenario("plan").lost.records == 0
    assert (RecoveryAction.STOP in {step.kind for step in answer.steps}) is (scene == "power-loss")
    before = held(cluster)
    try:
        diverged.begin(cluster)

        def settle(_: Sequence[Process]) -> None:
            seen: list[dict[str, int]] = []

            def is_same() -> bool:
                seen.append({name: row.leader for name, row in registrations(cluster).items()})
                return len(seen) > 1 and seen[-2] == seen[-1]

            assert diverged.settled(is_same, lasting=LASTING)

        follow(cluster, answer, settle)

        def are_in_sync() -> bool:
            rows = registrations(cluster).values()
            return all(row.leader != NO_LEADER and {*row.replicas} == {*row.isr} for row in rows)

        assert diverged.settled(are_in_sync)
        leaders = {name: row.leader for name, row in registrations(cluster).items()}
    finally:
        cluster.kill()
    assert {f"{row.topic}-{row.partition}": row.planned for row in answer.election.partitions} == leaders
    after = held(cluster)
    kept = {record for name, leader in leaders.items() for record in after[leader].records if record[0] == name}
    of_cluster = {record for broker in before.values() for record in broker.records if record[0] in leaders}
    assert of_cluster <= kept


def registrations(cluster: Cluster) -> dict[str, PartitionRegistration]:
    """Return what the controller has written of the partitions, by name."""
    image = read_copy(LOCAL, str(cluster.beside.log_dirs[0] / f"{CLUSTER_METADATA}-0"), 100).image
    return {f"{topic.name}-{number}": row for topic, number, row in image.partitions()}
