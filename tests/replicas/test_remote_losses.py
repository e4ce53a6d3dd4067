"""What leaders cost in remote storage: offsets that real brokers of 4.3.1 then deleted."""

import json
from pathlib import Path

import pytest

import kcheck
from kcheck.model.report import PartitionFilter
from tests.cli.command import document
from tests.cli.command import kcheck as kcheck_command
from tests.tiered_states import EMPTY, GAP, KILLED, LOST, OBJECTS, OLD_LEADER, brokers, state


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


def brokers_of(of: Path) -> list[str]:
    """Return the arguments of a state, with its controller."""
    here = [f"{number}={of}/broker-{number}" for number in (1, 2) if (of / f"broker-{number}").exists()]
    return [*here, *(["--metadata", str(of / "controller")] if (of / "controller").exists() else [])]


@pytest.mark.parametrize(
    ("incident", "before", "after", "seen"),
    [
        (KILLED, "4-joined", "6-broker-2-led", {"a-0": "broker 2 does not serve offsets 0-34"}),
        (OLD_LEADER, "4-back", "5-broker-1-led", {"uncl-0": "broker 2 does not serve offsets 0-23"}),
        (EMPTY, "1-before", "4-back", {"empty-0": "broker 2 does not serve offsets 0-23",
                                       "uncl-0": "broker 2 does not serve offsets 24-43"}),
        (LOST, "1-before", "1b-dirs-removed", {"m-0": "broker 1 does not serve offsets 0-19",
                                               "n-0": "broker 1 does not serve offsets 0-19"}),
        (LOST, "1-before", "2-started", {"m-0": "broker 1 does not serve offsets 0-19",
                                         "n-0": "broker 1 does not serve offsets 0-19"}),
        (GAP, "2-stopped", "5-stopped", {"cp-0": "broker 1 does not serve offsets 0-21",
                                         "gap-0": "broker 1 does not serve offsets 20-24"}),
        (OBJECTS, "1-stopped", "2-read", {}),
    ],
)  # fmt: skip
def test_what_verify_sees_afterwards(
    tmp_path: Path, incident: str, before: str, after: str, seen: dict[str, str]
) -> None:
    """The offsets that the planned leader had, and that the leader of now lost; objects are only in the store."""
    of, plan = state(incident, before, tmp_path), tmp_path / "plan"
    kcheck_command("elect", *brokers_of(of), "--output-dir", plan)
    steps = document("verify", plan, *brokers_of(tmp_path / after))["steps"]
    rows = [step for step in steps if step["kind"] == "remote"]
    assert rows
    lost = {f"{step['topic']}-{step['partition']}": step["seen"].partition(":")[0] for step in rows if not step["ok"]}
    assert lost == seen


def test_a_leader_that_deletes_remote_records_is_no_other_choice(tmp_path: Path) -> None:
    """Its local log is that of the best leader: only the plan of another partition may have it instead."""
    of, plan = state(KILLED, "4-joined", tmp_path), tmp_path / "plan"
    kcheck_command("elect", *brokers_of(of), "--output-dir", plan)
    rows = {row["topic"]: row for row in json.loads((plan / "election-plan.json").read_text())["partitions"]}
    assert {topic: rows[topic]["as_good"] for topic in ("a", "b")} == {"a": [], "b": [2]}


def test_the_old_leader_never_leads_again(tmp_path: Path) -> None:
    """A preferred election made it lead: the plan moves its directory aside before it starts."""
    of = state(OLD_LEADER, "4-back", tmp_path)
    said = kcheck.elect(*brokers(of), metadata=[str(of / "controller")]).to_dict()["verdict"]
    assert said.startswith("Start broker 2 first.")
    assert "move its directory of uncl-0 outside every log dir" in said
    folder = str(tmp_path / "plan")
    kcheck_command("elect", *brokers(of), "--metadata", str(of / "controller"), "--output-dir", folder)
    assert "auto.leader.rebalance.enable=false" in Path(folder, "plan.md").read_text()


def test_a_truncation_below_the_local_start(tmp_path: Path) -> None:
    """The old leader truncated to 24, took this log start and lost its epochs; broker 2 serves 0 to 23."""
    of = state(EMPTY, "3-broker-2-led", tmp_path)
    shown = kcheck_command("truncation", *brokers(of), "--topic", "uncl", "--leader", "2")
    assert "log start 24 and no older epochs; it must not lead afterwards (KC411)" in shown.out
    (plan,) = kcheck.truncation(*brokers(of), partitions=PartitionFilter(topics=("uncl",)), leader=2).to_dict()[
        "partitions"
    ]
    (follower,) = plan["followers"]
    assert (follower["log_start_offset_after"], follower["leader_epochs_after"]) == (24, [])
    assert follower["lacks_remote_history"] is True


def test_a_replica_that_hides_remote_records_is_not_best(tmp_path: Path) -> None:
    """Its first epoch is that of all remote segments, so it deletes none, and cannot read them."""
    of = state(KILLED, "4-joined", tmp_path)
    (of / "broker-1/b-0/leader-epoch-checkpoint").write_text("0\n1\n0 30\n")
    (row,) = kcheck.elect(
        *brokers(of), metadata=[str(of / "controller")], partitions=PartitionFilter(topics=("b",))
    ).partitions
    assert row.best == 2


@pytest.mark.parametrize(
    ("incident", "name", "costs"),
    [(GAP, "3-gap", {"cp": 20, "gap": 5, "ok": 0, "rmeta": 0}), (LOST, "1b-dirs-removed", {"m": 20, "n": 20})],
)
def test_what_the_only_broker_loses(tmp_path: Path, incident: str, name: str, costs: dict[str, int]) -> None:
    """No other replica has these records; the broker deleted them, or left them in the store."""
    of = state(incident, name, tmp_path)
    answer = kcheck.elect(f"1={of}/broker-1", partitions=PartitionFilter(topics=tuple(costs)))
    lost = {row.topic: row.candidates[0].lost for row in answer.partitions}
    assert {topic: amount and amount.upper_records for topic, amount in lost.items()} == costs
    assert ("First restore __remote_log_metadata" in str(answer.to_dict()["verdict"])) is (incident == LOST)


def test_both_lineages_are_in_the_store(tmp_path: Path) -> None:
    """The old leader comes back with its disk: 16 of its 20 records are in the store, under offsets of the new ones."""
    of = state(OLD_LEADER, "4-back", tmp_path)
    wanted = PartitionFilter(topics=("uncl",))
    plans = kcheck.truncation(
        f"1={tmp_path}/1-before/broker-1", f"2={of}/broker-2", partitions=wanted, leader=None
    ).to_dict()["partitions"]
    assert {row["leader"]: row["lost"]["at_most"] for row in plans} == {1: 18, 2: 20}
