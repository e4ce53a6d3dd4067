"""Where the static configuration of the controllers is read from."""

import shutil
from pathlib import Path

import pytest

from kcheck.errors import UsageError
from kcheck.model.cluster import STATIC, UNCLEAN, ClusterImage
from kcheck.views.controller_settings import controller_settings, settings_of_copies, with_settings
from kcheck.views.targets import replica_targets
from tests.test_brokers import BROKERS

ON = f"{UNCLEAN}=true\n"
CONTROLLER, BROKER = "process.roles=controller\n", "process.roles=broker\n"


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """Return the folder of node 3, with its log dir `data1`, and no settings yet."""
    shutil.copytree(BROKERS / "4.3.1" / "stopped" / "broker-3", tmp_path / "node")
    return tmp_path / "node"


def write(folder: Path, text: str, name: str = "server.properties") -> str:
    """Write settings; return their path."""
    (folder / name).write_text(text, "utf-8")
    return str(folder / name)


@pytest.mark.parametrize("argument", ["", "data1", "data1/__cluster_metadata-0", "server.properties"])
@pytest.mark.parametrize("listed", [True, False])
def test_settings_beside_metadata(argument: str, node: Path, *, listed: bool) -> None:
    """They list the log dir, or name its node: a copy of a disk on another machine has other paths."""
    place = f"log.dirs={node}/data1\n" if listed or argument.endswith("properties") else "log.dirs=/other\nnode.id=3\n"
    path = write(node, CONTROLLER + ON + place)
    assert [*controller_settings((), [str(node / argument)])] == [path]
    assert [*controller_settings(replica_targets([str(node / argument)]))] == [path]


def test_a_snapshot_of_the_metadata(node: Path) -> None:
    path = write(node, CONTROLLER + f"log.dirs={node}/data1\n")
    directory = node / "data1" / "__cluster_metadata-0"
    segment = next(directory.glob("*.log"))
    assert [*controller_settings((), [str(segment)])] == [path]
    assert [*settings_of_copies([str(directory)])] == [path]


@pytest.mark.parametrize(
    "text",
    [
        BROKER + ON + "node.id=3\n",
        CONTROLLER + f"{UNCLEAN}=${{file:/a:b}}\nnode.id=3\n",
        CONTROLLER + ON + "node.id=4\n",
    ],
    ids=["of a broker alone", "of a config provider", "of another node"],
)
def test_settings_that_do_not_count(text: str, node: Path) -> None:
    write(node, text)
    assert not controller_settings((), [str(node), str(node / "gone")])


def test_settings_that_the_user_names(tmp_path: Path) -> None:
    """`--config` is a controller's too."""
    path = write(tmp_path, ON, "other.properties")
    assert [*controller_settings((), (), path)] == [path]
    with pytest.raises(UsageError, match="gone"):
        controller_settings((), (), str(tmp_path / "gone"))


def test_one_controller_that_elects_uncleanly_is_enough() -> None:
    """Whichever controller is active after the start decides; without any file nothing is known."""
    image = ClusterImage({})
    assert with_settings(image, {}) is image
    seen = with_settings(image, {"a": {"min.insync.replicas": " 2"}, "b": {UNCLEAN: "TRUE"}})
    assert seen.configs == {STATIC: {"min.insync.replicas": "2", UNCLEAN: "true"}}
    assert seen.settings == ("a", "b")
