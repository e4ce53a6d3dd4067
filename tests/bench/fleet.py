"""Measures `kcheck fleet scan` on generated partition directories: `python tests/bench/fleet.py`.

Each partition has three segments with indexes, an epoch file and its metadata; a broker has two log dirs with 200
partitions each. Printed are directories a second by wall clock and by CPU time of all processes, with one process and
with two, what a start costs is taken off; then how both grow with the number of directories. `--partitions 500000`
measures the comparison of replicas instead: three of each partition are read from Parquet, put together, and compared;
some are behind, some have an epoch that the others do not have. `--growth 4000 40000 160000` scans so many directories
once, with `--engine spark` by Spark, and prints what each kind of process uses too; `--trees FOLDER` keeps
the directories for the next time. `--again 4000 40000`
scans so many plainly, with `--remember`, and with `--since-run` where nothing has changed, at each of the `--depths`.
`--profile 4000` prints where the CPU time of these goes, by cProfile, which makes calls dearer than they are; all steps
are in one process then. The files of a log dir are links to those of its first directory. Nothing is asserted: the
figures stand in docs/performance.md. `--tiny` does all that once with next to nothing: the tests do, so that it goes on
to work.
"""

import argparse
import cProfile
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pyarrow as pa
from pyarrow import parquet

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from kcheck.core.releases.releases import release  # noqa: E402 - the path above comes first
from kcheck.fleet.scan import local_engine  # noqa: E402 - the same
from kcheck.fleet.scan.identify import ScanOptions  # noqa: E402 - the same
from kcheck.fleet.scan.local_engine import ScanRun  # noqa: E402 - the same
from kcheck.fleet.scan.releases import ReleaseOptions  # noqa: E402 - the same
from kcheck.fleet.scan.remembered import FOLDER  # noqa: E402 - the same
from kcheck.fleet.scan.replicas import replicas_schema  # noqa: E402 - the same
from kcheck.jobs.workers import Workers  # noqa: E402 - the same
from kcheck.model.depth import Depth  # noqa: E402 - the same
from kcheck.model.names import PARTITION_METADATA  # noqa: E402 - the same
from kcheck.model.report import PartitionFilter  # noqa: E402 - the same
from tests.bench.limits import ANY, ENVIRONMENT, peak, shares  # noqa: E402 - the same
from tests.builders import (  # noqa: E402 - the same
    FIRST_TIMESTAMP,
    log_dir,
    partition_dir,
    partition_metadata,
    run,
    times,
    write,
)

OF_LOG_DIR, TOPIC_COUNT = 200, 10
LAYOUT = "{cluster}/{broker}/{log_dir}"


class Cost(NamedTuple):
    """Seconds by the wall clock, and of CPU time."""

    wall: float
    cpu: float


