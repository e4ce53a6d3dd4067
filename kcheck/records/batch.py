"""Decodes the batch headers of a segment (`.log`), and finds where the next batch begins.

Kafka classes for magic 2: DefaultRecordBatch 0.11 to 4.3.1. For magic 0 and 1: LegacyRecord; an entry is one message or
one compressed wrapper. For the framing: FileLogInputStream 0.10 to 4.3.1. A `.log` can be gigabytes and is read in
windows, so this module has no `parse`.
"""

import zlib
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from kcheck.model.entries import Batch, Epoch, Offset
from kcheck.model.java import INT_MAX, wrapped
from kcheck.records.layout import Layout

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
"""The byte of an entry that holds its magic."""
HEADER_SIZE_UP_TO_MAGIC = 17
"""This many bytes or fewer at the end of a file are not an entry (Records.HEADER_SIZE_UP_TO_MAGIC)."""
MIN_ENTRY_SIZE = 14
"""The smallest `size` that the framing accepts (LegacyRecord.RECORD_OVERHEAD_V0)."""
CORRUPT = -1
"""The answer of `entry_size` where the broker throws CorruptRecordException."""
_CRC_FROM_V2 = 21
CODEC_MASK = 7
TRANSACTIONAL, CONTROL = 0x10, 0x20
MARKER = TRANSACTIONAL | CONTROL
"""The attributes of a batch that ends a transaction."""
DELETE_HORIZON = 0x40
"""Compaction sets it from 3.1: the base timestamp is then the delete horizon, and the CRC changes (KIP-534)."""
ABORT_MARKER, COMMIT_MARKER = 0, 1
COMPRESSION = ("none", "gzip", "snappy", "lz4", "zstd")
"""The codecs, by their numbers in the attributes (CompressionType)."""
CODEC_NAMES = (*COMPRESSION, *(f"unknown-{number}" for number in range(len(COMPRESSION), CODEC_MASK + 1)))
"""The same, with names for the numbers that no release knows."""
LOG_APPEND_TIME = 0x08
_CURRENT_MAGIC = 2
NO_MARKER, UNKNOWN_MARKER = -1, -2
"""Marker types of a batch that is not a marker, and of a marker with an unusual record."""
NO_SEQUENCE = -1
SIGNED_BYTE_MAX = 127


def entry_size(header: bytes | memoryview, at: int, *, remaining: int) -> int | None:
    """Return the size in bytes of the entry at byte `at` of `header`.

    None if a broker sees the end of the data there. `remaining` is the number of bytes from there to the end of the
    file. An entry that runs past the end of the file ends the data too. CORRUPT means that the broker throws
    CorruptRecordException, because `size` is below 14.
    """
    if remaining <= HEADER_SIZE_UP_TO_MAGIC:
        return None
    size = int(OVERHEAD.unpack_from(header, at)[1])
    if size < MIN_ENTRY_SIZE:
        return CORRUPT
    total = OVERHEAD.size + size
    return None if total > remaining else total


Patches = tuple[tuple[int, bytes], ...]
"""(position in the file, bytes) of header bytes that replace bytes of the file."""


def patch(data: bytearray | memoryview, position: int, patches: Patches) -> None:
    """Apply every patch that is completely inside of `data`, the bytes of the file from `position`."""
    for patch_position, patched in patches:
        at = patch_position - position
        if 0 <= at <= len(data) - len(patched):
            data[at : at + len(patched)] = patched


def is_modern(magic: int) -> bool:
    """Return whether the broker's file reader takes an entry of this magic for a batch, not for an old message."""
    return 2 <= magic <= SIGNED_BYTE_MAX


