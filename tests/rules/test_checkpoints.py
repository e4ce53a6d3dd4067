"""KC103, KC104, KC105, KC214: checkpoints that the broker reads, and that are odd all the same."""

import pytest

from kcheck.model.finding import Severity
from kcheck.rules.kc103_checkpoint_empty import RULE as KC103
from kcheck.rules.kc104_checkpoint_not_canonical import RULE as KC104
from kcheck.rules.kc214_negative_offset import RULE as KC214
from tests.rules.build import epochs, file_view, found_by, offsets


@pytest.mark.parametrize("data", [b"0", b"0\n"])
def test_a_version_line_alone_was_cut(data: bytes) -> None:
    """No broker writes that, so it is a warning, in a partition too."""
    for view in (offsets("recovery-point", data), epochs(data)):
        (found,) = found_by(KC103, view)
        assert found.severity is Severity.WARNING
        assert "a version line without a count" in found.message


def test_a_negative_high_watermark_stays_up_to_2_3() -> None:
    """Later releases raise it to the log start (Partition.createLog)."""
    data = b"0\n1\nt 0 -5\n"
    effects = [found_by(KC214, offsets("replication", data, kafka), kafka)[0].effect for kafka in ("2.3", "2.4")]
    assert [True, False] == ["keeps a negative high watermark" in str(effect) for effect in effects]
    (log_start,) = found_by(KC214, offsets("log-start", data, "2.3"), "2.3")
    assert "keeps a negative high watermark" not in str(log_start.effect)


@pytest.mark.parametrize("data", [b"0\n1\nt 0 5\n", b"0\n0\n", b"", b"0", b"0\n2\nt 0 5\nt 0 5\n", b"x"])
def test_canonical_files_and_those_of_other_rules(data: bytes) -> None:
    """Empty files are KC103's, duplicates KC105's, unreadable files KC101's."""
    assert not found_by(KC104, offsets("replication", data))


def test_0_10_does_not_look_at_leader_epochs() -> None:
    """So the file cannot matter."""
    assert not found_by(KC104, epochs(b"0\n1\n0 0", "0.10.2"), "0.10.2")
    assert not found_by(KC103, epochs(b"0\n", "0.10.2"), "0.10.2")
    assert not found_by(KC104, file_view("meta-properties", "meta.properties", b"x"))
