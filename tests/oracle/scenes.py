"""Clusters in `fixtures` that go on from where they were recorded: what `Cluster(begins_with=...)` takes."""

import contextlib
import re
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

from tests.oracle.histories import topic_id
from tests.oracle.kafka import CONTROLLER_ID, Cluster

FIXTURES = Path(__file__).parents[2] / "fixtures"
INDEX_SIZE_MAX = 1008


def recorded(scene: str, folder: Path) -> Path:
    """Copy a scene like "clusters/4.3.1/outrun" into a folder, and return it.

    The controller beside the brokers gets the newest metadata that a broker has: nothing else of it was recorded.
    """
    shutil.copytree(FIXTURES / scene, folder)
    return with_controller(folder)


def killed_brokers(folder: Path) -> None:
    """Copy three killed brokers of 4.3.1 and their controller into a folder."""
    shutil.copytree(FIXTURES / "brokers/4.3.1/killed", folder, dirs_exist_ok=True)
    with_controller(folder)


def with_controller(folder: Path) -> Path:
    """Give a recorded cluster the controller that it lacks, and return its folder."""
    controller = folder / "controller" / "data1"
    if controller.exists():
        return folder
    metadata = [path.parent / "__cluster_metadata-0" for path in folder.glob("*/data1/meta.properties")]
    newest = max(metadata, key=lambda path: sum(log.stat().st_size for log in path.glob("*.log")))
    shutil.copytree(newest, controller / newest.name)
    properties = (newest.parent / "meta.properties").read_text()
    for name, value in (("directory.id", topic_id("controller")), ("node.id", CONTROLLER_ID)):
        properties = re.sub(rf"(?m)^{re.escape(name)}=.*$", f"{name}={value}", properties)
    (controller / "meta.properties").write_text(properties)
    return folder


@contextlib.contextmanager
def begun(cluster: Cluster, *brokers: int) -> Iterator[Cluster]:
    """Start these brokers of a recorded cluster, one after the other; kill all processes in the end."""
    try:
        if brokers:
            cluster.beside.start()
        for number in brokers:
            cluster[number].start()
        yield cluster
    finally:
        cluster.kill()


def pack(cluster: Cluster, archive: Path) -> None:
    """Record the log dirs of all processes in one file, with ZooKeeper's data.

    The metadata log's indexes are cut to 1,008 bytes of zeros.
    """
    with tarfile.open(archive, "w:xz") as tar:
        if cluster.mode == "zk":
            tar.add(cluster.beside.dir / "version-2", f"{cluster.beside.dir.name}/version-2")
        for node in (*cluster.brokers.values(), cluster.beside):
            for index in node.dir.glob("*/__cluster_metadata-0/*index"):
                with index.open("r+b") as file:
                    file.truncate(min(index.stat().st_size, INDEX_SIZE_MAX))
            for log_dir in node.log_dirs:
                tar.add(log_dir, f"{node.dir.name}/{log_dir.name}")


def unpacked(scene: str, folder: Path) -> Path:
    """Extract a scene that `pack` has recorded into a folder, and return it."""
    with tarfile.open(FIXTURES / f"{scene}.tar.xz") as tar:
        tar.extractall(folder, filter="data")
    return folder
