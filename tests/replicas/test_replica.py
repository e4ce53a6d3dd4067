"""A replica as it lies, and as the next start of its broker leaves it."""

import os
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.replicas.loading import replicas_of, started
from kcheck.replicas.replica import ReplicaState, as_it_lies, live
from kcheck.views.log_dir import LogDirs
from kcheck.views.targets import targets
from tests.builders import batch, broker, flip_byte, index, log, log_dir, message, partition_dir, run, write
from tests.reports import EVERY

LOG = "00000000000000000000.log"
SECOND = "00000000000000000100.log"
LAST = "00000000000000000200.log"


def state_of(path: Path, *, kafka: str = "4.3", how: str = "after_start") -> ReplicaState:
    """Return the one replica below a path."""
    of = release(kafka)
    (files,) = replicas_of(targets([str(path)]), wanted=EVERY, log_dirs=LogDirs(of)).replicas
    if how == "after_start":
        return started(files, of)
    return {"as_it_lies": as_it_lies, "live": live}[how](files.view, files.log_dir, of)


def cache(state: ReplicaState) -> list[tuple[int, int]]:
    """Return the epochs."""
    return [(entry.epoch, entry.start_offset) for entry in state.cache]


def three_segments(path: Path, *, clean: bool = False, recovery_point: int = 0, kept: bool = True) -> Path:
    """Write a log of three segments of ten batches each, in the epochs 0, 1 and 2."""
    log_dir(path, clean=clean, recovery_point={"t-0": recovery_point}, high_watermark={"t-0": 250})
    segments = [run(0, 99), run(100, 199, epoch=1), run(200, 299, epoch=2)]
    partition_dir(path / "t-0", segments, epoch_entries=[(0, 0), (1, 100), (2, 200)] if kept else [(0, 0)])
    return path / "t-0"


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("how", ["after_start", "as_it_lies", "live"])
def test_an_undamaged_log_stays_as_it_is(tmp_path: Path, how: str, *, clean: bool) -> None:
    """Whoever looks at it, and however it was stopped."""
    three_segments(tmp_path / "data", clean=clean)
    state = state_of(tmp_path / "data", how=how)
    assert (None, 300, 0, 250) == (state.problem, state.log_end_offset, state.log_start_offset, state.high_watermark)
    assert [(0, 0), (1, 100), (2, 200)] == cache(state)
    assert [1000, 1000, 1000] == [log.size for log in state.logs]
    assert state.latest_epoch == 2


@pytest.mark.parametrize("tail", [batch(300).data[:-1], bytes(100), os.urandom(17)], ids=["torn", "zeros", "17 bytes"])
def test_an_unclean_start_drops_the_tail_that_is_no_batch(tmp_path: Path, tail: bytes) -> None:
    path = three_segments(tmp_path / "data")
    with (path / LAST).open("ab") as stream:
        stream.write(tail)
    state = state_of(tmp_path / "data")
    assert (None, 300, 1000) == (state.problem, state.log_end_offset, state.logs[-1].size)


def test_an_unclean_start_cuts_at_a_crc_that_does_not_match(tmp_path: Path) -> None:
    """In the last segment: what stands behind it is gone too."""
    path = three_segments(tmp_path / "data", recovery_point=250)
    flip_byte(path / LAST, 450)
    state = state_of(tmp_path / "data")
    assert (240, 400) == (state.log_end_offset, state.logs[-1].size)
    assert 300 == state_of(tmp_path / "data", how="as_it_lies").log_end_offset


def test_an_unclean_start_drops_the_segments_behind_a_damaged_one(tmp_path: Path) -> None:
    """The high watermark and the epochs follow."""
    path = three_segments(tmp_path / "data", recovery_point=100)
    flip_byte(path / SECOND, 550)
    state = state_of(tmp_path / "data")
    assert (150, 150, [0, 100]) == (state.log_end_offset, state.high_watermark, [log.base_offset for log in state.logs])
    assert [(0, 0), (1, 100)] == cache(state)


