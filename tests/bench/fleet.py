"""Measures `kcheck fleet scan` on generated partition directories: `python tests/bench/fleet.py`.

Each partition has three segments with indexes, an epoch file and its metadata; a broker has two log dirs with 200
partitions each. Printed are directories a second by wall clock and by CPU time of all processes, with one process and
with two, what a start costs is taken off; then how both grow with the number of directories. Nothing is asserted: the
figures stand in docs/performance.md.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.limits import ENVIRONMENT, peak  # noqa: E402 - the path above comes first
from tests.builders import log_dir, partition_dir, partition_metadata, run, write  # noqa: E402 - the same

OF_LOG_DIR = 200
LAYOUT = "{cluster}/{broker}/{log_dir}"


class Cost(NamedTuple):
    """Seconds by the wall clock, and of CPU time."""

    wall: float
    cpu: float


def make(folder: Path, count: int) -> None:
    """Write so many partition directories."""
    sample = partition_dir(
        folder / "sample-0", [run(0, 99), run(100, 199), run(200, 299, epoch=2)], epoch_entries=[(0, 0), (2, 200)]
    )
    files = {path.name: path.read_bytes() for path in sample.iterdir()}
    files |= {name.replace(".index", ".timeindex"): bytes(12) for name in files if name.endswith(".index")}
    files["partition.metadata"] = partition_metadata()
    shutil.rmtree(sample)
    for number in range(max(count // OF_LOG_DIR, 1)):
        names = [f"topic{at % 10}-{number * OF_LOG_DIR + at}" for at in range(min(count, OF_LOG_DIR))]
        offsets = dict.fromkeys(names, 300)
        path = folder / "c" / f"{number // 2}" / f"d{number % 2}"
        log_dir(path, broker_id=number // 2, recovery_point=offsets, high_watermark=offsets, log_start={})
        for name in names:
            write(path / name, files)


def cost(folder: Path, jobs: int, runs: int) -> tuple[Cost, int]:
    """Return the smallest cost of some scans, and the largest memory of a process of one."""
    found = []
    for number in range(runs):
        command = [sys.executable, "-m", "kcheck", "fleet", "scan", f"{folder}/{LAYOUT}", "--jobs", str(jobs)]
        command += ["--out", str(folder / "out"), "--run", f"{jobs}-{number}", "--quiet"]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT, cwd=ROOT)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
        shutil.rmtree(folder / "out")
    memory = peak([*command[:-4], "--out", str(folder / "out"), "--quiet"])
    return Cost(min(each.wall for each in found), min(each.cpu for each in found)), memory


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("counts", nargs="*", type=int, default=[4_000, 16_000])
    parser.add_argument("--runs", type=int, default=3, help="the smallest cost of so many counts")
    given = parser.parse_args()
    counts: list[int] = given.counts
    known: dict[tuple[int, int], Cost] = {}
    with tempfile.TemporaryDirectory() as folder:
        for count in (1, *counts):
            make(Path(folder) / str(count), count)
            for jobs in (1, 2):
                known[count, jobs], memory = cost(Path(folder) / str(count), jobs, given.runs)
                wall, cpu = known[count, jobs]
                line = f"{count:7} directories, {jobs} processes: {wall:6.2f} s, {cpu:6.2f} s CPU, {memory >> 20} MB"
                if count > 1:
                    start = known[1, jobs]
                    line += (
                        f"; {count / (wall - start.wall):6.0f} a second, {count / (cpu - start.cpu):6.0f} of CPU time"
                    )
                print(line, flush=True)
            print(f"{count:7} directories: two processes {known[count, 1].wall / known[count, 2].wall:.2f} times one")
        for few, many in pairwise(counts):
            grown = (known[many, 1].cpu - known[1, 1].cpu) / (known[few, 1].cpu - known[1, 1].cpu)
            print(f"{many / few:g} times the directories cost {grown:.2f} times the CPU time")


if __name__ == "__main__":
    assert os.name == "posix"
    main()
