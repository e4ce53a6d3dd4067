"""The rows of `kcheck dump`: which reader each kind of file has."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from kcheck.disk.paths import split
from kcheck.dumps.entries import crc32c_of, entries, used_size
from kcheck.dumps.filter import BATCH_SPAN
from kcheck.dumps.open_file import File
from kcheck.formats import (
    Format,
    metadata_snapshot,
    offset_index,
    producer_snapshot,
    segment,
    time_index,
    transaction_index,
)
from kcheck.formats.transaction_index import AbortedTxn
from kcheck.model.names import parse_metadata_snapshot
from kcheck.model.report import Row
from kcheck.model.unreadable import too_large
from kcheck.records.layout import Layout
from kcheck.tables import (
    Table,
    batches,
    offset_index_entries,
    producer_snapshot_entries,
    time_index_entries,
    transaction_index_entries,
)

INDEX_SIZE_MAX = 2**31 - 1
"""Maximum size of an index or snapshot, because a broker cannot map a larger one."""


def _no_head(file: File) -> Row:
    del file
    return {}


def _metadata_head(file: File) -> Row:
    """Return the end offset and epoch in the name of a KRaft snapshot."""
    end, epoch = parse_metadata_snapshot(split(file.path)[1]) or (None, None)
    return {"end_offset": end, "epoch": epoch}


def _entries(
    file: File, layout: Layout, end: int, problem: Callable[[int, tuple[int, ...], tuple[int, ...]], str | None]
) -> Iterator[tuple[int, tuple[int, ...], bool]]:
    """Yield (number, fields, is valid) for each entry of an index; report invalid ones."""
    before: tuple[int, ...] | None = None
    for number, fields in enumerate(entries(file.source, 0, end, layout)):
        message = problem(number, fields if before is None else before, fields)
        if message is not None:
            file.tell(number * layout.size, layout.size, message)
        yield number, fields, message is None
        before = fields
    torn = file.size % layout.size
    if torn:
        file.tell(file.size - torn, torn, f"{torn} bytes after the last complete entry", tail=True)


def _room(layout: Layout) -> Callable[[File], Row]:
    """Return a function that gives the number of entries of an index, and the bytes of zeros after them."""

    def head(file: File) -> Row:
        used = used_size(file.source, file.size, layout)
        return {"count": used // layout.size, "room": file.size - file.size % layout.size - used}

    return head


def _offset_index(file: File) -> Iterator[Row]:
    layout, base = offset_index.OFFSET_INDEX_ENTRY, file.base_offset or 0
    end = used_size(file.source, file.size, layout)
    for number, (offset, position), valid in _entries(file, layout, end, offset_index.problem):
        yield {"entry": number, "offset": base + offset, "position": position, "valid": valid}


def _time_index(file: File) -> Iterator[Row]:
    layout, base = time_index.TIME_INDEX_ENTRY, file.base_offset or 0
    end = used_size(file.source, file.size, layout)
    for number, (timestamp, offset), valid in _entries(file, layout, end, time_index.problem):
        yield {"entry": number, "timestamp": timestamp, "offset": base + offset, "valid": valid}


def _transaction_index(file: File) -> Iterator[Row]:
    layout = transaction_index.ABORTED_TXN
    for number, fields, valid in _entries(file, layout, file.size, transaction_index.problem):
        yield {"entry": number, **AbortedTxn._make(fields)._asdict(), "valid": valid}


def _snapshot_head(file: File) -> Row:
    """Return the header, and whether the broker accepts the file; report why not."""
    layout, covered = producer_snapshot.SNAPSHOT_HEADER, producer_snapshot.CRC_FROM
    head = file.source.pread(layout.size, 0)
    crc = crc32c_of(file.source, covered, file.size)
    size = file.size if len(head) == layout.size else len(head)
    for position, message in producer_snapshot.problems(head, size, crc):
        file.tell(position, file.size - position, message)
    if len(head) < layout.size:
        return {"version": None, "crc": None, "count": None, "valid": False}
    version, named, count = layout.unpack_from(head)
    known = version == producer_snapshot.VERSION and named == crc
    file.taken = known and layout.size + max(count, 0) * producer_snapshot.PRODUCER.size <= file.size and count >= 0
    return {"version": version, "crc": named, "count": count, "valid": file.taken}


def _producers(file: File) -> Iterator[Row]:
    header, layout = producer_snapshot.SNAPSHOT_HEADER, producer_snapshot.PRODUCER
    head = file.source.pread(header.size, 0)
    if len(head) < header.size:
        return
    count = max(header.unpack_from(head)[2], 0)
    end = min(file.size, header.size + count * layout.size)
    for number, fields in enumerate(entries(file.source, header.size, end, layout)):
        producer = producer_snapshot.Producer._make(fields)
        known = producer._asdict()
        yield {
            "entry": number,
            "producer_id": known.pop("producer_id"),
            "producer_epoch": known.pop("producer_epoch"),
            "first_sequence": producer.first_sequence,
            **known,
            "valid": file.taken,
        }


class DumpKind(NamedTuple):
    """The reader for a format; `rows` is the name of its rows in the document.

    `span` are the fields with their offsets. `read` yields the rows of entries; None for a log of batches.
    """

    format: Format
    rows: str
    table: Table
    span: tuple[str, str]
    head: Callable[[File], Row]
    read: Callable[[File], Iterator[Row]] | None

    def accept(self, size: int) -> None:
        """Raise UnreadableError for an index that is too large; a log of any size is read in windows."""
        if self.rows == "entries" and size > INDEX_SIZE_MAX:
            raise too_large(size)


KINDS = {
    kind.format.kind: kind
    for kind in (
        DumpKind(segment.FORMAT, "batches", batches.TABLE, BATCH_SPAN, _no_head, None),
        DumpKind(metadata_snapshot.FORMAT, "batches", batches.TABLE, BATCH_SPAN, _metadata_head, None),
        DumpKind(
            offset_index.FORMAT,
            "entries",
            offset_index_entries.TABLE,
            ("offset", "offset"),
            _room(offset_index.OFFSET_INDEX_ENTRY),
            _offset_index,
        ),
        DumpKind(
            time_index.FORMAT,
            "entries",
            time_index_entries.TABLE,
            ("offset", "offset"),
            _room(time_index.TIME_INDEX_ENTRY),
            _time_index,
        ),
        DumpKind(
            transaction_index.FORMAT,
            "entries",
            transaction_index_entries.TABLE,
            ("first_offset", "last_offset"),
            _no_head,
            _transaction_index,
        ),
        DumpKind(
            producer_snapshot.FORMAT,
            "entries",
            producer_snapshot_entries.TABLE,
            ("last_offset", "last_offset"),
            _snapshot_head,
            _producers,
        ),
    )
}  # fmt: skip
