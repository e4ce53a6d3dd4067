"""KC211 to KC216: the checkpoints' values against the log."""

import pytest

from kcheck.model.finding import Severity
from kcheck.model.names import DirectoryState
from kcheck.rules import Scope
from kcheck.rules.kc204_epochs_missing import RULE as KC204
from kcheck.rules.kc211_log_start_above_log_end import RULE as KC211
from kcheck.rules.kc212_recovery_point_above_log_end import RULE as KC212
from kcheck.rules.kc213_high_watermark_above_log_end import RULE as KC213
from kcheck.rules.kc215_recovery_point_missing import RULE as KC215
from kcheck.rules.kc216_high_watermark_missing import RULE as KC216
from tests.rules.build import batch, epochs, found_by, found_by_all, ids, partition


@pytest.mark.parametrize("clean", [True, None])
def test_a_stopped_partition_is_clean(clean: bool | None) -> None:
    """Everything at or below the log end, with and without entries in the checkpoints."""
    file = epochs(b"0\n1\n0 0\n")
    last = batch(90, 99, 0)
    view = partition(
        epoch_file=file,
        last_batch=last,
        log_end=100,
        recovery_point=100,
        high_watermark=100,
        log_start=100,
        clean=clean,
    )
    assert [f.id for f in found_by_all(view, Scope.PARTITION) if f.id != "KC203"] == []
    assert not found_by_all(partition(epoch_file=file, last_batch=last, log_end=100, clean=clean), Scope.PARTITION)
    assert not found_by_all(partition(recovery_point=9, high_watermark=9, log_start=9, clean=clean), Scope.PARTITION)


def test_a_new_partition_is_clean() -> None:
    """Killed soon after its start: 0-byte files, no entry anywhere."""
    assert not found_by_all(
        partition(epoch_file=epochs(b""), log_end=0, clean=False, segment_sizes=(0,)), Scope.PARTITION
    )


def test_a_log_start_above_the_log_end_deletes_the_partition() -> None:
    """The words must be impossible to miss."""
    (found,) = found_by(KC211, partition(log_start=500, log_end=420, segment_sizes=(700, 300)))
    assert found.severity is Severity.ERROR
    assert "500" in found.message
    assert "420" in found.message
    assert "will DELETE EVERY SEGMENT of this partition (2 segments, 1000 bytes)" in found.effect
    assert "Do not start the broker." in found.advice


def test_before_2_2_1_the_segments_stay() -> None:
    """The check came with KAFKA-8306."""
    (found,) = found_by(KC211, partition(log_start=500, log_end=420), "2.2.0")
    assert "does not look" in found.effect
    assert found_by(KC211, partition(log_start=500, log_end=420), "2.2.1")[0].effect != found.effect
    assert not found_by(KC211, partition(log_start=500, log_end=420), "0.10.2")


def test_a_log_without_records_has_nothing_to_lose() -> None:
    """It starts empty at the log start."""
    (found,) = found_by(KC211, partition(log_start=500, log_end=0, segment_sizes=(0,)))
    assert found.severity is Severity.WARNING
    assert "starts the log, which has no records, at offset 500" in found.effect


@pytest.mark.parametrize("state", [DirectoryState.DELETED, DirectoryState.STRAY])
def test_directories_that_wait_for_their_end_are_left_alone(state: DirectoryState) -> None:
    """A checkpoint's entry is for the replica that is served."""
    view = partition(
        log_start=500, recovery_point=500, high_watermark=500, log_end=42, clean=False, state=state,
        segment_sizes=(1, 1), last_batch=batch(30, 41, 3),
    )  # fmt: skip
    assert not found_by_all(view, Scope.PARTITION)


@pytest.mark.parametrize(
    ("clean", "point", "words"),
    [
        (True, 200, "ignores it, because the last shutdown was clean"),
        (False, 200, "scans only the last segment"),
        (None, 200, "scans only the last segment"),
        (False, 2**63 - 1, "scans nothing"),
    ],
)
def test_a_recovery_point_above_the_log_end(clean: bool | None, point: int, words: str) -> None:
    """What was flushed is not there."""
    (found,) = found_by(KC212, partition(recovery_point=point, log_end=150, clean=clean))
    assert found.severity is Severity.WARNING
    assert words in found.effect
    assert ("offsets 150 to 199" in found.effect) is (point == 200)
    assert ("No log reaches that offset" in found.effect) is (point != 200)


def test_a_high_watermark_above_the_log_end() -> None:
    """Committed records are missing here."""
    (found,) = found_by(KC213, partition(high_watermark=151, log_end=150))
    assert found.severity is Severity.WARNING
    assert "lowers it to 150" in found.effect
    assert "committed records are missing here: offset 150." in found.effect


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


@pytest.mark.parametrize("data", [None, b"0\n0\n"])
def test_without_epochs_and_high_watermark_the_log_is_dropped(data: bytes | None) -> None:
    """KC216 takes the place of KC204."""
    file = None if data is None else epochs(data)
    view = partition(epoch_file=file, last_batch=batch(90, 99, 3), log_end=100, clean=True)
    (found,) = found_by(KC216, view)
    assert found.severity is Severity.ERROR
    assert "TRUNCATE THE WHOLE LOG to its log start 0" in found.effect
    assert not found_by(KC204, view)
    assert ids(found_by_all(view, Scope.PARTITION)) == ["KC216"]


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
