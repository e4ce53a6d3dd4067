"""KC201 to KC206: the leader-epoch-checkpoint alone, and beside its log."""

import tracemalloc

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.replication.leader_epochs import read_lines
from kcheck.model.entries import EpochEntry
from kcheck.model.finding import Severity
from kcheck.model.names import DirectoryState
from kcheck.rules import Rule, kc201_epoch_order
from kcheck.rules.kc201_epoch_order import RULE as KC201
from kcheck.rules.kc202_epoch_above_log_end import RULE as KC202
from kcheck.rules.kc203_epoch_below_log_start import RULE as KC203
from kcheck.rules.kc204_epochs_missing import RULE as KC204
from kcheck.rules.kc205_negative_epoch import RULE as KC205
from kcheck.rules.kc206_epoch_lost import RULE as KC206
from tests.rules.build import batch, epochs, found_by, offsets, partition

CLEAN = b"0\n3\n0 0\n2 100\n5 250\n"


@pytest.mark.parametrize("kafka", ["0.10.2", "0.11.0", "2.6", "2.7", "4.3"])
@pytest.mark.parametrize("data", [CLEAN, b"0\n0\n", b"", b"0\n1\n7 3\n"])
def test_rising_lines_are_clean(data: bytes, kafka: str) -> None:
    """So is a file without entries."""
    assert not found_by(KC201, epochs(data, kafka), kafka)
    assert not found_by(KC205, epochs(data, kafka), kafka)


@pytest.mark.parametrize(
    ("data", "line", "loaded"),
    [
        (b"0\n3\n0 0\n5 200\n3 100\n", 5, [(0, 0), (3, 100)]),
        (b"0\n2\n5 0\n0 0\n", 4, [(0, 0)]),
        (b"0\n2\n5 100\n6 50\n", 4, [(6, 50)]),
        (b"0\n2\n5 100\n5 100\n", 4, [(5, 100)]),
    ],
)
def test_a_line_that_falls(data: bytes, line: int, loaded: list[tuple[int, int]]) -> None:
    """From 2.7 on the last line wins."""
    (found,) = found_by(KC201, epochs(data))
    assert found.severity is Severity.ERROR
    assert found.where.line == line
    assert f"line {line}: epoch " in found.message
    assert "the last one wins" in found.effect
    rows = found.data["loaded"]
    assert isinstance(rows, tuple)
    assert [(row["epoch"], row["start_offset"]) for row in rows] == loaded


def test_what_is_dropped_is_named() -> None:
    """Epoch 5 is gone, and two more lines fall."""
    (found,) = found_by(KC201, epochs(b"0\n5\n0 0\n5 200\n3 100\n2 50\n1 40\n"))
    assert "(and 2 further lines)" in found.message
    assert "keeps 2 of 5 entries" in found.effect
    assert "drops epoch 5 from offset 200, epoch 3 from offset 100 and epoch 2 from offset 50" in found.effect


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


def test_up_to_2_6_lines_are_used_as_they_stand() -> None:
    """Nothing is dropped."""
    (found,) = found_by(KC201, epochs(b"0\n2\n5 0\n0 0\n", "2.6"), "2.6")
    assert found.severity is Severity.ERROR
    assert "uses the lines unchanged" in found.effect


@pytest.mark.parametrize("kafka", ["1.1", "4.3"])
def test_equal_offsets_are_an_old_brokers_work(kafka: str) -> None:
    """Up to 2.0.0 each election without data left one."""
    (found,) = found_by(KC201, epochs(b"0\n3\n0 0\n1 0\n2 10\n", kafka), kafka)
    assert found.severity is Severity.INFO
    assert found.where.line == 4
    assert "old broker" in found.advice


@pytest.mark.parametrize(("data", "line"), [(b"0\n2\n-1 0\n5 -3\n", 3), (b"0\n2\n0 0\n5 -3\n", 4)])
def test_a_negative_number_aborts_from_2_7(data: bytes, line: int) -> None:
    """IllegalArgumentException passes the loading of logs; KC201 leaves the file alone."""
    (found,) = found_by(KC205, epochs(data))
    assert found.severity is Severity.FATAL
    assert found.where.line == line
    assert "aborts the start of the whole broker" in found.effect
    assert not found_by(KC201, epochs(data))
    (found,) = found_by(KC205, epochs(data, "2.6"), "2.6")
    assert found.severity is Severity.ERROR
    assert "unchanged" in found.effect


