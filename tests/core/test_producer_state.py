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
    in_order,
)
from kcheck.core.releases import release

SCALA_ORDER = [17, 8, 11, 2, 5, 14, 13, 4, 16, 7, 1, 10, 19, 18, 9, 3, 12, 15, 6, 0]


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
    assert [16, 3, 4] == [entry.producer_id for entry in in_order(map(Entry, (4, 3, 16)), release())]
    assert [*range(13)] == [entry.producer_id for entry in in_order(map(Entry, reversed(range(13))), release())]
    # Seen with scala.collection.mutable.HashMap of Scala 2.12.
    assert SCALA_ORDER == [entry.producer_id for entry in in_order(map(Entry, range(20)), release("2.0"))]


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
    """Up to 2.7 a marker without a transaction ends one of its own offset; up to 2.3 it has no timestamp to tell."""
    assert Completed(1, 4, 4, 5, True) == ProducerStates(release("2.7")).append(marker(4, aborts=True))
    states = ProducerStates(release("2.3"))
    states.append(data(0))
    states.append(marker(2))
    assert Entry(1, 0, 5, 1, 1, 1000, 3) == states.entries[1]


def test_the_oldest_releases_count_by_sequences() -> None:
    """Up to 2.0 a batch without sequences has the length 0; in 0.11 a marker is the last batch."""
    states = ProducerStates(release("0.11.0"))
    states.append(data(0)._replace(last_sequence=-1))
    assert {1: 1} == states.ongoing
    states.append(marker(2))
    assert Entry(1, 0, -1, 2, 0, 2000, 3) == states.entries[1]
    with pytest.raises(TransactionStateError, match="NoSuchElementException"):
        states.append(EmptyMarker(1))
