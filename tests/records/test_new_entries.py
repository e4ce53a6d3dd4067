"""Batches that kcheck writes are what the readers, and an independent writer, take for the same records."""

import pytest

from kcheck.records.batch import body_from, checksum, header_of
from kcheck.records.new_entries import NO_TIMESTAMP, encoded, varint
from kcheck.records.record import Record, read_records
from tests import builders

VALUES = [b"one", b"", b"x" * 200]


def test_a_batch_of_today() -> None:
    """Byte for byte what the tests' own writer makes."""
    records = [builders.record(delta, value=value) for delta, value in enumerate(VALUES)]
    made = builders.batch_of(7, *records, epoch=3, timestamp=NO_TIMESTAMP, max_timestamp=NO_TIMESTAMP)
    assert made.data == encoded(2, 7, 3, VALUES)


@pytest.mark.parametrize("magic", [0, 1])
def test_old_messages(magic: int) -> None:
    """Each record is a message of its own, with the right CRC."""
    data = encoded(magic, 5, 0, VALUES)
    for number, value in enumerate(VALUES, 5):
        size = 12 + int.from_bytes(data[8:12], "big")
        message, data = data[:size], data[size:]
        header = header_of(message, total=size)
        assert (magic, number) == (header.magic, header.last_offset)
        assert header.crc == checksum(message[body_from(magic) :], magic)
        (record,) = read_records(message)
        assert isinstance(record, Record)
        assert (None, value) == (record.key, bytes(record.value or b""))
    assert b"" == data


@pytest.mark.parametrize("number", [0, -1, 1, 63, 64, -64, -65, 300, 1 << 40])
def test_varints(number: int) -> None:
    """Zigzag, seven bits a byte."""
    assert builders.varint(number) == varint(number)
