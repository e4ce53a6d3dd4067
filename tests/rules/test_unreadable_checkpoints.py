"""KC101, KC102: what the broker does with a checkpoint that its reader refuses, by file and release."""

import pytest

from kcheck.model.finding import Severity
from kcheck.model.parsed import BrokerReads
from kcheck.rules._checkpoints import outcome
from kcheck.rules.kc101_checkpoint_unreadable import RULE as KC101
from kcheck.rules.kc102_checkpoint_number import RULE as KC102
from tests.rules.build import NEWEST, epochs, file_view, found_by, offsets

INFO, WARNING, ERROR, FATAL = Severity.INFO, Severity.WARNING, Severity.ERROR, Severity.FATAL

RP, START, HW, CLEANER = "recovery-point", "log-start", "replication", "cleaner"
BAD_COUNT = b"0\n2\nt 0 5\n"
BAD_NUMBER = b"0\n1\nt 0 5x\n"


@pytest.mark.parametrize("data", [b"0\n1\nt 0 5\n", b"0\n0\n", b"", b"0\n", b"0\r\n1\r\nt 0 5\r\n", b"0\n1\nt 0 +5"])
def test_a_file_that_the_broker_reads_is_no_finding(data: bytes) -> None:
    """Whatever the reader accepts is left to other rules."""
    for name in (RP, START, HW, CLEANER):
        for kafka in ("0.10.2", "0.11.0", "2.0", "3.0", "4.3"):
            view = offsets(name, data, kafka)
            assert not found_by(KC101, view, kafka)
            assert not found_by(KC102, view, kafka)


def test_other_kinds_are_no_checkpoints() -> None:
    """A damaged partition.metadata belongs to KC111."""
    view = file_view("partition-metadata", "partition.metadata", b"")
    assert not found_by(KC101, view)
    assert not found_by(KC102, view)


@pytest.mark.parametrize(
    ("name", "kafka", "severity", "words"),
    [
        (RP, "0.8.2", FATAL, "does not start"),
        (RP, "0.9.0", WARNING, "treats the file as empty"),
        (RP, "0.11.0", WARNING, "treats the file as empty"),
        (RP, "1.0", FATAL, "takes the whole log dir offline"),
        (RP, "2.8", FATAL, "takes the whole log dir offline"),
        (RP, "3.0", FATAL, "the whole start aborts instead"),
        (RP, "4.3", FATAL, "the whole start aborts instead"),
        (START, "0.11.0", ERROR, "become readable again"),
        (START, "2.8", FATAL, "takes the whole log dir offline"),
        (START, "4.3", FATAL, "the whole start aborts instead"),
        (HW, "0.10.2", ERROR, "each LeaderAndIsr request fails"),
        (HW, "1.0", FATAL, "takes the whole log dir offline"),
        (HW, "4.3", FATAL, "takes the whole log dir offline"),
        (CLEANER, "0.11.0", ERROR, "loses every cleaner thread"),
        (CLEANER, "4.3", FATAL, "treats the file as empty and takes the whole log dir offline"),
    ],
)
def test_a_refused_line(name: str, kafka: str, severity: Severity, words: str) -> None:
    """A count that does not agree with the lines is an IOException of the reader."""
    view = offsets(name, BAD_COUNT, kafka)
    (found,) = found_by(KC101, view, kafka)
    assert severity is found.severity
    assert words in found.effect
    assert f"Kafka {kafka} " in found.effect
    assert found.data["error"] == "IOException"
    assert found.where.file == view.name
    assert not found_by(KC102, view, kafka)


@pytest.mark.parametrize(
    ("kafka", "severity", "words"),
    [("0.11.0", FATAL, "does not start"), ("3.2.0", FATAL, "does not start"), ("3.2.1", FATAL, "log dir offline")],
)
def test_a_refused_line_of_leader_epochs(kafka: str, severity: Severity, words: str) -> None:
    """Up to 3.2.0 one partition's file aborts the broker (KAFKA-13773), later it takes the log dir offline."""
    (found,) = found_by(KC101, epochs(b"0\n2\n0 0\n", kafka), kafka)
    assert severity is found.severity
    assert words in found.effect
    assert ("aborts instead" in found.effect) is (kafka == "3.2.1")


def test_0_10_reads_no_leader_epochs() -> None:
    """A file that the release does not know is no finding."""
    view = epochs(b"0\n2\n0 0\n", "0.10.2")
    assert not found_by(KC101, view, "0.10.2")
    assert not found_by(KC102, view, "0.10.2")


