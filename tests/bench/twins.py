"""Measures what each fast path saves of a whole command: `python tests/bench/twins.py`.

Four answers are computed in two ways: one for what is frequent, one for all the rest. Each command runs with its fast
path and without, in turns, from start to end. Printed are the smallest CPU times of all its processes, and the share
that the fast path saves. docs/adr has the figures and the decisions. `--tiny` runs everything once on next to nothing,
and compares what check and dump write: the tests do, so that it goes on to work.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from kcheck.model.names import LEADER_EPOCHS  # noqa: E402 - the path above comes first
from tests.bench import engine, fleet  # noqa: E402 - the same
from tests.bench.limits import ENVIRONMENT, SEGMENTS, seconds  # noqa: E402 - the same
from tests.builders import epochs, write  # noqa: E402 - the same


class Scale(NamedTuple):
    """How much is measured."""

    runs: int = 3
    depths: tuple[str, ...] = ("headers", "crc")
    batch_sizes: tuple[str, ...] = ("16 KiB", "1 KiB")
    text_batch_sizes: tuple[str, ...] = ("16 KiB", "1 KiB", "100 B")
    commits: int = 100_000
    segments: int = 2000
    log_size: int = 50 << 20
    directories: int = 6000


TINY = Scale(
    runs=1, depths=("crc",), batch_sizes=("1 KiB",), text_batch_sizes=("100 B",), commits=50, segments=3,
    log_size=64 << 10, directories=6,
)  # fmt: skip

_SCAN = """
import os, sys
from kcheck.cli.app import main
sys.argv += ["--run", str(os.getpid())]
main()
"""

_MAIN = """
from kcheck.cli.app import main
main()
"""

SMALL_SEGMENTS = """
from kcheck.segments import plain_segment
plain_segment.SIZE_MAX = -1
"""
"""Every segment is read as columns."""

DUMP_ROWS = """
import json
from collections.abc import Iterator
from kcheck.dumps import batches
from kcheck.records.batch import HEADER, header_of
from kcheck.model.report import Block
from kcheck.renderers import ndjson
from kcheck.segments.header_columns import HeaderReader
def one_by_one(file, wanted, shown):
    for columns in HeaderReader(file.source, file.size, verify=True):
        for position, size, valid in zip(columns.position.tolist(), columns.size.tolist(), columns.valid.tolist()):
            header = header_of(file.source.pread(HEADER.size, position), total=size)
            row = batches._old_row(position, size, header, valid=valid)
            if shown.records:
                row["records"] = batches.record_rows(file, row, wanted, shown)
            yield Block({name: (value,) for name, value in row.items()})
def objects(block):
    for row in block.rows():
        yield json.dumps({name: value for name, value in row.items() if not isinstance(value, Iterator)})
batches.batch_blocks = one_by_one
ndjson.objects = objects
"""
"""Batches and records are read and written one by one."""

TEXT_ROWS = """
from kcheck.renderers import _text_records
from kcheck.screen.page import wrap
def wrapped(lines, width, indent, hanging):
    return ["\\n".join([*wrap(line, width, indent, hanging), ""]) for line in lines.decode().splitlines()]
_text_records.batch_lines = _text_records.record_tables = lambda *rest: None
_text_records.wrapped = wrapped
"""
"""Lines and tables are laid out one by one."""

CHECK_RECORDS = """
from kcheck.records.record import read_records
from kcheck.segments import batch_records
def one_by_one(self, columns, window):
    for position, size in zip(columns.position.tolist(), columns.size.tolist()):
        data = self._source.pread(size, position)
        before = -1
        for record in read_records(data):
            self._count += before < record.offset
            before = record.offset
