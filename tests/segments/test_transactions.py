"""Which transactions a log aborts: found in the batches as the broker wrote it into its index."""

import struct
from pathlib import Path

import pytest

from kcheck.formats import transaction_index
from kcheck.model.segments import Aborted
from kcheck.model.source import BytesSource
from kcheck.segments import transactions
from kcheck.segments.header_columns import HeaderReader
from kcheck.segments.transactions import OpenTransactions, SegmentTransactions, continue_transactions
from tests.builders import Made, batch, log
from tests.test_brokers import BROKERS

INDEXES = sorted(BROKERS.glob("*/*/*/*/*/*.txnindex"))


def followed(*logs: bytes) -> list[tuple[Aborted, ...] | None]:
    """Return what each segment of a log aborts."""
    before: OpenTransactions | None = {}
    told: list[tuple[Aborted, ...] | None] = []
    for data in logs:
        following = SegmentTransactions()
        for columns in HeaderReader(BytesSource(data), verify=False):
            following.take(columns)
        before, found = continue_transactions(before, following.view())
        told.append(None if found is None else found.aborted)
    return told


@pytest.mark.parametrize("path", INDEXES, ids=lambda path: str(path.relative_to(BROKERS)))
def test_what_a_broker_wrote_is_found(path: Path) -> None:
    """Entry for entry, from the first segment on."""
    segments = sorted(path.parent.glob("*.log"))
    for segment, found in zip(segments, followed(*(segment.read_bytes() for segment in segments)), strict=True):
        index = segment.with_suffix(".txnindex")
        entries = transaction_index.parse(index.read_bytes()).value if index.exists() else ()
        assert found == tuple((entry.producer_id, entry.first_offset, entry.last_offset) for entry in entries)


def test_there_are_such_indexes() -> None:
    assert any(path.stat().st_size for path in INDEXES)


def of_producer(base: int, count: int, producer_id: int, *, marker: int | None = None) -> Made:
    """Return a batch of a transaction, or the marker that ends it; no CRC is asked for here."""
    record = struct.pack(">bbhbhhb", 32, 0, 0, 8, 0, 0 if marker is None else marker, 12) + bytes(7)
    made = batch(base, count, payload=record)
    data = bytearray(made.data)
    struct.pack_into(">h", data, 21, 0x10 if marker is None else 0x30)
    struct.pack_into(">q", data, 43, producer_id)
    return Made(data=bytes(data), base_offset=base, last_offset=made.last_offset)


def aborted(*made: Made) -> tuple[Aborted, ...] | None:
    """Return what these batches abort."""
    (found,) = followed(log(made))
    return found


def test_a_marker_ends_what_its_producer_began() -> None:
    """From its first batch after the marker before; commits are forgotten."""
    found = aborted(
        of_producer(0, 5, 7), of_producer(5, 5, 8), of_producer(10, 5, 7), of_producer(15, 1, 7, marker=0),
        of_producer(16, 1, 8, marker=1), of_producer(17, 1, 8), of_producer(18, 1, 8, marker=0),
        of_producer(19, 1, 9, marker=0),
    )  # fmt: skip
    assert (Aborted(7, 0, 15), Aborted(8, 17, 18), Aborted(9, None, 19)) == found


def test_a_transaction_goes_on_in_the_next_segment() -> None:
    """And over one that only goes on; a second marker there ends what began behind the first."""
    segments = (
        [of_producer(3, 5, 7), of_producer(8, 1, 9)],
        [of_producer(9, 2, 7)],
        [of_producer(11, 1, 7, marker=0), of_producer(12, 1, 9, marker=1)],
        [of_producer(13, 1, 9), of_producer(14, 1, 9, marker=0), of_producer(15, 1, 7, marker=0)],
    )
    expected = [(), (), (Aborted(7, 3, 11),), (Aborted(9, 13, 14), Aborted(7, None, 15))]
    assert expected == followed(*map(log, segments))


def test_a_batch_that_was_cleaned_empty_begins_nothing() -> None:
    data = bytearray(of_producer(0, 5, 7).data)
    struct.pack_into(">i", data, 57, 0)
    empty = Made(data=bytes(data), base_offset=0, last_offset=4)
    assert (Aborted(7, None, 5),) == aborted(empty, of_producer(5, 1, 7, marker=0))


def test_too_many_producers_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded, and nothing is said of what was not seen."""
    monkeypatch.setattr(transactions, "OPEN_COUNT_MAX", 3)
    begun = log(of_producer(n, 1, n) for n in range(5))
    assert [None, None] == followed(begun, of_producer(5, 1, 0, marker=0).data)


def test_too_many_that_stay_open_are_not_followed_from_there_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "OPEN_COUNT_MAX", 3)
    segments = (log(of_producer(n, 1, n) for n in range(begin, begin + 2)) for begin in (0, 2, 4))
    assert [(), (), None] == followed(*segments)
