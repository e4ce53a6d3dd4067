"""The steps of a recovery in words: who leads what, on which host a step is typed, what a step makes final."""

import pytest

from kcheck.core.election.election import Seats
from kcheck.core.election.plans import CopyState
from kcheck.core.election.recovery_plan import Recovery
from kcheck.core.election.steps import Cut, RecoveryAction, RecoveryStep, SelfElected, StepText
from kcheck.core.releases.releases import release
from kcheck.core.replication.leader_costs import Amounts
from kcheck.core.replication.truncation_plans import TruncatedRecords
from kcheck.handouts.plan_context import PlanContext
from kcheck.handouts.runbook import runbook
from kcheck.handouts.step_words import step_texts
from kcheck.model.cluster import BrokerRegistration, ClusterImage, PartitionRegistration
from kcheck.model.entries import Offset
from tests.core.election.test_plans import candidate, election
from tests.core.election.test_recovery_plan import recovery

HOSTS = ClusterImage(
    topics={},
    brokers={
        1: BrokerRegistration(1, 5, fenced=False, endpoints=("PLAINTEXT://kafka-1:9092",)),
        2: BrokerRegistration(2, 6, fenced=False, endpoints=("PLAINTEXT://xxxx:9092",)),
    },
)
START, ELECT, SAVE, BRING = RecoveryAction.START, RecoveryAction.ELECT, RecoveryAction.SAVE, RecoveryAction.BRING
CUT = Cut("t", 0, 1, TruncatedRecords(Offset(5), Offset(9), 4, 40, 4, certain=True))


def _texts(of: Recovery, *steps: RecoveryStep, saved: str | None = None) -> tuple[StepText, ...]:
    sought = {2: "Find the newest disk of broker 2"}
    return step_texts(PlanContext(of, (), {}, {}, {}, "aside", saved=saved, sought=sought), steps)


def test_an_election_says_who_leads_what() -> None:
    """Each broker with its partitions; of very many brokers the first."""
    rows = [election(candidate(1), candidate(2))._replace(partition=at, planned=1 + at % 2) for at in range(3)]
    (text,) = _texts(recovery(), RecoveryStep(ELECT, partitions=tuple(rows), before=3))
    title = "Let broker 1 lead t-0, t-2, and broker 2 lead t-1 before broker 3 starts, by an unclean election"
    assert title == text.title
    many = tuple(election(candidate(number), planned=number) for number in range(1, 13))
    (text,) = _texts(recovery(), RecoveryStep(ELECT, partitions=many))
    assert "broker 10 lead t-0, and the others the rest, by" in text.title
    (text,) = _texts(recovery(), RecoveryStep(ELECT, partitions=(rows[0]._replace(planned=None, best=2),)))
    assert text.title.startswith("Let broker 2 lead t-0, by")


def test_an_election_that_may_give_up_records_cannot_be_undone() -> None:
    """Another replica here has more, or its log is somewhere else. Else nothing is lost, and nothing is said."""
    both = election(candidate(1), candidate(2))._replace(planned=1)
    poor = election(candidate(1, Amounts(2, 2, 20)), candidate(2))._replace(planned=1)
    unknown = election(candidate(1, None), candidate(2))._replace(planned=1)
    away = both._replace(registration=PartitionRegistration((1, 2, 9), (1,)))
    empty = election(candidate(1), candidate(2, state=CopyState.MISSING))._replace(planned=1)
    nobody = both._replace(planned=None, best=None)
    rows = {True: (poor, unknown, away, empty, nobody), False: (both, both._replace(planned=None, best=2))}
    for expected, parts in rows.items():
        for part in parts:
            (text,) = _texts(recovery(), RecoveryStep(ELECT, partitions=(part,)))
            assert (expected, "loses them when its broker starts" in text.final) == (text.is_loss, True)
    (old,) = _texts(recovery(old=frozenset({2})), RecoveryStep(ELECT, partitions=(both,)))
    assert old.is_loss
    (without,) = _texts(recovery(), RecoveryStep(ELECT, partitions=(both._replace(registration=None),)))
    assert not without.is_loss


