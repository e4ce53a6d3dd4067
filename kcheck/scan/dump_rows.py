"""The rows of `kcheck dump`: how the batches of a `.log` and the entries of an index or a snapshot are read."""

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from kcheck.disk.read import UnreadableError
from kcheck.disk.walk import split
from kcheck.formats import offset_index, producer_snapshot, record_batch, time_index, transaction_index
from kcheck.formats._contract import Format
from kcheck.formats._layout import Layout
from kcheck.formats.record_batch import HEADER, HEADER_SIZE_UP_TO_MAGIC, OVERHEAD, BatchHeader, header_of
from kcheck.formats.transaction_index import AbortedTxn
from kcheck.model.entries import Offset
from kcheck.model.names import parse_file
from kcheck.model.report import Row
from kcheck.model.segments import End
from kcheck.scan.entries import crc32c_of, entries, used_size

INDEX_SIZE_MAX = 2**31 - 1
"""An index or a snapshot larger than this is not read: no broker can map it."""

DAMAGE_COUNT_MAX = 1000
"""So many places of one file are told; one more says that there are others."""


class Damage(NamedTuple):
    """`size` bytes at a position of a file that are not what a broker writes; `tail` where valid data ends there."""

    path: str
    position: int
    size: int
    message: str
    tail: bool

    def row(self) -> Row:
        """Return the fields of JSON."""
        return {name: value for name, value in self._asdict().items() if name != "path"}

    def __str__(self) -> str:
        """Return `FILE: position 61: ...`."""
        return f"{self.path}: position {self.position}: {self.message}"


class File:
    """An open file, and what is found to be wrong in it."""

    def __init__(self, path: str, descriptor: int, size: int) -> None:
        self.path = path
        self.descriptor = descriptor
        self.size = size
        self.base_offset = parse_file(split(path)[1]).offset
        self.damage: list[Damage] = []
        self.taken = False
        """Whether the broker takes a producer snapshot."""

    def tell(self, position: int, size: int, message: str, *, tail: bool = False) -> None:
        """Keep damage; the end of valid data is told whatever stands before."""
        if tail or len(self.damage) < DAMAGE_COUNT_MAX:
            self.damage.append(Damage(self.path, position, size, message, tail))
        elif len(self.damage) == DAMAGE_COUNT_MAX:
            message = "more damage from here on"
            self.damage.append(Damage(self.path, position, self.size - position, message, tail=False))

    def damage_rows(self) -> Iterator[Row]:
        """Yield what is wrong, when the rows have been read."""
        yield from (damage.row() for damage in self.damage)


def _no_head(file: File) -> Row:
    del file
    return {}


def _batches(file: File) -> Iterator[Row]:
    from kcheck.scan.columns import Reader  # numpy: only where a log is read

    reader = Reader(file.descriptor, file.size, verify=True)
    for columns in reader:
        assert columns.valid is not None
        places = zip(columns.position.tolist(), columns.size.tolist(), columns.valid.tolist(), strict=True)
        for position, size, valid in places:
            data = os.pread(file.descriptor, min(HEADER.size, size), position)
            if len(data) < min(HEADER.size, size):
                file.tell(position, file.size - position, "the file has become shorter", tail=True)
                return
            header = header_of(data, total=size)
            if not valid:
                offset = header.last_offset if header.base_offset is None else header.base_offset
                file.tell(position, size, f"the CRC of the batch at offset {offset} does not match")
            row = _batch_row(position, size, header, valid=valid)
            message = unknown(row)
            if message is not None:
                file.tell(position, size, message)
            yield row
    if reader.end is not End.WHOLE:
        left, why = file.size - reader.position, _why(file, reader.position, reader.end)
        file.tell(reader.position, left, f"{left} bytes are no batch: {why}", tail=True)


def unknown(row: Row) -> str | None:
    """Return what no release knows of a batch, None for an entry of an index."""
    magic, compression = row.get("magic", 2), str(row.get("compression", "none"))
    if magic not in (0, 1, 2):
        return f"magic {magic} is not known"
    if compression not in record_batch.COMPRESSION:
        return f"the compression {compression.removeprefix('unknown-')} is not known"
    return None


def _batch_row(position: int, size: int, header: BatchHeader, *, valid: bool) -> Row:
    return {
        "position": position,
        "size": size,
        "magic": header.magic,
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "count": header.record_count,
        "base_sequence": header.base_sequence,
        "last_sequence": header.last_sequence,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "leader_epoch": header.leader_epoch,
        "transactional": header.transactional,
        "control": header.control,
        "delete_horizon_ms": header.delete_horizon_ms,
        "timestamp_type": header.timestamp_type,
        "max_timestamp": header.max_timestamp,
        "compression": header.compression,
        "crc": header.crc,
        "valid": valid,
    }


def _why(file: File, position: int, end: End) -> str:
    """Return why valid data ends where it does."""
    if end is End.SHRUNK:
        return "the file has become shorter"
    if file.size - position <= HEADER_SIZE_UP_TO_MAGIC:
        return f"an entry has more than {HEADER_SIZE_UP_TO_MAGIC}"
    data = os.pread(file.descriptor, OVERHEAD.size, position)
    if len(data) < OVERHEAD.size:
        return "the file has become shorter"
    size = OVERHEAD.unpack_from(data)[1]
    if end is End.TORN:
        return f"the entry there would have {size + OVERHEAD.size}"
    return f"the size {size} of the entry there is too small for a batch"


