"""Measures `check` and `dump` against kafka-dump-log of the newest release: `python tests/bench/tool.py [MEGABYTES]`.

Segments that are dumped have a sixteenth of the size. Whole commands, start to end, in turns, output thrown away; the
smallest CPU time and the smallest wall-clock time of each count. The tool runs as its script would start it, without
the shell script itself. "C" is the program that `tests/bench/engine.py` compares with, without any start. It needs mvn
and java. Nothing here is asserted: the figures stand in docs/performance.md. `--tiny` runs everything once on next to
nothing: the tests do, so that it goes on to work.
"""

import argparse
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from kcheck.model.entries import Offset  # noqa: E402 - the path above comes first
from kcheck.model.names import LEADER_EPOCHS, segment_prefix  # noqa: E402 - the same
from tests.bench.engine import BATCH_SIZES, cost, make, make_records, reference  # noqa: E402 - the same
from tests.bench.limits import ENVIRONMENT, kcheck, peak  # noqa: E402 - the same
from tests.builders import FIRST_TIMESTAMP, batch, epochs, record, write  # noqa: E402 - the same
from tests.oracle.jars import JVM, java_command  # noqa: E402 - the same

HEAP = "-Xmx256M"
"""What the script gives the tool."""


class Scale(NamedTuple):
    """How much is measured."""

    batch_sizes: dict[str, int] = BATCH_SIZES
    runs: int = 3
    is_memory_measured: bool = True
    commits: int = 100_000
    segments: int = 200
    segment_size: int = 1 << 20


TINY = Scale({"1 KiB": 1 << 10}, runs=1, is_memory_measured=False, commits=100, segments=2, segment_size=10_000)
TINY_SIZE = 64 << 10


def tool(*arguments: str) -> list[str]:
    """Return the command line of kafka-dump-log: the heap of its script, no option that only shortens a start."""
    java, *rest = java_command("4.3.1", "org.apache.kafka.tools.DumpLogSegments", *arguments, quick=False)
    return [java, HEAP, *rest[len(JVM) :]]


def run(command: list[str]) -> None:
    """Run a command to its end, its output thrown away."""
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT, cwd=ROOT)


def compare(
    scale: Scale,
    name: str,
    ours: dict[str, list[str]],
    theirs: list[str],
    within: dict[str, Callable[[], object]] | None = None,
) -> None:
    """Print what the tool costs, and how many times faster is each of our commands, and what runs `within` here."""
    commands, within = {"kafka-dump-log": theirs, **ours}, within or {}
    runs = [
        {each: cost(partial(run, command), resource.RUSAGE_CHILDREN) for each, command in commands.items()}
        | {each: cost(function) for each, function in within.items()}
        for _ in range(scale.runs)
    ]
    for each in (*commands, *within):
        cpu, wall = (min(found[each][at] for found in runs) for at in (0, 1))
        theirs_cpu, theirs_wall = (min(found["kafka-dump-log"][at] for found in runs) for at in (0, 1))
        used = f"   peak {peak(commands[each]) >> 20} MB" if each in commands and scale.is_memory_measured else ""
        print(
            f"{name:>22} {each:26} {cpu:7.2f} s CPU {wall:7.2f} s   times faster {theirs_cpu / cpu:6.1f} CPU"
            f" {theirs_wall / wall:6.1f}{used}"
        )


def check(depth: str, path: Path) -> list[str]:
    """Return the command line of a check at a depth."""
    return kcheck("check", "--depth", depth, "--quiet", "-o", os.devnull, str(path))


def dumps(folder: Path, size: int, batches: str, scale: Scale) -> None:
    """Compare dumps of segments of this size."""

    def dump(path: Path, *options: str) -> list[str]:
        return kcheck("dump", *options, str(path))

    path = make(folder / "batches", size, BATCH_SIZES[batches])
    ours = {"dump, kafka": dump(path, "--format", "kafka")}
    compare(scale, f"{batches}, dump", ours, tool("--files", str(path)))
    path = make_records(folder / "records", size, BATCH_SIZES[batches], packed=False)
    ours = {
        f"--records, {name}": dump(path, "--records", "--format", name) for name in ("kafka", "json", "csv", "text")
    }
    compare(scale, f"{batches}, dump of records", ours, tool("--deep-iteration", "--files", str(path)))
    shutil.rmtree(folder)


def decoded(folder: Path, scale: Scale) -> None:
    """Compare dumps of what consumers committed: an internal topic with records of 70 bytes, five in a batch."""
    folder.mkdir()
    path = folder / f"{segment_prefix(Offset(0))}.log"
    with path.open("wb") as file:
        for base in range(0, scale.commits, 5):
            records = b"".join(
                record(
                    number,
                    key=struct.pack(">hh7sh6si", 1, 7, b"group-1", 6, b"orders", (base + number) % 50),
                    value=struct.pack(">hqihq", 3, base, 5, 0, FIRST_TIMESTAMP + base),
                )
                for number in range(5)
            )
            file.write(batch(base, 5, payload=records).data)
    ours = {
        f"--decode offsets, {name}": kcheck("dump", "--decode", "offsets", "--format", name, str(path))
        for name in ("kafka", "json", "text")
    }
    compare(scale, f"{scale.commits} commits", ours, tool("--offsets-decoder", "--files", str(path)))
    shutil.rmtree(folder)


def main() -> None:
    """Measure all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("megabytes", nargs="?", type=int, default=512, help="size of each segment")
    parser.add_argument("--tiny", action="store_true", help="measure next to nothing, in seconds")
    given = parser.parse_args()
    size, scale = (TINY_SIZE, TINY) if given.tiny else (given.megabytes << 20, Scale())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        walk = reference(folder)
        decoded(folder / "commits", scale)
        for batches, batch_size in scale.batch_sizes.items():
            path = make(folder / "indexed", size, batch_size)
            bare = folder / "bare" / path.name
            bare.parent.mkdir()
            bare.hardlink_to(path)
            ours = {
                "--depth crc": check("crc", path),
                "--depth crc, no index": check("crc", bare),
                "--depth headers": check("headers", path),
            }
            file = bytes(path)
            within = {} if walk is None else {"C crc": partial(walk, file, 1), "C headers": partial(walk, file, 0)}
            compare(scale, batches, ours, tool("--files", str(path)), within)
            shutil.rmtree(path.parent)
            shutil.rmtree(bare.parent)
            path = make_records(folder / "records", size, batch_size, packed=False)
            deep = tool("--deep-iteration", "--files", str(path))
            compare(scale, f"{batches}, each record", {"--depth records": check("records", path)}, deep)
            shutil.rmtree(path.parent)
            dumps(folder / "dumped", size // 16, batches, scale)
        partition = folder / "orders-0"
        paths = [
            make(partition, scale.segment_size, BATCH_SIZES["1 KiB"], base=number * 100_000)
            for number in range(scale.segments)
        ]
        write(partition, {LEADER_EPOCHS: epochs((0, 0))})
        compare(
            scale,
            f"{scale.segments} segments of {scale.segment_size >> 10} KiB",
            {"--depth crc": check("crc", partition)},
            tool("--files", ",".join(map(str, paths))),
        )


if __name__ == "__main__":
    main()
