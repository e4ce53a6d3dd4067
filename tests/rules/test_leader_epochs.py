"""KC201 to KC206: the leader-epoch-checkpoint alone, and beside its log."""

import tracemalloc

import pytest

from kcheck.core.replication.leader_epochs import read_lines
from kcheck.model.entries import EpochEntry
from kcheck.model.names import DirectoryState
from kcheck.rules import Rule, kc201_epoch_order
from kcheck.rules.kc201_epoch_order import RULE as KC201
from kcheck.rules.kc202_epoch_above_log_end import RULE as KC202
from kcheck.rules.kc204_epochs_missing import RULE as KC204
from kcheck.rules.kc205_negative_epoch import RULE as KC205
from tests.rules.build import batch, epochs, found_by, partition

CLEAN = b"0\n3\n0 0\n2 100\n5 250\n"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("rule", "lines", "further"), [(KC201, b"5 5\n1 1\n", 19_999), (KC205, b"-1 0\n-1 0\n", 39_999)]
)
def test_many_wrong_lines_are_counted(rule: Rule, lines: bytes, further: int) -> None:
    """Of a million of them there is no text, and no list of places of 40 bytes each."""
    count = 20_000
    view = epochs(b"0\n%d\n%s" % (2 * count, lines * count))
    found_by(rule, view)
    tracemalloc.start()
    try:
        (found,) = found_by(rule, view)
        assert tracemalloc.get_traced_memory()[1] <= 20 * 2 * count
    finally:
        tracemalloc.stop()
    assert f"(and {further} further lines)" in found.message


def test_where_the_log_end_is_not_known_nothing_is_said() -> None:
    """Nor for a directory that waits for its end."""
    assert not found_by(KC202, partition(epoch_file=epochs(CLEAN)))
    assert not found_by(KC202, partition(epoch_file=epochs(CLEAN), log_end=5, state=DirectoryState.DELETED))
    assert not found_by(KC202, partition(epoch_file=epochs(b"0\n2\n-1 0\n5 9\n"), log_end=5))


@pytest.mark.parametrize(
    ("high_watermark", "clean", "words"),
    [(100, True, "and loses nothing now"), (None, None, "truncates to its high watermark.")],
)
def test_what_a_follower_without_epochs_drops(high_watermark: int | None, clean: bool | None, words: str) -> None:
    """Everything above its high watermark, as far as that is known."""
    view = partition(last_batch=batch(90, 99, 3), log_end=100, high_watermark=high_watermark, clean=clean)
    (found,) = found_by(KC204, view)
    assert words in found.effect


def test_what_is_dropped_is_not_sought_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a file of a million lines each of them would be held against all that stay."""

    class Loaded(tuple[EpochEntry, ...]):
        __slots__ = ()

        def __contains__(self, _: object) -> bool:
            raise AssertionError

    loaded = read_lines
    monkeypatch.setattr(kc201_epoch_order, "read_lines", lambda *told: Loaded(loaded(*told)))
    (found,) = found_by(KC201, epochs(b"0\n3\n0 0\n5 200\n3 100\n"))
    assert "ignores epoch 5 from offset 200" in found.effect
