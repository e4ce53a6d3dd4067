"""What the rules say of a broker's files by the metadata of its cluster, and what real Kafka does with them."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import kcheck
from kcheck.core.releases.releases import release
from kcheck.disk.local import LOCAL
from kcheck.model.cluster import PartitionRegistration
from kcheck.views.log_dir import open_log_dir
from kcheck.views.metadata_copy import read_copy
from tests.oracle import histories
from tests.oracle.kafka import Cluster, Process, wait_for
from tests.test_brokers import BROKERS

pytestmark = pytest.mark.oracle

METADATA = "__cluster_metadata-0"
STRANGE_EPOCH, REFUSED_MIN = 50, 20
DOWNGRADES = (("3.9.2", "3.6.2", True), ("4.0.2", "3.9.2", False))
"""A release, the one before it that is installed then, and whether that deletes strays."""


def _registration(controller: Process, topic: str) -> PartitionRegistration:
    """Return what the controller knows of partition 0 of a topic."""
    return read_copy(LOCAL, str(controller.log_dirs[0] / METADATA), 100).image.topics[topic].partitions[0]


def _epochs(broker: Process, name: str) -> list[int]:
    return [epoch for epoch, _ in histories.epoch_lines(histories.directories(broker)[name])]


@pytest.mark.whole
def test_a_broker_that_comes_back_after_a_crash(tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """Its cluster went on without it, and somebody changed its files; 4.3.1 does what the findings say."""
    with start("4.3.1", 2, dir=tmp_path / "c", log_dirs={1: 2}, broker_config=histories.config("4.3.1")) as cluster:
        broker, controller = cluster[1], cluster.beside
        histories.replicas(cluster, "create alone 1", "create follows 1:2")
        histories.load(cluster, "send alone 0 0 9 none", "send follows 0 0 9 none")
        histories.outlived(cluster)
        kept = histories.directories(broker)["keep-0"]
        (other,) = (path for path in broker.log_dirs if path != kept.parent)
        kept.rename(other / "keep-0")
        for name in ("alone-0", "follows-0"):
            lines = f"0\n2\n0 0\n{STRANGE_EPOCH} 5\n"
            (histories.directories(broker)[name] / "leader-epoch-checkpoint").write_text(lines)

        findings = kcheck.check(*broker.log_dirs, metadata=controller.log_dirs, kafka="4.3").to_dict()["findings"]
        assert {(row["dir"], row["id"], row["severity"]) for row in findings if "KC235" <= row["id"] <= "KC239"} == {
            ("anew-0", "KC235", "error"),
            ("gone-0", "KC236", "error"),
            ("moved-0", "KC236", "error"),
            ("keep-0", "KC237", "info"),
            ("alone-0", "KC238", "error"),
            ("alone-0", "KC239", "info"),
            ("follows-0", "KC238", "error"),
            ("eligible-0", "KC239", "warning"),
        }
        assert _registration(controller, "eligible").elr == (1,)
        broker.start()

        strays = {path.name.partition(".")[0] for log_dir in broker.log_dirs for path in log_dir.glob("*-stray")}
        assert strays == {"anew-0", "gone-0", "moved-0"}
        directory_id = open_log_dir(LOCAL, str(other), 1, release("4.3")).view.directory_id
        refused = "Current offset 9 for partition follows-0 is out of range"
        wait_for("refused fetches", lambda: broker.log_since_start().count(refused) > REFUSED_MIN)
        assert directory_id in _registration(controller, "keep").directories
        assert _registration(controller, "follows").isr == (2,)
        assert _epochs(broker, "follows-0") == [0, STRANGE_EPOCH]
        assert _registration(controller, "alone").leader == 1
        assert _epochs(broker, "alone-0") == [0, _registration(controller, "alone").leader_epoch]
        history = kcheck.cluster(*controller.log_dirs, history="eligible-0").to_dict()["history"]
        changes = [(row["isr"], row["elr"]) for row in history]
        assert ([2], []) == changes[changes.index(([2], [1])) + 1]


def test_older_software_does_not_start_with_newer_metadata(tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """Also without bootstrap.checkpoint, which 3.9 refuses before it reads the log."""
    node = start("3.9.2", dir=tmp_path / "c", log_dirs=2)[1]
    for log_dir in node.log_dirs:
        shutil.rmtree(log_dir)
        shutil.copytree(BROKERS / "4.3.1" / "coordinators" / "broker-1" / log_dir.name, log_dir)
        (log_dir / "bootstrap.checkpoint").unlink()
    findings = kcheck.cluster(*node.log_dirs, kafka="3.9").to_dict()["findings"]
    assert [(row["id"], row["severity"]) for row in findings] == [("KC503", "fatal")]
    rows = kcheck.predict(*node.log_dirs, kafka="3.9").to_dict()["log_dirs"]
    assert [row["outcome"] for row in rows] == ["abort"] * 2
    with pytest.raises(RuntimeError, match="UnsupportedVersionException: Can't read version 4 of BrokerEndpoint"):
        node.start()


@pytest.mark.whole
@pytest.mark.parametrize(("version", "older", "deletes"), DOWNGRADES)
def test_a_broker_that_is_no_controller(
    version: str, older: str, deletes: bool, tmp_path: Path, start: Callable[..., Cluster]
) -> None:
    """It stops as the controller refuses it; 3.6 has deleted by then what it takes for strays."""
    config = {"initial.broker.registration.timeout.ms": 15000}
    with start(version, 2, dir=tmp_path / "c", broker_config=config) as cluster:
        broker = cluster[1]
        histories.replicas(cluster, "create alone 1")
        broker.stop()
        (broker.log_dirs[0] / "bootstrap.checkpoint").unlink()
        line = older.rpartition(".")[0]
        (row,) = kcheck.predict(*broker.log_dirs, kafka=line).to_dict()["log_dirs"]
        assert (row["outcome"], "DELETE" in row["reasons"][0]) == ("abort", deletes)
        broker.install(older)
        with pytest.raises(RuntimeError, match="broker-1 died"):
            broker.start()
        assert (broker.log_dirs[0] / "alone-0").exists() is not deletes
