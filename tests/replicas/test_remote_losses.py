"""What leaders cost in remote storage: offsets that real brokers of 4.3.1 then deleted."""

from pathlib import Path

import pytest

import kcheck
from kcheck.model.report import PartitionFilter
from tests.tiered_states import EMPTY, KILLED, OLD_LEADER, brokers, state


@pytest.mark.parametrize(
    ("incident", "name", "topic", "costs", "best"),
    [
        (OLD_LEADER, "4-back", "uncl", {1: 24, 2: 0}, 2),
        (OLD_LEADER, "1-before", "uncl", {1: 0, 2: 20}, 1),
        (KILLED, "4-joined", "a", {1: 0, 2: 20}, 1),
        (KILLED, "4-joined", "b", {1: 0, 2: 0}, 1),
        (EMPTY, "1-before", "empty", {1: 0, 2: 24}, 1),
        (EMPTY, "3-broker-2-led", "empty", {1: 18, 2: 24}, 1),
    ],
)
def test_what_each_leader_costs(
    tmp_path: Path, incident: str, name: str, topic: str, costs: dict[int, int], best: int
) -> None:
    """Records on disk and in remote storage, and the best leader."""
    of = state(incident, name, tmp_path)
    wanted = PartitionFilter(topics=(topic,))
    (row,) = kcheck.elect(*brokers(of), metadata=[str(of / "controller")], partitions=wanted).partitions
    assert {lead.broker_id: lead.lost and lead.lost.upper_records for lead in row.candidates} == costs
    assert row.best == best
    said = kcheck.truncation(*brokers(of), partitions=wanted, leader=None).to_dict()["partitions"]
    if (incident, name, topic) == (OLD_LEADER, "4-back", "uncl"):
        assert {plan["leader"]: plan["remote_lost"] for plan in said} == {1: [{"from": 0, "to_exclusive": 24}], 2: []}


def test_the_old_leader_never_leads_again(tmp_path: Path) -> None:
    """A preferred election made it lead: the plan moves its directory aside before it starts."""
    of = state(OLD_LEADER, "4-back", tmp_path)
    said = kcheck.elect(*brokers(of), metadata=[str(of / "controller")]).to_dict()["verdict"]
    assert said.startswith("Start broker 2 first.")
    assert "move its directory of uncl-0 out of the log dir" in said


def test_a_replica_that_hides_remote_records_is_not_best(tmp_path: Path) -> None:
    """Its first epoch is that of all remote segments, so it deletes none, and cannot read them."""
    of = state(KILLED, "4-joined", tmp_path)
    (of / "broker-1/b-0/leader-epoch-checkpoint").write_text("0\n1\n0 30\n")
    (row,) = kcheck.elect(
        *brokers(of), metadata=[str(of / "controller")], partitions=PartitionFilter(topics=("b",))
    ).partitions
    assert row.best == 2
