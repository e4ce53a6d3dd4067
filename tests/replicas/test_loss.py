"""What a range of offsets holds is counted from batch headers."""

from pathlib import Path

import pytest

from kcheck.core.replication.lineage import EpochRange
from kcheck.core.replication.truncation_plans import CutPosition
from kcheck.disk.local import LOCAL
from kcheck.model.entries import Offset
from kcheck.model.unreadable import UnreadableError
from kcheck.replicas.loss import Amount, amount, cut_at, lineage
from kcheck.replicas.replica import LogFile
from tests.builders import Made, batch, log, message, run, write


def files(folder: Path, *segments: list[Made]) -> tuple[LogFile, ...]:
    """Write segments and return them as the parts of a log."""
    found = []
    for batches in segments:
        base, data = batches[0].base_offset, log(batches)
        write(folder, {f"{base:020}.log": data})
        path = str(folder / f"{base:020}.log")
        found.append(LogFile(path, Offset(base), len(data), LOCAL.directory(str(folder))))
    return tuple(found)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 200, (200, 2000)),
        (90, 110, (20, 200)),
        (0, 0, (0, 0)),
        (200, 300, (0, 0)),
        (150, 150, (0, 0)),
        (100, 101, (1, 100)),
        (95, 105, (10, 200)),
        (3, 7, (4, 100)),
        (5, 10**6, (195, 2000)),
    ],
)
def test_records_and_bytes(tmp_path: Path, start: int, end: int, expected: tuple[int, int]) -> None:
    """Of half a batch the records that lie in the range; its bytes are those of the whole batch."""
    logs = files(tmp_path, run(0, 99), run(100, 199))
    assert Amount(*expected) == amount(logs, Offset(start), Offset(end))


def test_a_compacted_log_is_counted_by_what_is_there(tmp_path: Path) -> None:
    """Not by the distance of offsets."""
    logs = files(tmp_path, [batch(0, 2, last_offset=9), batch(15, 1, last_offset=19), batch(100, 0, last_offset=199)])
    assert Amount(3, 3 * 61) == amount(logs, Offset(0), Offset(200))
    assert Amount(0, 0) == amount(logs, Offset(10), Offset(15))


def test_half_of_a_compacted_batch_is_unknown(tmp_path: Path) -> None:
    """Its header does not tell which of its records are left."""
    logs = files(tmp_path, [batch(0, 2, last_offset=9), batch(10)])
    assert Amount(None, 61) == amount(logs, Offset(5), Offset(10))
    assert Amount(None, 122) == amount(logs, Offset(5), Offset(11))


def test_only_the_valid_part_of_a_segment_is_counted(tmp_path: Path) -> None:
    """What a start cuts away is no part of the log."""
    (whole,) = files(tmp_path, run(0, 99))
    cut = whole._replace(size=500)
    assert Amount(50, 500) == amount((cut,), Offset(0), Offset(100))


def test_a_segment_that_vanished_is_unreadable(tmp_path: Path) -> None:
    logs = files(tmp_path, run(0, 99), run(100, 199))
    Path(logs[1].path).unlink()
    assert Amount(100, 1000) == amount(logs[:1], Offset(0), Offset(200))
    with pytest.raises(UnreadableError):
        amount(logs, Offset(0), Offset(200))


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (0, (0, 0, 0, 0)),
        (10, (0, 100, 10, 10)),
        (15, (0, 100, 10, 10)),
        (100, (100, 0, 100, 100)),
        (199, (100, 900, 190, 190)),
        (200, None),
    ],
)
def test_a_cut_is_at_the_first_batch_that_reaches_the_offset(
    tmp_path: Path, offset: int, expected: tuple[int, int, int, int] | None
) -> None:
    """Batches are cut as a whole."""
    logs = files(tmp_path, run(0, 99), run(100, 199))
    assert (None if expected is None else CutPosition(*expected)) == cut_at(logs, Offset(offset))


def test_a_restart_finds_the_end_of_the_batch_before_a_gap(tmp_path: Path) -> None:
    """Compaction has removed the offsets 10 to 19, and 40 to 99: the log end in memory may lie in a gap."""
    logs = files(tmp_path, [*run(0, 9), *run(20, 39)], run(100, 199))
    ends = [cut.end_after_restart for offset in (15, 20, 25, 35, 70) if (cut := cut_at(logs, Offset(offset)))]
    assert [10, 10, 10, 30, 40] == ends


def test_the_epochs_of_a_log_come_from_its_batches(tmp_path: Path) -> None:
    logs = files(tmp_path, [message(0), message(1)], run(2, 99, epoch=1, count=7), run(100, 199, epoch=4))
    assert (EpochRange(0, 2, None), EpochRange(2, 100, 1), EpochRange(100, 200, 4)) == lineage(logs)


def test_an_empty_log_has_no_epochs() -> None:
    assert () == lineage(())
    assert Amount(0, 0) == amount((), Offset(0), Offset(10))
    assert cut_at((), Offset(0)) is None
