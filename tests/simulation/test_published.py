"""Published walks through Kafka's replication come out offset by offset: vectors of Kafka's tests and of models."""

from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.replication.dialogue import FetchAnswer
from kcheck.core.replication.truncation import fetch_check
from kcheck.model.entries import Epoch, EpochEndOffset, Offset
from kcheck.simulation.decisions import Decision
from kcheck.simulation.logs import as_leader
from kcheck.simulation.replay import replay
from kcheck.simulation.script import parse
from kcheck.simulation.state import ClusterState

ALL = ("0.8.2", "0.10.2", "1.1", "2.0.0", "2.1", "2.4", "2.8", "3.6", "3.9", "4.3")
WITH_EPOCHS = ("2.4", "2.8", "3.5", "4.3")


def played(text: str, kafka: str) -> ClusterState:
    """Play a history whose expectations hold."""
    run = replay(parse(text, "f"), kafka)
    assert () == run.failed, kafka
    return run.steps[-1].state


HISTORIES = {
    "a record is committed with the second fetch": (
        "brokers L F\ntopic min.isr=2\nL leads\nexpect L leo 0 hw 0\nappend 1\nexpect L leo 1 hw 0\nfetch F\n"
        "expect F leo 1 hw 0\nexpect L leo 1 hw 0\nfetch F\nexpect L leo 1 hw 1\nexpect F leo 1 hw 1\n"
    ),
    "a leader never truncates at its election": (
        "brokers A B\ntopic min.isr=2 unclean=false\nA leads\nappend 3\nfetch B x2\nexpect A hw 3\ncrash B\ncrash A\n"
        "fence B\nfence A\nstart A\nstart B\nexpect leader A\nexpect A leo 3\nfetch all\nexpect A leo 3 hw 3\n"
        "expect nothing lost\n"
    ),
    "a follower ahead of its leader truncates": (
        "brokers A B\ntopic unclean=true acks=0\nA leads\nappend 2\nfetch B x2\nappend 3\ncheckpoint A\n"
        "elect B\nfetch all\nexpect A leo 2\n"
    ),
    "a follower below the log start begins there": (
        "brokers A B\ntopic acks=0\nA leads\nappend 2\nfetch B x2\nappend 3\nappend 5\nshrink B\nappend 1\n"
        "trim A to 5\nfetch all\nexpect B leo 11 start 5\n"
    ),
}


@pytest.mark.parametrize("kafka", ALL)
@pytest.mark.parametrize("title", HISTORIES)
def test_a_published_history(title: str, kafka: str) -> None:
    played(HISTORIES[title], kafka)


def test_a_state_of_an_older_controller_or_leader_epoch_is_ignored() -> None:
    """ZooKeeper's controllers can be overtaken; the second message says nothing new."""
    text = "brokers A B\ntopic mode=zookeeper\nA leads\ndelay controller->B\ncontroller new\novertake controller->B\n"
    old = replay(parse(text + "controller new\ndeliver controller->B\n", "f"), "2.4")
    assert Decision.OLD_CONTROLLER in old.steps[-1].decided_by
    text = "brokers A B\ntopic mode=zookeeper\nA leads\ndelay controller->B\nelect B\novertake controller->B\nelect A\n"
    older = replay(parse(text + "deliver controller->B\n", "f"), "2.4")
    assert Decision.OLD_EPOCH in older.steps[-1].decided_by


B_LEADS_UNHEARD = "delay controller->A\nelect B\nappend 2\nelect A\ndeliver controller->A\n"
CUTS = {
    "the follower has more of the last epoch": ("append 2\nfetch B\nappend 1\nelect B\nfetch A\n", "A", 2),
    "the follower has an epoch of its own": (
        "append 2\nfetch B x2\nelect B\nappend 2\nelect A\nfetch B\n", "B", 2,
    ),
    "both have an epoch of their own": (
        f"append 2\nfetch B x2\n{B_LEADS_UNHEARD}append 3\nfetch B\n", "B", 2,
    ),
    "the follower has less of the epoch in common": (
        f"append 1\nfetch B\nappend 1\n{B_LEADS_UNHEARD}fetch B\n", "B", 1,
    ),
    "no epoch in common": ("append 2\nelect B\nappend 1\nfetch A\n", "A", 0),
    "the follower has a part": ("append 2\nfetch B\nappend 2\ncontroller new\nfetch B\n", "B", 4),
}  # fmt: skip


