"""Measures where people wait, against an earlier commit: `python tests/bench/waiting.py [COMMIT]`.

Each command runs in turns with the same one of the commit, which `git archive` unpacks in a temporary folder. The
smallest CPU time (user and system, of all processes) of each counts. Starts are compared with `python -c pass` too.
Nothing here is asserted: docs/performance.md has the figures. `--tiny` runs everything once on next to nothing.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.fleet import LAYOUT, make  # noqa: E402 - the path above comes first
from tests.bench.growth import stopped_broker  # noqa: E402 - the same
from tests.bench.limits import ENVIRONMENT  # noqa: E402 - the same
from tests.bench.log_lines import usual, written  # noqa: E402 - the same

FILE = ROOT / "fixtures" / "brokers" / "4.3.1" / "stopped" / "broker-1"
COMMIT = "e79a117"


def cpu(command: Sequence[str], tree: Path) -> float:
    """Return the CPU seconds of a command that imports kcheck from a folder."""
    environment = {**ENVIRONMENT, "PYTHONPATH": str(tree)}
    process = subprocess.Popen(command, env=environment, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 1, 3), said.decode()
    assert b"Traceback" not in said, said.decode()
    return used.ru_utime + used.ru_stime


def in_turns(commands: Sequence[tuple[Sequence[str], Path]], runs: int) -> list[float]:
    """Return the smallest CPU time of each command."""
    every = [[cpu(command, tree) for command, tree in commands] for _ in range(runs)]
    return [min(of_one) for of_one in zip(*every, strict=True)]


def main() -> None:
    """Print a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?", default=COMMIT)
    parser.add_argument("--tiny", action="store_true", help="once, next to nothing")
    given = parser.parse_args()
    runs, count, directories, size = (1, 2, 2, 10_000) if given.tiny else (7, 1500, 10_000, 20_000_000)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before, broker, fleet = folder / "before", folder / "broker" / "d", folder / "fleet"
        before.mkdir()
        archive = subprocess.run(
            ["git", "archive", given.commit, "kcheck"], cwd=ROOT, capture_output=True, check=not given.tiny
        ).stdout
        if archive:
            subprocess.run(["tar", "-x", "-C", before], input=archive, check=True)
        trees = (ROOT, before if archive else ROOT)  # Without a history it compares the tree with itself.
        stopped_broker(broker, count)
        make(fleet, directories)
        log = written(folder / "server.log", size, usual)
        python = [sys.executable, "-c", "pass"]
        checkpoint = next(FILE.rglob("leader-epoch-checkpoint"))
        for arguments in (["--help"], ["explain", "KC141"], [str(checkpoint)]):
            ours, base = in_turns([([sys.executable, "-m", "kcheck", *arguments], ROOT), (python, ROOT)], runs * 3)
            what = " ".join(arguments) if len(arguments) > 1 or arguments[0].startswith("-") else "FILE"
            print(f"{what:40} {ours * 1000:8.1f} ms   {ours / base:5.2f} times python -c pass", flush=True)
        (seconds,) = in_turns([([sys.executable, "-m", "kcheck", "explain", str(log)], ROOT)], runs)
        print(f"{'explain LOG, 20 MB':40} {seconds:8.2f} s", flush=True)
        scans = [
            ["fleet", "scan", f"{fleet}/{LAYOUT}", "--jobs", "1", "--quiet", "--fail-on", "fatal", "--depth", depth]
            for depth in ("checkpoints", "headers")
        ]
        targets = [str(broker)], ["check", str(broker)], ["predict", str(broker)]
        for arguments in (*targets, *scans):
            both = []
            for at, tree in enumerate(trees):
                command = [sys.executable, "-m", "kcheck", *arguments]
                if arguments[0] == "fleet":
                    command += ["--out" if at and archive else "--output-dir", f"{folder}/out-{at}"]
                both.append((command, tree))
            ours, theirs = in_turns(both, 1 if arguments[0] == "fleet" else runs)
            what = (
                f"fleet scan, {arguments[-1]}" if arguments[0] == "fleet" else arguments[0] if arguments[1:] else "PATH"
            )
            each = f"   {ours / directories * 1000:.3f} ms a directory" if arguments[0] == "fleet" else ""
            print(f"{what:40} {ours:8.2f} s  {theirs:8.2f} s   ratio {ours / theirs:5.2f}{each}", flush=True)


if __name__ == "__main__":
    main()
