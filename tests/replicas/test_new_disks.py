"""`kcheck elect` after a disk was replaced: its replicas are made again, and can lead with empty logs."""

from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.core.election.plans import CopyState
from kcheck.core.replication.leader_costs import Amounts, at_most
from kcheck.model.report import PartitionFilter
from tests.docs.incidents import dead_disk


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return broker 1, whose log dir data2 is empty."""
    dead_disk(tmp_path)
    return tmp_path / "broker-1"


def candidate(data: Path) -> dict[str, Any]:
    """Return what broker 1 is to codecs-0, which was in data2."""
    brokers = [f"{number}={data.parent}/broker-{number}" for number in (1, 2, 3)]
    said = kcheck.elect(*brokers, partitions=PartitionFilter(topics=("codecs",))).to_dict()
    (row,) = (row for row in said["partitions"][0]["candidates"] if row["broker_id"] == 1)
    return {name: row[name] for name in ("state", "log_end_offset", "problem")}


def test_a_new_disk(data: Path) -> None:
    """Formatted, with a directory.id of its own or without one."""
    lines = (data / "data1" / "meta.properties").read_text("utf-8").splitlines(keepends=True)
    own = "".join(line for line in lines if not line.startswith("directory.id"))
    for directory_id in ("", "directory.id=MkU3OEVBNTcwNTJENDM2Qg\n"):
        (data / "data2" / "meta.properties").write_text(own + directory_id, "utf-8")
        assert candidate(data) == {"state": "missing", "log_end_offset": 0, "problem": None}


def test_a_log_dir_that_is_missing(data: Path) -> None:
    """The server.properties of the broker lists it. A real 4.3.1 does not start without it."""
    (data / "data2").rmdir()
    found = candidate(data)
    assert (found["state"], found["problem"].split(" ", 4)[:3]) == ("current", ["the", "broker", "does"])


def test_what_a_replica_on_a_new_disk_loses_as_leader_is_a_bound(data: Path) -> None:
    """A real 4.3.1 took such a replica out of the ISR: its new log dir was assigned before it was registered."""
    lines = (data / "data1" / "meta.properties").read_text("utf-8").splitlines(keepends=True)
    own = "".join(line for line in lines if not line.startswith("directory.id"))
    (data / "data2" / "meta.properties").write_text(own + "directory.id=MkU3OEVBNTcwNTJENDM2Qg\n", "utf-8")
    brokers = [f"{number}={data.parent}/broker-{number}" for number in (1, 2, 3)]
    rows = kcheck.elect(*brokers).partitions
    lost = [row.leaders[1].lost for row in rows if row.leaders[1].state is CopyState.MISSING]
    assert lost
    assert all(row is not None and row.records is None and row.at_most == row.committed_at_most for row in lost)
    assert Amounts(0, 0, 0) == at_most(Amounts(0, 0, 0))