def test_a_step_says_on_which_host_it_is_typed() -> None:
    """The name is in the metadata, unless a bundle masks it. What has no command needs no host."""
    steps = (
        RecoveryStep(START, (1,)), RecoveryStep(START, (2, 3)), RecoveryStep(RecoveryAction.FENCE, (1,)),
        RecoveryStep(ELECT, partitions=(election(candidate(1), planned=1),)), RecoveryStep(BRING, (2,)),
    )  # fmt: skip
    texts = _texts(recovery(image=HOSTS), *steps)
    assert [text.where for text in texts] == [
        "the host of broker 1 (kafka-1)",
        "the hosts of broker 2 and broker 3",
        "the host of each controller",
        "any host that has these files and reaches the brokers",
        "",
    ]
    assert "On the host of broker 1 (kafka-1):" in runbook(recovery(), texts, (), "last", place="/incident")
    assert "begin in /incident." in runbook(recovery(), texts, (), "last", place="/incident")


def test_a_start_that_elects_out_of_sync_replicas_says_what_it_gives_up() -> None:
    """The disks in sync may come back; the controller elects without them as soon as the broker starts."""
    rows = [election(candidate(2))._replace(partition=at) for at in range(2)]
    step = RecoveryStep(START, (2,), forces=tuple(SelfElected(row, 2, (1,)) for row in rows))
    (text,) = _texts(recovery(), step)
    assert text.is_loss
    assert text.final == (
        "unclean elections are on, so the controller lets broker 2 lead t-0, t-1 at once. Records there that only"
        " broker 1 has are lost then"
    )


def test_records_are_saved_by_a_step_before_the_one_that_removes_them() -> None:
    """Once they are saved, the plan says where; a run of a fleet has no step for it."""
    bring, save, start = RecoveryStep(BRING, (2,)), RecoveryStep(SAVE, (1,)), RecoveryStep(START, (1,), cuts=(CUT,))
    texts = _texts(recovery(), bring, save, start)
    assert texts[0].title == "Find the newest disk of broker 2. Then ask kcheck recover again"
    assert texts[1].commands == ("kcheck recover --output-dir DIR",)
    assert texts[2].final == "broker 1 removes offsets 5-8 of t-0. Step 2 saves them"
    _, kept, last = _texts(recovery(), bring, save, start, saved="plan/saved")
    assert kept.title == "Keep plan/saved, which has the records that later steps remove"
    assert (kept.commands, last.final) == ((), "broker 1 removes offsets 5-8 of t-0. plan/saved has them")
    (alone,) = _texts(recovery(), start)
    assert alone.final.endswith("Before this step, save them with kcheck recover --output-dir")
    assert alone.is_loss


def test_a_broker_whose_replicas_do_not_follow_restarts() -> None:
    """Its other logs are moved between the stop and the start. Nothing is lost then."""
    rows = [election(candidate(1))._replace(partition=at) for at in range(2)]
    moved = RecoveryStep(RecoveryAction.FOLLOW, (2,), tuple(rows), emptied=(rows[0],))
    first, second = _texts(recovery(), moved, RecoveryStep(RecoveryAction.FOLLOW, (3,), (rows[0],)))
    assert first.title == (
        "Restart broker 2, so that its replicas follow: t-0, t-1. No broker truncates 1 log of them, so move it aside"
    )
    assert first.commands == (
        "bin/kafka-server-stop.sh --node-id=2",
        "mkdir -p aside/broker-2",
        "mv t-0 aside/broker-2/",
        "bin/kafka-server-start.sh -daemon config/server.properties",
    )
    assert (first.is_loss, first.final) == (False, "no record is lost: aside keeps what the leader does not have")
    assert second.title == "Restart broker 3, so that its replica follows: t-0"
    assert [line.partition(" ")[0] for line in second.commands] == [
        "bin/kafka-server-stop.sh", "bin/kafka-server-start.sh",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kafka", "moves", "exits"), [("1.1", True, True), ("2.0.1", True, False), ("2.1", False, False)]
)
def test_an_election_by_configuration(kafka: str, moves: bool, exits: bool) -> None:
    """Only a new controller reads it in 2.0 and earlier; in 2.0.0 a longer follower exits if it is off too early."""
    part = election(candidate(1), candidate(2), planned=1)
    of = recovery(part._replace(seats=Seats((1, 2), (9,))), release=release(kafka), kraft=False)
    (text,) = _texts(of, RecoveryStep(ELECT, partitions=(part,)))
    assert ("bin/zookeeper-shell.sh localhost:2181 delete /controller" in text.commands) is moves
    assert ("A broker of this release exits" in text.until) is exits
