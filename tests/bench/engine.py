"""Measures what `kcheck check` costs against a C program in the same run: `python tests/bench/engine.py [MEGABYTES]`.

Segments of batches of about 16 KiB, 1 KiB and 100 B, of that size each, are made in a temporary folder, with indexes of
an entry every 4 KiB; they are in the page cache. reference.c reads the same file and sums the same bytes. All
candidates run in turns, and the smallest user and system CPU time of each counts. Without a C compiler no ratios are
printed. Nothing here is asserted: the figures stand in docs/performance.md. `--tiny` runs everything once on next to
nothing: the tests do, so that it goes on to work.
"""

import argparse
import ctypes
import gc
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from fastcrc import crc32  # noqa: E402 - the path above comes first

from kcheck.core.releases.releases import NEWEST_TESTED, release  # noqa: E402 - the path above comes first
from kcheck.disk.local import LOCAL  # noqa: E402 - the same
from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY  # noqa: E402 - the same
from kcheck.formats.time_index import TIME_INDEX_ENTRY  # noqa: E402 - the same
from kcheck.model.depth import Depth  # noqa: E402 - the same
from kcheck.model.entries import Offset  # noqa: E402 - the same
from kcheck.model.finding import Location  # noqa: E402 - the same
from kcheck.model.names import LEADER_EPOCHS, segment_prefix  # noqa: E402 - the same
from kcheck.model.report import PartitionFilter  # noqa: E402 - the same
from kcheck.records.batch import HEADER  # noqa: E402 - the same
from kcheck.segments.segment import read_segment  # noqa: E402 - the same
from kcheck.verbs.check import ReadOptions, check  # noqa: E402 - the same
from tests.bench.limits import kcheck, peak, seconds  # noqa: E402 - the same
from tests.builders import FIRST_TIMESTAMP, batch, epochs, record, write  # noqa: E402 - the same

BATCH_SIZES = {"16 KiB": 16 << 10, "1 KiB": 1 << 10, "100 B": 100}
INDEX_INTERVAL = 4 << 10
SMALL_SIZE = 20 << 10
FLAGS: tuple[list[str], ...] = (["-msse4.2"], [])

Walk = Callable[[bytes, int], int]


class Scale(NamedTuple):
    """How much is measured."""

    batch_sizes: dict[str, int] = BATCH_SIZES
    runs: int = 7
    command_runs: int = 5
    large_count: int = 24
    small_count: int = 250
    smallest_count: int = 10_000
    growth: tuple[int, ...] = (1, 4, 16)


TINY = Scale(
    batch_sizes={"1 KiB": 1 << 10},
    runs=1,
    command_runs=1,
    large_count=2,
    small_count=2,
    smallest_count=10,
    growth=(1, 2),
)
TINY_SIZE = 128 << 10


class Cost(NamedTuple):
    """Seconds of one run."""

    cpu: float
    wall: float


