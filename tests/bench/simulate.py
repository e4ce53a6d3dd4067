"""Measures `kcheck simulate search`: `python tests/bench/simulate.py`.

Every history of two brokers with three records, one power loss and two fences is visited, with min.insync.replicas 2,
in each RELEASE, in one process and in two. Printed are states, depth, seconds, CPU seconds, states a CPU second and the
largest memory of a process. `--profile` prints instead where the time of one process goes in the first release, by
cProfile, which makes calls dearer than they are. `--compiled` compiles the simulation and Kafka's decisions by mypyc
in a temporary copy, and searches by both. Nothing is asserted: the figures stand in docs/performance.md. `--tiny`
visits next to nothing: the tests do, so that it goes on to work.
"""

import argparse
import cProfile
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from kcheck.simulation.search import Budget  # noqa: E402 - the path above comes first
from kcheck.verbs.simulate import Configuration, SearchBounds, search  # noqa: E402 - the same
from tests.bench.growth import cost  # noqa: E402 - the same
from tests.bench.limits import kcheck, shares  # noqa: E402 - the same

RELEASES = ("4.3", "3.9")
PARTS = {
    "events": ("apply", "steps"),
    "of them messages that arrive": ("_receive", "deliver_all"),
    "of them states after an event": ("state", "apply"),
    "numbers of states": ("number_by_roles", "expand"),
    "promises": ("broken", "accept"),
    "reads of consumers": ("with_reads", "steps"),
    "which events can happen": ("_possible", "steps"),
    "which states are new": ("is_new", "_advance"),
}
"""Of a search: a function, and the one that calls it."""


def main() -> None:
    """Search and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--compiled", action="store_true")
    given = parser.parse_args()
    if given.compiled:
        compiled(["--appends", "2", "--fences", "2"])
        return
    if given.profile or given.tiny:
        profile(Budget(records=1, fences=0) if given.tiny else Budget(records=2, fences=2))
    if not given.profile:
        measure(["--appends", "1", "--fences", "0"] if given.tiny else ["--appends", "3", "--fences", "2"])


def profile(budget: Budget) -> None:
    """Print which share of a search each of its PARTS takes."""
    watch = cProfile.Profile()
    watch.enable()
    found = search(Configuration(min_isr=2).beginning(), "f", SearchBounds(budget), kafka=RELEASES[0]).found
    watch.disable()
    whole, parts = shares(watch, PARTS)
    print(f"{RELEASES[0]}  {found.states} states, {found.depth} events deep, a profile of {whole:.1f} s")
    for share, part in parts:
        print(f"{share:6.1%}  {part}")


def compiled(bounds: list[str]) -> None:
    """Print the CPU time of the same search by Python and by compiled modules, the smallest of three in turns."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "kcheck", Path(folder) / "kcheck")
        modules = [
            str(path.relative_to(folder))
            for room in ("simulation", "core/replication")
            for path in (Path(folder) / "kcheck" / room).glob("*.py")
        ]
        mypyc = Path(sys.executable).parent / "mypyc"
        subprocess.run([mypyc, "--ignore-missing-imports", *modules], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        command = kcheck("simulate", "search", "--brokers", "2", "--min-isr", "2", *bounds, "--jobs", "1")
        spent: dict[str, list[float]] = {"python": [], "compiled": []}
        for _, (name, tree) in product(range(3), (("python", ROOT), ("compiled", folder))):
            process = subprocess.Popen(
                command, cwd="/", env={**os.environ, "PYTHONPATH": str(tree)}, stdout=subprocess.DEVNULL
            )
            used = os.wait4(process.pid, 0)[2]
            spent[name].append(used.ru_utime + used.ru_stime)
        fastest = {name: min(seconds) for name, seconds in spent.items()}
        print(*(f"{name} {seconds:.2f} s" for name, seconds in fastest.items()), end="")
        print(f", {fastest['python'] / fastest['compiled']:.1f} times as fast")


def measure(bounds: list[str]) -> None:
    """Search in each release, in one process and in two, and print what it costs."""
    for release, jobs in product(RELEASES, ("1", "2")):
        search = ("simulate", "search", "--brokers", "2", "--min-isr", "2", *bounds, "--kafka", release)
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
