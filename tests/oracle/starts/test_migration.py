"""A broker that migrates from ZooKeeper to KRaft (3.4 to 3.9): its meta.properties stays as it was.

In the end it must be there: KRaft starts with no log dir that lacks it.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.startup import settings
from kcheck.model.depth import Depth
from kcheck.model.finding import Severity
from kcheck.model.report import PartitionFilter
from kcheck.startup.options import StartOptions
from kcheck.verbs.check import check
from kcheck.verbs.predict import predict
from tests.oracle import histories
from tests.oracle.ask import IS_WHOLE
from tests.oracle.jars import run_java
from tests.oracle.kafka import BROKER_STARTED, CONTROLLER_ID, Cluster, Process, free_port, wait_for
from tests.reports import document

pytestmark = pytest.mark.oracle

VERSIONS = ("3.9.2", *(("3.8.1", "3.7.2") if IS_WHOLE else ()))


def read(path: Path) -> dict[str, str]:
    """Return the lines of a file of properties."""
    pairs = (line.partition("=") for line in path.read_text().splitlines() if not line.startswith("#"))
    return {name: value for name, _, value in pairs}


def write(path: Path, config: dict[str, str]) -> None:
    """Write a file of properties."""
    path.write_text("".join(f"{name}={value}\n" for name, value in config.items()))


def told(version: str, broker: Process) -> tuple[set[str], dict[str, str]]:
    """Return the modes that kcheck takes a broker for, and what it predicts of each directory."""
    chosen = release(version)
    report = predict([str(path) for path in broker.log_dirs], StartOptions(None, settings({}, chosen), chosen)).report()
    rows = document(report)["log_dirs"]
    return {row["mode"] for row in rows}, {each["dir"]: each["outcome"] for row in rows for each in row["partitions"]}


def never_formatted(version: str, broker: Process) -> list[str]:
    """Return the rules that say that the broker will not start."""
    paths = [f"1={path}" for path in broker.log_dirs]
    report = check(paths, depth=Depth.CHECKPOINTS, as_kind=None, wanted=PartitionFilter(), release=release(version))
    return [each.id for each in report.findings if each.severity is Severity.FATAL]


@pytest.mark.whole
@pytest.mark.parametrize("version", VERSIONS)
def test_a_migration(version: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """As long as it runs with ZooKeeper that is predicted, then KRaft: a log that names no topic is set aside."""
    protocol = {"inter.broker.protocol.version": version.rpartition(".")[0]}
    with start(version, dir=tmp_path / "cluster", mode="zk", log_dirs=2, broker_config=protocol) as cluster:
        broker = cluster[1]
        histories.create(cluster, "t", "1,1")
        histories.load(cluster, "send t 0 0 9 none", "send t 1 0 9 none")
        assert told(version, broker)[0] == {"zk"}
        before = read(broker.dir / "server.properties")
        both = _both(before)
        controller = _controller(cluster, both)
        try:
            controller.start()
            broker.stop()
            write(broker.dir / "server.properties", before | both)
            broker.start()
            wait_for("the migration", lambda: "to DUAL_WRITE" in controller.log_since_start())
            broker.kill()
            assert told(version, broker)[0] == {"zk"}
            kept = {name: value for name, value in (before | both).items() if name not in protocol}
            kraft = {name: value for name, value in kept.items() if not name.startswith(("zookeeper", "broker.id"))}
            write(broker.dir / "server.properties", kraft | {"process.roles": "broker", "node.id": "1"})
            broker.start()
            broker.kill()
            assert {read(path / "meta.properties")["version"] for path in broker.log_dirs} == {"0"}
            nameless = histories.directories(broker)["t-0"]
            (nameless / "partition.metadata").unlink()
            modes, outcomes = told(version, broker)
            broker.start()
            wait_for("the renaming", lambda: any(nameless.parent.glob("t-0.*-stray")))
            assert (modes, outcomes["t-0"], outcomes["t-1"]) == ({"kraft"}, "stray", "ok")
            broker.stop()
            (broker.log_dirs[1] / "meta.properties").unlink()
            assert never_formatted(version, broker) == ["KC305"]
            with pytest.raises(RuntimeError, match=r"No `?meta.properties`? found in"):
                broker.start()
        finally:
            controller.kill()


def _both(before: dict[str, str]) -> dict[str, str]:
    """Return what broker and controller are told of the migration."""
    return {
        "controller.quorum.voters": f"{CONTROLLER_ID}@127.0.0.1:{free_port()}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "zookeeper.metadata.migration.enable": "true",
        "zookeeper.connect": before["zookeeper.connect"],
    }


def _controller(cluster: Cluster, both: dict[str, str]) -> Process:
    """Return a controller to which the cluster migrates."""
    folder = cluster.dir / "controller"
    folder.mkdir()
    where = both["controller.quorum.voters"].partition("@")[2]
    own = {"process.roles": "controller", "node.id": str(CONTROLLER_ID), "listeners": f"CONTROLLER://{where}"}
    write(folder / "server.properties", {**own, "log.dirs": str(folder / "data1"), **both})
    cluster_id = read(cluster[1].log_dirs[0] / "meta.properties")["cluster.id"]
    config = str(folder / "server.properties")
    run_java(cluster.version, "kafka.tools.StorageTool", "format", f"--cluster-id={cluster_id}", "-c", config)
    port = int(where.rpartition(":")[2])
    return Process(cluster.version, folder, "kafka.Kafka", folder / "server.properties", BROKER_STARTED, port)
