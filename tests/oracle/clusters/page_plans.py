"""Plans of `kcheck recover`, followed on real brokers until `--next` says done.

`python -m tests.oracle.clusters.page_plans PAGE...` follows the plan of pages of docs/operations, such as power-loss.
It writes fixtures/incidents/after/PAGE.tar.xz: the disks after the last step.
"""

import contextlib
import functools
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import kcheck
from kcheck.core.election.progress import PlanState, SavedStep
from kcheck.core.election.steps import RecoveryAction
from kcheck.plans.progress import RecoveryProgress
from tests.docs.incidents import INCIDENTS, RECOVERED
from tests.oracle.clusters.recovered import fence, install, typed
from tests.oracle.kafka import Cluster
from tests.oracle.scenes import pack

VERSION = "4.3.1"
CONFIG = {
    "log.retention.ms": -1,
    "log.cleaner.enable": "false",
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "log.index.size.max.bytes": 4096,
}
PLAN = "plan"
METADATA = ["controller"]
DEAD = {"dead-disk": (1,), "unclean-election": (1,)}
"""The brokers that a page gives up."""
SETTLES = 4.0
"""Seconds between two answers that must be alike: a session of a broker is 3 s."""
PATIENCE = 120.0


def followed(cluster: Cluster, *dead: int) -> list[RecoveryProgress]:
    """Follow the plan for the disks of a cluster that is stopped; return what `--next` said before each step."""
    paths = [f"{number}=broker-{number}" for number in cluster.brokers if number not in dead]
    install(cluster)
    with contextlib.chdir(cluster.dir):
        answer = kcheck.recover(*paths, dead=dead, metadata=METADATA, out=PLAN)
        plan = answer.case_plans[0].folder if answer.is_held else PLAN
        asked = functools.partial(kcheck.recovery_progress, plan, *paths, metadata=METADATA)
        said = [asked()]
        while said[-1].state is PlanState.NEXT:
            at = said[-1].at if said[-1].then is None else said[-1].then
            assert at is not None
            take(cluster, said[-1].steps[at])
            said.append(settled(asked))
    return said


def settled(asked: Callable[[], RecoveryProgress]) -> RecoveryProgress:
    """Return what `--next` says twice, once it does not say wait."""
    deadline = time.monotonic() + PATIENCE
    before = asked()
    while True:
        time.sleep(SETTLES)
        now = asked()
        if now.state is not PlanState.WAIT and now.sentences == before.sentences:
            return now
        assert time.monotonic() < deadline, now.sentences
        before = now


def take(cluster: Cluster, step: SavedStep) -> None:
    """Type the commands of a step; brokers are processes of the cluster."""
    if step.kind is RecoveryAction.START:
        if not cluster.beside.alive:
            cluster.beside.start()
            time.sleep(SETTLES)
        for number in step.brokers:
            cluster[number].start()
    elif step.kind is RecoveryAction.FENCE:
        fence(cluster)
    elif step.kind is RecoveryAction.STOP:
        for number in step.brokers:
            cluster[number].stop()
    else:
        printed = typed(cluster, "\n".join(step.commands))
        assert printed.endswith("[0]"), printed


def played(page: str, folder: Path, start: Callable[..., Cluster] = Cluster) -> tuple[Cluster, list[RecoveryProgress]]:
    """Follow the plan for the incident of a page; return its brokers, which have ended, and what `followed` does."""
    kept = folder / "kept"
    INCIDENTS[f"docs/operations/{page}.md"](kept)
    log_dirs = {int(path.name.rpartition("-")[2]): len([*path.glob("data?")]) for path in kept.glob("broker-?")}
    cluster = start(
        VERSION, len(log_dirs), dir=folder / "played", log_dirs=log_dirs, broker_config=CONFIG, begins_with=kept
    )
    try:
        return cluster, followed(cluster, *DEAD.get(page, ()))
    finally:
        cluster.kill()


def main(*pages: str) -> None:
    """Write the disks after the plans of pages were followed."""
    RECOVERED.mkdir(exist_ok=True)
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            cluster, said = played(page, Path(folder))
            print(page, *(answer.sentences[0] for answer in said), sep=f"{os.linesep}  ", flush=True)
            assert said[-1].state is PlanState.DONE
            pack(cluster, RECOVERED / f"{page}.tar.xz")


if __name__ == "__main__":
    main(*sys.argv[1:])
