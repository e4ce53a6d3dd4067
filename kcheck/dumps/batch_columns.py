"""Headers and records of many batches as columns of rows, for the fast path of `kcheck dump`."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from kcheck.dumps.filter import DumpDetail
from kcheck.dumps.records import DECODED_COLUMNS, header_names, header_rows, problem_of, texts
from kcheck.model.java import INT_MAX
from kcheck.model.report import Block, Rows, RowSlice
from kcheck.records.batch import (
    CODEC_MASK,
    CODEC_NAMES,
    CONTROL,
    DELETE_HORIZON,
    HEADER,
    LOG_APPEND_TIME,
    NO_SEQUENCE,
    TRANSACTIONAL,
)
from kcheck.records.compression import decompress
from kcheck.records.decompressed import Decompressed
from kcheck.records.record import headers_at
from kcheck.segments.header_columns import PADDING, Array, HeaderColumns, Mask
from kcheck.segments.record_columns import BatchBodies, Buffer, RecordFields, decode_fields, record_positions

RECORD_COUNT = 1 << 15
"""Maximum number of records held at a time (by their headers' count), plus one batch."""
_POOL_SIZE = 4 << 20
"""Maximum bytes decompressed at a time, plus one batch."""
_UNPACKED_SIZE_MAX = 16 << 20
"""Maximum decompressed size of a batch here; a larger one is read record by record."""
_DECODED_SIZE = 64 << 10
"""Maximum bytes of records decoded at a time, plus one batch. Decoding may take a hundred times as much memory.

A larger or compressed batch is read record by record.
"""
_TIMESTAMP_TYPES = ("CreateTime", "LogAppendTime")


def batch_block(columns: HeaderColumns) -> Block:
    """Return the rows of batches of magic 2 and up."""
    assert columns.valid is not None
    flags, sequence = columns.attributes, columns.base_sequence.astype(np.int64)
    behind = _incremented(sequence, columns.last_offset - columns.base_offset)
    return Block(
        {
            "position": _values(columns.position),
            "size": _values(columns.size),
            "magic": _values(columns.magic),
            "base_offset": _values(columns.base_offset),
            "last_offset": _values(columns.last_offset),
            "count": _values(columns.record_count),
            "base_sequence": _values(sequence),
            "last_sequence": _values(np.where(sequence == NO_SEQUENCE, NO_SEQUENCE, behind)),
            "producer_id": _values(columns.producer_id),
            "producer_epoch": _values(columns.producer_epoch),
            "leader_epoch": _values(columns.epoch),
            "transactional": _values(flags & TRANSACTIONAL != 0),
            "control": _values(flags & CONTROL != 0),
            "delete_horizon_ms": _known(columns.base_timestamp, flags & DELETE_HORIZON != 0),
            "timestamp_type": _words(_appended(columns), _TIMESTAMP_TYPES),
            "base_timestamp": _values(columns.base_timestamp),
            "max_timestamp": _values(columns.max_timestamp),
            "compression": _words(flags & CODEC_MASK, CODEC_NAMES),
            "crc": _values(columns.crc),
            "valid": _values(columns.valid),
        }
    )


def record_parts(columns: HeaderColumns, window: bytearray, start: int, shown: DumpDetail) -> list[RowSlice | None]:
    """Return the records of the first of these batches, up to the limit.

    The window begins at position `start`. None: read the batch record by record, because it is corrupt, a control
    batch, or large.
    """
    assert columns.valid is not None
    begin = columns.position - start
    end = begin + columns.size
    plain = columns.valid & (columns.attributes & CONTROL == 0) & (end <= len(window) - PADDING)
    plain &= (columns.record_count >= 0) & (columns.record_count <= RECORD_COUNT)
    sizes, most = columns.record_count, RECORD_COUNT
    if shown.decode is not None:
        sizes, most = columns.size, _DECODED_SIZE
        plain &= (columns.size <= _DECODED_SIZE) & (columns.attributes & CODEC_MASK == 0)
    held = np.where(plain, sizes, 0)
    taken = int(np.searchsorted(np.cumsum(held) - held, most))
    rows = np.flatnonzero(plain[:taken])
    parts: list[RowSlice | None] = [None] * taken
    if not rows.size:
        return parts
    buffer: Buffer = window
    begin, end = begin[rows] + HEADER.size, end[rows]
    if (columns.attributes[rows] & CODEC_MASK).any():
        buffer, rows, begin, end, stop = _unpacked(columns, memoryview(window), rows, begin, end)
        del parts[stop:]
    batches = HeaderColumns._make(None if column is None else column[rows] for column in columns)
    bodies = BatchBodies(begin, end, batches.record_count)
    steps = record_positions(buffer, bodies)
    intact = (bodies.stated == 0) | ((steps.counts == bodies.stated) & (steps.ends == end))
    pieces = list(decode_fields(buffer, steps))
    for piece in pieces:
        intact[piece.batch[~piece.sound]] = False
    blocks = _record_blocks(batches, buffer, pieces, intact, shown)
    if shown.decode is not None:
        decoded = list(blocks)
        damaged = list(chain.from_iterable(map(_damaged, decoded)))
        intact &= ~np.isin(batches.position, damaged)
        blocks = _record_blocks(batches, buffer, pieces, intact, shown) if damaged else iter(decoded)
    source = Rows(blocks)
    for row, good, count in zip(rows.tolist(), intact.tolist(), bodies.stated.tolist(), strict=True):
        if good:
            parts[row] = RowSlice(source, count)
    return parts


def _unpacked(
    columns: HeaderColumns, window: memoryview, rows: Array, begin: Array, end: Array
) -> tuple[Buffer, Array, Array, Array, int]:
    """Return a buffer with the records of batches, these batches, their positions, and the first that did not fit.

    It skips a batch that cannot be decompressed.
    """
    pool, unpacked_rows, bounds, stop = bytearray(), list[int](), [0], int(rows[-1]) + 1
    codecs = columns.attributes[rows] & CODEC_MASK
    for row, codec, first, last in zip(rows.tolist(), codecs.tolist(), begin.tolist(), end.tolist(), strict=True):
        if len(pool) >= _POOL_SIZE:
            stop = row
            break
        data = window[first:last]
        made = decompress(codec, data, magic=2, size_max=_UNPACKED_SIZE_MAX) if codec else Decompressed(data, None)
        if made.problem is None:
            pool += made.data
            unpacked_rows.append(row)
            bounds.append(len(pool))
    edges = np.array(bounds)
    return pool, np.array(unpacked_rows, np.int64), edges[:-1], edges[1:], stop


def _record_blocks(
    batches: HeaderColumns, buffer: Buffer, pieces: list[RecordFields], intact: Mask, shown: DumpDetail
) -> Iterator[Block]:
    for piece in pieces:
        good = intact[piece.batch]
        if good.any():
            yield _record_block(batches, buffer, RecordFields._make(column[good] for column in piece), shown)


def _damaged(block: Block) -> Iterator[int]:
    """Yield the positions of batches with a record that cannot be decoded."""
    positions: Any = block.columns["batch_position"]
    for name in DECODED_COLUMNS:
        problems = map(problem_of, block.columns[name])
        yield from (position for position, problem in zip(positions, problems, strict=True) if problem is not None)


def _record_block(batches: HeaderColumns, buffer: Buffer, piece: RecordFields, shown: DumpDetail) -> Block:
    batch, delta = piece.batch, piece.offset_delta
    appended, sequence = _appended(batches), batches.base_sequence.astype(np.int64)[batch]
    created = batches.base_timestamp.astype(np.int64)[batch] + piece.timestamp_delta
    nothing = [None] * batch.size
    names: list[tuple[str, ...]] = [()] * batch.size
    with_headers = np.flatnonzero(piece.header_count).tolist()
    headers = {at: headers_at(memoryview(buffer)[piece.value_end[at] :], 0)[0] for at in with_headers}
    for at, record_headers in headers.items():
        names[at] = header_names(record_headers, shown)
    columns: dict[str, Sequence[object]] = {
        "batch_position": _values(batches.position[batch]),
        "offset": _values(batches.base_offset[batch] + delta),
        "timestamp_type": _words(appended[batch], _TIMESTAMP_TYPES),
        "timestamp": _values(np.where(appended[batch], batches.max_timestamp[batch], created)),
        "key_size": _known(piece.key_size, piece.key_size >= 0),
        "value_size": _known(piece.value_size, piece.value_size >= 0),
        "sequence": _values(np.where(sequence >= 0, _incremented(sequence, delta), NO_SEQUENCE)),
        "header_keys": names,
        "crc": nothing,
        "valid": nothing,
        "control": nothing,
    }
    if shown.data is not None:
        columns["key"], escaped_keys = texts(_slices(buffer, piece.key_size, piece.key_end), shown)
        columns["value"], escaped_values = texts(_slices(buffer, piece.value_size, piece.value_end), shown)
        rows: list[tuple[Any, ...]] = [()] * batch.size
        escaped: list[tuple[str, ...]] = [()] * batch.size
        for at in {*escaped_keys, *escaped_values, *headers}:
            rows[at], flag = header_rows(headers.get(at, ()), shown)
            flags = (("key", at in escaped_keys), ("value", at in escaped_values), ("headers", flag))
            escaped[at] = tuple(name for name, set_ in flags if set_)
        columns |= {"headers": rows, "escaped": escaped}
    if shown.decode is not None:
        begin = int(piece.at[0])
        octets = bytes(memoryview(buffer)[begin : int(piece.value_end[-1])])
        halves = ((piece.key_size, piece.key_end - begin), (piece.value_size, piece.value_end - begin))
        said = map(shown.decode, *(_slices(octets, *half) for half in halves))
        columns |= zip(DECODED_COLUMNS, zip(*said, strict=True), strict=True)
    return Block(columns)


def _slices(buffer: Buffer, size: Array, end: Array) -> list[Buffer | None]:
    """Return the bytes before these ends; None for a negative size."""
    bounds = zip((end - size).tolist(), end.tolist(), strict=True)
    return [buffer[first:last] if first <= last else None for first, last in bounds]


def _appended(columns: HeaderColumns) -> Mask:
    """Return in which batches all records have the broker's append time."""
    appended: Mask = columns.attributes & LOG_APPEND_TIME != 0
    return appended


def _incremented(sequence: Array, by: Array) -> Array:
    """Return the sequence numbers incremented by `by` (see `increment_sequence`)."""
    over = sequence > (INT_MAX - by).astype(np.int32)
    return np.where(over, by - (INT_MAX - sequence) - 1, sequence + by).astype(np.int32)


def _values(column: Array) -> list[Any]:
    """Return a column as Python values; a value that all rows share is converted once."""
    same = (column == column[0]).all()
    return column[:1].tolist() * column.size if same else column.tolist()  # type: ignore[no-any-return]  # of any type


def _words(numbers: Array, names: Sequence[str]) -> list[str]:
    return [names[number] for number in _values(numbers)]


def _known(column: Array, known: Mask) -> list[Any]:
    """Return a column as Python values, None where unknown."""
    if known.all():
        return _values(column)
    return [value if is_known else None for value, is_known in zip(column.tolist(), known.tolist(), strict=True)]
