"""Measures the start of programs: `python tests/bench/start.py PROGRAM...`.

Each program runs the commands that people wait for in turns with the others: the first time, when a single file unpacks
itself, and the best of `--runs` afterwards, CPU (user and system) and wall-clock time. Ratios are of CPU time: to
`python -c pass`, and to the first program. Without a program it measures the kcheck of this Python; an older tree is
`env PYTHONPATH=TREE python -m kcheck`. Compile both first. docs/performance.md and docs/adr/0016-one-file.md have the
figures. `--tiny` runs everything once.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
DIRECTORY = str(ROOT / "fixtures/brokers/4.3.1/stopped/broker-1")
FILE = f"{DIRECTORY}/data1/plain-1/leader-epoch-checkpoint"
COMMANDS = (
    ("--version",), ("--help",), ("explain", "KC141"), (FILE,), ("check", DIRECTORY), (DIRECTORY,),
    ("predict", DIRECTORY), ("inspect", DIRECTORY), ("repair", DIRECTORY),
)  # fmt: skip


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
    python = ("python -c pass", [sys.executable, "-c", "pass"])
    commands = [(program, [*program.split(), *words]) for words in COMMANDS for program in given.programs]
    for program, command in commands[: len(given.programs)]:
        print(f"{program:60} first start  CPU {start(command)[0]:6.2f} s")
    best = [(float("inf"), float("inf"))] * (1 + len(commands))
    for _ in range(1 if given.tiny else given.runs):
        taken = [start(command) for _, command in (python, *commands)]
        best = [(min(a[0], b[0]), min(a[1], b[1])) for a, b in zip(best, taken, strict=True)]
    (bare, _), *rest = best
    for number, ((program, command), (cpu, wall)) in enumerate(zip(commands, rest, strict=True)):
        words = " ".join(word.rpartition("/")[2] for word in command[len(program.split()) :])
        first = rest[number - number % len(given.programs)][0]
        times = f"CPU {cpu * 1000:6.0f} ms  wall {wall * 1000:6.0f} ms"
        print(f"{program:60} {words:24} {times}  {cpu / bare:5.2f} of python -c pass, {cpu / first:5.3f} of the first")


if __name__ == "__main__":
    main()
