"""Rebuilding leader-epoch-checkpoint: what batches prove, and which lines of the file stay."""

from collections.abc import Callable

from kcheck.core.replication.epoch_rebuild import rebuild
from kcheck.model.entries import EpochEntry
from kcheck.model.segments import EpochRun
from tests.growth import grows_with_its_input

RUNS = (EpochRun(0, 0, 19), EpochRun(3, 20, 49), EpochRun(3, 50, 79), EpochRun(7, 90, 99))


def rebuilt(*stated: tuple[int, int], log_end: int = 100) -> tuple[tuple[int, int], ...]:
    """Return the entries rebuilt from RUNS and the lines of a file."""
    result = rebuild(RUNS, tuple(EpochEntry(*entry) for entry in stated), log_end=log_end)
    assert result is not None
    return tuple(map(tuple, result.entries))


def test_each_epoch_begins_with_its_first_batch() -> None:
    """Without a file. Runs of one epoch in two segments are one; a message without an epoch does not count."""
    assert ((0, 0), (3, 20), (7, 90)) == rebuilt()
    result = rebuild((EpochRun(-1, 0, 9), EpochRun(2, 10, 19)), (), log_end=20)
    assert result is not None
    assert ((2, 10),) == result.entries
    assert (2,) == result.late


def test_the_file_tells_of_starts_that_no_batch_contradicts() -> None:
    """Compaction removes the first batches of an epoch."""
    assert ((0, 0), (3, 20), (7, 85)) == rebuilt((0, 0), (3, 20), (7, 85))
    assert ((0, 0), (3, 20), (7, 90)) == rebuilt((3, 25), (7, 70))


def test_an_epoch_without_a_batch_stays() -> None:
    """The epoch of a leader that wrote nothing, and an epoch that starts at the log end."""
    assert ((0, 0), (3, 20), (5, 82), (7, 90), (9, 100)) == rebuilt((0, 0), (3, 20), (5, 82), (7, 90), (9, 100))


def test_lines_against_the_batches_are_left_out() -> None:
    """It is inside another epoch, above the log end, negative, or at the offset of a batch of a later epoch."""
    result = rebuild(
        RUNS, tuple(EpochEntry(*entry) for entry in ((-1, 0), (1, 10), (4, 90), (8, 101), (9, -5))), log_end=100
    )
    assert result is not None
    assert ((0, 0), (3, 20), (7, 90)) == result.entries
    assert [-1, 1, 4, 8, 9] == [entry.epoch for entry in result.dropped]


def test_lines_that_contradict_each_other_are_left_out() -> None:
    """Two starts of one epoch; epochs without a batch whose starts do not rise."""
    assert ((0, 0), (3, 20), (7, 90)) == rebuilt((7, 85), (7, 86))
    assert ((0, 0), (3, 20), (5, 84), (7, 90)) == rebuilt((5, 84), (6, 83))
    assert ((0, 0), (3, 20), (7, 84)) == rebuilt((5, 86), (7, 84))


def test_epochs_that_fall_prove_nothing() -> None:
    """One of the batches is wrong. Batches above the log end do not count."""
    runs = (*RUNS, EpochRun(2, 100, 109))
    assert rebuild(runs, (), log_end=110) is None
    assert rebuild(runs, (), log_end=100) is not None


def test_lines_and_batches_are_not_compared_one_by_one() -> None:
    """A damaged file can have a million lines."""

    def call(count: int) -> Callable[[], object]:
        runs = [EpochRun(epoch, 10 * epoch, 10 * epoch + 9) for epoch in range(count)]
        stated = tuple(EpochEntry(epoch, 10 * epoch + epoch % 2) for epoch in range(count))
        return lambda: rebuild(runs, stated, log_end=10 * count)

    assert grows_with_its_input(call, 50)
