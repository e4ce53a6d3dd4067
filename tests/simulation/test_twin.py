"""Random histories of thirty events end in the simulator as in a slow, obvious twin."""

from random import Random

import pytest

from kcheck.simulation.replay import HistoryStep, Replay, replay
from kcheck.simulation.script import parse
from tests.oracle.ask import SEED, SWEEP
from tests.simulation.plain_cluster import PlainCluster

NAMES = "ABC"
COUNT = 150 * SWEEP
EVENTS = (
    ("append 1",) * 8 + ("fetch",) * 14
    + ("crash", "power-loss", "start", "start", "start", "fence", "elect", "elect", "checkpoint", "flush", "shrink")
)  # fmt: skip
FAMILIES = [("0.10.2", "high_watermark"), ("1.1", "kip101"), ("2.4", "epochs"), ("3.9", "fetch")]


def history(chance: Random, names: str, min_isr: int, mode: str) -> list[str]:
    """Return the lines of thirty events."""
    events = [chance.choice(EVENTS) for _ in range(30)]
    lines = [event if " " in event else f"{event} {chance.choice(names)}" for event in events]
    return [f"brokers {' '.join(names)}", f"topic min.isr={min_isr} unclean=false mode={mode}", "A leads", *lines]


def play(twin: PlainCluster, line: str) -> None:
    """Do what a line of a history says."""
    verb, _, name = line.partition(" ")
    if verb == "append":
        twin.append()
    else:
        getattr(twin, verb.replace("-", "_"))(NAMES.index(name))


def of_twin(twin: PlainCluster) -> dict[str, object]:
    """Return what both know."""
    return {
        "leader": twin.leader, "epoch": twin.epoch, "isr": sorted(twin.isr), "live": sorted(twin.live),
        "acked": twin.acked,
        "brokers": [
            {"log": [number for _, number in broker["log"]], "hw": broker["hw"], "epochs": broker["epochs"],
             "up": broker["up"], "leads": broker["role"] == "leader"} for broker in twin.brokers
        ],
    }  # fmt: skip


def of_step(step: HistoryStep) -> dict[str, object]:
    """Return the same of the simulator."""
    controller = step.state.controller
    return {
        "leader": controller.seats.leader, "epoch": controller.leader_epoch, "isr": sorted(controller.seats.isr),
        "live": sorted(controller.live), "acked": [append.acked for append in step.state.appends],
        "brokers": [
            {"log": [batch.append for batch in node.batches for _ in range(batch.base_offset, batch.end_offset)],
             "hw": node.high_watermark, "epochs": [(int(epoch), int(start)) for epoch, start in node.epochs],
             "up": node.running, "leads": node.lead is not None} for node in step.state.nodes
        ],
    }  # fmt: skip


def compare(written: list[str], run: Replay, twin: PlainCluster) -> None:
    """Hold that both are in the same state after each event."""
    for number, (line, step) in enumerate(zip(written[3:], run.steps[1:], strict=True)):
        play(twin, line)
        assert of_twin(twin) == of_step(step), "\n".join(written[: number + 4])


@pytest.mark.parametrize(("kafka", "family"), FAMILIES, ids=[row[0] for row in FAMILIES])
def test_random_histories_end_as_in_the_twin(kafka: str, family: str) -> None:
    """Logs, high watermarks, leader epochs, leader, ISR, and what producers were told; after every event."""
    chance = Random(f"{SEED} {kafka}")
    for _ in range(COUNT):
        count, min_isr = chance.choice((2, 3, 3)), chance.choice((1, 2))
        written = history(chance, NAMES[:count], min_isr, "kraft" if family == "fetch" else "zookeeper")
        run = replay(parse("\n".join(written), "f"), kafka)
        compare(written, run, PlainCluster(count, min_isr, family))


@pytest.mark.parametrize("mutant", ["M14", "high-watermark-alone", "epoch-kept", "joins_isr_in_own_epoch"])
def test_the_twin_notices_a_condition_that_is_switched_off(mutant: str) -> None:
    """In a few hundred histories at most, so that an agreement says something."""
    with pytest.raises(AssertionError):
        compare_many(mutant, 300)


def compare_many(mutant: str, count: int) -> None:
    """Compare a mutant of 2.4 with the twin of 2.4."""
    chance = Random(f"{SEED} {mutant}")
    for _ in range(count):
        lines = history(chance, NAMES, 1, "zookeeper")
        compare(lines, replay(parse("\n".join(lines), "f"), "2.4", mutant=mutant), PlainCluster(3, 1, "epochs"))
