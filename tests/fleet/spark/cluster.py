"""A real Spark cluster on this machine, of what pip installs: a master, and two workers that are two hosts to it."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyspark

from tests.oracle.jars import UNVERIFIED

HOSTS = ("127.0.0.1", "127.0.0.2")
_SECONDS = 300
_HOME = Path(pyspark.__file__).parent
_CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
_FLAGS = " ".join(("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *UNVERIFIED))


def wait_for(what: Callable[[], Any], process: "subprocess.Popen[Any] | None" = None) -> Any:
    """Return what a call returns when that is true at last."""
    end = time.monotonic() + _SECONDS
    while not (found := what()):
        assert time.monotonic() < end, "it never came"
        assert process is None or process.poll() is None, "it ended before that"
        time.sleep(0.1)
    return found


class SparkCluster:
    """A master and its workers, processes that end with a context. `address` is that of the master."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        """Start the master."""
        (port,) = _free_ports(1)
        self.address = f"spark://{HOSTS[0]}:{port}"
        self._folder, self._stack = folder, stack
        self._workers: dict[str, subprocess.Popen[bytes]] = {}
        self._log_of("master.Master", HOSTS[0], "--port", str(port), "--webui-port", "0")

    def have_workers(self, *before: str) -> dict[str, int]:
        """Start the workers that are missing, by a command that starts them, and return the process ids by hosts."""
        logs = []
        for host in HOSTS:
            if host not in self._workers or self._workers[host].poll() is not None:
                folder = str(self._folder / f"work-{host}")
                work = ("--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", folder, self.address)
                self._workers[host], log = self._log_of("worker.Worker", host, *work, before=before)
                logs.append(log)
        for log in logs:
            wait_for(partial(_registered, log))
        return {host: process.pid for host, process in self._workers.items()}

    def executors(self) -> dict[str, int]:
        """Return the process ids of its executors, by their hosts."""
        own = {process.pid for process in self._workers.values()}
        return {host: process for host, process in _executors() if not own.isdisjoint(around(process))}

    def end_worker(self, host: str) -> None:
        """End a worker as it ends when its host does, and its executor with it."""
        executor = self.executors().get(host)
        self._workers[host].kill()
        self._workers[host].wait()
        if executor is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(executor, signal.SIGKILL)

    def _log_of(
        self, name: str, host: str, *options: str, before: Sequence[str] = ()
    ) -> "tuple[subprocess.Popen[bytes], Path]":
        """Start a part of it, and return its process, and its log."""
        log = self._folder / f"{name}-{host}-{len([*self._folder.iterdir()])}.log"
        environment = {**os.environ, "SPARK_LOCAL_IP": host, "SPARK_DAEMON_MEMORY": "256m"}
        environment |= {"SPARK_DAEMON_JAVA_OPTS": _FLAGS, "SPARK_HOME": str(_HOME), "SPARK_NO_DAEMONIZE": "1"}
        program = f"org.apache.spark.deploy.{name}"
        command = [*before, str(_HOME / "bin" / "spark-class"), program, "--host", host, *options]
        stream = self._stack.enter_context(log.open("wb"))
        process = subprocess.Popen(command, env=environment, stdout=stream, stderr=stream)
        self._stack.callback(_end, process)
        return process, log


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[SparkCluster]:
    """Start a cluster with a worker for each of the HOSTS."""
    with contextlib.ExitStack() as stack:
        started = SparkCluster(folder, stack)
        started.have_workers()
        yield started


@contextlib.contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """Start a server of Spark Connect, with a Spark of its own, and give its address."""
    (port,) = _free_ports(1)
    conf = {
        "spark.connect.grpc.binding.address": HOSTS[0],
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.driver.extraJavaOptions": _FLAGS,
        "spark.sql.shuffle.partitions": "2",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder),
        "spark.sql.artifact.isolation.enabled": "true",
    }
    server = ("--master", "local[2]", "--driver-memory", "768m", "--class", _CONNECT)
    command = [str(_HOME / "bin" / "spark-submit"), *server, *_told(conf), "spark-internal"]
    changes = {"SPARK_LOCAL_IP": HOSTS[0], "PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(_HOME)}
    environment = {**{name: value for name, value in os.environ.items() if name != "PYTHONPATH"}, **changes}
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
        try:
            wait_for(partial(_answers, port), process)
            yield f"sc://{HOSTS[0]}:{port}"
        finally:
            _end(process)


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((HOSTS[0], port), timeout=1):
        return True
    return False


def _told(conf: dict[str, str]) -> list[str]:
    return [part for name, value in conf.items() for part in ("--conf", f"{name}={value}")]


def options(master: str, folder: Path, **environment: str) -> list[str]:
    """Return options of spark-submit for that cluster; the environment is that of executors."""
    conf = {
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": HOSTS[0],
        "spark.driver.host": HOSTS[0],
        "spark.driver.extraJavaOptions": _FLAGS,
        "spark.executor.extraJavaOptions": _FLAGS,
        "spark.sql.shuffle.partitions": "2",
        "spark.local.dir": str(folder),
        "spark.pyspark.python": sys.executable,
        "spark.speculation": "true",
        "spark.speculation.quantile": "0.5",
        **{f"spark.executorEnv.{name}": value for name, value in environment.items()},
    }
    return ["--master", master, "--driver-memory", "512m", *_told(conf)]


def _executors() -> Iterator[tuple[str, int]]:
    """Yield the hosts of executors on this machine, and their process ids."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(part.endswith("CoarseGrainedExecutorBackend") for part in command) and "java" in command[0]:
            yield command[command.index("--hostname") + 1], int(process.name)


def around(process: int) -> Iterator[int]:
    """Yield a process and those that it descends from."""
    with contextlib.suppress(OSError):  # it has ended
        while process > 1:
            yield process
            process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def _registered(log: Path) -> bool:
    return "Successfully registered with master" in log.read_text()


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((HOSTS[0], 0))
        return [each.getsockname()[1] for each in sockets]


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
