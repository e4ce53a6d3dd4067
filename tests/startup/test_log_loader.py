"""The load of one log, step by step: LogLoader.load (rules 2.7 to 5.2).

tests/oracle/starts/test_predict.py holds the same on damaged copies of real logs.
"""

import pytest

from kcheck.formats.transaction_index import AbortedTxn, serialize
from kcheck.startup.virtual_files import StartError
from tests.builders import Made, batch, epochs, log, run
from tests.startup.folders import data_batch, folder_of, folder_of_logs, loader_of, name

TWO = {0: run(0, 99), 100: run(100, 199)}


def damaged(made: Made) -> Made:
    """Return a batch with another last byte, so that its CRC does not match."""
    return Made(data=made.data[:-1] + b"?", base_offset=made.base_offset, last_offset=made.last_offset)


@pytest.mark.parametrize(("clean", "point"), [(True, 200), (False, 150)])
def test_an_intact_log(clean: bool, point: int) -> None:
    """LogLoader.recoverLog: the recovery point is the log end after a clean shutdown, else the checkpoint (4.3)."""
    loaded = loader_of(folder_of_logs(TWO), clean=clean, recovery_point=150).load()
    assert (0, 200, point, (0, 100)) == (
        loaded.log_start_offset, loaded.log_end_offset, loaded.recovery_point, loaded.bases,
    )  # fmt: skip
    assert loaded.cuts == ()


def test_damage_in_a_recovered_segment_deletes_the_later_ones() -> None:
    """LogLoader.recoverLog: removeAndDeleteSegmentsAsync of every later segment (rule 3.6)."""
    first = [*run(0, 49), damaged(run(50, 59)[0]), *run(60, 99)]
    folder = folder_of_logs({0: first, 100: run(100, 199)})
    loaded = loader_of(folder).load()
    assert (50, (0,)) == (loaded.log_end_offset, loaded.bases)
    assert [(0, 500, 50), (100, 0, 100)] == [(cut.base_offset, cut.position, cut.end_offset) for cut in loaded.cuts]
    assert name(100, ".log.deleted") in folder


def test_damage_below_the_recovery_point_stays() -> None:
    """LogLoader.recoverLog reads the segments from that of the recovery point on (rule 3.1)."""
    folder = folder_of_logs({0: [damaged(run(0, 9)[0])], 100: run(100, 199)})
    loaded = loader_of(folder, recovery_point=100).load()
    assert (200, ()) == (loaded.log_end_offset, loaded.cuts)


def test_a_missing_index_has_its_segment_recovered() -> None:
    """LogLoader.loadSegmentFiles: even after a clean shutdown; later segments stay: a hole (2.7.d)."""
    folder = folder_of({
        name(0): log([*run(0, 49), damaged(run(50, 59)[0])]), name(100): log(run(100, 199)), name(100, ".index"): b"",
    })  # fmt: skip
    loaded = loader_of(folder, clean=True).load()
    assert ((0, 100), 200, 1) == (loaded.bases, loaded.log_end_offset, len(loaded.cuts))


def test_an_index_without_a_segment_is_deleted() -> None:
    """LogLoader.loadSegmentFiles (2.7.a)."""
    folder = folder_of_logs(TWO, {name(50, ".index"): b"", name(50, ".timeindex"): b""})
    loaded = loader_of(folder, clean=True).load()
    assert (0, 100) == loaded.bases
    assert name(50, ".index") not in folder


@pytest.mark.parametrize("file", ["x.log", "x.index"])
def test_a_segment_file_without_a_number_aborts_the_start(file: str) -> None:
    """LogLoader.offsetFromFile throws NumberFormatException."""
    with pytest.raises(StartError, match="NumberFormatException"):
        loader_of(folder_of_logs(TWO, {file: b""}), clean=True).load()


def test_a_log_end_below_the_log_start_deletes_every_segment() -> None:
    """LogLoader.recoverLog (KAFKA-10101): an empty segment at the log start, and no epochs (rule 4.1)."""
    folder = folder_of_logs(TWO, {"leader-epoch-checkpoint": epochs((0, 0))})
    loaded = loader_of(folder, clean=True, log_start=500).load()
    assert (500, 500, (500,), ()) == (
        loaded.log_start_offset, loaded.log_end_offset, loaded.bases, loaded.leader_epochs,
    )  # fmt: skip
    assert [0, 100] == sorted(cut.base_offset for cut in loaded.cuts)


