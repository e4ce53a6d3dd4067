"""Batches with records in them, made byte by byte, good and bad: what no client writes must be made by hand."""

import struct
import zlib
from collections.abc import Callable, Sequence

from fastcrc import crc32

from kcheck.records.batch import HEADER, OVERHEAD
from tests.builders import FIRST_TIMESTAMP
from tests.compressed import gzip, lz4, xerial, zstd

COMPRESS: dict[int, Callable[[bytes], bytes]] = {0: bytes, 1: gzip, 2: xerial, 3: lz4, 4: zstd}
"""By the number of the codec."""


def varint(number: int) -> bytes:
    """Return a zig-zag number of base 128."""
    left, data = number << 1 if number >= 0 else -number * 2 - 1, b""
    while left > 0x7F:
        data += bytes([left & 0x7F | 0x80])
        left >>= 7
    return data + bytes([left])


def sized(data: bytes | None) -> bytes:
    """Return bytes behind their size, or a null."""
    return varint(-1) if data is None else varint(len(data)) + data


def record(
    offset_delta: int,
    key: bytes | None = b"key",
    value: bytes | None = b"value",
    *,
    headers: Sequence[tuple[bytes | None, bytes | None]] = (),
    timestamp_delta: int = 0,
) -> bytes:
    """Return a record of magic 2."""
    fields = b"\0" + varint(timestamp_delta) + varint(offset_delta) + sized(key) + sized(value)
    fields += varint(len(headers)) + b"".join(sized(part) for header in headers for part in header)
    return varint(len(fields)) + fields


def batch_of(
    body: bytes,
    count: int,
    *,
    base_offset: int = 0,
    last_offset: int | None = None,
    codec: int = 0,
    attributes: int = 0,
    producer: tuple[int, int, int] = (-1, -1, -1),
    timestamps: tuple[int, int] = (FIRST_TIMESTAMP, FIRST_TIMESTAMP),
    magic: int = 2,
) -> bytes:
    """Return a batch of magic 2 with these records, compressed; `producer` is its id, epoch and first sequence."""
    body = COMPRESS[codec](body) if codec in COMPRESS else body
    delta = count - 1 if last_offset is None else last_offset - base_offset
    covered = struct.pack(">hiqqqhii", attributes | codec, delta, *timestamps, *producer, count) + body
    size = HEADER.size - OVERHEAD.size + len(body)
    return struct.pack(">qiibI", base_offset, size, 0, magic, crc32.iscsi(covered)) + covered


def old_message(
    offset: int,
    key: bytes | None = b"key",
    value: bytes | None = b"value",
    *,
    magic: int = 1,
    attributes: int = 0,
    timestamp: int = FIRST_TIMESTAMP,
) -> bytes:
    """Return a message of magic 0 or 1."""
    fields = b"".join(struct.pack(">i", -1 if part is None else len(part)) + (part or b"") for part in (key, value))
    return with_overhead(offset, magic, attributes, (struct.pack(">q", timestamp) if magic else b"") + fields)


def with_overhead(offset: int, magic: int, attributes: int, fields: bytes) -> bytes:
    """Return a message with these bytes behind its attributes."""
    covered = struct.pack(">bb", magic, attributes) + fields
    return struct.pack(">qiI", offset, 4 + len(covered), zlib.crc32(covered)) + covered


def wrapper(
    offset: int, inner: bytes, *, codec: int = 1, magic: int = 1, attributes: int = 0, timestamp: int = FIRST_TIMESTAMP
) -> bytes:
    """Return a message whose value is compressed messages."""
    return old_message(
        offset, None, COMPRESS[codec](inner), magic=magic, attributes=codec | attributes, timestamp=timestamp
    )
