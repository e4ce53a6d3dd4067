"""Real brokers start on the log dirs that `kcheck simulate --write` leaves, and load what the simulator says.

Each broker that is down in a shipped history is a partition: after a controlled shutdown it lies on broker 1, which has
stopped cleanly, otherwise on broker 2. `KCHECK_SWEEP=1` asks all RELEASES.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from kcheck.errors import UsageError
from kcheck.formats import offset_checkpoint
from kcheck.formats.offset_checkpoint import OffsetCheckpoint
from kcheck.model.names import CLEAN_SHUTDOWN, LOG_START, PARTITION_METADATA, RECOVERY_POINT, REPLICATION_OFFSET
from kcheck.simulation.directories import PARTITION, broker_id, files_after
from kcheck.simulation.logs import started
from kcheck.simulation.replay import replay
from kcheck.simulation.script import parse
from kcheck.verbs.simulate import histories
from tests.builders import write
from tests.oracle.ask import IS_WHOLE
from tests.oracle.histories import epoch_lines
from tests.oracle.jars import numbers
from tests.oracle.kafka import Cluster
from tests.oracle.partitions import Led, make_known

pytestmark = pytest.mark.oracle

SAMPLED = ("4.3.1",)
RELEASES = (*SAMPLED, "2.8.2", "0.10.2.2", "0.11.0.3", "1.1.1", "2.0.1", "2.4.1", "3.5.2", "3.9.2", "4.0.2")
EPOCH = 1000
"""The leader epoch of the partitions: above those of every history."""
CONFIG: dict[str, object] = {"auto.leader.rebalance.enable": "false", "log.index.size.max.bytes": 4096}
CHECKPOINTS = (RECOVERY_POINT, REPLICATION_OFFSET, LOG_START)
LOGS_HIGH_WATERMARKS_FROM = (0, 11)
_LOADED = re.compile(r"oaded for partition (t\d+)-0 with initial high watermark (\d+)")


class Loaded(NamedTuple):
    """What a broker has after its start, before it leads."""

    log_end_offset: int
    high_watermark: int | None
    epochs: tuple[tuple[int, int], ...]


class Case(NamedTuple):
    """A broker that is down: its files, and what the simulator says of its start."""

    name: str
    files: Mapping[str, bytes]
    clean: bool
    loads: Loaded


def cases(version: str) -> Iterator[Case]:
    """Yield the brokers that are down in the shipped histories, each state of their disks once."""
    for history in histories():
        try:
            run = replay(parse(history.text, history.name), version)
        except UsageError:
            continue  # This release has no such controller.
        seen = set()
        for step, row in enumerate(run.steps):
            for number, node in enumerate(row.state.nodes):
                disk = (node.batches, node.epochs, node.checkpoint, node.flushed, node.log_start_offset, node.clean)
                if node.running or disk in seen:
                    continue
                seen.add(disk)
                prefix = f"broker-{broker_id(number)}/"
                files = files_after(run, step).items()
                own = {path.removeprefix(prefix): data for path, data in files if path.startswith(prefix)}
                after = started(node, run.rules.release)
                epochs = tuple((int(epoch), int(start)) for epoch, start in after.epochs)
                loads = Loaded(after.log_end_offset, after.high_watermark, epochs)
                yield Case(f"{history.name} {step} {run.script.names[number]}", own, node.clean, loads)


@pytest.mark.parametrize("version", RELEASES if IS_WHOLE else SAMPLED)
def test_a_broker_loads_what_was_written(version: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """Log end, high watermark and leader epochs."""
    mode = "kraft" if numbers(version) >= (4,) else "zk"
    cluster = start(version, 2, dir=tmp_path / "cluster", mode=mode, broker_config=CONFIG)
    topics = {f"t{number}": case for number, case in enumerate(cases(version))}
    homes = {topic: 1 if case.clean else 2 for topic, case in topics.items()}
    for number, broker in cluster.brokers.items():
        _write(broker.log_dirs[0], {topic: case for topic, case in topics.items() if homes[topic] == number})
    try:
        make_known(cluster, {topic: Led((home,), EPOCH) for topic, home in homes.items()})
        cluster.start()
        for broker in cluster.brokers.values():
            broker.stop()
    finally:
        cluster.kill()
    wrong = []
    for number, broker in cluster.brokers.items():
        marks = {found[1]: int(found[2]) for found in _LOADED.finditer(broker.log_since_start())}
        ends = offset_checkpoint.parse((broker.log_dirs[0] / REPLICATION_OFFSET).read_bytes()).value.by_topic()
        for topic in (topic for topic, home in homes.items() if home == number):
            lines = epoch_lines(broker.log_dirs[0] / f"{topic}-0")
            epochs = tuple(line for line in lines if line[0] < EPOCH)
            mark = marks.get(topic)
            if mark is None and numbers(version) < LOGS_HIGH_WATERMARKS_FROM:
                mark = topics[topic].loads.high_watermark
            loaded = Loaded(ends[topic][0], mark, epochs)
            if loaded != topics[topic].loads:
                wrong.append(f"{topics[topic].name}: {loaded}, not {topics[topic].loads}")
    assert not wrong, "\n".join(wrong)
    assert len(topics) >= 10


def _write(log_dir: Path, topics: Mapping[str, Case]) -> None:
    """Write partitions into the log dir of a broker; those of ZooKeeper get their topic id from the controller."""
    checkpoints: dict[str, dict[str, int]] = {name: {} for name in CHECKPOINTS}
    for topic, case in topics.items():
        begins = f"{PARTITION}/"
        own = {path.removeprefix(begins): data for path, data in case.files.items() if path.startswith(begins)}
        write(log_dir / f"{topic}-0", {name: data for name, data in own.items() if name != PARTITION_METADATA})
        for name in CHECKPOINTS:
            for entry in offset_checkpoint.parse(case.files.get(name, b"0\n0\n")).value:
                checkpoints[name][topic] = entry.offset
        if case.clean:
            write(log_dir, {CLEAN_SHUTDOWN: case.files[CLEAN_SHUTDOWN]})
    for name, offsets in checkpoints.items():
        value = OffsetCheckpoint(0, list(offsets), [0] * len(offsets), list(offsets.values()))
        write(log_dir, {name: offset_checkpoint.serialize(value)})
