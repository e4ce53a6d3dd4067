"""The rows of the batches of a `.log` for `kcheck dump`, many at a time as columns."""

from collections.abc import Iterator
from itertools import compress, pairwise
from typing import Any, NamedTuple

import numpy as np

from kcheck.dumps.batch_columns import batch_block, record_parts
from kcheck.dumps.filter import BATCH_SPAN, DumpDetail, DumpRow, Filter
from kcheck.dumps.open_file import File
from kcheck.dumps.records import first_known, has_damage, record_rows
from kcheck.model.report import Block, Row
from kcheck.model.segments import End
from kcheck.records.batch import (
    CODEC_MASK,
    COMPRESSION,
    HEADER,
    HEADER_SIZE_UP_TO_MAGIC,
    OVERHEAD,
    BatchHeader,
    header_of,
)
from kcheck.segments.header_columns import HeaderColumns, HeaderReader, Mask

_BATCH_COUNT = 8192
"""Number of batches held as rows at a time."""
_ALL = Filter()


def batch_blocks(file: File, wanted: Filter, shown: DumpDetail) -> Iterator[Block]:
    """Yield the rows of selected batches; report the defects of all batches.

    Records are read lazily, and only in selected batches; with --only-damaged, in all.
    """
    reader = HeaderReader(file.source, file.size, verify=True)
    least: int | None = file.base_offset
    for columns in reader:
        start = int(columns.position[0])
        for run, damaged in _runs(columns):
            block = batch_block(run) if run.magic[0] >= 2 else _old_block(run, reader.window, start)
            if damaged:
                _tell(file, next(block.rows()))
            batches = _BatchWindow(run, block, reader.window, start)
            if wanted != _ALL:
                batches = _those(batches, _kept(file, block, least, wanted, shown, damaged=damaged))
                least = int(run.last_offset[-1]) + 1
            if batches.columns.position.size:
                yield from _with_records(file, batches, wanted, shown) if shown.records else [batches.block]
    if reader.end is not End.WHOLE:
        left, why = file.size - reader.position, _why(file, reader.position, reader.end)
        file.tell(reader.position, left, f"no valid batch in the last {left} bytes: {why}", tail=True)


class _BatchWindow(NamedTuple):
    """Batches as columns and as rows, and the window of bytes with them, which begins at position `start`."""

    columns: HeaderColumns
    block: Block
    window: bytearray
    start: int


def _runs(columns: HeaderColumns) -> Iterator[tuple[HeaderColumns, bool]]:
    """Yield runs of batches of one kind. A corrupt batch is a run of its own, so that defects come in order."""
    assert columns.valid is not None
    old = columns.magic < 2
    damaged = ~columns.valid | (columns.magic < 0) | (columns.magic > 2)
    damaged |= columns.attributes & CODEC_MASK >= len(COMPRESSION)
    cut = damaged.copy()
    cut[1:] |= damaged[:-1] | (old[1:] != old[:-1])
    cut[::_BATCH_COUNT] = True
    for begin, end in pairwise([*np.flatnonzero(cut).tolist(), cut.size]):
        yield _some(columns, slice(begin, end)), bool(damaged[begin])


def _some(columns: HeaderColumns, which: Mask | slice) -> HeaderColumns:
    return HeaderColumns._make(None if column is None else column[which] for column in columns)


def _tell(file: File, row: Row) -> None:
    """Report the defect of a batch, from its row."""
    position, size, magic, compression = (row[name] for name in ("position", "size", "magic", "compression"))
    assert isinstance(position, int)
    assert isinstance(size, int)
    if not row["valid"]:
        file.tell(position, size, f"the CRC of the batch at offset {first_known(row)} does not match")
    if magic not in (0, 1, 2):
        file.tell(position, size, f"unknown magic {magic}")
    elif compression not in COMPRESSION:
        file.tell(position, size, f"unknown compression {str(compression).removeprefix('unknown-')}")


def _kept(
    file: File, block: Block, least: int | None, wanted: Filter, shown: DumpDetail, *, damaged: bool
) -> list[bool]:
    """Return which batches are selected; with --records, a batch with a corrupt record counts as corrupt."""
    keep = []
    lasts: Any = block.columns["last_offset"]
    for row, last in zip(block.rows(), lasts, strict=True):
        hurt = damaged or (shown.records and wanted.only_damaged and has_damage(file, row))
        keep.append(wanted.wants(DumpRow(row, hurt, least), BATCH_SPAN))
        least = last + 1
    return keep


def _those(batches: _BatchWindow, keep: list[bool]) -> _BatchWindow:
    rows = {name: tuple(compress(column, keep)) for name, column in batches.block.columns.items()}
    return batches._replace(columns=_some(batches.columns, np.array(keep)), block=Block(rows))


def _with_records(file: File, batches: _BatchWindow, wanted: Filter, shown: DumpDetail) -> Iterator[Block]:
    """Yield the rows with their records."""
    columns, block = batches.columns, batches.block
    plain = columns.magic[0] >= 2 and wanted.offsets is None and wanted.times is None
    begin = 0
    while begin < block.length:
        rest = _some(columns, slice(begin, None))
        parts = record_parts(rest, batches.window, batches.start, shown) if plain else [None] * (block.length - begin)
        some = Block({name: column[begin : begin + len(parts)] for name, column in block.columns.items()})
        records: list[Iterator[Row]] = [
            record_rows(file, some.row(number), wanted, shown) if part is None else part
            for number, part in enumerate(parts)
        ]
        yield Block({**some.columns, "records": records})
        begin += len(parts)


def _old_block(run: HeaderColumns, window: bytearray, start: int) -> Block:
    """Return the rows of messages of magic 0 and 1. The window has all their bytes, as no CRC is chained."""
    assert run.valid is not None
    rows = []
    for position, size, valid in zip(run.position.tolist(), run.size.tolist(), run.valid.tolist(), strict=True):
        at = position - start
        header = header_of(memoryview(window)[at : at + HEADER.size], total=size)
        rows.append(_old_row(position, size, header, valid=valid))
    return Block({name: tuple(row[name] for row in rows) for name in rows[0]})


def _old_row(position: int, size: int, header: BatchHeader, *, valid: bool) -> Row:
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
        "base_timestamp": header.base_timestamp,
        "max_timestamp": header.max_timestamp,
        "compression": header.compression,
        "crc": header.crc,
        "valid": valid,
    }


def _why(file: File, position: int, end: End) -> str:
    """Return why valid data ends at a position."""
    if end is End.SHRUNK:
        return "the file was truncated while kcheck read it"
    if file.size - position <= HEADER_SIZE_UP_TO_MAGIC:
        return f"a batch is larger than {HEADER_SIZE_UP_TO_MAGIC} bytes"
    data = file.source.pread(OVERHEAD.size, position)
    if len(data) < OVERHEAD.size:
        return "the file was truncated while kcheck read it"
    size = OVERHEAD.unpack_from(data)[1]
    if end is End.TORN:
        return f"the batch is incomplete, its header states {size + OVERHEAD.size} bytes"
    return f"size field {size} is too small for a batch"
