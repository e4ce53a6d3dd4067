"""The batch headers of a `.log` as columns, window by window, in bounded memory.

One CRC call checks many batches. `kcheck.segments.batches` reads the same headers one by one.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kcheck.model.segments import End
from kcheck.model.source import Source
from kcheck.records.batch import (
    CODEC_MASK,
    HEADER,
    LEGACY,
    MARKER,
    NO_MARKER,
    OVERHEAD,
    TIMESTAMP,
    UNKNOWN_MARKER,
    Patches,
    body_from,
    checksum,
    crc32c,
    patch,
)
from kcheck.records.layout import Layout
from kcheck.segments.batch_boundaries import NO_POSITIONS, batch_starts
from kcheck.segments.batches import batch_crc

WINDOW_SIZE = 4 << 20
_FEW = 10_000
"""Number of batches below which a window's fixed cost dominates. The next windows are then twice as large."""
_UNSUMMED = body_from(2)
"""Number of leading bytes of a batch that its CRC does not cover."""
_LINK = 0x5F35254C
"""The CRC-32C register that 21 zero bytes turn into 0xffffffff, the initial value of every CRC."""
_CHAIN = np.dtype([("link", "<u4"), ("zeros", f"V{_UNSUMMED - 4}")])

MARKER_RECORD = Layout(
    (("size", "i8"), ("attributes", "i8"), ("deltas", "i16"), ("key_size", "i8"), ("version", "i16"), ("type", "i16"))
)
"""The record of a transaction marker as every broker writes it. Lengths and deltas are varints of one byte."""
_KEY_SIZE = 4 << 1
"""The key has 4 bytes, as a zigzag varint."""
PADDING = HEADER.size + MARKER_RECORD.size
"""The last batch of a window may be shorter than the bytes gathered at its position."""
_LOW_ATTRIBUTES_AT = _UNSUMMED + 1
"""The position of the only attributes byte that any release uses."""

Array = npt.NDArray[Any]
"""Integers of any width; rarely used ones stay in the byte order of the file."""
Mask = npt.NDArray[np.bool_]
_TYPES = {"i8": "i1", "i16": ">i2", "i32": ">i4", "u32": ">u4", "i64": ">i8"}


class HeaderColumns(NamedTuple):
    """Batch headers, one item for each batch. A message of magic 0 or 1, or a wrapper, counts as a batch.

    -1 means unknown.
    """

    position: Array
    """Its position in the `.log`."""
    size: Array
    """Its size in bytes."""
    magic: Array
    """The message format."""
    base_offset: Array
    """Its first offset; below magic 2 its last one."""
    last_offset: Array
    """Its last offset."""
    epoch: Array
    """Its leader epoch; -1 below magic 2."""
    record_count: Array
    """Number of its records; -1 for a compressed message below magic 2."""
    base_timestamp: Array
    """The base of the timestamps of its records; meaningless below magic 2."""
    max_timestamp: Array
    """Its largest timestamp; -1 in magic 0."""
    attributes: Array
    """The lower byte of its attributes (codec, timestamp type, transactional, control)."""
    producer_id: Array
    """The producer's id; -1 below magic 2."""
    producer_epoch: Array
    """The producer's epoch; meaningless without a producer id."""
    base_sequence: Array
    """Its first sequence number; meaningless without a producer id."""
    marker: Array
    """The type of a transaction marker; NO_MARKER for any other batch."""
    crc: Array
    """The CRC in the header."""
    valid: Mask | None
    """True if the CRC matches; None if it was not computed."""


