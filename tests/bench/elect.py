"""Measures `kcheck elect` and `recover` against `kcheck truncation` on the same brokers: `python tests/bench/elect.py`.

Three brokers hold a replica of each of 2,000 partitions. Of every ten partitions one is behind on broker 2, one has
records of another epoch on broker 3, and the others are equal. `kafka-topics --describe` is the metadata; at last it is
the log of a controller of 4.3, by which all brokers run, so that the plan of `recover` begins with fencing them.
Printed are the CPU times of the commands, each the smallest of some runs that take turns, their ratios, and the largest
memory of a process. `--partitions N` takes another size. Nothing is asserted: the figures stand in docs/performance.md.
`--tiny` does all that once with next to nothing: the tests do, so that it goes on to work.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from kcheck.schemas.encode import metadata_record  # noqa: E402 - the path above comes first
from tests.bench.growth import Cost, cost  # noqa: E402 - the same
from tests.bench.limits import kcheck  # noqa: E402 - the same
from tests.builders import (  # noqa: E402 - the same
    batch_of,
    log_dir,
    meta_properties,
    partition_dir,
    partition_metadata,
    record,
    run,
    write,
)

BROKERS = (1, 2, 3)
TOPIC_ID = "MkU3OEVBNTcwNTJENDM2Qg"
OF_BATCH = 100


def make(folder: Path, count: int) -> list[str]:
    """Write the brokers; return the arguments that name them."""
    shared, more, other = run(0, 99), run(100, 149, epoch=1), run(100, 129, epoch=0)
    for broker in BROKERS:
        names = [f"t-{number}" for number in range(count)]
        log_dir(
            folder / str(broker), broker_id=broker, recovery_point=dict.fromkeys(names, 100),
            high_watermark=dict.fromkeys(names, 100), log_start={},
        )  # fmt: skip
        kinds = ([shared, more], [shared], [shared, other])
        samples = []
        for kind, (batches, epochs) in enumerate(zip(kinds, ([(0, 0), (1, 100)], [(0, 0)], [(0, 0)]), strict=True)):
            sample = partition_dir(folder / f"sample-{kind}", batches, epoch_entries=epochs)
            write(sample, {"partition.metadata": partition_metadata()})  # Without it a broker would serve nothing.
            samples.append({path.name: path.read_bytes() for path in sample.iterdir()})
        for number, name in enumerate(names):
            kind = {(2, 3): 1, (3, 7): 2}.get((broker, number % 10), 0)
            write(folder / str(broker) / name, samples[kind])
    lines = [f"Topic: t\tTopicId: {TOPIC_ID}\tPartitionCount: {count}\tReplicationFactor: 3\tConfigs:"]
    for number in range(count):
        order = [1 + (number + at) % 3 for at in BROKERS]
        replicas = ",".join(map(str, order))
        lines.append(f"\tTopic: t\tPartition: {number}\tLeader: {order[0]}\tReplicas: {replicas}\tIsr: {order[0]}")
    (folder / "describe.txt").write_text("\n".join(lines) + "\n")
    write(folder / "201", {"meta.properties": meta_properties(201)})
    values = [*metadata_values(count)]
    metadata = [
        batch_of(at, *(record(delta, value=value) for delta, value in enumerate(values[at : at + OF_BATCH])), epoch=1)
        for at in range(0, len(values), OF_BATCH)
    ]
    partition_dir(folder / "201" / "__cluster_metadata-0", [metadata], epoch_entries=[(1, 0)])
    return [f"{broker}={folder / str(broker)}" for broker in BROKERS]


def metadata_values(count: int) -> Iterator[bytes]:
    """Yield the records of the controller: brokers that run, a topic, and partitions with all replicas in sync."""
    yield metadata_record("FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": 25})
    for number in BROKERS:
        yield metadata_record("RegisterBrokerRecord", 1, {
            "brokerId": number, "incarnationId": TOPIC_ID, "brokerEpoch": 7, "endPoints": [], "features": [],
            "rack": None, "fenced": False, "inControlledShutdown": False,
        })  # fmt: skip
    yield metadata_record("TopicRecord", 0, {"name": "t", "topicId": TOPIC_ID})
    for number in range(count):
        replicas = [1 + (number + at) % 3 for at in BROKERS]
        yield metadata_record("PartitionRecord", 0, {
            "partitionId": number, "topicId": TOPIC_ID, "replicas": replicas, "isr": replicas,
            "removingReplicas": [], "addingReplicas": [], "leader": replicas[0], "leaderEpoch": 1, "partitionEpoch": 1,
        })  # fmt: skip


def measure(count: int, runs: int) -> None:
    """Print what the commands cost."""
    with tempfile.TemporaryDirectory() as folder:
        brokers = make(Path(folder), count)
        described = [*brokers, "--metadata", f"{folder}/describe.txt", "--kafka", "3.9"]
        fenced = [*brokers, "--metadata", f"{folder}/201", "--kafka", "4.3"]
        costs: dict[str, list[Cost]] = {"truncation": [], "elect": [], "recover": [], "fence": []}
        for _ in range(runs):
            for verb, taken in costs.items():
                words = ["recover", *fenced] if verb == "fence" else [verb, *described]
                taken.append(cost(kcheck(*words, "--format", "json")))
        best = {verb: min(taken) for verb, taken in costs.items()}
        for verb, least in best.items():
            print(f"{verb:10} 3 x {count} partitions: {least.seconds:.2f} s, {least.megabytes:.0f} MB")
        print(f"elect takes {best['elect'].seconds / best['truncation'].seconds:.2f} times the CPU time of truncation")
        for verb in ("recover", "fence"):
            print(f"{verb} takes {best[verb].seconds / best['elect'].seconds:.2f} times the CPU time of elect")


def main() -> None:
    """Measure what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", type=int, default=2_000)
    parser.add_argument("--tiny", action="store_true")
    arguments = parser.parse_args()
    measure(10 if arguments.tiny else arguments.partitions, 1 if arguments.tiny else 3)


if __name__ == "__main__":
    main()
