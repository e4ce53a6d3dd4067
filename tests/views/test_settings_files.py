"""Which server.properties next to log dirs is that of their broker."""

import platform
import shutil
from pathlib import Path

import pytest

import kcheck
from kcheck.model.premises import PremiseStatus
from kcheck.views import host_facts
from kcheck.views.settings_files import settings_path
from kcheck.views.targets import replica_targets
from tests.oracle.scenes import FIXTURES


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """Return the folder of broker 3, with its log dir `data1`, and no settings yet."""
    shutil.copytree(FIXTURES / "brokers" / "4.3.1" / "stopped" / "broker-3", tmp_path / "node")
    return tmp_path / "node"


@pytest.mark.parametrize(
    ("text", "is_that_of_it"),
    [
        ("log.dirs=/gone\nnode.id=3\n", True),
        ("log.dirs=/gone\nbroker.id=3\n", True),
        ("log.dirs=/gone\nnode.id=4\n", False),
        ("log.dirs=/gone\n", False),
        ("log.dirs=\udcff\nnode.id=3\n", True),
        ("node.id=3\n", False),
    ],
)
def test_settings_that_list_other_log_dirs(text: str, node: Path, *, is_that_of_it: bool) -> None:
    """They are those of the broker if they have its id."""
    path = node / "server.properties"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert (str(path) if is_that_of_it else None) == settings_path(replica_targets([str(node)]))


def unseen(folder: Path) -> list[str]:
    """Return the sentences of P317 about broker 3."""
    premises = kcheck.predict(folder).premises
    return [row.sentence for row in premises if (row.id, row.status) == ("P317", PremiseStatus.NOT_SEEN)]


@pytest.mark.parametrize("places", ["/gone", "data2", "other/data1"])
def test_log_dirs_that_are_not_here(places: str, node: Path) -> None:
    """The settings may be those of other disks."""
    (node / "server.properties").write_text(f"log.dirs={places}\nnode.id=3\nprocess.roles=broker\n", "utf-8")
    why = f"{node}/server.properties lists {places}, and not {node}/data1: whether broker 3 uses them is not known"
    assert [why] == unseen(node)


@pytest.mark.parametrize(
    "places",
    [
        "data1",
        "./data1/",
        "node/data1",
        "../node/data1",
        "gone,data1",
        "/var/lib/kafka/data1",
        "/disks/1/data2,/disks/2/data1/",
    ],
)
def test_log_dirs_that_were_copied_or_mounted_elsewhere(places: str, node: Path) -> None:
    """Brokers run on hosts of their own, so the disks of several of them are somewhere else on one machine."""
    (node / "server.properties").write_text(f"log.dirs={places}\nnode.id=3\nprocess.roles=broker\n", "utf-8")
    assert [] == unseen(node)


@pytest.mark.parametrize(
    "own",
    [
        "listeners=A://kafka-3:9092",
        "advertised.listeners=A://KAFKA-3.lan:9092",
        "listeners=SSL://:9093\nssl.keystore.location={store}",
    ],
)
def test_log_dirs_that_are_not_on_their_own_host(own: str, node: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An absolute path does not change there: the disk is mounted at a wrong place. In a container it may."""
    store = node / "store.p12"
    store.write_bytes(b"")
    settings = f"log.dirs=/var/lib/kafka/data1\nnode.id=3\nprocess.roles=broker\n{own.format(store=store)}\n"
    (node / "server.properties").write_text(settings, "utf-8")
    monkeypatch.setattr(host_facts, "in_container", lambda: False)
    monkeypatch.setattr(platform, "node", lambda: "kafka-3.lan")
    assert 1 == len(unseen(node))
    (node / "server.properties").write_text(settings.replace("/var/lib/kafka", "node"), "utf-8")
    assert [] == unseen(node)
    (node / "server.properties").write_text(settings, "utf-8")
    monkeypatch.setattr(host_facts, "in_container", lambda: True)
    assert [] == unseen(node)
    monkeypatch.setattr(host_facts, "in_container", lambda: False)
    store.unlink()
    monkeypatch.setattr(platform, "node", lambda: "localhost")
    assert [] == unseen(node)
