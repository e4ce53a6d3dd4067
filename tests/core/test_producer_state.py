"""What a start learns of producers from batches."""

import pytest

from kcheck.core.producer_state import (
    Completed,
    Data,
    EmptyMarker,
    Entry,
    Marker,
    ProducerStates,
    TransactionStateError,
    in_java_order,
)
from kcheck.core.releases import release


def data(offset: int, *, producer_id: int = 1, epoch: int = 0, transactional: bool = True) -> Data:
    """Return a batch of two records."""
    return Data(producer_id, epoch, offset, offset + 1, 5, 1000, transactional)


def marker(offset: int, *, producer_id: int = 1, epoch: int = 0, aborts: bool = False) -> Marker:
    """Return a marker."""
    return Marker(producer_id, epoch, offset, 3, 2000, aborts)


def test_a_transaction_begins_and_ends() -> None:
    """The marker ends the transaction from its first batch on; it stays unstable until the high watermark passes."""
    states = ProducerStates(release())
    assert states.first_unstable_offset is None
    assert states.append(data(10)) is None
    assert states.append(data(12)) is None
    assert states.first_unstable_offset == 10
    assert Completed(1, 10, 14, 15, True) == states.append(marker(14, aborts=True))
    assert {} == states.ongoing
    assert states.first_unstable_offset == 10
    assert Entry(1, 0, 5, 13, 1, 2000, 3) == states.entries[1]


def test_another_open_transaction_bounds_the_stable_offset() -> None:
    """The last stable offset of a transaction that ends is the first of those that are open."""
    states = ProducerStates(release())
    states.append(data(0, producer_id=2))
    states.append(data(2))
    assert Completed(1, 2, 4, 0, False) == states.append(marker(4))


def test_a_snapshot_brings_open_transactions() -> None:
    """A producer of a snapshot may be in a transaction that began before it."""
    states = ProducerStates(release(), [Entry(1, current_txn_first_offset=4), Entry(2)])
    assert {4: 1} == states.ongoing
    completed = states.append(marker(9))
    assert completed is not None
    assert completed.first_offset == 4


def test_a_marker_of_another_epoch_forgets_the_last_batch() -> None:
    """The coordinator raised the epoch: no batch of the new one has been seen."""
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
    assert states.entries[1].coordinator_epoch == 3
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
    """Two producers of a snapshot with the same first offset: the second marker finds no transaction."""
    states = ProducerStates(release(), [Entry(1, current_txn_first_offset=4), Entry(2, current_txn_first_offset=4)])
    states.append(marker(9))
    with pytest.raises(TransactionStateError, match="which was not started"):
        states.append(marker(10, producer_id=2))


def test_the_order_of_a_snapshot() -> None:
    """That of a hash table of 16 places, or of more where it holds more: seen with java.util.HashMap."""
    assert [16, 3, 4] == [entry.producer_id for entry in in_java_order(map(Entry, (4, 3, 16)))]
    assert [*range(13)] == [entry.producer_id for entry in in_java_order(map(Entry, reversed(range(13))))]
