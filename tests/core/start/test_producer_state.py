"""What a start learns about producers from batches: ProducerStateManager and ProducerAppendInfo."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.producer_state import (
    Completed,
    DataBatch,
    EmptyMarker,
    Entry,
    Marker,
    ProducerReplay,
    ProducerStates,
    TransactionStateError,
)


def data(offset: int, *, producer_id: int = 1, epoch: int = 0, transactional: bool = True) -> DataBatch:
    """Return a batch of two records."""
    return DataBatch(producer_id, epoch, offset, offset + 1, 4, 5, 1000, transactional)


def marker(offset: int, *, producer_id: int = 1, epoch: int = 0, aborts: bool = False) -> Marker:
    """Return a marker."""
    return Marker(producer_id, epoch, offset, 3, 2000, aborts)


def test_a_transaction_begins_and_ends() -> None:
    """The marker ends the transaction; it stays unstable until the high watermark passes it."""
    states = ProducerStates(release())
    assert states.first_unstable_offset is None
    assert states.append(data(10)) is None
    assert states.append(data(12)) is None
    assert states.first_unstable_offset == 10
    assert Completed(1, 10, 14, 15, True) == states.append(marker(14, aborts=True))
    assert {} == states.ongoing
    assert states.first_unstable_offset == states.first_unstable_from(14) == 10
    assert states.first_unstable_from(15) is None
    assert Entry(1, 0, 5, 13, 1, 2000, 3) == states.entries[1]


def test_another_open_transaction_bounds_the_stable_offset() -> None:
    """The last stable offset of a transaction that ends is the first offset of those that are open."""
    states = ProducerStates(release())
    states.append(data(0, producer_id=2))
    states.append(data(2))
    assert Completed(1, 2, 4, 0, False) == states.append(marker(4))


def test_a_snapshot_brings_open_transactions() -> None:
    """A producer of a snapshot can be in a transaction that began before the snapshot."""
    states = ProducerStates(release(), [Entry(1, current_txn_first_offset=4), Entry(2)])
    assert {4: 1} == states.ongoing
    completed = states.append(marker(9))
    assert completed is not None
    assert completed.first_offset == 4


def test_a_transaction_may_begin_below_zero() -> None:
    """A batch can have offset -1; only in a snapshot does -1 mean no transaction."""
    states = ProducerStates(release())
    states.append(data(-1))
    assert Entry(1, 0, 5, 0, 1, 1000, -1, -1) == states.entries[1]
    assert (1, 0, 5, 0, 1, 1000, -1, -1) == states.entries[1].fields
    assert Entry(1, 0, 5, 0, 1, 1000) == Entry.of_snapshot(states.entries[1].fields)
    completed = states.append(marker(4))
    assert completed is not None
    assert completed.first_offset == -1


def test_sequences_lie_apart_by_an_int() -> None:
    """Java's subtraction overflows."""
    batch = DataBatch(1, 0, 10, 12, -2, 2**31 - 1, 1000, False)
    assert [2**31 - 1 + 2 - 2**32, 2] == [batch.offset_delta(release(kafka)) for kafka in ("1.1", "4.3")]


def test_a_producer_of_a_snapshot_without_a_record_has_no_batch() -> None:
    """Its sequence does not count (ProducerStateManager.readSnapshot)."""
    assert Entry(1, 4, timestamp=7) == Entry.of_snapshot((1, 4, 3, -1, 2, 7, -1, -1))


def test_what_is_taken_together_counts_at_the_end() -> None:
    """The last batch stays while the epoch does. A transaction does not start twice."""
    states = ProducerStates(release(), [Entry(1, 0, 5, 1, 1, 1000)])
    replay = ProducerReplay(states)
    replay.append(marker(2, epoch=1))
    replay.append(marker(3))
    assert Entry(1, 0, 5, 1, 1, 1000) == states.entries[1]
    assert replay.finish() is None
    assert Entry(1, 0, 5, 1, 1, 2000, 3) == states.entries[1]
    for step in (data(4), marker(6), data(4), marker(6)):
        replay.append(step)
    with pytest.raises(TransactionStateError, match="which never started"):
        replay.finish()


def test_what_is_taken_together_comes_in_the_order_of_a_table() -> None:
    """The order of the table that gathers them: from 4.0 the last one of a bucket comes first."""
    for kafka, order in (("3.9", [0, 16]), ("4.0", [16, 0])):
        states = ProducerStates(release(kafka))
        replay = ProducerReplay(states)
        for producer_id in (0, 16):
            replay.append(data(0, producer_id=producer_id, transactional=False))
        replay.finish()
        assert order == [entry.producer_id for entry in states.snapshot()]


