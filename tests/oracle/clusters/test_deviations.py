"""An operator deviates from the plan for a power loss, on real brokers: `--next` goes on, stops or plans again.

It says where the cluster differs, and what the present disks would lose; it never says who did what wrong.
"""

import contextlib
import functools
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import kcheck
from kcheck.core.election.progress import PlanState, SavedStep
from kcheck.plans.progress import RecoveryProgress
from tests.docs.incidents import INCIDENTS
from tests.oracle.clusters.page_plans import CONFIG, METADATA, SETTLES, VERSION, settled, take
from tests.oracle.clusters.recovered import install, typed
from tests.oracle.kafka import Cluster

pytestmark = pytest.mark.oracle

BROKERS = ["1=broker-1", "2=broker-2", "3=broker-3"]
BLAME = re.compile(r"\b(you|your|wrong|should have|must not|mistake|forgot|fault)\b", re.IGNORECASE)
Deviation = Callable[[Cluster, Sequence[SavedStep]], None]


class Asked(NamedTuple):
    """What `--next` says after a deviation."""

    state: PlanState
    at: int | None
    """The place of the step that is open; None if a stop has none."""
    words: str
    """A part of the first sentence."""


def _to(cluster: Cluster, steps: Sequence[SavedStep]) -> None:
    for step in steps:
        take(cluster, step)


def third_first(cluster: Cluster, steps: Sequence[SavedStep]) -> None:
    """Start broker 3 instead of broker 1."""
    _to(cluster, steps[:2])
    cluster[3].start()


def all_at_once(cluster: Cluster, steps: Sequence[SavedStep]) -> None:
    """Start all brokers at once."""
    _to(cluster, steps[:2])
    for broker in cluster.brokers.values():
        broker.spawn()
    for broker in cluster.brokers.values():
        broker.wait_started()


def no_election(cluster: Cluster, steps: Sequence[SavedStep]) -> None:
    """Stop broker 1 and start broker 2 without the election between."""
    _to(cluster, [*steps[:3], *steps[4:6]])


def elected_twice(cluster: Cluster, steps: Sequence[SavedStep]) -> None:
    """Type the command of the election again; start a broker that runs."""
    _to(cluster, steps[:4])
    assert typed(cluster, "\n".join(steps[3].commands)).endswith("[0]")


def started_twice(cluster: Cluster, steps: Sequence[SavedStep]) -> None:
    """Restart a broker that has started."""
    _to(cluster, steps[:3])
    cluster[1].stop()
    cluster[1].start()


def moved_aside(cluster: Cluster, steps: Sequence[SavedStep]) -> None:
    """Move the best copy of a partition away by hand."""
    _to(cluster, steps[:1])
    (place,) = (path for path in (cluster.dir / "broker-2").glob("data*/orders-1"))
    shutil.move(place, cluster.dir / "orders-1-of-2")


def old_copy(cluster: Cluster, steps: Sequence[SavedStep]) -> None:
    """Put the disk of broker 1 in the place of the disk of broker 2."""
    _to(cluster, steps[:1])
    for data in (cluster.dir / "broker-2").glob("data?"):
        shutil.rmtree(data)
        shutil.copytree(cluster.dir / "broker-1" / data.name, data)


CASES: tuple[tuple[Deviation, Asked], ...] = (
    (third_first, Asked(PlanState.STOP, None, "the plan has broker 1")),
    (all_at_once, Asked(PlanState.STOP, None, "the plan has broker")),
    (no_election, Asked(PlanState.STOP, None, "has no leader, and no later step of the plan elects one")),
    (elected_twice, Asked(PlanState.NEXT, 4, "Go on with step 5 of 9. Stop broker 1")),
    (started_twice, Asked(PlanState.NEXT, 3, "Go on with step 4 of 9. Let broker 1 lead ")),
    (moved_aside, Asked(PlanState.STOP, None, "orders-1 of broker 2 ends at offset 0")),
    (old_copy, Asked(PlanState.STOP, None, "broker 2")),
)


@pytest.mark.parametrize(
    ("deviate", "asked"),
    [
        pytest.param(deviate, asked, id=deviate.__name__, marks=[pytest.mark.whole] * (deviate is not third_first))
        for deviate, asked in CASES
    ],
)
def test_after_a_deviation(deviate: Deviation, asked: Asked, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """What can go on goes on; otherwise it stops with a decision for what is there now, and blames nobody."""
    kept = tmp_path / "kept"
    INCIDENTS["docs/operations/power-loss.md"](kept)
    log_dirs = {int(path.name.rpartition("-")[2]): len([*path.glob("data?")]) for path in kept.glob("broker-?")}
    cluster = start(VERSION, 3, dir=tmp_path / "played", log_dirs=log_dirs, broker_config=CONFIG, begins_with=kept)
    install(cluster)
    try:
        with contextlib.chdir(cluster.dir):
            kcheck.recover(*BROKERS, metadata=METADATA, out="plan")
            ask = functools.partial(kcheck.recovery_progress, "plan", *BROKERS, metadata=METADATA)
            deviate(cluster, ask().steps)
            time.sleep(SETTLES)
            said: RecoveryProgress = settled(ask)
    finally:
        cluster.kill()
    text = os.linesep.join(said.sentences)
    assert said.state is asked.state, text
    assert asked.words in said.sentences[0]
    assert BLAME.search(text) is None
    if said.state is PlanState.STOP:
        assert said.sentences[1] == "From what is there now:"
        assert said.sentences[2].startswith("Starting everything now: ")
        assert said.next_command is not None
        assert said.next_command.startswith("kcheck recover 1=broker-1")
    else:
        assert said.at == asked.at
