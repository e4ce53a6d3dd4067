"""KC103, KC104, KC105, KC214: checkpoints that the broker reads, and that are odd all the same."""

import pytest

from kcheck.model.finding import Severity
from kcheck.rules.kc103_checkpoint_empty import RULE as KC103
from kcheck.rules.kc104_checkpoint_not_canonical import RULE as KC104
from kcheck.rules.kc105_duplicate_entry import RULE as KC105
from kcheck.rules.kc214_negative_offset import RULE as KC214
from tests.rules.build import epochs, file_view, found_by, offsets

NAMES = ("recovery-point", "log-start", "replication", "cleaner")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("data", [b"0\n0\n", b"0\n0", b"0\n1\nt 0 5\n"])
def test_an_empty_set_is_clean(name: str, data: bytes) -> None:
    """A count of 0 is what a broker writes when it has no entries."""
    assert not found_by(KC103, offsets(name, data))


@pytest.mark.parametrize("name", [*NAMES, "copy.txt"])
def test_a_file_of_0_bytes_is_an_info(name: str) -> None:
    """The broker creates it so."""
    view = file_view("offset-checkpoint", name, b"") if "." in name else offsets(name, b"")
    (found,) = found_by(KC103, view)
    assert found.severity is Severity.INFO
    assert "0 bytes" in found.message
    assert "reads it as no entries, without a warning" in found.effect


@pytest.mark.parametrize("data", [b"0", b"0\n"])
def test_a_version_line_alone_was_cut(data: bytes) -> None:
    """No broker writes that, so it is a warning, in a partition too."""
    for view in (offsets("recovery-point", data), epochs(data)):
        (found,) = found_by(KC103, view)
        assert found.severity is Severity.WARNING
        assert "a version line without a count" in found.message


def test_leader_epochs_of_0_bytes() -> None:
    """In a partition KC204 judges them; a bare file is told."""
    assert not found_by(KC103, epochs(b""))
    assert found_by(KC103, file_view("leader-epoch-checkpoint", "leader-epoch-checkpoint", b""))
    assert not found_by(KC103, file_view("meta-properties", "meta.properties", b""))
    assert not found_by(KC103, offsets("cleaner", b"x"))


def test_an_entry_for_each_partition_is_clean() -> None:
    """Two partitions of one topic are no duplicate."""
    assert not found_by(KC105, offsets("replication", b"0\n2\nt 0 5\nt 1 5\n"))
    assert not found_by(KC105, epochs(b"0\n2\n0 0\n0 0\n"))


def test_a_duplicate_names_the_line_that_wins() -> None:
    """The last one."""
    (found,) = found_by(KC105, offsets("replication", b"0\n5\nt 0 5\nu 0 1\nt 0 7\nu 0 1\nt 0 6\n"))
    assert found.severity is Severity.WARNING
    assert found.where.line == 5
    assert "lists t-0 3 times: 5 in line 3, 7 in line 5 and 6 in line 7 (and 1 further partition)" in found.message
    assert "the last line: 6." in found.effect
    assert found.data["partitions"] == (
        {"topic": "t", "partition": 0, "lines": (3, 5, 7), "offsets": (5, 7, 6)},
        {"topic": "u", "partition": 0, "lines": (4, 6), "offsets": (1, 1)},
    )


def test_a_duplicate_in_an_unreadable_file_is_no_second_finding() -> None:
    """Up to 0.10.2 it is what makes the file unreadable."""
    assert not found_by(KC105, offsets("replication", b"0\n2\nt 0 5\nt 0 6\n", "0.10.2"), "0.10.2")


