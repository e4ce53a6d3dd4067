"""Measures kcheck's limits as ratios against a reference in the same run: `python tests/bench/limits.py`.

Each pair of commands is run in turns, and the smallest wall-clock time of each counts. Where mvn and java are there,
kafka-dump-log of the newest release is measured too. Nothing here is asserted: the figures stand in
docs/performance.md. `--tiny` runs everything once on next to nothing: the tests do, so that it goes on to work.
"""

import argparse
import cProfile
import os
import pstats
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from kcheck.formats import offset_checkpoint  # noqa: E402 - the path above comes first
from kcheck.formats._checkpoint_file import parse as parse_lines  # noqa: E402 - the same
from kcheck.model.names import META_PROPERTIES  # noqa: E402 - the same
from tests.oracle.jars import NoKafkaError, java_command  # noqa: E402 - the same

SEGMENTS = sorted((ROOT / "fixtures" / "brokers" / "4.3.1").glob("stopped/broker-1/*/*-[0-9]/*.log"))


class Scale(NamedTuple):
    """How much is measured."""

    runs: int = 15
    lines: int = 1_000_000
    partitions: int = 10_000


TINY = Scale(runs=1, lines=1000, partitions=20)
ANY = ""
"""Any function that calls one."""
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def seconds(command: list[str]) -> float:
    """Return how long a command takes, start to end."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=ENVIRONMENT, cwd=ROOT)
    return time.perf_counter() - start


def compare(name: str, ours: list[str], theirs: list[str], *, runs: int) -> None:
    """Print the smallest time of both commands, run in turns, and their ratio."""
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(runs)]
    best, reference = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
    print(f"{name:58} {best * 1000:8.1f} ms {reference * 1000:8.1f} ms   ratio {best / reference:5.2f}")


def shares(watch: cProfile.Profile, parts: Mapping[str, tuple[str, str]]) -> tuple[float, list[tuple[float, str]]]:
    """Return the seconds of a profile, and the share of each part: a function, and the one that calls it, or any."""
    calls: Any = pstats.Stats(watch).stats  # type: ignore[attr-defined]  # by file, line and name of a function
    whole = max(row[3] for row in calls.values())

    def spent(function: str, caller: str) -> float:
        rows = (row[4].items() for called, row in calls.items() if called[2] == function)
        return float(sum(seconds[3] for callers in rows for by, seconds in callers if caller in (by[2], ANY)))

    return whole, [(spent(*part) / whole, name) for name, part in parts.items()]


def kcheck(*arguments: str) -> list[str]:
    """Return the command line of kcheck."""
    return [sys.executable, "-m", "kcheck", *arguments]


def start_up(runs: int) -> None:
    """Compare the start of kcheck with that of Python."""
    bare = [sys.executable, "-c", "pass"]
    file = str(next((ROOT / "fixtures" / "brokers" / "4.3.1").glob("stopped/broker-1/*/replication-offset-checkpoint")))
    compare("--help, against python -c pass", kcheck("--help"), bare, runs=runs)
    compare(
        "inspect FILE --format json, against python -c pass",
        kcheck("inspect", file, "--format", "json"),
        bare,
        runs=runs,
    )
    compare("inspect FILE, against python -c pass", kcheck("inspect", file), bare, runs=runs)


_CLASS_COUNT = 50
_FIELDS = "".join(f"    field_{number}: int\n" for number in range(6))
_FORMS = {
    "NamedTuple": "from typing import NamedTuple\n" + f"class Value(NamedTuple):\n{_FIELDS}" * _CLASS_COUNT,
    "frozen keyword-only dataclass with slots": "from dataclasses import dataclass\n"
    + f"@dataclass(frozen=True, slots=True, kw_only=True)\nclass Value:\n{_FIELDS}" * _CLASS_COUNT,
}
_COUNT = """
import os, sys
from kcheck.cli.app import main
try:
    main()
except SystemExit:
    modules = [module for name, module in sys.modules.items() if name.startswith("kcheck.")]
    classes = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    own = [value for value in classes if value.__module__.startswith("kcheck.")]
    named = sum(issubclass(value, tuple) and hasattr(value, "_fields") for value in own)
    print(named, sum("__dataclass_fields__" in vars(value) for value in own))
