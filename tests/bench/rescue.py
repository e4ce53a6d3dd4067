"""Measures `kcheck recover metadata` of many partitions: `python tests/bench/rescue.py`.

Three brokers hold a replica of each of 20,000 partitions, ten to a topic, and no copy of the metadata; a controller is
formatted. The command writes its plan twice: for half of the partitions, and for all. Printed are its CPU time and
largest memory, and the size of the snapshot in the plan. `--partitions N` takes another size. Nothing is asserted: the
figures stand in docs/performance.md. `--tiny` does all that once with next to nothing: the tests do, so that it goes on
to work.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from kcheck.core.rescue.made_ids import made_id  # noqa: E402 - the path above comes first
from tests.bench.growth import cost  # noqa: E402 - the same
from tests.bench.limits import kcheck  # noqa: E402 - the same
from tests.builders import log_dir, meta_properties, partition_dir, partition_metadata, run, write  # noqa: E402 - the same

BROKERS = (1, 2, 3)
CLUSTER = "c1uster-AAAAAAAAAAAAAA"
PARTITIONS = 10
"""The partitions of a topic."""
BOOTSTRAP = ROOT / "fixtures" / "clusters" / "4.3.1" / "quorum" / "broker-3" / "data1" / "bootstrap.checkpoint"


def make(folder: Path, count: int) -> list[str]:
    """Write the brokers and the controller; return the arguments that name them."""
    sample = partition_dir(folder / "sample", [run(0, 9)], epoch_entries=[(0, 0)])
    files = {path.name: path.read_bytes() for path in sample.iterdir()}
    names = [(f"t{number // PARTITIONS}", number % PARTITIONS) for number in range(count)]
    ends = {f"{topic}-{number}": 10 for topic, number in names}
    for broker in BROKERS:
        log_dir(folder / str(broker), broker_id=broker, recovery_point=ends, high_watermark=ends, log_start={})
        for topic, number in names:
            own = {**files, "partition.metadata": partition_metadata(made_id(topic))}
            write(folder / str(broker) / f"{topic}-{number}", own)
    write(folder / "201", {"meta.properties": meta_properties(201, cluster_id=CLUSTER)})
    shutil.copy(BOOTSTRAP, folder / "201")
    return [f"{number}={folder / str(number)}" for number in (*BROKERS, 201)]


def measure(count: int) -> None:
    """Print what the command costs."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        nodes = make(Path(folder), count)
        taken = cost(kcheck("recover", "metadata", *nodes, "--output-dir", str(out), "--kafka", "4.3"))
        size = (out / "plan-201.json").stat().st_size
        print(f"3 x {count} partitions: {taken.seconds:.1f} s, {taken.megabytes:.0f} MB; plan {size / 1e6:.1f} MB")


def main() -> None:
    """Measure what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", type=int, default=20_000)
    parser.add_argument("--tiny", action="store_true")
    arguments = parser.parse_args()
    count = 20 if arguments.tiny else arguments.partitions
    for size in (count // 2, count):
        measure(size)


if __name__ == "__main__":
    main()