def _entries(
    file: File, layout: Layout, end: int, problem: Callable[[int, tuple[int, ...], tuple[int, ...]], str | None]
) -> Iterator[tuple[int, tuple[int, ...], bool]]:
    """Yield (number, fields, whether they are what they must be) of each entry of an index; tell what is not."""
    before: tuple[int, ...] | None = None
    for number, fields in enumerate(entries(file.descriptor, 0, end, layout)):
        message = problem(number, fields if before is None else before, fields)
        if message is not None:
            file.tell(number * layout.size, layout.size, message)
        yield number, fields, message is None
        before = fields
    torn = file.size % layout.size
    if torn:
        file.tell(file.size - torn, torn, f"{torn} bytes after the last whole entry", tail=True)


def _room(layout: Layout) -> Callable[[File], Row]:
    """Return what tells how many entries such an index has, and how many bytes of zeros a broker keeps behind them."""

    def head(file: File) -> Row:
        used = used_size(file.descriptor, file.size, layout)
        return {"count": used // layout.size, "room": file.size - file.size % layout.size - used}

    return head


def _offset_index(file: File) -> Iterator[Row]:
    layout, base = offset_index.OFFSET_INDEX_ENTRY, file.base_offset or 0
    end = used_size(file.descriptor, file.size, layout)
    for number, (offset, position), valid in _entries(file, layout, end, offset_index.problem):
        yield {"entry": number, "offset": base + offset, "position": position, "valid": valid}


def _time_index(file: File) -> Iterator[Row]:
    layout, base = time_index.TIME_INDEX_ENTRY, file.base_offset or 0
    end = used_size(file.descriptor, file.size, layout)
    for number, (timestamp, offset), valid in _entries(file, layout, end, time_index.problem):
        yield {"entry": number, "timestamp": timestamp, "offset": base + offset, "valid": valid}


def _transaction_index(file: File) -> Iterator[Row]:
    layout = transaction_index.ABORTED_TXN
    for number, fields, valid in _entries(file, layout, file.size, transaction_index.problem):
        yield {"entry": number, **AbortedTxn._make(fields)._asdict(), "valid": valid}


def _snapshot_head(file: File) -> Row:
    """Return the header, and whether the broker takes the file; tell why not."""
    layout, covered = producer_snapshot.SNAPSHOT_HEADER, producer_snapshot.CRC_FROM
    head = os.pread(file.descriptor, layout.size, 0)
    crc = crc32c_of(file.descriptor, covered, file.size)
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
    head = os.pread(file.descriptor, header.size, 0)
    if len(head) < header.size:
        return
    count = max(header.unpack_from(head)[2], 0)
    end = min(file.size, header.size + count * layout.size)
    for number, fields in enumerate(entries(file.descriptor, header.size, end, layout)):
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


class Kind(NamedTuple):
    """How files of a format are dumped: `rows` is their name in the document, `span` the fields with their offsets."""

    format: Format
    rows: str
    columns: tuple[str, ...]
    span: tuple[str, str]
    head: Callable[[File], Row]
    read: Callable[[File], Iterator[Row]]

    def accept(self, size: int) -> None:
        """Raise UnreadableError for an index that is too large; a log is read in windows, whatever its size."""
        if self.rows == "entries" and size > INDEX_SIZE_MAX:
            raise UnreadableError(f"{size} bytes are too many for a file of this kind")


_NO_BATCH = BatchHeader(0, None, Offset(0), None, None, None, None, None, None, 0, None, None, 0)

KINDS = {
    kind.format.kind: kind
    for kind in (
        Kind(
            record_batch.FORMAT,
            "batches",
            tuple(_batch_row(0, 0, _NO_BATCH, valid=True)),
            ("base_offset", "last_offset"),
            _no_head,
            _batches,
        ),
        Kind(
            offset_index.FORMAT,
            "entries",
            ("entry", "offset", "position", "valid"),
            ("offset", "offset"),
            _room(offset_index.OFFSET_INDEX_ENTRY),
            _offset_index,
        ),
        Kind(
            time_index.FORMAT,
            "entries",
            ("entry", "timestamp", "offset", "valid"),
            ("offset", "offset"),
            _room(time_index.TIME_INDEX_ENTRY),
            _time_index,
        ),
        Kind(
            transaction_index.FORMAT,
            "entries",
            ("entry", *AbortedTxn._fields, "valid"),
            ("first_offset", "last_offset"),
            _no_head,
            _transaction_index,
        ),
        Kind(
            producer_snapshot.FORMAT,
            "entries",
            (
                "entry", "producer_id", "producer_epoch", "first_sequence", "last_sequence", "last_offset",
                "offset_delta", "timestamp", "coordinator_epoch", "current_txn_first_offset", "valid",
            ),
            ("last_offset", "last_offset"),
            _snapshot_head,
            _producers,
        ),
    )
}  # fmt: skip
