"""Encodes records without keys and timestamps as a broker stores them. `record._record` decodes them.

Kafka classes: DefaultRecordBatch and DefaultRecord for magic 2, LegacyRecord for magic 0 and 1.
"""

from collections.abc import Sequence

from kcheck.model.java import unsigned_varint
from kcheck.records.batch import HEADER, LEGACY, NO_SEQUENCE, OVERHEAD, TIMESTAMP, body_from, checksum

NO_TIMESTAMP = -1
_NO_PRODUCER, _NULL = -1, -1
_CURRENT_MAGIC = 2


def encoded(magic: int, base_offset: int, epoch: int, values: Sequence[bytes]) -> bytes:
    """Return one batch of these records; with magic 0 or 1 one message each, without the epoch."""
    if magic < _CURRENT_MAGIC:
        return b"".join(_message(magic, offset, value) for offset, value in enumerate(values, base_offset))
    records = b"".join(_record(delta, value) for delta, value in enumerate(values))
    size = HEADER.size - OVERHEAD.size + len(records)
    fields = (0, len(values) - 1, NO_TIMESTAMP, NO_TIMESTAMP, _NO_PRODUCER, _NO_PRODUCER, NO_SEQUENCE, len(values))
    unsealed = HEADER.pack(base_offset, size, epoch, magic, 0, *fields) + records
    crc = checksum(memoryview(unsealed)[body_from(magic) :], magic)
    return HEADER.pack(base_offset, size, epoch, magic, crc, *fields) + records


def _record(delta: int, value: bytes) -> bytes:
    body = bytes(2) + varint(delta) + varint(_NULL) + varint(len(value)) + value + varint(0)
    return varint(len(body)) + body


def varint(number: int) -> bytes:
    """Return a zig-zag varint (ByteUtils.writeVarlong)."""
    return unsigned_varint(number << 1 if number >= 0 else ~number << 1 | 1)


def _message(magic: int, offset: int, value: bytes) -> bytes:
    timestamp = TIMESTAMP.pack(NO_TIMESTAMP) if magic else b""
    fields = timestamp + _NULL.to_bytes(4, "big", signed=True) + len(value).to_bytes(4, "big") + value
    size = LEGACY.size - OVERHEAD.size + len(fields)
    unsealed = LEGACY.pack(offset, size, 0, magic, 0) + fields
    crc = checksum(memoryview(unsealed)[body_from(magic) :], magic)
    return LEGACY.pack(offset, size, crc, magic, 0) + fields