def test_segments_below_the_recovery_point_are_not_looked_at(tmp_path: Path) -> None:
    """They were flushed: their damage shows later."""
    path = three_segments(tmp_path / "data", recovery_point=200)
    flip_byte(path / SECOND, 550)
    assert (300, 3) == (state_of(tmp_path / "data").log_end_offset, len(state_of(tmp_path / "data").logs))


def test_a_missing_recovery_point_is_0(tmp_path: Path) -> None:
    """Then every segment is rescanned."""
    path = three_segments(tmp_path / "data")
    (tmp_path / "data" / "recovery-point-offset-checkpoint").unlink()
    flip_byte(path / LOG, 150)
    state = state_of(tmp_path / "data")
    assert (10, 1) == (state.log_end_offset, len(state.logs))


def test_a_clean_start_looks_at_no_crc(tmp_path: Path) -> None:
    """Only the segment with the last index entry is walked, from there."""
    path = three_segments(tmp_path / "data", clean=True)
    flip_byte(path / LAST, 450)
    assert 300 == state_of(tmp_path / "data").log_end_offset


def test_an_unclean_start_adds_the_epochs_that_it_sees(tmp_path: Path) -> None:
    """Of the segments from the recovery point on."""
    three_segments(tmp_path / "data", kept=False)
    assert [(0, 0), (1, 100), (2, 200)] == cache(state_of(tmp_path / "data"))
    assert [(0, 0)] == cache(state_of(tmp_path / "data", how="as_it_lies"))


def test_an_unclean_start_adds_no_epoch_from_below_the_recovery_point(tmp_path: Path) -> None:
    three_segments(tmp_path / "data", kept=False, recovery_point=200)
    assert [(0, 0), (2, 200)] == cache(state_of(tmp_path / "data"))


def test_the_latest_epoch_is_seen_in_the_batches_too(tmp_path: Path) -> None:
    """A leader epoch must be above every epoch that the log shows."""
    three_segments(tmp_path / "data", kept=False)
    assert state_of(tmp_path / "data", how="as_it_lies").latest_epoch == 2


def test_a_last_entry_at_the_log_end_is_kept_as_it_lies(tmp_path: Path) -> None:
    """A leader answers from it before anything is written; a start drops it."""
    path = broker(tmp_path / "data", run(0, 99), epoch_entries=[(0, 0), (3, 100)])
    assert [(0, 0), (3, 100)] == cache(state_of(path, how="as_it_lies"))
    assert [(0, 0)] == cache(state_of(path))


def test_epochs_above_the_log_end_are_dropped_by_a_start(tmp_path: Path) -> None:
    path = broker(tmp_path / "data", run(0, 99), epoch_entries=[(0, 0), (3, 150)])
    assert [(0, 0)] == cache(state_of(path))
    assert [(0, 0), (3, 150)] == cache(state_of(path, how="live"))


def test_epochs_below_the_log_start_are_raised_by_a_start(tmp_path: Path) -> None:
    log_dir(tmp_path / "data", log_start={"t-0": 50})
    partition_dir(tmp_path / "data" / "t-0", [run(0, 99)], epoch_entries=[(0, 0), (2, 30), (4, 80)])
    assert [(2, 50), (4, 80)] == cache(state_of(tmp_path / "data"))


@pytest.mark.parametrize(
    ("kafka", "end", "count", "epochs"),
    [("2.2.0", 100, 1, [(0, 170)]), ("2.2.1", 170, 0, [(0, 170)]), ("4.3", 170, 0, [])],
)
def test_a_log_start_above_the_log_end_empties_the_log_from_2_2_1(
    tmp_path: Path, kafka: str, end: int, count: int, epochs: list[tuple[int, int]]
) -> None:
    """KAFKA-8306: the log starts anew at its log start; its epochs go too, later."""
    log_dir(tmp_path / "data", log_start={"t-0": 170}, recovery_point={"t-0": 100}, high_watermark={"t-0": 100})
    partition_dir(tmp_path / "data" / "t-0", [run(0, 99)])
    state = state_of(tmp_path / "data", kafka=kafka)
    assert (end, count, epochs) == (state.log_end_offset, len(state.logs), cache(state))
    if not count:
        assert (170, 170) == (state.log_start_offset, state.first_segment)


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


