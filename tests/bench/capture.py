"""Measures what `kcheck capture` costs, and how large its bundles are: `python tests/bench/capture.py [MEGABYTES]`.

A log of batches of about 16 KiB and one of about 1 KiB are made in a temporary folder, of that size each. Sizes vary by
a tenth, timestamps by some milliseconds; records have 100 bytes. `check --depth crc` and `--depth records` read the
same log, and the smallest user and system CPU time of each counts. Nothing here is asserted: the figures stand in
docs/capture.md.
"""

import argparse
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.limits import ENVIRONMENT, kcheck  # noqa: E402 - the path above comes first
from tests.builders import FIRST_TIMESTAMP, batch_of, log_dir, record  # noqa: E402 - the same

SIZES = {"16 KiB": 16 << 10, "1 KiB": 1 << 10}
RECORD_SIZE = 100
SEGMENT_SIZE = 256 << 20


def make(folder: Path, batch_size: int, size: int) -> Path:
    """Write a log dir with one partition of about `size` bytes; return it."""
    rng = random.Random(batch_size)
    root = log_dir(folder / f"of-{batch_size}")
    partition = root / "orders-0"
    partition.mkdir()
    offset, stamp, written = 0, FIRST_TIMESTAMP, 0
    while written < size:
        with (partition / f"{offset:020d}.log").open("wb") as log:
            while written < size and log.tell() < SEGMENT_SIZE:
                count = max(1, round(batch_size * rng.uniform(0.9, 1.1) / RECORD_SIZE))
                stamps = [stamp + rng.randrange(3) for _ in range(count)]
                records = (
                    record(number, at - stamp, value=rng.randbytes(RECORD_SIZE - 12))
                    for number, at in enumerate(stamps)
                )
                made = batch_of(offset, *records, timestamp=stamp, max_timestamp=max(stamps)).data
                log.write(made)
                written, offset, stamp = written + len(made), offset + count, stamp + rng.randrange(20)
    (partition / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    return root


def seconds(command: list[str]) -> float:
    """Return the user and system CPU seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, env=ENVIRONMENT, cwd=ROOT, check=False, text=True)
    assert done.returncode in (0, 1), done.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a row for each size of batches."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("megabytes", type=int, nargs="?", default=256)
    parser.add_argument("--tiny", action="store_true", help="once, on next to nothing")
    given = parser.parse_args()
    size, runs = (200_000, 1) if given.tiny else (given.megabytes << 20, 3)
    print("batches   log MB   bundle   of log   capture   --no-records   check crc   check records   (seconds of CPU)")
    with tempfile.TemporaryDirectory(prefix="kcheck-bench-") as name:
        folder = Path(name)
        for words, batch_size in SIZES.items():
            root = make(folder, batch_size, size)
            total = sum(log.stat().st_size for log in root.rglob("*.log"))
            bundle, times = folder / "bench.kcheck", []
            for options in ([], ["--no-records"]):
                spent = []
                for _ in range(runs):
                    bundle.unlink(missing_ok=True)
                    spent.append(seconds(kcheck("capture", str(root), "-o", str(bundle), *options)))
                times.append(min(spent))
            for depth in ("crc", "records"):
                times.append(min(seconds(kcheck("check", "--depth", depth, str(root))) for _ in range(runs)))
            held = bundle.stat().st_size
            row = "   ".join(f"{spent:9.2f}" for spent in times)
            print(f"{words:8}  {total / 1e6:6.0f}   {held:8}   {held / total:6.2%}   {row}")


if __name__ == "__main__":
    main()
