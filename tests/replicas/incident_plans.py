"""The plans of whole incidents as `kcheck recover` shows them; `python -m tests.replicas.incident_plans` writes them.

Read the difference as an operator would before you keep it. Real brokers left the directories (fixtures/README.md).
"""

import contextlib
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.cli.command import kcheck
from tests.oracle.scenes import FIXTURES

PLACE = FIXTURES / "incidents" / "plans"
CLUSTERS = FIXTURES / "clusters" / "4.3.1"
PACKED = {
    **{path.name.removesuffix(".tar.xz"): path for path in sorted(PLACE.glob("*.tar.xz"))},
    **{name: CLUSTERS / f"{name}.tar.xz" for name in ("deleted-topic", "old-copy", "power-loss", "unclean-happened")},
}
"""The directories of each incident, packed."""
METADATA = ("controller", "new-controller", "zookeeper")


def shown(name: str, folder: Path) -> str:
    """Return the screen of an incident, unpacked in a folder; `FOLDER` stands for its path."""
    with tarfile.open(PACKED[name]) as tar:
        tar.extractall(folder, filter="data")
    with contextlib.chdir(folder):
        brokers = [f"{path.name.removeprefix('broker-')}={path}" for path in sorted(Path().glob("broker-*"))]
        copies = [path for path in (Path(named) for named in METADATA) if path.exists()]
        metadata = [word for path in copies for word in ("--metadata", str(path))]
        return kcheck("recover", *brokers, *metadata, columns=80).out.replace(str(folder.resolve()), "FOLDER")


def main(*wanted: str) -> None:
    """Write the screens of the wanted incidents, or of all."""
    for name in wanted or PACKED:
        with tempfile.TemporaryDirectory() as folder:
            (PLACE / f"{name}.txt").write_text(shown(name, Path(folder)), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
