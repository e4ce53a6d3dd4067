"""The files of `elect --output-dir`: which there are, and what each holds."""

import json
import re
from typing import Any

import pytest

from kcheck.core.election.plans import CopyState, PartitionElection
from kcheck.core.releases.releases import release
from kcheck.core.replication.dialogue import Dialogue, Replica, Status
from kcheck.core.replication.leader_costs import Amounts
from kcheck.core.replication.truncation_plans import FollowerPlan
from kcheck.handouts.election_files import files_of
from kcheck.model.entries import Offset
from tests.core.election.test_plans import candidate, election, plan
from tests.core.election.test_recovery_plan import recovery

ALWAYS = {"election-plan.json", "plan.json", "plan.md", "start-order.txt"}


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
    assert files_of(recovery(election(candidate(1)))).keys() == ALWAYS


def test_the_plan_has_its_old_name_too() -> None:
    files = files_of(recovery(election(candidate(1))))
    assert files["election-plan.json"] == files["plan.json"]


def test_an_election_alone() -> None:
    """Where the controller elects the best one anyway nothing is reassigned."""
    files = files_of(recovery(election(candidate(2), candidate(3), isr=(9,))))
    assert files.keys() == ALWAYS | {"election.json"}
    assert json.loads(files["election.json"]) == {"partitions": [{"topic": "t", "partition": 0}]}


def test_the_wanted_leader_comes_first() -> None:
    """Before: who is alive. To undo: as it was. After: all again, without the brokers that are given up."""
    files = files_of(recovery(waiting("a", (9, 2, 8, 3)), waiting("b"), dead=frozenset((8,))))
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
    (row,) = partitions(files_of(recovery(waiting("a", (9, 2, 3), removing=(2,))))["restore.json"])
    assert row["replicas"] == [9, 3]
    plan = recovery(waiting("a", (9, 2, 3), removing=(2, 3)), dead=frozenset((9,)))
    (row,) = partitions(files_of(plan)["restore.json"])
    assert row["replicas"] == [9]


def test_replicas_that_follow_after_a_restart() -> None:
    """The plan names them, and the brokers to restart."""
    after = Replica((), Offset(0), Offset(9), Offset(9))
    fails = Dialogue(steps=(), after=after, status=Status.TRUNCATION_FAILS)
    parts = [FollowerPlan(number, Offset(9), None)._replace(dialogue=fails) for number in (2, 3, 4, 5)]
    row = election(candidate(1, plan=plan(1, *parts)))
    text = files_of(recovery(*(row._replace(partition=number) for number in range(4))))["plan.md"]
    section = " ".join(text.partition("## Restart once more\n\n")[2].partition("\n## ")[0].split())
    assert "`t-0`, `t-1`, `t-2` and 1 more. Once" in section
    assert "restart brokers 2, 3, 4 and 5: the replicas follow then." in section
    assert "cannot follow" not in text


def test_replicas_that_cannot_follow() -> None:
    """The plan names them, and says how they get the leader's records."""
    after = Replica((), Offset(0), Offset(9), Offset(9))
    stuck = Dialogue(steps=(), after=after, status=Status.FETCH_FAILS)
    parts = [FollowerPlan(number, Offset(9), None)._replace(dialogue=stuck) for number in (2, 3, 4, 5)]
    text = files_of(recovery(election(candidate(1, plan=plan(1, *parts)))))["plan.md"]
    section = text.partition("## Replicas that cannot follow\n\n")[2].partition("\n## ")[0]
    assert "\n- broker 2: `t-0`\n" in section
    assert "- 1 more; election-plan.json has `follows: false` there\n" in section
    assert "move the directory outside every log dir" in section
    assert "Restart once more" not in text
    assert "cannot follow" not in files_of(recovery(election(candidate(1, plan=plan(1)))))["plan.md"]


def test_what_only_a_directory_aside_has() -> None:
    """plan.md begins with it; the first three are named."""
    counts = (3, None, 1, 1, 0)
    copies = [
        candidate(2, state=CopyState.ASIDE, dir=f"t-0.{place}", only_here=Amounts(count, 0, 0))
        for place, count in enumerate(counts)
    ]
    text = " ".join(files_of(recovery(election(candidate(1), *copies)))["plan.md"].split())
    assert "- Broker 2 has 3 records of t-0 that no replica here has" in text
    assert "- Broker 2 has an unknown number of records of t-0" in text
    assert "t-0.2 (aside)" in text
    assert "- More directories of this kind: 1." in text
    assert "no broker serves" not in files_of(recovery(election(candidate(1))))["plan.md"]


def test_controllers_start_together() -> None:
    """In one step, the first."""
    text = files_of(recovery(election(candidate(1)))._replace(together=(1, 2)))["plan.md"]
    assert "After the first step, do not start two at once." in text
    assert "1. Start brokers 1 and 2 together, because with fewer controllers none starts.\n2. Start broker 3." in text


def test_the_order_of_starts_is_a_file() -> None:
    """A broker that aborts is not in it."""
    assert files_of(recovery(order=(3, 4, 1)))["start-order.txt"] == "3\n1\n"


def test_every_file_that_the_plan_names_is_written() -> None:
    """By releases whose commands differ; those that nothing names are for scripts."""
    partition = waiting("a")._replace(groups=(("g", Offset(99)), ("h\n", Offset(99))))
    for kafka in ("1.1", "2.4", "4.3"):
        files = files_of(recovery(partition, release=release(kafka)))
        named = set(re.findall(r"[a-z-]+\d*\.(?:json|csv)", files["plan.md"]))
        by_hand = {"election.json"} if kafka == "1.1" else set()
        assert named | by_hand == files.keys() - ALWAYS


@pytest.mark.parametrize(("count", "words"), [(1, "reassignment for ..."), (2, "reassignments for ...")])
def test_what_a_reassignment_prints(count: int, words: str) -> None:
    """The tool counts: one partition is no plural. Up to 2.5 it always prints the same."""
    waits = [waiting(str(number)) for number in range(count)]
    assert files_of(recovery(*waits))["plan.md"].count(f"`Successfully started partition {words}`") == 2
    old = files_of(recovery(*waits, release=release("2.4")))["plan.md"]
    assert old.count("`Successfully started reassignment of partitions.`") == 2


@pytest.mark.parametrize(
    ("kafka", "where", "elects"),
    [("4.3", "each command", ""), ("3.9", "each command", "--admin.config"), ("2.4", "`--bootstrap", "--admin.config"),
     ("1.1", "commands with `--bootstrap-server`", "")],
)  # fmt: skip
def test_who_logs_in(kafka: str, where: str, elects: str) -> None:
    """The option for a login is told for the commands that have it: those that ask ZooKeeper have none."""
    text = files_of(recovery(waiting("a"), release=release(kafka)))["plan.md"]
    (login,) = (line for line in text.splitlines() if "asks for a login" in line)
    assert where in login
    assert ("--admin.config" in login) is bool(elects)
