"""Aborted transactions that readers do not find in the transaction index of their segment, for a few batches.

A read_committed fetch takes them from the `.txnindex` alone (LogSegment.collectAbortedTxns, TransactionIndex 0.11 to
4.3.1). A broker that stopped cleanly does not read the batches again. `indexes` checks all of an index, for the rules.
"""

from collections.abc import Iterator, Sequence

from kcheck.formats.transaction_index import ABORTED_TXN, entries
from kcheck.model.entries import Batch, Offset
from kcheck.model.names import segment_prefix
from kcheck.model.segments import Aborted, unlisted
from kcheck.model.source import Files, Source
from kcheck.model.unreadable import UnreadableError
from kcheck.records.batch import CONTROL, HEADER, TRANSACTIONAL, header_of, is_modern
from kcheck.records.control_record import ABORT, parse
from kcheck.records.record import Record, read_records

_MARKER_SIZE_MAX = 1024


class AbortedLookups:
    """The transactions of a log, segment by segment."""

    def __init__(self) -> None:
        """Begin without an open transaction."""
        self._open: dict[int, Offset] = {}

    def unlisted(
        self, files: Files, source: Source, base: Offset, batches: Sequence[Batch]
    ) -> list[tuple[Offset, Offset]]:
        """Return the offsets `[first, end)` of the aborted transactions that the index of a segment does not list.

        `source` is the `.log`, `batches` are all of it. Where the first record was removed, nothing is expected.
        """
        aborted = [*self._aborted(source, batches)]
        stated = _stated(files, base) if aborted else {}
        return [
            (row.first_offset, Offset(row.last_offset + 1))
            for row in unlisted(aborted, stated)
            if row.first_offset is not None
        ]

    def _aborted(self, source: Source, batches: Sequence[Batch]) -> Iterator[Aborted]:
        """Yield each transaction that a segment ends with ABORT, if its first record is there."""
        for batch in batches:
            if not is_modern(batch.magic) or not batch.attributes & TRANSACTIONAL:
                continue
            producer_id = header_of(source.pread(HEADER.size, batch.position), total=batch.size).producer_id
            assert producer_id is not None
            if not batch.attributes & CONTROL:
                if batch.record_count:
                    self._open.setdefault(producer_id, batch.base_offset)
                continue
            first = self._open.pop(producer_id, None)
            if first is not None and _aborts(source, batch):
                yield Aborted(producer_id, first, batch.base_offset)


def _aborts(source: Source, batch: Batch) -> bool:
    data = source.pread(min(batch.size, _MARKER_SIZE_MAX), batch.position)
    record = next(iter(read_records(data, _MARKER_SIZE_MAX)), None)
    return isinstance(record, Record) and parse(record.key, record.value).type == ABORT


def _stated(files: Files, base: Offset) -> dict[tuple[int, int], int]:
    """Return the first offset of each entry, by its producer id and last offset; nothing without a readable file."""
    try:
        with files.open(f"{segment_prefix(base)}.txnindex") as index:
            data = index.pread(index.size // ABORTED_TXN.size * ABORTED_TXN.size, 0)
    except UnreadableError:
        return {}
    return {(entry.producer_id, entry.last_offset): entry.first_offset for entry in entries(data)}
