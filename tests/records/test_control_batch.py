"""What is wrong inside of control batches and of messages of magic 0 and 1, beyond what the cases show."""

import gzip

import pytest

from kcheck.model.segments import RecordFault
from kcheck.records.control_batch import control_problem
from kcheck.records.message_set import MessageSet, look_into
from tests.builders import batch_of, log, message, record

MARKER, CONTROL = 0x30, 0x20
ABORT, LEADER_CHANGE, NEW = bytes(4), b"\0\0\0\x02", b"\0\0\0\x63"
END = bytes(6)
PRODUCER = (7, 0)
LIMIT = 1000


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        (ABORT, END, None),
        (ABORT + b"more", END + b"more", None),
        (None, END, RecordFault.MARKER),
        (b"\0\0\0", END, RecordFault.CONTROL),
        (LEADER_CHANGE, END, RecordFault.MARKER),
        (NEW, None, RecordFault.MARKER),
        (ABORT, None, RecordFault.MARKER),
        (ABORT, END[1:], RecordFault.SHORT),
        (ABORT, b"\xff" + END, RecordFault.CONTROL),
    ],
)
def test_the_end_of_a_transaction(key: bytes | None, value: bytes | None, fault: RecordFault | None) -> None:
    """EndTransactionMarker.deserialize: which exception it is decides what a start does."""
    found = control_problem(batch_of(5, record(key=key, value=value), attributes=MARKER, producer=PRODUCER).data, LIMIT)
    assert fault == (found and found.fault)


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        (b"\0\0\0\x04", bytes(3), None),
        (b"\0\0\0\x04", bytes(2), RecordFault.RAFT),
        (None, bytes(3), RecordFault.RAFT),
        (NEW, bytes(3), RecordFault.UNUSUAL),
    ],
)
def test_a_record_of_kraft(key: bytes | None, value: bytes, fault: RecordFault | None) -> None:
    """Without a producer."""
    found = control_problem(batch_of(5, record(key=key, value=value), attributes=CONTROL).data, LIMIT)
    assert fault == (found and found.fault)


def test_control_batches_that_no_broker_writes() -> None:
    """Readers take them; what cannot be decoded is told elsewhere."""
    end, second = record(key=ABORT, value=END), record(1, key=ABORT, value=END)
    two = batch_of(5, end, second, attributes=MARKER, producer=PRODUCER)
    plain = batch_of(5, end, attributes=CONTROL, producer=PRODUCER)
    packed = batch_of(5, end, payload=gzip.compress(end), attributes=MARKER | 1, producer=PRODUCER)
    faults = [control_problem(made.data, LIMIT) for made in (two, plain, packed)]
    assert [RecordFault.UNUSUAL] * 3 == [found and found.fault for found in faults]
    assert [1, None, None] == [found and found.record for found in faults]
    assert control_problem(batch_of(5, end[:-1], attributes=MARKER, producer=PRODUCER).data, LIMIT) is None


def test_a_wrapper_has_the_offset_of_its_last_message() -> None:
    """In magic 0; in magic 1 the others are counted from there."""
    inner = gzip.compress(log([message(1, magic=0), message(2, magic=0)]))
    assert MessageSet(2, first=1) == look_into(message(2, inner, magic=0, codec=1).data, LIMIT)
    found = look_into(message(3, inner, magic=0, codec=1).data, LIMIT)
    assert (RecordFault.OFFSET, 1) == (found.fault, found.record)
    assert RecordFault.SIZE == look_into(message(2, inner, magic=0, codec=1).data, 20).fault


def test_what_no_reader_takes_is_told_first() -> None:
    """Before offsets that do not rise; and these before bytes behind the last message, which every reader passes."""
    twice = log([message(1, magic=0), message(1, magic=0)])
    broken = log([message(2, magic=0)])[:-1] + b"x"
    wrapped = [
        gzip.compress(inner) for inner in (twice + broken, twice + bytes(3), log([message(1, magic=0)]) + bytes(3))
    ]
    found = [look_into(message(1, inner, magic=0, codec=1).data, LIMIT) for inner in wrapped]
    assert [RecordFault.MESSAGE, RecordFault.OFFSET, RecordFault.PASSED] == [each.fault for each in found]
    assert [(2, 2), (2, 1), (1, None)] == [(each.decoded, each.record) for each in found]
