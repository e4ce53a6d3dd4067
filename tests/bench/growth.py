"""Measures how time and memory of whole commands grow with damage: `python tests/bench/growth.py`.

Each case makes a log dir of half a size and one of the full size in a temporary folder, and each verb runs once on
both. The table has the CPU time (user and system, of all processes of the command) and the peak memory of the largest
process at the full size, and how many times those of half the size they are: 2.0 is linear. `--scale 0.1` measures a
tenth of every size, `--only WORD` the cases whose name has that word, `--format json` another output. Nothing here is
asserted: the figures stand in docs/performance.md. `--tiny` makes all damage once on next to nothing, and runs
every verb on the first: the tests do, so that it goes on to work.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import zstandard  # noqa: E402 - the path above comes first

from kcheck.model.names import LEADER_EPOCHS, PARTITION_METADATA, segment_prefix  # noqa: E402 - the same
from tests.bench.limits import ENVIRONMENT, kcheck  # noqa: E402 - the same
from tests.builders import (  # noqa: E402 - the same
    FIRST_TIMESTAMP,
    batch,
    broker,
    epochs,
    log_dir,
    partition_dir,
    partition_metadata,
    readable_run,
    run,
    times,
    write,
)
from tests.record_bytes import batch_of, record  # noqa: E402 - the same

TINY = 1 / 50_000
EPOCH_BYTES, EPOCH_BYTES_READ = 64 << 20, 2_000_000
"""The sizes of epoch files: kcheck refuses the former, and still reads the latter."""
TORN = b"torn"
PROPERTIES = "server.properties"
"""Beside a log dir: what `preflight` takes."""
PLACE = "{place}"
"""In the arguments of a command: a file that it may write."""

_MEASURE = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
last = process.stderr.read()[-1000:]
_, status, used = os.wait4(process.pid, 0)
if os.waitstatus_to_exitcode(status) not in (0, 1, 3) or b"Traceback" in last:
    sys.exit(last.decode())
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
"""
_VERBS = (("PATH", ()), ("check", ()), ("predict", ()), ("repair", ("-o", PLACE)), ("inspect", ()))


class Cost(NamedTuple):
    """What one run of a command took."""

    seconds: float
    """User and system CPU time."""
    megabytes: float
    """The largest resident size of a process."""


class Case(NamedTuple):
    """Damage of any size."""

    name: str
    size: int
    make: Callable[[Path, int], object]
    verbs: tuple[tuple[str, tuple[str, ...]], ...] = _VERBS


def cost(command: list[str]) -> Cost:
    """Run a command once, started by a small process, whose own size counts too."""
    measure = [sys.executable, "-c", _MEASURE, *command]
    spent, peak = subprocess.check_output(measure, text=True, cwd=ROOT, env=ENVIRONMENT).split()
    return Cost(float(spent), int(peak) / 1024)


def broken_partitions(path: Path, count: int) -> None:
    """Make partitions with a torn tail, an unreadable epoch file, a recovery point above the log end, or no index."""
    names = [f"t-{number}" for number in range(count)]
    points = {name: 900 if number % 4 == 2 else 100 for number, name in enumerate(names)}
    log_dir(path, recovery_point=points, high_watermark=dict.fromkeys(names, 90), log_start={})
    batches = readable_run(0, 99)
    for number, name in enumerate(names):
        tail, every = (TORN if number % 4 == 0 else b""), (None if number % 4 == 3 else 1)
        partition_dir(path / name, [batches], tail=tail, index_every=every)
        if number % 4 == 1:
            write(path / name, {LEADER_EPOCHS: b"0\n2\n0 0\n"})


def stray_files(folder: Path, count: int) -> None:
    """Make empty files whose names no broker knows."""
    for number in range(count):
        os.close(os.open(folder / f"copy-of-something-{number}.bak", os.O_CREAT | os.O_WRONLY))


def strays_of_log_dir(path: Path, count: int) -> None:
    """Make a healthy partition, and strays beside it."""
    stray_files(broker(path, readable_run(0, 99)), count)


def strays_of_partition(path: Path, count: int) -> None:
    """Make a healthy partition with strays in it."""
    stray_files(broker(path, readable_run(0, 99)) / "t-0", count)


def epoch_file(path: Path, lines: Iterable[bytes]) -> None:
    """Make a partition with these lines in its epoch file; the count is right."""
    entries = list(lines)
    broker(path, readable_run(0, 99))
    write(path / "t-0", {LEADER_EPOCHS: b"0\n%d\n" % len(entries) + b"".join(entries)})


