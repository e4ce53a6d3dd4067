"""The records of a batch: every field, and what ends them."""

from pathlib import Path

import pytest

from kcheck.records.batch import HEADER
from kcheck.records.record import Record, Unread, read_records
from tests.builders import FIRST_TIMESTAMP
from tests.record_bytes import batch_of, old_message, record, varint, with_overhead, wrapper

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"
THREE = record(0) + record(1, None, b"v", headers=[(b"a", b"1"), (b"b", None)]) + record(2, b"", None)


def found(batch: bytes) -> tuple[list[Record], Unread | None]:
    """Return the records, and what ends them."""
    read = list(read_records(batch))
    last = read.pop() if read and isinstance(read[-1], Unread) else None
    assert not any(isinstance(one, Unread) for one in read)
    return [one for one in read if isinstance(one, Record)], last if isinstance(last, Unread) else None


def contents(batch: bytes) -> list[tuple[int, bytes | None, bytes | None]]:
    """Return offset, key and value of records that can all be read."""
    read, unread = found(batch)
    assert unread is None
    return [(one.offset, _bytes(one.key), _bytes(one.value)) for one in read]


def _bytes(data: bytes | memoryview | None) -> bytes | None:
    return None if data is None else bytes(data)


@pytest.mark.parametrize("codec", range(5))
def test_the_records_of_every_codec(codec: int) -> None:
    assert [(7, b"key", b"value"), (8, None, b"v"), (9, b"", None)] == contents(
        batch_of(THREE, 3, base_offset=7, codec=codec)
    )


@pytest.mark.parametrize("version", sorted(path.name for path in BROKERS.iterdir()))
def test_the_records_that_brokers_keep(version: str) -> None:
    """Topic `codecs` has twelve records of each codec, written in order."""
    (path, *_) = sorted((BROKERS / version).glob("stopped/*/*/codecs-0/*.log"))
    data, read = path.read_bytes(), list[tuple[int, bytes | None, bytes | None]]()
    while data:
        size = 12 + int.from_bytes(data[8:12], "big")
        read += contents(data[:size])
        data = data[size:]
    assert list(range(len(read))) == [offset for offset, _, _ in read]
    assert len(read) >= 48
    assert all(key and value == b"value " + key[1:] for _, key, value in read)