@pytest.mark.parametrize(
    ("name", "kafka", "words"),
    [
        ("recovery-point", "4.3", "scans every segment"),
        ("log-start", "4.3", "first segment"),
        ("replication", "4.3", "starts with the high watermark at the log start"),
        ("replication", "2.3", "keeps a negative high watermark"),
        ("cleaner", "4.3", "cleans the log from its start"),
        ("copy.txt", "4.3", "uses it unchanged"),
    ],
)
def test_a_negative_offset(name: str, kafka: str, words: str) -> None:
    """No release refuses it."""
    data = b"0\n3\nt 0 5\nt 1 -5\nu 1 -1\n"
    view = file_view("offset-checkpoint", name, data, kafka) if "." in name else offsets(name, data, kafka)
    (found,) = found_by(KC214, view, kafka)
    assert found.where.line == 4
    assert "line 4: t-1 has the offset -5 (and 1 further entry)" in found.message
    assert words in found.effect
    assert ("Remove it only if" in found.advice) is (name == "replication")


def test_a_negative_high_watermark_stays_up_to_2_3() -> None:
    """Later releases raise it to the log start (Partition.createLog)."""
    data = b"0\n1\nt 0 -5\n"
    effects = [found_by(KC214, offsets("replication", data, kafka), kafka)[0].effect for kafka in ("2.3", "2.4")]
    assert [True, False] == ["keeps a negative high watermark" in str(effect) for effect in effects]
    (log_start,) = found_by(KC214, offsets("log-start", data, "2.3"), "2.3")
    assert "keeps a negative high watermark" not in str(log_start.effect)


def test_no_negative_offset() -> None:
    """0 is none; an unreadable file is another finding; epochs have their own rule."""
    assert not found_by(KC214, offsets("replication", b"0\n1\nt 0 0\n"))
    assert not found_by(KC214, offsets("replication", b"0\n2\nt 0 -1\n"))
    assert not found_by(KC214, epochs(b"0\n1\n0 -1\n"))


@pytest.mark.parametrize(
    "data", [b"0\r\n1\r\nt 0 5\r\n", b"0\n1\nt 0 +5\n", b"0\n01\nt 0 5\n", b"0\n1\nt\t0 5\n", b"+0\n1\nt  00  5 \n"]
)
def test_what_no_broker_writes_is_an_info(data: bytes) -> None:
    """Directories copied through tools look like this, and every broker reads them."""
    (found,) = found_by(KC104, offsets("replication", data))
    assert found.severity is Severity.INFO
    assert "no broker writes it like this" in found.message


def test_a_missing_last_newline_is_a_warning() -> None:
    """18437 cut to 184 is still a number."""
    for view in (offsets("replication", b"0\n1\nt 0 184"), epochs(b"0\n2\n0 0\n+1 184")):
        (found,) = found_by(KC104, view)
        assert found.severity is Severity.WARNING
        assert "the last number is too small" in found.effect
        assert found.where.line == 3 + (view.name == "leader-epoch-checkpoint")


def test_what_other_releases_refuse_is_a_warning() -> None:
    """Up to 2.0 undecodable bytes were replaced."""
    view = offsets("replication", b"0\n1\nt\xff 0 5\n", "2.0")
    (found,) = found_by(KC104, view, "2.0")
    assert found.severity is Severity.WARNING
    assert "other releases refuse it" in found.message
    assert "too small" not in found.effect


@pytest.mark.parametrize("data", [b"0\n1\nt 0 5\n", b"0\n0\n", b"", b"0", b"0\n2\nt 0 5\nt 0 5\n", b"x"])
def test_canonical_files_and_those_of_other_rules(data: bytes) -> None:
    """Empty files are KC103's, duplicates KC105's, unreadable files KC101's."""
    assert not found_by(KC104, offsets("replication", data))


def test_0_10_does_not_look_at_leader_epochs() -> None:
    """So the file cannot matter."""
    assert not found_by(KC104, epochs(b"0\n1\n0 0", "0.10.2"), "0.10.2")
    assert not found_by(KC103, epochs(b"0\n", "0.10.2"), "0.10.2")
    assert not found_by(KC104, file_view("meta-properties", "meta.properties", b"x"))