class HeaderReader:
    """The batches of an open file; iterate once. Afterwards `position` is where valid data ends, `end` why."""

    def __init__(
        self,
        source: Source,
        size: int | None = None,
        *,
        verify: bool,
        starts: Array | None = None,
        grow: bool = True,
        position: int = 0,
        lax: bool = False,
        patches: Patches = (),
    ) -> None:
        """Take an open file with `size` bytes; `position` is the first batch's.

        `verify` computes CRCs. `grow` allows larger windows for large batches. `lax` accepts a batch of magic 2 that is
        smaller than its header. A broker that checks no CRC does the same, and reads header fields from the following
        bytes. `patches` change bytes as they are read. `starts` are positions where batches may begin, from an index.
        They save time and change no answer.
        """
        self.position: int = position
        self.end: End = End.WHOLE
        self.window: bytearray = bytearray()
        """The bytes of the batches in the last columns; of their headers only what the CRC covers is unchanged."""
        self._source = source
        self._size = source.size if size is None else size
        self._verify = verify
        self._grow = grow
        self._lax = lax
        self._patches = patches
        self._starts = starts if starts is not None and (np.diff(starts) > 0).all() else NO_POSITIONS

    def __iter__(self) -> Iterator[HeaderColumns]:
        """Yield the headers of each window that has any."""
        buffer = self.window = bytearray(min(WINDOW_SIZE, max(self._size - self.position, 0)) + PADDING)
        while (remaining := self._size - self.position) > 0:
            wanted = min(len(buffer) - PADDING, remaining)
            filled = self._source.pread_into(memoryview(buffer)[:wanted], self.position)
            if filled < wanted:
                self.end = End.SHRUNK
                return
            patch(memoryview(buffer)[:wanted], self.position, self._patches)
            begin, stop = np.searchsorted(self._starts, (self.position + 1, self.position + filled))
            starts = self._starts[begin:stop] - self.position
            begins, size, end = batch_starts(buffer, filled, remaining, starts, lax=self._lax)
            if begins.size:
                columns = _columns(buffer, begins, self.position)
                if self._verify:
                    columns = columns._replace(valid=_valid(buffer, columns, self.position))
                self.position += size
                yield columns
                if self._grow and begins.size < _FEW and len(buffer) == WINDOW_SIZE + PADDING:
                    buffer = self.window = bytearray(min(2 * WINDOW_SIZE, self._size) + PADDING)
            elif end is None:
                large = self._large(buffer)
                if large is None:
                    self.end = End.SHRUNK
                    return
                yield large
            if end is not None:
                self.end = end
                return

    def _large(self, buffer: bytearray) -> HeaderColumns | None:
        """Return the batch at `position`, which is larger than a window; None if the file now ends within it.

        Its CRC is computed piece by piece.
        """
        columns = _columns(buffer, np.zeros(1, np.int64), self.position)
        size, magic = int(columns.size[0]), int(columns.magic[0])
        if not self._source.pread(1, self.position + size - 1):
            return None
        if self._verify:
            crc = batch_crc(self._source, self.position, size, magic)
            columns = columns._replace(valid=np.array([crc == columns.crc[0]]))
        self.position += size
        return columns


def _columns(buffer: bytearray, at: Array, start: int) -> HeaderColumns:
    """Return the headers at these indices of a window that begins at position `start`."""
    new = _gather(buffer, at, HEADER)
    magic = new["magic"].copy()
    base = new["base_offset"].astype(np.int64)
    attributes = new.view(np.uint8)[_LOW_ATTRIBUTES_AT :: HEADER.size].copy()
    columns = HeaderColumns(
        position=at + start,
        size=new["batch_size"].astype(np.int64) + OVERHEAD.size,
        magic=magic,
        base_offset=base,
        last_offset=base + new["last_offset_delta"].astype(np.int32),
        epoch=new["partition_leader_epoch"].astype(np.int64),
        record_count=new["record_count"].astype(np.int32),
        base_timestamp=new["base_timestamp"],
        max_timestamp=new["max_timestamp"].astype(np.int64),
        attributes=attributes,
        producer_id=new["producer_id"],
        producer_epoch=new["producer_epoch"],
        base_sequence=new["base_sequence"],
        marker=_markers(buffer, at, new, attributes),
        crc=new["crc"].astype(np.uint32),
        valid=None,
    )
    if not magic.size or magic.min() >= 2:
        return columns
    old = magic < 2
    message = _gather(buffer, at, LEGACY)
    stamped = magic == 1
    timestamp = _gather(buffer, at + LEGACY.size, TIMESTAMP)["timestamp"]
    plain = (message["attributes"] & CODEC_MASK) == 0
    unknown = np.full_like(base, -1)
    return columns._replace(
        last_offset=np.where(old, base, columns.last_offset),
        epoch=np.where(old, unknown, columns.epoch),
        record_count=np.where(old, np.where(plain, 1, -1), columns.record_count).astype(np.int32),
        max_timestamp=np.where(old, np.where(stamped, timestamp, unknown), columns.max_timestamp),
        attributes=np.where(old, message["attributes"].view(np.uint8), attributes),
        producer_id=np.where(old, unknown, columns.producer_id),
        crc=np.where(old, message["crc"], columns.crc),
    )