def make(folder: Path, count: int, *, replicas: int = 1) -> None:
    """Write so many partition directories; with `replicas`, as many brokers have a copy of each partition."""
    sample = partition_dir(
        folder / "sample-0", [run(0, 99), run(100, 199), run(200, 299, epoch=2)], epoch_entries=[(0, 0), (2, 200)]
    )
    files = {path.name: path.read_bytes() for path in sample.iterdir()}
    dates = times((FIRST_TIMESTAMP + 10, 9))
    files |= {name.replace(".index", ".timeindex"): dates for name in files if name.endswith(".index")}
    shutil.rmtree(sample)
    for number in range(max(count // OF_LOG_DIR, 1)):
        first = number // replicas * OF_LOG_DIR
        names = [f"topic{at % TOPIC_COUNT}-{first + at}" for at in range(min(count, OF_LOG_DIR))]
        offsets = dict.fromkeys(names, 300)
        broker_id, disk = divmod(number, 2) if replicas == 1 else (number % replicas, number // replicas)
        path = folder / "c" / f"{broker_id}" / f"d{disk}"
        log_dir(path, broker_id=broker_id, recovery_point=offsets, high_watermark=offsets, log_start={})
        write(path / names[0], files)
        for at, name in enumerate(names):
            (path / name).mkdir(exist_ok=True)
            for file in files if at else ():
                (path / name / file).hardlink_to(path / names[0] / file)
            metadata = path / name / PARTITION_METADATA
            if at < TOPIC_COUNT:
                metadata.write_bytes(partition_metadata(f"MkU3OEVBNTcwNTJENDM2{at}g"))
            else:
                metadata.hardlink_to(path / names[at % TOPIC_COUNT] / PARTITION_METADATA)


def cost(folder: Path, jobs: int, runs: int) -> tuple[Cost, int]:
    """Return the smallest cost of some scans, and the largest memory of a process of one."""
    found = []
    for number in range(runs):
        command = [sys.executable, "-m", "kcheck", "fleet", "scan", f"{folder}/{LAYOUT}", "--jobs", str(jobs)]
        command += ["--output-dir", str(folder / "out"), "--run", f"{jobs}-{number}", "--quiet"]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT, cwd=ROOT)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
        shutil.rmtree(folder / "out")
    memory = peak([*command[:-4], "--output-dir", str(folder / "out"), "--quiet"])
    return Cost(min(each.wall for each in found), min(each.cpu for each in found)), memory


def again(counts: list[int], depths: Sequence[Depth], runs: int) -> None:
    """Measure what `--remember` costs, and what `--since-run` saves where nothing has changed: CPU time less a start.

    The smallest of so many runs of each way counts; the first one of all is none of them.
    """
    begun: dict[Depth, dict[str, float]] = {}
    for count, depth in product((1, 1, *counts), depths):
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder), count)
            out = f"{folder}/.out"  # no log dir of the layout
            ways = {"plain": (), "remember": ("--remember",), "since": ("--since-run", f"{out}/run=remember0")}
            taken: dict[str, float] = {}
            for number, (name, options) in product(range(runs), ways.items()):
                command = [sys.executable, "-m", "kcheck", "fleet", "scan", f"{folder}/{LAYOUT}", "--jobs", "1"]
                command += ["--depth", str(depth), "--output-dir", out, "--quiet", "--fail-on", "fatal"]
                command += ["--run", f"{name}{number}", *options]
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT, cwd=ROOT)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                taken[name] = min(taken.get(name, cpu), cpu)
        if count > 1:
            own = {name: taken[name] - begun[depth][name] for name in taken}
            said = ", ".join(f"{name} {cpu:.2f} s ({cpu / own['plain']:.2f})" for name, cpu in own.items())
            print(f"{count:7} directories, {depth}: {said} of CPU time", flush=True)
        else:
            begun[depth] = taken


PARTS = {
    "identify": ("identify", "guarded"),
    "list directories": ("list_items", "guarded"),
    "    of that signatures": ("signature", "<genexpr>"),
    "look at directories": ("_scan_directory", "_scan"),
    "    of that listing, and reading files": ("read_partition", ANY),
    "    of that rules": ("check_partition", ANY),
    "    of that the next start": ("predicted", "guarded"),
    "rows of directories": ("directory_row", "scan_batches"),
    "rows as Arrow columns": ("replicas_batch", "scan_batches"),
    "look at log dirs and brokers": ("look_at_broker", "guarded"),
    "open a log dir to list it": ("open_log_dir", "asked_twice"),
    "open a log dir again": ("open_log_dir", "_look_at_broker"),
    "compare replicas": ("compare_partitions", "guarded"),
    "put replicas together": ("add", "look"),
    "write Parquet": ("write_table", ANY),
}
"""Of a scan: a function, and the one that calls it."""


def profile(count: int) -> None:
    """Print which share of the CPU time of a scan, and of one since it, each of its PARTS takes."""
    every, none = (lambda *_: True), (lambda *_: False)
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.object(local_engine, "_workers", lambda _, tick, **__: Workers(1, tick=tick)),
    ):
        make(Path(folder), count)
        for name, since in (("warm", None), ("plain", None), ("since", f"{folder}/.out/run=warm/{FOLDER}")):
            how = ScanOptions(
                Depth.CHECKPOINTS, PartitionFilter(), release(), since, remembers=name != "plain", auto=ReleaseOptions()
            )
            asked = ScanRun(name, f"{folder}/.out", how, 1, 60, lambda: 0, every, none, lambda _: None)
            watch = cProfile.Profile(time.process_time)
            watch.runcall(local_engine.scan, [f"{folder}/{LAYOUT}"], asked)
            if name == "warm":
                continue
            whole, parts = shares(watch, PARTS)
            print(f"{name}: {count} directories, a profile of {whole:.1f} s of CPU time")
            for share, part in parts:
                print(f"{share:6.1%}  {part}")


ENGINES = {"local": ("--jobs", "2"), "spark": ("--engine", "spark", "--master", "local[2]")}
_INTERVAL = 0.1


