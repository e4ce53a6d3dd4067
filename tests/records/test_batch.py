"""Headers of batches and messages, their framing and their CRC."""

import struct
import zlib

import pytest

from kcheck.formats.segment import FORMAT
from kcheck.model.entries import Batch
from kcheck.model.java import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN
from kcheck.records.batch import (
    CORRUPT,
    HEADER,
    BatchHeader,
    batch_at,
    body_from,
    checksum,
    crc32c,
    decrement_sequence,
    entry_size,
    header_of,
    incomplete_batch,
    increment_sequence,
)
from tests.builders import batch as made

V2 = bytes.fromhex(
    "00000000000000000000003a00000005021d1083af00000000000000000174876e800000000174876e8000ffffffffffffffff"
    "ffffffffffff0000000110000000026b027600"
)
ABORT = bytes.fromhex(
    "00000000000000010000004200000005024b08bbcd00300000000000000174876e800100000174876e800100000000000003e8"
    "0000ffffffff000000012000000008000000000c00000000000700"
)
EMPTIED = bytes.fromhex(
    "000000000000000a00000031000000050209b871f6001000000003ffffffffffffffff00000174876e800000000000000003e8"
    "000000000000"
    "00000000"
)
V0 = bytes.fromhex("0000000000000000000000101fecd70a0000000000016b0000000176")
V1 = bytes.fromhex("0000000000000000000000185eaf63dc010000000174876e8000000000016b0000000176")
TIMESTAMP = 1_600_000_000_000
TORN = made(7, 3, payload=b"x" * 99).data


@pytest.mark.parametrize(
    ("data", "batch"),
    [
        (V2, Batch(7, 70, 2, 0, 0, 5, 1, TIMESTAMP, 0, 0x1D1083AF)),
        (ABORT, Batch(7, 78, 2, 1, 1, 5, 1, TIMESTAMP + 1, 0x30, 0x4B08BBCD)),
        (EMPTIED, Batch(7, 61, 2, 10, 13, 5, 0, TIMESTAMP, 0x10, 0x09B871F6)),
        (V0, Batch(7, 28, 0, 0, 0, None, 1, None, 0, 0x1FECD70A)),
        (V1, Batch(7, 36, 1, 0, 0, None, 1, TIMESTAMP, 0, 0x5EAF63DC)),
    ],
)
def test_headers_of_all_magics(data: bytes, batch: Batch) -> None:
    """Found anywhere in a window, as bytes or as a view of them; the CRC is that of the bytes it covers."""
    window = b"xyz" + data + b"more"
    total = entry_size(window, 3, remaining=len(data) + 4)
    assert total == len(data)
    for view in (window, memoryview(window)):
        assert batch == batch_at(view, 3, position=7, total=total)
    covered = data[body_from(batch.magic) :]
    assert checksum(covered, batch.magic) == batch.crc
    assert checksum(covered[:-1] + bytes([data[-1] ^ 1]), batch.magic) != batch.crc


def test_every_field_of_a_header() -> None:
    """None is what there is no field for."""
    found = header_of(ABORT, total=len(ABORT))
    assert BatchHeader(2, 1, 1, 1, -1, -1, 1000, 0, 5, 0x30, TIMESTAMP + 1, TIMESTAMP + 1, 0x4B08BBCD) == found
    assert ("none", "CreateTime", True, True, None) == (
        found.compression, found.timestamp_type, found.transactional, found.control, found.delete_horizon_ms,
    )  # fmt: skip
    old = header_of(V0, total=len(V0))
    assert BatchHeader(0, 0, 0, 1, None, None, None, None, None, 0, None, None, 0x1FECD70A) == old
    assert (None, False, False, None) == (
        old.timestamp_type, old.transactional, old.control, old.delete_horizon_ms,
    )  # fmt: skip
    assert "CreateTime" == header_of(V1, total=len(V1)).timestamp_type


def test_attributes_of_a_header() -> None:
    found = header_of(ABORT, total=len(ABORT))._replace(attributes=0x4C)
    assert ("zstd", "LogAppendTime", False, False, TIMESTAMP + 1) == (
        found.compression, found.timestamp_type, found.transactional, found.control, found.delete_horizon_ms,
    )  # fmt: skip
    assert "unknown-7" == found._replace(attributes=7).compression


def test_a_wrapper_does_not_say_its_first_offset() -> None:
    """Nor how many messages it holds."""
    found = header_of(V1[:17] + b"\1" + V1[18:], total=len(V1))
    assert (None, 0, None, "gzip") == (found.base_offset, found.last_offset, found.record_count, found.compression)


def test_numbers_wrap_as_in_java() -> None:
    fields = (LONG_MAX, 49, 0, 2, 0, 0, 3, 0, 0, 7, 0, INT_MAX - 1, 4)
    found = header_of(HEADER.pack(*fields), total=HEADER.size)
    assert (LONG_MIN + 2, 1) == (found.last_offset, found.last_sequence)


