"""Measures the start of installed and of single-file programs: `python tests/bench/start.py PROGRAM...`.

Each program runs `--version` and `inspect DIR` in turns with the others: the first time, when a single file unpacks
itself, and the best of `--runs` afterwards, CPU (user and system) and wall-clock time. Without a program it measures
the kcheck of this Python. docs/adr/0016-one-file.md has the figures. `--tiny` runs everything once.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
DIRECTORY = ROOT / "fixtures" / "brokers" / "4.3.1" / "diverged" / "broker-1"


def start(command: list[str]) -> tuple[float, float]:
    """Return the CPU and the wall-clock seconds of a command."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    return used.ru_utime + used.ru_stime, time.perf_counter() - begin


def main() -> None:
    """Print a line for each program and command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", default=[f"{sys.executable} -m kcheck"], metavar="PROGRAM")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--tiny", action="store_true", help="run everything once")
    given = parser.parse_args()
    commands = [
        (program, [*program.split(), *arguments])
        for arguments in (["--version"], ["inspect", str(DIRECTORY)])
        for program in given.programs
    ]
    for program, command in commands[: len(given.programs)]:
        print(f"{program:60} first start  CPU {start(command)[0]:6.2f} s")
    best = [(float("inf"), float("inf"))] * len(commands)
    for _ in range(1 if given.tiny else given.runs):
        taken = [start(command) for _, command in commands]
        best = [(min(a[0], b[0]), min(a[1], b[1])) for a, b in zip(best, taken, strict=True)]
    for (program, command), (cpu, wall) in zip(commands, best, strict=True):
        verb = command[len(program.split())]
        print(f"{program:60} {verb:10} CPU {cpu * 1000:6.0f} ms  wall {wall * 1000:6.0f} ms")


if __name__ == "__main__":
    main()