def growth(counts: list[int], engine: str, trees: Path | None = None) -> None:
    """Measure how one scan grows with the directories: time, and what each kind of process uses."""
    walls: list[float] = []
    for count in counts:
        with tempfile.TemporaryDirectory(dir=trees) as out, tree(count, trees) as folder:
            command = [sys.executable, "-m", "kcheck", "fleet", "scan", f"{folder}/{LAYOUT}", *ENGINES[engine]]
            start = time.perf_counter()
            found = used([*command, "--output-dir", out, "--quiet", "--fail-on", "fatal"])
            wall = time.perf_counter() - start
        cpu = sum(each.cpu for each in found.values())
        shown = {kind: own for kind, own in sorted(found.items()) if own.cpu > _INTERVAL}
        held = ", ".join(f"{kind} {own.cpu:.1f} s {own.memory >> 10} MB" for kind, own in shown.items())
        each = f"{cpu * 1000 / count:.3f} ms a directory"
        times = "".join(f", {wall / few:.2f} times the time" for few in walls[-1:])
        print(f"{count:7} directories by {engine}: {wall:6.1f} s, {cpu:6.1f} s CPU, {each}{times}; {held}", flush=True)
        walls.append(wall)


@contextmanager
def tree(count: int, trees: Path | None) -> Iterator[Path]:
    """Give so many directories; below `trees` they are made once, and stay."""
    if trees is None:
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder), count)
            yield Path(folder)
        return
    kept = trees / f"{count}"
    if not kept.exists():
        made = trees / f".{count}"
        make(made, count)
        made.rename(kept)
    yield kept


class Used(NamedTuple):
    """The largest resident size of a process in KiB, and seconds of CPU time."""

    memory: int = 0
    cpu: float = 0


def used(command: list[str]) -> dict[str, Used]:
    """Return what the process of a command, and each kind of those that it starts, has used.

    They are looked at ten times a second: of the CPU time of each process up to a tenth of a second is not seen.
    """
    memory, cpu = dict[str, int](), dict[str, dict[str, int]]()
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT, cwd=ROOT
    ) as own:
        while own.poll() is None:
            for process in processes(own.pid):
                with suppress(OSError, KeyError, IndexError):  # it has ended
                    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
                    name = "kcheck" if process.name == str(own.pid) else status["Name"].strip()
                    kind = "workers" if name.startswith("python") else name
                    memory[kind] = max(memory.get(kind, 0), int(status["VmHWM"].split()[0]))
                    times = (process / "stat").read_text().rpartition(")")[2].split()
                    cpu.setdefault(kind, {})[process.name] = int(times[11]) + int(times[12])
            time.sleep(_INTERVAL)
    assert own.returncode == 0, command
    ticks = os.sysconf("SC_CLK_TCK")
    return {kind: Used(size, sum(cpu[kind].values()) / ticks) for kind, size in memory.items() if kind in cpu}


