"""KC240: a log in remote storage whose leader-epoch-checkpoint lacks the epochs of its remote segments."""

from kcheck.model.names import DirectoryState
from kcheck.model.views import PartitionView
from kcheck.rules.kc204_epochs_missing import RULE as KC204
from kcheck.rules.kc240_remote_epochs_missing import RULE as KC240
from tests.rules.build import batch, epochs, found_by, partition

EMPTY = b"0\n0\n"


def tiered(data: bytes | None = EMPTY, *, log_start: int | None = 10, clean: bool | None = True) -> PartitionView:
    """Return a log with segments from offset 50 on."""
    file = None if data is None else epochs(data)
    last = batch(50, 59, 2)
    return partition(epoch_file=file, first_segment=50, log_start=log_start, log_end=60, last_batch=last, clean=clean)


def test_what_is_right_or_not_asked() -> None:
    """The epochs reach the log start; a file that no broker reads; no log; a release without remote storage."""
    assert not found_by(KC240, tiered(b"0\n2\n0 10\n2 30\n"))
    assert not found_by(KC240, tiered(b"0\n2\n0 0\n2 30\n"))
    assert not found_by(KC240, tiered(b"x"))
    assert not found_by(KC240, tiered(b"0\n1\n-1 30\n"))
    assert not found_by(KC240, tiered(), "3.5")
    assert not found_by(KC240, tiered()._replace(directories=frozenset({"leader-epoch-checkpoint"})))
    assert not found_by(KC240, tiered()._replace(segments=()))
    assert not found_by(KC240, tiered()._replace(state=DirectoryState.DELETED))
    assert not found_by(KC240, tiered()._replace(topic="__cluster_metadata"))


def test_up_to_3_7_a_log_in_remote_storage_has_a_snapshot_file() -> None:
    view = tiered()
    assert not found_by(KC240, view, "3.7")
    assert found_by(KC240, view._replace(files=frozenset({"remote_log_snapshot"})), "3.7")
    assert found_by(KC240, view, "3.8")


def test_kc204_never_advises_to_rebuild_such_a_file() -> None:
    (found,) = found_by(KC204, tiered()._replace(high_watermark=tiered().log_end_offset))
    assert "rebuild" not in found.advice
    assert "kcheck repair PATH --store STORE" in found.advice
