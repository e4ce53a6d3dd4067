"""Time indexes: entries, the room behind them, and what is out of order."""

import pytest

from kcheck.formats.time_index import FORMAT, TIME_INDEX_ENTRY, TimeIndex, parse, serialize

ENTRIES = ((1000, 9), (1001, 18))


def _data(*entries: tuple[int, int]) -> bytes:
    return b"".join(TIME_INDEX_ENTRY.pack(*each) for each in entries)


@pytest.mark.parametrize("room", [0, 12, 1008])
def test_zeros_behind_the_entries_are_room(room: int) -> None:
    data = _data(*ENTRIES) + bytes(room)
    assert (parse(data).value, parse(data).defects) == (TimeIndex(ENTRIES, room), ())
    assert serialize(parse(data).value) == data


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (((1000, 9), (1000, 18)), "the timestamp of entry 1 is not above the timestamp of the previous entry"),
        (((1000, 9), (1001, 8)), "the offset of entry 1 is below the offset of the previous entry"),
        (((1000, 9), (1001, -8)), "entry 1 has a negative number"),
        (((1000, 9), (-2, 18)), "entry 1 has a negative number"),
    ],
)
def test_entries_out_of_order(entries: tuple[tuple[int, int], ...], message: str) -> None:
    (defect,) = parse(_data(*entries)).defects
    assert (message, 12) == (defect.message, defect.position)


def test_an_offset_may_repeat() -> None:
    assert not parse(_data((0, 0), (5, 0), (6, 0))).defects


def test_a_torn_entry() -> None:
    (defect,) = parse(_data(*ENTRIES) + b"\x01").defects
    assert (defect.message, defect.position) == ("1 byte after the last complete entry", 24)


def test_json() -> None:
    assert FORMAT.row is not None
    rows = ({"timestamp": 1000, "relative_offset": 9}, {"timestamp": 1001, "relative_offset": 18})
    assert FORMAT.row(parse(_data(*ENTRIES)).value) == {"entries": rows, "room": 0}
    assert FORMAT.matches("00000000000000000000.timeindex")
