"""The newest snapshot of the metadata is torn on every disk that is left: older files, or what is left of it.

`KCHECK_SWEEP` plays them.
"""

import json
from pathlib import Path

import pytest

import kcheck
from kcheck.core.rescue.ways import Way
from kcheck.model.names import log_name
from tests.oracle.ask import sampled
from tests.oracle.clusters.lost_metadata import NEW, answers, planned, with_controller
from tests.oracle.clusters.lost_metadata import started as metadata_started
from tests.oracle.clusters.lost_quorum import (
    BROKERS,
    CONTROLLERS,
    LEADS,
    Nodes,
    copied,
    killed_by_surprise,
)
from tests.oracle.clusters.test_lost_quorum import OTHERS, Base, base, started
from tests.oracle.clusters.test_lost_quorum import planned as quorum_planned
from tests.oracle.kafka import wait_for

__all__ = ["base"]

pytestmark = [pytest.mark.oracle, pytest.mark.whole]

RELEASES = ("3.6.2", "3.9.2", "4.0.2", "4.3.1")


def with_snapshots(nodes: Nodes, *lost: int) -> None:
    """Let all nodes run until controller 101 and the brokers have a snapshot; then some controllers are lost."""
    here = (101, *BROKERS)
    for number in nodes.nodes:
        with (nodes.dir / f"node-{number}" / "server.properties").open("a") as settings:
            settings.write("metadata.log.max.record.bytes.between.snapshots=500\n")
    nodes.start(*CONTROLLERS)
    wait_for("a leader", lambda: any(LEADS.search(nodes[each].log_since_start()) for each in CONTROLLERS))
    nodes.start(*BROKERS)
    wait_for("a snapshot", lambda: all(any(nodes.metadata(each).glob("*.checkpoint")) for each in here))
    killed_by_surprise(nodes)
    for number in lost:
        del nodes.nodes[number]


def tear(nodes: Nodes, *each: int, part: float = 1.0) -> dict[int, Path]:
    """Change a byte in the newest snapshot of nodes, and keep a part of the file; return their paths.

    A node loads what a truncated file has, and ends at a wrong CRC.
    """
    torn = {}
    for number in each:
        newest = torn[number] = max(nodes.metadata(number).glob("*.checkpoint"))
        data = bytearray(newest.read_bytes())
        data[len(data) // 2] ^= 1
        newest.write_bytes(bytes(data[: int(len(data) * part)]))
    return torn


@pytest.mark.parametrize("version", sampled(RELEASES))
def test_older_files_have_what_a_torn_snapshot_had(version: str, base: Base, tmp_path: Path) -> None:
    """From 3.8 on the survivor ends without the plan, which sets the file aside; then all is as before."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=()) as nodes:
        with_snapshots(nodes, *OTHERS)
        torn = tear(nodes, 101, *BROKERS)
        if version >= "3.8":
            nodes.configure(101, [101])
            nodes[101].spawn()
            wait_for("its end", lambda: not nodes[101].alive)
            assert LEADS.search(nodes[101].log_since_start()) is None
            nodes.configure(101, CONTROLLERS)
        answer = quorum_planned(nodes, 101, *BROKERS, way=Way.STATIC, out=tmp_path / "out", dead=OTHERS)
        started(nodes, answer, cluster)
        assert [path for path in torn.values() if path.exists()] == []


@pytest.mark.parametrize("version", sampled(RELEASES))
def test_what_is_left_of_a_torn_snapshot_fills_the_answers(version: str, base: Base, tmp_path: Path) -> None:
    """It is all that brokers have: their topics come from the disks, and the user adds what the rest of it had."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=()) as nodes:
        with_snapshots(nodes, *CONTROLLERS)
        with_controller(nodes)
        for number in BROKERS:
            folder = nodes.metadata(number)
            newest = max(folder.glob("*.checkpoint"))
            for path in folder.iterdir():
                if path != newest and path.name != "quorum-state":
                    path.unlink()
            (folder / log_name(int(newest.name[:20]))).touch()
        tear(nodes, *BROKERS, part=0.75)
        refused = kcheck.recover_quorum(*nodes.arguments(*BROKERS, NEW), dead=CONTROLLERS)
        assert {"damaged"} <= {row.name for row in refused.refusals}
        known = completed(nodes, cluster, tmp_path / "answers")
        answer = planned(nodes, tmp_path / "out", answers=known)
        assert [plan.node_id for plan in answer.plans] == [NEW, *BROKERS]
        metadata_started(nodes, answer, cluster)


def completed(nodes: Nodes, cluster: Path, folder: Path) -> Path:
    """Return the answers of a user who knows what the rest of the snapshot had."""
    path = answers(nodes, cluster, folder)
    document = json.loads((folder / "answers.json").read_text())
    assert all(
        name.startswith("__") or row["configs"]["retention.bytes"] == "-1" for name, row in document["topics"].items()
    )
    return path