def test_an_empty_directory_gets_a_segment_at_the_log_start() -> None:
    """LogLoader.recoverLog (rule 4.2)."""
    loaded = loader_of(folder_of({}), log_start=30).load()
    assert (30, 30, (30,)) == (loaded.log_start_offset, loaded.log_end_offset, loaded.bases)


@pytest.mark.parametrize(
    ("transaction", "error"), [(AbortedTxn(0, 7, 0, 99, 99), None), (AbortedTxn(300, 7, 0, 150, 150), "KafkaException")]
)
def test_a_transaction_index_is_checked(transaction: AbortedTxn, error: str | None) -> None:
    """TransactionIndex.sanityCheck: an entry below the segment has it recovered, an unknown version aborts (2.7.e)."""
    folder = folder_of_logs(TWO, {name(100, ".txnindex"): serialize((transaction,))})
    if error is None:
        assert "below its segment" in "".join(loader_of(folder, clean=True).load().reasons)
    else:
        with pytest.raises(StartError, match=error):
            loader_of(folder, clean=True).load()


def test_an_overflow_is_split_and_the_load_repeated() -> None:
    """LogLoader.retryOnOffsetOverflow (rule 3.4)."""
    far = (1 << 31) + 5
    loaded = loader_of(folder_of_logs({0: [batch(0, 5), batch(far, 2)]})).load()
    assert ((0, far), far + 2) == (loaded.bases, loaded.log_end_offset)


def test_offsets_out_of_order_empty_the_segment() -> None:
    """LogLoader.recoverLog handles InvalidOffsetException: truncateTo(baseOffset) (rule 3.3)."""
    payload = b"x" * 5000
    fallen = [batch(base, payload=payload) for base in (0, 10, 5, 20)]
    loaded = loader_of(folder_of_logs({0: fallen})).load()
    assert (0, 0) == (loaded.log_end_offset, loaded.cuts[0].position)
    # The recovery of a missing index has no such handler.
    folder = folder_of({name(0): log(fallen)})
    with pytest.raises(StartError, match="InvalidOffsetException"):
        loader_of(folder, clean=True).load()


def test_a_directory_marked_for_deletion_is_not_recovered() -> None:
    """LogLoader.load: a directory that ends in -delete has the log end 0 (rule 2.8); without a segment it aborts."""
    folder = folder_of_logs({0: [damaged(run(0, 9)[0])]})
    loaded = loader_of(folder, deleted=1).load()
    assert (0, ()) == (loaded.log_end_offset, loaded.cuts)
    empty = folder_of({})
    assert (0,) == loader_of(empty, "2.8", deleted=1).load().bases


def test_a_swap_of_2_8_is_recovered_and_replaces_segments() -> None:
    """Log.completeSwapOperations 2.8: overlapping segments go (section 8)."""
    folder = folder_of_logs(TWO, {name(0, ".log.swap"): log(run(0, 149))})
    loaded = loader_of(folder, "2.8", clean=True).load()
    assert (0,) == loaded.bases
    assert loaded.log_end_offset == 150


def test_an_overflow_in_a_swap_of_2_8_aborts_the_start() -> None:
    """Log.completeSwapOperations 2.8 does not handle LogSegmentOffsetOverflowException."""
    folder = folder_of_logs(TWO, {name(0, ".log.swap"): log([batch(0), batch(1 << 31)])})
    with pytest.raises(StartError, match="LogSegmentOffsetOverflowException"):
        loader_of(folder, "2.8", clean=True).load()


def test_several_swaps_are_uncertain() -> None:
    """Log.completeSwapOperations 2.8 takes them in the order of the directory listing."""
    swaps = {name(0, ".log.swap"): log(run(0, 99)), name(100, ".log.swap"): log(run(100, 199))}
    loader = loader_of(folder_of_logs(TWO, swaps), "2.8", clean=True)
    assert (0, 100) == loader.load().bases
    assert loader.uncertain is not None


def test_an_open_transaction_is_unstable() -> None:
    """UnifiedLog.maybeIncrementFirstUnstableOffset."""
    assert loader_of(folder_of_logs({0: [data_batch(0)]})).load().unstable
    assert not loader_of(folder_of_logs(TWO)).load().unstable


def test_epochs_above_the_log_end_are_removed() -> None:
    """LogLoader.load: truncateFromEnd, then truncateFromStart with the log start checkpoint (rules 5.1, 5.2)."""
    lines = {"leader-epoch-checkpoint": epochs((0, 0), (1, 50), (2, 120), (3, 200))}
    loaded = loader_of(folder_of_logs(TWO, lines), clean=True, log_start=60).load()
    assert [(1, 60), (2, 120)] == [tuple(entry) for entry in loaded.leader_epochs]
