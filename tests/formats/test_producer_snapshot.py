"""Producer snapshots: the producers, and what the broker's reader refuses."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats.producer_snapshot import CORRUPT, FORMAT, Producer, ProducerSnapshot, broker_reads, parse, serialize
from kcheck.records.batch import crc32c

DATA = bytes.fromhex(
    "0001d17b5f3f0000000100000000000003e8000000000004000000000000000e0000000400000174876e800000000007000000000000000a"
)
EMPTY = bytes.fromhex("000148674bc700000000")
PRODUCER = Producer(1000, 0, 4, 14, 4, 1_600_000_000_000, 7, 10)


def _summed(data: bytes) -> bytes:
    """Return the file with the CRC that its bytes have."""
    return data[:2] + crc32c(data[6:]).to_bytes(4, "big") + data[6:]


@pytest.mark.parametrize(("data", "producers"), [(DATA, (PRODUCER,)), (EMPTY, ())])
def test_files_as_brokers_write_them(data: bytes, producers: tuple[Producer, ...]) -> None:
    parsed = parse(data)
    assert (parsed.value, parsed.defects) == (ProducerSnapshot(1, producers), ())
    assert serialize(parsed.value) == data
    assert broker_reads(data, release("4.3")).value == parsed.value


@pytest.mark.parametrize(
    ("data", "positions", "count"),
    [
        (b"", [0], 0),
        (DATA[:9], [0], 0),
        (DATA[:30], [2, 6], 0),
        (_summed(DATA[:30]), [6], 0),
        (b"\0\2" + DATA[2:], [0], 1),
        (DATA[:-1] + b"\x0b", [2], 1),
        (_summed(DATA[:9] + b"\x02" + DATA[10:]), [6], 1),
        (_summed(DATA[:6] + b"\xff" * 4 + DATA[10:]), [6], 0),
        (_summed(DATA[:6] + b"\x7f" + DATA[7:]), [6], 1),
    ],
)
def test_what_the_broker_refuses(data: bytes, positions: list[int], count: int) -> None:
    """It deletes such a file and takes an older one. Here every whole producer is kept."""
    assert broker_reads(data, release("0.11.0")).error == CORRUPT
    parsed = parse(data)
    assert positions == [defect.position for defect in parsed.defects]
    assert len(parsed.value.producers) == count


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", "SchemaException"),
        (_summed(DATA[:30]), "SchemaException"),
        (b"\0\2" + DATA[2:], "IllegalArgumentException"),
        (DATA[:-1] + b"\x0b", CORRUPT),
    ],
)
def test_what_ends_a_start_of_0_11_0_0(data: bytes, error: str) -> None:
    """It deletes only files whose CRC is wrong."""
    assert broker_reads(data, release("0.11.0.0")).error == error


def test_bytes_behind_the_last_producer_are_read_over() -> None:
    """Where the CRC covers them too."""
    data = _summed(DATA + b"x")
    assert [defect.position for defect in parse(data).defects] == [6]
    assert broker_reads(data, release("4.3")).value == ProducerSnapshot(1, (PRODUCER,))
    assert broker_reads(DATA + b"x", release("4.3")).error == CORRUPT


def test_producer_ids_that_the_broker_does_not_check() -> None:
    data = serialize(ProducerSnapshot(1, (PRODUCER, PRODUCER._replace(producer_id=-5), PRODUCER)))
    told = [(defect.message, defect.position, defect.accepted) for defect in parse(data).defects]
    assert told == [
        ("producer id -5 is negative", 56, True),
        ("producer id 1000 occurs twice", 102, True),
    ]
    assert broker_reads(data, release("4.3")).error is None


def test_no_broker_up_to_0_10_2_has_one() -> None:
    assert broker_reads(DATA, release("0.10.2")).value == ProducerSnapshot(None, ())


def test_json() -> None:
    assert FORMAT.row is not None
    assert FORMAT.row(ProducerSnapshot(1, (PRODUCER,))) == {"version": 1, "producers": (PRODUCER._asdict(),)}
    assert FORMAT.matches("00000000000000000010.snapshot")
