"""Nodes that are broker and controller at once lose their metadata: they come back as brokers of a new controller.

Nodes 1 and 2 went on without node 3, which keeps a copy from before. Or no node keeps one.
"""

import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import kcheck
from kcheck.api import rescue_progress
from kcheck.core.rescue.progress import RescueAction
from kcheck.plans.recover_metadata import MetadataRecovery
from tests.cli.command import kcheck as command
from tests.oracle import histories
from tests.oracle.clusters.lost_quorum import LEADS, METADATA, STORAGE
from tests.oracle.clusters.test_operations import batches, wait_in_sync
from tests.oracle.jars import run_java
from tests.oracle.kafka import BROKER_STARTED, Cluster, Process, free_port, wait_for

pytestmark = [pytest.mark.oracle, pytest.mark.whole]

NODES, NEW = (1, 2, 3), 201
TOPICS = {"orders": NODES, "late": (1, 2)}
"""The topics, with the brokers of their replicas; the second is younger than the old copy."""
SETTINGS = {"broker.session.timeout.ms": 6000, "broker.heartbeat.interval.ms": 1000}


def properties(cluster: Cluster, number: int) -> Path:
    """Return the server.properties of a node."""
    return cluster.dir / f"broker-{number}" / "server.properties"


def arguments(cluster: Cluster) -> list[str]:
    """Return NODE=PATH of every node."""
    return [f"{number}={properties(cluster, number)}" for number in (*NODES, NEW)]


def changed(path: Path, lines: Iterable[str]) -> None:
    """Set lines in a server.properties."""
    keys = {line.partition("=")[0] for line in lines}
    kept = [line for line in path.read_text().splitlines() if line.partition("=")[0] not in keys]
    path.write_text("\n".join([*kept, *lines]) + "\n")


def new_controller(cluster: Cluster) -> Process:
    """Format the disk of a controller that is no broker."""
    path, port = properties(cluster, NEW), free_port()
    path.parent.mkdir()
    path.touch()
    place = f"127.0.0.1:{port}"
    changed(
        path,
        [
            "process.roles=controller", f"node.id={NEW}", f"listeners=CONTROLLER://{place}",
            f"controller.quorum.voters={NEW}@{place}", "controller.listener.names=CONTROLLER",
            "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            f"log.dirs={path.parent}/data1",
        ],
    )  # fmt: skip
    run_java(cluster.version, STORAGE, "format", "-t", cluster.cluster_id, "-c", str(path))
    return Process(cluster.version, path.parent, "kafka.Kafka", path, BROKER_STARTED, port)


def lost(cluster: Cluster, holders: Iterable[int]) -> dict[str, list[bytes]]:
    """Let nodes 1 and 2 go on without node 3, kill them, and let only the holders keep a copy; return the logs."""
    histories.create(cluster, "orders", "1:2:3")
    histories.load(cluster, "send orders 0 0 20 none")
    histories.quiet()
    cluster[3].stop()
    histories.create(cluster, "late", "1:2")
    histories.load(cluster, "send orders 0 20 20 none", "send late 0 0 10 none")
    histories.quiet()
    for number in (1, 2):
        cluster[number].kill()
    for number in {*NODES} - {*holders}:
        shutil.rmtree(cluster[number].log_dirs[0] / METADATA)
    return {topic: batches(cluster, topic, [1])[1] for topic in TOPICS}


def followed(cluster: Cluster, answer: MetadataRecovery) -> None:
    """Type the commands of the plan, and set its lines; after each step `--next` says what is left."""
    for step in answer.steps:
        if step.action is RescueAction.APPLY:
            assert [command(*line.split()[1:]).code for line in step.commands] == [0]
        elif step.action is RescueAction.SETTINGS:
            told = rescue_progress(answer.folder, *arguments(cluster))
            assert (told.at is not None and answer.steps[told.at].action) is RescueAction.SETTINGS
            of_one = re.search(r" a broker alone, in (.+)$", step.title)
            places = [properties(cluster, number) for number in (*NODES, NEW)] if of_one is None else [Path(of_one[1])]
            for path in places:
                changed(path, step.commands)


@pytest.mark.parametrize("holders", [(3,), ()])
@pytest.mark.parametrize("version", ["4.3.1", "3.9.2"])
def test_they_come_back_as_brokers(
    version: str, holders: tuple[int, ...], tmp_path: Path, start: Callable[..., Cluster]
) -> None:
    """The plan is followed to its end: every record is there, nothing is stray, and the cluster works."""
    with start(version, 3, dir=tmp_path / "cluster", combined=True, broker_config=SETTINGS) as cluster:
        wanted = lost(cluster, holders)
        controller = new_controller(cluster)
        if holders:
            refused = kcheck.recover_quorum(*arguments(cluster)[:3]).refusals
            assert "stale-copy" in [row.name for row in refused]
        answer = kcheck.recover_metadata(*arguments(cluster), out=tmp_path / "rescue")
        assert answer.refusals == ()
        followed(cluster, answer)
        told = rescue_progress(answer.folder, *arguments(cluster))
        assert (told.at is not None and answer.steps[told.at].action) is RescueAction.BROKERS
        controller.spawn()
        try:
            for number in NODES:
                cluster[number].spawn()
            wait_for("a leader", lambda: LEADS.search(controller.log_since_start()) is not None)
            for number in NODES:
                cluster[number].wait_started()
            for topic, members in TOPICS.items():
                wait_in_sync(cluster, topic, *members, broker=1)
                assert batches(cluster, topic, members) == dict.fromkeys(members, wanted[topic])
            wait_for("done", lambda: rescue_progress(answer.folder, *arguments(cluster)).at is None)
            histories.create(cluster, "new", "3:1:2")
            histories.load(cluster, "send new 0 0 10 none", "send orders 0 40 10 none")
            wait_in_sync(cluster, "new", *NODES, broker=1)
            strays = [path for number in NODES for path in cluster[number].log_dirs[0].glob("*-stray")]
            assert strays == []
        finally:
            controller.kill()
