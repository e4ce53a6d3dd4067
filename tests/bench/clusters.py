"""Measures a fleet of many small clusters: `python tests/bench/clusters.py`.

Each cluster has three brokers with their own metadata log and two partitions of three replicas. Files of one cluster
are made. The others are hard links to them with another cluster id. Half of them, and all, are scanned at the depth
checkpoints. Then the run is asked: report with its page, recover, and a diff with a second run. Printed are the CPU
time and the largest memory of a process of each, and how many times those of half the size they are: 2.0 is linear.
`--count N` takes another size. Nothing is asserted: the figures stand in docs/performance.md. `--tiny` measures next to
nothing, as the tests do.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from kcheck.model.names import LEADER_EPOCHS, META_PROPERTIES, PARTITION_METADATA  # noqa: E402 - the path comes first
from tests.bench.elect_run import Size, metadata_log  # noqa: E402 - the same
from tests.bench.growth import Cost, cost  # noqa: E402 - the same
from tests.bench.limits import kcheck  # noqa: E402 - the same
from tests.builders import log_dir, partition_dir, readable_run, write  # noqa: E402 - the same

SIZE = Size(2, 3)
LAYOUT = "{cluster}/{broker}/{log_dir}"


def make_cluster(folder: Path) -> None:
    """Write the log dirs of one cluster."""
    ends = {f"topic-00000-{number}": 100 for number in range(SIZE.partitions)}
    for broker in range(1, SIZE.brokers + 1):
        path = folder / str(broker) / "data"
        log_dir(path, broker_id=broker, recovery_point=ends, high_watermark=ends, log_start={})
        partition_dir(path / "__cluster_metadata-0", [[*metadata_log(SIZE)]], epoch_entries=[(1, 0)])
        for name in ends:
            partition_dir(path / name, [readable_run(0, 99)], epoch_entries=[(0, 0)])
            topic_id = f"version: 0\ntopic_id: {'A' * 21}Q\n".encode()
            write(path / name, {LEADER_EPOCHS: b"0\n1\n0 0\n", PARTITION_METADATA: topic_id})


def make(folder: Path, count: int) -> None:
    """Write a fleet of so many clusters."""
    make_cluster(folder / "c000000")
    files = [path.relative_to(folder / "c000000") for path in (folder / "c000000").rglob("*") if path.is_file()]
    for number in range(1, count):
        place = folder / f"c{number:06}"
        for path in files:
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            if path.name == META_PROPERTIES:
                text = (folder / "c000000" / path).read_text()
                kept = [line for line in text.splitlines() if not line.startswith("cluster.id")]
                (place / path).write_text("\n".join((*kept, f"cluster.id=fleet{number:017}", "")))
            else:
                os.link(folder / "c000000" / path, place / path)


def measured(count: int) -> dict[str, Cost]:
    """Return the cost of each command for so many clusters."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder / "fleet", count)
        runs = [f"{folder}/out/run={number}" for number in (1, 2)]
        scan = ("fleet", "scan", f"{folder}/fleet/{LAYOUT}", "--output-dir", f"{folder}/out", "--quiet")
        return {
            "fleet scan --remember": cost(kcheck(*scan, "--run", "1", "--remember")),
            "fleet scan --since-run": cost(kcheck(*scan, "--run", "2", "--since-run", runs[0])),
            "fleet report": cost(kcheck("fleet", "report", runs[0], "-o", f"{folder}/page.html")),
            "fleet diff": cost(kcheck("fleet", "diff", *runs)),
            "recover --from": cost(kcheck("recover", "--from", runs[0])),
        }


def main() -> None:
    """Measure half of the size, and all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--tiny", action="store_true")
    asked = parser.parse_args()
    count = 4 if asked.tiny else asked.count
    half, every = measured(count // 2), measured(count)
    for label, taken in every.items():
        less = half[label]
        print(
            f"{label:23} {count:,} clusters: {taken.seconds:.1f} s of CPU, {taken.megabytes:.0f} MiB; times half:"
            f" {taken.seconds / less.seconds:.2f}, {taken.megabytes / less.megabytes:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
