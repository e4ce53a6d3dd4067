"""Measures the rescues of many partitions: `python tests/bench/rescue.py`.

Three brokers hold a replica of each of 20,000 partitions, ten to a topic, and no copy of the metadata; a controller is
formatted. `kcheck recover metadata` writes its plan twice: for half of the partitions, and for all. Then brokers have
that metadata, and their controller is lost: `kcheck recover quorum` gives a copy to a new one. One topic has another id
in the metadata than on the disks: `kcheck recover topic` writes the new one. Printed are the CPU time and largest
memory of each command, and the size of its plan. `--partitions N` takes another size. Nothing is asserted: the figures
stand in docs/performance.md. `--tiny` does all that once with next to nothing: the tests do, so that it goes on to
work.
"""

import argparse
import shutil
import sys
import tempfile
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from kcheck.core.rescue.made_ids import made_id  # noqa: E402 - the path above comes first
from kcheck.disk.apply import apply  # noqa: E402 - the same
from kcheck.model.names import METADATA_DIRECTORY  # noqa: E402 - the same
from tests.bench.growth import cost  # noqa: E402 - the same
from tests.bench.limits import kcheck  # noqa: E402 - the same
from tests.builders import log_dir, meta_properties, partition_dir, partition_metadata, run, write  # noqa: E402 - the same

BROKERS = (1, 2, 3)
CLUSTER = "c1uster-AAAAAAAAAAAAAA"
PARTITIONS = 10
"""The partitions of a topic."""
VOTE = (
    '{"clusterId":"","leaderId":201,"leaderEpoch":2,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":201}],'
    '"data_version":0}'
)
"""The quorum-state of an observer."""
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
    """Print what each command costs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nodes = make(folder, count)
        _told(folder, count, "metadata", *nodes, plan="plan-201.json")
        apply((folder / "metadata" / "plan-201.json").read_bytes(), str(folder / "backup"))
        for broker in BROKERS:
            shutil.copytree(folder / "201" / METADATA_DIRECTORY, folder / str(broker) / METADATA_DIRECTORY)
            write(folder / str(broker) / METADATA_DIRECTORY, {"quorum-state": VOTE.encode()})
        (folder / "202").mkdir()
        write(folder / "202", {"meta.properties": meta_properties(202, cluster_id=CLUSTER)})
        shutil.copy(BOOTSTRAP, folder / "202")
        given_up = ("--dead", "201", "--voter", "202@c:9093")
        _told(folder, count, "quorum", *nodes[:-1], f"202={folder / '202'}", *given_up, plan="plan-202.json")
        for broker, number in product(BROKERS, range(min(PARTITIONS, count))):
            write(folder / str(broker) / f"t0-{number}", {"partition.metadata": partition_metadata(made_id("other"))})
        known = ("--metadata", str(folder / "201"))
        _told(folder, count, "topic", "t0", *nodes[:-1], *known, plan="plan-1-files.json")


def _told(folder: Path, count: int, verb: str, *words: str, plan: str) -> None:
    out = folder / verb
    taken = cost(kcheck("recover", verb, *words, "--output-dir", str(out), "--kafka", "4.3"))
    size = (out / plan).stat().st_size
    print(
        f"recover {verb}, 3 x {count} partitions: {taken.seconds:.1f} s, {taken.megabytes:.0f} MB; plan"
        f" {size / 1e6:.1f} MB"
    )


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
