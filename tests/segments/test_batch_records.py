"""What is told of the records inside of batches: of each codec and format, and of hostile bytes within bounds."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kcheck.model.finding import Location
from kcheck.model.segments import FAULT_COUNT_MAX, FaultyRecord, RecordFault, RecordsView
from kcheck.records.record import Record, read_records
from kcheck.segments import batch_records as records
from kcheck.segments import header_columns as window
from kcheck.segments.segment import read_segment
from tests import strategies
from tests.builders import FIRST_TIMESTAMP, BytesFiles, Made, batch, batch_of, log, message, record, varint
from tests.compressed import gzip, lz4, xerial, zstd

FRAMING, OFFSET, TIMESTAMP = RecordFault.FRAMING, RecordFault.OFFSET, RecordFault.TIMESTAMP

CODECS: dict[int, Callable[[bytes], bytes]] = {0: bytes, 1: gzip, 2: xerial, 3: lz4, 4: zstd}


@pytest.fixture(autouse=True, params=[4 << 20, 400], ids=["one window", "many windows"])
def _window(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large windows and small ones, with batches beyond them; the same for what is decompressed."""
    monkeypatch.setattr(window, "WINDOW_SIZE", request.param)
    monkeypatch.setattr(records, "_POOL_SIZE", request.param)


def inside(*made: Made, reads_zstd: bool = True) -> RecordsView:
    """Return what is told of the records of a segment."""
    name = "00000000000000000000.log"
    files = BytesFiles({name: log(made)})
    found = read_segment(files, name, Location(file=name), 0, verify=True, decode=True, reads_zstd=reads_zstd)
    assert found.records is not None
    return found.records


def packed(base: int, codec: int, *parts: bytes, **how: int) -> Made:
    """Return a batch with its records compressed."""
    return batch_of(base, *parts, payload=CODECS[codec](b"".join(parts)), attributes=codec, **how)


@pytest.mark.parametrize("codec", CODECS)
def test_sound_records(codec: int) -> None:
    """Headers, nulls, gaps of compaction: nothing is told."""
    parts = [
        record(0, 0, key=b"k", headers=[(b"a", b"1"), (b"", None)]),
        record(3, -5, value=None),
        record(64, 70, key=b"x" * 70, value=bytes(300)),
    ]
    made = [packed(base, codec, *parts, last_offset=base + 99, max_timestamp=FIRST_TIMESTAMP + 70) for base in (0, 100)]
    assert RecordsView(6, (), {}, 2) == inside(*made)


def test_times_of_the_broker_are_not_compared() -> None:
    """LogAppendTime: every record has the time of the header."""
    assert RecordsView(1, (), {}, 1) == inside(batch_of(0, record(0, 9), attributes=8, max_timestamp=5))


def test_a_batch_that_was_emptied() -> None:
    """The cleaner leaves the header."""
    assert RecordsView(0, (), {}) == inside(batch(0, 0, last_offset=9), batch(10, 0, last_offset=9))


A, B = record(0), record(1)
LATER = FIRST_TIMESTAMP + 7
FAULTS: list[tuple[bytes, bytes, RecordFault, int | None, str, int]] = [
    (A, B[:-1] + b"\x02", FRAMING, 1, "its fields, from byte 12 of 24 on, do not end where its length says", 1),
    (A, b"\x18" + B[1:], FRAMING, 1, "its length, at byte 12 of 24, cannot be", 1),
    (A, b"\x80" * 5 + b"\x01" + B, FRAMING, 1, "its length, at byte 12 of 30, cannot be", 1),
    (A, b"\x80", FRAMING, 1, "its length, at byte 12 of 13, cannot be", 1),
    (A, b"", FRAMING, None, "its header names 2 records, its 12 bytes hold 1", 1),
    (A, B + b"\0", FRAMING, None, "1 of 25 bytes follow its 2 records", 2),
    (A, A, OFFSET, 1, "it has offset 0, and the one before it 0", 2),
    (record(-1), B, OFFSET, 0, "it has offset -1, and the batch begins at 0", 2),
    (A, record(2), OFFSET, 1, "it has offset 2, and the batch ends at 1", 2),
    (
        A,
        record(1, 7),
        TIMESTAMP,
        None,
        f"the largest timestamp is {LATER - 7} in its header and {LATER} in its records",
        2,
    ),
]
"""Two records, and what is told of them: the fault, the number of the record, why, and how many can be decoded."""


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_a_fault_is_told_once(number: int, codec: int) -> None:
    """With its place; the batches around it are read."""
    first, second, fault, at, problem, decoded = FAULTS[number]
    found = inside(packed(0, codec, first, second), packed(2, codec, A, B))
    assert RecordsView(decoded + 2, (FaultyRecord(fault, 0, 0, 1, at, problem),), {fault: 1}) == found._replace(
        keyless=0
    )


@pytest.mark.parametrize("codec", CODECS)
def test_batches_without_a_byte_of_records(codec: int) -> None:
    """As many as are stepped side by side: nothing is there to be read."""
    made = (batch(base, 1, payload=CODECS[codec](b""), attributes=codec) for base in range(150))
    assert {FRAMING: 150} == inside(*made).counts


@pytest.mark.parametrize("codec", [1, 2, 3, 4, 5])
def test_what_does_not_decompress(codec: int) -> None:
    """The codec is named."""
    found = inside(batch_of(0, A, payload=b"none of these", attributes=codec), batch_of(1, A))
    (fault,) = found.faults
    name = {1: "gzip", 2: "snappy", 3: "lz4", 4: "zstd", 5: "codec 5"}[codec]
    assert (RecordFault.COMPRESSION, name, 1) == (fault.fault, fault.problem.partition(":")[0], found.decoded)


