"""Measures `check` and `dump` against kafka-dump-log of the newest release: `python tests/bench/tool.py [MEGABYTES]`.

Segments that are dumped have a sixteenth of the size; `--only dumps` measures only these. Whole commands, start to
end, in turns, output thrown away; the smallest CPU time and the smallest wall-clock time of each count. The tool runs
as its script would start it, without the shell script itself. "C" is the program that `tests/bench/engine.py` compares
with, without any start. It needs mvn and java. Nothing here is asserted: the figures stand in docs/performance.md.
`--tiny` runs everything once on next to nothing: the tests do, so that it goes on to work.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from kcheck.model.names import LEADER_EPOCHS  # noqa: E402 - the path above comes first
from tests.bench.engine import BATCH_SIZES, Walk, cost, make, make_commits, make_records, reference  # noqa: E402 - the same
from tests.bench.limits import ENVIRONMENT, kcheck, peak  # noqa: E402 - the same
from tests.builders import epochs, write  # noqa: E402 - the same
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


def decoded(folder: Path, scale: Scale, *, keys: int) -> None:
    """Compare dumps of what consumers committed for so many partitions."""
    path = make_commits(folder, scale.commits, keys=keys)
    ours = {
        f"--decode offsets, {name}": kcheck("dump", "--decode", "offsets", "--format", name, str(path))
        for name in ("kafka", "json", "text")
    }
    compare(scale, f"{scale.commits} commits, {keys} keys", ours, tool("--offsets-decoder", "--files", str(path)))
    shutil.rmtree(folder)


def checks(folder: Path, size: int, batches: str, scale: Scale, walk: Walk | None) -> None:
    """Compare checks of segments of this size."""
    batch_size = BATCH_SIZES[batches]
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
    path = make_records(folder / "records", size, batch_size, packed=False)
    deep = tool("--deep-iteration", "--files", str(path))
    compare(scale, f"{batches}, each record", {"--depth records": check("records", path)}, deep)
    shutil.rmtree(folder)


def small_segments(folder: Path, scale: Scale) -> None:
    """Compare checks of a partition of small segments."""
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


def main() -> None:
    """Measure all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("megabytes", nargs="?", type=int, default=512, help="size of each segment")
    parser.add_argument("--tiny", action="store_true", help="measure next to nothing, in seconds")
    parser.add_argument("--only", choices=("checks", "dumps"), help="measure only these commands")
    parser.add_argument("--commits", type=int, default=Scale().commits, help="number of commits that are decoded")
    given = parser.parse_args()
    size, scale = (TINY_SIZE, TINY) if given.tiny else (given.megabytes << 20, Scale(commits=given.commits))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.only != "checks":
            decoded(folder / "commits", scale, keys=50)
            decoded(folder / "compacted", scale, keys=scale.commits)
            for batches in scale.batch_sizes:
                dumps(folder / "dumped", size // 16, batches, scale)
        if given.only != "dumps":
            walk = reference(folder)
            for batches in scale.batch_sizes:
                checks(folder / "checked", size, batches, scale, walk)
            small_segments(folder, scale)


if __name__ == "__main__":
    main()
