"""Plays histories of `kcheck simulate` on a real cluster."""

import json
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from kcheck.disk.local import LOCAL
from kcheck.formats import offset_checkpoint
from kcheck.formats.offset_checkpoint import OffsetCheckpoint
from kcheck.model.names import LEADER_EPOCHS, REPLICATION_OFFSET
from kcheck.records.new_entries import encoded
from kcheck.segments.batches import Walk
from kcheck.simulation.directories import TOPIC, broker_id, magic_of
from kcheck.simulation.events import Event, EventKind
from kcheck.simulation.replay import HistoryStep, Replay
from kcheck.simulation.state import CONTROLLER as CONTROLLER_NODE
from kcheck.simulation.state import EpochsFile, ReplicaMode
from tests.oracle.admin_requests import create_topic, delete_records, delete_topic, elect, reorder
from tests.oracle.clusters.played import Played, end_on_disk
from tests.oracle.jars import numbers, run_java
from tests.oracle.kafka import CONTROLLER_ID, Cluster, Process, wait_for
from tests.oracle.links import CONTROLLER, Links, Proxy, rounds
from tests.oracle.partitions import Led, make_known

CONFIG: dict[str, object] = {
    "auto.leader.rebalance.enable": "false",
    "delete.topic.enable": "true",
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
ADMIN_ELECTIONS = (2, 4)
"""The first release that elects and reorders replicas at an admin's request; before, a tool tells ZooKeeper."""
APPENDS = 4
"""How often a producer tries."""


class Stage:
    """A cluster that plays histories one after the other, each with a topic of its own."""

    def __init__(self, runs: Sequence[Replay], begin: Callable[..., Cluster], folder: Path, version: str) -> None:
        """Make the cluster; all histories have one controller mode, and `can_share` where there are several."""
        self._runs, self._run, self._links = runs, runs[0], Links()
        kraft = self._run.rules.election.kraft
        self._count = max(len(run.script.names) for run in runs)
        message_format = self._run.script.topic.message_format
        broker_config = {
            **CONFIG,
            **({"replica.lag.time.max.ms": SHORT_LAG} if _shrinks(self._run) else {}),
            **({"log.message.format.version": message_format} if message_format else {}),
            **({"controller.quorum.request.timeout.ms": 600_000} if kraft else _settings(self._run)),
        }
        self.cluster = begin(
            version, self._count if kraft else self._count + 1, dir=folder, mode="kraft" if kraft else "zk",
            broker_config=broker_config,
        )  # fmt: skip
        self._partition = Played(self.cluster, TOPIC)
        self._proxies = [Proxy(self._links, number, self.cluster[number].port) for number in self._numbers]
        for number, proxy in zip(self._numbers, self._proxies, strict=True):
            self._configure(self.cluster[number], f"advertised.listeners=PLAINTEXT://127.0.0.1:{proxy.port}")
        if kraft:
            beside = self.cluster.beside
            proxy = Proxy(self._links, CONTROLLER, beside.port)
            self._proxies.append(proxy)
            voters = f"controller.quorum.voters={CONTROLLER_ID}@127.0.0.1:{proxy.port}"
            for number in self._numbers:
                self._configure(self.cluster[number], voters)
        self._connections: list[socket.socket] = []

    @property
    def _numbers(self) -> range:
        return range(1, self._count + 1)

    @staticmethod
    def _configure(broker: Process, line: str) -> None:
        with (broker.dir / "server.properties").open("a") as file:
            file.write(f"{line}\n")

    def play(self) -> Iterator[list[str]]:
        """Play the histories; yield of each where the cluster ends otherwise than the simulator."""
        try:
            for number, run in enumerate(self._runs):
                self._run = run
                if number:
                    self._go_on(f"{TOPIC}{number}")
                else:
                    self._begin()
                events = [line.action for line in run.script.lines if isinstance(line.action, Event)]
                for event, before, after in zip(events, run.steps[:-1], run.steps[1:], strict=True):
                    self._play(event, before, after)
                    self._settle(after)
                yield self._partition.differences(self._run)
        finally:
            self._let_go()
            self.cluster.kill()
            for connection in self._connections:
                connection.close()
            for proxy in self._proxies:
                proxy.close()

    def _let_go(self) -> None:
        """Hold nothing and nobody any more."""
        for broker in self.cluster.brokers.values():
            if broker.alive:
                broker.send(signal.SIGCONT)
        self._links.set_open(is_open=True)
        for link in list(self._links.held):
            self._links.release(link)

    def _begin(self) -> None:
        """Start the cluster: who leads first, and the ISR, are those of the history."""
        seats = self._run.steps[0].state.controller.seats
        replicas = [broker_id(number) for number in seats.replicas]
        leader = broker_id(seats.leader)
        kraft = self.cluster.mode == "kraft"
        settings = ",".join(f"{name}={value}" for name, value in _settings(self._run).items()) if kraft else ""
        make_known(self.cluster, {TOPIC: Led(replicas, LEADER_EPOCH, leader, settings)})
        if not kraft:
            self.cluster[self._count + 1].start()
        self.cluster[leader].start()
        wait_for("a leader", lambda: self._partition.registration().leader == leader)
        self._links.set_open(is_open=False)
        followers = [number for number in self._numbers if number != leader]
        for number in followers:
            self.cluster[number].spawn()
        for number in followers:
            self.cluster[number].wait_started()
        self._join()

    def _go_on(self, topic: str) -> None:
        """Delete the topic of the history before; create that of this one, on brokers that all run."""
        self._let_go()
        down = [broker for broker in self.cluster.brokers.values() if not broker.alive]
        for broker in down:
            broker.spawn()
        for broker in down:
            broker.wait_started()
        cluster, old = self.cluster, self._partition.topic
        delete_topic(self._admin, cluster.version, old)
        directories = [self._partition.directory(number) for number in self._numbers]
        wait_for("the deletion", lambda: not any(directory.exists() for directory in directories))
        self._links.set_open(is_open=False)
        self._links.permits.clear()
        self._partition = Played(cluster, topic)
        replicas = [broker_id(number) for number in self._run.steps[0].state.controller.seats.replicas]
        create_topic(self._admin, cluster.version, topic, replicas, _settings(self._run))
        wait_for("logs", lambda: all(self._partition.directory(number).exists() for number in replicas))
        self._join()
        for number in replicas[1:]:
            self._links.fetch(number)

    @property
    def _admin(self) -> int:
        """The port of a broker that does what an admin asks: with ZooKeeper the controller."""
        brokers = self.cluster.brokers.items()
        alive = {number: broker.port for number, broker in brokers if broker.alive}
        return alive[max(alive) if self.cluster.mode == "zk" else min(alive)]

    def _join(self) -> None:
        """Let followers fetch until the ISR is that of the history."""
        seats = self._run.steps[0].state.controller.seats
        wanted = {broker_id(number) for number in seats.isr}
        wait_for("the topic", lambda: self._partition.found() is not None)
        deadline = time.monotonic() + 30
        while set(self._partition.registration().isr) != wanted and time.monotonic() < deadline:
            for number in sorted(wanted - {broker_id(seats.leader)}):
                self._links.fetch(number, 2)

    def _settle(self, step: HistoryStep) -> None:
        """Return when the cluster is as the simulator says, or after some time; what differs shows in the end."""
        deadline = time.monotonic() + STEP
        while time.monotonic() < deadline:
            if self._partition.is_as_expected(step):
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
                    self._cut(number, end_on_disk(after.state.nodes[event.broker]))
                    if after.state.nodes[event.broker].epochs_file is EpochsFile.TORN:
                        file = self._partition.directory(number) / LEADER_EPOCHS
                        file.write_bytes(bytes(file.stat().st_size))
                self._write_checkpoint(number, after.state.nodes[event.broker].checkpoint)
            case EventKind.STOP:
                self.cluster[number].stop()
            case EventKind.START if before.state.nodes[event.broker].running:
                self.cluster[number].send(signal.SIGCONT)
            case EventKind.START if not after.state.nodes[event.broker].running:
                self.cluster[number].spawn()
                wait_for("an exit", lambda: not self.cluster[number].alive)
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
            case EventKind.REASSIGN:
                reorder(self._admin, self._partition.topic, [broker_id(one) for one in event.brokers])
            case EventKind.SHRINK:
                pass  # It does not fetch, and is soon too slow.
            case EventKind.TRIM:
                delete_records(self.cluster[number].port, self._partition.topic, event.offset or 0)
            case EventKind.FENCE | EventKind.FLUSH | EventKind.CHECKPOINT | EventKind.WAIT | EventKind.READ:
                pass
            case _:
                raise NotImplementedError(event.kind)

    def _append(self, leader: int, event: Event, before: HistoryStep, after: HistoryStep) -> None:
        """Append to a leader, which may not know yet that it is the leader."""
        end = end_on_disk(after.state.nodes[leader])
        for _ in range(APPENDS):
            self._produce(broker_id(leader), event, before)
            deadline = time.monotonic() + 3
            while time.monotonic() < deadline:
                if self._partition.end(broker_id(leader)) >= end:
                    return
                time.sleep(0.05)

    def _produce(self, number: int, event: Event, before: HistoryStep) -> None:
        """Send a batch; its answer may need followers that fetch later."""
        magic, append = magic_of(self._run), len(before.state.appends)
        values = [f"append {append} record {at}".encode() for at in range(event.amount)]
        records = encoded(magic, 0, -1, values)
        name = self._partition.topic.encode()
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
        while time.monotonic() < deadline and not self._partition.is_as_expected(after):
            time.sleep(0.05)
        rounds(self._links, followers, 4, 10)
        self._links.set_open(is_open=False)

    def _cut(self, number: int, end: int) -> None:
        for log in sorted(self._partition.directory(number).glob("*.log")):
            with LOCAL.open(str(log)) as source:
                size = log.stat().st_size
                at = next((batch.position for batch in Walk(source, size) if batch.last_offset >= end), size)
            with log.open("r+b") as file:
                file.truncate(at)

    def _write_checkpoint(self, number: int, offset: int) -> None:
        """Leave the high watermark of an earlier moment: the thread that writes it had not run since."""
        value = OffsetCheckpoint(0, (self._partition.topic,), (0,), (offset,))
        (self.cluster[number].log_dirs[0] / REPLICATION_OFFSET).write_bytes(offset_checkpoint.serialize(value))

    def _elect(self, event: Event, before: HistoryStep) -> None:
        """Let a broker lead: as the first replica, or because it alone can."""
        chosen = broker_id(event.broker)
        others = (broker_id(one) for one in before.state.controller.seats.replicas if one != event.broker)
        is_new = numbers(self.cluster.version) >= ADMIN_ELECTIONS
        if not event.unclean:
            order = [chosen, *others]
            if is_new:
                reorder(self._admin, self._partition.topic, order)
            else:
                row = {"topic": self._partition.topic, "partition": 0, "replicas": order}
                tool = "kafka.admin.ReassignPartitionsCommand"
                self._tool(tool, {"version": 1, "partitions": [row]}, "--execute", "--reassignment-json-file")
            wait_for("new order", lambda: self._partition.registration().replicas[0] == chosen)
        if is_new:
            elect(self._admin, self._partition.topic, unclean=event.unclean)
        elif not event.unclean:
            partitions = {"partitions": [{"topic": self._partition.topic, "partition": 0}]}
            self._tool("kafka.admin.PreferredReplicaLeaderElectionCommand", partitions, "--path-to-json-file")

    def _tool(self, name: str, plan: object, *options: str) -> None:
        """Run a tool that tells ZooKeeper what to do."""
        path = self.cluster.dir / "plan.json"
        path.write_text(json.dumps(plan))
        where = f"127.0.0.1:{self.cluster.beside.port}"
        run_java(self.cluster.version, name, "--zookeeper", where, *options, str(path))


def can_share(run: Replay) -> bool:
    """Whether a history begins as a new topic does, and needs no broker that is configured for it."""
    seats = run.steps[0].state.controller.seats
    is_plain = seats.leader == seats.replicas[0] and set(seats.isr) == set(seats.replicas)
    return is_plain and not _shrinks(run) and not run.script.topic.message_format


def _shrinks(run: Replay) -> bool:
    actions = (line.action for line in run.script.lines)
    return any(isinstance(action, Event) and action.kind is EventKind.SHRINK for action in actions)


def _settings(run: Replay) -> dict[str, str]:
    unclean = str(run.rules.unclean).lower()
    return {"unclean.leader.election.enable": unclean, "min.insync.replicas": str(run.rules.min_isr)}
