"""The records of one batch, one by one, as far as they can be read.

Magic 2: DefaultRecordBatch.iterator and DefaultRecord.readFrom 4.3.1. Magic 0 and 1: LegacyRecord, and for the inner
messages of a compressed wrapper AbstractLegacyRecordBatch.DeepRecordsIterator. Where Kafka's readers throw, the records
end with a `Unread`. What they let pass for want of a look is not judged here: deltas that do not rise, for one.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.formats._compression import ZSTD, decompress
from kcheck.formats._layout import Layout
from kcheck.formats.record_batch import (
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
from kcheck.model.entries import Offset
from kcheck.model.java import wrapped

BODY_SIZE_MAX = 256 << 20
"""More bytes of records than this, before or after decompression, are not read: so memory has a bound."""

Data = bytes | memoryview
Header = tuple[Data, Data | None]
"""The key of a header, UTF-8 where the producer keeps to the rules, and its value."""

_SIZE = Layout((("size", "i32"),))


class Record(NamedTuple):
    """A record, or a message of magic 0 or 1; `position` and `size` in bytes, in the body after decompression.

    The body of a batch of magic 2 begins behind its header; that of a message, and of each inner one, at its offset.
    `timestamp` is None in magic 0. `sequence` is -1 without a producer. Null keys and values are None. `crc` and
    `valid` stand in messages alone; `stated` are the sizes of key and value there, below 0 for null.
    """

    position: int
    size: int
    offset: Offset
    timestamp: int | None
    sequence: int
    key: Data | None
    value: Data | None
    headers: tuple[Header, ...] = ()
    crc: int | None = None
    valid: bool | None = None
    stated: tuple[int | None, int | None] = (None, None)


class Unread(NamedTuple):
    """What ends the records: the number of the first that cannot be read, from 0, where in the body, and why.

    `passed` tells that Kafka's readers end there without a word.
    """

    number: int
    position: int
    message: str
    passed: bool = False


class _DamagedError(Exception):
    """A record that breaks off; the message says why."""


def read_records(batch: Data, size_max: int = BODY_SIZE_MAX) -> Iterator[Record | Unread]:
    """Yield the records of a whole batch of at least its header, then an `Unread` where one cannot be read.

    The CRC of the batch is not looked at.
    """
    batch = memoryview(batch)
    header = header_of(batch, total=len(batch))
    if is_modern(header.magic):
        yield from _records(batch[HEADER.size :], header, size_max)
    elif header.attributes & CODEC_MASK:
        yield from _inner(batch, header, size_max)
    else:
        try:
            yield _message(batch, 0, None)
        except _DamagedError as why:
            yield Unread(0, 0, str(why))


def _records(data: memoryview, header: BatchHeader, size_max: int) -> Iterator[Record | Unread]:
    """Read as many records as the header says; whatever else stands there is damage, unless they are none."""
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
        except _DamagedError as why:
            missing = f"{count - number} of {count} records are missing" if at == len(body) else str(why)
            yield Unread(number, at, problem or missing)
            return
        yield record
        at += record.size
    if problem is not None or at < len(body):
        yield Unread(count, at, problem or f"{len(body) - at} bytes stand behind the last of {count} records")


def _record(body: memoryview, at: int, header: BatchHeader) -> Record:
    """Return the record at a position of the body (DefaultRecord.readFrom)."""
    begin = at
    size, at = _varint(body, at)
    if not 0 <= size <= len(body) - at:
        raise _DamagedError(f"its size of {size} bytes does not fit: {len(body) - at} are left")
    data, at, begun = body[at : at + size], 1, at
    if not data:
        raise _DamagedError("it has no bytes")
    timestamp, at = _varint(data, at, bits=64)
    delta, at = _varint(data, at)
    key, at = _nullable(data, at, "key")
    value, at = _nullable(data, at, "value")
    headers, at = headers_at(data, at)
    if at != size:
        raise _DamagedError(f"its fields end after {at} of {size} bytes")
    base, base_timestamp, sequence = header.base_offset, header.base_timestamp, header.base_sequence
    assert base is not None
    assert base_timestamp is not None
    assert sequence is not None
    appended = header.max_timestamp if header.attributes & LOG_APPEND_TIME else None
    return Record(
        begin,
        begun + size - begin,
        Offset(wrapped(base + delta, 64)),
        wrapped(base_timestamp + timestamp, 64) if appended is None else appended,
        increment_sequence(sequence, delta) if sequence >= 0 else NO_SEQUENCE,
        key,
        value,
        headers,
    )


def headers_at(data: memoryview, at: int) -> tuple[tuple[Header, ...], int]:
    """Return the headers of a record, from their count on, and where they end; they are known to fit, or it raises."""
    count, at = _varint(data, at)
    if not 0 <= count <= len(data) - at:
        raise _DamagedError(f"its {count} headers do not fit into {len(data) - at} bytes")
    found: list[Header] = []
    for _ in range(count):
        name, at = _nullable(data, at, "header key")
        if name is None:
            raise _DamagedError("the key of a header is null")
        content, at = _nullable(data, at, "header value")
        found.append((name, content))
    return tuple(found), at


def _nullable(data: memoryview, at: int, name: str) -> tuple[memoryview | None, int]:
    size, at = _varint(data, at)
    if size < 0:
        return None, at
    if size > len(data) - at:
        raise _DamagedError(f"its {name} of {size} bytes does not fit: {len(data) - at} are left")
    return data[at : at + size], at + size


def _varint(data: memoryview, at: int, *, bits: int = 32) -> tuple[int, int]:
    """Return a zig-zag number of base 128, low digits first, and where it ends (ByteUtils.readVarint, readVarlong)."""
    value = shift = 0
    while True:
        if at == len(data):
            raise _DamagedError("it breaks off in a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            value &= (1 << bits) - 1
            return value >> 1 ^ -(value & 1), at
        shift += 7
        if shift >= bits:
            raise _DamagedError(f"a number of more than {bits} bits")


def _inner(batch: memoryview, wrapper: BatchHeader, size_max: int) -> Iterator[Record | Unread]:
    """Yield the messages in a wrapper.

    In magic 1 their offsets count from its first, which is known only when the last of them has been seen.
    """
    body, problem = _wrapped(batch, wrapper, size_max)
    end, last, damage = _walk(body)
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
        except _DamagedError as why:
            yield Unread(number, at, str(why))
            return
        yield record._replace(offset=Offset(wrapped(base + record.offset, 64)))
        at, number = at + size, number + 1
    if problem is not None:
        yield Unread(number, at, problem)
    elif end < len(body):
        yield Unread(number, at, f"{len(body) - end} bytes stand behind the last whole message", passed=True)


def _wrapped(batch: memoryview, wrapper: BatchHeader, size_max: int) -> tuple[memoryview, str | None]:
    """Return what the value of a wrapper holds, and why that is not all of it."""
    codec = wrapper.attributes & CODEC_MASK
    nothing = memoryview(b"")
    if wrapper.magic not in (0, 1):
        return nothing, f"no wrapper has the magic {wrapper.magic}"
    if codec == ZSTD:
        return nothing, f"a wrapper of magic {wrapper.magic} is never compressed with zstd"
    try:
        value = _fields(batch)[0][1]
    except _DamagedError as why:
        return nothing, str(why)
    if value is None:
        return nothing, "the value of the wrapper is null"
    data, problem = decompress(codec, value, magic=wrapper.magic, size_max=size_max)
    return memoryview(data), problem


def _walk(body: memoryview) -> tuple[int, int | None, str | None]:
    """Return where the last whole message ends, its offset, and why no message can stand behind it."""
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
    """Return a message, with the offset that stands in it; inside of a wrapper it may take its timestamp."""
    offset, _, crc, magic, attributes = LEGACY.unpack_from(data)
    if wrapper is not None and attributes & CODEC_MASK:
        raise _DamagedError("a message in a wrapper is compressed itself")
    (key, value), sizes = _fields(data)
    timestamp = None
    if magic != 0:
        timestamp = int(TIMESTAMP.unpack_from(data, LEGACY.size)[0])
        if magic == 1 and wrapper is not None and wrapper.timestamp_type == "LogAppendTime":
            timestamp = wrapper.max_timestamp
    valid = checksum(data[body_from(0) :], 0) == crc
    return Record(position, len(data), Offset(offset), timestamp, NO_SEQUENCE, key, value, (), crc, valid, sizes)


def _fields(data: memoryview) -> tuple[tuple[memoryview | None, memoryview | None], tuple[int, int]]:
    """Return key and value of a message, and their stated sizes; what stands behind them is not looked at."""
    magic = LEGACY.unpack_from(data)[3]
    at = LEGACY.size + (TIMESTAMP.size if magic != 0 else 0)
    found: list[memoryview | None] = []
    sizes: list[int] = []
    for name in ("key", "value"):
        if at + _SIZE.size > len(data):
            raise _DamagedError(f"it ends before its {name}")
        size = int(_SIZE.unpack_from(data, at)[0])
        at += _SIZE.size
        if size > len(data) - at:
            raise _DamagedError(f"its {name} of {size} bytes does not fit: {len(data) - at} are left")
        found.append(data[at : at + size] if size >= 0 else None)
        sizes.append(size)
        at += max(size, 0)
    return (found[0], found[1]), (sizes[0], sizes[1])
