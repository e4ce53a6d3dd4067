"""Real Kafka brokers on this machine, from released jars: what the tests ask and what made `fixtures/brokers`."""

import fcntl
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.oracle.jars import LOG4J, archive, java_command, numbers

CONTROLLER_ID = 100
TIMEOUT = 180.0
"""Seconds for a process to start or stop: the machine may be busy."""

ZOOKEEPER_SESSION = 3.0

AGELESS: Mapping[str, object] = {
    "log.retention.ms": -1,
    "offsets.retention.minutes": (1 << 31) - 1,
    "transactional.id.expiration.ms": (1 << 31) - 1,
}
"""What a recorded cluster needs lest its age decide what a test sees: brokers delete what is a week old."""

_FIRST_PORT, _SHARES, _START_STEP, _TRIED = 10_000, 16, 97, 100
"""Of `free_port`."""

BROKER_STARTED = re.compile(r"started \(kafka\.server\.Kafka(Raft)?Server\)")
ZOOKEEPER_STARTED = re.compile("binding to port")


def wait_for(what: str, condition: Callable[[], bool], timeout: float = TIMEOUT) -> None:
    """Return as soon as `condition()` holds; a refused connection counts as not yet."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            if condition():
                return
        except ConnectionError:
            pass
        if time.monotonic() > deadline:
            raise TimeoutError(f"not in {timeout:.0f} s: {what}")
        time.sleep(0.05)


def _serves(port: int) -> bool:
    """Whether a ZooKeeper server answers: it binds its port before that."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"srvr")
        return connection.recv(16).startswith(b"Zookeeper")


def _ports() -> Iterator[int]:
    """Yield ports below those that outgoing connections take, in the share of this worker of pytest-xdist.

    Where they begin depends on the process, so that two runs of the tests seldom want the same.
    """
    first_ephemeral = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    share = range(_FIRST_PORT + worker % _SHARES, first_ephemeral, _SHARES)
    start = os.getpid() * _START_STEP % len(share)
    return cycle([*share[start:], *share[:start]])


_unused_ports = _ports()


def free_port() -> int:
    """Return a TCP port of this machine that nobody uses now, and that no outgoing connection will take.

    A process may bind it much later, or again after it was killed.
    """
    for port in islice(_unused_ports, _TRIED):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError(f"none of {_TRIED} ports is free")


class Process:
    """One JVM of a cluster: a broker, the controller or the ZooKeeper server."""

    def __init__(
        self, version: str, folder: Path, main_class: str, argument: Path, started: re.Pattern[str], port: int
    ) -> None:
        self.dir, self.port = folder, port
        self.log = folder / "server.log"
        self.log_dirs: list[Path] = []
        self.rest_after_kill = 0.0
        self._main_class, self._argument = main_class, argument
        self.install(version)
        self._started = started
        self._log_start = 0
        self._rested = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    def install(self, version: str) -> None:
        """Start the process with the software of a release from now on, and with all rights."""
        self.version = version
        log4j = self.dir.parent / "log4j.properties"
        self._command = java_command(version, self._main_class, str(self._argument), log4j=log4j)

    def add_jvm_option(self, option: str) -> None:
        """Start the process with one more option of the JVM."""
        self._command.insert(1, option)

    def obey_modes(self) -> None:
        """Let the modes of files hold for the process: root passes over them."""
        if os.geteuid() == 0:
            self._command[:0] = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]

    def run_as(self, user: int) -> None:
        """Let the process be a user's who may read every file, the jars too, but write to none of others."""
        ids = [f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        rights = [f"--{kind}-caps=+dac_read_search" for kind in ("inh", "ambient")]
        self._command[:0] = ["setpriv", *ids, *rights]

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def spawn(self) -> None:
        """Start the process and return at once."""
        time.sleep(max(0.0, self._rested - time.monotonic()))
        with self.log.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.dir
            )

    def wait_started(self) -> None:
        """Return when the process says that it has started."""

        def started() -> bool:
            if not self.alive:
                raise RuntimeError(f"{self.dir.name} died:\n{self.log_since_start()[-4000:]}")
            says_so = self._started.search(self.log_since_start()) is not None
            return says_so and (self._started is not ZOOKEEPER_STARTED or _serves(self.port))

        wait_for(f"start of {self.dir.name}", started)

    def start(self) -> None:
        """Start the process; return when it says that it has started."""
        self.spawn()
        self.wait_started()

    def wait_quiet(self) -> None:
        """Return when the process has logged nothing for some seconds, or goes on and on."""
        size = -1
        for _ in range(4):
            if size == (size := self.log.stat().st_size):
                return
            time.sleep(3)

    def stop(self) -> None:
        """SIGTERM: a controlled shutdown. Slowness is an error, never a kill."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL: no clean-shutdown marker."""
        if self.alive:
            self._rested = time.monotonic() + self.rest_after_kill
        self._signal(signal.SIGKILL)

    def send(self, number: signal.Signals) -> None:
        """Send a signal, such as SIGSTOP, to a process that goes on."""
        assert self._process is not None
        self._process.send_signal(number)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self.alive:
            self._process.send_signal(number)
            self._process.wait(TIMEOUT)

    def log_since_start(self) -> str:
        """Return what the process has logged since its latest start."""
        with self.log.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode(errors="replace")


