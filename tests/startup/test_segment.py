"""One segment of a log that is loaded: LogSegment, FileRecords (rules 2.7 and 4.4)."""

import pytest

from kcheck.core.start.segments import LOG_SIZE_MAX
from kcheck.core.start.startup import Settings
from kcheck.formats.transaction_index import AbortedTxn
from kcheck.startup.segment import Segment, endings
from kcheck.startup.virtual_files import Folder, StartError, contents_of
from tests.builders import BytesFiles, Made, batch, index, run
from tests.startup.folders import context_of, folder_of, folder_of_logs, name, segment_of


def transaction(last_offset: int) -> AbortedTxn:
    """Return an aborted transaction."""
    return AbortedTxn(0, 7, 0, last_offset, last_offset)


def test_the_next_offset_follows_the_last_batch() -> None:
    """LogSegment.readNextOffset; an empty segment ends at its base offset."""
    assert segment_of(run(0, 99)).next_offset() == 100
    assert segment_of([], base=40).next_offset() == 40


def test_an_index_beyond_the_log_makes_the_log_end_too_low() -> None:
    """LogSegment.readNextOffset: no batch at or above the last index entry gives the base offset (S8, S9)."""
    folder = folder_of_logs({0: run(0, 99)}, {name(0, ".index"): index((150, 500))})
    assert Segment(folder, 0, context_of()).next_offset() == 0


def test_a_search_by_base_offset() -> None:
    """FileRecords.searchForOffsetFromPosition 4.1: the batch before counts if it reaches the offset (rule 4.4)."""
    for kafka in ("4.0", "4.3"):
        segment = segment_of(run(0, 99), kafka)
        found = segment.search(15).batch
        assert found is not None
        assert (100, 10) == (found.position, found.base_offset)
        assert segment.search(95).batch is not None
        assert segment.search(100).batch is None


@pytest.mark.parametrize("tail", [bytes(40), batch(100).data[:30]], ids=["zeros", "torn"])
def test_a_search_fails_on_zeros_and_passes_over_a_torn_batch(tail: bytes) -> None:
    """FileLogInputStream.nextBatch: a size below 14 is corrupt and aborts, a short batch ends the log silently."""
    last = Made(data=tail, base_offset=100, last_offset=100)
    segment = segment_of([*run(0, 99), last])
    if any(tail):
        assert segment.next_offset() == 100
    else:
        with pytest.raises(StartError, match="CorruptRecordException"):
            segment.next_offset()


def test_a_truncation_removes_the_batch_of_the_offset() -> None:
    """LogSegment.truncateTo: the whole batch goes, with the index entries and aborted transactions at or above it."""
    segment = segment_of(run(0, 99))
    segment.write_transactions((transaction(10), transaction(60)))
    assert segment.truncate_to(55) == 500
    assert (500, 50) == (segment.size, segment.next_offset())
    assert [10] == [entry.last_offset for entry in segment.transactions()]
    assert segment.truncate_to(1000) == 0


def test_a_log_above_2_gib_aborts_the_start() -> None:
    """FileRecords.open throws KafkaException for more than Integer.MAX_VALUE bytes (rule 2.7.b)."""
    folder = Folder(BytesFiles({}), contents_of({name(0): LOG_SIZE_MAX + 1}))
    with pytest.raises(StartError, match="KafkaException"):
        Segment(folder, 0, context_of())


def test_a_new_segment_may_be_preallocated() -> None:
    """LogSegment.open: the file has segment.bytes, and the segment counts as empty."""
    folder = folder_of({})
    context = context_of(settings=Settings(preallocate=True, segment_bytes=4096))
    segment = Segment(folder, 0, context, new=True)
    assert (4096, 0, 0) == (folder.files[name(0)].size, segment.size, segment.next_offset())


def test_transactions_that_came_later_stay() -> None:
    """TransactionIndex.append opens the file again: entries of a file that appeared meanwhile come first."""
    segment = segment_of(run(0, 99))
    segment.write_transactions(())
    assert name(0, ".txnindex") not in segment.folder
    segment.write_transactions((transaction(10),))
    segment.write_transactions((transaction(20),))
    assert [20] == [entry.last_offset for entry in segment.transactions()]


def test_a_deleted_segment_keeps_its_files() -> None:
    """LogSegment.changeFileSuffixes renames every file of the segment."""
    segment = segment_of(run(0, 99))
    segment.open_indexes()
    segment.mark_deleted()
    assert {name(0, f"{ending}.deleted") for ending in (".log", ".index", ".timeindex")} == set(segment.folder.files)
    assert segment.log_name == name(0, ".log.deleted")


def test_a_release_without_transactions_has_three_files() -> None:
    """Log.loadSegmentFiles 0.10.2 knows no `.txnindex`."""
    assert (".log", ".index", ".timeindex") == endings(context_of("0.10.2").release)
    assert ".txnindex" in endings(context_of("0.11.0").release)
