"""KC211 to KC216: the checkpoints' values against the log."""

import pytest

from kcheck.model.finding import Severity
from kcheck.model.names import DirectoryState
from kcheck.rules import Scope
from kcheck.rules.kc211_log_start_above_log_end import RULE as KC211
from kcheck.rules.kc215_recovery_point_missing import RULE as KC215
from kcheck.rules.kc216_high_watermark_missing import RULE as KC216
from tests.rules.build import batch, epochs, found_by, found_by_all, partition


def test_a_log_without_records_has_nothing_to_lose() -> None:
    """It starts empty at the log start."""
    (found,) = found_by(KC211, partition(log_start=500, log_end=0, segment_sizes=(0,)))
    assert found.severity is Severity.WARNING
    assert "starts the log, which has no records, at offset 500" in found.effect


@pytest.mark.parametrize("state", [DirectoryState.DELETED, DirectoryState.STRAY])
def test_directories_that_wait_for_their_end_are_left_alone(state: DirectoryState) -> None:
    """A checkpoint's entry is for the replica that is served: all that is said is that they hold records."""
    view = partition(
        log_start=500, recovery_point=500, high_watermark=500, log_end=42, clean=False, state=state,
        segment_sizes=(1, 1), last_batch=batch(30, 41, 3),
    )  # fmt: skip
    assert [finding.id for finding in found_by_all(view, Scope.PARTITION)] == ["KC251"]


@pytest.mark.parametrize(("point", "words"), [(None, "has no entry for it"), (99, "says 99, in its first segment")])
def test_a_log_that_is_scanned_whole(point: int | None, words: str) -> None:
    """Only an info: no data is lost."""
    (found,) = found_by(KC215, partition(recovery_point=point, clean=False, segment_sizes=(700, 300)))
    assert found.severity is Severity.INFO
    assert words in found.message
    assert "2 segments, 1000 bytes" in found.effect


def test_a_log_that_is_not_scanned_whole() -> None:
    """A clean stop, one segment, a recovery point in the second segment, an unknown stop."""
    assert not found_by(KC215, partition(clean=True, segment_sizes=(700, 300)))
    assert not found_by(KC215, partition(clean=None, segment_sizes=(700, 300)))
    assert not found_by(KC215, partition(clean=False))
    assert not found_by(KC215, partition(clean=False, segment_sizes=(700, 300), recovery_point=100))


def test_a_directory_that_stands_alone_has_no_high_watermark_to_miss() -> None:
    """Nobody knows it, so KC204 speaks."""
    assert not found_by(KC216, partition(last_batch=batch(90, 99, 3), log_end=100, clean=None))


@pytest.mark.parametrize(
    ("size", "kafka", "expected"),
    [
        (2**31 - 1, "4.3", None),
        (2**31, "4.3", (Severity.FATAL, "does not start, now or later")),
        (2**32 + 78, "2.1", (Severity.FATAL, "does not start, now or later")),
        (2**31, "2.0", (Severity.FATAL, "does not start, now or later")),
        (2**32 + 78, "2.0", (Severity.ERROR, "reads it as a file of 78 bytes")),
    ],
)
def test_a_log_is_too_large(size: int, kafka: str, expected: tuple[Severity, str] | None) -> None:
    """In whichever segment, though all else agrees."""
    file = epochs(b"0\n1\n0 0\n", kafka)
    view = partition(epoch_file=file, log_end=200, log_start=0, segment_sizes=(700, size), last_batch=batch(0, 199, 0))
    found = [each for each in found_by_all(view, Scope.PARTITION, kafka) if each.id == "KC230"]
    told = [(each.where.file, each.severity, each.effect) for each in found]
    if expected is None:
        assert [] == told
    else:
        severity, effect = expected
        assert [("00000000000000000100.log", severity, f"Kafka {kafka} {effect}.")] == told
