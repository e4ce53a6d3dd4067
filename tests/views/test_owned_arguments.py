"""The broker of log dirs that name none, by the metadata."""

from pathlib import Path

import pytest

import kcheck
from kcheck.core.releases.releases import release
from kcheck.views.log_dir import LogDirs
from kcheck.views.owned_arguments import with_owners
from tests.cli.command import kcheck as command
from tests.oracle.incidents.kept import PLACE, unpacked

NAMED = ["1=broker-1", "broker-2"]


def _asked(*metadata: str) -> list[str]:
    return with_owners(["."], metadata, LogDirs(release("2.8")))


@pytest.fixture(autouse=True)
def _lost_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two brokers of ZooKeeper; the log dirs of one have lost meta.properties, and no settings have its id."""
    unpacked(PLACE / "2.8.2-zk-remove-metas-m1.tar.xz", tmp_path)
    monkeypatch.chdir(tmp_path)
    Path("broker-1/server.properties").write_text("broker.id=-1\nlog.dirs=broker-1/data1\n")


def test_the_metadata_name_the_broker() -> None:
    """The replicas in its log dirs are exactly those that ZooKeeper assigns it. A broker with a name keeps that."""
    assert _asked("zookeeper")[0] == NAMED[0]
    assert kcheck.recover(".").election.arguments[0] == NAMED[0]
    assert 1 == command("recover", ".").code


def test_nobody_names_the_broker() -> None:
    """Without metadata, and with a directory that no broker is assigned."""
    assert ["."] == _asked()
    Path("broker-1/data1/pay-0").rename("broker-1/data1/pay-77")
    assert ["."] == _asked("zookeeper")


def test_log_dirs_with_a_broker_stay_as_typed() -> None:
    Path("broker-1/server.properties").unlink()
    Path("broker-1").rename("elsewhere")
    assert ["broker-2"] == with_owners(["broker-2"], ("zookeeper",), LogDirs(release("2.8")))
