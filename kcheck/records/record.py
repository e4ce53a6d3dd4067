"""Reads the records of one batch, up to the first unreadable one.

Kafka classes for magic 2: DefaultRecordBatch.iterator and DefaultRecord.readFrom 4.3.1. For magic 0 and 1:
LegacyRecord, and AbstractLegacyRecordBatch.DeepRecordsIterator for the messages in a compressed wrapper. Where Kafka's
readers throw, the records end with an `Unread`. What they do not check is not checked here, such as decreasing offsets.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.model.entries import Offset
from kcheck.model.java import wrapped
from kcheck.records.batch import (
    CODEC_MASK,
    HEADER,
    LEGACY,
    LOG_APPEND_TIME,
    MIN_ENTRY_SIZE,
    NO_SEQUENCE,
    OVERHEAD,
    TIMESTAMP,
    BatchHeader,
    body_from,
    checksum,
    header_of,
    increment_sequence,
    is_modern,
)
from kcheck.records.compression import ZSTD, decompress
from kcheck.records.layout import Layout

BODY_SIZE_MAX = 256 << 20
"""Limit on the bytes of records read from one batch, before and after decompression; it bounds the memory used."""

Data = bytes | memoryview
RecordHeader = tuple[Data, Data | None]
"""The key of a record header and its value, which may be null. The key should be UTF-8."""

_SIZE = Layout((("size", "i32"),))


class Record(NamedTuple):
    """A record, or a message of magic 0 or 1."""

    position: int
    """Position in the decompressed body, in bytes.

    The body of a batch of magic 2 begins after the batch header. The body of a message begins at its offset field.
    """
    size: int
    """Size in bytes in the decompressed body."""
    offset: Offset
    """The absolute offset."""
    timestamp: int | None
    """The timestamp in ms; None in magic 0."""
    sequence: int
    """The sequence number; -1 if the batch has none."""
    key: Data | None
    """The key; None if it is null."""
    value: Data | None
    """The value; None if it is null."""
    headers: tuple[RecordHeader, ...] = ()
    """The headers; magic 0 and 1 have none."""
    crc: int | None = None
    """The stated CRC of a message; None in magic 2, where only the batch has one."""
    valid: bool | None = None
    """True if that CRC matches; None in magic 2."""
    stated: tuple[int | None, int | None] = (None, None)
    """The stated sizes of the key and the value of a message, negative for null; (None, None) in magic 2."""


class Unread(NamedTuple):
    """The reason why reading stopped before the end of the batch."""

    number: int
    """The number of the first unreadable record, from 0."""
    position: int
    """Its position in the body, in bytes."""
    message: str
    """The reason why it is unreadable."""
    passed: bool = False
    """True if Kafka's readers stop here without an error."""


class _RecordError(Exception):
    """The record is unreadable; the message says why."""


def read_records(batch: Data, size_max: int = BODY_SIZE_MAX) -> Iterator[Record | Unread]:
    """Yield the records of a complete batch, up to an `Unread` if one is unreadable.

    The batch must not be smaller than its header. Its CRC is not verified.
    """
    batch = memoryview(batch)
    header = header_of(batch, total=len(batch))
    if is_modern(header.magic):
        yield from _records(batch[HEADER.size :], header, size_max)
    elif header.attributes & CODEC_MASK:
        yield from _wrapped_messages(batch, header, size_max)
    else:
        try:
            yield _message(batch, 0, None)
        except _RecordError as why:
            yield Unread(0, 0, str(why))


