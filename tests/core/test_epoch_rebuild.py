"""leader-epoch-checkpoint out of batches: what they show, what the file may add, what nobody can know."""

from collections.abc import Callable

from kcheck.core.epoch_rebuild import rebuild
from kcheck.model.entries import EpochEntry
from kcheck.model.segments import EpochRun
from tests.growth import grows_with_its_input

RUNS = (EpochRun(0, 0, 19), EpochRun(3, 20, 49), EpochRun(3, 50, 79), EpochRun(7, 90, 99))


def rebuilt(*stated: tuple[int, int], log_end: int = 100) -> tuple[tuple[int, int], ...]:
    """Return the entries that RUNS and the file give."""
    result = rebuild(RUNS, tuple(EpochEntry(*entry) for entry in stated), log_end=log_end)
    assert result is not None
    return tuple(map(tuple, result.entries))


def test_each_epoch_begins_with_its_first_batch() -> None:
    """Without a file; runs of one epoch in two segments are one, and a message without an epoch tells nothing."""
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
    """A leader that was elected and wrote nothing, and one at the log end."""
    assert ((0, 0), (3, 20), (5, 82), (7, 90), (9, 100)) == rebuilt((0, 0), (3, 20), (5, 82), (7, 90), (9, 100))


def test_lines_against_the_batches_are_left_out() -> None:
    """Inside of another epoch, above the log end, negative, at the offset of a batch of a higher epoch."""
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
    """One of the batches is wrong; behind the log end nothing counts."""
    runs = (*RUNS, EpochRun(2, 100, 109))
    assert rebuild(runs, (), log_end=110) is None
    assert rebuild(runs, (), log_end=100) is not None


def test_lines_and_batches_are_not_compared_one_by_one() -> None:
    """A file of a million lines is as likely as a bad disk."""

    def call(count: int) -> Callable[[], object]:
        runs = [EpochRun(epoch, 10 * epoch, 10 * epoch + 9) for epoch in range(count)]
        stated = tuple(EpochEntry(epoch, 10 * epoch + epoch % 2) for epoch in range(count))
        return lambda: rebuild(runs, stated, log_end=10 * count)

    assert grows_with_its_input(call, 50)
