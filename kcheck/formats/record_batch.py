"""The header of a batch in a `.log`, and where the next one begins.

Magic 2: DefaultRecordBatch 0.11 to 4.3.1. Magic 0 and 1: LegacyRecord, one message or one compressed wrapper an entry.
Framing: FileLogInputStream.nextBatch 0.10.2 and 1.1 to 4.3.1.
"""

import zlib

from kcheck.formats._contract import Format
from kcheck.formats._layout import Layout
from kcheck.model.entries import Batch, Offset
from kcheck.model.names import FileKind, parse_file

OVERHEAD = Layout((("offset", "i64"), ("size", "i32")))
LEGACY = Layout((("offset", "i64"), ("size", "i32"), ("crc", "u32"), ("magic", "i8"), ("attributes", "i8")))
TIMESTAMP = Layout((("timestamp", "i64"),))
HEADER = Layout(
    (
        ("base_offset", "i64"),
        ("batch_size", "i32"),
        ("partition_leader_epoch", "i32"),
        ("magic", "i8"),
        ("crc", "u32"),
        ("attributes", "i16"),
        ("last_offset_delta", "i32"),
        ("base_timestamp", "i64"),
        ("max_timestamp", "i64"),
        ("producer_id", "i64"),
        ("producer_epoch", "i16"),
        ("base_sequence", "i32"),
        ("record_count", "i32"),
    )
)
assert (OVERHEAD.size, LEGACY.size, HEADER.size) == (12, 18, 61)

HEADER_SIZE_UP_TO_MAGIC = 17
MAGIC_AT = 16
MIN_ENTRY_SIZE = 14
"""The smallest `size` that the framing accepts (LegacyRecord.RECORD_OVERHEAD_V0)."""
_CRC_FROM_V2 = 21
_CODEC_MASK = 7


def entry_size(header: bytes | memoryview, at: int, *, remaining: int) -> int | None:
    """Return the size in bytes of the entry at `at`, None where the data ends there.

    `remaining` is how many bytes the file has from there. A negative answer says that the broker throws
    CorruptRecordException. An entry that runs past the end of the file ends the data without a word.
    """
    if remaining <= HEADER_SIZE_UP_TO_MAGIC:
        return None
    size = int(OVERHEAD.unpack_from(header, at)[1])
    if size < MIN_ENTRY_SIZE:
        return -1
    total = OVERHEAD.size + size
    return None if total > remaining else total


def batch_at(header: bytes | memoryview, at: int, *, position: int, total: int) -> Batch | None:
    """Return the batch whose header stands at `at` of a buffer that holds all of it (61 bytes, or `total` if fewer).

    `position` is its place in the file, `total` its size. None where a batch of magic 2 is smaller than its header.
    """
    magic = header[at + MAGIC_AT]
    if magic < 2 or magic > 127:
        return _legacy(header, at, position, total)
    if total < HEADER.size:
        return None
    fields = HEADER.unpack_from(header, at)
    base, _, epoch, _, crc, attributes, delta, _, max_timestamp, _, _, _, count = fields
    return Batch(position, total, magic, base, base + delta, epoch, count, max_timestamp, attributes & 0xFF, crc)


def _legacy(header: bytes | memoryview, at: int, position: int, total: int) -> Batch:
    offset, _, crc, magic, attributes = LEGACY.unpack_from(header, at)
    has_timestamp = magic == 1 and total >= LEGACY.size + TIMESTAMP.size
    timestamp = TIMESTAMP.unpack_from(header, at + LEGACY.size)[0] if has_timestamp else None
    count = None if attributes & _CODEC_MASK else 1
    return Batch(position, total, magic, Offset(offset), Offset(offset), None, count, timestamp, attributes, crc)


def body_from(batch: Batch) -> int:
    """Return where in the batch the bytes begin that its CRC covers."""
    return _CRC_FROM_V2 if batch.magic >= 2 else MAGIC_AT


def checksum(part: bytes | memoryview, batch: Batch, running: int = 0) -> int:
    """Return the CRC of `part`, continuing from `running`: CRC-32C for magic 2, CRC-32 below."""
    if batch.magic < 2:
        return zlib.crc32(part, running)
    from fastcrc import crc32  # only where bytes are verified

    return int(crc32.iscsi(part, running) if running else crc32.iscsi(part))


FORMAT = Format(kind="segment", title="Segment", matches=lambda name: parse_file(name).kind is FileKind.LOG)
