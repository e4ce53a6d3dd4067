"""What a real cluster has after a history of `kcheck simulate`, beside what the simulator says of it."""

import time
from pathlib import Path
from typing import Any, NamedTuple

from kcheck.disk.local import LOCAL
from kcheck.formats import offset_checkpoint
from kcheck.model.cluster import PartitionRegistration
from kcheck.model.entries import EpochEntries
from kcheck.model.names import REPLICATION_OFFSET
from kcheck.segments.batches import Walk
from kcheck.simulation.directories import broker_id
from kcheck.simulation.replay import HistoryStep, Replay
from kcheck.simulation.state import EpochsFile, Node
from kcheck.views.metadata_copy import read_copy
from kcheck.views.zookeeper_copy import zookeeper_copy
from tests.oracle.histories import epoch_lines
from tests.oracle.kafka import CONTROLLER_ID, Cluster


class Played(NamedTuple):
    """The one partition of a topic, in a cluster whose brokers stand for those of the simulator."""

    cluster: Cluster
    topic: str

    def found(self) -> PartitionRegistration | None:
        """Return what the controller has of the partition; None while it does not know the topic."""
        cluster = self.cluster
        if cluster.mode == "zk":
            image = zookeeper_copy(str(cluster.beside.dir)).metadata.image
        else:
            image = read_copy(LOCAL, str(cluster.beside.log_dirs[0] / "__cluster_metadata-0"), CONTROLLER_ID).image
        return next((row for topic, _, row in image.partitions() if topic.name == self.topic), None)

    def registration(self) -> PartitionRegistration:
        """Return what the controller has of the partition, which is there."""
        found = self.found()
        assert found is not None
        return found

    def directory(self, number: int) -> Path:
        """Return the directory of a broker's replica."""
        return self.cluster[number].log_dirs[0] / f"{self.topic}-0"

    def end(self, number: int) -> int:
        """Return where the batches of a log end."""
        ends = [0]
        for log in self.directory(number).glob("*.log"):
            with LOCAL.open(str(log)) as source:
                ends += [int(log.stem), *(batch.last_offset + 1 for batch in Walk(source, log.stat().st_size))]
        return max(ends)

    def is_as_expected(self, step: HistoryStep) -> bool:
        """Whether the controller and the logs are as the simulator says."""
        seats = step.state.controller.seats
        row = self.registration()
        return (row.leader, set(row.isr)) == (
            -1 if seats.leader < 0 else broker_id(seats.leader),
            {broker_id(number) for number in seats.isr},
        ) and all(self.end(broker_id(number)) == end_on_disk(node) for number, node in enumerate(step.state.nodes))

    def differences(self, run: Replay) -> list[str]:
        """Return what differs: leader, ISR, and of each broker its log end, epochs and high watermark."""
        last = run.steps[-1].state
        time.sleep(1)  # High watermarks are written.
        row = self.registration()
        seats = last.controller.seats
        ours: dict[str, Any] = {
            "leader": -1 if seats.leader < 0 else broker_id(seats.leader),
            "isr": sorted(broker_id(number) for number in seats.isr),
        }
        theirs: dict[str, Any] = {"leader": row.leader, "isr": sorted(row.isr)}
        for number, node in enumerate(last.nodes):
            name, broker = run.script.names[number], self.cluster[broker_id(number)]
            ours[name] = (
                node.running,
                end_on_disk(node),
                tuple((int(epoch), int(start)) for epoch, start in _epochs_on_disk(node)),
                node.high_watermark if node.running else node.checkpoint,
            )
            marks = offset_checkpoint.parse((broker.log_dirs[0] / REPLICATION_OFFSET).read_bytes()).value.by_topic()
            directory = self.directory(broker_id(number))
            epochs = tuple(epoch_lines(directory))
            mark = marks.get(self.topic, {}).get(0, 0) if directory.exists() else 0
            theirs[name] = (broker.alive, self.end(broker_id(number)), epochs, mark)
        ours, theirs = _ranked(ours), _ranked(theirs)
        return [f"{name}: {theirs[name]}, not {ours[name]}" for name in ours if ours[name] != theirs[name]]


def _ranked(seen: dict[str, Any]) -> dict[str, Any]:
    """Return the same with epochs numbered from 0 on: a tool that moves a leader may need two elections."""
    known = sorted({epoch for value in seen.values() if isinstance(value, tuple) for epoch, _ in value[2]})
    return {
        name: (*value[:2], tuple((known.index(epoch), start) for epoch, start in value[2]), value[3])
        if isinstance(value, tuple)
        else value
        for name, value in seen.items()
    }


def _epochs_on_disk(node: Node) -> EpochEntries:
    return () if node.epochs_file is EpochsFile.TORN else node.epochs


def end_on_disk(node: Node) -> int:
    """Return where the log of a simulated broker ends."""
    return node.batches[-1].end_offset if node.batches else node.log_start_offset