def processes(number: int) -> Iterator[Path]:
    """Yield a process and all that it has started, as folders of /proc."""
    yield Path(f"/proc/{number}")
    with suppress(OSError):
        for thread in Path(f"/proc/{number}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from processes(int(child))


COMPARE = """
import sys, time, resource
import kcheck.cli.app  # as a command looks for garbage and takes memory
from pyarrow import parquet
from kcheck.core.releases.releases import release
from kcheck.fleet.scan.comparison import compare, tables_of_compared
from kcheck.fleet.scan.replica_groups import Groups
paths, began = sys.argv[2:], time.process_time()
def batches():
    for path in paths:
        yield from parquet.ParquetFile(path).iter_batches(8192)
rows = sum(batch.num_rows for batch in batches())
read, began = time.process_time() - began, time.process_time()
with Groups(sys.argv[1]) as groups:
    for batch in batches():
        groups.add(batch)
    plans = told = 0
    for found in map(tables_of_compared, compare(groups.batches(), release())):
        plans, told = plans + found["truncation_plans"].num_rows, told + found["findings"].num_rows
compared = time.process_time() - began
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
print(f"{rows // 3:7} partitions: {rows} replicas read in {read:.2f} s of CPU time; read, put together, compared "
      f"in {compared:.2f} s, {compared / read:.1f} times, {plans} plans, {told} findings; {memory} MB")
"""


def replicas(folder: Path, count: int) -> list[str]:
    """Write three replicas of each of so many partitions, broker by broker."""
    schema = replicas_schema()
    random = np.random.default_rng(7)
    epochs = random.integers(2, 12, count)
    paths = []
    for broker_id in range(30):
        own = np.flatnonzero((broker_id - np.arange(count)) % 30 % 10 == 0)
        is_behind = random.random(len(own)) < 0.005
        sizes = epochs[own] - is_behind
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        at = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
        is_last = at == np.repeat(sizes - 1, sizes)
        epoch = at * 2 + (is_last & np.repeat(random.random(len(own)) < 0.005, sizes))
        entries = pa.StructArray.from_arrays([pa.array(epoch), pa.array(at * 1000)], names=["epoch", "start_offset"])
        end = sizes * 1000 + np.where(is_behind, 0, 500 + (random.random(len(own)) < 0.2))
        size, mark = len(own), np.minimum(end, sizes * 1000 + 500)
        whole: dict[str, Any] = {
            "cluster": ["c"] * size, "topic": [f"topic-{number // 100}" for number in own], "partition": own % 100,
            "broker": [str(broker_id)] * size, "broker_id": [broker_id] * size, "log_dir": ["/mnt/data"] * size,
            "dir": [f"topic-{number // 100}-{number % 100}" for number in own], "log_start_offset": [0] * size,
            "topic_id": [f"id-{number // 100}" for number in own], "high_watermark": mark, "log_end_offset": end,
            "loaded_log_start": [0] * size, "loaded_log_end": end, "loaded_high_watermark": mark,
            "first_segment": [0] * size, "seen_epoch": sizes * 2, "told_differs": [False] * size,
            "is_read": [False] * size, "lacks_epochs": [False] * size, "compacted": [False] * size,
            "cache": pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), entries),
        }  # fmt: skip
        empty: dict[str, Any] = {
            name: [[]] * size if pa.types.is_list(schema.field(name).type) else [None] * size for name in schema.names
        }
        paths.append(str(folder / f"{broker_id:02}.parquet"))
        table = {name: whole.get(name, empty[name]) for name in schema.names}
        parquet.write_table(pa.table(table, schema=schema), paths[-1], compression="zstd")
    return paths


def compare_replicas(counts: list[int]) -> None:
    """Measure the comparison of the replicas of so many partitions."""
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            paths = replicas(Path(folder), count)
            command = [sys.executable, "-c", COMPARE, f"{folder}/runs", *paths]
            subprocess.run(command, check=True, env=ENVIRONMENT, cwd=ROOT)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("counts", nargs="*", type=int, default=[4_000, 16_000])
    parser.add_argument("--runs", type=int, default=3, help="the smallest cost of so many counts")
    parser.add_argument("--partitions", nargs="+", type=int, help="compare the replicas of so many partitions instead")
    parser.add_argument("--growth", nargs="+", type=int, help="scan so many directories once each instead")
    parser.add_argument("--again", nargs="+", type=int, help="scan so many directories again, unchanged")
    parser.add_argument("--depths", nargs="+", choices=[*Depth], default=[*Depth], help="how deep --again looks")
    parser.add_argument("--profile", type=int, help="print where the time of a scan of so many goes")
    parser.add_argument("--engine", choices=ENGINES, default="local", help="what --growth scans by")
    parser.add_argument("--trees", type=Path, help="where --growth makes the directories once, and leaves them")
    parser.add_argument("--tiny", action="store_true", help="measure next to nothing of all, in seconds")
    given = parser.parse_args()
    if given.tiny:
        for engine in ENGINES:
            growth([2, 4], engine)
        again([2], [Depth.CHECKPOINTS], 1)
        profile(4)
        compare_replicas([60])
        scans([2, 4], 1)
        return
    if given.again:
        again(given.again, [*map(Depth, given.depths)], given.runs)
        return
    if given.profile:
        profile(given.profile)
        return
    if given.growth:
        growth(given.growth, given.engine, given.trees)
        return
    if given.partitions:
        compare_replicas(given.partitions)
        return
    scans(given.counts, given.runs)


def scans(counts: list[int], runs: int) -> None:
    """Measure whole scans of so many directories, by one process and by two."""
    known: dict[tuple[int, int], Cost] = {}
    with tempfile.TemporaryDirectory() as folder:
        for count in (1, *counts):
            make(Path(folder) / str(count), count)
            for jobs in (1, 2):
                known[count, jobs], memory = cost(Path(folder) / str(count), jobs, runs)
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
