"""The producer state of a log: ProducerStateManager, ProducerAppendInfo, EndTransactionMarker (rule 3.5, section 6).

tests/oracle/starts/test_control_batches.py and test_producer_snapshots.py hold the same against the released classes.
"""

import struct

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats.transaction_index import AbortedTxn
from kcheck.startup.producer_state import Producers
from kcheck.startup.recover import Recovered, recover
from kcheck.startup.segment import Segment
from kcheck.startup.virtual_files import StartError
from tests.builders import Made, batch, batch_of, record
from tests.startup.folders import (
    ABORT,
    COMMIT,
    CONTROL,
    TRANSACTIONAL,
    data_batch,
    folder_of,
    marker,
    name,
    segment_of,
)

MARKER_VALUE = struct.pack(">hi", 0, 0)


def recovered(*batches: Made, kafka: str = "4.3") -> tuple[Segment, Producers, Recovered]:
    """Recover a segment of these batches; return it, the producers after it, and what the recovery did."""
    segment = segment_of(batches, kafka)
    producers = Producers(segment.folder, release(kafka), for_recovery=True)
    return segment, producers, recover(segment, producers, None, interval=4096)


@pytest.mark.parametrize(("kind", "aborted"), [(COMMIT, ()), (ABORT, (AbortedTxn(0, 7, 0, 2, 3),))])
def test_a_marker_ends_a_transaction(kind: int, aborted: tuple[AbortedTxn, ...]) -> None:
    """ProducerAppendInfo.appendEndTxnMarker: an aborted transaction goes into the transaction index."""
    segment, producers, _ = recovered(data_batch(0, 2), marker(2, kind))
    assert producers.states.entry(7).current_txn_first_offset is None
    assert aborted == tuple(segment.transactions())[: len(aborted)]
    assert len(aborted) == len(tuple(segment.transactions()))


def test_data_opens_a_transaction() -> None:
    """ProducerAppendInfo.appendDataBatch: the first transactional batch is its first offset."""
    _, producers, _ = recovered(data_batch(0, 2), data_batch(2, 3))
    assert producers.states.first_unstable_offset == 0


def test_long_runs_are_appended_as_short_ones_are() -> None:
    """ProducerAppendInfo.append, batch by batch: many batches at once leave the same state."""
    batches = [data_batch(base, producer=7 + base % 3) for base in range(90)]
    _, together, _ = recovered(*batches)
    single = []
    for base in range(90):
        single.append(batches[base])
        if base % 20 == 19:
            single.append(marker(1000 + base, producer=99))
    _, apart, _ = recovered(*single)
    for producer in (7, 8, 9):
        assert apart.states.entry(producer) == together.states.entry(producer)
    assert together.states.first_unstable_offset == apart.states.first_unstable_offset == 0


@pytest.mark.parametrize("count", [1, 40])
def test_plain_data_inside_a_transaction_aborts_the_start(count: int) -> None:
    """ProducerAppendInfo.appendDataBatch throws InvalidTxnStateException, also in a long run of batches."""
    plain = [data_batch(base, transactional=False) for base in range(1, count + 1)]
    with pytest.raises(StartError):
        recovered(data_batch(0), *plain)


@pytest.mark.parametrize(
    ("control", "error"),
    [
        (marker(1, 5), "IllegalArgumentException"),
        (marker(1, key=None), "NullPointerException"),
        (marker(1, value=None), "NullPointerException"),
    ],
    ids=["type", "key", "value"],
)
def test_a_marker_of_no_meaning_aborts_the_start(control: Made, error: str) -> None:
    """EndTransactionMarker.deserialize: a type that is neither ABORT nor COMMIT, a null key or value."""
    with pytest.raises(StartError, match=error):
        recovered(data_batch(0), control)


@pytest.mark.parametrize(
    "control",
    [
        marker(1, key=b"\0\0"),
        marker(1, key=struct.pack(">hh", -1, COMMIT)),
        marker(1, value=struct.pack(">hi", -1, 0)),
        batch_of(1, b"\xff\x01", producer=(7, 0), attributes=TRANSACTIONAL | CONTROL),
    ],
    ids=["short key", "key version", "value version", "record"],
)
def test_a_marker_that_cannot_be_parsed_ends_the_recovery(control: Made) -> None:
    """LogSegment.recover catches InvalidRecordException: the batch itself stays, and everything after it goes."""
    later = batch(2, 3)
    segment, _, recovery = recovered(data_batch(0), control, later)
    assert len(later.data) == recovery.cut
    assert "control batch at position" in (recovery.why or "")
    assert segment.next_offset() == 2


