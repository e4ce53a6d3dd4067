"""Measures what Spark costs beside one machine: `python tests/bench/spark.py`.

The directories are those of tests/bench/fleet.py. Both engines use two processes of this machine, and scan the same
directories one after the other; what a scan of one directory takes is taken off, which is what a start costs. Printed
are time and CPU time; nothing is asserted: the figures stand in docs/performance.md. `--tiny` scans one directory once:
the tests do, so that it goes on to work.
"""

import argparse
import shutil
import sys
import time
from operator import sub, truediv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.fleet import ENGINES, LAYOUT, tree, used  # noqa: E402 - the path above comes first


class Cost(NamedTuple):
    """Seconds by the wall clock, and of CPU time of all processes."""

    wall: float
    cpu: float


def cost(folder: Path, engine: str) -> Cost:
    """Return what a scan takes."""
    command = [sys.executable, "-m", "kcheck", "fleet", "scan", f"{folder}/{LAYOUT}", *ENGINES[engine]]
    command += ["--out", str(folder / "out"), "--run", engine, "--quiet", "--fail-on", "fatal"]
    start = time.perf_counter()
    cpu = sum(each.cpu for each in used(command).values())
    taken = Cost(time.perf_counter() - start, cpu)
    shutil.rmtree(folder / "out")
    return taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("counts", nargs="*", type=int, default=[4_000, 16_000])
    parser.add_argument("--runs", type=int, default=2, help="the smallest cost of so many counts")
    parser.add_argument("--trees", type=Path, help="where the directories are made once, and stay")
    parser.add_argument("--tiny", action="store_true", help="scan one directory once")
    given = parser.parse_args()
    if given.tiny:
        given.counts, given.runs = [], 1
    starts: dict[str, Cost] = {}
    for count in (1, *given.counts):
        with tree(count, given.trees) as folder:
            runs = {name: [cost(folder, name) for _ in range(given.runs)] for name in ENGINES}
        taken = {name: Cost(*map(min, zip(*costs, strict=True))) for name, costs in runs.items()}
        starts = starts or taken
        line = ", ".join(f"{name} {own.wall:.1f} s, {own.cpu:.1f} s of CPU" for name, own in taken.items())
        if count > 1:
            wall, cpu = zip(*(map(sub, taken[name], starts[name]) for name in ("spark", "local")), strict=True)
            line += (
                f"; beyond a start Spark takes {truediv(*wall):.2f} times as long, {truediv(*cpu):.2f} times the CPU"
            )
        print(f"{count:7} directories: {line}", flush=True)


if __name__ == "__main__":
    main()
