"""The header of a batch in a `.log`, and where the next one begins.

Magic 2: DefaultRecordBatch 0.11 to 4.3.1. Magic 0 and 1: LegacyRecord, one message or one compressed wrapper an entry.
Framing: FileLogInputStream 0.10 to 4.3.1. A `.log` is read in windows, so there is no `parse` of a whole one.
"""

import zlib
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from kcheck.formats._contract import Format
from kcheck.formats._layout import Layout
from kcheck.model.entries import Batch, Epoch, Offset
from kcheck.model.java import INT_MAX, wrapped
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

MAGIC_AT = 16
HEADER_SIZE_UP_TO_MAGIC = 17
"""So few bytes or fewer at the end of a file are no entry (Records.HEADER_SIZE_UP_TO_MAGIC)."""
MIN_ENTRY_SIZE = 14
"""The smallest `size` that the framing accepts (LegacyRecord.RECORD_OVERHEAD_V0)."""
CORRUPT = -1
_CRC_FROM_V2 = 21
CODEC_MASK = 7
TRANSACTIONAL, CONTROL = 0x10, 0x20
MARKER = TRANSACTIONAL | CONTROL
"""The attributes of a batch that ends a transaction."""
DELETE_HORIZON = 0x40
"""Set by compaction from 3.1 on: the first timestamp is a time of deletion, and the CRC another one (KIP-534)."""
ABORT_MARKER, COMMIT_MARKER = 0, 1
COMPRESSION = ("none", "gzip", "snappy", "lz4", "zstd")
"""By the number in the attributes (CompressionType)."""
CODEC_NAMES = (*COMPRESSION, *(f"unknown-{number}" for number in range(len(COMPRESSION), CODEC_MASK + 1)))
"""Those that no release knows too."""
LOG_APPEND_TIME = 0x08
NO_MARKER, UNKNOWN_MARKER = -1, -2
"""Stand for the type of a marker where a batch is none, and where its record is not the plain one of a marker."""
NO_SEQUENCE = -1
SIGNED_BYTE_MAX = 127


def entry_size(header: bytes | memoryview, at: int, *, remaining: int) -> int | None:
    """Return the size in bytes of the entry at `at` of `header`, None where the data ends there without a word.

    `remaining` is how many bytes the file has from there; the data also ends at an entry that runs past the end of the
    file. CORRUPT: the broker throws CorruptRecordException, because `size` is below 14.
    """
    if remaining <= HEADER_SIZE_UP_TO_MAGIC:
        return None
    size = int(OVERHEAD.unpack_from(header, at)[1])
    if size < MIN_ENTRY_SIZE:
        return CORRUPT
    total = OVERHEAD.size + size
    return None if total > remaining else total


Patches = tuple[tuple[int, bytes], ...]
"""Bytes of headers that count instead of those of a file, by their positions in it."""


def patch(data: bytearray | memoryview, position: int, patches: Patches) -> None:
    """Put patches into the bytes that stand from a position on, each where it lies in them as a whole."""
    for place, patched in patches:
        at = place - position
        if 0 <= at <= len(data) - len(patched):
            data[at : at + len(patched)] = patched


def is_modern(magic: int) -> bool:
    """Whether the broker's file reader takes an entry of this magic for a batch, and not for an old message."""
    return 2 <= magic <= SIGNED_BYTE_MAX


def batch_at(header: bytes | memoryview, at: int, *, position: int, total: int) -> Batch | None:
    """Return the batch whose header stands at `at` of a buffer that holds all of it (61 bytes, or `total` if fewer).

    `position` is its place in the file, `total` its size, both in bytes. None where a batch of magic 2 or higher is
    smaller than its header. The magic is not judged: the broker's file reader takes 3 to 127 for batches, all else for
    messages.
    """
    magic = header[at + MAGIC_AT]
    if not is_modern(magic):
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
    count = None if attributes & CODEC_MASK else 1
    return Batch(position, total, magic, Offset(offset), Offset(offset), None, count, timestamp, attributes & 0xFF, crc)