def test_unreadable_epochs_keep_the_replica_away(tmp_path: Path) -> None:
    path = three_segments(tmp_path / "data")
    write(path, {"leader-epoch-checkpoint": b"0\n1\n0 0\n1 5\n"})
    assert "cannot read leader-epoch-checkpoint" in str(state_of(tmp_path / "data").problem)
    assert state_of(tmp_path / "data", kafka="0.10.2").problem is None


@pytest.mark.parametrize("how", ["after_start", "as_it_lies", "live"])
def test_a_negative_epoch_ends_the_broker(tmp_path: Path, how: str) -> None:
    path = three_segments(tmp_path / "data")
    write(path, {"leader-epoch-checkpoint": b"0\n1\n-2 0\n"})
    problem = str(state_of(tmp_path / "data", how=how).problem)
    assert problem.startswith("the broker aborts")
    assert "leader-epoch-checkpoint has epoch -2 from offset 0" in problem


def test_an_unreadable_topic_id_keeps_the_replica_away(tmp_path: Path) -> None:
    path = three_segments(tmp_path / "data")
    write(path, {"partition.metadata": b"version: 0\n"})
    assert "cannot read partition.metadata" in str(state_of(tmp_path / "data").problem)
    assert state_of(tmp_path / "data", kafka="2.7").problem is None


def test_a_corrupt_batch_ends_a_clean_start(tmp_path: Path) -> None:
    """The last segment is read from its last index entry on, and an entry that is none throws."""
    path = three_segments(tmp_path / "data", clean=True)
    with (path / LAST).open("ab") as stream:
        stream.write(bytes(100))
    problem = str(state_of(tmp_path / "data").problem)
    assert "the broker aborts" in problem
    assert f"{LAST} has no valid batch at position 1000" in problem


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


def test_a_missing_index_makes_a_clean_start_rescan(tmp_path: Path) -> None:
    path = three_segments(tmp_path / "data", clean=True)
    (path / LAST).with_suffix(".index").unlink()
    flip_byte(path / LAST, 450)
    assert 240 == state_of(tmp_path / "data").log_end_offset


def test_an_index_entry_behind_the_end_leaves_a_clean_start_at_the_base_offset(tmp_path: Path) -> None:
    """LogSegment.readNextOffset finds no batch there, and takes the base offset of the segment."""
    path = three_segments(tmp_path / "data", clean=True)
    (path / LAST).with_suffix(".index").write_bytes(index((99, 1000)))
    assert 200 == state_of(tmp_path / "data").log_end_offset


def test_messages_before_epochs_have_no_cache(tmp_path: Path) -> None:
    log_dir(tmp_path / "data", clean=False)
    partition_dir(tmp_path / "data" / "t-0", [[]], epoch_entries=None)
    write(tmp_path / "data" / "t-0", {LOG: log([message(n) for n in range(20)])})
    state = state_of(tmp_path / "data")
    assert (20, [], -1) == (state.log_end_offset, cache(state), state.latest_epoch)


def test_without_a_log_dir_around_it_nobody_knows_the_high_watermark(tmp_path: Path) -> None:
    """In a log dir a missing entry is 0."""
    partition_dir(tmp_path / "t-0", [run(0, 99)])
    assert state_of(tmp_path / "t-0").high_watermark is None
    log_dir(tmp_path / "data", clean=False)
    partition_dir(tmp_path / "data" / "t-0", [run(0, 99)])
    assert state_of(tmp_path / "data").high_watermark == 0


@pytest.mark.parametrize(
    ("said", "kafka", "expected"), [(500, "4.3", 100), (-1, "4.3", 30), (10, "4.3", 30), (10, "2.3", 10)]
)
def test_a_loaded_high_watermark_lies_within_the_log(tmp_path: Path, said: int, kafka: str, expected: int) -> None:
    """From 2.4 not below the log start."""
    log_dir(tmp_path / "data", high_watermark={"t-0": said}, log_start={"t-0": 30})
    partition_dir(tmp_path / "data" / "t-0", [run(0, 99)])
    assert expected == state_of(tmp_path / "data", kafka=kafka).high_watermark
