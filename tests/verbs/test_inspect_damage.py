"""What `kcheck inspect` shows where something cannot be read, or where kcheck itself fails."""

import contextlib
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from kcheck.disk.local import LocalDirectory
from kcheck.disk.tree import Tree
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import UnreadableError
from kcheck.verbs import inspect
from kcheck.views import log_dir as host
from tests.builders import broker, partition_dir, run, write
from tests.cli.command import kcheck
from tests.reports import ids, inspected

pytestmark = pytest.mark.usefixtures("in_folder")

LOG = "00000000000000000000.log"


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: (data / "a-0" / "leader-epoch-checkpoint").unlink(),
        lambda data: (data / "recovery-point-offset-checkpoint").write_bytes(b"\xff" * 100),
        lambda data: (data / "meta.properties").write_bytes(bytes(100)),
        lambda data: (data / "x").mkdir(),
        lambda data: os.mkfifo(data / "replication-offset-checkpoint-copy"),
        lambda data: (data / "c-0").symlink_to("/"),
        lambda data: (data / "c-0").symlink_to("c-0"),
        lambda data: os.truncate(data / "meta.properties", 1 << 40),
        lambda data: os.truncate(data / "a-0" / "leader-epoch-checkpoint", 1 << 40),
        lambda data: (data / "a-0" / "00000000000000000200.log").write_bytes(os.urandom(1000)),
    ],
)
def test_one_bad_file_hides_nothing_else(data: Path, damage: Any) -> None:
    """Both partitions are there, the other with its log end."""
    damage(data)
    found = {row["dir"]: row for row in inspected(data)["items"][0]["partitions"]}
    assert {"a-0", "b-1"} <= set(found)
    assert found["b-1"]["log_end_offset"] == 10


def test_a_directory_in_place_of_a_checkpoint_is_not_missing(data: Path) -> None:
    name = "replication-offset-checkpoint"
    (data / name).unlink()
    (data / name).mkdir()
    state = inspected(data)["items"][0]["checkpoints"][name]
    assert ("unreadable", "is a directory") == (state["status"], state["defect"])
    assert "replication-offset unreadable: is a directory" in " ".join(kcheck("inspect", data).out.split())


@pytest.mark.parametrize("name", ["leader-epoch-checkpoint", "partition.metadata"])
def test_a_small_file_that_is_a_link_is_not_missing(data: Path, name: str) -> None:
    """It is there, and not followed."""
    write(Path(), {"elsewhere": b"0\n0\n"})
    (data / "a-0" / name).unlink()
    (data / "a-0" / name).symlink_to("../../elsewhere")
    assert [("KC001", name)] == [(row["id"], row["file"]) for row in inspected(data)["findings"] if row["dir"] == "a-0"]


def test_a_checkpoint_that_is_a_link_is_not_missing(data: Path) -> None:
    (data / "meta.properties").rename("elsewhere")
    (data / "meta.properties").symlink_to("../elsewhere")
    assert ("KC001", "meta.properties") in [(row["id"], row["file"]) for row in inspected(data)["findings"]]