batch_records.RecordCheck.take = one_by_one
"""
"""Records are decoded one by one; of their checks only one remains, so the true cost is higher."""

ONE_BATCH_AT_A_TIME = """
from kcheck.segments import record_columns
record_columns._SIDE_BY_SIDE_MIN = 1 << 60
"""
"""The lengths of records are followed batch after batch; their fields remain columns."""

UNCHANGED = """
from kcheck.fleet.scan import predictions
predictions.unchanged_prediction = lambda *rest: None
"""
"""Every start is simulated."""


def compare(name: str, code: str, off: str, arguments: list[str], scale: Scale) -> None:
    """Print the CPU time of a command with its fast path and without, and what the fast path saves."""
    commands = [[sys.executable, "-c", start + code, *arguments] for start in ("", off)]
    measured = [[cpu(command) for command in commands] for _ in range(scale.runs)]
    fast, plain = map(min, zip(*measured, strict=True))
    print(f"{name:66} {fast:7.2f} s {plain:7.2f} s without   saves {100 - 100 * fast / plain:3.0f} %", flush=True)


def compare_output(name: str, off: str, arguments: list[str], scale: Scale) -> None:
    """Compare a command that writes to its standard output; `--tiny` compares what it writes too."""
    if scale is TINY:
        commands = [[sys.executable, "-c", start + _MAIN, *arguments] for start in ("", off)]
        fast, plain = (subprocess.check_output(command, env=ENVIRONMENT, cwd=ROOT) for command in commands)
        assert fast == plain, name
    compare(name, _MAIN, off, [*arguments, "-o", os.devnull], scale)


def cpu(command: list[str]) -> float:
    """Return the CPU time of a command and of all its processes."""
    return engine.cost(partial(seconds, command), resource.RUSAGE_CHILDREN).cpu


def small_segments(folder: Path, scale: Scale) -> None:
    """Check log dirs and a directory of small segments; those of the fixtures have transactions, which need numpy."""
    partition = folder / "orders-0"
    for number in range(scale.segments):
        engine.make(partition, engine.SMALL_SIZE, 1 << 10, base=number * 1000)
    write(partition, {LEADER_EPOCHS: epochs((0, 0))})
    fleet.make(folder / "fleet", min(scale.segments // 3, fleet.OF_LOG_DIR))
    hosts = {
        "of a stopped broker, fixtures": str(SEGMENTS[0].parents[1]),
        f"of {min(scale.segments // 3, fleet.OF_LOG_DIR)} partitions, 3 segments each": f"{folder}/fleet/c/0/d0",
        f"of {scale.segments} segments of 20 KiB": str(partition),
    }
    for name, path in hosts.items():
        for depth in scale.depths:
            arguments = ["check", "--depth", depth, "--quiet", "--format", "json", "--fail-on", "fatal", path]
            compare_output(f"check --depth {depth} {name}", SMALL_SEGMENTS, arguments, scale)
    shutil.rmtree(partition)
    shutil.rmtree(folder / "fleet")


def records(folder: Path, scale: Scale) -> None:
    """Dump a log, and check its records."""
    for name in scale.batch_sizes:
        size = engine.BATCH_SIZES[name]
        log = str(engine.make_records(folder / "records", scale.log_size, size, packed=False))
        dump = ["dump", "--quiet", "--format", "ndjson", log]
        check = ["check", "--depth", "records", "--quiet", "--format", "json", log]
        for title, off, arguments in (
            ("dump: columns", DUMP_ROWS, dump),
            ("dump --records: columns", DUMP_ROWS, [*dump, "--records"]),
            ("check --depth records: records at once", CHECK_RECORDS, check),
            ("check --depth records: batches side by side", ONE_BATCH_AT_A_TIME, check),
        ):
            compare_output(f"{title}, batches of {name}", off, arguments, scale)
        shutil.rmtree(folder / "records")


def texts(folder: Path, scale: Scale) -> None:
    """Dump records as text."""
    for name in scale.text_batch_sizes:
        log = str(engine.make_records(folder / "records", scale.log_size, engine.BATCH_SIZES[name], packed=False))
        arguments = ["dump", "--quiet", "--records", log]
        compare_output(f"dump --records as text: at once, batches of {name}", TEXT_ROWS, arguments, scale)
        shutil.rmtree(folder / "records")
    log = str(engine.make_commits(folder / "commits", scale.commits, keys=50))
    arguments = ["dump", "--quiet", "--decode", "offsets", log]
    compare_output(f"dump --decode as text: at once, {scale.commits} commits", TEXT_ROWS, arguments, scale)
    shutil.rmtree(folder / "commits")


def scans(folder: Path, scale: Scale) -> None:
    """Scan a fleet in which each partition has three replicas."""
    fleet.make(folder / "fleet", scale.directories, replicas=3)
    arguments = ["fleet", "scan", f"{folder}/fleet/{fleet.LAYOUT}", "--jobs", "1", "--output-dir", f"{folder}/out"]
    arguments += ["--quiet", "--fail-on", "fatal"]
    title = f"fleet scan of {scale.directories} directories: start without simulation"
    compare(title, _SCAN, UNCHANGED, arguments, scale)
    shutil.rmtree(folder / "fleet")


def main() -> None:
    """Measure all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tiny", action="store_true", help="measure next to nothing, in seconds")
    parser.add_argument("--runs", type=int, default=Scale().runs, help="the smallest cost of so many counts")
    parser.add_argument("--only", choices=PARTS, help="measure one part")
    given = parser.parse_args()
    scale = TINY if given.tiny else Scale()._replace(runs=given.runs)
    for name, part in PARTS.items():
        if given.only in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                part(Path(folder), scale)


PARTS = {"segments": small_segments, "records": records, "texts": texts, "scans": scans}

if __name__ == "__main__":
    main()
