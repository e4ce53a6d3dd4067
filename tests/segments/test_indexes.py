"""What is wrong with an offset index or a time index is told of each entry, however the batches pass by."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kcheck.disk.local import LOCAL
from kcheck.model.finding import Location
from kcheck.model.segments import EntryFault, FaultyEntry, IndexView
from kcheck.model.source import BytesSource, Filled
from kcheck.segments import header_columns as read
from kcheck.segments import plain_segment as small
from kcheck.segments.header_columns import HeaderReader
from kcheck.segments.indexes import OffsetIndexCheck, TimeIndexCheck
from kcheck.segments.segment import read_segment
from tests.builders import Made, batch, index, index_of, log, message, run, times

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"
BASE = 1000
MADE = run(BASE, BASE + 199)
"""20 batches of 100 bytes and 10 offsets."""
RISING = [batch(BASE + 10 * number, 10, timestamp=100 * number, payload=b"x" * 39) for number in range(20)]
"""The same with timestamps: the largest of number n is 100 n + 10."""
WHERE = Location(dir="t-0", file="x")

Entry = tuple[int, int]


@pytest.fixture(autouse=True, params=[4 << 20, 300], ids=["one window", "many windows"])
def _window(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All batches in one window, and windows of three; all are read by the engine."""
    monkeypatch.setattr(small, "SIZE_MAX", -1)
    monkeypatch.setattr(read, "WINDOW_SIZE", request.param)


def view(made: Sequence[Made], data: bytes, check: type[OffsetIndexCheck | TimeIndexCheck]) -> IndexView:
    """Return what a check tells of an index."""
    checking = check(Filled(data, len(data)), WHERE, BASE)
    for columns in HeaderReader(BytesSource(log(made)), verify=False):
        checking.take(columns)
    return checking.view()


def offset_view(made: Sequence[Made], *entries: Entry) -> IndexView:
    """Return what is told of an offset index of (relative offset, position)."""
    return view(made, index(*entries), OffsetIndexCheck)


def time_view(made: Sequence[Made], *entries: Entry) -> IndexView:
    """Return what is told of a time index of (timestamp, relative offset)."""
    return view(made, times(*entries), TimeIndexCheck)


def sound() -> list[Entry]:
    """Return the offset index of `MADE`: entry n is of batch n + 1."""
    return [(10 * number + 9, 100 * number) for number in range(1, 20)]


def sound_times() -> list[Entry]:
    """Return the time index of `RISING`: entry n is of batch n + 1."""
    return [(100 * number + 10, 10 * number + 9) for number in range(1, 20)]


def faults(found: IndexView) -> list[tuple[EntryFault, int, int, int]]:
    """Return the faults: kind, number, relative offset, value; all are kept here."""
    assert sum(found.counts.values()) == len(found.faults)
    return [(each.fault, each.number, each.offset - BASE, each.value) for each in found.faults]


def changed(entries: list[Entry], number: int, entry: Entry) -> list[Entry]:
    """Return the entries with one that is another."""
    return [*entries[:number], entry, *entries[number + 1 :]]


