"""Log dirs of controllers as `kafka-storage format` leaves them, in each of its ways (KIP-853)."""

from collections.abc import Mapping
from pathlib import Path

from tests.oracle.jars import run_java

CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"
DIRECTORIES = {1: "BAAAAAAAAAAAAAAAAAAAAQ", 2: "CAAAAAAAAAAAAAAAAAAAAg"}
"""The directory id of each of the controllers that `--initial-controllers` names."""
_INITIAL = ",".join(f"{number}@127.0.0.1:1909{number}:{directory}" for number, directory in DIRECTORIES.items())
WAYS: Mapping[str, tuple[str, ...]] = {
    "standalone": ("--standalone",),
    "initial-controllers": ("--initial-controllers", _INITIAL),
    "no-initial-controllers": ("--no-initial-controllers",),
}
_PROPERTIES = """process.roles=controller
node.id=1
listeners=CONTROLLER://127.0.0.1:19091
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:19091
"""


def format_controller(version: str, log_dir: Path, way: str, config: Path) -> None:
    """Format a log dir of controller 1; `config` is where its server.properties go."""
    config.write_text(f"{_PROPERTIES}log.dirs={log_dir}\n")
    run_java(version, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, *WAYS[way], "-c", str(config))
