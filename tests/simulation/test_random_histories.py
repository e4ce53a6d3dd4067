"""Random histories of thirty events: what holds in every state of every release, checked in plain words."""

from itertools import pairwise
from random import Random

import pytest

from kcheck.model.release import Release
from kcheck.simulation.events import EventKind
from kcheck.simulation.replay import HistoryStep, Replay, replay
from kcheck.simulation.script import parse
from kcheck.simulation.state import Node, ReplicaMode
from tests.oracle.ask import SEED, SWEEP

RELEASES = ("0.10.2", "1.1", "2.0", "2.4", "2.8", "3.5", "3.9", "4.0", "4.3")
NAMES = "ABC"
COUNT = 40 * SWEEP


def lines(chance: Random, events: int = 30) -> list[str]:
    """Return events, half of them appends and fetches."""
    names = NAMES[: chance.choice((2, 3, 3))]
    settings = f"topic min.isr={chance.choice((1, 2))} unclean={chance.choice(('true', 'false'))}"
    written = [f"brokers {' '.join(names)}", settings, "A leads"]
    for _ in range(events):
        one, two = chance.choice(names), chance.choice([*names, "controller"])
        written.append(
            chance.choice((
                f"append {chance.randrange(1, 4)} acks={chance.choice(('0', '1', 'all'))}", f"fetch {one}",
                f"fetch {one} x{chance.randrange(2, 5)}", f"append {chance.randrange(1, 3)}", f"fetch {one} x2",
                chance.choice((
                    f"crash {one}", f"stop {one}", f"start {one}", f"start {one}", f"start {one}", f"fence {one}",
                    f"power-loss {one}", f"flush {one}", f"checkpoint {one}", f"elect {one}", "wait 31s",
                    f"shrink {one}", f"expand {one}",
                    f"{chance.choice(('delay', 'deliver', 'drop'))} {one}->{two if two != one else 'controller'}",
                )),
            ))
        )  # fmt: skip
    return written


def assert_a_log(node: Node, release: Release) -> None:
    """Hold that batches follow each other, and that what a broker knows about its log is inside of it.

    Old releases truncate a log without its high watermark, which the next answer to a fetch sets.
    """
    assert all(first.end_offset <= second.base_offset for first, second in pairwise(node.batches))
    assert all(batch.base_offset < batch.end_offset for batch in node.batches)
    assert node.log_end_offset >= max((batch.end_offset for batch in node.batches), default=0) or node.batches == ()
    assert node.log_start_offset <= node.log_end_offset
    assert node.flushed <= node.log_end_offset
    if node.running and release.truncation_lowers_high_watermark:
        assert node.high_watermark <= node.log_end_offset
    assert all(
        first.epoch < second.epoch and first.start_offset <= second.start_offset
        for first, second in pairwise(node.epochs)
    )


def assert_a_cluster(step: HistoryStep) -> None:
    """Hold that an epoch has one leader at most, and that the controller knows only brokers that there are."""
    nodes, controller = step.state.nodes, step.state.controller
    leading = [node.leader_epoch for node in nodes if node.running and node.mode is ReplicaMode.LEADER]
    assert len(set(leading)) == len(leading)
    assert all(epoch <= controller.leader_epoch for epoch in leading)
    assert {*controller.seats.isr} <= {*controller.seats.replicas}
    assert controller.seats.leader in (-1, *controller.seats.replicas)


def assert_time_goes_on(before: HistoryStep, after: HistoryStep) -> None:
    """Hold that epochs and incarnations rise, and that a leader keeps its log and its high watermark."""
    assert before.state.now <= after.state.now
    assert before.state.controller.leader_epoch <= after.state.controller.leader_epoch
    assert before.state.controller.partition_epoch <= after.state.controller.partition_epoch
    for was, node in zip(before.state.nodes, after.state.nodes, strict=True):
        assert was.incarnation <= node.incarnation
        if was.incarnation == node.incarnation and was.running and node.running:
            assert was.leader_epoch <= node.leader_epoch
            if node.mode is was.mode is ReplicaMode.LEADER and was.leader_epoch == node.leader_epoch:
                assert was.high_watermark <= node.high_watermark
                assert node.batches[: len(was.batches)] == was.batches or was.log_start_offset < node.log_start_offset


def assert_sound(run: Replay) -> None:
    """Hold all of it in every state of a history."""
    for step in run.steps:
        for node in step.state.nodes:
            assert_a_log(node, run.rules.release)
        assert_a_cluster(step)
    for before, after in pairwise(run.steps):
        assert_time_goes_on(before, after)


@pytest.mark.parametrize("kafka", RELEASES)
def test_every_state_is_one_that_can_be(kafka: str) -> None:
    """Whatever happens; and the beginning of a history does not depend on its end."""
    chance = Random(f"{SEED} {kafka}")
    kinds: set[str] = set()
    for _ in range(COUNT):
        written = lines(chance)
        run = replay(parse("\n".join(written), "f"), kafka)
        try:
            assert_sound(run)
            cut = chance.randrange(4, len(written))
            again = replay(parse("\n".join(written[:cut]), "f"), kafka)
            assert run.steps[: len(again.steps)] == again.steps
        except AssertionError as error:
            error.add_note("\n".join(written))
            raise
        kinds.update(line.split()[0] for line in written[3:])
    rare = {"controller new", "fetch all", "overtake", "read", "reassign", "step down", "tell", "trim"}
    assert {kind.value for kind in EventKind} - kinds <= rare
