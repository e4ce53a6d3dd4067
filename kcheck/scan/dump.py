"""`kcheck dump`: every batch header of a `.log`, every entry of an index or a producer snapshot, as rows."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from kcheck.core.releases import NEWEST_TESTED
from kcheck.disk.read import UnreadableError, opened
from kcheck.disk.walk import exists, split
from kcheck.errors import UsageError
from kcheck.formats import offset_index, producer_snapshot, record_batch, time_index, transaction_index
from kcheck.formats._contract import Format
from kcheck.formats._layout import Layout
from kcheck.formats.record_batch import HEADER, HEADER_SIZE_UP_TO_MAGIC, OVERHEAD, BatchHeader, header_of
from kcheck.formats.transaction_index import AbortedTxn
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Location
from kcheck.model.names import parse_file
from kcheck.model.report import Report, Row
from kcheck.model.segments import End
from kcheck.rules import kc001_unreadable
from kcheck.scan.entries import crc32c_of, entries, used_size
from kcheck.scan.look import format_of

INDEX_SIZE_MAX = 2**31 - 1
"""An index or a snapshot larger than this is not read: no broker can map it."""

DAMAGE_COUNT_MAX = 1000
"""So many places of one file are told; one more says that there are others."""

_OFFSETS = re.compile(r"(-?[0-9]{1,19})?(\.\.)?(-?[0-9]{1,19})?")


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


class Filter(NamedTuple):
    """Which rows are wanted; None is all. `offsets` are the first and the last, both wanted, None without a bound."""

    offsets: tuple[int | None, int | None] | None = None
    epoch: int | None = None
    producer_id: int | None = None
    only_damaged: bool = False

    def wants(self, row: Row, span: tuple[str, str]) -> bool:
        """Whether a row is wanted; `span` names the fields that hold its first and last offset."""
        if self.only_damaged and row["valid"] and _unknown(row) is None:
            return False
        if self.epoch is not None and row["leader_epoch"] != self.epoch:
            return False
        if self.producer_id is not None and row["producer_id"] != self.producer_id:
            return False
        if self.offsets is None:
            return True
        (least, most), last = self.offsets, row[span[1]]
        first = last if row[span[0]] is None else row[span[0]]
        assert isinstance(first, int)
        assert isinstance(last, int)
        return (least is None or last >= least) and (most is None or first <= most)


class Dump(NamedTuple):
    """A report, and the damage that is found while its body is read."""

    report: Report
    damage: list[Damage]


def parse_offsets(text: str) -> tuple[int | None, int | None]:
    """Return the bounds of `FROM..TO`, `FROM..`, `..TO` or one offset."""
    match = _OFFSETS.fullmatch(text)
    if match is None or not (match[1] or match[3]) or (match[2] is None and match[3]):
        raise UsageError(f"--offset {text} is no range of offsets: FROM..TO, FROM.., ..TO or one offset")
    first, last = (None if number is None else int(number) for number in (match[1], match[3]))
    return first, first if match[2] is None else last


def dump(paths: list[str], *, as_kind: str | None, wanted: Filter) -> Dump:
    """Return a report with a row for each file, which holds an iterator of its batches or entries and one of damage.

    Read them in this order: each file is open only until the next one is asked for.
    """
    kinds = {path: _kind_of(path, as_kind, wanted) for path in paths}
    collected: list[Finding] = []
    damage: list[Damage] = []
    known = {kind for kind in kinds.values() if kind is not None}
    table = next(iter(known)) if len(known) == 1 else None
    nothing = None if known else "files"
    report = Report(
        verb="dump",
        kafka=NEWEST_TESTED,
        body={"files": _files(paths, kinds, wanted, collected, damage)},
        collected=collected,
        table=nothing if table is None else f"files.{table.rows}",
        columns=("path", *(() if table is None else table.columns)),
        kinds={"files": "file", "batches": "batch", "entries": "entry", "damage": "damage"},
        checked=tuple(paths),
    )
    return Dump(report, damage)


def _kind_of(path: str, as_kind: str | None, wanted: Filter) -> "_Kind | None":
    """Return how a file is dumped, None where it cannot be opened; UsageError where it can never be."""
    if not exists(path):
        raise UsageError(f"{path}: no such file or directory")
    try:
        with opened(path, follow=True):
            pass
    except UnreadableError:
        return None
    name = format_of(path, as_kind).kind
    kind = _KINDS.get(name)
    if kind is None:
        raise UsageError(f"{path}: a {name} is not dumped: kcheck inspect shows it; dumped are {', '.join(_KINDS)}")
    for option, given in (("leader_epoch", wanted.epoch), ("producer_id", wanted.producer_id)):
        if given is not None and option not in kind.columns:
            names = {"leader_epoch": "--epoch", "producer_id": "--producer-id"}
            raise UsageError(f"{names[option]}: the rows of {path} have no {option.replace('_', ' ')}")
    return kind


def _files(
    paths: list[str],
    kinds: "Mapping[str, _Kind | None]",
    wanted: Filter,
    collected: list[Finding],
    damage: list[Damage],
) -> Iterator[Row]:
    for path in paths:
        try:
            with opened(path, follow=True) as (descriptor, size):
                kind = kinds[path]
                if kind is not None:
                    kind.accept(size)
                    file = _File(path, descriptor, size)
                    yield {
                        "kind": kind.format.kind,
                        "path": path,
                        "base_offset": file.base_offset,
                        "size": size,
                        **kind.head(file),
                        kind.rows: _rows(file, kind, wanted, collected),
                        "damage": file.damage_rows(),
                    }
                    damage.extend(file.damage)
        except UnreadableError as error:
            collected.append(kc001_unreadable.finding(Location(file=path), str(error)))


def _rows(file: "_File", kind: "_Kind", wanted: Filter, collected: list[Finding]) -> Iterator[Row]:
    try:
        for row in kind.read(file):
            if wanted.wants(row, kind.span):
                yield row
    except OSError as error:
        # The disk does not answer; `opened` is not told, because it waits in another generator.
        why = error.strerror or str(error)
        collected.append(kc001_unreadable.finding(Location(file=file.path), why))


class _File:
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


def _no_head(file: _File) -> Row:
    del file
    return {}


def _batches(file: _File) -> Iterator[Row]:
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
            unknown = _unknown(row)
            if unknown is not None:
                file.tell(position, size, unknown)
            yield row
    if reader.end is not End.WHOLE:
        left, why = file.size - reader.position, _why(file, reader.position, reader.end)
        file.tell(reader.position, left, f"{left} bytes are no batch: {why}", tail=True)


def _unknown(row: Row) -> str | None:
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


def _why(file: _File, position: int, end: End) -> str:
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
    file: _File, layout: Layout, end: int, problem: Callable[[int, tuple[int, ...], tuple[int, ...]], str | None]
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


def _room(layout: Layout) -> Callable[[_File], Row]:
    """Return what tells how many entries such an index has, and how many bytes of zeros a broker keeps behind them."""

    def head(file: _File) -> Row:
        used = used_size(file.descriptor, file.size, layout)
        return {"count": used // layout.size, "room": file.size - file.size % layout.size - used}

    return head


def _offset_index(file: _File) -> Iterator[Row]:
    layout, base = offset_index.OFFSET_INDEX_ENTRY, file.base_offset or 0
    end = used_size(file.descriptor, file.size, layout)
    for number, (offset, position), valid in _entries(file, layout, end, offset_index.problem):
        yield {"entry": number, "offset": base + offset, "position": position, "valid": valid}


def _time_index(file: _File) -> Iterator[Row]:
    layout, base = time_index.TIME_INDEX_ENTRY, file.base_offset or 0
    end = used_size(file.descriptor, file.size, layout)
    for number, (timestamp, offset), valid in _entries(file, layout, end, time_index.problem):
        yield {"entry": number, "timestamp": timestamp, "offset": base + offset, "valid": valid}


def _transaction_index(file: _File) -> Iterator[Row]:
    layout = transaction_index.ABORTED_TXN
    for number, fields, valid in _entries(file, layout, file.size, transaction_index.problem):
        yield {"entry": number, **AbortedTxn._make(fields)._asdict(), "valid": valid}


def _snapshot_head(file: _File) -> Row:
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


def _producers(file: _File) -> Iterator[Row]:
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


class _Kind(NamedTuple):
    """How files of a format are dumped: `rows` is their name in the document, `span` the fields with their offsets."""

    format: Format
    rows: str
    columns: tuple[str, ...]
    span: tuple[str, str]
    head: Callable[[_File], Row]
    read: Callable[[_File], Iterator[Row]]

    def accept(self, size: int) -> None:
        """Raise UnreadableError for an index that is too large; a log is read in windows, whatever its size."""
        if self.rows == "entries" and size > INDEX_SIZE_MAX:
            raise UnreadableError(f"{size} bytes are too many for a file of this kind")


_NO_BATCH = BatchHeader(0, None, Offset(0), None, None, None, None, None, None, 0, None, None, 0)

_KINDS = {
    kind.format.kind: kind
    for kind in (
        _Kind(
            record_batch.FORMAT,
            "batches",
            tuple(_batch_row(0, 0, _NO_BATCH, valid=True)),
            ("base_offset", "last_offset"),
            _no_head,
            _batches,
        ),
        _Kind(
            offset_index.FORMAT,
            "entries",
            ("entry", "offset", "position", "valid"),
            ("offset", "offset"),
            _room(offset_index.OFFSET_INDEX_ENTRY),
            _offset_index,
        ),
        _Kind(
            time_index.FORMAT,
            "entries",
            ("entry", "timestamp", "offset", "valid"),
            ("offset", "offset"),
            _room(time_index.TIME_INDEX_ENTRY),
            _time_index,
        ),
        _Kind(
            transaction_index.FORMAT,
            "entries",
            ("entry", *AbortedTxn._fields, "valid"),
            ("first_offset", "last_offset"),
            _no_head,
            _transaction_index,
        ),
        _Kind(
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
