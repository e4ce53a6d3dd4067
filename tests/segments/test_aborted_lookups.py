"""Aborted transactions that readers do not find: brokers wrote an entry for each into their index."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from kcheck.formats import transaction_index
from kcheck.formats.transaction_index import AbortedTxn
from kcheck.model.entries import Offset
from kcheck.model.source import BytesSource
from kcheck.segments.aborted_lookups import AbortedLookups
from kcheck.segments.batch_faults import LoadedSegment, batch_faults
from kcheck.segments.batches import Walk
from tests.builders import BytesFiles, Made, batch, log
from tests.segments.test_transactions import INDEXES, of_producer
from tests.test_brokers import BROKERS

NAME = f"{0:020}.txnindex"
BEGUN, ABORTED, COMMITTED = of_producer(3, 2, 9), of_producer(5, 1, 9, marker=0), of_producer(5, 1, 9, marker=1)


def unlisted(*made: Made, entries: tuple[AbortedTxn, ...] | None = ()) -> list[tuple[int, int]]:
    """Return what a segment from offset 0 with these entries hides; None: without an index."""
    source = BytesSource(log(made))
    files = BytesFiles({} if entries is None else {NAME: transaction_index.serialize(entries)})
    return [*AbortedLookups().unlisted(files, source, Offset(0), [*Walk(source)])]


def of_broker(directory: Path, without: str = "") -> list[tuple[int, int]]:
    """Return what the whole log of a broker hides, without the files of one ending."""
    files = BytesFiles({path.name: path.read_bytes() for path in directory.iterdir() if path.suffix != without})
    segments = [LoadedSegment(Offset(int(path.stem)), path.name, 1 << 30) for path in sorted(directory.glob("*.log"))]
    return [*batch_faults(files, segments, Offset(0), Offset(1 << 40), lambda _: True).unlisted]


@pytest.mark.parametrize("directory", sorted({path.parent for path in INDEXES if path.stat().st_size}), ids=str)
def test_the_logs_of_brokers(directory: Path) -> None:
    """Nothing is hidden; without the indexes all that they listed is."""
    assert BROKERS in directory.parents
    assert of_broker(directory) == []
    indexes = (transaction_index.parse(path.read_bytes()).value for path in sorted(directory.glob("*.txnindex")))
    stated = [(entry.first_offset, entry.last_offset + 1) for entries in indexes for entry in entries]
    assert of_broker(directory, ".txnindex") == stated


def test_entries() -> None:
    """One that begins too late hides what is before it; a commit needs none, nor a marker without its records."""
    entry = AbortedTxn(0, 9, 3, 5, 3)
    hidden = [(3, 6)]
    answers: Mapping[tuple[AbortedTxn, ...] | None, list[tuple[int, int]]] = {
        (entry,): [], (): hidden, None: hidden, (entry._replace(first_offset=4),): hidden,
        (entry._replace(producer_id=8),): hidden, (entry._replace(last_offset=4),): hidden,
    }  # fmt: skip
    for entries, expected in answers.items():
        assert unlisted(batch(0, 3), BEGUN, ABORTED, entries=entries) == expected
    assert unlisted(BEGUN, COMMITTED) == []
    assert unlisted(ABORTED) == []
    assert unlisted(BEGUN, COMMITTED, of_producer(6, 1, 9), of_producer(7, 1, 9, marker=0)) == [(6, 8)]


def test_a_transaction_of_two_segments() -> None:
    """The entry is in the index of the segment with the marker."""
    transactions, files = AbortedLookups(), BytesFiles({})
    first, second = (BytesSource(log([made])) for made in (BEGUN, ABORTED))
    assert [*transactions.unlisted(files, first, Offset(0), [*Walk(first)])] == []
    assert [*transactions.unlisted(files, second, Offset(5), [*Walk(second)])] == [(3, 6)]


def test_batches_that_open_none() -> None:
    """A log cleaner leaves empty ones."""
    assert unlisted(of_producer(3, 0, 9), ABORTED) == []
