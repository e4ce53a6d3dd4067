"""Measures `kcheck elect --from RUN` and the metadata in a scan: `python tests/bench/elect_run.py`.

A run is made without a scan: so many partitions with three replicas each on twelve brokers, of which every tenth is
behind on one broker. Then two brokers hold nothing but a copy of the metadata of such a cluster, and are scanned.
Printed are the CPU time of each command and the largest memory of a process. `--partitions N` and `--brokers N` take
another size.
`--spark` measures `kcheck elect --from RUN` alone: by one machine, with the plan of `--output-dir` too, and by
Spark on two cores. Printed are the time and the largest memory of each kind of process.
`--clusters N` makes a run of N clusters with three brokers and eight partitions each, and measures the decision for
each of them, as the driver of a scan makes it: `kcheck recover --from RUN`.
Nothing is asserted: the figures stand in docs/performance.md. `--tiny` does all that once with next to nothing: the
tests do, so that it goes on to work.
"""

import argparse
import json
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.fleet import used  # noqa: E402 - the path above comes first
from tests.bench.growth import cost  # noqa: E402 - the same
from tests.bench.limits import kcheck  # noqa: E402 - the same
from tests.builders import Made, batch_of, log_dir, partition_dir, record  # noqa: E402 - the same
from tests.fleets import forged  # noqa: E402 - the same

OF_TOPIC, OF_BATCH = 64, 100
CLUSTER = {"cluster": "c"}


class Size(NamedTuple):
    """How many partitions, on how many brokers."""

    partitions: int
    brokers: int = 12


def placed(size: Size) -> Iterator[tuple[str, int, list[int]]]:
    """Yield each partition, by topic and number, with its brokers."""
    for number in range(size.partitions):
        brokers = [1 + (number + at) % size.brokers for at in range(3)]
        yield f"topic-{number // OF_TOPIC:05}", number % OF_TOPIC, brokers


def replicas(size: Size) -> Iterator[dict[str, Any]]:
    """Yield the replicas by broker, as a scan writes them."""
    epochs = json.dumps([[0, 0], [3, 400], [7, 900]])
    for broker in range(1, size.brokers + 1):
        for number, (topic, partition, brokers) in enumerate(placed(size)):
            if broker in brokers:
                is_behind = number % 10 == 0 and broker == brokers[2]
                end = 950 if is_behind else 1000 + number % 1000
                yield {
                    **CLUSTER, "broker": str(broker), "broker_id": broker, "log_dir": f"/data/{broker}",
                    "dir": f"{topic}-{partition}", "topic": topic, "partition": partition, "state": "current",
                    "outcome": "ok", "high_watermark": end, "loaded_log_start": 0, "loaded_log_end": end,
                    "loaded_high_watermark": end, "first_segment": 0, "seen_epoch": 7, "cached_epochs": epochs,
                }  # fmt: skip


def partitions(size: Size) -> Iterator[dict[str, Any]]:
    """Yield what the controllers know."""
    for number, (topic, partition, brokers) in enumerate(placed(size)):
        isr = brokers[:2] if number % 10 == 0 else brokers
        yield {
            **CLUSTER, "topic": topic, "partition": partition, "leader": brokers[0], "leader_epoch": 7,
            "partition_epoch": 9, "replicas": json.dumps(brokers), "isr": json.dumps(isr), "elr": "[]",
            "last_known_elr": "[]", "directories": "[]", "min_isr": 1,
        }  # fmt: skip


