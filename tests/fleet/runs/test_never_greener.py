"""`kcheck elect --from RUN` and `recover --from RUN` are never greener than the same commands on the disks.

They begin with the same steps, or lead to the disks.
"""

import json
import tarfile
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Ended, kcheck
from tests.fleet.runs.test_elect import CLUSTERS
from tests.fleet.scan.test_cluster_metadata import named
from tests.oracle.incidents import kept

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
_INCIDENTS = [*sorted(kept.PLACE.glob("*.tar.xz")), *sorted(kept.PLACE.glob("*/*.tar.xz"))]
_RANKS = {"proven": 0, "not-seen": 1, "refuted": 2}
_COSTS = ("committed", "records")


def _open(answer: Any) -> dict[tuple[object, ...], int]:
    """Return how bad each premise is that is not proven."""
    ranks: dict[tuple[object, ...], int] = {}
    for row in answer.get("premises", ()):
        key = (row["id"], row["broker_id"], row["partition"])
        ranks[key] = max(ranks.get(key, 0), _RANKS[row["status"]])
    return {key: rank for key, rank in ranks.items() if rank}


def _costs(answer: Any) -> dict[tuple[str, str], float]:
    """Return what each course of an answer loses at most; more than anything if that is not known, or not all led."""
    return {
        (row["name"], name): inf if row["offline_partitions"] else _upper(row["lost"], name)
        for row in answer.get("scenarios", ())
        for name in _COSTS
    }


def _upper(lost: Any, name: str) -> float:
    bound = lost.get(f"{name}_at_most".removeprefix("records_"))
    most = bound if lost[name] is None else lost[name]
    return inf if most is None else float(most)


def greener(folder: Path, out: Path) -> Iterator[tuple[object, ...]]:
    """Yield what the commands say of disks, and not of a run of them. Both have the same log dirs."""
    dirs = sorted(str(path) for path in folder.glob("*/*") if path.is_dir() and path.name != "version-2")
    kcheck("fleet", "scan", *dirs, "--output-dir", out, "--run", "r", "--depth", "crc", "--min-coverage", "0")
    answers = {name: (kcheck(name, *dirs, "--format", "json"), _of_run(name, out)) for name in ("elect", "recover")}
    for name, (disks, run) in answers.items():
        if disks.code <= 1:
            yield from ((name, "code", disks.code, run.code) for _ in range(disks.code > run.code))
    yield from _other_steps(*answers["recover"])
    disks, run = (json.loads(done.out) if done.code <= 1 else {} for done in answers["elect"])
    of_run = _open(run)
    # After a repair the disks have other premises. A run of disks with two cluster ids decides two clusters.
    if not disks.get("repairs") and "clusters" not in run:
        yield from (key for key, rank in _open(disks).items() if of_run.get(key, 0) < rank and run)
    costs = _costs(run)
    yield from ((key, cost, costs[key]) for key, cost in _costs(disks).items() if costs.get(key, inf) < cost)


def _other_steps(disks: Ended, run: Ended) -> Iterator[tuple[object, ...]]:
    """Yield the first steps by a run and by the disks if they differ, unless the run leads to the disks."""
    if disks.code <= 1 >= run.code:
        (cluster, *others) = json.loads(run.out)["clusters"]
        expected, found = ([step["title"] for step in row["steps"]] for row in (json.loads(disks.out), cluster))
        if not others and found != expected[:3] and not "".join(found).startswith("Plan by the disks"):
            yield "steps", expected[:3], found


def _of_run(name: str, out: Path) -> Ended:
    return kcheck(name, "--from", out / "run=r", "--format", "json")


@pytest.mark.sample(3)
@pytest.mark.parametrize("path", CLUSTERS, ids=named)
def test_a_run_is_never_greener_than_the_disks(path: Path, tmp_path: Path) -> None:
    """Each open premise, exit code and cost of every fixture."""
    assert [] == [*greener(path, tmp_path)]


@pytest.mark.sample(4)
@pytest.mark.parametrize("archive", _INCIDENTS, ids=lambda path: path.name.split(".tar")[0])
def test_nor_of_an_incident(archive: Path, tmp_path: Path) -> None:
    """Each has another damage."""
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path / "incident", filter="data")
    assert [] == [*greener(tmp_path / "incident", tmp_path / "out")]
