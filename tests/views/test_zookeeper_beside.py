"""A folder with the log dirs of brokers and the data of ZooKeeper, of files that real brokers and servers left."""

import contextlib
import shutil
from pathlib import Path

import pytest

import kcheck
from kcheck.views.zookeeper_beside import zookeeper_beside
from tests.builders import meta_properties, write
from tests.cli.command import kcheck as command
from tests.oracle.incidents.kept import PLACE, unpacked
from tests.test_brokers import BROKERS

ZOOKEEPER = BROKERS.parent / "zookeeper"


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """Return a healthy cluster of 3.9.2 with two brokers."""
    return unpacked(PLACE / "3.9.2-zk-nothing-k7.tar.xz", tmp_path / "cluster").folder


def beside(*paths: Path | str) -> list[str]:
    """Return what is found, below the first path."""
    return [str(Path(path).relative_to(paths[0])) for path in zookeeper_beside([str(path) for path in paths])]


def test_the_folder_of_a_cluster(cluster: Path) -> None:
    """Each command reads ZooKeeper's data there, as if the user named it."""
    named = str(cluster / "zookeeper")
    assert ["zookeeper"] == beside(cluster)
    assert () == zookeeper_beside([str(cluster / "broker-1"), f"2={cluster / 'broker-2'}"])
    for verb in (kcheck.check, kcheck.predict, kcheck.overview, kcheck.elect, kcheck.recover):
        whole, said = (verb(str(cluster), metadata=words).to_dict() for words in ((), (named,)))
        assert {**whole, "next": None} == {**said, "next": None}, verb
    of_folder, of_server = (kcheck.cluster(path).to_dict() for path in (str(cluster), named))
    assert [of_folder[name] for name in ("metadata", "partitions")] == [
        of_server[name] for name in ("metadata", "partitions")
    ]


def test_a_broker_whose_partners_are_missing(cluster: Path) -> None:
    """Its own replicas are not all: what the others hold is not known, with ZooKeeper's data and without."""
    shutil.rmtree(cluster / "broker-2")
    with contextlib.chdir(cluster):
        found, verdict = command("recover", "."), "Under the best leaders nothing that is on these disks is lost."
        assert (1, True) == (found.code, "name 2=PATH" in found.out)
        assert "--metadata ./zookeeper" in found.out
        shutil.rmtree("zookeeper")
        for verb in ("recover", "elect"):
            said = command(verb, "1=broker-1", columns=120)
            assert (1, True) == (said.code, verdict in " ".join(said.out.split()))
            assert "lose nothing." not in said.out
            assert "No partition loses records," not in said.out
            assert 0 == command(verb, "1=broker-1", "--incomplete-ok").code
        words = "Replicas on other brokers are not known, so the exit code is 1 (0 with --incomplete-ok)."
        assert words in " ".join(command("recover", ".").out.split())
        command("recover", "1=broker-1", "--output-dir", "plan")
        words = "No record is lost that is on these disks; the brokers register."
        assert words in Path("plan/recovery.md").read_text("utf-8")


def test_several_servers(cluster: Path) -> None:
    """The one that knows the most counts. Servers of other clusters do not, and with two of them none is chosen."""
    shutil.copytree(cluster / "zookeeper", cluster / "old" / "data")
    (log,) = (cluster / "old" / "data" / "version-2").glob("log.*")
    log.write_bytes(log.read_bytes()[:9000])
    shutil.copytree(ZOOKEEPER / "3.9.2", cluster / "another")
    assert ["zookeeper"] == beside(cluster)
    shutil.copytree(ZOOKEEPER / "1.1.1", cluster / "third")
    shutil.rmtree(cluster / "zookeeper")
    shutil.rmtree(cluster / "old")
    assert [] == beside(cluster)


def test_what_is_no_cluster_with_zookeeper(cluster: Path, tmp_path: Path) -> None:
    """Brokers of KRaft do not need an old ZooKeeper, and a folder without any log dir is an error of its own."""
    for path in cluster.rglob("meta.properties"):
        node = path.parent.parent.name[-1]
        write(path.parent, {"meta.properties": meta_properties(int(node), version=1)})
    assert [] == beside(cluster)
    shutil.copytree(ZOOKEEPER / "3.9.2", tmp_path / "alone" / "zookeeper")
    write(tmp_path / "alone", {"note.txt": b""})
    assert [] == beside(tmp_path / "alone")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "zookeeper").symlink_to(ZOOKEEPER / "3.9.2")
    write(tmp_path / "linked" / "other" / "version-2", {"file": b""})
    assert [] == beside(tmp_path / "linked")
    assert [] == beside(tmp_path / "missing")
    assert () == zookeeper_beside([""])
