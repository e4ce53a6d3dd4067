"""Measures `kcheck simulate --search`: `python tests/bench/simulate.py`.

Every history of two brokers with three records, one power loss and two fences is visited, with min.insync.replicas 2,
in each RELEASE, in one process and in two. Printed are states, depth, seconds, CPU seconds, states a CPU second and the
largest memory of a process. Nothing is asserted: the figures stand in docs/performance.md. `--tiny` visits next to
nothing: the tests do, so that it goes on to work.
"""

import argparse
import json
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.growth import cost  # noqa: E402 - the path above comes first
from tests.bench.limits import kcheck  # noqa: E402 - the same

RELEASES = ("4.3", "3.9")


def main() -> None:
    """Search and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true")
    tiny = parser.parse_args().tiny
    bounds = ["--records", "1", "--fences", "0"] if tiny else ["--records", "3", "--fences", "2"]
    for release, jobs in product(RELEASES, ("1", "2")):
        search = ("simulate", "--search", "--brokers", "2", "--min-isr", "2", *bounds, "--kafka", release)
        command = kcheck(*search, "--jobs", jobs)
        began = time.monotonic()
        spent = cost(command)
        elapsed = time.monotonic() - began
        # A release that breaks a promise ends with 1.
        done = subprocess.run([*command, "--format", "json"], cwd=ROOT, stdout=subprocess.PIPE, check=False)
        said = json.loads(done.stdout)
        found = "a history" if done.returncode else "nothing"
        print(
            f"{release}  --jobs {jobs}  {found} found, {said['states']} states, {said['depth']} events deep, "
            f"{elapsed:.1f} s, CPU {spent.seconds:.1f} s, "
            f"{said['states'] / spent.seconds:.0f} states a second, {spent.megabytes:.0f} MB"
        )


if __name__ == "__main__":
    main()