"""


def values(runs: int) -> None:
    """Measure what classes of values cost when their module is imported, and count those that a command loads."""
    costs = []
    for name, source in _FORMS.items():
        code = compile(source, "values", "exec")
        costs.append(min(_cpu(partial(exec, code, {"__name__": "values"})) for _ in range(runs)) / _CLASS_COUNT)
        print(f"{name:58} {costs[-1] * 1e6:8.0f} us of CPU time when it is imported")
    for verb in ("inspect", "check"):
        arguments = [verb, str(SEGMENTS[0].parents[1]), "--quiet", "-o", os.devnull]
        command = [sys.executable, "-c", _COUNT, *arguments]
        named, others = map(int, subprocess.check_output(command, text=True, cwd=ROOT, env=ENVIRONMENT).split())
        whole = min(_cpu(partial(seconds, command), resource.RUSAGE_CHILDREN) for _ in range(runs))
        print(
            f"{verb} LOG_DIR loads {named} named tuples and {others} dataclasses in {whole * 1000:.0f} ms of CPU time;"
            f" all as dataclasses: {named * (costs[1] - costs[0]) * 1000:.0f} ms more"
        )


def _cpu(function: Callable[[], object], who: int = resource.RUSAGE_SELF) -> float:
    """Return the CPU time of one run."""
    before = resource.getrusage(who)
    function()
    after = resource.getrusage(who)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def dump_log(runs: int) -> None:
    """Compare the inspection of a small segment with kafka-dump-log."""
    segment = str(min((path for path in SEGMENTS if path.stat().st_size), key=lambda path: path.stat().st_size))
    try:
        theirs = java_command("4.3.1", "org.apache.kafka.tools.DumpLogSegments", "--files", segment, quick=False)
    except NoKafkaError as error:
        print(f"kafka-dump-log not measured: {error}")
        return
    compare("inspect SEGMENT, against kafka-dump-log", kcheck("inspect", segment), theirs, runs=runs)


def checkpoint(count: int) -> None:
    """Compare the parser on a large checkpoint with reading and splitting its lines; and its memory with the file."""
    lines = b"".join(b"topic-name-%d %d %d\n" % (n // 50, n % 50, n * 37) for n in range(count))
    data = b"0\n%d\n" % count + lines
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        path = Path(file.name)

        def split() -> object:
            return [line.split() for line in path.read_bytes().split(b"\n")]

        def parse() -> object:
            parse_lines.cache_clear()
            return offset_checkpoint.parse(path.read_bytes())

        ours, reference = _smallest(parse), _smallest(split)
        name = f"parse {count:,} lines, against read and split"
        print(f"{name:58} {ours:8.3f} s  {reference:8.3f} s    ratio {ours / reference:5.2f}")
        code = "import sys; from kcheck.formats import offset_checkpoint as o; o.parse(open(sys.argv[1], 'rb').read())"
        largest = peak([sys.executable, "-c", code, file.name])
        name = "peak memory of that, against the size of the file"
        print(f"{name:58} {largest >> 20:8} MB {len(data) >> 20:8} MB   ratio {largest / len(data):5.2f}")


def _smallest(function: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def log_dir(most: int) -> None:
    """Measure a log dir of many partitions: partitions a second, and memory against a tenth of them."""
    partition = next(path.parent for path in SEGMENTS if path.parent.name == "plain-1")
    with tempfile.TemporaryDirectory() as folder:
        for count in (most // 10, most):
            path = Path(folder) / f"log-dir-{count}"
            path.mkdir()
            shutil.copy(partition.parent / META_PROPERTIES, path)
            for number in range(count):
                shutil.copytree(partition, path / f"orders-{number}")
            entries = "".join(f"orders {number} 1\n" for number in range(count))
            (path / "recovery-point-offset-checkpoint").write_text(f"0\n{count}\n{entries}")
            command = kcheck("inspect", str(path), "--format", "json", "--quiet", "-o", os.devnull)
            best = min(seconds(command) for _ in range(3))
            largest = peak(command)
            print(
                f"inspect {count:6,} partitions {best:34.2f} s  {count / best:8.0f} a second   peak {largest >> 20} MB"
            )


_WAIT = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(os.wait4(process.pid, 0)[2].ru_maxrss)
"""


def peak(command: list[str]) -> int:
    """Return the largest resident size of one run, in bytes; started by a small process, whose own size counts too."""
    wait = [sys.executable, "-c", _WAIT, *command]
    return 1024 * int(subprocess.run(wait, check=True, capture_output=True, cwd=ROOT, env=ENVIRONMENT).stdout)


def main() -> None:
    """Measure all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tiny", action="store_true", help="measure next to nothing, in seconds")
    scale = TINY if parser.parse_args().tiny else Scale()
    start_up(scale.runs)
    values(scale.runs)
    dump_log((scale.runs + 2) // 3)
    checkpoint(scale.lines)
    log_dir(scale.partitions)


if __name__ == "__main__":
    main()