def epochs_in_order(path: Path, size: int) -> None:
    """Make an epoch file in which all is well but its size."""
    epoch_file(path, (b"%d %d\n" % (number, number) for number in range(size // 16)))


def short_epochs(path: Path, size: int) -> None:
    """Make an epoch file of the shortest lines that can be read."""
    epoch_file(path, [b"0 0\n"] * (size // 4))


def epochs_refused(path: Path, size: int) -> None:
    """Make an epoch file of the shortest lines that cannot be read."""
    epoch_file(path, [b"x\n"] * (size // 2))


def segment(path: Path, data: bytes, end: int) -> None:
    """Make a partition of one segment, whose shutdown was not clean."""
    log_dir(path, clean=False, recovery_point={"t-0": 0}, high_watermark={"t-0": end}, log_start={})
    write(path / "t-0", {f"{segment_prefix(0)}.log": data, LEADER_EPOCHS: epochs((0, 0))})


def empty_batches(path: Path, count: int) -> None:
    """Make a segment of batches without records, as compaction leaves them."""
    made = (batch(offset, 0, last_offset=offset).data for offset in range(count))
    segment(path, b"".join(made), count)


def empty_frames(path: Path, count: int) -> None:
    """Make a segment of batches whose records are zstd frames of no bytes: one in each, then many in one."""
    frame = zstandard.ZstdCompressor().compress(b"")
    made = [batch(offset, attributes=4, payload=frame).data for offset in range(count // 2)]
    made.append(batch(count // 2, attributes=4, payload=frame * count * 5).data)
    segment(path, b"".join(made), count // 2 + 1)


def torn_segments(path: Path, count: int) -> None:
    """Make a partition of segments that each end in a torn batch and have no index: findings, and operations."""
    log_dir(path, clean=False, recovery_point={"t-0": 0}, high_watermark={"t-0": count}, log_start={})
    files = {f"{segment_prefix(base)}.log": batch(base).data + TORN for base in range(count)}
    write(path / "t-0", {**files, LEADER_EPOCHS: epochs((0, 0))})


def metadata_log(path: Path, count: int) -> None:
    """Make a healthy partition of a KRaft broker whose cluster has so many partitions, a hundred of each topic."""
    broker(path, readable_run(0, 99))
    cluster_metadata(path, count, brokers=50)


def stopped_broker(path: Path, count: int) -> None:
    """Make a KRaft broker that stopped cleanly, with so many healthy partitions, which its cluster places there."""
    ids = {f"topic-{n // 100}-{n % 100}": urlsafe_b64encode(topic_id(n // 100))[:22].decode() for n in range(count)}
    offsets = dict.fromkeys(ids, 300)
    log_dir(path, recovery_point=offsets, high_watermark=offsets, log_start={})
    segments = [run(0, 99), run(100, 199), run(200, 299, epoch=2)]
    sample = partition_dir(path.parent / "sample-0", segments, epoch_entries=[(0, 0), (2, 200)])
    files = {file.name: file.read_bytes() for file in sample.iterdir()}
    dates = times((FIRST_TIMESTAMP + 10, 9))
    files |= {name.replace(".index", ".timeindex"): dates for name in files if name.endswith(".index")}
    for name, base64_id in ids.items():
        write(path / name, {**files, PARTITION_METADATA: partition_metadata(base64_id)})
    cluster_metadata(path, count, brokers=3)
    write(path.parent, {PROPERTIES: f"node.id=1\nprocess.roles=broker\nlog.dirs={path}\n".encode()})


def topic_id(topic: int) -> bytes:
    """Return the id of a topic in the metadata of the cluster."""
    return (topic + 1000).to_bytes(16, "big")


def cluster_metadata(path: Path, count: int, *, brokers: int) -> None:
    """Make the metadata log of a cluster of so many partitions, three replicas each, a hundred of each topic."""
    batches, offset = [], 0
    for topic in range(max(1, count // 100)):
        name = b"topic-%d" % topic
        values = [b"\1\2\0" + bytes([len(name) + 1]) + name + topic_id(topic) + b"\0"]
        for number in range(min(count, 100)):
            replicas = b"\4" + b"".join((1 + (topic + number + at) % brokers).to_bytes(4, "big") for at in range(3))
            epochs_and_directories = bytes(8) + b"\4" + b"\7" * 48
            values.append(
                b"\1\3\1" + number.to_bytes(4, "big") + topic_id(topic) + replicas * 2 + b"\1\1" + replicas[1:5]
                + epochs_and_directories + b"\0"
            )  # fmt: skip
        body = b"".join(record(at, None, value) for at, value in enumerate(values))
        batches.append(batch_of(body, len(values), base_offset=offset))
        offset += len(values)
    write(path / "__cluster_metadata-0", {f"{segment_prefix(0)}.log": b"".join(batches)})
    write(path, {"meta.properties": b"version=1\nnode.id=1\ncluster.id=c\ndirectory.id=MkU3OEVBNTcwNTJENDM2Qg\n"})


_WITH_RECORDS = (*_VERBS[:1], ("check", ()), ("check", ("--depth", "records")), *_VERBS[2:])
CASES = (
    Case("broken partitions", 10_000, broken_partitions, (*_VERBS, ("repair", ("--accept-loss", "-o", PLACE)))),
    Case("stray files in a log dir", 1_000_000, strays_of_log_dir),
    Case("stray files in a partition", 1_000_000, strays_of_partition, (*_VERBS, ("repair", ("--tidy", "-o", PLACE)))),
    Case("bytes of epoch lines in order", EPOCH_BYTES_READ, epochs_in_order),
    Case("bytes of the shortest epoch lines", EPOCH_BYTES_READ, short_epochs),
    Case("bytes of unreadable epoch lines", EPOCH_BYTES_READ, epochs_refused),
    Case("bytes of epoch lines in order, refused", EPOCH_BYTES, epochs_in_order),
    Case("bytes of the shortest epoch lines, refused", EPOCH_BYTES, short_epochs),
    Case("empty batches", 1_000_000, empty_batches, _WITH_RECORDS),
    Case("empty zstd frames in batches, five times as many in one", 100_000, empty_frames, _WITH_RECORDS),
    Case(
        "partitions in the metadata of the cluster",
        100_000,
        metadata_log,
        (("cluster", ()), ("cluster", ("--changes", "topic-0-0")), ("check", ()), ("predict", ())),
    ),
    Case(
        "partitions of a broker that stopped cleanly",
        2_000,
        stopped_broker,
        (("check", ("--depth", "checkpoints")), ("predict", ()), ("preflight", ())),
    ),
    Case("torn segments", 10_000, torn_segments, (*_VERBS, ("repair", ("--accept-loss", "-o", PLACE)))),
)


def measure(case: Case, scale: float, output_format: str) -> None:
    """Print a row for each verb of a case."""
    size = max(2, int(case.size * scale))
    with tempfile.TemporaryDirectory() as folder:
        place = str(Path(folder) / "plan")
        paths = [Path(folder) / "half" / "d", Path(folder) / "full" / "d"]
        for path, count in zip(paths, (size // 2, size), strict=True):
            case.make(path, count)
        for verb, options in case.verbs:
            arguments = ["--format", output_format, *(place if option is PLACE else option for option in options)]
            targets = [path.parent / PROPERTIES if verb == "preflight" else path for path in paths]
            half, full = (
                cost(kcheck(*([] if verb == "PATH" else [verb]), str(path), *arguments)) for path in targets
            )  # fmt: skip
            name = " ".join((verb, *(option for option in options if option not in (PLACE, "-o"))))
            growth = full.seconds / half.seconds, full.megabytes / half.megabytes
            print(
                f"| {size:,} {case.name} | `{name}` | {full.seconds:.1f} s | {full.megabytes:.0f} MB |"
                f" {growth[0]:.1f} | {growth[1]:.1f} |",
                flush=True,
            )


def main() -> None:
    """Measure all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tiny", action="store_true", help="measure next to nothing, in seconds")
    parser.add_argument("--scale", type=float, default=1.0, help="a fraction of the sizes")
    parser.add_argument("--only", default="", help="only the cases with this word in their name")
    parser.add_argument("--format", default="text", choices=("text", "json"), help="the output of the commands")
    chosen = parser.parse_args()
    print("| Damage | Verb | CPU time | Peak memory | Times the CPU time of half | Times its memory |")
    print("|---|---|---|---|---|---|")
    for case in CASES:
        if chosen.only in case.name:
            few = case._replace(verbs=case.verbs[-1:]) if chosen.tiny and case is not CASES[0] else case
            measure(few, TINY if chosen.tiny else chosen.scale, chosen.format)


if __name__ == "__main__":
    main()
