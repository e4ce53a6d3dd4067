"""The files of `elect --output-dir`: which there are, what each holds, and what the page says of them."""

import json
import re
from typing import Any

import pytest

from kcheck.core.election.plans import PartitionElection
from kcheck.core.releases.releases import release
from kcheck.core.replication.leader_costs import Amounts
from kcheck.model.entries import Offset
from tests.core.election.test_plans import candidate, election
from tests.core.election.test_recovery_plan import recovery
from tests.handouts.pages import files_for, page_of

ALWAYS = {"election-plan.json", "plan.json", "start-order.txt"}


def waiting(topic: str, replicas: tuple[int, ...] = (9, 2, 3), **registered: Any) -> PartitionElection:
    """Return a partition whose last replica in sync, broker 9, is gone; broker 3 loses less than broker 2."""
    partition = election(candidate(2, Amounts(5, 5, 5)), candidate(3), isr=(9,))
    assert partition.registration is not None
    registration = partition.registration._replace(replicas=replicas, **registered)
    return partition._replace(topic=topic, registration=registration)


def partitions(text: str) -> list[Any]:
    """Return the partitions of a file for Kafka's tools."""
    rows: list[Any] = json.loads(text)["partitions"]
    return rows


def test_nothing_to_elect() -> None:
    """There is no file for elections: the tools refuse an empty list."""
    assert files_for(recovery(election(candidate(1)))).keys() == ALWAYS


def test_the_plan_has_its_old_name_too() -> None:
    files = files_for(recovery(election(candidate(1))))
    assert files["election-plan.json"] == files["plan.json"]


def test_an_election_alone() -> None:
    """Where the controller elects the best one anyway nothing is reassigned."""
    files = files_for(recovery(election(candidate(2), candidate(3), isr=(9,))))
    assert files.keys() == ALWAYS | {"election.json"}
    assert json.loads(files["election.json"]) == {"partitions": [{"topic": "t", "partition": 0}]}


def test_the_wanted_leader_comes_first() -> None:
    """Before: who is alive. To undo: as it was. After: all again, without the brokers that are given up."""
    files = files_for(recovery(waiting("a", (9, 2, 8, 3)), waiting("b"), dead=frozenset((8,))))
    assert files.keys() == ALWAYS | {"election.json", "reassignment.json", "rollback.json", "restore.json"}
    lists = {
        name: {row["topic"]: row["replicas"] for row in partitions(files[f"{name}.json"])}
        for name in ("reassignment", "rollback", "restore")
    }
    assert lists == {
        "reassignment": {"a": [3, 2], "b": [3, 2]},
        "rollback": {"a": [9, 2, 8, 3], "b": [9, 2, 3]},
        "restore": {"a": [9, 2, 3], "b": [9, 2, 3]},
    }
    assert json.loads(files["reassignment.json"])["version"] == 1


def test_a_reassignment_that_was_under_way() -> None:
    """What it removes is not restored; if all others are given up, the list stays as it was."""
    (row,) = partitions(files_for(recovery(waiting("a", (9, 2, 3), removing=(2,))))["restore.json"])
    assert row["replicas"] == [9, 3]
    plan = recovery(waiting("a", (9, 2, 3), removing=(2, 3)), dead=frozenset((9,)))
    (row,) = partitions(files_for(plan)["restore.json"])
    assert row["replicas"] == [9]


def test_the_order_of_starts_is_a_file() -> None:
    """A broker that aborts is not in it."""
    assert files_for(recovery(order=(3, 4, 1)))["start-order.txt"] == "3\n1\n"


def test_every_file_that_the_plan_names_is_written() -> None:
    """By releases whose commands differ; those that nothing names are for scripts."""
    part = election(candidate(2, Amounts(5, 5, 5)), candidate(3, groups_beyond=2), isr=(9,))
    assert part.registration is not None
    registration = part.registration._replace(replicas=(9, 2, 3))
    partition = part._replace(registration=registration, groups=(("g", Offset(99)), ("h\n", Offset(99))))
    for kafka in ("1.1", "2.4", "4.3"):
        plan = recovery(partition, release=release(kafka))
        files, page = files_for(plan), page_of(plan)
        named = set(re.findall(r"[a-z-]+\d*\.(?:json|csv)", page))
        by_hand = {"election.json"} if kafka == "1.1" else set()
        assert named | by_hand == files.keys() - ALWAYS


@pytest.mark.parametrize(
    ("kafka", "where", "elects"),
    [("4.3", "each command", ""), ("3.9", "each command", "--admin.config"), ("2.4", "`--bootstrap", "--admin.config"),
     ("1.1", "commands with `--bootstrap-server`", "")],
)  # fmt: skip
def test_who_logs_in(kafka: str, where: str, elects: str) -> None:
    """The option for a login is told for the commands that have it: those that ask ZooKeeper have none."""
    text = page_of(recovery(waiting("a"), release=release(kafka)))
    (login,) = (line for line in text.splitlines() if "asks for a login" in line)
    assert where in login
    assert ("--admin.config" in login) is bool(elects)


def test_replicas_of_a_broker_that_is_given_up() -> None:
    """They have to go to another broker."""
    text = page_of(recovery(waiting("a"), dead=frozenset((9,))))
    assert "1 partition (a-0) had replicas on broker 9. Choose other brokers for them, and reassign them." in text
    assert "given up" not in page_of(recovery(waiting("a")))