@pytest.mark.parametrize(
    ("sequence", "by", "after"),
    [(0, 5, 5), (INT_MAX, 1, 0), (INT_MAX - 1, 3, 1), (5, -1, INT_MIN + 4), (INT_MIN, 0, INT_MIN)],
)
def test_sequences_after(sequence: int, by: int, after: int) -> None:
    """A negative delta overflows in the comparison, as DefaultRecordBatch lets it."""
    assert after == increment_sequence(sequence, by)


@pytest.mark.parametrize(("sequence", "by", "before"), [(5, 5, 0), (0, 1, INT_MAX), (1, 3, INT_MAX - 1), (-1, -1, 0)])
def test_sequences_before(sequence: int, by: int, before: int) -> None:
    assert before == decrement_sequence(sequence, by)


def test_the_first_bytes_of_a_batch_are_not_covered() -> None:
    """A changed epoch or base offset of magic 2 goes unnoticed."""
    changed = V2[:15] + b"\x06" + V2[16:]
    batch = batch_at(changed, 0, position=0, total=70)
    assert batch is not None
    assert (batch.epoch, body_from(batch.magic)) == (6, 21)
    assert checksum(changed[body_from(batch.magic) :], batch.magic) == batch.crc


def test_a_compressed_wrapper_hides_its_count() -> None:
    """Codec bits in the attributes: how many messages are in it is known after decompression."""
    batch = batch_at(V1[:17] + b"\x02" + V1[18:], 0, position=0, total=len(V1))
    assert batch is not None
    assert (batch.record_count, batch.attributes) == (None, 2)


def test_a_short_message_of_magic_1_has_no_timestamp() -> None:
    batch = batch_at(V1[:25], 0, position=0, total=25)
    assert batch is not None
    assert batch.max_timestamp is None


def test_the_signed_magic_decides_about_the_layout() -> None:
    """0x80 and above is negative, hence a message; 3 to 127 is a batch."""
    message = batch_at(V2[:16] + b"\x80" + V2[17:], 0, position=0, total=len(V2))
    assert message is not None
    assert (message.magic, message.epoch) == (-128, None)
    later = batch_at(V2[:16] + b"\x03" + V2[17:], 0, position=0, total=len(V2))
    assert later is not None
    assert (later.magic, later.epoch) == (3, 5)


def test_a_batch_smaller_than_its_header_is_none() -> None:
    assert batch_at(V2, 0, position=0, total=HEADER.size - 1) is None
    assert batch_at(V2, 0, position=0, total=HEADER.size) is not None


@pytest.mark.parametrize(
    ("size", "remaining", "expected"),
    [
        (58, 70, 70),
        (58, 71, 70),
        (58, 69, None),
        (14, 26, 26),
        (13, 26, CORRUPT),
        (0, 18, CORRUPT),
        (-1, 18, CORRUPT),
        (0, 17, None),
        (2**31 - 1, 2**31, None),
    ],
)
def test_framing(size: int, remaining: int, expected: int | None) -> None:
    """17 bytes or fewer end the data; a size below 14 is corrupt; an entry past the end ends the data."""
    header = bytes(8) + size.to_bytes(4, "big", signed=True)
    assert expected == entry_size(header, 0, remaining=remaining)


def test_crc() -> None:
    """CRC-32C for magic 2, CRC-32 below; both go on from a part."""
    assert crc32c(b"123456789") == 0xE3069283
    new = batch_at(V2, 0, position=0, total=70)
    old = batch_at(V0, 0, position=0, total=28)
    assert new is not None
    assert old is not None
    assert checksum(b"6789", 2, checksum(b"12345", 2)) == 0xE3069283
    assert checksum(b"6789", 1, checksum(b"12345", 1)) == zlib.crc32(b"123456789")


def test_a_segment_is_read_in_windows() -> None:
    assert (FORMAT.kind, FORMAT.parse) == ("segment", None)
    assert FORMAT.matches("00000000000000000000.log")
    assert not FORMAT.matches("00000000000000000000.index")


@pytest.mark.parametrize(
    ("data", "remaining", "count"),
    [
        (TORN, 70, 3),
        (TORN[:60], 70, None),  # The header is incomplete.
        (TORN, 1000, None),  # The batch is complete.
        (made(4, 3, payload=b"x" * 99).data, 70, None),  # Below the log end.
        (made(999, 3, payload=b"x" * 99).data, 70, None),  # Above the segment.
        (made(7, 0, last_offset=9, payload=b"x" * 99).data, 70, None),
        (made(7, 4, last_offset=9, payload=b"x" * 99).data, 70, None),
        (made(7, 3, magic=3, payload=b"x" * 99).data, 70, None),
        (struct.pack(">qi", 7, 40) + TORN[12:], 40, None),  # Smaller than its own header.
    ],
)
def test_the_header_of_an_incomplete_batch_names_its_records(data: bytes, remaining: int, count: int | None) -> None:
    """Only if it is complete, and fits the log."""
    torn = incomplete_batch(data, remaining=remaining, low=5, high=1000)
    assert (None if torn is None else torn.record_count) == count
