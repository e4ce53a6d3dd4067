"""The release that files tell, against brokers of every line that are started here: killed, stopped, without metadata.

`KCHECK_SWEEP` starts brokers of all releases; by default tests/views/test_release_evidence.py holds the recorded ones.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import kcheck
from kcheck.core.releases.release_evidence import age, line_of
from tests.oracle import histories
from tests.oracle.ask import IS_WHOLE
from tests.oracle.kafka import BROKER_STARTED, Cluster, Process
from tests.views.test_release_evidence import proved

pytestmark = pytest.mark.oracle

RELEASES = (
    *((version, "kraft") for version in (
        "4.3.1", "4.2.1", "4.1.2", "4.0.2", "3.9.2", "3.8.1", "3.7.2", "3.6.2", "3.5.2", "3.4.1", "3.3.2", "3.2.3",
        "3.1.2", "3.0.2",
    )),
    *((version, "zk") for version in (
        "3.9.2", "3.7.2", "3.6.2", "3.3.2", "3.0.2", "2.8.2", "2.7.2", "2.6.3", "2.5.1", "2.4.1", "2.3.1", "2.2.2",
        "2.0.1", "1.1.1", "1.0.2", "0.11.0.3", "0.10.2.2",
    )),
)  # fmt: skip
_REGISTERS = age("3.3")
"""From this line on a node registers the metadata.version of its software."""


@pytest.mark.whole
@pytest.mark.parametrize(("version", "mode"), RELEASES)
def test_the_true_release_is_in_the_range(
    version: str, mode: str, tmp_path: Path, start: Callable[..., Cluster]
) -> None:
    """Exact where the metadata log holds the registration; also of each log dir alone."""
    with start(version, dir=tmp_path / "cluster", mode=mode, log_dirs=2) as cluster:
        broker = cluster[1]
        histories.create(cluster, "t", "1,1")
        histories.load(cluster, "send t 0 0 9 none")
        for end in (broker.kill, broker.stop):
            if not broker.alive:
                broker.start()
            end()
            held(version, mode, broker.log_dirs)
            said = kcheck.release(paths=broker.log_dirs, log=broker.log).evidence
            assert said is not None
            assert line_of(version) == said.lowest == said.highest
            copies = [tmp_path / end.__name__ / path.name for path in broker.log_dirs]
            for path, copy in zip(broker.log_dirs, copies, strict=True):
                shutil.copytree(path, copy, ignore=shutil.ignore_patterns("__cluster_metadata-0"))
            for paths in (copies, *([path] for path in copies)):
                held(version, "", paths)


def held(version: str, mode: str, paths: list[Path]) -> None:
    """Hold that the range has the true release, and nothing else where KRaft's registration is there."""
    said, line = proved(*paths), line_of(version)
    assert age(said.lowest or "") <= age(line) <= age(said.highest or ""), said
    if mode == "kraft" and age(line) >= _REGISTERS:
        assert said.lowest == said.highest == said.used == line


@pytest.mark.whole
def test_an_upgraded_broker_is_new(tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """The files of the old release stay; the start of the new one adds cluster.id."""
    with start("2.3.1", dir=tmp_path / "cluster", mode="zk") as cluster:
        old = cluster[1]
        histories.create(cluster, "t", "1")
        histories.load(cluster, "send t 0 0 9 none")
        old.stop()
        assert "2.3" == proved(*old.log_dirs).highest
        upgraded = Process("2.8.2", old.dir, "kafka.Kafka", old.dir / "server.properties", BROKER_STARTED, old.port)
        try:
            upgraded.start()
            upgraded.stop()
        finally:
            upgraded.kill()
        said = proved(*old.log_dirs)
        assert age("2.4") <= age(said.lowest or "") <= age("2.8") <= age(said.highest or "")


@pytest.mark.parametrize("version", ["2.8.2", *(["3.9.2"] if IS_WHOLE else [])])
def test_a_broker_of_an_old_protocol_writes_no_topic_ids(
    version: str, tmp_path: Path, start: Callable[..., Cluster]
) -> None:
    """An absent partition.metadata does not make it an old release."""
    config = {"inter.broker.protocol.version": "2.6"}
    with start(version, dir=tmp_path / "cluster", mode="zk", broker_config=config) as cluster:
        broker = cluster[1]
        histories.create(cluster, "t", "1")
        histories.load(cluster, "send t 0 0 9 none")
        broker.stop()
        assert not [*broker.log_dirs[0].rglob("partition.metadata")]
        held(version, "zk", broker.log_dirs)
