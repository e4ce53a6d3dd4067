"""Measures `kcheck explain` on large logs: `python tests/bench/log_lines.py [MB]`.

The lines of the fixture's log, again and again, each time for another partition and among other lines of a broker;
lines that no wording has; and three logs that are hard to match. Of each the CPU time (user and system) and the peak
memory of the command. Nothing is asserted: the figures stand in docs/performance.md.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.growth import cost  # noqa: E402 - the path above comes first
from tests.bench.limits import kcheck  # noqa: E402 - the same

LOG = ROOT / "fixtures" / "logs" / "4.3.1" / "server.log"
OTHER = (
    "[2026-11-24 00:03:24,000] INFO [GroupCoordinator {0}]: Preparing to rebalance group g-{0} (kafka.coordinator)\n"
)
OTHERS_COUNT = 200
"""Lines of other parts of the broker for each copy of the fixture."""
FORMS = ("text", "json", "ndjson", "csv")
HARD = "[2026-11-24 00:03:24,000] WARN {} (kafka.log.UnifiedLog)\n"


def usual() -> Iterator[str]:
    """Yield the fixture with other partitions each time, and other lines."""
    text = LOG.read_text("utf-8")
    for number in count():
        yield text.replace("emptied-0", f"emptied-{number}").replace("diverged-0", f"diverged-{number}")
        yield "".join(OTHER.format(number * OTHERS_COUNT + other) for other in range(OTHERS_COUNT))


def unknown() -> Iterator[str]:
    """Yield lines of a broker that no wording has, some of them warnings."""
    for number in count():
        yield "".join(OTHER.format(number * OTHERS_COUNT + other) for other in range(OTHERS_COUNT))
        yield HARD.format(f"[GroupCoordinator {number}]: Member m-{number} of a group has failed")


def explained() -> Iterator[str]:
    """Yield lines that all have a wording."""
    for number in count():
        yield HARD.format(f"[UnifiedLog partition=t-{number}, dir=/data] Truncating to offset {number}")


def almost() -> Iterator[str]:
    """Yield lines that have the first words of many wordings, and none of them."""
    while True:
        yield HARD.format("Rejecting AlterPartition request from node 1 for t-0 because " * 100)


def without_ends() -> Iterator[str]:
    """Yield one line that never ends."""
    while True:
        yield "[[[[ Truncating partition (" * 1000


def written(path: Path, size: int, lines: Callable[[], Iterator[str]]) -> Path:
    """Write a log of a size."""
    with path.open("w", encoding="utf-8") as log:
        for text in lines():
            log.write(text)
            if log.tell() >= size:
                return path
    raise AssertionError


def main() -> None:
    """Print a line for each log and format."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("size", nargs="?", type=float, default=100.0, metavar="MB")
    parser.add_argument("--tiny", action="store_true", help="next to nothing")
    arguments = parser.parse_args()
    size = 10_000 if arguments.tiny else int(arguments.size * 1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        for lines in (usual, unknown, explained, almost, without_ends):
            log = written(Path(folder) / "server.log", size, lines)
            for form in FORMS:
                spent = cost(kcheck("explain", str(log), "--format", form))
                print(f"{lines.__name__:13} {form:5} {spent.seconds:6.1f} s {spent.megabytes:6.0f} MB", flush=True)


if __name__ == "__main__":
    main()