def test_headers_and_nulls_that_a_client_wrote() -> None:
    """Twelve records of each codec, the same in all."""
    path = BROKERS / "4.3.1/snapshot/broker-1/data1/headers-0/00000000000000000000.log"
    data, read = path.read_bytes(), list[Record]()
    while data:
        size = 12 + int.from_bytes(data[8:12], "big")
        read += found(data[:size])[0]
        data = data[size:]
    parts = (None, b"", b"\xff\0\n\\", b"plain", "\u00fc\u20ac\U0001f600".encode())
    assert 60 == len(read)
    for number, one in enumerate(read):
        n = number % 12
        assert (parts[n % 5], parts[(n + n // 5) % 5]) == (_bytes(one.key), _bytes(one.value))
        assert [(f"header {h}".encode(), parts[(n + h) % 5]) for h in range(n % 4)] == [
            (bytes(name), _bytes(value)) for name, value in one.headers
        ]


def test_headers_timestamps_and_sequences() -> None:
    batch = batch_of(THREE, 3, producer=(5, 0, 2**31 - 2))
    (first, second, third), _ = found(batch)
    assert [2**31 - 2, 2**31 - 1, 0] == [first.sequence, second.sequence, third.sequence]
    assert ((), ((b"a", b"1"), (b"b", None))) == (first.headers, second.headers)
    assert (0, len(record(0)), None, None) == (first.position, first.size, first.crc, first.valid)
    assert len(record(0)) == second.position
    (late, *_), _ = found(batch_of(record(0, timestamp_delta=-9), 1))
    assert (FIRST_TIMESTAMP - 9, -1) == (late.timestamp, late.sequence)
    (appended, *_), _ = found(batch_of(record(0, timestamp_delta=4), 1, attributes=8, timestamps=(5, 99)))
    assert 99 == appended.timestamp


def test_a_batch_of_no_records_holds_nothing_whatever_stands_there() -> None:
    assert ([], None) == found(batch_of(b"garbage", 0, last_offset=9))


@pytest.mark.parametrize("codec", range(5))
@pytest.mark.parametrize(
    ("body", "count", "read", "said"),
    [
        (THREE, 2, 2, "bytes follow the last of 2 records"),
        (THREE, 5, 3, "2 of 5 records are missing"),
        (THREE, -1, 0, "the batch says to hold -1 records"),
        (record(0) + varint(-1), 2, 1, "its size of -1 bytes does not fit: 0 are left"),
        (record(0) + varint(100) + b"abc", 2, 1, "its size of 100 bytes does not fit: 3 are left"),
        (record(0) + b"\x80", 2, 1, "it breaks off in a number"),
        (record(0) + b"\xff" * 5, 2, 1, "a number of more than 32 bits"),
        (record(0) + varint(0), 2, 1, "it has no bytes"),
        (varint(12) + b"\0" + b"\xff" * 11, 1, 0, "a number of more than 64 bits"),
        (varint(4) + b"\0\0\0" + varint(60), 1, 0, "its key of 60 bytes does not fit: 0 are left"),
        (varint(5) + b"\0\0\0\1" + varint(60), 1, 0, "its value of 60 bytes does not fit: 0 are left"),
        (varint(6) + b"\0\0\0\1\1" + varint(60), 1, 0, "its 60 headers do not fit into 0 bytes"),
        (varint(6) + b"\0\0\0\1\1" + varint(-1), 1, 0, "its -1 headers do not fit into 0 bytes"),
        (varint(7) + b"\0\0\0\1\1\0\0", 1, 0, "its fields end after 6 of 7 bytes"),
        (record(0, headers=[(None, b"1")]), 1, 0, "the key of a header is null"),
        (varint(8) + b"\0\0\0\1\1\2\0" + varint(60), 1, 0, "its header value of 60 bytes does not fit"),
    ],
)
def test_what_ends_the_records(codec: int, body: bytes, count: int, read: int, said: str) -> None:
    """As it ends those of Kafka's readers; the last of a batch with bytes behind it can be read all the same."""
    records, unread = found(batch_of(body, count, codec=codec, last_offset=9))
    assert unread is not None
    assert (read, read if count >= 0 else 0) == (len(records), unread.number)
    assert said in unread.message
    assert sum(one.size for one in records) == unread.position


def test_a_number_wraps_as_an_int_does() -> None:
    """The bits of the fifth byte that an int has no room for are lost (ByteUtils)."""
    long = b"\x80\x80\x80\x80\x70"
    assert [(0, None, None)] == contents(batch_of(varint(10) + b"\0\0" + long + b"\1\1\0", 1))


@pytest.mark.parametrize("codec", range(1, 5))
def test_records_before_damage_of_the_codec(codec: int) -> None:
    """What was decompressed is read, and the reason is that of the codec."""
    batch = bytearray(batch_of(THREE * 50, 150, codec=codec))
    read, unread = found(bytes(batch[: HEADER.size + 20]))
    assert unread is not None
    assert len(read) < 150
    assert unread.message


def test_an_unknown_codec_ends_the_records() -> None:
    assert ([], Unread(0, 0, "the compression 7 is not known")) == found(batch_of(THREE, 3, codec=7))


def test_a_batch_of_no_known_magic_is_read_as_magic_2() -> None:
    assert 3 == len(found(batch_of(THREE, 3, magic=3))[0])


@pytest.mark.parametrize("magic", [0, 1])
def test_a_message(magic: int) -> None:
    data = old_message(5, None, b"v", magic=magic)
    (read,), unread = found(data)
    assert unread is None
    assert (5, None, b"v", True) == (read.offset, read.key, read.value and bytes(read.value), read.valid)
    assert (FIRST_TIMESTAMP if magic else None, -1, ()) == (read.timestamp, read.sequence, read.headers)
    assert not found(data[:-1] + b"x")[0][0].valid


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (bytes(8) + b"\0\0\0\x09abc", "its key of 9 bytes does not fit: 3 are left"),
        (bytes(8) + b"\0\0\0\1a\0\0\0\x09abc", "its value of 9 bytes does not fit: 3 are left"),
        (bytes(8) + b"\0\0\0\1a\0\0", "it ends before its value"),
        (bytes(8) + b"\0\0", "it ends before its key"),
    ],
)
def test_a_message_that_breaks_off(fields: bytes, said: str) -> None:
    assert ([], Unread(0, 0, said)) == found(with_overhead(0, 1, 0, fields))
    assert ([], Unread(0, 0, said)) == found(with_overhead(0, 1, 1, fields))
    assert ([], Unread(0, 0, said)) == found(wrapper(0, with_overhead(0, 1, 0, fields)))


INNER = b"".join(old_message(offset, b"k", str(offset).encode()) for offset in range(3))


@pytest.mark.parametrize("codec", [1, 2, 3])
def test_the_messages_of_a_wrapper(codec: int) -> None:
    """Magic 1: the wrapper has the offset of the last, theirs count from the first; 0 says that they are as they are.

    Magic 0: they are as they are.
    """
    assert [10, 11, 12] == [offset for offset, _, _ in contents(wrapper(12, INNER, codec=codec))]
    assert [0, 1, 2] == [offset for offset, _, _ in contents(wrapper(0, INNER, codec=codec))]
    absolute = b"".join(old_message(offset, magic=0) for offset in (20, 22))
    assert [20, 22] == [offset for offset, _, _ in contents(wrapper(22, absolute, codec=codec, magic=0))]


def test_the_timestamp_of_a_wrapper() -> None:
    """Holds for all in it where the broker set it."""
    assert {FIRST_TIMESTAMP} == {one.timestamp for one in found(wrapper(2, INNER, timestamp=9))[0]}
    assert {9} == {one.timestamp for one in found(wrapper(2, INNER, timestamp=9, attributes=8))[0]}


@pytest.mark.parametrize(
    ("batch", "read", "said"),
    [
        (wrapper(12, b""), 0, "the wrapper holds no message"),
        (wrapper(0, b""), 0, "the wrapper holds no message"),
        (wrapper(1, INNER), 0, "the offset 1 of the wrapper is below 2, the offset of the last message in it"),
        (wrapper(12, INNER + bytes(7)), 3, "7 bytes follow the last complete message"),
        (wrapper(12, INNER + INNER[:20]), 3, "20 bytes follow the last complete message"),
        (wrapper(12, INNER + bytes(14)), 0, "a message of 0 bytes"),
        (wrapper(12, INNER + bytes(14), magic=0), 3, "a message of 0 bytes"),
        (wrapper(12, INNER + wrapper(3, INNER)), 3, "a message in a wrapper is compressed itself"),
        (wrapper(12, INNER)[:-4] + bytes(4), 0, "the gzip trailer has another CRC or size"),
        (wrapper(12, INNER, codec=4), 0, "a wrapper of magic 1 is never compressed with zstd"),
        (old_message(12, None, None, attributes=1), 0, "the value of the wrapper is null"),
        (with_overhead(12, -1, 1, bytes(20)), 0, "no wrapper has the magic -1"),
    ],
)
def test_what_ends_the_messages_of_a_wrapper(batch: bytes, read: int, said: str) -> None:
    """The offsets of magic 1 are known only where the last message can be read."""
    records, unread = found(batch)
    assert unread is not None
    assert (read, read, said) == (len(records), unread.number, unread.message)


def test_a_message_in_a_wrapper_that_was_changed() -> None:
    """Its own CRC tells."""
    changed = INNER[:-1] + b"x"
    assert [True, True, False] == [one.valid for one in found(wrapper(12, changed))[0]]


def test_no_more_is_read_than_asked_for() -> None:
    read = list(read_records(batch_of(record(0, b"", bytes(5000)), 1, codec=1), size_max=1000))
    assert [Unread(0, 0, "more than 1000 bytes after decompression")] == read
