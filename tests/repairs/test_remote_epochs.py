"""Epochs of remote segments come back from another replica: what held on a real broker of 4.3.1."""

import shutil
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.startup import settings
from kcheck.disk.apply import apply
from kcheck.model.depth import Depth
from kcheck.model.report import PartitionFilter
from kcheck.plans.repair import RepairPlan, repair
from kcheck.startup.options import StartOptions
from kcheck.verbs.check import check
from tests.tiered_states import KILLED, OLD_LEADER, brokers, state

NEWEST = release("4.3")
NAMES = frozenset({"KC240", "KC242", "KC411"})


def planned(own: Path, *against: Path) -> RepairPlan:
    """Return the plan for the directories of these rules."""
    options = StartOptions(None, settings({}, NEWEST), NEWEST, PartitionFilter())
    return repair([str(own)], [str(path) for path in against], options, accept_loss=False)


def refused(plan: RepairPlan) -> dict[str, str]:
    """Return why there is no repair, by rule."""
    return {row.finding: row.why for row in plan.not_planned if row.finding in NAMES}


def found(of: Path, topic: str) -> set[str]:
    """Return the rules of these that speak of a topic."""
    report = check(
        brokers(of), depth=Depth.HEADERS, as_kind=None, wanted=PartitionFilter(topics=(topic,)), release=NEWEST
    )
    return {finding.id for finding in report.collected} & NAMES


@pytest.mark.parametrize(
    ("incident", "name", "broker", "topic", "start"),
    [(OLD_LEADER, "4-back", 1, "uncl", 0), (KILLED, "4-joined", 2, "a", 0), (KILLED, "3-killed", 2, "a", 0)],
)
def test_epochs_and_log_start_of_the_other_replica(
    tmp_path: Path, incident: str, name: str, broker: int, topic: str, start: int
) -> None:
    """Nothing is found afterwards, and the file is that of the other replica."""
    of = state(incident, name, tmp_path)
    own, other = of / f"broker-{broker}", of / f"broker-{3 - broker}"
    assert found(of, topic)
    plan = planned(own, other)
    assert refused(plan) == {}
    apply(plan.plan_bytes(), str(tmp_path / "backup"))
    assert not found(of, topic)
    theirs = (other / f"{topic}-0" / "leader-epoch-checkpoint").read_bytes()
    assert (own / f"{topic}-0" / "leader-epoch-checkpoint").read_bytes() == theirs
    assert f"{topic} 0 {start}\n" in (own / "log-start-offset-checkpoint").read_text()


def test_without_another_replica(tmp_path: Path) -> None:
    plan = planned(state(KILLED, "4-joined", tmp_path) / "broker-2")
    assert refused(plan) == {
        "KC240": "batches on disk lack the epochs of remote segments",
        "KC242": "only another replica shows the missing epochs (--against)",
    }


def test_a_replica_that_is_no_proof(tmp_path: Path) -> None:
    """It lacks the epochs too, or has others where the local batches begin."""
    of = state(KILLED, "4-joined", tmp_path)
    epochs = of / "broker-1" / "a-0" / "leader-epoch-checkpoint"
    for text, why in (
        ("0\n1\n2 35\n", "lacks the epochs too"),
        ("0\n0\n", "lacks the epochs too"),
        ("0\n2\n0 0\n1 12\n", "has other epochs than the batches here"),
    ):
        epochs.write_text(text)
        assert any(row.endswith(why) for row in refused(planned(of / "broker-2", of / "broker-1")).values())


def test_only_replicas_of_the_same_topic_are_compared(tmp_path: Path) -> None:
    of = state(OLD_LEADER, "4-back", tmp_path)
    shutil.copy(of / "broker-2/wipe-0/partition.metadata", of / "broker-2/uncl-0/partition.metadata")
    assert refused(planned(of / "broker-1", of / "broker-2")) == {}
    assert not any("uncl-0" in row.path for row in planned(of / "broker-1", of / "broker-2").plan.operations)