def make_clusters(out: Path, count: int) -> None:
    """Write a run of many small clusters."""
    size = Size(8, 3)
    brokers = range(1, size.brokers + 1)
    names = [{"cluster": f"c{number:06}"} for number in range(count)]

    def of_each(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        return ({**row, **name} for name in names for row in rows)

    places = [{"broker": str(number), "broker_id": number, "log_dir": f"/data/{number}"} for number in brokers]
    registered = {"fenced": True, "log_dirs": "[]", "in_controlled_shutdown": False, "migrating": False}
    forged(
        out,
        log_dirs=of_each([{**place, "cluster_id": "i", "clean_shutdown": True, "mode": "kraft"} for place in places]),
        predictions=of_each([{**place, "outcome": "ok", "reason": "will boot"} for place in places]),
        clusters=of_each([{"cluster_id": "i", "features": "{}", "configs": "[]"}]),
        cluster_brokers=of_each([{"broker_id": number, "epoch": number, **registered} for number in brokers]),
        cluster_partitions=of_each([*partitions(size)]),
        replicas=of_each([*replicas(size)]),
    )


def make_run(out: Path, size: Size) -> None:
    """Write a run."""
    brokers = range(1, size.brokers + 1)
    places = [
        {**CLUSTER, "broker": str(number), "broker_id": number, "log_dir": f"/data/{number}"} for number in brokers
    ]
    forged(
        out,
        log_dirs=[{**place, "cluster_id": "i", "clean_shutdown": True, "mode": "kraft"} for place in places],
        predictions=[{**place, "outcome": "ok", "reason": "will boot"} for place in places],
        clusters=[{**CLUSTER, "cluster_id": "i", "features": "{}", "configs": "[]"}],
        cluster_brokers=[
            {**CLUSTER, "broker_id": number, "epoch": number, "fenced": True, "log_dirs": "[]",
             "in_controlled_shutdown": False, "migrating": False}
            for number in brokers
        ],
        cluster_partitions=partitions(size),
        replicas=replicas(size),
    )  # fmt: skip


def compact(text: bytes) -> bytes:
    """Return bytes with their size before them, as flexible versions have them."""
    return bytes([len(text) + 1]) + text


def numbers(values: list[int]) -> bytes:
    """Return numbers as an array of a flexible version."""
    return bytes([len(values) + 1]) + b"".join(struct.pack(">i", value) for value in values)


def metadata_values(size: Size) -> Iterator[bytes]:
    """Yield the records of a metadata log: topics and their partitions."""
    for number, (topic, partition, brokers) in enumerate(placed(size)):
        topic_id = UUID(int=1 + number // OF_TOPIC).bytes
        if partition == 0:
            yield b"\1\2\0" + compact(topic.encode()) + topic_id + b"\0"
        seats = numbers(brokers) * 2 + numbers([]) * 2
        ends = struct.pack(">iii", brokers[0], 7, 9)
        yield b"\1\3\0" + struct.pack(">i", partition) + topic_id + seats + ends + b"\0"


def metadata_log(size: Size) -> Iterator[Made]:
    """Yield the batches of a metadata log."""
    offset, held = 0, list[bytes]()
    for value in metadata_values(size):
        held.append(record(len(held), value=value))
        if len(held) == OF_BATCH:
            yield batch_of(offset, *held, epoch=1)
            offset, held = offset + len(held), []
    if held:
        yield batch_of(offset, *held, epoch=1)


def make_cluster(folder: Path, size: Size) -> None:
    """Write two brokers that have a copy of the metadata, and no partition."""
    for broker in (1, 2):
        path = folder / "c" / str(broker) / "data"
        log_dir(path, broker_id=broker, recovery_point={}, high_watermark={}, log_start={})
        partition_dir(path / "__cluster_metadata-0", [[*metadata_log(size)]], epoch_entries=[(1, 0)])


def measure(size: Size, runs: int) -> None:
    """Print what the commands cost."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_run(folder / "out", size)
        make_cluster(folder / "brokers", size)
        commands = {
            "elect --from": kcheck("elect", "--from", f"{folder}/out", "--fail-on", "fatal"),
            "cluster": kcheck("cluster", f"{folder}/brokers/c/1", "--kafka", "3.9"),
        }
        for label, command in commands.items():
            least = min(cost(command) for _ in range(runs))
            print(f"{label:13} {size.partitions} partitions: {least.seconds:.1f} s, {least.megabytes:.0f} MB")
        layout = f"{folder}/brokers/{{cluster}}/{{broker}}/{{log_dir}}"
        for number in range(runs):
            scan = ("fleet", "scan", layout, "--output-dir", f"{folder}/scans", "--run", str(number), "--kafka", "3.9")
            taken = cost(kcheck(*scan))
            print(f"{'fleet scan':13} two copies of {size.partitions}: {taken.seconds:.1f} s, {taken.megabytes:.0f} MB")


def compare(size: Size) -> None:
    """Print what the answer for a run takes by one machine and by Spark."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_run(folder / "out", size)
        asked = ("elect", "--from", f"{folder}/out", "--fail-on", "fatal")
        ways = {
            "local": (),
            "local, --output-dir": ("--output-dir", f"{folder}/plan"),
            "spark": ("--engine", "spark", "--master", "local[2]"),
        }
        for label, options in ways.items():
            start = time.perf_counter()
            found = used(kcheck(*asked, *options))
            wall = time.perf_counter() - start
            held = ", ".join(f"{kind} {own.memory >> 10} MB" for kind, own in sorted(found.items()))
            print(f"{label:13} {size.partitions} partitions: {wall:.1f} s; {held}", flush=True)


def decide(count: int) -> None:
    """Print what the decisions for half so many clusters, and for all, take."""
    with tempfile.TemporaryDirectory() as folder:
        for number in (count // 2, count):
            make_clusters(Path(folder) / str(number), number)
            taken = cost(kcheck("recover", "--from", f"{folder}/{number}"))
            print(f"recover --from {number} clusters: {taken.seconds:.1f} s, {taken.megabytes:.0f} MB", flush=True)


def main() -> None:
    """Measure what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", type=int, default=160_000)
    parser.add_argument("--brokers", type=int, default=12)
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--clusters", type=int, default=0)
    arguments = parser.parse_args()
    size = Size(10 if arguments.tiny else arguments.partitions, arguments.brokers)
    if arguments.clusters:
        decide(arguments.clusters)
        return
    if arguments.spark:
        compare(size)
        return
    measure(size, 1 if arguments.tiny else 2)


if __name__ == "__main__":
    main()
