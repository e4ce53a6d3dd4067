"""Headers of batches and messages, their framing and their CRC."""

import zlib

import pytest

from kcheck.core.releases import release
from kcheck.formats.record_batch import (
    CORRUPT,
    FORMAT,
    HEADER,
    batch_at,
    body_from,
    checksum,
    crc32c,
    crc_matches,
    entry_size,
)
from kcheck.model.entries import Batch

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
    assert crc_matches(data, batch)
    assert not crc_matches(data[:-1] + bytes([data[-1] ^ 1]), batch)


def test_the_first_bytes_of_a_batch_are_not_covered() -> None:
    """A changed epoch or base offset of magic 2 goes unnoticed."""
    changed = V2[:15] + b"\x06" + V2[16:]
    batch = batch_at(changed, 0, position=0, total=70)
    assert batch is not None
    assert (batch.epoch, body_from(batch.magic)) == (6, 21)
    assert crc_matches(changed, batch)


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
    ("size", "remaining", "kafka", "expected"),
    [
        (58, 70, "4.3", 70),
        (58, 71, None, 70),
        (58, 69, "4.3", None),
        (14, 26, "4.3", 26),
        (13, 26, "4.3", CORRUPT),
        (0, 18, "4.3", CORRUPT),
        (-1, 18, "4.3", CORRUPT),
        (0, 17, "4.3", None),
        (0, 17, "0.10.2", CORRUPT),
        (0, 12, "0.10.2", None),
        (100, 112, "0.10.2", 112),
        (101, 120, "0.10.2", CORRUPT),
        (101, 120, "1.1", 113),
        (2**31 - 1, 2**31, "4.3", None),
    ],
)
def test_framing(size: int, remaining: int, kafka: str | None, expected: int | None) -> None:
    """17 bytes or fewer end the data; a size below 14 is corrupt; an entry past the end ends the data."""
    header = bytes(8) + size.to_bytes(4, "big", signed=True)
    chosen = None if kafka is None else release(kafka)
    found = entry_size(header, 0, remaining=remaining, release=chosen, message_size_max=100)
    assert expected == found


def test_recovery_of_0_10_2_may_know_no_largest_size() -> None:
    header = bytes(8) + (101).to_bytes(4, "big")
    assert entry_size(header, 0, remaining=120, release=release("0.10.2")) == 113


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