def batch_at(header: bytes | memoryview, at: int, *, position: int, total: int) -> Batch | None:
    """Return the batch whose complete header is at byte `at` of a buffer (61 bytes, or `total` if fewer).

    `position` is the batch's position in the file and `total` its size, both in bytes. None if a batch of magic 2 or
    higher is smaller than its header. The magic is not checked. The broker's file reader treats 3 to 127 as batches and
    everything else as messages.
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


def incomplete_batch(header: bytes, *, remaining: int, low: int, high: int) -> Batch | None:
    """Return the batch of magic 2 with a complete `header` that runs past the `remaining` bytes of the file.

    None without one, or if the header contradicts itself or the log. Offsets of the log are from `low` to `high`. No
    CRC proves it, because bytes are missing.
    """
    if len(header) < HEADER.size or header[MAGIC_AT] != _CURRENT_MAGIC:
        return None
    total = int(OVERHEAD.unpack_from(header)[1]) + OVERHEAD.size
    batch = batch_at(header, 0, position=0, total=total)
    if batch is None or batch.record_count is None or total <= remaining:
        return None
    fits = low <= batch.base_offset <= batch.last_offset <= high
    return batch if fits and 0 < batch.record_count <= batch.last_offset - batch.base_offset + 1 else None


class BatchHeader(NamedTuple):
    """The header of a batch (magic 2), or of a message or wrapper (magic 0 and 1).

    A field is None if the magic has no such field. Numbers wrap as Java's do.
    """

    magic: int
    """The magic: 2, or 0 and 1 for the old message formats."""
    base_offset: Offset | None
    """The first offset; None for a wrapper, where it is known only after decompression."""
    last_offset: Offset
    """The last offset."""
    record_count: int | None
    """The number of records; None for a wrapper."""
    base_sequence: int | None
    """The sequence number of the first record; -1 without one."""
    last_sequence: int | None
    """The sequence number of the last record; -1 without one."""
    producer_id: int | None
    """The id of the producer; -1 without one."""
    producer_epoch: int | None
    """The epoch of the producer; -1 without one."""
    leader_epoch: Epoch | None
    """The epoch of the leader that appended the batch; -1 without one."""
    attributes: int
    """The attribute bits: codec, timestamp type, transactional, control, delete horizon."""
    base_timestamp: int | None
    """The timestamp in ms on which the timestamps of the records are based, or the delete horizon."""
    max_timestamp: int | None
    """The largest timestamp in ms; in magic 1 the timestamp of the message."""
    crc: int
    """The stated CRC."""

    @property
    def compression(self) -> str:
        """The name of the codec; `unknown-5` for a number that no release knows."""
        return CODEC_NAMES[self.attributes & CODEC_MASK]

    @property
    def timestamp_type(self) -> str | None:
        """CreateTime or LogAppendTime, None in magic 0 (TimestampType)."""
        if self.magic == 0:
            return None
        return "LogAppendTime" if self.attributes & LOG_APPEND_TIME else "CreateTime"

    @property
    def transactional(self) -> bool:
        """True if the batch belongs to a transaction."""
        return is_modern(self.magic) and bool(self.attributes & TRANSACTIONAL)

    @property
    def control(self) -> bool:
        """True if the batch holds control records."""
        return is_modern(self.magic) and bool(self.attributes & CONTROL)

    @property
    def delete_horizon_ms(self) -> int | None:
        """When the cleaner may remove tombstones and markers of the batch, in ms; None if it is not set."""
        return self.base_timestamp if is_modern(self.magic) and self.attributes & DELETE_HORIZON else None


def header_of(header: bytes | memoryview, *, total: int) -> BatchHeader:
    """Decode the first header in `header`, which has 61 bytes, or `total` if the entry is smaller."""
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
    """Return a sequence number plus `by`; 0 follows the largest (DefaultRecordBatch.incrementSequence)."""
    if sequence > wrapped(INT_MAX - by, 32):
        return wrapped(by - (INT_MAX - sequence) - 1, 32)
    return wrapped(sequence + by, 32)


def decrement_sequence(sequence: int, by: int) -> int:
    """Return a sequence number minus `by` (DefaultRecordBatch.decrementSequence)."""
    return wrapped(INT_MAX - (by - sequence) + 1 if sequence < by else sequence - by, 32)


def body_from(magic: int) -> int:
    """Return the byte of a batch from which on its CRC covers it."""
    return _CRC_FROM_V2 if is_modern(magic) else MAGIC_AT


def checksum(part: bytes | memoryview, magic: int, running: int = 0) -> int:
    """Return the CRC of `part`, continuing from `running`: CRC-32C from magic 2 on, CRC-32 below."""
    return crc32c(part, running) if is_modern(magic) else zlib.crc32(part, running)


def crc32c(part: bytes | memoryview, running: int = 0) -> int:
    """Return the CRC-32C (Castagnoli) of `part`, continuing from `running`."""
    return _iscsi()(part, running) if running else _iscsi()(part)


@cache
def _iscsi() -> Callable[..., int]:
    from fastcrc import crc32  # only where bytes are verified

    return crc32.iscsi
