"""A cluster with controllers of its own whose disks are lost, and the way back that kcheck plans, done to it.

The cluster of a release and a kind is made once, killed, and copied for each test: its nodes keep their ports.
"""

import json
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from kcheck.api import rescue_progress
from kcheck.disk.local import LOCAL
from kcheck.model.cluster import MIN_ISR, ClusterImage
from kcheck.model.names import log_name
from kcheck.plans.recover_metadata import MetadataRecovery
from kcheck.plans.recover_quorum import QuorumRecovery
from kcheck.segments.batches import Walk
from kcheck.views.metadata_copy import read_copy
from tests.cli.command import kcheck
from tests.oracle.incidents.client import Client
from tests.oracle.jars import LOG4J, java_command
from tests.oracle.kafka import BROKER_STARTED, TIMEOUT, Process, free_port, wait_for

METADATA = "__cluster_metadata-0"
CONTROLLERS, BROKERS = (101, 102, 103), (1, 2)
LEADS = re.compile("Completed transition to Leader")
STORAGE, QUORUM = "kafka.tools.StorageTool", "org.apache.kafka.tools.MetadataQuorumCommand"
TOPICS = {"orders": 2, "single": 1}
"""The partitions of the topics that a test makes."""


AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "allow.everyone.if.no.acl.found": "true",
}
_ACCESS = ("AccessControlEntryRecord", "UserScramCredentialRecord", "ClientQuotaRecord")
Access = list[tuple[str, dict[str, Any]]]


Topics = dict[str, tuple[str, dict[int, tuple[int, ...]]]]


