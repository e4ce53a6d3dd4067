"""leader-epoch-checkpoint: what kcheck reads, what each release's reader makes of it."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats.leader_epoch_checkpoint import FORMAT, broker_reads, parse, serialize
from kcheck.model.entries import EpochEntry

VALID = b"0\n2\n0 0\n6 1200\n"
ENTRIES = (EpochEntry(0, 0), EpochEntry(6, 1200))


def test_a_file_as_brokers_write_it() -> None:
    parsed = parse(VALID)
    assert not parsed.defects
    assert (parsed.value.version, len(parsed.value)) == (0, 2)
    assert parsed.value.entries == ENTRIES
    assert serialize(parsed.value) == VALID
    assert broker_reads(VALID, release("4.3")).value == ENTRIES


@pytest.mark.parametrize("data", [b"", b"0\n0\n"])
def test_empty_files(data: bytes) -> None:
    assert not parse(data).defects
    assert serialize(parse(data).value) == data
    assert broker_reads(data, release("4.3")).value == ()


def test_order_and_sign_are_left_to_others() -> None:
    """The reader takes what its cache then refuses."""
    data = b"0\n3\n5 7\n-1 -2\n5 7\n"
    entries = (EpochEntry(5, 7), EpochEntry(-1, -2), EpochEntry(5, 7))
    assert not parse(data).defects
    assert parse(data).value.entries == entries == broker_reads(data, release("0.11.0")).value


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"0\n0\n1x 1x\n", (3, 1)),
        (b"0\n0\n-1 -\n", (3, 4)),
        (b"0\n0\n1 2 3\n", (3, 1)),
        (b"0\n0\n2147483648 0\n", (3, 1)),
    ],
)
def test_defects_have_their_place(data: bytes, place: tuple[int, int]) -> None:
    (defect,) = parse(data).defects
    assert place == (defect.line, defect.column)
    assert not defect.accepted


def test_an_entry_has_two_fields() -> None:
    (defect,) = parse(b"0\n0\n5\n").defects
    assert defect.message == '"5" has 1 field instead of 2'


@pytest.mark.parametrize(
    ("kafka", "error"), [("0.11.0", "IOException"), ("3.0", "IOException"), ("3.1", "NumberFormatException")]
)
def test_a_number_escapes_from_3_1_on(kafka: str, error: str) -> None:
    assert error == broker_reads(b"0\n1\n1x 5\n", release(kafka)).error


def test_no_broker_up_to_0_10_2_looks_at_it() -> None:
    read = broker_reads(b"\xff", release("0.10.2"))
    assert (read.value, read.error) == ((), None)


def test_json() -> None:
    rows = ({"epoch": 0, "start_offset": 0}, {"epoch": 6, "start_offset": 1200})
    assert FORMAT.row is not None
    assert FORMAT.reads_row is not None
    assert FORMAT.row(parse(VALID).value) == {"version": 0, "entries": rows}
    assert FORMAT.reads_row(ENTRIES) == {"entries": rows}
    assert FORMAT.matches("leader-epoch-checkpoint")
