"""Where the copies of a cluster's metadata are."""

import shutil
from pathlib import Path

import pytest

from kcheck.errors import UsageError
from kcheck.views.metadata_paths import MetadataPath, metadata_paths
from kcheck.views.targets import replica_targets
from tests.builders import write
from tests.test_brokers import BROKERS

NAME = "__cluster_metadata-0"
CLUSTER = "rEdlymVTR8eFncPT93AD5g"
DATA = BROKERS / "4.3.1" / "coordinators" / "broker-1"
SNAPSHOT = "00000000000000000086-0000000001.checkpoint"


def found(*arguments: str | Path) -> tuple[MetadataPath, ...]:
    """Return the copies in the arguments."""
    return metadata_paths(replica_targets([str(argument) for argument in arguments]))


@pytest.mark.parametrize("below", ["", "data1", f"data1/{NAME}"])
def test_a_folder_a_log_dir_or_the_directory_itself(below: str) -> None:
    expected = MetadataPath(f"{DATA}/data1/{NAME}", 1, CLUSTER)
    assert found(DATA / below) == (expected,)
    assert found(f"7={DATA / below}") == (expected._replace(node_id=7),)


def test_one_file(tmp_path: Path) -> None:
    """A snapshot, without a node if it lies elsewhere; no other kind of file."""
    path = DATA / "data1" / NAME
    assert found(path / SNAPSHOT) == (MetadataPath(str(path), 1, CLUSTER, SNAPSHOT),)
    shutil.copy(path / SNAPSHOT, tmp_path)
    assert found(tmp_path / SNAPSHOT) == (MetadataPath(str(tmp_path), None, None, SNAPSHOT),)
    with pytest.raises(UsageError, match=": not a snapshot or segment of cluster metadata"):
        found(path / "quorum-state")
    with pytest.raises(UsageError, match="gone: no such file or directory"):
        found(tmp_path / "gone")


def test_a_log_dir_without_metadata_is_passed_over() -> None:
    assert [copy.path for copy in found(DATA)] == [f"{DATA}/data1/{NAME}"]
    with pytest.raises(UsageError, match=f"no cluster metadata in {DATA}/data2: a KRaft node keeps them in {NAME}"):
        found(DATA / "data2")


def test_two_clusters_are_refused() -> None:
    """The message names both."""
    other = BROKERS / "4.3.1" / "tiered" / "broker-1" / "data1"
    with pytest.raises(UsageError, match=f"two clusters: {DATA}/data1/{NAME} is of {CLUSTER}, {other}/{NAME} of "):
        found(DATA, other)


def test_a_node_that_cannot_be_told(tmp_path: Path) -> None:
    path = shutil.copytree(DATA / "data1" / NAME, tmp_path / "d" / NAME)
    assert found(path) == (MetadataPath(str(path), None, None),)
    write(tmp_path / "d", {"meta.properties": b"version=1\ncluster.id=\n"})
    assert found(path) == (MetadataPath(str(path), None, None),)
    (tmp_path / "d" / "meta.properties").unlink()
    (tmp_path / "d" / "meta.properties").symlink_to("meta.properties")
    assert found(path) == (MetadataPath(str(path), None, None),)
