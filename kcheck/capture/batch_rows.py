"""The batches of a `.log` for a bundle: headers, verdicts on CRCs and records, and ranges that are no batch."""

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from kcheck.bundles.rows import (
    BLOCK_ROWS,
    KEPT_RECORDS_SIZE_MAX,
    KEPT_SIZE_MAX,
    MESSAGE_HEADER_SIZE,
    ROW_SIZE,
    RowBlock,
    RowBytes,
    RowKind,
    RowNumbers,
)
from kcheck.model.entries import RELATIVE_OFFSET_MAX, Offset
from kcheck.model.segments import End, RecordsView
from kcheck.model.source import Source
from kcheck.model.unreadable import UnreadableCause, UnreadableError
from kcheck.records.batch import (
    CODEC_MASK,
    CONTROL,
    HEADER,
    LEGACY,
    MAGIC_AT,
    TIMESTAMP,
    checksum,
    incomplete_batch,
)
from kcheck.records.compression import ZSTD
from kcheck.segments.batch_records import RecordCheck
from kcheck.segments.batches_after_damage import intact_batches
from kcheck.segments.header_columns import HeaderColumns, HeaderReader

_PIECE_SIZE = 1 << 20
_DAMAGE_COUNT_MAX = 1000
"""After so many corrupt places the rest of a `.log` counts as one."""
_TEXT_RUN = 8
"""A header has no run of this many printable bytes; where there is one, the bytes are text."""
_TAIL_SIZE = 4
BatchMask = Callable[[bytes], bytes | None]
"""Returns the kept form of a batch of magic 2, of equal size; None if its records are left out."""


class LogRows(NamedTuple):
    """Some rows of a `.log`."""

    position: int
    """Their position in the `.log`."""
    block: RowBlock
    """The rows."""


class BatchRows:
    """Reads a `.log` once; iterate once. Afterwards `records` is the verdict on its records."""

    def __init__(self, source: Source, base: Offset, *, decode: bool, mask: BatchMask | None = None) -> None:
        """Take an open `.log` and its base offset; `decode` judges its records too, `mask` keeps some of them."""
        self.end: int = 0
        """The end of the rows, in bytes."""
        self.records: RecordsView | None = None
        self.has_zstd: bool = False
        self._source, self._base, self._decode, self._mask = source, base, decode, mask
        self._last = Offset(base - 1)

    def __iter__(self) -> Iterator[LogRows]:
        """Yield the rows in the order of the file, at most `BLOCK_ROWS` at a time."""
        size, check = self._source.size, RecordCheck(self._source, reads_zstd=True) if self._decode else None
        for damaged in range(_DAMAGE_COUNT_MAX):
            reader = HeaderReader(self._source, verify=True, grow=False, position=self.end)
            for columns in reader:
                if check is not None:
                    self.has_zstd |= bool((columns.attributes & CODEC_MASK == ZSTD).any())
                    check.take(columns, reader.window)
                self._last = Offset(max(self._last, int(columns.last_offset.max())))
                yield from _batches(columns, reader.window, self._mask)
                self.end = int(columns.position[-1] + columns.size[-1])
            self.records, check = (self.records, None) if check is None else (check.view(), None)
            if reader.end in (End.WHOLE, End.SHRUNK) or self.end >= size:
                return
            beyond = None
            if damaged < _DAMAGE_COUNT_MAX - 1:
                beyond = intact_batches(self._source, self.end, size, base=self._base, after=self._last)
            end = size if beyond is None else beyond.position
            yield self._range(end)
            self.end = end
            if beyond is None:
                return

    def _range(self, end: int) -> LogRows:
        """Return the rows of a range that is no batch, with other bytes, then zeros."""
        source, begin = self._source, self.end
        filled = _last_data(source, begin, end)
        rows, sizes = np.zeros((2, ROW_SIZE), np.uint8), []
        if filled > begin:
            head = source.pread(min(HEADER.size, filled - begin), begin)
            kept = self._kept_of(head, source.size - begin)
            rows[0, 0] = RowKind.OTHER
            rows[0, 1 : 1 + len(kept)] = np.frombuffer(kept, np.uint8)
            sizes.append(filled - begin)
        if end > filled:
            rows[len(sizes), 0] = RowKind.ZEROS
            sizes.append(end - filled)
        return LogRows(begin, RowBlock(rows[: len(sizes)], sizes, b""))

    def _kept_of(self, head: bytes, remaining: int) -> bytes:
        """Return the kept part of the first bytes of a range, a credible header, or its size and magic alone."""
        low, high = self._last + 1, self._base + RELATIVE_OFFSET_MAX
        if incomplete_batch(head, remaining=remaining, low=low, high=high) is not None and not _is_text(head):
            return head
        kept = bytearray(len(head))
        kept[0] = 0xFF  # It is not only zeros.
        kept[8:12] = head[8:12]
        kept[MAGIC_AT : MAGIC_AT + 1] = head[MAGIC_AT : MAGIC_AT + 1]
        return bytes(kept)


def records_before_zstd(source: Source) -> RecordsView:
    """Return the verdict on the records of a release that cannot read zstd."""
    reader, check = HeaderReader(source, verify=True, grow=False), RecordCheck(source, reads_zstd=False)
    for columns in reader:
        check.take(columns, reader.window)
    return check.view()