def test_a_release_without_epochs_says_nothing() -> None:
    """0.10.2 has no such file, and 2.8 with an old message format deletes it."""
    bad = epochs(b"0\n2\n5 0\n-1 0\n")
    old_format = release("2.8", ibp="2.8", message_format="0.10.2")
    for kafka in (release("0.10.2"), old_format):
        assert not found_by(KC201, bad, kafka)
        assert not found_by(KC205, bad, kafka)
        assert not found_by(KC204, partition(last_batch=batch(0, 9, 3)), kafka)
    assert not found_by(KC201, offsets("replication", b"0\n1\nt 0 5\n"))


@pytest.mark.parametrize("kafka", ["0.11.0", "2.6", "2.8", "4.3"])
def test_an_epoch_at_the_log_end_is_a_leader_that_wrote_nothing(kafka: str) -> None:
    """As is the usual case, an epoch below."""
    for end in (250, 300):
        view = partition(epoch_file=epochs(CLEAN, kafka), log_end=end, clean=True)
        assert not found_by(KC202, view, kafka)


def test_an_epoch_above_the_log_end() -> None:
    """The load drops it, and what lay between is gone."""
    view = partition(epoch_file=epochs(b"0\n4\n0 0\n2 100\n5 250\n6 300\n"), log_end=200, clean=True)
    (found,) = found_by(KC202, view)
    assert found.severity is Severity.WARNING
    assert "epoch 5 from offset 250, above the log end 200 (and 1 further epoch)" in found.message
    assert (
        "If a broker wrote these lines, records are missing here, truncated or lost: offsets 200 to 299."
        in found.effect
    )
    (found,) = found_by(KC202, partition(epoch_file=epochs(CLEAN), log_end=249))
    assert "If a broker wrote this line, records are missing here, truncated or lost: offset 249." in found.effect


@pytest.mark.parametrize(("kafka", "severity"), [("3.7", Severity.WARNING), ("3.8", Severity.INFO)])
def test_a_kill_after_a_truncation_leaves_such_an_epoch_from_3_8(kafka: str, severity: Severity) -> None:
    """The file is written in the background there."""
    view = partition(epoch_file=epochs(CLEAN, kafka), log_end=200, clean=False)
    (found,) = found_by(KC202, view, kafka)
    assert found.severity is severity


def test_where_the_log_end_is_not_known_nothing_is_said() -> None:
    """Nor for a directory that waits for its end."""
    assert not found_by(KC202, partition(epoch_file=epochs(CLEAN)))
    assert not found_by(KC202, partition(epoch_file=epochs(CLEAN), log_end=5, state=DirectoryState.DELETED))
    assert not found_by(KC202, partition(epoch_file=epochs(b"0\n2\n-1 0\n5 9\n"), log_end=5))


@pytest.mark.parametrize(
    ("kafka", "log_start", "first_segment", "does"),
    [
        ("2.8", None, 100, "raises it to 100"),
        ("4.3", None, 100, "keeps it"),
        ("4.3", 120, 100, "raises it to 120"),
    ],
)
def test_an_epoch_below_the_log_start(kafka: str, log_start: int | None, first_segment: int, does: str) -> None:
    """Only an info: the load raises it, or keeps it without harm."""
    view = partition(epoch_file=epochs(CLEAN, kafka), log_start=log_start, first_segment=first_segment, log_end=300)
    (found,) = found_by(KC203, view, kafka)
    assert found.severity is Severity.INFO
    assert does in found.effect


def test_an_epoch_at_the_log_start_is_clean() -> None:
    """So is one above, and a file without entries."""
    assert not found_by(KC203, partition(epoch_file=epochs(CLEAN), log_end=300))
    assert not found_by(KC203, partition(epoch_file=epochs(b"0\n1\n3 200\n"), first_segment=100, log_end=300))
    assert not found_by(KC203, partition(epoch_file=epochs(b""), first_segment=100, log_end=300))
    view = partition(epoch_file=epochs(CLEAN), first_segment=100, log_end=300, state=DirectoryState.STRAY)
    assert not found_by(KC203, view)


@pytest.mark.parametrize("data", [None, b"", b"0\n", b"0\n0\n"])
def test_epochs_that_are_missing(data: bytes | None) -> None:
    """The batches carry an epoch, the file knows none."""
    file = None if data is None else epochs(data)
    view = partition(epoch_file=file, last_batch=batch(90, 99, 3), log_end=100, high_watermark=80, clean=True)
    (found,) = found_by(KC204, view)
    assert found.severity is Severity.ERROR
    assert "the batch at offset 90 carries epoch 3" in found.message
    assert "and drops offsets 80 to 99." in found.effect