def test_old_releases_replay_before_a_recovery_as_if_nothing_was_known() -> None:
    """Up to 2.7 the transaction of an earlier segment stays open; up to 2.2.0 it bounds the last stable offset."""
    for kafka, stable in (("2.2.0", 4), ("2.7", 10)):
        states = ProducerStates(release(kafka), [Entry(1, current_txn_first_offset=4)])
        replay = ProducerReplay(states, anew=True)
        replay.append(marker(9))
        assert Completed(1, 9, 9, stable, False) == replay.finish()
        assert {4: 1} == states.ongoing


def test_a_marker_of_another_epoch_forgets_the_last_batch() -> None:
    """The coordinator raised the epoch, so the producer has no batch of its new epoch yet."""
    states = ProducerStates(release())
    states.append(data(0))
    states.append(marker(2, epoch=1))
    assert Entry(1, 1, -1, -1, 0, 2000, 3) == states.entries[1]


def test_markers_without_data_complete_nothing() -> None:
    """Neither a marker without a transaction nor an emptied one ends anything."""
    states = ProducerStates(release())
    assert states.append(marker(0)) is None
    assert states.append(EmptyMarker(7)) is None
    assert Entry(7) == states.entries[7]


def test_plain_batches_of_idle_producers() -> None:
    """The last batch of each producer counts; the epoch of its coordinator stays."""
    states = ProducerStates(release())
    states.append(marker(0))
    states.update({1: Entry(1, 0, 9, 20, 1, 50), 2: Entry(2, 0, 1, 22, 0, 60)}, {})
    assert states.entry(1).coordinator_epoch == 3
    assert Entry(3) == states.entry(3)
    assert states.entries[2].coordinator_epoch == -1


def test_many_batches_of_transactions() -> None:
    """A transaction begins with the first batch of its producer, unless it is open already."""
    states = ProducerStates(release(), [Entry(1, current_txn_first_offset=4)])
    states.update({1: Entry(1, 0, 9, 20), 2: Entry(2, 0, 1, 22)}, {1: 10, 2: 12})
    assert {4: 1, 12: 2} == states.ongoing
    assert [4, 12] == [states.entries[producer_id].current_txn_first_offset for producer_id in (1, 2)]


def test_plain_data_inside_of_a_transaction_aborts_the_start() -> None:
    """InvalidTxnStateException ends the start of the broker."""
    states = ProducerStates(release())
    states.append(data(0))
    with pytest.raises(TransactionStateError, match="InvalidTxnStateException: the batch at offset 2"):
        states.append(data(2, transactional=False))


def test_an_end_of_what_did_not_begin_aborts_the_start() -> None:
    """Two producers of a snapshot have the same first offset: the second marker finds no transaction."""
    states = ProducerStates(release(), [Entry(1, current_txn_first_offset=4), Entry(2, current_txn_first_offset=4)])
    states.append(marker(9))
    with pytest.raises(TransactionStateError, match="which never started"):
        states.append(marker(10, producer_id=2))


def test_of_two_transactions_from_one_offset_the_later_stands_for_both() -> None:
    """It bounds the last stable offset when the other one ends, except up to 2.2.0, and closes with it."""
    for kafka, stable in (("2.2.0", 10), ("4.3", 4)):
        states = ProducerStates(
            release(kafka), [Entry(1, current_txn_first_offset=4), Entry(2, current_txn_first_offset=4)]
        )
        assert Completed(1, 4, 9, stable, False) == states.append(marker(9))
        assert states.ongoing == {}


def test_old_releases_refuse_old_markers() -> None:
    """Up to 2.3 a marker below the last epoch of its producer, or of its coordinator, ends the start."""
    states = ProducerStates(release("2.3"))
    states.append(data(0, epoch=1))
    with pytest.raises(TransactionStateError, match=r"^ProducerFencedException: the marker at offset 2"):
        states.append(marker(2))
    states.append(marker(3, epoch=1))
    with pytest.raises(TransactionStateError, match=r"^TransactionCoordinatorFencedException: the marker at offset 4"):
        states.append(Marker(1, 1, 4, 2, 2000, aborts=False))


def test_old_releases_end_what_is_not_open() -> None:
    """Up to 2.7 a marker without a transaction ends one at its own offset; up to 2.3 its timestamp does not count."""
    assert Completed(1, 4, 4, 5, True) == ProducerStates(release("2.7")).append(marker(4, aborts=True))
    states = ProducerStates(release("2.3"))
    states.append(data(0))
    states.append(marker(2))
    assert Entry(1, 0, 5, 1, 1, 1000, 3) == states.entries[1]


def test_the_oldest_releases_count_by_sequences() -> None:
    """Up to 2.0 a batch without sequences has the length 0; in 0.11 a marker is the last batch."""
    states = ProducerStates(release("0.11.0"))
    states.append(data(0)._replace(base_sequence=-1, last_sequence=-1))
    assert {1: 1} == states.ongoing
    states.append(marker(2))
    assert Entry(1, 0, -1, 2, 0, 2000, 3) == states.entries[1]
    with pytest.raises(TransactionStateError, match="NoSuchElementException"):
        states.append(EmptyMarker(1))
