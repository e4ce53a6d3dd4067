"""Plays a history of `kcheck simulate` on a real cluster, and tells where the two differ in the end."""

import signal
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kcheck.disk.read import opened
from kcheck.formats import offset_checkpoint
from kcheck.formats._new_entries import encoded
from kcheck.formats.offset_checkpoint import OffsetCheckpoint
from kcheck.model.cluster import PartitionRegistration
from kcheck.model.names import REPLICATION_OFFSET
from kcheck.segments.batches import Walk
from kcheck.simulation.directories import PARTITION, TOPIC, broker_id, magic_of
from kcheck.simulation.events import Event, EventKind
from kcheck.simulation.replay import HistoryStep, Replay
from kcheck.simulation.state import CONTROLLER as CONTROLLER_NODE
from kcheck.simulation.state import Node, ReplicaMode
from kcheck.views.metadata_copy import read_copy
from kcheck.views.zookeeper_copy import zookeeper_copy
from tests.oracle.histories import epoch_lines
from tests.oracle.jars import numbers, run_java
from tests.oracle.kafka import CONTROLLER_ID, Cluster, Process, wait_for
from tests.oracle.links import CONTROLLER, Links, Proxy, rounds
from tests.oracle.partitions import Led, make_known

CONFIG: dict[str, object] = {
    "auto.leader.rebalance.enable": "false",
    "replica.lag.time.max.ms": 3_600_000,
    "replica.fetch.wait.max.ms": 100,
    "replica.fetch.backoff.ms": 100,
    "replica.socket.timeout.ms": 600_000,
    "replica.high.watermark.checkpoint.interval.ms": 200,
    "log.index.size.max.bytes": 4096,
}
STEP = 6.0
"""Seconds until a cluster has done what an event does."""
SHORT_LAG = 4000
"""replica.lag.time.max.ms where a slow follower leaves the ISR."""
LEADER_EPOCH = 50
PRODUCE = 0
APPENDS = 4
"""How often a producer tries."""