def _markers(buffer: bytearray, at: Array, headers: Any, attributes: Array) -> Array:
    """Return the types of the transaction markers, which are one uncompressed record with a key of version and type."""
    rows = np.flatnonzero((attributes & (MARKER | CODEC_MASK)) == MARKER)
    types = np.full(at.shape, NO_MARKER, np.int16)
    if rows.size:
        rows = rows[(headers["magic"][rows] == 2) & (headers["record_count"][rows] == 1)]
        record = _gather(buffer, at[rows] + HEADER.size, MARKER_RECORD)
        plain = (record["deltas"] == 0) & (record["key_size"] == _KEY_SIZE)
        types[rows] = np.where(plain, record["type"], UNKNOWN_MARKER)
    return types


def _gather(buffer: bytearray, at: Array, layout: Layout) -> Any:
    """Return the fields of a layout at each index of a buffer."""
    every_entry = np.ndarray((len(buffer) - layout.size + 1,), f"V{layout.size}", buffer, strides=(1,))
    return every_entry[at].view(dtype_of(layout))


def highest_before(before: int, column: Array) -> Array:
    """Return the running maximum of a column, with `before` as its first item."""
    values = np.concatenate(([before], column))
    return values if (values[1:] >= values[:-1]).all() else np.maximum.accumulate(values)


def newest(columns: HeaderColumns) -> Array:
    """Return the largest timestamp of each batch; -1 for an emptied one, which time indexes may omit."""
    emptied = columns.record_count == 0
    return np.where(emptied, -1, columns.max_timestamp) if emptied.any() else columns.max_timestamp


@cache
def dtype_of(layout: Layout) -> Any:
    """Return the structured type of a layout's fields."""
    return np.dtype([(name, _TYPES[kind]) for name, kind in layout.fields])


def _valid(buffer: bytearray, columns: HeaderColumns, start: int) -> Mask:
    """Return which batches of a window have a matching CRC; overwrites the bytes that no CRC covers."""
    at = columns.position - start
    ends = at + columns.size
    if columns.magic.min() >= 2 and _chained(buffer, at, int(ends[-1]), columns.crc):
        return np.ones(len(at), np.bool_)
    view = memoryview(buffer)
    rows = zip(at.tolist(), ends.tolist(), columns.magic.tolist(), columns.crc.tolist(), strict=True)
    return np.array([checksum(view[a + body_from(magic) : end], magic) == stated for a, end, magic, stated in rows])


def _chained(buffer: bytearray, at: Array, end: int, crc: Array) -> bool:
    """Return whether every batch of a window has a matching CRC, by one CRC call over all of them.

    No CRC covers the first bytes of a batch. In each batch but the first, these bytes are overwritten. If the CRC of
    the batch before matches its header, they turn it into the initial value of a CRC. A single wrong batch always
    shows.
    """
    links = np.zeros(len(at) - 1, _CHAIN)
    links["link"] = crc[:-1] ^ np.uint32(0xFFFFFFFF ^ _LINK)
    places = np.ndarray((len(buffer) - _UNSUMMED + 1,), f"V{_UNSUMMED}", buffer, strides=(1,))
    places[at[1:]] = links.view(f"V{_UNSUMMED}")
    return crc32c(memoryview(buffer)[int(at[0]) + _UNSUMMED : end]) == int(crc[-1])