class BatchHeader(NamedTuple):
    """Every field that the header of a batch says (magic 2), or that of a message or wrapper (magic 0 and 1).

    None is what there is no field for. `base_offset` of a wrapper is known only after decompression. Numbers wrap as
    Java's do.
    """

    magic: int
    base_offset: Offset | None
    last_offset: Offset
    record_count: int | None
    base_sequence: int | None
    last_sequence: int | None
    producer_id: int | None
    producer_epoch: int | None
    leader_epoch: Epoch | None
    attributes: int
    base_timestamp: int | None
    max_timestamp: int | None
    crc: int

    @property
    def compression(self) -> str:
        """The name of the codec; `unknown-5` where no release knows the number."""
        return CODEC_NAMES[self.attributes & CODEC_MASK]

    @property
    def timestamp_type(self) -> str | None:
        """CreateTime or LogAppendTime, None in magic 0 (TimestampType)."""
        if self.magic == 0:
            return None
        return "LogAppendTime" if self.attributes & LOG_APPEND_TIME else "CreateTime"

    @property
    def transactional(self) -> bool:
        """Whether the batch belongs to a transaction."""
        return is_modern(self.magic) and bool(self.attributes & TRANSACTIONAL)

    @property
    def control(self) -> bool:
        """Whether the batch holds control records."""
        return is_modern(self.magic) and bool(self.attributes & CONTROL)

    @property
    def delete_horizon_ms(self) -> int | None:
        """When tombstones and markers of the batch may be removed, None where the cleaner has set nothing."""
        return self.base_timestamp if is_modern(self.magic) and self.attributes & DELETE_HORIZON else None


def header_of(header: bytes | memoryview, *, total: int) -> BatchHeader:
    """Return the header that `header` begins with: 61 bytes, or `total` if the entry has fewer."""
    if not is_modern(header[MAGIC_AT]):
        old = _legacy(header, 0, 0, total)
        base = old.base_offset if old.record_count == 1 else None
        return BatchHeader(
            old.magic, base, old.last_offset, old.record_count, None, None, None, None, None, old.attributes, None,
            old.max_timestamp, old.crc,
        )  # fmt: skip
    base, _, epoch, magic, crc, attributes, delta, first, last, producer, producer_epoch, sequence, count = (
        HEADER.unpack_from(header)
    )
    last_sequence = NO_SEQUENCE if sequence == NO_SEQUENCE else increment_sequence(sequence, delta)
    return BatchHeader(
        magic, base, Offset(wrapped(base + delta, 64)), count, sequence, last_sequence, producer, producer_epoch, epoch,
        attributes, first, last, crc,
    )  # fmt: skip


def increment_sequence(sequence: int, by: int) -> int:
    """Return the sequence number so far behind, 0 follows the largest (DefaultRecordBatch.incrementSequence)."""
    if sequence > wrapped(INT_MAX - by, 32):
        return wrapped(by - (INT_MAX - sequence) - 1, 32)
    return wrapped(sequence + by, 32)


def decrement_sequence(sequence: int, by: int) -> int:
    """Return the sequence number that lies so far before (DefaultRecordBatch.decrementSequence)."""
    return wrapped(INT_MAX - (by - sequence) + 1 if sequence < by else sequence - by, 32)


def body_from(magic: int) -> int:
    """Return where in a batch the bytes begin that its CRC covers."""
    return _CRC_FROM_V2 if is_modern(magic) else MAGIC_AT


def checksum(part: bytes | memoryview, magic: int, running: int = 0) -> int:
    """Return the CRC of `part`, continuing from `running`: CRC-32C for magic 2, CRC-32 below."""
    return crc32c(part, running) if is_modern(magic) else zlib.crc32(part, running)


def crc32c(part: bytes | memoryview, running: int = 0) -> int:
    """Return the CRC-32C (Castagnoli) of `part`, continuing from `running`."""
    return _iscsi()(part, running) if running else _iscsi()(part)


@cache
def _iscsi() -> Callable[..., int]:
    from fastcrc import crc32  # only where bytes are verified

    return crc32.iscsi


FORMAT = Format(kind="segment", title="Segment", matches=lambda name: parse_file(name).kind is FileKind.LOG)