@pytest.mark.parametrize("every", [1, 2, 7])
def test_a_sound_offset_index_has_no_fault(every: int) -> None:
    data = index_of(MADE, BASE, every=every)
    found = view(MADE, data, OffsetIndexCheck)
    assert IndexView(WHERE, len(data), len(data) // 8, 0, 0, (), {}) == found


def test_a_sound_time_index_has_no_fault() -> None:
    assert IndexView(WHERE, 228, 19, 0, 0, (), {}, 1910) == time_view(RISING, *sound_times())


def test_an_entry_may_name_any_offset_of_its_batch() -> None:
    """And a position before it: where to begin to look."""
    assert faults(offset_view(MADE, (10, 100), (25, 200), (49, 300))) == []


@pytest.mark.parametrize("data", [b"", b"\1\2\3", bytes(5), bytes(4096)], ids=["empty", "torn", "zeros", "room"])
@pytest.mark.parametrize("check", [OffsetIndexCheck, TimeIndexCheck])
def test_an_index_without_entries_has_no_fault(data: bytes, check: type[OffsetIndexCheck | TimeIndexCheck]) -> None:
    found = view(MADE, data, check)
    assert (0, len(data), (), {}, None) == (found.entries, found.size, found.faults, found.counts, found.last_timestamp)
    assert len(data) == found.room + found.torn


def test_an_index_of_a_log_without_batches_points_behind() -> None:
    assert [(EntryFault.BEYOND, 0, 9, 0)] == faults(offset_view([], (9, 0)))
    assert [(EntryFault.BEYOND, 0, 9, 5)] == faults(time_view([], (5, 9)))


@pytest.mark.parametrize("room", [8, 10 << 20])
def test_zeros_behind_an_offset_index_are_room(room: int) -> None:
    """An entry that ends in zero bytes stays whole."""
    made = run(BASE, BASE + 26_000, payload=b"x" * 195)
    found = view(made, index((2569, 0x10000)) + bytes(room), OffsetIndexCheck)
    assert (1, room, 0, ()) == (found.entries, found.room, found.torn, found.faults)


@pytest.mark.parametrize("room", [12, 1200])
def test_zeros_behind_a_time_index_are_room(room: int) -> None:
    """The last entry ends in a zero byte."""
    data = times(*sound_times(), (2010, 256))
    made = [*RISING, batch(BASE + 200, 57, timestamp=2010 - 57)]
    found = view(made, data + bytes(room), TimeIndexCheck)
    assert (20, room, 0, (), 2010) == (found.entries, found.room, found.torn, found.faults, found.last_timestamp)


@pytest.mark.parametrize("torn", [b"\1", b"\0\0\0\5", bytes(7)])
def test_bytes_behind_the_last_slot_are_torn(torn: bytes) -> None:
    found = view(MADE, index(*sound()) + torn, OffsetIndexCheck)
    assert (19, 0, len(torn), ()) == (found.entries, found.room, found.torn, found.faults)
    found = view(RISING, times(*sound_times()) + torn, TimeIndexCheck)
    assert (19, 0, len(torn), (), 1910) == (
        found.entries,
        found.room,
        found.torn,
        found.faults,
        found.last_timestamp,
    )


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ((49, 500), {EntryFault.ORDER}),
        ((48, 500), {EntryFault.ORDER}),
        ((59, 400), {EntryFault.ORDER}),
        ((59, 0), {EntryFault.ORDER}),
        ((59, -1), {EntryFault.ORDER}),
        ((-1, 500), {EntryFault.ORDER}),
        ((59, 450), {EntryFault.NO_BATCH}),
        ((59, 501), {EntryFault.NO_BATCH, EntryFault.SKIPS}),
        ((59, 599), {EntryFault.NO_BATCH, EntryFault.SKIPS}),
    ],
)
def test_a_changed_entry_of_an_offset_index_is_told(entry: Entry, expected: set[EntryFault]) -> None:
    """Entry 4 stands at (59, 500)."""
    found = faults(offset_view(MADE, *changed(sound(), 4, entry)))
    assert [(fault, 4, *entry) for fault in sorted(expected)] == found


@pytest.mark.parametrize("entry", [(9, -1), (-1, 0), (-(2**31), -(2**31))])
def test_a_negative_number_in_the_first_entry_is_told(entry: Entry) -> None:
    """Nothing stands before it that it could lie below."""
    assert [(EntryFault.ORDER, 0, *entry)] == faults(offset_view(MADE, entry, (29, 200)))
    assert [(EntryFault.ORDER, 0, *entry)] == faults(time_view(RISING, entry[::-1], (210, 29)))


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ((5000, 1900), {EntryFault.BEYOND}),
        ((200, 1900), {EntryFault.BEYOND}),
        ((2**31 - 1, 2000), {EntryFault.BEYOND}),
        ((199, 2000), {EntryFault.BEYOND, EntryFault.SKIPS}),
    ],
)
def test_an_entry_behind_the_last_batch_is_told(entry: Entry, expected: set[EntryFault]) -> None:
    """It is counted once, whether its offset or its position or both point there."""
    found = faults(offset_view(MADE, *changed(sound(), 18, entry)))
    assert [(fault, 18, *entry) for fault in sorted(expected)] == found


def test_an_entry_that_skips_the_batch_of_its_offset_is_told() -> None:
    found = faults(offset_view(MADE, (29, 200), (39, 400), (69, 600)))
    assert [(EntryFault.SKIPS, 1, 39, 400)] == found


GAPPED = [
    batch(BASE, 10, payload=b"x" * 39, timestamp=0),
    batch(BASE + 20, 10, payload=b"x" * 39, timestamp=100),
    batch(BASE + 30, 10, payload=b"x" * 39, timestamp=200),
    batch(BASE + 50, 10, payload=b"x" * 39, timestamp=300),
]
"""Compaction has left no batch for the relative offsets 10 to 19 and 40 to 49."""


def test_an_offset_that_no_batch_holds_is_told() -> None:
    found = faults(offset_view(GAPPED, (19, 100), (30, 200), (40, 300)))
    assert [(EntryFault.GAP, 0, 19, 100), (EntryFault.GAP, 2, 40, 300)] == found


def test_an_offset_that_no_batch_holds_is_told_of_a_time_index() -> None:
    found = faults(time_view(GAPPED, (10, 9), (110, 10), (210, 39), (310, 49)))
    assert [(EntryFault.GAP, 1, 10, 110), (EntryFault.GAP, 3, 49, 310)] == found


def test_an_offset_below_the_first_batch_is_a_gap() -> None:
    assert [(EntryFault.GAP, 0, 5, 0)] == faults(offset_view(GAPPED[1:], (5, 0)))