class Stage:
    """A cluster that plays one history."""

    def __init__(self, run: Replay, begin: Callable[..., Cluster], folder: Path, version: str) -> None:
        self._run, self._links = run, Links()
        kraft = run.rules.election.kraft
        count = len(run.script.names)
        settings = {
            "unclean.leader.election.enable": str(run.rules.unclean).lower(),
            "min.insync.replicas": run.rules.min_isr,
        }
        old = {"log.message.format.version": run.script.topic.message_format} if run.script.topic.message_format else {}
        shrinks = any(
            isinstance(line.action, Event) and line.action.kind is EventKind.SHRINK for line in run.script.lines
        )
        slow = {"replica.lag.time.max.ms": SHORT_LAG} if shrinks else {}
        broker_config = {
            **CONFIG,
            **slow,
            **old,
            **({"controller.quorum.request.timeout.ms": 600_000} if kraft else settings),
        }
        self.cluster = begin(
            version, count if kraft else count + 1, dir=folder, mode="kraft" if kraft else "zk",
            broker_config=broker_config,
        )  # fmt: skip
        self._settings = ",".join(f"{name}={value}" for name, value in settings.items()) if kraft else ""
        self._count = count
        self._proxies = [Proxy(self._links, number, self.cluster[number].port) for number in range(1, count + 1)]
        for number, proxy in enumerate(self._proxies, 1):
            self._configure(self.cluster[number], f"advertised.listeners=PLAINTEXT://127.0.0.1:{proxy.port}")
        if kraft:
            beside = self.cluster.beside
            proxy = Proxy(self._links, CONTROLLER, beside.port)
            self._proxies.append(proxy)
            voters = f"controller.quorum.voters={CONTROLLER_ID}@127.0.0.1:{proxy.port}"
            for number in range(1, count + 1):
                self._configure(self.cluster[number], voters)
        self._connections: list[socket.socket] = []

    @staticmethod
    def _configure(broker: Process, line: str) -> None:
        with (broker.dir / "server.properties").open("a") as file:
            file.write(f"{line}\n")

    def play(self) -> list[str]:
        """Play the history; return where the cluster ends otherwise than the simulator."""
        try:
            self._begin()
            events = [line.action for line in self._run.script.lines if isinstance(line.action, Event)]
            for event, before, after in zip(events, self._run.steps[:-1], self._run.steps[1:], strict=True):
                self._play(event, before, after)
                self._settle(after)
            return self._differences()
        finally:
            for broker in self.cluster.brokers.values():
                if broker.alive:
                    broker.send(signal.SIGCONT)
            self._links.set_open(is_open=True)
            for link in list(self._links.held):
                self._links.release(link)
            self.cluster.kill()
            for connection in self._connections:
                connection.close()
            for proxy in self._proxies:
                proxy.close()

    def _begin(self) -> None:
        """Start the cluster: who leads first, and the ISR, are those of the history."""
        seats = self._run.steps[0].state.controller.seats
        replicas = [broker_id(number) for number in seats.replicas]
        leader = broker_id(seats.leader)
        make_known(self.cluster, {TOPIC: Led(replicas, LEADER_EPOCH, leader, self._settings)})
        if self.cluster.mode == "zk":
            self.cluster[self._count + 1].start()
        self.cluster[leader].start()
        wait_for("a leader", lambda: self._registration().leader == leader)
        self._links.set_open(is_open=False)
        for number in range(1, self._count + 1):
            if number != leader:
                self.cluster[number].spawn()
        wanted = {broker_id(number) for number in seats.isr}
        for number in range(1, self._count + 1):
            if number != leader:
                self.cluster[number].wait_started()
        deadline = time.monotonic() + 30
        while set(self._registration().isr) != wanted and time.monotonic() < deadline:
            for number in sorted(wanted - {leader}):
                self._links.fetch(number, 2)

    def _registration(self) -> PartitionRegistration:
        cluster = self.cluster
        if cluster.mode == "zk":
            image = zookeeper_copy(str(cluster.beside.dir)).metadata.image
        else:
            image = read_copy(str(cluster.beside.log_dirs[0] / "__cluster_metadata-0"), CONTROLLER_ID).image
        return next(row for topic, _, row in image.partitions() if topic.name == TOPIC)

    def _directory(self, number: int) -> Path:
        return self.cluster[number].log_dirs[0] / PARTITION

    def _end(self, number: int) -> int:
        """Return where the batches of a log end."""
        ends = [0]
        for log in self._directory(number).glob("*.log"):
            with opened(str(log)) as source:
                ends += [int(log.stem), *(batch.last_offset + 1 for batch in Walk(source, log.stat().st_size))]
        return max(ends)

    def _as_expected(self, step: HistoryStep) -> bool:
        """Whether the controller and the logs are as the simulator says."""
        seats = step.state.controller.seats
        row = self._registration()
        return (row.leader, set(row.isr)) == (
            -1 if seats.leader < 0 else broker_id(seats.leader),
            {broker_id(number) for number in seats.isr},
        ) and all(self._end(broker_id(number)) == _end_on_disk(node) for number, node in enumerate(step.state.nodes))

    def _settle(self, step: HistoryStep) -> None:
        """Return when the cluster is as the simulator says, or after some time; what differs shows in the end."""
        deadline = time.monotonic() + STEP
        while time.monotonic() < deadline:
            if self._as_expected(step):
                break
            time.sleep(0.05)
        time.sleep(0.3)  # The controller tells what it has written.

    def _play(self, event: Event, before: HistoryStep, after: HistoryStep) -> None:
        number = broker_id(event.broker)
        match event.kind:
            case EventKind.APPEND:
                leader = before.state.controller.seats.leader if event.broker < 0 else event.broker
                if leader >= 0:
                    self._append(leader, event, before, after)
            case EventKind.FETCH:
                for _ in range(event.amount):
                    self._links.fetch(number)
            case EventKind.FETCH_ALL:
                self._fetch_all(after)
            case EventKind.CRASH | EventKind.POWER_LOSS:
                self.cluster[number].kill()
                if event.kind is EventKind.POWER_LOSS:
                    self._cut(number, _end_on_disk(after.state.nodes[event.broker]))
                self._write_checkpoint(number, after.state.nodes[event.broker].checkpoint)
            case EventKind.STOP:
                self.cluster[number].stop()
            case EventKind.START if before.state.nodes[event.broker].running:
                self.cluster[number].send(signal.SIGCONT)
            case EventKind.START:
                self.cluster[number].start()
            case EventKind.FENCE if before.state.nodes[event.broker].running:
                self.cluster[number].send(signal.SIGSTOP)
            case EventKind.ELECT:
                self._elect(event, before)
            case EventKind.DELAY | EventKind.DELIVER | EventKind.DROP:
                link = tuple(
                    CONTROLLER if end == CONTROLLER_NODE else broker_id(end) for end in (event.broker, event.target)
                )
                if event.kind is EventKind.DELAY:
                    self._links.hold((link[0], link[1]))
                else:
                    self._links.release((link[0], link[1]), drop=event.kind is EventKind.DROP)
            case EventKind.SHRINK:
                pass  # It does not fetch, and is soon too slow.
            case EventKind.FENCE | EventKind.FLUSH | EventKind.CHECKPOINT | EventKind.WAIT:
                pass
            case _:
                raise NotImplementedError(event.kind)

    def _append(self, leader: int, event: Event, before: HistoryStep, after: HistoryStep) -> None:
        """Append to a leader, which may not know yet that it is the leader."""
        end = _end_on_disk(after.state.nodes[leader])
        for _ in range(APPENDS):
            self._produce(broker_id(leader), event, before)
            deadline = time.monotonic() + 3
            while time.monotonic() < deadline:
                if self._end(broker_id(leader)) >= end:
                    return
                time.sleep(0.05)

    def _produce(self, number: int, event: Event, before: HistoryStep) -> None:
        """Send a batch; its answer may need followers that fetch later."""
        magic, append = magic_of(self._run), len(before.state.appends)
        values = [f"append {append} record {at}".encode() for at in range(event.amount)]
        records = encoded(magic, 0, -1, values)
        name = TOPIC.encode()
        body = struct.pack(">h", -1) if magic > 1 else b""
        body += struct.pack(">hii", int(event.acks), 30_000, 1) + struct.pack(">h", len(name)) + name
        body += struct.pack(">iii", 1, 0, len(records)) + records
        head = struct.pack(">hhih", PRODUCE, 3 if magic > 1 else 2, 1, 6) + b"kcheck"
        connection = socket.create_connection(("127.0.0.1", self.cluster[number].port), timeout=30)
        self._connections.append(connection)
        connection.sendall(struct.pack(">i", len(head) + len(body)) + head + body)

    def _fetch_all(self, after: HistoryStep) -> None:
        followers = {
            broker_id(number)
            for number, node in enumerate(after.state.nodes)
            if node.running and node.mode in (ReplicaMode.FETCHING, ReplicaMode.TRUNCATING)
        }
        self._links.set_open(is_open=True)
        deadline = time.monotonic() + STEP
        while time.monotonic() < deadline and not self._as_expected(after):
            time.sleep(0.05)
        rounds(self._links, followers, 4, 10)
        self._links.set_open(is_open=False)

    def _cut(self, number: int, end: int) -> None:
        for log in sorted(self._directory(number).glob("*.log")):
            with opened(str(log)) as source:
                size = log.stat().st_size
                at = next((batch.position for batch in Walk(source, size) if batch.last_offset >= end), size)
            with log.open("r+b") as file:
                file.truncate(at)

    def _write_checkpoint(self, number: int, offset: int) -> None:
        """Leave the high watermark of an earlier moment: the thread that writes it had not run since."""
        value = OffsetCheckpoint(0, (TOPIC,), (0,), (offset,))
        (self.cluster[number].log_dirs[0] / REPLICATION_OFFSET).write_bytes(offset_checkpoint.serialize(value))

    def _elect(self, event: Event, before: HistoryStep) -> None:
        cluster, version = self.cluster, numbers(self.cluster.version)
        alive = next(number for number, broker in cluster.brokers.items() if broker.alive)
        where = ("--bootstrap-server", f"127.0.0.1:{cluster[alive].port}")
        zookeeper = ("--zookeeper", f"127.0.0.1:{cluster.beside.port}")
        package = "org.apache.kafka.tools" if version >= (3, 7) else "kafka.admin"
        if not event.unclean:
            order = [event.broker, *(one for one in before.state.controller.seats.replicas if one != event.broker)]
            rows = ",".join(str(broker_id(one)) for one in order)
            plan = cluster.dir / "replicas.json"
            row = f'{{"topic":"{TOPIC}","partition":0,"replicas":[{rows}]}}'
            plan.write_text(f'{{"version":1,"partitions":[{row}]}}')
            tool = f"{'org.apache.kafka.tools.reassign' if version >= (3, 7) else package}.ReassignPartitionsCommand"
            arguments = where if version >= (2, 6) else zookeeper
            run_java(cluster.version, tool, *arguments, "--execute", "--reassignment-json-file", str(plan))
            wait_for("new order", lambda: self._registration().replicas[0] == broker_id(event.broker))
        if version >= (2, 4):
            kind = "UNCLEAN" if event.unclean else "PREFERRED"
            only = ("--election-type", kind, "--topic", TOPIC, "--partition", "0")
            run_java(cluster.version, f"{package}.LeaderElectionCommand", *where, *only)
        elif not event.unclean:
            only_it = cluster.dir / "elect.json"
            only_it.write_text(f'{{"partitions":[{{"topic":"{TOPIC}","partition":0}}]}}')
            name = "kafka.admin.PreferredReplicaLeaderElectionCommand"
            run_java(cluster.version, name, *zookeeper, "--path-to-json-file", str(only_it))

    def _differences(self) -> list[str]:
        """Return what differs: leader, ISR, and of each broker its log end, epochs and high watermark."""
        last = self._run.steps[-1].state
        time.sleep(1)  # High watermarks are written.
        row = self._registration()
        seats = last.controller.seats
        ours: dict[str, Any] = {
            "leader": -1 if seats.leader < 0 else broker_id(seats.leader),
            "isr": sorted(broker_id(number) for number in seats.isr),
        }
        theirs: dict[str, Any] = {"leader": row.leader, "isr": sorted(row.isr)}
        for number, node in enumerate(last.nodes):
            name, broker = self._run.script.names[number], self.cluster[broker_id(number)]
            ours[name] = (
                node.running,
                _end_on_disk(node),
                tuple((int(epoch), int(start)) for epoch, start in node.epochs),
                node.high_watermark if node.running else node.checkpoint,
            )
            marks = offset_checkpoint.parse((broker.log_dirs[0] / REPLICATION_OFFSET).read_bytes()).value.by_topic()
            epochs = tuple(epoch_lines(self._directory(broker_id(number))))
            theirs[name] = (broker.alive, self._end(broker_id(number)), epochs, marks.get(TOPIC, {}).get(0, 0))
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


def _end_on_disk(node: Node) -> int:
    return node.batches[-1].end_offset if node.batches else node.log_start_offset
