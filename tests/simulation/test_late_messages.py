"""Registrations, and what a fetcher has still to do, can be late like any message."""

import pytest

from kcheck.simulation.decisions import Decision
from kcheck.simulation.replay import Replay, in_words, replay
from kcheck.simulation.script import parse
from kcheck.simulation.state import ReplicaMode
from kcheck.verbs.simulate import histories

RESTART = "brokers A B\nA leads\nappend 1\nfetch B x2\ndelay B->controller\ncrash B\nfence B\nstart B\n"
TEXTS = {history.name: history.text for history in histories()}
DIVERGED = TEXTS["kafka-14704"].removesuffix("read A 0..2\ndeliver A->A\nfetch all\n")


def played(text: str, kafka: str = "4.3") -> Replay:
    """Play a history."""
    return replay(parse(text, "f"), kafka)


def test_a_broker_does_nothing_before_it_has_registered() -> None:
    """It fetches from nobody, and does not register twice at a time."""
    run = played(RESTART + "start B\nfetch B\n")
    node = run.steps[-1].state.nodes[1]
    assert (True, ReplicaMode.STARTING, 1) == (node.running, node.mode, len(run.steps[-1].state.held))
    assert ("refused: its registration is under way",) == run.steps[-2].notes
    assert ("refused: it has no leader to fetch from",) == run.steps[-1].notes


@pytest.mark.parametrize("kafka", ["0.10.2", "2.8", "3.9", "4.3"])
def test_a_registration_arrives_late(kafka: str) -> None:
    """Then the broker follows, and joins the ISR."""
    run = played(RESTART + "append 1\ndeliver B->controller\nfetch all\n", kafka)
    state = run.steps[-1].state
    assert ([0, 1], 2) == (sorted(state.controller.seats.isr), state.nodes[1].log_end_offset)
    assert "nothing lost, nothing diverged" == in_words(run.verdict, "AB")


def test_a_registration_that_is_lost_is_sent_again() -> None:
    """By the next start of the line, and by a cluster that settles; a leader that has not registered does not lead."""
    run = played(RESTART + "drop B->controller\n")
    assert ((), False) == (run.verdict.stuck, run.verdict.offline)
    again = played(RESTART + "drop B->controller\nstart B\nfetch B\n")
    assert ReplicaMode.FETCHING is again.steps[-1].state.nodes[1].mode
    alone = played("brokers A\nA leads\nappend 1\ncrash A\ndelay A->controller\nstart A\n")
    assert alone.verdict.offline
    assert () == alone.verdict.lost


def test_an_answer_to_an_earlier_start_is_no_registration() -> None:
    """The first registration arrives when another process runs: what it brings is for nobody, the second counts."""
    run = played(RESTART + "crash B\nstart B\ndeliver B->controller\n")
    state = run.steps[-1].state
    assert (ReplicaMode.FETCHING, 2, 2) == (state.nodes[1].mode, state.nodes[1].incarnation, 2)
    assert 2 == state.controller.broker_epochs[1]
    assert Decision.NOT_REGISTERED in run.steps[-1].decided_by


def test_a_truncation_is_due() -> None:
    """From 2.8 to 3.4.0; until it is done the follower does not fetch."""
    run = played(DIVERGED + "fetch A\n", "3.4.0")
    assert ("refused: it has to truncate first",) == run.steps[-1].notes
    assert (2, 2) == (run.steps[-1].state.nodes[0].log_end_offset, run.steps[-1].state.nodes[0].high_watermark)


@pytest.mark.parametrize(("kafka", "end"), [("2.8.0", 1), ("2.8.1", 2), ("3.4.0", 2)])
def test_a_truncation_is_due_when_the_follower_leads(kafka: str, end: int) -> None:
    """KAFKA-13207: 2.8.0 truncates the log of a leader."""
    run = played(DIVERGED + "elect A unclean\ndeliver A->A\n", kafka)
    node = run.steps[-1].state.nodes[0]
    assert (ReplicaMode.LEADER, end) == (node.mode, node.log_end_offset)


def test_a_diverging_answer_is_refused_by_a_leader_too() -> None:
    """2.8.0: its log start lies beyond the log end, as in KAFKA-12996, and the fetcher has the partition no more."""
    text = TEXTS["kafka-12996"].removesuffix("fetch all\n")
    run = played(text + "delay A->B\nfetch B\nelect B unclean\ndeliver A->B\n", "2.8.0")
    assert ReplicaMode.FAILED is run.steps[-1].state.nodes[1].mode