def test_a_wrapper_holds_all_offsets_up_to_its_own() -> None:
    """Below magic 2 the first offset is not in the header."""
    made = [message(BASE), message(BASE + 9, codec=1), message(BASE + 19, codec=1)]
    first = len(made[0].data)
    second = first + len(made[1].data)
    assert faults(offset_view(made, (1, first), (10, second))) == []


@pytest.mark.parametrize("entry", [(410, 59), (409, 59), (-1, 59), (510, 48), (510, -1)])
def test_an_entry_of_a_time_index_out_of_order_is_told(entry: Entry) -> None:
    """Entry 4 stands at (510, 59)."""
    found = faults(time_view(RISING, *changed(sound_times(), 4, entry)))
    assert [(EntryFault.ORDER, 4, entry[1], entry[0])] == found


@pytest.mark.parametrize("entry", [(509, 59), (511, 59), (510, 49), (510, 60)])
def test_another_timestamp_than_that_of_the_batch_is_told(entry: Entry) -> None:
    """Two entries may have one offset as far as their order goes."""
    found = faults(time_view(RISING, *changed(sound_times(), 4, entry)))
    assert [(EntryFault.TIMESTAMP, 4, entry[1], entry[0])] == found


@pytest.mark.parametrize("largest", [300, 301, 900])
def test_a_timestamp_that_a_batch_before_has_already_is_told(largest: int) -> None:
    """The largest so far is what an entry names: a search for it would end before that batch."""
    stamps = [0, largest, 100, 50, 300, 1000]
    made = [
        batch(BASE + 10 * number, 10, timestamp=stamp - 10, payload=b"x" * 39) for number, stamp in enumerate(stamps)
    ]
    found = faults(time_view(made, (300, 49), (1000, 59)))
    assert [(EntryFault.TIMESTAMP, 0, 49, 300)] == found


@pytest.mark.parametrize("entry", [(1910, 200), (1911, 5000), (2**63 - 1, 2**31 - 1)])
def test_an_entry_of_a_time_index_behind_the_last_batch_is_told(entry: Entry) -> None:
    view = time_view(RISING, *changed(sound_times(), 18, entry))
    assert [(EntryFault.BEYOND, 18, entry[1], entry[0])] == faults(view)
    assert view.last_timestamp == entry[0]


def test_what_does_not_rise_is_not_looked_up() -> None:
    """One entry out of order, and no other fault is told: nobody knows which of them to believe."""
    found = faults(offset_view(MADE, (19, 100), (15, 150), (5000, 9000)))
    assert [(EntryFault.ORDER, 1, 15, 150)] == found


@pytest.mark.parametrize(
    ("fault", "entries"),
    [
        (EntryFault.NO_BATCH, [(10 * number + 9, 100 * number - 1) for number in range(1, 300)]),
        (EntryFault.SKIPS, [(10 * number - 1, 100 * number) for number in range(1, 300)]),
        (EntryFault.ORDER, [(10, 10)] * 300),
        (EntryFault.BEYOND, [(3000 + number, 30_000 + number) for number in range(299)]),
    ],
)
def test_more_than_100_faults_of_a_kind_are_counted(fault: EntryFault, entries: list[Entry]) -> None:
    """The first 100 are kept."""
    found = offset_view(run(BASE, BASE + 2999), *entries)
    first = 1 if fault is EntryFault.ORDER else 0
    kept = [FaultyEntry(fault, number, BASE + entries[number][0], entries[number][1]) for number in range(300)[:299]]
    kept = [each for each in kept if each.number >= first][:100]
    assert {fault: 299} == dict(found.counts)
    assert tuple(kept) == found.faults


def test_more_than_100_timestamps_are_counted() -> None:
    made = [batch(BASE + number, payload=b"x" * 39, timestamp=10 * number) for number in range(300)]
    found = time_view(made, *[(10 * number + 2, number) for number in range(300)])
    assert {EntryFault.TIMESTAMP: 300} == dict(found.counts)
    assert list(range(100)) == [each.number for each in found.faults]


def test_the_indexes_of_real_brokers_have_no_fault() -> None:
    """Of all releases; so each entry was compared with a batch."""
    entries = {"index": 0, "timeindex": 0}
    for path in BROKERS.glob("*/*/*/*/*/*.log"):
        if path.stat().st_size == 0:
            continue
        where = Location(dir=path.parent.name, file=path.name)
        found = read_segment(LOCAL.directory(str(path.parent)), path.name, where, int(path.stem), verify=False)
        for view in (found.offset_index, found.time_index):
            if view is not None:
                assert ({}, ()) == (view.counts, view.faults), (path, view)
                entries[view.where.file.rpartition(".")[2] if view.where.file else ""] += view.entries
    assert min(entries.values()) > 0
