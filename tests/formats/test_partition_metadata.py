"""partition.metadata: what kcheck reads, what each release's reader makes of it."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats.partition_metadata import FORMAT, PartitionMetadata, broker_reads, parse, serialize

ID = "qzsY3uLbQ9mBq1s8vT0oWg"
VALID = f"version: 0\ntopic_id: {ID}".encode()
NPE, IAE, IO = "NullPointerException", "IllegalArgumentException", "IOException"


def test_a_file_as_brokers_write_it() -> None:
    """43 bytes, without a line end after the second line."""
    assert len(VALID) == 43
    parsed = parse(VALID)
    assert not parsed.defects
    assert parsed.value == PartitionMetadata(0, ID) == broker_reads(VALID, release("2.8")).value
    assert serialize(parsed.value) == VALID


@pytest.mark.parametrize(
    ("data", "error", "line", "position"),
    [
        (b"", NPE, 1, 0),
        (b"version: 0", NPE, 2, 10),
        (b"version: 0\n", NPE, 2, 11),
        (b"version:0\n" + VALID[11:], IO, 1, 0),
        (bytes(43), IO, 1, 0),
        (b"version: 0 \n" + VALID[11:], IO, 1, 0),
        (b"version: -1\n" + VALID[11:], IO, 1, 0),
        (b"version: 0: 1\n" + VALID[11:], IO, 1, 0),
        (b"version: 0\r\ntopic_id: ", IO, 2, 12),
        (b"version: 0\ntopic_id: : " + ID.encode(), IO, 2, 11),
        (VALID[:-1], IAE, 2, 11),
        (VALID + b"!", IAE, 2, 11),
        (VALID + b" ", IAE, 2, 11),
        (VALID + b"=", IAE, 2, 11),
        (VALID.replace(b"Lb", b"/b"), IAE, 2, 11),
        (b"version: 0\ntopic_id: " + b"A" * 22, IO, 2, 11),
        (b"\xff" + VALID, "MalformedInputException", 1, 0),
        (VALID + b"\xff", "MalformedInputException", 1, 0),
    ],
)
def test_what_every_reader_refuses(data: bytes, error: str, line: int, position: int) -> None:
    for kafka in ("2.8", "3.6", "4.3"):
        assert error == broker_reads(data, release(kafka)).error
    (defect,) = parse(data).defects
    assert (line, position, False) == (defect.line, defect.position, defect.accepted)


@pytest.mark.parametrize(
    "data",
    [
        VALID + b"\n",
        VALID + b"==",
        VALID + b": ",
        VALID + b": : : ",
        VALID[:-1] + b"h",
        VALID.replace(b"\n", b"\r\n") + b"\r\nmore",
        b"x:\t+0\ny:  " + ID.encode(),
    ],
)
def test_what_every_reader_accepts_but_no_broker_writes(data: bytes) -> None:
    """The keys are not looked at, nor what follows the second line, nor the spare bits of the last character."""
    parsed = parse(data)
    assert [defect.accepted for defect in parsed.defects] == [True]
    assert parsed.value == PartitionMetadata(0, ID) == broker_reads(data, release("4.3")).value


def test_undecodable_bytes_are_seen_with_the_buffer_they_are_in() -> None:
    """Two lines that stand in the reader's buffer already are read, whatever comes later."""
    data = VALID + b"\n" + b"7" * 9000
    assert broker_reads(data + b"\xff", release("4.3")).value == PartitionMetadata(0, ID)
    assert broker_reads(b"version: 0\n" + b"7" * 9000 + b"\xff", release("4.3")).error == "MalformedInputException"


def test_what_can_be_read_is_kept() -> None:
    assert parse(b"version: x\ntopic_id: " + ID.encode()).value == PartitionMetadata(None, ID)
    assert parse(b"version: 0\ntopic_id: ?").value == PartitionMetadata(0, None)


def test_later_versions_are_accepted_from_3_7_on() -> None:
    data = VALID.replace(b"0", b"5", 1)
    assert broker_reads(data, release("3.6")).error == IO
    assert broker_reads(data, release("3.7")).value == PartitionMetadata(5, ID)
    assert not parse(data).defects
    assert serialize(parse(data).value) == data


def test_the_metadata_log_has_a_reserved_id() -> None:
    data = b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ"
    assert not parse(data).defects


def test_no_broker_up_to_2_7_looks_at_it() -> None:
    assert broker_reads(b"", release("2.7")).value == PartitionMetadata(None, None)


def test_json() -> None:
    assert FORMAT.row is not None
    assert FORMAT.row(parse(VALID).value) == {"version": 0, "topic_id": ID}
    assert FORMAT.matches("partition.metadata")