class Nodes:
    """Controllers 101 to 103 and brokers 1 and 2, as processes in a folder; leaving the block kills them."""

    def __init__(
        self,
        version: str,
        folder: Path,
        *,
        dynamic: bool,
        places: dict[int, int],
        cluster_id: str,
        disks: int = 1,
        controllers: Sequence[int] = CONTROLLERS,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        self.version, self.dir, self.dynamic = version, folder, dynamic
        self.disks, self.controllers, self.settings = disks, controllers, settings or {}
        self.places, self.cluster_id = places, cluster_id
        self.nodes: dict[int, Process] = {}
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "log4j.properties").write_text(LOG4J.format(level="INFO", target="out"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for node in self.nodes.values():
            node.kill()

    def __getitem__(self, number: int) -> Process:
        return self.nodes[number]

    def add(self, number: int, voters: Sequence[int] | None = None) -> Process:
        """Add a node whose configuration names these voters."""
        folder = self.dir / f"node-{number}"
        folder.mkdir(exist_ok=True)
        self.places.setdefault(number, free_port())
        self.configure(number, voters or self.controllers)
        node = Process(
            self.version, folder, "kafka.Kafka", folder / "server.properties", BROKER_STARTED, self.places[number]
        )
        node.log_dirs = self.log_dirs(number)
        self.nodes[number] = node
        return node

    def log_dirs(self, number: int) -> list[Path]:
        """Return the log dirs of a node: a controller has one."""
        folder = self.dir / f"node-{number}"
        return [folder / name for name in ("data", "data2", "data3")[: self.disks if number < CONTROLLERS[0] else 1]]

    def configure(self, number: int, voters: Sequence[int]) -> None:
        """Write the server.properties of a node."""
        role, listener = ("controller", "CONTROLLER") if number >= 100 else ("broker", "PLAINTEXT")
        places = {voter: f"127.0.0.1:{self.places.setdefault(voter, free_port())}" for voter in voters}
        quorum = (
            {"controller.quorum.bootstrap.servers": ",".join(places.values())}
            if self.dynamic
            else {"controller.quorum.voters": ",".join(f"{voter}@{place}" for voter, place in places.items())}
        )
        folder = self.dir / f"node-{number}"
        lines = {
            "process.roles": role, "node.id": number, "listeners": f"{listener}://127.0.0.1:{self.places[number]}",
            "controller.listener.names": "CONTROLLER", "log.dirs": ",".join(map(str, self.log_dirs(number))),
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "broker.session.timeout.ms": 6000, "broker.heartbeat.interval.ms": 1000,
            "offsets.topic.replication.factor": 2, "offsets.topic.num.partitions": 1,
            "transaction.state.log.replication.factor": 2, "transaction.state.log.num.partitions": 1,
            "transaction.state.log.min.isr": 1, "group.initial.rebalance.delay.ms": 0,
            "log.cleaner.dedupe.buffer.size": 4 << 20, "socket.request.max.bytes": 10 << 20,
            "metadata.log.max.record.bytes.between.snapshots": 6000, **AUTHORIZER, **quorum, **self.settings,
        }  # fmt: skip
        (folder / "server.properties").write_text("".join(f"{name}={value}\n" for name, value in lines.items()))

    def format(self, number: int, *arguments: str) -> None:
        """Format the disk of a node."""
        settings = str(self.dir / f"node-{number}" / "server.properties")
        command = java_command(self.version, STORAGE, "format", "-t", self.cluster_id, "-c", settings, *arguments)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stdout + done.stderr

    def start(self, *each: int) -> None:
        """Start nodes, and return when they have started.

        4.3.1 can die of a late answer to a fetch (KafkaRaftClient.handleFetchResponse): such a node is started again.
        """
        for number in each:
            self[number].spawn()
        for number in each:
            try:
                self[number].wait_started()
            except RuntimeError as died:
                if "Expected to be Follower, but the current state is" not in str(died):
                    raise
                self[number].spawn()
                self[number].wait_started()

    def kill(self) -> None:
        """Kill all nodes."""
        for node in self.nodes.values():
            node.kill()

    @property
    def bootstrap(self) -> str:
        """The value of bootstrap.servers."""
        return ",".join(f"127.0.0.1:{self.places[number]}" for number in BROKERS)

    def metadata(self, number: int) -> Path:
        """Return the metadata log of a node."""
        return self[number].log_dirs[0] / METADATA

    def image(self, number: int) -> ClusterImage:
        """Return the metadata that a node has."""
        return read_copy(LOCAL, str(self.metadata(number)), number).image

    def end(self, number: int) -> int:
        """Return where the metadata log of a node ends."""
        return read_copy(LOCAL, str(self.metadata(number)), number).end

    def age(self, number: int) -> tuple[int, int]:
        """Return the epoch and the end of the metadata log of a node: the greatest is the newest."""
        copy = read_copy(LOCAL, str(self.metadata(number)), number)
        return copy.epoch, copy.end

    def strays(self) -> list[str]:
        """Return the directories that brokers have put aside because the metadata do not know them."""
        here = [self[number] for number in BROKERS if number in self.nodes]
        found = (path for node in here for disk in node.log_dirs for path in disk.glob("*-stray"))
        return sorted(re.sub(r"\.[0-9a-f]{32}-stray", "", path.name) for path in found)

    def tool(self, name: str, *arguments: str) -> str:
        """Run a tool of Kafka; return what it prints."""
        command = java_command(self.version, name, *arguments)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stdout + done.stderr
        return done.stdout

    def arguments(self, *each: int) -> list[str]:
        """Return NODE=PATH of some nodes, by their server.properties."""
        return [f"{number}={self.dir / f'node-{number}' / 'server.properties'}" for number in each]


def made(
    version: str,
    folder: Path,
    *,
    dynamic: bool,
    disks: int = 1,
    clean: bool = False,
    controllers: Sequence[int] = CONTROLLERS,
) -> Path:
    """Make a cluster with topics, records, a configuration and a group, and kill all of it at once, or stop it.

    Its brokers have some log dirs.
    """
    done = folder / "picture.json"
    if done.exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    cluster_id = "AAAAAAAAQAaAAAAAAAAAAA"
    known: dict[str, Any] = {"places": {}, "cluster_id": cluster_id, "disks": disks, "controllers": controllers}
    with Nodes(version, folder / "now", dynamic=dynamic, **known) as nodes:
        ids = {number: f"AAAAAAAAQAaAAAAAAAA{number}" for number in controllers}
        nodes.places |= {number: free_port() for number in (*controllers, *BROKERS)}
        for number in (*controllers, *BROKERS):
            nodes.add(number)
            voters = ",".join(f"{one}@127.0.0.1:{nodes.places[one]}:{ids[one]}" for one in controllers)
            initial = ("--initial-controllers", voters) if number >= 100 else ("--no-initial-controllers",)
            nodes.format(number, *(initial if dynamic else ()))
        nodes.start(*controllers)  # 3.9 cannot register while they elect: its requests time out, again and again
        wait_for("a leader", lambda: any(LEADS.search(nodes[one].log_since_start()) for one in controllers))
        nodes.start(*BROKERS)
        with Client(nodes.bootstrap) as client:
            for command in (
                "create orders 1,2;2,1 min.insync.replicas=1",
                "create single 2",
                "configure orders retention.ms=86400000",
                "send orders 0 40 none all",
                "send orders 1 30 gzip all",
                "send single 0 20 none all",
                "commit orders 0 5",
                "offset readers orders 0 17",
                "acl alice orders",
                "quota alice 1000000",
            ):
                done_by(client, command)
            client.ask("scram alice kept-in-no-log")  # 3.5 and later
            records, groups = content(client)
        if clean:
            for number in (*BROKERS, *controllers):
                nodes[number].stop()
        else:
            killed_by_surprise(nodes)
        done.write_text(json.dumps({"places": nodes.places, "records": records, "groups": groups}))
    return folder


def killed_by_surprise(nodes: Nodes) -> None:
    """Kill all nodes when controller 101 knows what each broker knows.

    A broker can have received a record before it: kcheck rightly copies the log of that broker then, and the tests that
    lose all controllers hold that. Brokers stand still meanwhile, too briefly to be fenced.
    """

    def is_caught_up() -> bool:
        for number in BROKERS:
            nodes[number].send(signal.SIGSTOP)
        known = max(map(nodes.age, BROKERS))
        if nodes.age(CONTROLLERS[0]) >= known:
            return True
        for number in BROKERS:
            nodes[number].send(signal.SIGCONT)
        return False

    wait_for("the records of the brokers on controller 101", is_caught_up)
    nodes.kill()


def done_by(client: Client, command: str) -> list[list[str]]:
    """Return the answer of a client; what times out on a busy machine is done again."""
    for _ in range(5):
        before = len(client.said)
        rows = client.ask(command)
        if len(client.said) == before or "TopicExists" in client.said[-1]:
            return rows
        time.sleep(2)
    raise AssertionError(client.said)


def content(client: Client) -> tuple[dict[str, list[str]], list[str]]:
    """Return the bounds and all records of each partition, and what the group has committed."""
    records = {
        f"{topic}-{number}": [
            " ".join(row[3:] if row[0] == "r" else row[4:]) for row in client.ask(f"read {topic} {number}")
        ]
        for topic, count in TOPICS.items()
        for number in range(count)
    }
    return records, [" ".join(row) for row in client.ask("group readers")]


@contextmanager
def copied(
    base: Path,
    folder: Path,
    version: str,
    *,
    dynamic: bool,
    lost: Iterable[int],
    disks: int = 1,
    controllers: Sequence[int] = CONTROLLERS,
) -> Iterator[Nodes]:
    """Copy a cluster without the disks that are lost; give the nodes that are left."""
    known = json.loads((base / "picture.json").read_text())
    places = {int(number): port for number, port in known["places"].items()}
    nodes = Nodes(
        version, folder, dynamic=dynamic, places=places, cluster_id="AAAAAAAAQAaAAAAAAAAAAA", disks=disks,
        controllers=controllers,
    )  # fmt: skip
    for number in {*controllers, *BROKERS} - {*lost}:
        for path in nodes.log_dirs(number):
            shutil.copytree(base / "now" / path.relative_to(folder), path)
        nodes.add(number)
    with nodes:
        yield nodes


def followed(nodes: Nodes, answer: "QuorumRecovery | MetadataRecovery") -> None:
    """Type the commands of a plan, and set what it says on every node; nothing is started."""
    for step in answer.steps:
        for command in step.commands:
            words = command.split()
            if words[:2] == ["kcheck", "apply"]:
                done = kcheck(*words[1:])
                assert done.code == 0, done.err
            elif words[0].startswith("controller.quorum."):
                for number in nodes.nodes:
                    path = nodes.dir / f"node-{number}" / "server.properties"
                    lines = [
                        line for line in path.read_text().splitlines() if not line.startswith("controller.quorum.")
                    ]
                    path.write_text("\n".join([*lines, command]) + "\n")


def next_kind(nodes: Nodes, plan: Path, controller: int) -> tuple[str, str | None]:
    """Return what `kcheck recover PLAN --next` says: the state, and the kind of the step."""
    here = [number for number in (controller, *BROKERS) if number in nodes.nodes]
    answer = rescue_progress(plan, *nodes.arguments(*here))
    return str(answer.state), None if answer.at is None else str(answer.steps[answer.at].action)


def cut(nodes: Nodes, number: int, offset: int) -> None:
    """Let a node never have received what is at an offset and above, with no snapshot of it."""
    folder = nodes.metadata(number)
    for path in sorted(folder.iterdir()):
        if path.suffix == ".log":
            with LOCAL.open(str(path)) as source:
                kept = [batch for batch in Walk(source) if batch.last_offset < offset]
            size = kept[-1].position + kept[-1].size if kept else 0
            path.write_bytes(path.read_bytes()[:size])
            if not size and path.name != log_name(0):
                path.unlink()
        elif path.suffix in (".index", ".timeindex") or (path.suffix == ".checkpoint" and int(path.name[:20]) > offset):
            path.unlink()


def middle(nodes: Nodes) -> int:
    """Return an offset after the first topic and before the last one."""
    created: dict[str, int] = {}

    def observe(replay: object, name: str, data: object, offset: int, timestamp: int) -> None:
        del replay, timestamp
        if name == "TopicRecord":
            created[dict(data)["name"]] = offset  # type: ignore[call-overload]

    read_copy(LOCAL, str(nodes.metadata(1)), 1, observe=observe)
    return max(created.values())


def wait_leads(node: Process) -> None:
    """Return when a controller leads."""
    wait_for("a leader", lambda: LEADS.search(node.log_since_start()) is not None, TIMEOUT)


def wait_says(node: Process, words: re.Pattern[str]) -> None:
    """Return when a node has said something since its last start."""
    wait_for(words.pattern, lambda: words.search(node.log_since_start()) is not None)


def topics_of(image: ClusterImage) -> Topics:
    """Return the id of each topic, and the replicas of its partitions; a clean stop leaves one in the ISR."""
    return {
        topic.name: (str(topic.topic_id), {number: part.replicas for number, part in topic.partitions.items()})
        for topic in image.topics.values()
    }


def access_of(path: Path) -> Access:
    """Return the ACLs, credentials and quotas of a copy of the metadata, as its records."""
    known: dict[str, tuple[str, dict[str, Any]]] = {}

    def observe(replay: object, name: str, data: object, offset: int, timestamp: int) -> None:
        del replay, offset, timestamp
        if name in _ACCESS:
            fields = dict(data)  # type: ignore[call-overload]
            known[_without_id((name, fields))] = (name, fields)

    read_copy(LOCAL, str(path), 1, observe=observe)
    return [known[name] for name in sorted(known)]


def _without_id(row: tuple[str, dict[str, Any]]) -> str:
    name, data = row
    return f"{name} {sorted((key, repr(value)) for key, value in data.items() if key != 'id')}"


def same(nodes: Nodes, base: Path, *, with_elr: bool = False) -> None:
    """Wait until a cluster is in sync; assert that it is as before, and that it works on in sync.

    Where ELR is on, all brokers have min.insync.replicas, as Kafka itself gives it to them.
    """
    known = json.loads((base / "picture.json").read_text())
    before = read_copy(LOCAL, str(base / "now" / "node-101" / "data" / METADATA), 101)
    wait_for("records of the new leader", lambda: nodes.end(1) > before.end)
    wait_in_sync(nodes)
    assert nodes.strays() == []
    with Client(nodes.bootstrap) as client:
        image = nodes.image(1)
        configs = {**({("broker", ""): {MIN_ISR: "1"}} if with_elr else {}), **before.image.configs}
        assert (topics_of(before.image), configs) == (topics_of(image), image.configs)
        rows = access_of(Path(before.path))
        assert len(rows) >= 2
        assert {*map(_without_id, rows)} <= {*map(_without_id, access_of(nodes.metadata(1)))}
        assert (known["records"], known["groups"]) == content(client)
    works(nodes, "later")


def works(nodes: Nodes, topic: str) -> None:
    """Create a topic, send to it and to an old one, commit transactions, and change a configuration."""
    with Client(nodes.bootstrap) as client:
        done_by(client, f"create {topic} 2,1")
        assert len(done_by(client, f"send {topic} 0 5 none all")) == 5
        assert len(done_by(client, "send orders 0 7 none all")) == 7
        assert len(done_by(client, "commit orders 1 3")) == 3
        done_by(client, "configure orders retention.ms=7200000")
    wait_in_sync(nodes)


def wait_in_sync(nodes: Nodes) -> None:
    """Wait until every replica is in sync."""

    def is_in_sync() -> bool:
        topics = nodes.image(1).topics.values()
        return all({*part.isr} == {*part.replicas} for topic in topics for part in topic.partitions.values())

    wait_for("all in sync", is_in_sync)
