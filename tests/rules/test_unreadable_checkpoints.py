"""KC101, KC102: what the broker does with a checkpoint that its reader refuses, by file and release."""

import pytest

from kcheck.model.finding import Severity
from kcheck.model.parsed import BrokerReads
from kcheck.rules._checkpoints import outcome
from kcheck.rules.kc101_checkpoint_unreadable import RULE as KC101
from kcheck.rules.kc102_checkpoint_number import RULE as KC102
from tests.rules.build import NEWEST, file_view, found_by, offsets

INFO, WARNING, ERROR, FATAL = Severity.INFO, Severity.WARNING, Severity.ERROR, Severity.FATAL

RP, START, HW, CLEANER = "recovery-point", "log-start", "replication", "cleaner"
BAD_COUNT = b"0\n2\nt 0 5\n"
BAD_NUMBER = b"0\n1\nt 0 5x\n"


def test_a_renamed_copy_has_no_certain_effect() -> None:
    """Which checkpoint it was decides what the broker does."""
    view = file_view("offset-checkpoint", "copy.txt", BAD_COUNT)
    (found,) = found_by(KC101, view)
    assert found.severity is FATAL
    assert "depends on its name" in found.effect
    assert "Find out which checkpoint it was" in found.advice
    (found,) = found_by(KC102, file_view("offset-checkpoint", "copy.txt", BAD_NUMBER))
    assert found.severity is ERROR


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
        (HW, "4.3", ERROR, "does not start the leaders"),
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
