"""A real Spark cluster on this machine, of what pip installs: a master, and two workers that are two hosts to it."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
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


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Start a cluster and give its address."""
    with contextlib.ExitStack() as stack:
        (address,) = _free_ports(1)
        where = f"spark://{HOSTS[0]}:{address}"
        logs = []

        def start(name: str, host: str, *options: str) -> None:
            log = folder / f"{name}-{host}.log"
            environment = {**os.environ, "SPARK_LOCAL_IP": host, "SPARK_DAEMON_MEMORY": "256m"}
            environment |= {"SPARK_DAEMON_JAVA_OPTS": _FLAGS, "SPARK_HOME": str(_HOME), "SPARK_NO_DAEMONIZE": "1"}
            command = [str(_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", "--host", host, *options]
            stream = stack.enter_context(log.open("wb"))
            process = subprocess.Popen(command, env=environment, stdout=stream, stderr=stream)
            stack.callback(_end, process)
            logs.append(log)

        start("master.Master", HOSTS[0], "--port", str(address), "--webui-port", "0")
        for host in HOSTS:
            work = ("--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(folder / f"work-{host}"))
            start("worker.Worker", host, *work, where)
        for log in logs[1:]:
            wait_for(partial(_registered, log))
        yield where


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


def executors() -> dict[str, int]:
    """Return the process ids of executors, by their hosts."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if any(part.endswith("CoarseGrainedExecutorBackend") for part in command) and "java" in command[0]:
            found[command[command.index("--hostname") + 1]] = int(process.name)
    return found


def around(process: int) -> Iterator[int]:
    """Yield a process and those that it descends from."""
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