def test_a_short_marker_value_aborts_the_start_from_4_1_on() -> None:
    """EndTransactionMarker.deserialize: up to 4.0 a value below 6 bytes ends the recovery like any parse error."""
    short = marker(1, value=MARKER_VALUE[:4])
    with pytest.raises(StartError, match="BufferUnderflowException"):
        recovered(data_batch(0), short, batch(2), kafka="4.1")
    assert recovered(data_batch(0), short, batch(2), kafka="4.0")[2].cut > 0


def test_markers_of_an_unusual_form_count() -> None:
    """EndTransactionMarker.deserialize reads the first record of a control batch, whatever follows it."""
    ends = record(key=struct.pack(">hh", 0, ABORT), value=MARKER_VALUE + b"more")
    two = batch_of(1, ends, record(1), producer=(7, 0), attributes=TRANSACTIONAL | CONTROL)
    segment, producers, _ = recovered(data_batch(0), two)
    assert producers.states.entry(7).current_txn_first_offset is None
    assert [1] == [entry.last_offset for entry in segment.transactions()]


def test_a_control_batch_without_records_ends_no_transaction() -> None:
    """ProducerAppendInfo.append: compaction leaves empty batches, which keep the sequence of a producer alone."""
    empty = batch(1, 0, last_offset=1, producer=(7, 0), attributes=TRANSACTIONAL | CONTROL)
    _, producers, _ = recovered(data_batch(0), empty)
    assert producers.states.entry(7).current_txn_first_offset == 0


def test_a_compressed_control_batch_must_decompress() -> None:
    """DefaultRecordBatch.iterator throws KafkaException for what GZIP refuses: the start aborts."""
    broken = batch(1, 1, payload=b"no gzip", producer=(7, 0), attributes=TRANSACTIONAL | CONTROL | 1)
    with pytest.raises(StartError, match="KafkaException"):
        recovered(data_batch(0), broken)


def test_aborted_transactions_must_end_in_order() -> None:
    """TransactionIndex.append throws IllegalArgumentException for a marker not above the one before."""
    batches = (data_batch(0), data_batch(1, producer=8), marker(9, ABORT), marker(5, ABORT, producer=8))
    with pytest.raises(StartError, match="IllegalArgumentException"):
        recovered(*batches)


def test_a_snapshot_name_without_a_number_aborts_the_start() -> None:
    """SnapshotFile throws NumberFormatException; 0.10.2 has no snapshots."""
    folder = folder_of({"x.snapshot": b""})
    with pytest.raises(StartError, match="NumberFormatException"):
        Producers(folder, release("4.3"))
    assert Producers(folder, release("0.10.2")).latest_snapshot is None


def test_snapshots_out_of_range_are_deleted() -> None:
    """ProducerStateManager.truncateAndReload: those up to the log start, above the log end, and unreadable ones."""
    folder = folder_of({name(base, ".snapshot"): b"" for base in (5, 10, 20, 99)})
    producers = Producers(folder, release("4.3"))
    producers.reload(5, 50)
    assert ([], 5) == ([file for file in folder.files if file.endswith(".snapshot")], producers.map_end)


def test_a_snapshot_is_written_once() -> None:
    """ProducerStateManager.takeSnapshot writes only above the last snapshot; a reload finds the same producers."""
    segment, producers, _ = recovered(data_batch(0, 2))
    producers.take_snapshot()
    producers.take_snapshot()
    snapshots = [file for file in segment.folder.files if file.endswith(".snapshot")]
    assert [name(2, ".snapshot")] == snapshots
    again = Producers(segment.folder, release("4.3"))
    again.reload(0, 2)
    assert (2, 0) == (again.map_end, again.states.first_unstable_offset)
    again.mark_deleted(2)
    again.mark_deleted(2)
    assert [name(2, ".snapshot.deleted")] == [file for file in segment.folder.files if ".snapshot" in file]


def test_a_truncation_of_everything_forgets_the_producers() -> None:
    """ProducerStateManager.truncateFullyAndStartAt."""
    segment, producers, _ = recovered(data_batch(0, 2))
    producers.take_snapshot()
    producers.start_at(100)
    assert producers.map_end == 100
    assert not producers.states.entries
    assert not [file for file in segment.folder.files if file.endswith(".snapshot")]
