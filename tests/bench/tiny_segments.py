"""Measures commands on a log dir of many tiny segments: `python tests/bench/tiny_segments.py [SEGMENTS]`.

Printed is the CPU time of each command, and how many times that is of one look: a process without kcheck that lists
each directory, asks for the status of each file, and opens and reads each `.log` and `.timeindex` once. `--against
FOLDER` runs the kcheck of another checkout in turns, and prints how many times its CPU time this one takes. The
smallest of `--runs` counts. Nothing is asserted: the figures stand in docs/performance.md. `--tiny` runs everything
once on next to nothing: the tests do, so that it goes on to work.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from kcheck.model.names import CLEAN_SHUTDOWN, PARTITION_METADATA, segment_prefix  # noqa: E402 - the path above comes first
from tests.builders import FIRST_TIMESTAMP, log_dir, partition_dir, partition_metadata, run, times  # noqa: E402 - the same

RECORDS = 40
LOOK = """
import os, sys
for folder in (entry.path for entry in os.scandir(sys.argv[1]) if entry.is_dir()):
    for entry in os.scandir(folder):
        entry.stat()
        if entry.name.endswith((".log", ".timeindex")):
            file = os.open(entry.path, os.O_RDONLY)
            os.pread(file, 4096, 0)
            os.close(file)
"""


def make(folder: Path, partitions: int, segments: int) -> None:
    """Write a broker that was stopped, with its server.properties."""
    names, end = [f"t-{number}" for number in range(partitions)], segments * RECORDS
    offsets = dict.fromkeys(names, end)
    data = log_dir(folder / "data", recovery_point=offsets, high_watermark=offsets, log_start={})
    (data / CLEAN_SHUTDOWN).write_bytes(b"{}")
    for name in names:
        batches = [run(number * RECORDS, number * RECORDS + RECORDS - 1) for number in range(segments)]
        path = partition_dir(data / name, batches, epoch_entries=[(0, 0)])
        (path / PARTITION_METADATA).write_bytes(partition_metadata())
        for number in range(segments):
            prefix = segment_prefix(number * RECORDS)
            (path / f"{prefix}.timeindex").write_bytes(times((FIRST_TIMESTAMP + 10, RECORDS - 1)))
    (folder / "server.properties").write_text(f"node.id=1\nprocess.roles=broker\nlog.dirs={data}\n")


def seconds(command: list[str], tree: Path, folder: Path) -> float:
    """Return the CPU time of a command of a checkout; its bytecode is kept in a folder."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with subprocess.Popen(
        command, cwd=tree, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("segments", nargs="?", type=int, default=10_000)
    parser.add_argument("--partitions", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--against", type=Path, help="another checkout")
    parser.add_argument("--tiny", action="store_true", help="run everything once")
    given = parser.parse_args()
    partitions, segments, runs = (2, 4, 1) if given.tiny else (given.partitions, given.segments, given.runs)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, partitions, max(segments // partitions, 2))
        kcheck, data = [sys.executable, "-m", "kcheck"], str(folder / "data")
        verbs = {"preflight": str(folder / "server.properties"), "predict": data}
        look = min(seconds([sys.executable, "-c", LOOK, data], ROOT, folder) for _ in range(runs))
        print(f"{'one look':9} {look * 1000:6.0f} ms")
        for verb, path in verbs.items():
            command = [*kcheck, verb, path, "--kafka", "4.3"]
            trees = (ROOT, given.against) if given.against else (ROOT,)
            turns = [[seconds(command, tree, folder) for tree in trees] for _ in range(runs)]
            best, *others = (min(each) for each in zip(*turns, strict=True))
            against = "".join(f", {best / other:.2f} times that of the other" for other in others)
            print(f"{verb:9} {best * 1000:6.0f} ms, {best / look:.2f} looks{against}", flush=True)


if __name__ == "__main__":
    main()