@pytest.mark.parametrize("kafka", ["2.8", "3.5", "4.3"])
@pytest.mark.parametrize("case", CUTS)
def test_a_diverging_log_is_cut_with_the_first_answer(case: str, kafka: str) -> None:
    """Truncation on fetch (KIP-595), the cases of Vanlightly's description of the protocol."""
    events, name, end = CUTS[case]
    played(f"brokers A B\ntopic acks=0\nA leads epoch 1\n{events}expect {name} leo {end}\n", kafka)


def test_reads_and_joins_wait_for_the_start_of_the_epoch() -> None:
    """A new leader does not know yet that record 0 is committed; C joins its ISR at the epoch's start, not before."""
    played(
        "brokers A B C\nA leads\nfence C\nstart C\nwait 31s\nappend 1\nfetch B\ndelay A->B\nfetch B\nexpect A hw 1\n"
        "expect B leo 1 hw 0\ndrop A->B\ndelay C->B\ncrash A\nfence A\nexpect leader B\nexpect isr B\nfetch C\n"
        "deliver C->B\nexpect isr B\nfetch C\nexpect isr B,C\nexpect B hw 1\nexpect nothing lost\n",
        "4.3",
    )


@pytest.mark.parametrize("kafka", WITH_EPOCHS)
def test_epochs_follow_the_elections(kafka: str) -> None:
    """Kafka's shouldFollowLeaderEpochBasicWorkflow: at the election on the leader, with the records on the follower."""
    played(
        "brokers A B\nA leads\nappend 1\nfetch B x2\ncrash A\nfence A\nexpect B epochs 0@0,1@1\nexpect A epochs 0@0\n"
        "start A\nappend 1\nfetch A x3\nexpect A epochs 0@0,1@1\nexpect B epochs 0@0,1@1\ncrash B\nfence B\n"
        "expect A epochs 0@0,1@1,2@2\n",
        kafka,
    )


LEADER = (
    "brokers A B\nA leads\nappend 2\nfetch all\nelect B\nelect A\nelect B\nappend 3\nappend 3\nfetch all\nelect A\n"
    "append 5\nfetch all\nelect B\nelect A\nelect B\nappend 1\nfetch all\nelect A\nelect B\nappend 3\nfetch all\n"
    "elect A\nexpect A leo 17 epochs 0@0,3@2,4@8,7@13,9@14,10@17\n"
)
ANSWERS: dict[str, dict[tuple[int, int], tuple[int, int] | FetchAnswer]] = {
    "": {
        (2, 5): (0, 2), (0, 4): (0, 2), (6, 6): (4, 13), (5, 9): (4, 13), (10, 18): (10, 17),
        (0, 2): FetchAnswer.RECORDS, (7, 14): FetchAnswer.RECORDS, (9, 17): FetchAnswer.RECORDS,
        (10, 17): FetchAnswer.RECORDS, (11, 5): FetchAnswer.OFFSET_OUT_OF_RANGE,
    },
    "fetch all\nfetch all\ntrim A to 5\n": {
        (2, 8): (2, 5), (0, 5): FetchAnswer.RECORDS, (3, 5): FetchAnswer.RECORDS,
    },
}  # fmt: skip


@pytest.mark.parametrize("kafka", ["2.8.1", "3.9", "4.3"])
@pytest.mark.parametrize("more", ANSWERS)
def test_a_leader_answers_as_in_kafkas_own_test(more: str, kafka: str) -> None:
    """PartitionTest: last fetched epoch and offset, and the diverging epoch with its end."""
    leader = as_leader(played(LEADER + more, kafka).nodes[0])
    given: dict[Any, Any] = {
        asked: fetch_check(leader, Offset(asked[1]), Epoch(asked[0]), release=release(kafka)) for asked in ANSWERS[more]
    }
    plain = {
        asked: (answer.epoch, answer.end_offset) if isinstance(answer, EpochEndOffset) else answer
        for asked, answer in given.items()
    }
    assert ANSWERS[more] == plain
