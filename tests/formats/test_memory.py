"""What a parsed file takes beside its bytes: entries are made when they are asked for."""

import pickle
import tracemalloc
from collections.abc import Callable

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats import offset_index, producer_snapshot, time_index, transaction_index
from kcheck.formats.producer_snapshot import Producer, ProducerSnapshot
from kcheck.formats.transaction_index import AbortedTxn

COUNT = 20_000
TRANSACTIONS = transaction_index.serialize([AbortedTxn(0, 1000, at, at, at) for at in range(COUNT)])
SNAPSHOT = producer_snapshot.serialize(
    ProducerSnapshot(1, [Producer(at, 0, 5, 10 * at, 0, 1_600_000_000_000, -1, -1) for at in range(COUNT)])
)
OFFSETS = offset_index.serialize(offset_index.OffsetIndex([(at, 4096 * at) for at in range(1, COUNT)]))
TIMES = time_index.serialize(time_index.TimeIndex([(1_600_000_000_000 + at, at) for at in range(1, COUNT)]))


@pytest.mark.parametrize(
    ("read", "data"),
    [
        (transaction_index.parse, TRANSACTIONS),
        (lambda data: transaction_index.broker_reads(data, release("4.3")), TRANSACTIONS),
        (producer_snapshot.parse, SNAPSHOT),
        (lambda data: producer_snapshot.broker_reads(data, release("4.3")), SNAPSHOT),
        (offset_index.parse, OFFSETS),
        (time_index.parse, TIMES),
    ],
)
def test_a_file_of_many_entries_takes_no_more_than_its_bytes(read: Callable[[bytes], object], data: bytes) -> None:
    read(data)
    tracemalloc.start()
    try:
        read(data)
        assert tracemalloc.get_traced_memory()[1] <= 1.5 * len(data)
    finally:
        tracemalloc.stop()


def test_entries_are_a_sequence() -> None:
    """Equal to any other one with the same entries, and small in a pickle as well."""
    found = transaction_index.parse(TRANSACTIONS).value
    assert (found[0], found[-1], len(found)) == (
        AbortedTxn(0, 1000, 0, 0, 0), AbortedTxn(0, 1000, COUNT - 1, COUNT - 1, COUNT - 1), COUNT,
    )  # fmt: skip
    assert found[1:3] == (AbortedTxn(0, 1000, 1, 1, 1), AbortedTxn(0, 1000, 2, 2, 2))
    assert found == tuple(found)
    assert found != found[1:]
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(IndexError):
        found[COUNT]