def _records(data: memoryview, header: BatchHeader, size_max: int) -> Iterator[Record | Unread]:
    """Read the number of records that the header states; other bytes are corruption, unless that number is 0."""
    count, codec = header.record_count, header.attributes & CODEC_MASK
    assert count is not None
    if count < 0:
        yield Unread(0, 0, f"the batch says to hold {count} records")
        return
    if not count:
        return
    body, problem = (data, None) if not codec else decompress(codec, data, magic=header.magic, size_max=size_max)
    body = memoryview(body)
    at = 0
    for number in range(count):
        try:
            record = _record(body, at, header)
        except _RecordError as why:
            missing = f"{count - number} of {count} records are missing" if at == len(body) else str(why)
            yield Unread(number, at, problem or missing)
            return
        yield record
        at += record.size
    if problem is not None or at < len(body):
        yield Unread(count, at, problem or f"{len(body) - at} bytes follow the last of {count} records")


def _record(body: memoryview, at: int, header: BatchHeader) -> Record:
    """Return the record at a position of the body (DefaultRecord.readFrom)."""
    start = at
    size, at = _varint(body, at)
    if not 0 <= size <= len(body) - at:
        raise _RecordError(f"its size of {size} bytes does not fit: {len(body) - at} are left")
    data, at, fields_start = body[at : at + size], 1, at
    if not data:
        raise _RecordError("it has no bytes")
    timestamp, at = _varint(data, at, bits=64)
    delta, at = _varint(data, at)
    key, at = _nullable(data, at, "key")
    value, at = _nullable(data, at, "value")
    headers, at = headers_at(data, at)
    if at != size:
        raise _RecordError(f"its fields end after {at} of {size} bytes")
    base, base_timestamp, sequence = header.base_offset, header.base_timestamp, header.base_sequence
    assert base is not None
    assert base_timestamp is not None
    assert sequence is not None
    appended = header.max_timestamp if header.attributes & LOG_APPEND_TIME else None
    return Record(
        start,
        fields_start + size - start,
        Offset(wrapped(base + delta, 64)),
        wrapped(base_timestamp + timestamp, 64) if appended is None else appended,
        increment_sequence(sequence, delta) if sequence >= 0 else NO_SEQUENCE,
        key,
        value,
        headers,
    )


def headers_at(data: memoryview, at: int) -> tuple[tuple[RecordHeader, ...], int]:
    """Return the headers of a record and the position after them; their count is at byte `at`."""
    count, at = _varint(data, at)
    if not 0 <= count <= len(data) - at:
        raise _RecordError(f"its {count} headers do not fit into {len(data) - at} bytes")
    headers: list[RecordHeader] = []
    for _ in range(count):
        name, at = _nullable(data, at, "header key")
        if name is None:
            raise _RecordError("the key of a header is null")
        content, at = _nullable(data, at, "header value")
        headers.append((name, content))
    return tuple(headers), at


def _nullable(data: memoryview, at: int, name: str) -> tuple[memoryview | None, int]:
    size, at = _varint(data, at)
    if size < 0:
        return None, at
    if size > len(data) - at:
        raise _RecordError(f"its {name} of {size} bytes does not fit: {len(data) - at} are left")
    return data[at : at + size], at + size