def _batches(columns: HeaderColumns, window: bytearray, mask: BatchMask | None) -> Iterator[LogRows]:
    """Yield the rows of the batches in a window, which begins with the first of them."""
    at = columns.position - columns.position[0]
    assert columns.valid is not None
    rows = np.zeros((len(at), ROW_SIZE), np.uint8)
    octets = np.frombuffer(window, np.uint8)
    header = octets[np.minimum(at[:, None] + np.arange(HEADER.size), len(octets) - 1)]
    modern = columns.magic >= 2
    header[modern] = _restored(columns, header)[modern]
    own = np.where(columns.magic == 1, MESSAGE_HEADER_SIZE + TIMESTAMP.size, MESSAGE_HEADER_SIZE)
    own = np.minimum(np.where(modern, HEADER.size, own), columns.size)
    header[np.arange(HEADER.size) >= own[:, None]] = 0
    for row in np.flatnonzero(~modern).tolist():
        begin, stop = int(at[row]), int(at[row] + columns.size[row])
        header[row] = _message(bytes(window[begin:stop]), int(own[row]), is_right=bool(columns.valid[row]))
    rows[:, 0] = np.where(columns.valid, RowKind.RIGHT, RowKind.WRONG)
    rest = columns.size - own
    is_control = columns.attributes & CONTROL != 0
    size_max = np.where(is_control, KEPT_SIZE_MAX, 0 if mask is None else KEPT_RECORDS_SIZE_MAX)
    bodies = {}
    for row in map(int, np.flatnonzero(modern & columns.valid & (rest < size_max))):
        body = bytes(window[int(at[row] + own[row]) : int(at[row] + columns.size[row])])
        if is_control[row]:
            bodies[row] = body
        elif mask is not None and (masked := mask(header[row].tobytes() + body)) is not None:
            header[row] = np.frombuffer(masked, np.uint8, HEADER.size)
            bodies[row] = masked[HEADER.size :]
    rows[[*bodies], 0] = RowKind.KEPT
    _without_text(header, ~columns.valid)
    rows[:, 1:] = header
    for begin in range(0, len(at), BLOCK_ROWS):
        end = begin + BLOCK_ROWS
        kept = [body for row, body in sorted(bodies.items()) if begin <= row < end]
        yield LogRows(int(columns.position[begin]), RowBlock(rows[begin:end], (), b"".join(kept)))


def _message(message: bytes, own: int, *, is_right: bool) -> RowNumbers:
    """Return the header of a message of magic 0 or 1 with a null key and all other bytes as value."""
    header = bytearray(message[:own].ljust(HEADER.size, b"\0"))
    begin, rest = own - 8, len(message) - own
    if rest < 0 or not is_right:
        header[max(begin, 0) :] = bytes(HEADER.size - max(begin, 0))
        return np.frombuffer(header, np.uint8)
    if header[LEGACY.size - 1] & CODEC_MASK:
        raise UnreadableError("a bundle cannot hold compressed messages of the old formats", UnreadableCause.REFUSED)
    key_size, value_size = (int.from_bytes(header[at : at + 4], "big", signed=True) for at in (begin, begin + 4))
    if key_size > 0:
        value_at = begin + 4 + key_size
        value_size = int.from_bytes(message[value_at : value_at + 4], "big", signed=True)
        is_sound = value_at + 4 + max(value_size, 0) == len(message)
        value_size = rest if is_sound else rest + 1
        header[begin:own] = struct.pack(">ii", -1, value_size)
    if 0 < rest < _TAIL_SIZE:
        crc = checksum(bytes(header[MAGIC_AT:own]) + bytes(rest), header[MAGIC_AT])
        header[12:16] = crc.to_bytes(4, "big")  # No room for bytes that would give it the CRC that it had.
    return np.frombuffer(header, np.uint8)


def _restored(columns: HeaderColumns, header: RowBytes) -> RowBytes:
    """Return the headers with the bytes that no CRC covers, because the reader has overwritten them in the window."""
    restored = header.copy()
    fields = (columns.base_offset, ">i8", 0), (columns.size - 12, ">i4", 8), (columns.epoch, ">i4", 12)
    for column, kind, at in (*fields, (columns.magic, "i1", MAGIC_AT), (columns.crc, ">u4", MAGIC_AT + 1)):
        octets = np.ascontiguousarray(column.astype(kind)).view(np.uint8).reshape(len(column), -1)
        restored[:, at : at + octets.shape[1]] = octets
    return restored


def _without_text(header: RowBytes, suspects: RowNumbers) -> None:
    """Clear the headers with a wrong CRC that are text, but for their size and magic."""
    for row in np.flatnonzero(suspects).tolist():
        if _is_text(header[row].tobytes()):
            size_and_magic = header[row, 8:12].copy(), header[row, MAGIC_AT]
            header[row] = 0
            header[row, 8:12], header[row, MAGIC_AT] = size_and_magic


def _is_text(data: bytes) -> bool:
    """Return whether some bytes have a run of printable characters."""
    run = 0
    for octet in data:
        run = run + 1 if 0x20 <= octet < 0x7F else 0
        if run == _TEXT_RUN:
            return True
    return False


def _last_data(source: Source, begin: int, end: int) -> int:
    """Return the end of the last bytes of a range that are not zero; `begin` if all are."""
    while end > begin:
        start = max(begin, end - _PIECE_SIZE)
        filled = len(source.pread(end - start, start).rstrip(b"\0"))
        if filled:
            return start + filled
        end = start
    return begin