@pytest.mark.parametrize(
    ("high_watermark", "clean", "words"),
    [(100, True, "and loses nothing now"), (None, None, "truncates to its high watermark.")],
)
def test_what_a_follower_without_epochs_drops(high_watermark: int | None, clean: bool | None, words: str) -> None:
    """Everything above its high watermark, as far as that is known."""
    view = partition(last_batch=batch(90, 99, 3), log_end=100, high_watermark=high_watermark, clean=clean)
    (found,) = found_by(KC204, view)
    assert words in found.effect


def test_a_log_without_epochs_is_clean() -> None:
    """No data, old formats, batches that compaction gave epoch -1, an unreadable file, a deleted directory."""
    assert not found_by(KC204, partition(epoch_file=epochs(b"0\n0\n"), log_end=0))
    assert not found_by(KC204, partition(last_batch=batch(0, 9, None)))
    assert not found_by(KC204, partition(last_batch=batch(0, 9, -1)))
    assert not found_by(KC204, partition(epoch_file=epochs(CLEAN), last_batch=batch(290, 299, 5)))
    assert not found_by(KC204, partition(epoch_file=epochs(b"x"), last_batch=batch(290, 299, 5)))
    assert not found_by(KC204, partition(last_batch=batch(0, 9, 5), state=DirectoryState.DELETED))


@pytest.mark.parametrize("last", [batch(290, 299, 5), batch(100, 249, 2), batch(0, 9, None), batch(0, 9, -1), None])
def test_an_epoch_that_the_file_knows(last: object) -> None:
    """Or no epoch to look for."""
    view = partition(epoch_file=epochs(CLEAN), last_batch=last)
    assert not found_by(KC206, view)


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (batch(290, 299, 7), "the file ends with epoch 5 from offset 250"),
        (batch(290, 299, 3), "the file has no such epoch"),
        (batch(200, 209, 5), "the file has epoch 5 from offset 250"),
    ],
)
def test_an_epoch_that_the_file_lost(last: object, words: str) -> None:
    """The broker wrote the epoch into the file before it appended the batch."""
    (found,) = found_by(KC206, partition(epoch_file=epochs(CLEAN), last_batch=last))
    assert found.severity is Severity.ERROR
    assert words in found.message


def test_a_log_start_in_the_last_batch_raises_its_epoch() -> None:
    """DeleteRecords moves the start of the epoch to the log start, here to the log end."""
    view = partition(epoch_file=epochs(b"0\n1\n5 300\n"), last_batch=batch(290, 299, 5), log_start=300, log_end=300)
    assert not found_by(KC206, view)


def test_epochs_below_the_log_start_are_not_missed() -> None:
    """A leader that begins where DeleteRecords has moved the log start replaces the epoch that was raised to there."""
    view = partition(epoch_file=epochs(b"0\n1\n7 300\n"), last_batch=batch(290, 299, 5), log_start=300, log_end=300)
    assert not found_by(KC206, view)


@pytest.mark.parametrize(
    ("clean", "severity"), [(False, Severity.INFO), (True, Severity.ERROR), (None, Severity.ERROR)]
)
def test_a_log_start_that_was_not_written(clean: bool | None, severity: Severity) -> None:
    """The file is written at once, log-start-offset-checkpoint every minute and at a clean stop."""
    view = partition(epoch_file=epochs(b"0\n1\n7 300\n"), last_batch=batch(290, 299, 5))._replace(clean_shutdown=clean)
    (found,) = found_by(KC206, view)
    assert found.severity is severity


def test_without_lines_to_compare_nothing_is_lost() -> None:
    """KC204, KC205 and KC101 say the rest."""
    last = batch(290, 299, 7)
    for data in (b"", b"0\n1\n-1 0\n", b"x"):
        assert not found_by(KC206, partition(epoch_file=epochs(data), last_batch=last))
    assert not found_by(KC206, partition(last_batch=last))
    assert not found_by(KC206, partition(epoch_file=epochs(CLEAN), last_batch=last, state=DirectoryState.STRAY))


def test_what_is_dropped_is_not_sought_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a file of a million lines each of them would be held against all that stay."""

    class Loaded(tuple[EpochEntry, ...]):
        __slots__ = ()

        def __contains__(self, _: object) -> bool:
            raise AssertionError

    loaded = read_lines
    monkeypatch.setattr(kc201_epoch_order, "read_lines", lambda *told: Loaded(loaded(*told)))
    (found,) = found_by(KC201, epochs(b"0\n3\n0 0\n5 200\n3 100\n"))
    assert "drops epoch 5 from offset 200" in found.effect