def test_zstd_is_not_known_to_every_release() -> None:
    (fault,) = inside(packed(0, 4, A), packed(1, 1, A), reads_zstd=False).faults
    assert (RecordFault.COMPRESSION, 0) == (fault.fault, fault.position)


@pytest.mark.parametrize("codec", CODECS)
def test_a_batch_that_names_no_record_is_passed(codec: int) -> None:
    """Whatever stands in it."""
    found = inside(batch(0, 0, last_offset=0, payload=CODECS[codec](A), attributes=codec), batch_of(1, A))
    assert ({RecordFault.PASSED: 1}, 1) == (found.counts, found.decoded)


def test_records_of_a_wrong_crc_are_not_looked_into() -> None:
    made = batch_of(0, A)
    data = made.data[:-1] + b"\x7f"
    assert RecordsView(0, (), {}) == inside(Made(data=data, base_offset=0, last_offset=0))


def test_faults_are_counted_and_some_are_kept() -> None:
    count = FAULT_COUNT_MAX + 20
    made = [batch_of(base, A, max_timestamp=1) for base in range(count)]
    made += [batch_of(base, A, payload=b"no gzip", attributes=1) for base in range(count, 2 * count)]
    found = inside(*made)
    assert {RecordFault.TIMESTAMP: count, RecordFault.COMPRESSION: count} == found.counts
    assert 2 * FAULT_COUNT_MAX == len(found.faults)


def test_messages_and_wrappers() -> None:
    """Of magic 0 and 1; offsets in a wrapper of magic 1 begin at 0."""
    old = gzip(log([message(1, magic=0), message(2, magic=0)]))
    new = gzip(log([message(0), message(1)]))
    made = [message(0, magic=0), message(2, old, magic=0, codec=1), message(3), message(5, new, codec=1)]
    assert RecordsView(6, (), {}) == inside(*made)


@pytest.mark.parametrize("magic", [0, 1])
def test_a_wrapper_that_begins_below_earlier_offsets(magic: int) -> None:
    """KAFKA-3919; one whose last offset is too low as well is out of order, which its header says."""
    inner = log([message(number if magic else number + 2, magic=magic) for number in range(4)])
    reaching = message(5, gzip(inner), magic=magic, codec=1)
    found = inside(*(message(offset, magic=magic) for offset in range(4)), reaching, message(6, magic=magic))
    assert {RecordFault.OVERLAP: 1} == found.counts
    assert "it holds offsets 2-5, but offsets 2-3 precede it" == found.faults[0].problem
    assert {} == inside(message(5, magic=magic), reaching).counts
    assert {} == inside(message(1, magic=magic), reaching).counts


BOMB = record(0, value=bytes(records.BODY_SIZE_MAX))


@pytest.mark.parametrize("codec", CODECS)
def test_a_bomb_is_not_read(codec: int) -> None:
    """Nor a plain batch of that size; the records of the others are."""
    found = inside(packed(0, codec, BOMB), batch_of(1, A))
    assert ({RecordFault.SIZE: 1}, 1) == (found.counts, found.decoded)


def test_a_bomb_in_a_wrapper_is_not_read() -> None:
    found = inside(message(0, gzip(bytes(records.BODY_SIZE_MAX + 1)), codec=1))
    assert {RecordFault.SIZE: 1} == found.counts


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (b"", 2**31 - 1),
        (A * 3, 2**31 - 1),
        (b"\xfe\xff\xff\xff\x0f" * 9, 2**31 - 1),
        (b"\x80" * 2000, 2**31 - 1),
        (b"\0" * 60_000, 2**31 - 1),
        (varint(20) + bytes(3) + varint(2**31 - 1) * 4, 1),
        (varint(16) + bytes(3) + varint(-(2**31)) + varint(2**31 - 1) + bytes(8), 1),
        (varint(60_005) + bytes(5) + varint(30_000)[:-1] + bytes(60_000), 1),
        (record(headers=[(b"", None)] * 30_000), 1),
    ],
)
def test_hostile_bytes_take_no_longer_than_others(body: bytes, count: int) -> None:
    """A number that a header states costs nothing, and positions that overflow lead nowhere."""
    start = time.process_time()
    found = inside(
        *(batch(base, count, last_offset=base, payload=body, max_timestamp=FIRST_TIMESTAMP) for base in range(3)),
    )
    assert time.process_time() - start < 10
    sound = body == record(headers=[(b"", None)] * 30_000)
    assert ({} if sound else {FRAMING: 3}) == {fault: many for fault, many in found.counts.items() if fault is FRAMING}


@settings(max_examples=40)
@given(seed=strategies.seeds(), codec=st.sampled_from([*CODECS]))
def test_batches_are_whole_where_the_plain_reader_says_so(seed: int, codec: int) -> None:
    """The reader of `dump --records` stops where a fault is told; a batch of no records has no bytes."""
    batches = [
        batch(base, count, last_offset=base, payload=CODECS[codec](body), attributes=codec | 8)
        for base, (body, count) in enumerate(strategies.bodies_of(seed))
        if count
    ]
    expected = {}
    for each in batches:
        found = list(read_records(each.data))
        if not isinstance(found[-1], Record):
            expected[each.base_offset] = len(found) - 1
    view = inside(*batches)
    framing = [fault for fault in view.faults if fault.fault is RecordFault.FRAMING]
    assert len(expected) == view.counts.get(RecordFault.FRAMING, 0)
    assert [*expected][:FAULT_COUNT_MAX] == sorted(fault.base_offset for fault in framing)
    for fault in framing:
        assert fault.record in (None, expected[fault.base_offset])
