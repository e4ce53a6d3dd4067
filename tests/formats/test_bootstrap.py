"""What ends the start of KRaft with its `bootstrap.checkpoint`; tests/oracle/starts/test_identities.py asks Kafka."""

import struct
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats._bootstrap import bootstrap_reads
from kcheck.records.batch import CONTROL, OVERHEAD
from tests.record_bytes import batch_of, old_message, record, wrapper

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"
WHOLE = (BROKERS / "4.3.1" / "snapshot" / "broker-1" / "data1" / "bootstrap.checkpoint").read_bytes()
FIRST_SIZE = OVERHEAD.size + int(OVERHEAD.unpack_from(WHOLE)[1])
NOT_NAMED = "no metadata.version record"


def level(number: int, version: bytes = b"\0", name: bytes = b"metadata.version") -> bytes:
    """Return the value of a FeatureLevelRecord."""
    return b"\1\x0c" + version + bytes([len(name) + 1]) + name + struct.pack(">h", number) + b"\0"


def odd(value: bytes | None, *, key: bytes | None = None, attributes: int = 0) -> bytes:
    """Return a batch whose CRC does not match: it is decoded."""
    return _flipped(batch_of(record(0, key, value), 1, attributes=attributes), 17)


def _flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def header(kind: int) -> bytes:
    """Return a control batch."""
    return odd(bytes(11), key=struct.pack(">hh", 0, kind), attributes=CONTROL)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (WHOLE, None),
        (
            WHOLE[: FIRST_SIZE - 1] + b"x" + WHOLE[FIRST_SIZE:],
            "the batch at position 0: record 0 is unreadable",
        ),
        (WHOLE[:FIRST_SIZE], NOT_NAMED),
        (b"", NOT_NAMED),
        (WHOLE + bytes(17), None),
        (WHOLE + bytes(18), f"no valid batch at position {len(WHOLE)}"),
        (odd(level(7)), None),
        (odd(level(99)), None),
        (odd(level(7, b"\x05")), None),
        (odd(level(7, b"\x80\x05")), None),
        (odd(level(1, name=b"group.version")), NOT_NAMED),
        (old_message(0, None, level(7)), None),
        (_flipped(old_message(0, None, level(7)), 12), None),
        (_flipped(old_message(0, None, b"", attributes=1), 12), "record 0 is unreadable: no gzip header"),
        (_flipped(wrapper(0, old_message(0, None, level(7)) + bytes(3)), 12), None),
        (header(3) + odd(level(7)), None),
        (header(0), "unexpected control record of type 0"),
        (header(6)[:-11] + b"", NOT_NAMED),
        (odd(b"1", key=b"", attributes=CONTROL), "the key of the control record is of 0 bytes"),
        (odd(None), "the record at offset 0: the record has no value"),
        (odd(b"\1\x0c\0"), "the record at offset 0: "),
        (odd(b"\2\x0c\0"), "the record at offset 0: frame version 2 is not known"),
        (odd(level(7, b"\xff\xff\x07")), "the record at offset 0: version 131071 of FeatureLevelRecord is not known"),
        (_flipped(batch_of(b"", 0), 17), "it has no records"),
        (struct.pack(">qiib", 0, 40, 0, 2) + bytes(35), "its 52 bytes are too few for a header"),
    ],
)
def test_what_ends_a_start_as_bootstrap(data: bytes, why: str | None) -> None:
    """No release before 3.3 has the file."""
    said = bootstrap_reads(data, release("4.3")).error
    assert (why is None) == (said is None)
    assert (why or "") in (said or "")
    assert bootstrap_reads(data, release("3.2")).error is None


@pytest.mark.parametrize(("kafka", "most"), [("3.3", 7), ("3.9", 23)])
def test_levels_that_a_release_knows(kafka: str, most: int) -> None:
    """From 4.0 on this reader takes any."""
    for number, known in ((1, True), (most, True), (most + 1, False), (0, False)):
        data = batch_of(record(0, None, level(number)), 1)
        assert known == (bootstrap_reads(data, release(kafka)).error is None)
        assert bootstrap_reads(data, release("4.0")).error is None


def test_control_records_of_older_releases() -> None:
    """The version and the voters of KRaft stand there from 3.9 on."""
    data = odd(bytes(5), key=struct.pack(">hh", 0, 5), attributes=CONTROL) + odd(level(7))
    assert bootstrap_reads(data, release("3.9")).error is None
    assert "type 5" in (bootstrap_reads(data, release("3.8")).error or "")