def test_a_partition_directory_that_cannot_be_listed_has_no_offsets(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a log start nor a log end."""
    listing = LocalDirectory.listing

    def refuses(folder: LocalDirectory) -> Any:
        if folder.path.endswith("a-0"):
            raise UnreadableError("Permission denied")
        return listing(folder)

    monkeypatch.setattr(LocalDirectory, "listing", refuses)
    found = inspected(data)
    row = found["items"][0]["partitions"][0]
    assert (None, None) == (row["log_start_offset"], row["log_end_offset"])
    assert [("KC001", "a-0")] == [(row["id"], row["dir"]) for row in found["findings"] if row["dir"] == "a-0"]


def test_a_link_out_of_the_log_dir_is_a_finding(data: Path) -> None:
    """What it leads to is not looked at."""
    partition_dir(Path("elsewhere"), [run(0, 9)])
    (data / "c-0").symlink_to("../elsewhere")
    found = inspected(data)
    assert ["a-0", "b-1"] == [row["dir"] for row in found["items"][0]["partitions"]]
    assert [("KC001", "c-0")] == [(row["id"], row["dir"]) for row in found["findings"] if row["id"] == "KC001"]
    assert "KC001" not in ids(inspected(data, wanted=PartitionFilter(topics=("a",))))


def test_a_link_is_told_as_one_that_the_broker_follows(data: Path) -> None:
    """Nothing is wrong with the disk."""
    (data / "c-0").symlink_to(data.absolute())
    told = [row for row in inspected(data)["findings"] if row["id"] == "KC001"]
    assert [("cannot be read: not followed, because the symbolic link leaves the log dir", True)] == [
        (row["message"], row["effect"].startswith("The broker follows the link")) for row in told
    ]


def test_a_socket_is_no_file(data: Path) -> None:
    name = data / "b-1" / "leader-epoch-checkpoint"
    name.unlink(missing_ok=True)
    with contextlib.chdir(name.parent), socket.socket(socket.AF_UNIX) as taken:
        taken.bind(name.name)
    told = [row["message"] for row in inspected(data)["findings"] if (row["id"], row["dir"]) == ("KC001", "b-1")]
    assert ["cannot be read: not a regular file"] == told


def test_a_bug_in_one_partition_is_a_finding_and_the_rest_is_told(data: Path, break_partition: Any) -> None:
    break_partition("a-0", ZeroDivisionError("division by zero"))
    found = inspected(data)
    assert "KC302" not in ids(found)
    assert ["b-1"] == [row["dir"] for row in found["items"][0]["partitions"]]
    (bug,) = [row for row in found["findings"] if row["id"] == "KC000"]
    assert ("error", "data", "a-0") == (bug["severity"], bug["log_dir"], bug["dir"])
    assert bug["message"] == "kcheck failed here: ZeroDivisionError: division by zero"


def test_a_bug_in_a_partition_that_stands_alone_is_a_finding(break_partition: Any) -> None:
    partition_dir(Path("t-0"), [run(0, 9)])
    partition_dir(Path("t-1"), [run(0, 9)])
    break_partition("t-0", ZeroDivisionError("division by zero"))
    found = inspected("t-0", "t-1")
    assert ["t-1"] == [item["dir"] for item in found["items"]]
    assert ["KC000"] == ids(found)


def test_a_log_dir_that_vanishes_is_a_finding(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look at the arguments and the reading."""
    broker(Path("other"), run(0, 9))
    opening = host.open_log_dir

    def late(tree: Tree, path: str, *arguments: Any) -> Any:
        if path == "data":
            data.rename("gone")
        return opening(tree, path, *arguments)

    monkeypatch.setattr(host, "open_log_dir", late)
    found = inspected("data", "other")
    assert ["data", "other"] == [item["path"] for item in found["items"]]
    assert [("KC001", "data")] == [(row["id"], row["log_dir"]) for row in found["findings"]]


def test_a_segment_that_vanishes_while_it_is_told_is_left_out(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A running broker deletes old segments at any time."""
    partition = inspect._partition

    def late(*arguments: Any) -> Any:
        (data / "a-0" / LOG).unlink(missing_ok=True)
        return partition(*arguments)

    monkeypatch.setattr(inspect, "_partition", late)
    found = inspected(data, batches=True)
    assert ["a-0", "b-1"] == [row["dir"] for row in found["items"][0]["partitions"]]


def test_the_last_vote_of_a_node(tmp_path: Path) -> None:
    """Both versions; a file that a node of 3.7 removes."""
    path = tmp_path / "quorum-state"
    path.write_text('{"clusterId":"","leaderId":7,"leaderEpoch":2,"votedId":-1,"appliedOffset":0,"currentVoters":'
                    '[{"voterId":7},{"voterId":8}],"data_version":0}')  # fmt: skip
    out = kcheck("inspect", path, "--kafka", "4.3").out
    assert "voters 7, 8" in out
    assert "reads the same" in out
    path.write_text("x")
    assert "Kafka 3.7 removes it and forgets the last election" in kcheck(
        "inspect", path, "--kafka", "3.7"
    ).out.replace("\n", " ")
    assert "cannot read it" in kcheck("inspect", path, "--kafka", "4.3").out