class Cluster:
    """Brokers 1 to `brokers`, started and ended by a `with` block; `cluster[1]` is one of them.

    KRaft (default from 3.3): a controller beside the brokers, so that every broker may be killed; a single broker
    is its own controller. ZooKeeper (`mode="zk"`): a server beside them. `log_dirs` is the number of log dirs of
    each broker, or of each id. `standalone`: a single broker whose voters stand in the metadata log (KIP-853, 3.9
    on). `combined`: every broker is a controller as well, and none is beside them. `dump_classes`: where a broker
    that stops leaves what it loaded. `begins_with`: a folder of processes whose log dirs are copied, instead of
    formatted ones. Each process has a folder below `dir`: `broker-1/data1`, `broker-1/server.log`.
    """

    def __init__(
        self,
        version: str,
        brokers: int = 1,
        *,
        dir: str | Path,
        mode: str | None = None,
        log_dirs: int | Mapping[int, int] = 1,
        broker_config: Mapping[str, object] | None = None,
        loggers: Mapping[str, str] | None = None,
        standalone: bool = False,
        combined: bool = False,
        dump_classes: Path | None = None,
        begins_with: Path | None = None,
    ) -> None:
        self.version = version
        self.dump_classes = dump_classes
        self.standalone = standalone
        self.mode = mode or ("kraft" if numbers(version) >= (3, 3) else "zk")
        self.dir = Path(dir).resolve()
        self.dir.mkdir(parents=True)
        lines = [f"log4j.logger.{name}={level}\n" for name, level in (loggers or {}).items()]
        (self.dir / "log4j.properties").write_text(LOG4J.format(level="INFO", target="out") + "".join(lines))
        self.cluster_id = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
        replicas = min(brokers, 3)
        common: dict[str, object] = {
            "offsets.topic.replication.factor": replicas,
            "offsets.topic.num.partitions": 1,
            "transaction.state.log.replication.factor": replicas,
            "transaction.state.log.num.partitions": 1,
            "transaction.state.log.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0,
            "log.cleaner.dedupe.buffer.size": 4 << 20,  # 128 MiB by default: more than the heap allows
            "socket.request.max.bytes": 10 << 20,
        }
        self.beside: Process
        """The ZooKeeper server or the controller; broker 1 where that is its own controller."""
        side_port = free_port()
        controllers = {CONTROLLER_ID: side_port}
        if combined or brokers == 1:
            controllers = {number: free_port() for number in range(1, brokers + 1)}
        if self.mode == "zk":
            self.beside = self._zookeeper(side_port)
        common |= self._of_mode(side_port, controllers)
        if begins_with is not None:
            common |= AGELESS
        common |= broker_config or {}
        self.brokers: dict[int, Process] = {}
        for number in range(1, brokers + 1):
            count = log_dirs if isinstance(log_dirs, int) else log_dirs.get(number, 1)
            self.brokers[number] = self._broker(number, free_port(), count, common, controllers.get(number))
        if self.mode == "kraft":
            self.beside = self.brokers[1] if 1 in controllers else self._controller(side_port, common)
        nodes = {*self.brokers.values(), self.beside}
        if begins_with is not None:
            self._begin_with(begins_with, nodes)
        elif self.mode == "kraft":
            self._format(nodes)

    def _of_mode(self, side_port: int, controllers: Mapping[int, int]) -> dict[str, object]:
        """Return the settings that name what is beside the brokers, and how soon it misses one of them."""
        if self.mode == "zk":
            return {
                "zookeeper.connect": f"127.0.0.1:{side_port}",
                "zookeeper.session.timeout.ms": int(1000 * ZOOKEEPER_SESSION),
                # The last replica of a partition cannot hand over its leadership and would wait 3 times 5 s.
                "controlled.shutdown.max.retries": 1,
                "controlled.shutdown.retry.backoff.ms": 100,
            }
        places = {number: f"127.0.0.1:{port}" for number, port in controllers.items()}
        return {
            **(
                {"controller.quorum.bootstrap.servers": places[1]}
                if self.standalone
                else {"controller.quorum.voters": ",".join(f"{number}@{place}" for number, place in places.items())}
            ),
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "broker.session.timeout.ms": 3000,
            "broker.heartbeat.interval.ms": 500,
        }

    def _begin_with(self, folder: Path, nodes: set[Process]) -> None:
        """Copy the data of all nodes; their configuration names ports of its own."""
        for node in nodes:
            for data in (path for path in (folder / node.dir.name).iterdir() if path.is_dir()):
                shutil.copytree(data, node.dir / data.name)
        if self.mode == "kraft":
            properties = (self.brokers[1].log_dirs[0] / "meta.properties").read_text()
            self.cluster_id = re.findall(r"(?m)^cluster\.id=(.+)$", properties)[0]

    def _broker(
        self, id: int, port: int, log_dirs: int, common: Mapping[str, object], controller_port: int | None
    ) -> Process:
        listeners = f"PLAINTEXT://127.0.0.1:{port}"
        if self.mode == "zk":
            return self._node(f"broker-{id}", port, log_dirs, {"broker.id": id, "listeners": listeners, **common})
        roles = "broker"
        if controller_port is not None:
            roles, listeners = "broker,controller", f"{listeners},CONTROLLER://127.0.0.1:{controller_port}"
        return self._node(
            f"broker-{id}", port, log_dirs, {"process.roles": roles, "node.id": id, "listeners": listeners, **common}
        )

    def _controller(self, port: int, common: Mapping[str, object]) -> Process:
        config = {
            "process.roles": "controller",
            "node.id": CONTROLLER_ID,
            "listeners": f"CONTROLLER://127.0.0.1:{port}",
        }
        return self._node("controller", port, 1, {**config, **common})

    def _node(self, name: str, port: int, log_dirs: int, config: Mapping[str, object]) -> Process:
        folder = self.dir / name
        folder.mkdir()
        properties = folder / "server.properties"
        node = Process(self.version, folder, "kafka.Kafka", properties, BROKER_STARTED, port)
        if self.dump_classes is not None:
            node.add_jvm_option(f"-XX:ArchiveClassesAtExit={self.dump_classes}")
        node.log_dirs = [folder / f"data{number}" for number in range(1, log_dirs + 1)]
        node.rest_after_kill = ZOOKEEPER_SESSION + 1 if self.mode == "zk" else 0.0  # else it dies with NodeExists
        lines = {**config, "log.dirs": ",".join(map(str, node.log_dirs))}
        properties.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        return node

    def _zookeeper(self, port: int) -> Process:
        folder = self.dir / "zookeeper"
        folder.mkdir()
        config = f"dataDir={folder}\nclientPort={port}\nclientPortAddress=127.0.0.1\ntickTime=500\nmaxClientCnxns=0\n"
        (folder / "zoo.cfg").write_text(f"{config}admin.enableServer=false\n")
        name = "org.apache.zookeeper.server.ZooKeeperServerMain"
        server = Process(self.version, folder, name, folder / "zoo.cfg", ZOOKEEPER_STARTED, port)
        server.add_jvm_option("-Dzookeeper.preAllocSize=64")  # KiB, not MiB: the tests read the log again and again
        return server

    def _format(self, nodes: set[Process]) -> None:
        """Format the storage of all nodes at once: one after the other takes a second each."""
        format_it = ("format", "-t", self.cluster_id, *(["--standalone"] if self.standalone else []), "-c")
        tools = [
            subprocess.Popen(
                java_command(self.version, "kafka.tools.StorageTool", *format_it, _config(node)),
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )
            for node in nodes
        ]  # fmt: skip
        for tool in tools:
            output = tool.communicate(timeout=TIMEOUT)[0]
            if tool.returncode:
                raise RuntimeError(f"StorageTool {self.version}:\n{output.decode(errors='replace')[-3000:]}")

    def __getitem__(self, id: int) -> Process:
        return self.brokers[id]

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    @property
    def bootstrap(self) -> str:
        """Return the value of bootstrap.servers."""
        return ",".join(f"127.0.0.1:{broker.port}" for broker in self.brokers.values())

    def start(self) -> None:
        """Start every process that does not run, the brokers at once."""
        if not self.beside.alive:
            self.beside.spawn()
            if self.mode == "zk":
                self.beside.wait_started()
        down = [broker for broker in self.brokers.values() if not broker.alive]
        for broker in down:
            broker.spawn()
        for broker in self.brokers.values():
            broker.wait_started()

    def stop(self) -> None:
        """Shut the brokers down cleanly one after the other, then what is beside them."""
        for broker in self.brokers.values():
            broker.stop()
        if self.mode == "zk":
            self.beside.kill()  # it holds nothing that a later start would miss, and takes its time to stop
        else:
            self.beside.stop()

    def kill(self) -> None:
        """SIGKILL to all."""
        for process in (*self.brokers.values(), self.beside):
            process.kill()


def keep_archive(version: str) -> None:
    """Keep the classes of a broker as a JVM wants them in memory: later starts of the release are a third cheaper."""
    kept = archive(version)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.with_suffix(".lock").open("w") as lock, tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if kept.exists():
            return
        made = Path(folder) / "classes.jsa"
        with Cluster(version, dir=Path(folder) / "cluster", dump_classes=made) as cluster:
            cluster.stop()
        if made.exists():
            made.rename(kept)


def _config(node: Process) -> str:
    return str(node.dir / "server.properties")
