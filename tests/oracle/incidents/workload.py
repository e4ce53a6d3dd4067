"""What a cluster goes through before the damage, and what is kept of it."""

import contextlib
import json
import shutil
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.oracle.incidents.client import Client
from tests.oracle.incidents.running import Run, recreate, topics
from tests.oracle.incidents.shapes import Shape, cluster, portable
from tests.oracle.incidents.stories import OF_TWO_DISKS, STORIES
from tests.oracle.kafka import Cluster
from tests.oracle.scenes import INDEX_SIZE_MAX

ROUNDS = 3


class Known(NamedTuple):
    """What was acknowledged: the values of records by partition and offset, and the offsets of groups."""

    records: dict[str, dict[int, str]]
    groups: dict[str, int]
    """By "GROUP TOPIC PARTITION"."""
    story: str
    clean: bool
    """Whether every process was shut down cleanly at last."""
    replaced: Mapping[str, list[int]] = {}
    """Offsets of records that are on the disk of a broker that was down, and that an unclean leader gave to others."""


def build(random: Random, shape: Shape, folder: Path, stories: Collection[str] = ()) -> Known:
    """Let a cluster work; keep its disks, its settings, an older copy of one broker's disks, and what is known.

    It lives through one of these stories, if any are named.
    """
    work = folder.with_name(f"{folder.name}-work")
    of = cluster(shape, work)
    fitting = [story for story, brokers in STORIES if brokers <= shape.brokers]
    fitting = [story for story in fitting if shape.log_dirs > 1 or story not in OF_TWO_DISKS]
    story = random.choice([story for story in fitting if story.__name__ in stories] or fitting)
    with of, Client(of.bootstrap) as client:
        run = Run(random, shape, of, client)
        if shape.elr is not None:
            client.ask(f"elr {shape.elr}")
        topics(run)
        for number in range(ROUNDS):
            run.load()
            time.sleep(0.4)
            if number == 0:
                run.learn(client.ask("offset readers orders 0 1"))
            if number == 1:
                _old_copy(random, run, folder)
                _live_copies(run, folder)
                recreate(run)
        clean = story(run)
        of.kill()
        if client.said:
            (folder / "client.txt").write_text("\n".join(client.said))
    keep(of, shape, folder)
    shutil.rmtree(work)
    known = Known(run.records, run.groups, story.__name__, clean, run.replaced)
    (folder / "known.json").write_text(json.dumps(known._asdict()))
    return known


def known(folder: Path) -> Known:
    """Read what `build` has written."""
    return parsed(json.loads((folder / "known.json").read_text()))


def parsed(row: dict[str, Any]) -> Known:
    """Return what JSON tells: its keys are texts."""
    row["records"] = {name: {int(at): value for at, value in of.items()} for name, of in row["records"].items()}
    return Known(**row)


def _old_copy(random: Random, run: Run, folder: Path) -> None:
    """Copy the disks of a broker that is stopped for a moment."""
    number = random.choice(list(run.cluster.brokers))
    broker = run.cluster[number]
    time.sleep(1)
    broker.stop()
    for log_dir in broker.log_dirs:
        copy(log_dir, folder / "old" / broker.dir.name / log_dir.name)
    if run.shape.mode == "zk":
        shutil.copytree(run.cluster.beside.dir / "version-2", folder / "old" / "zookeeper" / "version-2")
    broker.start()
    run.settle()


def _live_copies(run: Run, folder: Path) -> None:
    """Copy the disks of all processes while they run, one after the other, with records between."""
    nodes = list(run.shape.nodes)
    run.random.shuffle(nodes)
    for number, name in enumerate(nodes):
        for log_dir in sorted((run.cluster.dir / name).glob("data*")):
            with contextlib.suppress(shutil.Error):  # a file that is gone by now
                copy(log_dir, folder / "live" / name / log_dir.name)
        if number == 0:
            run.load()
    if run.shape.mode == "zk":
        shutil.copytree(run.cluster.beside.dir / "version-2", folder / "live" / "zookeeper" / "version-2")


def copy(source: Path, target: Path) -> None:
    """Copy a log dir of a broker that does not run, as a minute later; big indexes of the metadata log are cut."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(".lock", "again-*-delete"))
    for index in target.glob("__cluster_metadata-0/*index"):
        with index.open("r+b") as file:
            file.truncate(min(index.stat().st_size, INDEX_SIZE_MAX))


def keep(of: Cluster, shape: Shape, folder: Path) -> None:
    """Copy the disks and settings of all processes of a cluster that does not run."""
    for name in shape.nodes:
        for log_dir in sorted((of.dir / name).glob("data*")):
            copy(log_dir, folder / "now" / name / log_dir.name)
        text = portable((of.dir / name / "server.properties").read_text(), of.dir)
        (folder / "now" / name / "server.properties").write_text(text)
    if shape.mode == "zk":
        shutil.copytree(of.dir / "zookeeper" / "version-2", folder / "now" / "zookeeper" / "version-2")