def _varint(data: memoryview, at: int, *, bits: int = 32) -> tuple[int, int]:
    """Return a zig-zag varint and the position after it (ByteUtils.readVarint, readVarlong)."""
    value = shift = 0
    while True:
        if at == len(data):
            raise _RecordError("it breaks off in a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            value &= (1 << bits) - 1
            return value >> 1 ^ -(value & 1), at
        shift += 7
        if shift >= bits:
            raise _RecordError(f"a number of more than {bits} bits")


def _wrapped_messages(batch: memoryview, wrapper: BatchHeader, size_max: int) -> Iterator[Record | Unread]:
    """Yield the messages in a wrapper.

    In magic 1 their offsets are relative to the first one's. The wrapper has the absolute offset of the last one. So
    the last message must be read before the first offset is known.
    """
    body, problem = _decompressed_wrapper(batch, wrapper, size_max)
    end, last, damage = _last_message(body)
    problem = problem or damage or ("the wrapper holds no message" if last is None else None)
    base = 0
    if wrapper.magic == 1 and wrapper.last_offset:
        if problem is None and last is not None and wrapper.last_offset < last:
            problem = f"the offset {wrapper.last_offset} of the wrapper is below {last}, that of the last message in it"
        if problem is not None or last is None:
            yield Unread(0, 0, problem or "")
            return
        base = wrapper.last_offset - last
    at = number = 0
    while at < end:
        size = OVERHEAD.size + int(OVERHEAD.unpack_from(body, at)[1])
        try:
            record = _message(body[at : at + size], at, wrapper)
        except _RecordError as why:
            yield Unread(number, at, str(why))
            return
        yield record._replace(offset=Offset(wrapped(base + record.offset, 64)))
        at, number = at + size, number + 1
    if problem is not None:
        yield Unread(number, at, problem)
    elif end < len(body):
        yield Unread(number, at, f"{len(body) - end} bytes follow the last complete message", passed=True)


def _decompressed_wrapper(batch: memoryview, wrapper: BatchHeader, size_max: int) -> tuple[memoryview, str | None]:
    """Return the decompressed value of a wrapper, and why it is incomplete."""
    codec = wrapper.attributes & CODEC_MASK
    nothing = memoryview(b"")
    if wrapper.magic not in (0, 1):
        return nothing, f"no wrapper has the magic {wrapper.magic}"
    if codec == ZSTD:
        return nothing, f"a wrapper of magic {wrapper.magic} is never compressed with zstd"
    try:
        value = _fields(batch)[0][1]
    except _RecordError as why:
        return nothing, str(why)
    if value is None:
        return nothing, "the value of the wrapper is null"
    data, problem = decompress(codec, value, magic=wrapper.magic, size_max=size_max)
    return memoryview(data), problem


def _last_message(body: memoryview) -> tuple[int, int | None, str | None]:
    """Return the end of the last complete message, its offset, and why no message can follow it."""
    at, last = 0, None
    while len(body) - at >= OVERHEAD.size:
        offset, size = OVERHEAD.unpack_from(body, at)
        if size < MIN_ENTRY_SIZE:
            return at, last, f"a message of {size} bytes"
        if size > len(body) - at - OVERHEAD.size:
            break
        at, last = at + OVERHEAD.size + size, offset
    return at, last, None


def _message(data: memoryview, position: int, wrapper: BatchHeader | None) -> Record:
    """Return a message with its stated offset; in a wrapper of magic 1 the timestamp may come from the wrapper."""
    offset, _, crc, magic, attributes = LEGACY.unpack_from(data)
    if wrapper is not None and attributes & CODEC_MASK:
        raise _RecordError("a message in a wrapper is compressed itself")
    (key, value), sizes = _fields(data)
    timestamp = None
    if magic != 0:
        timestamp = int(TIMESTAMP.unpack_from(data, LEGACY.size)[0])
        if magic == 1 and wrapper is not None and wrapper.timestamp_type == "LogAppendTime":
            timestamp = wrapper.max_timestamp
    valid = checksum(data[body_from(0) :], 0) == crc
    return Record(position, len(data), Offset(offset), timestamp, NO_SEQUENCE, key, value, (), crc, valid, sizes)


def _fields(data: memoryview) -> tuple[tuple[memoryview | None, memoryview | None], tuple[int, int]]:
    """Return the key and the value of a message, and their stated sizes; bytes after them are ignored."""
    magic = LEGACY.unpack_from(data)[3]
    at = LEGACY.size + (TIMESTAMP.size if magic != 0 else 0)
    values: list[memoryview | None] = []
    sizes: list[int] = []
    for name in ("key", "value"):
        if at + _SIZE.size > len(data):
            raise _RecordError(f"it ends before its {name}")
        size = int(_SIZE.unpack_from(data, at)[0])
        at += _SIZE.size
        if size > len(data) - at:
            raise _RecordError(f"its {name} of {size} bytes does not fit: {len(data) - at} are left")
        values.append(data[at : at + size] if size >= 0 else None)
        sizes.append(size)
        at += max(size, 0)
    return (values[0], values[1]), (sizes[0], sizes[1])
