"""The pages of docs/operations about rescues: their commands, typed on real nodes word for word, one after the other.

`python -m tests.oracle.clusters.rescue_pages PAGE...` follows pages such as lost-metadata. It writes
fixtures/incidents/after/PAGE.tar.xz: the disks after the last start.
"""

import functools
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.docs.incidents import INCIDENTS, PAGES, RECOVERED, RESCUED
from tests.oracle.clusters.page_plans import CONFIG, VERSION
from tests.oracle.clusters.recovered import install, typed
from tests.oracle.jars import java_command
from tests.oracle.kafka import CONTROLLER_ID, Cluster, Process
from tests.oracle.scenes import pack

TOOLS = {
    "kafka-storage": "kafka.tools.StorageTool",
    "kafka-metadata-quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "zookeeper-shell": "org.apache.zookeeper.ZooKeeperMain -server",
}
"""The classes of the tools that only these pages name."""
OF_KRAFT, OF_ZOOKEEPER = "Or go on with KRaft", "Go on with a new ZooKeeper"
SECTIONS = {"lost-zookeeper": OF_KRAFT}
"""The part of a page that goes on with nodes of KRaft, where it is not all of it."""
_BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_START = re.compile(r"bin/kafka-server-(start|stop)\.sh (?:-daemon (\S+)/server\.properties|--node-id=(\d+))")
_SETTLES = 5.0
"""Seconds after the last start: brokers register, and followers catch up."""


def lines_of(page: str, section: str | None = None) -> Iterator[str]:
    """Yield the commands of a page, or of a section: those with a prompt, and all of its blocks of shell."""
    whole = (PAGES / f"{page}.md").read_text("utf-8")
    for kind, text in _BLOCK.findall(whole if section is None else _section(whole, section)):
        rows = text.splitlines()
        yield from rows if kind == "sh" else (row.removeprefix("$ ") for row in rows if row.startswith("$ "))


def _section(whole: str, title: str) -> str:
    before, found, rest = whole.partition(f"\n## {title}\n")
    assert before
    assert found
    return rest.partition("\n## ")[0]


def begun_with(
    page: str, folder: Path, start: Callable[..., Cluster] = Cluster, version: str = VERSION, mode: str = "kraft"
) -> Cluster:
    """Return the nodes of the incident of a page, stopped; the disk of the new controller, or ZooKeeper, is empty."""
    kept = folder / "kept"
    INCIDENTS[f"docs/operations/{page}.md"](kept)
    log_dirs = {int(path.name.rpartition("-")[2]): len([*path.glob("data?")]) for path in kept.glob("broker-?")}
    (kept / "zookeeper").mkdir()
    cluster = start(
        version, len(log_dirs), dir=folder / "played", log_dirs=log_dirs, broker_config=CONFIG, begins_with=kept,
        mode=mode,
    )  # fmt: skip
    if page in RESCUED and mode == "kraft":
        shutil.rmtree(cluster.beside.log_dirs[0])
    for path in kept.iterdir():
        if path.name == "aside":
            shutil.copytree(path, cluster.dir / path.name)
    for path in kept.glob("*.json"):
        shutil.copy(path, cluster.dir)
    install(cluster)
    for tool, main in TOOLS.items():
        words = " ".join(f"'{word}'" for word in java_command(version, *main.split()))
        path = cluster.dir / "bin" / f"{tool}.sh"
        path.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        path.chmod(0o755)
    return cluster


def node_of(cluster: Cluster, name: str) -> Process:
    """Return the process of a folder such as broker-1, or of an id."""
    number = name.rpartition("-")[2]
    return cluster.beside if number in ("controller", str(CONTROLLER_ID)) else cluster[int(number)]


def typed_all(
    cluster: Cluster, page: str, section: str | None = None, kept: Callable[[], object] = lambda: None
) -> list[str]:
    """Type the commands of a page; return what each printed. `kept` is called before the last command of kcheck."""
    printed, is_new = [], False
    lines = [*lines_of(page, section)]
    last = max((at for at, line in enumerate(lines) if line.startswith("kcheck")), default=-1)
    for at, line in enumerate(lines):
        if (found := _START.fullmatch(line)) is not None:
            node = node_of(cluster, found[2] or found[3])
            if found[1] == "stop":
                node.stop()
            else:
                node.start()
            is_new = True
            continue
        if is_new:
            time.sleep(_SETTLES)
            is_new = False
        if at == last:
            kept()
        done = typed(cluster, line.replace("HOST:2181", f"127.0.0.1:{cluster.beside.port}"))
        codes = ("[0]", "[1]") if line.startswith("kcheck") else ("[0]",)  # 1: what is wrong was found
        assert done.endswith(codes), done
        printed.append(done)
    return printed


def main(*pages: str) -> None:
    """Write the disks after the last start of pages."""
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            cluster = begun_with(page, Path(folder))
            try:
                printed = typed_all(cluster, page, SECTIONS.get(page), kept=functools.partial(_packed, cluster, page))
            finally:
                cluster.kill()
            print(page, *printed, sep="\n", flush=True)


def _packed(cluster: Cluster, page: str) -> None:
    """Record the disks of nodes that stand still meanwhile."""
    cluster.kill()
    pack(cluster, RECOVERED / f"{page}.tar.xz")
    cluster.start()
    time.sleep(_SETTLES)


if __name__ == "__main__":
    main(*sys.argv[1:])