def test_a_renamed_copy_has_no_certain_effect() -> None:
    """Which checkpoint it was decides what the broker does."""
    view = file_view("offset-checkpoint", "copy.txt", BAD_COUNT)
    (found,) = found_by(KC101, view)
    assert found.severity is FATAL
    assert "depends on its name" in found.effect
    assert "Find out which checkpoint it was" in found.advice
    (found,) = found_by(KC102, file_view("offset-checkpoint", "copy.txt", BAD_NUMBER))
    assert found.severity is ERROR


def test_the_first_line_is_named_and_the_others_counted() -> None:
    """One finding for a file, whatever the number of its damaged lines."""
    view = offsets(RP, b"0\n3\nt 0\nt 1 5\nt 2\n")
    (found,) = found_by(KC101, view)
    assert found.where.line == 3
    assert "line 3" in found.message
    assert "further defect" in found.message
    assert found.data["defect_count"] == len(found.data["defects"])


def test_duplicates_are_unreadable_up_to_0_10() -> None:
    """The old reader counts different partitions, and finds too few."""
    view = offsets(RP, b"0\n2\nt 0 5\nt 0 6\n", "0.10.2")
    (found,) = found_by(KC101, view, "0.10.2")
    assert "1 partition is listed more than once: t-0" in found.message


def test_bytes_that_are_no_text() -> None:
    """From 2.1 on such a file raises MalformedInputException, an IOException; before, the bytes are replaced."""
    data = b"0\n1\nt\xff 0 5\n"
    (found,) = found_by(KC101, offsets(HW, data, "2.1"), "2.1")
    assert found.data["error"] == "MalformedInputException"
    assert not found_by(KC101, offsets(HW, data, "2.0"), "2.0")


@pytest.mark.parametrize(
    ("name", "kafka", "severity", "words"),
    [
        (RP, "0.8.2", FATAL, "does not start"),
        (RP, "0.9.0", WARNING, "treats the file as empty"),
        (RP, "3.1", WARNING, "treats the file as empty"),
        (RP, "4.3", WARNING, "treats the file as empty"),
        (START, "4.3", ERROR, "become readable again"),
        (HW, "0.9.0", ERROR, "each LeaderAndIsr request fails"),
        (HW, "3.1", ERROR, "In KRaft mode"),
        (HW, "4.3", ERROR, "half initialised"),
        (CLEANER, "4.3", ERROR, "loses every cleaner thread"),
    ],
)
def test_a_number_that_escapes(name: str, kafka: str, severity: Severity, words: str) -> None:
    """NumberFormatException passes the handling of a failed read."""
    view = offsets(name, BAD_NUMBER, kafka)
    (found,) = found_by(KC102, view, kafka)
    assert severity is found.severity
    assert words in found.effect
    assert found.data["error"] == "NumberFormatException"
    assert found.where.line == 3
    assert not found_by(KC101, view, kafka)


def test_a_number_up_to_3_0_is_like_any_bad_line() -> None:
    """0.10 to 3.0 wrap it."""
    (found,) = found_by(KC101, offsets(RP, BAD_NUMBER, "3.0"), "3.0")
    assert found.severity is FATAL


def test_a_number_in_leader_epochs_aborts_the_broker() -> None:
    """The load of a log lets it through."""
    (found,) = found_by(KC102, epochs(b"0\n1\n0 x\n"))
    assert found.severity is FATAL
    assert "does not start" in found.effect


@pytest.mark.parametrize("name", [RP, START, HW, CLEANER, "leader-epoch-checkpoint"])
def test_a_count_beyond_memory(name: str) -> None:
    """OutOfMemoryError is an Error that the loading of logs does not catch."""
    full = name if "epoch" in name else f"{name}-offset-checkpoint"
    what = outcome(full, "OutOfMemoryError", NEWEST)
    aborts = name not in (HW, CLEANER)
    assert (what.severity is FATAL) is aborts
    assert ("more memory" in what.words) is aborts


def test_a_negative_count() -> None:
    """From 3.1 on it raises IllegalArgumentException."""
    (found,) = found_by(KC102, offsets(RP, b"0\n-1\n"))
    assert found.data["error"] == "IllegalArgumentException"


def test_an_error_without_a_defect_that_we_see() -> None:
    """The broker's reader has the last word: what it refuses is a finding even if kcheck sees nothing wrong."""
    view = offsets(RP, b"0\n1\nt 0 5\n")
    for error, rule in (("IOException", KC101), ("NumberFormatException", KC102)):
        refused = view._replace(reads=BrokerReads(None, error))
        (found,) = found_by(rule, refused)
        assert found.where.line is None