def make(folder: Path, size: int, batch_size: int, *, base: int = 0) -> Path:
    """Write a segment of about `size` bytes with its indexes into a folder; batches vary by a quarter."""
    chance = random.Random(batch_size)
    pool = chance.randbytes(1 << 20)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{segment_prefix(Offset(base))}.log"
    position, offset, stamp, since = 0, base, 1_700_000_000_000, 0
    entries, times = bytearray(), bytearray()
    with path.open("wb") as file:
        while position < size:
            payload = max(int(batch_size * (0.75 + chance.random() / 2)) - HEADER.size, 8)
            begin = chance.randrange(len(pool) - payload)
            count = max(payload // 100, 1)
            stamp += 5
            body = struct.pack(">hiqqqhii", 0, count - 1, stamp, stamp + 3, -1, -1, -1, count)
            body += pool[begin : begin + payload]
            if since > INDEX_INTERVAL:
                entries += OFFSET_INDEX_ENTRY.pack(offset + count - 1 - base, position)
                times += TIME_INDEX_ENTRY.pack(stamp + 3, offset + count - 1 - base)
                since = 0
            file.write(struct.pack(">qiibI", offset, len(body) + 9, 0, 2, crc32.iscsi(body)) + body)
            total = len(body) + 21
            position, offset, since = position + total, offset + count, since + total
    last = TIME_INDEX_ENTRY.pack(stamp + 3, offset - 1 - base)
    if not times.endswith(last):
        times += last
    path.with_suffix(".index").write_bytes(entries)
    path.with_suffix(".timeindex").write_bytes(times)
    return path


def read(path: Path, *, verify: bool) -> int:
    """Return how many batches the engine finds in a segment."""
    base = Offset(int(path.stem))
    found = read_segment(
        LOCAL.directory(str(path.parent), follow=True), path.name, Location(file=str(path)), base, verify=verify
    )
    assert not found.counts
    return found.batches


def decoded(path: Path) -> int:
    """Return how many records the engine finds in a segment."""
    found = read_segment(
        LOCAL.directory(str(path.parent), follow=True),
        path.name,
        Location(file=str(path)),
        Offset(0),
        verify=True,
        decode=True,
    )
    assert found.records is not None
    assert not found.records.counts
    return found.records.decoded


def cost(function: Callable[[], object], who: int = resource.RUSAGE_SELF) -> Cost:
    """Return what one run costs, in this process or in those that it starts."""
    begin, start = resource.getrusage(who), time.perf_counter()
    function()
    wall, end = time.perf_counter() - start, resource.getrusage(who)
    return Cost(end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime, wall)


def in_turns(candidates: dict[str, Callable[[], object]], count: int) -> dict[str, Cost]:
    """Return the smallest CPU time and the smallest wall-clock time of each."""
    runs = [{name: cost(function) for name, function in candidates.items()} for _ in range(count)]
    return {name: Cost(*(min(run[name][at] for run in runs) for at in (0, 1))) for name in candidates}


def reference(folder: Path) -> Walk | None:
    """Build reference.c, and return its function; None without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        print("no cc: nothing to compare with")
        return None
    library = folder / "reference.so"
    for flags in FLAGS:
        command = [compiler, "-O3", "-shared", "-fPIC", *flags, "-o", library, Path(__file__).with_name("reference.c")]
        if subprocess.run(command, check=False, capture_output=bool(flags)).returncode == 0:
            break
    else:
        return None
    built = ctypes.CDLL(str(library))
    walk: Walk = built.walk
    built.walk.restype, built.walk.argtypes = ctypes.c_int64, (ctypes.c_char_p, ctypes.c_int)
    print(f"CRC-32C of the reference: {'SSE4.2, three parts at once' if built.is_hardware() else 'a table'}")
    return walk


def against_c(folder: Path, size: int, walk: Walk, scale: Scale) -> None:
    """Compare the engine with the reference on segments of large, middle and small batches."""
    for name, batch_size in scale.batch_sizes.items():
        path = make(folder / "indexed", size, batch_size)
        bare = folder / "bare" / path.name
        bare.parent.mkdir()
        bare.hardlink_to(path)
        file = bytes(path)
        count = walk(file, 1)
        assert count == read(path, verify=True) == read(bare, verify=True)
        found = in_turns(
            {
                "C crc": partial(walk, file, 1),
                "crc": partial(read, path, verify=True),
                "crc, no index": partial(read, bare, verify=True),
                "C headers": partial(walk, file, 0),
                "headers": partial(read, path, verify=False),
                "headers, no index": partial(read, bare, verify=False),
            },
            scale.runs,
        )
        for candidate, best in found.items():
            theirs = found["C crc" if "crc" in candidate else "C headers"]
            print(
                f"{name:>8} {candidate:20} {best.cpu * 1000:8.1f} ms CPU {best.wall * 1000:8.1f} ms"
                f" {best.cpu / count * 1e9:8.0f} ns a batch   ratio {theirs.cpu / best.cpu:5.2f} CPU"
                f" {theirs.wall / best.wall:5.2f}"
            )
        shutil.rmtree(path.parent)
        shutil.rmtree(bare.parent)


def records(folder: Path, size: int, scale: Scale) -> None:
    """Measure what records cost beyond their CRCs, of plain batches and of compressed ones."""
    for name, batch_size in scale.batch_sizes.items():
        for codec in ("none", "zstd"):
            path = make_records(folder / "records", size, batch_size, packed=codec == "zstd")
            candidates = {"records": partial(decoded, path), "crc": partial(read, path, verify=True)}
            found = in_turns(candidates, scale.runs)
            ours, crc, count = found["records"], found["crc"], decoded(path)
            print(
                f"{name:>8} {codec:4} {count:9} records {ours.cpu / count * 1e9:8.0f} ns CPU a record"
                f"   {ours.cpu / crc.cpu:5.1f} x --depth crc"
            )
            shutil.rmtree(path.parent)
        path = make_records(folder / "records", size, batch_size, packed=False)
        command_line(f"{name:>8} --depth records", path, scale.command_runs, depth="records")
        shutil.rmtree(path.parent)


def make_records(folder: Path, size: int, batch_size: int, *, packed: bool) -> Path:
    """Write a segment of real records of about 100 bytes; a few different batches again and again."""
    import cramjam

    chance = random.Random(batch_size)
    folder.mkdir(parents=True)
    path = folder / f"{segment_prefix(Offset(0))}.log"
    shapes = []
    for _ in range(50):
        count = max(int(batch_size * (0.75 + chance.random() / 2)) // 100, 1)
        values = [chance.randbytes(30).hex().encode() for _ in range(count)]
        body = b"".join(record(k, 3 * k, key=b"key-%06d" % k, value=value) for k, value in enumerate(values))
        payload = bytes(cramjam.zstd.compress(body)) if packed else body
        last = FIRST_TIMESTAMP + 3 * (count - 1)
        shapes.append(batch(0, count, payload=payload, attributes=4 if packed else 0, max_timestamp=last))
    offset = written = 0
    with path.open("wb") as file:
        while written < size:
            made = chance.choice(shapes)
            file.write(offset.to_bytes(8, "big") + made.data[8:])
            offset, written = offset + made.last_offset + 1, written + len(made.data)
    return path


def make_commits(folder: Path, count: int, *, keys: int) -> Path:
    """Write offsets committed for so many partitions: records of 70 bytes, five in a batch."""
    folder.mkdir(parents=True)
    path = folder / f"{segment_prefix(Offset(0))}.log"
    with path.open("wb") as file:
        for base in range(0, count, 5):
            payload = b"".join(
                record(
                    number,
                    key=struct.pack(">hh7sh6si", 1, 7, b"group-1", 6, b"orders", (base + number) % keys),
                    value=struct.pack(">hqihq", 3, base, 5, 0, FIRST_TIMESTAMP + base),
                )
                for number in range(5)
            )
            file.write(batch(base, 5, payload=payload).data)
    return path


def growth(folder: Path, size: int, scale: Scale) -> None:
    """Measure the command as bytes grow and as files grow: time of each, and peak memory."""
    for times in scale.growth:
        path = make(folder / "bytes", size * times // 4, BATCH_SIZES["1 KiB"])
        command_line(f"{times:2} x {size >> 22} MB of batches of 1 KiB", path, scale.command_runs)
        shutil.rmtree(path.parent)
    for times in scale.growth:
        partition = folder / "orders-0"
        for number in range(scale.small_count * times):
            made = make(partition, SMALL_SIZE, BATCH_SIZES["1 KiB"], base=number * 1000)
        write(partition, {LEADER_EPOCHS: epochs((0, 0))})
        name = f"{times:2} x {scale.small_count} segments of {made.stat().st_size >> 10} KiB"
        command_line(name, partition, scale.command_runs)
        shutil.rmtree(partition)


def smallest(folder: Path, scale: Scale) -> None:
    """Compare a check of many tiny segments with opening, reading and closing their three files."""
    for count in (1, 20):
        partition = folder / "orders-0"
        for number in range(scale.smallest_count):
            made = make(partition, count * 1000 - 500, 1000, base=number * 1000)
        write(partition, {LEADER_EPOCHS: epochs((0, 0))})
        paths = sorted(str(path) for path in partition.iterdir())
        found = in_turns({"read": partial(touch, paths), "check": partial(look, partition, 1)}, scale.runs)
        ours, theirs = (found[each].cpu / scale.smallest_count * 1e6 for each in ("check", "read"))
        print(
            f"{scale.smallest_count} segments of {made.stat().st_size / 1024:4.1f} KiB {ours:6.1f} us CPU a segment,"
            f" open, read and close {theirs:6.1f} us   ratio {ours / theirs:5.2f}"
        )
        shutil.rmtree(partition)


def touch(paths: list[str]) -> None:
    """Open, read and close each file."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        os.read(descriptor, 1 << 20)
        os.close(descriptor)


def side_by_side(folder: Path, size: int, scale: Scale) -> None:
    """Compare one process with two on a partition of many segments: wall-clock time, starts of processes included."""
    for name in ("1 KiB", "100 B"):
        partition = folder / "orders-0"
        for number in range(scale.large_count):
            made = make(partition, size // 2, BATCH_SIZES[name], base=number * 100_000_000)
        found = in_turns(
            {
                "1": partial(look, partition, 1),
                "2": partial(look, partition, 2),
                "at once": partial(look_twice, partition),
            },
            scale.runs,
        )
        one, two, at_once = (found[each].wall for each in ("1", "2", "at once"))
        print(
            f"{scale.large_count} segments of {made.stat().st_size >> 20} MB, batches of {name:>5}, {one:6.2f} s,"
            f" with --jobs 2 {two:6.2f} s   ratio {one / two:5.2f}"
            f"   two commands at once are {2 * one / at_once:5.2f} times as fast as one after the other"
        )
        shutil.rmtree(partition)


def look(partition: Path, jobs: int) -> None:
    """Run `kcheck check --depth crc` in this process and in those that it starts."""
    check(
        [str(partition)], depth=Depth.CRC, as_kind=None, wanted=PartitionFilter(), release=release(NEWEST_TESTED),
        reading=ReadOptions(jobs=jobs),
    )  # fmt: skip


def look_twice(partition: Path) -> None:
    """Run it in two processes that have nothing to do with each other: what the machine itself allows."""
    child = os.fork()
    if child == 0:
        look(partition, 1)
        os._exit(0)
    look(partition, 1)
    os.waitpid(child, 0)


def command_line(name: str, path: Path, runs: int, *, depth: str = "crc") -> None:
    """Measure `kcheck check`, start to end."""
    command = kcheck("check", "--depth", depth, "--quiet", "-o", os.devnull, str(path))
    best = min(cost(partial(seconds, command), resource.RUSAGE_CHILDREN) for _ in range(runs))
    print(f"{name:36} {best.cpu:8.2f} s CPU {best.wall:8.2f} s   peak {peak(command) >> 20} MB")


def main() -> None:
    """Measure all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("megabytes", nargs="?", type=int, default=256, help="size of each segment")
    parser.add_argument("--tiny", action="store_true", help="measure next to nothing, in seconds")
    given = parser.parse_args()
    size, scale = (TINY_SIZE, TINY) if given.tiny else (given.megabytes << 20, Scale())
    gc.set_threshold(100_000)  # As in the process of a command.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        walk = reference(folder)
        if walk is not None:
            against_c(folder, size, walk, scale)
        smallest(folder, scale)
        side_by_side(folder, size, scale)
        records(folder, size // 4, scale)
        growth(folder, size, scale)


if __name__ == "__main__":
    main()
