"""A replica as it lies, and as the next start of its broker leaves it."""

import os
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.replicas.loading import replicas_of, started
from kcheck.replicas.replica import ReplicaState, as_it_lies, live
from kcheck.views.log_dir import LogDirs
from kcheck.views.targets import targets
from tests.builders import batch, flip_byte, log_dir, partition_dir, run, write
from tests.reports import EVERY

LOG = "00000000000000000000.log"


def state_of(path: Path, *, kafka: str = "4.3", how: str = "after_start") -> ReplicaState:
    """Return the one replica below a path."""
    of = release(kafka)
    (files,) = replicas_of(targets([str(path)]), wanted=EVERY, log_dirs=LogDirs(of)).replicas
    if how == "after_start":
        return started(files, of)
    return {"as_it_lies": as_it_lies, "live": live}[how](files.view, files.log_dir, of)


def three_segments(path: Path, *, clean: bool = False, recovery_point: int = 0, kept: bool = True) -> Path:
    """Write a log of three segments of ten batches each, in the epochs 0, 1 and 2."""
    log_dir(path, clean=clean, recovery_point={"t-0": recovery_point}, high_watermark={"t-0": 250})
    segments = [run(0, 99), run(100, 199, epoch=1), run(200, 299, epoch=2)]
    partition_dir(path / "t-0", segments, epoch_entries=[(0, 0), (1, 100), (2, 200)] if kept else [(0, 0)])
    return path / "t-0"


@pytest.mark.parametrize(
    ("kafka", "problem"),
    [
        ("0.8.2", "the broker aborts: recovery-point-offset-checkpoint "),
        ("0.11.0", None),
        ("1.1", "its log dir goes offline: recovery-point-offset-checkpoint "),
        ("4.3", "its log dir goes offline: recovery-point-offset-checkpoint "),
    ],
)
def test_what_an_unreadable_recovery_point_does_is_of_the_release(
    tmp_path: Path, kafka: str, problem: str | None
) -> None:
    """A log dir goes offline from 1.0; 0.9 to 0.11 take it for missing and rescan everything."""
    path = three_segments(tmp_path / "data")
    write(tmp_path / "data", {"recovery-point-offset-checkpoint": b"0\n1\nt 0 5\nt 1 5\n"})
    flip_byte(path / LOG, 150)
    state = state_of(tmp_path / "data", kafka=kafka)
    if problem is None:
        assert (None, 10) == (state.problem, state.log_end_offset)
    else:
        assert state.problem is not None
        assert state.problem.startswith(problem)


def test_an_unreadable_high_watermark_keeps_the_replica_away(tmp_path: Path) -> None:
    three_segments(tmp_path / "data")
    write(tmp_path / "data", {"replication-offset-checkpoint": b"0\n1\nt 0 5\nt 1 5\n"})
    assert "replication-offset-checkpoint cannot be read" in str(state_of(tmp_path / "data").problem)


@pytest.mark.parametrize("how", ["after_start", "as_it_lies", "live"])
def test_a_negative_epoch_ends_the_broker(tmp_path: Path, how: str) -> None:
    path = three_segments(tmp_path / "data")
    write(path, {"leader-epoch-checkpoint": b"0\n1\n-2 0\n"})
    problem = str(state_of(tmp_path / "data", how=how).problem)
    assert problem.startswith("the broker aborts")
    assert "leader-epoch-checkpoint has epoch -2 from offset 0" in problem


@pytest.mark.parametrize(("kafka", "count"), [("1.1", 1), ("4.3", 0)])
def test_segments_that_are_parts_of_a_file_are_not_read(tmp_path: Path, kafka: str, count: int) -> None:
    """From 2.0 a recovery splits a segment with an offset that does not fit into the index."""
    log_dir(tmp_path / "data", clean=False)
    partition_dir(tmp_path / "data" / "t-0", [[*run(0, 9), batch(2**31)]], index_every=None)
    state = state_of(tmp_path / "data", kafka=kafka)
    assert (None, 2**31 + 1, count) == (state.problem, state.log_end_offset, len(state.logs))


def test_a_start_that_cannot_be_told_keeps_the_replica_away(tmp_path: Path) -> None:
    """A FIFO has the name of a segment."""
    path = three_segments(tmp_path / "data")
    os.mkfifo(path / "00000000000000000300.log")
    assert "00000000000000000300.log is not a regular file" == state_of(tmp_path / "data").problem


def test_without_a_log_dir_around_it_nobody_knows_the_high_watermark(tmp_path: Path) -> None:
    """In a log dir a missing entry is 0."""
    partition_dir(tmp_path / "t-0", [run(0, 99)])
    assert state_of(tmp_path / "t-0").high_watermark is None
    log_dir(tmp_path / "data", clean=False)
    partition_dir(tmp_path / "data" / "t-0", [run(0, 99)])
    assert state_of(tmp_path / "data").high_watermark == 0
