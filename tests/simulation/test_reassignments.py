"""A reassignment adds replicas, waits until they are in sync, and deletes the old ones."""

import pytest

from kcheck.simulation.decisions import Decision
from kcheck.simulation.replay import in_words
from kcheck.simulation.state import ReplicaMode
from tests.simulation.test_late_messages import played

TO_C = "brokers A B C\ntopic rf=2 unclean=false\nA leads\nappend 2\nfetch all\nreassign A C\n"


@pytest.mark.parametrize("kafka", ["0.10.2", "2.4", "3.9", "4.3"])
def test_a_removed_replica_is_deleted(kafka: str) -> None:
    """The controller stops it; it has no log, fetches from nobody, and differs from nobody."""
    run = played(f"{TO_C}append 1\nfetch all\n", kafka)
    removed, state = run.steps[-1].state.nodes[1], run.steps[-1].state
    assert ((), 0, (), ReplicaMode.NONE) == (removed.batches, removed.log_end_offset, removed.epochs, removed.mode)
    assert ((0, 2), {0, 2}) == (state.controller.seats.replicas, {*state.controller.seats.isr})
    assert "nothing lost, nothing diverged" == in_words(run.verdict, run.script.names)


@pytest.mark.parametrize(("kafka", "end"), [("2.4", 2), ("3.9", 0)])
def test_a_replica_that_was_removed_while_its_broker_was_down(kafka: str, end: int) -> None:
    """KRaft sets it aside at the start; with ZooKeeper nobody tells the broker, and the log stays."""
    run = played(f"{TO_C}crash B\nfence B\nfetch all\nstart B\nfetch all\n", kafka)
    assert end == run.steps[-1].state.nodes[1].log_end_offset
    assert "nothing lost, nothing diverged" == in_words(run.verdict, run.script.names)


def test_a_controller_that_is_gone_deletes_nothing() -> None:
    """The replica is one again before what the old controller said arrives."""
    text = f"{TO_C}delay controller->B\nfetch all\novertake controller->B\ncontroller new\nreassign A B C\n"
    run = played(f"{text}fetch all\ndeliver controller->B\n", "2.4")
    assert Decision.OLD_CONTROLLER in run.steps[-1].decided_by
    assert 2 == run.steps[-1].state.nodes[1].log_end_offset


@pytest.mark.parametrize(("kafka", "begins", "ends"), [("2.4", 1, 2), ("3.9", 0, 1)])
def test_the_leader_epoch_rises(kafka: str, begins: int, ends: int) -> None:
    """With ZooKeeper at the beginning too; with KRaft only when replicas go."""
    run = played(f"{TO_C}fetch all\n", kafka)
    assert [begins, ends] == [step.state.controller.leader_epoch for step in run.steps[-2:]]


@pytest.mark.parametrize(("kafka", "ends"), [("2.4", 1), ("3.9", 0)])
def test_another_order_is_a_reassignment_too(kafka: str, ends: int) -> None:
    run = played("brokers A B\nA leads\nreassign B A\n", kafka)
    controller = run.steps[-1].state.controller
    assert ((1, 0), 0, ends) == (controller.seats.replicas, controller.seats.leader, controller.leader_epoch)


@pytest.mark.parametrize(("kafka", "replicas"), [("3.7", (0, 1, 2)), ("3.8", (0, 1, 2, 3))])
def test_a_reassignment_waits_for_its_replicas(kafka: str, replicas: tuple[int, ...]) -> None:
    """KAFKA-15665: before 3.8 KRaft waits for those that it adds alone, and B, which is not in sync, stays."""
    text = "brokers A B C D\ntopic rf=3 mode=kraft unclean=false\nA leads\nfence B\nreassign A B D\nfetch D x2\n"
    run = played(text, kafka)
    assert ({0, 2, 3} if kafka == "3.8" else {0, 3}) == {*run.steps[-1].state.controller.seats.isr}
    assert len(replicas) == len(run.steps[-1].state.controller.seats.replicas)
