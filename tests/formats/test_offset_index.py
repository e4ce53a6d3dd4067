"""Offset indexes: entries, the room behind them, and what is out of order."""

import pytest

from kcheck.formats.offset_index import FORMAT, OffsetIndex, entry, parse, serialize
from kcheck.model.entries import OffsetPosition
from kcheck.records.entry_file import DEFECT_COUNT_MAX

DATA = bytes.fromhex("000000090000100000000012000020ff")
ENTRIES = ((9, 4096), (18, 8447))


@pytest.mark.parametrize("room", [0, 8, 1008])
def test_zeros_behind_the_entries_are_room(room: int) -> None:
    """A running broker keeps it; a killed one leaves it."""
    parsed = parse(DATA + bytes(room))
    assert (parsed.value, parsed.defects) == (OffsetIndex(ENTRIES, room), ())
    assert serialize(parsed.value) == DATA + bytes(room)


def test_an_entry_may_end_in_zeros() -> None:
    data = bytes.fromhex("00000009000010000000000a01000000")
    assert parse(data).value.entries == ((9, 4096), (10, 1 << 24))


@pytest.mark.parametrize("data", [b"", bytes(80)])
def test_an_index_may_be_empty(data: bytes) -> None:
    assert (parse(data).value, parse(data).defects) == (OffsetIndex((), len(data)), ())


def test_offsets_are_relative() -> None:
    assert [entry(DATA, at, 1000) for at in (0, 8)] == [OffsetPosition(1009, 4096), OffsetPosition(1018, 8447)]
    assert entry(DATA, 8, 1000) == OffsetPosition(1018, 8447)


@pytest.mark.parametrize(
    ("data", "defects"),
    [
        (DATA + b"\x01\x02", [(16, "2 bytes after the last complete entry")]),
        (DATA[:9], [(8, "1 byte after the last complete entry")]),
        (bytes(12), [(8, "4 bytes after the last complete entry")]),
        (DATA[8:] + DATA[:8], [(8, "entry 1 is not above the entry before it")]),
        (DATA + DATA[8:], [(16, "entry 2 is not above the entry before it")]),
        (bytes(8) + DATA, []),
        (DATA[:8] + bytes(8) + DATA[8:], [(8, "entry 1 is not above the entry before it")]),
        (b"\xff" + DATA[1:8], [(0, "entry 0 has a negative number")]),
        (DATA[:4] + b"\xff" + DATA[5:8], [(0, "entry 0 has a negative number")]),
    ],
)
def test_defects(data: bytes, defects: list[tuple[int, str]]) -> None:
    assert defects == [(defect.position, defect.message) for defect in parse(data).defects]


def test_a_torn_file_of_zeros_is_written_back() -> None:
    assert serialize(parse(DATA + bytes(12)).value) == DATA + bytes(12)


def test_defects_are_bounded() -> None:
    defects = parse(DATA[:8] * 3000).defects
    assert len(defects) == DEFECT_COUNT_MAX + 1
    assert defects[-1].message == "more defects follow"


def test_json() -> None:
    assert FORMAT.row is not None
    rows = ({"relative_offset": 9, "position": 4096}, {"relative_offset": 18, "position": 8447})
    assert FORMAT.row(parse(DATA + bytes(8)).value) == {"entries": rows, "room": 8}
    assert FORMAT.matches("00000000000000000000.index.deleted")
