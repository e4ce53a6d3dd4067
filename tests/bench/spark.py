"""Measures what Spark costs beside one machine: `python tests/bench/spark.py`.

The directories are those of tests/bench/fleet.py. Both engines use two processes of this machine, and scan the same
directories one after the other; what a scan of one directory takes is taken off, which is what a start costs. Nothing
is asserted: the figures stand in docs/performance.md. `--tiny` scans one directory once: the tests do, so that it goes
on to work.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.fleet import ENGINES, LAYOUT, make  # noqa: E402 - the path above comes first
from tests.bench.limits import ENVIRONMENT  # noqa: E402 - the same


def seconds(folder: Path, engine: str) -> float:
    """Return how long a scan takes."""
    command = [sys.executable, "-m", "kcheck", "fleet", "scan", f"{folder}/{LAYOUT}", *ENGINES[engine]]
    command += ["--out", str(folder / "out"), "--run", engine, "--quiet", "--fail-on", "fatal"]
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT, cwd=ROOT)
    taken = time.perf_counter() - start
    shutil.rmtree(folder / "out")
    return taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("counts", nargs="*", type=int, default=[4_000, 16_000])
    parser.add_argument("--runs", type=int, default=2, help="the smallest time of so many counts")
    parser.add_argument("--tiny", action="store_true", help="scan one directory once")
    given = parser.parse_args()
    if given.tiny:
        given.counts, given.runs = [], 1
    starts: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for count in (1, *given.counts):
            path = Path(folder) / str(count)
            make(path, count)
            taken = {name: min(seconds(path, name) for _ in range(given.runs)) for name in ENGINES}
            starts = starts or taken
            line = ", ".join(f"{name} {wall:.1f} s" for name, wall in taken.items())
            if count > 1:
                own = {name: wall - starts[name] for name, wall in taken.items()}
                line += f"; beyond a start Spark takes {own['spark'] / own['local']:.2f} times as long"
            print(f"{count:7} directories: {line}", flush=True)
            shutil.rmtree(path)


if __name__ == "__main__":
    main()
