"""The indexes of a segment that is loaded: AbstractIndex, OffsetIndex, TimeIndex."""

import numpy as np
import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Settings
from kcheck.startup.index import LoadedOffsetIndex, LoadedTimeIndex, index_interval, made_with
from kcheck.startup.virtual_files import Folder, StartError
from tests.builders import index
from tests.startup.folders import folder_of, name

V22 = release("2.2")
INDEX, TIME_INDEX = name(100, ".index"), name(100, ".timeindex")


def offset_index(data: bytes | None, max_size: int = 80) -> LoadedOffsetIndex:
    """Open an offset index of base offset 100."""
    folder = folder_of({} if data is None else {INDEX: data})
    return LoadedOffsetIndex(folder, INDEX, 100, max_size)


def time_index(*entries: tuple[int, int]) -> LoadedTimeIndex:
    """Return a time index of base offset 100 with these entries."""
    made = LoadedTimeIndex(folder_of({}), TIME_INDEX, 100, 120)
    made.write(*np.array(entries, np.int64).reshape(-1, 2).T)
    return made


def test_a_missing_index_is_created_at_its_full_size() -> None:
    """AbstractIndex: segment.index.bytes rounded down to whole entries; a new file has no entry."""
    made = offset_index(None, max_size=85)
    assert (80, 10, 0, 100) == (made.length, made.room, made.entries, made.last_offset)
    with pytest.raises(StartError):
        offset_index(None, max_size=7)


def test_every_slot_of_an_existing_index_is_an_entry() -> None:
    """AbstractIndex: zeros after the last entry count, and their offset is the base offset (S7)."""
    zeros = offset_index(index((5, 300)) + bytes(16))
    assert (3, 100, (5, 300)) == (zeros.entries, zeros.last_offset, zeros.slot(0))
    assert (0, 0) == zeros.slot(2)


def test_a_lookup_finds_the_largest_entry_not_above() -> None:
    """OffsetIndex.lookup: position 0 below the first entry."""
    made = offset_index(index((5, 300), (9, 700)))
    assert [0, 300, 300, 700] == [made.lookup(offset) for offset in (104, 105, 108, 500)]


def test_a_truncation_removes_entries_at_or_above_the_offset() -> None:
    """OffsetIndex.truncateTo, TimeIndex.truncateTo."""
    made = offset_index(index((5, 300), (9, 700)))
    made.truncate_to(109)
    assert (1, 105) == (made.entries, made.last_offset)
    made.truncate_to(107)
    assert made.entries == 1
    made.truncate_to(101)
    assert made.entries == 0
    times = time_index((1000, 5), (2000, 9))
    times.truncate_to(109)
    assert times.entries == 1


def test_entries_must_fit() -> None:
    """AbstractIndex.resize: more entries than segment.index.bytes abort the start (rule 4.5)."""
    made = offset_index(index((5, 300), (9, 700)), max_size=8)
    with pytest.raises(StartError, match="IllegalArgumentException"):
        made.resize_to_full()


def test_the_offset_index_is_checked_up_to_2_2() -> None:
    """OffsetIndex.sanityCheck: whole entries, and a last offset not below the base offset (up to 1.1 above it)."""
    assert offset_index(index((5, 300))).problem(V22) is None
    assert "multiple" in (offset_index(index((5, 300)) + b"x").problem(V22) or "")
    assert "below" in (offset_index(index((-5, 300))).problem(V22) or "")
    at_base = offset_index(index((0, 300)))
    assert at_base.problem(V22) is None
    assert at_base.problem(release("1.0")) is not None


@pytest.mark.parametrize(
    ("entries", "passes"),
    [(((1000, 5), (2000, 9)), True), (((2000, 5), (1000, 9)), False), (((1000, -5),), False), ((), True)],
)
def test_the_time_index_is_checked_up_to_2_2(entries: tuple[tuple[int, int], ...], passes: bool) -> None:
    """TimeIndex.sanityCheck: the last entry is not before the first one in time, nor below the base offset."""
    assert passes == (time_index(*entries).problem(V22) is None)


def folder_with(index_size: int, time_size: int) -> Folder:
    """Return a log whose last segment has indexes of these sizes, full of zeros."""
    return folder_of({name(100): b"", INDEX: bytes(index_size), TIME_INDEX: bytes(time_size)})


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [((80, 72), 80), ((80, 84), 84), ((80, 120), None), ((0, 0), None)],
    ids=["offset index", "time index", "they differ", "truncated"],
)
def test_the_active_indexes_show_segment_index_bytes(sizes: tuple[int, int], expected: int | None) -> None:
    """AbstractIndex: both have the setting as their size, rounded down to whole entries of 8 and 12 bytes."""
    assert expected == made_with(folder_with(*sizes))


def test_entries_up_to_the_end_show_no_setting() -> None:
    """A clean shutdown truncates both indexes after their last entry (trimToValidSize)."""
    assert made_with(folder_of({name(100): b"", INDEX: index((5, 300)), TIME_INDEX: bytes(12)})) is None
    assert made_with(folder_of({})) is None


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (((1, 100), (2, 170), (4, 250)), 69),
        (((1, 5000), (2, 9500)), 4096),
        (((1, 100), (2, 90)), 4096),
        (((2, 100), (1, 200)), 4096),
        (((1, 100), (2, 20_000)), 4096),
        ((), 4096),
    ],
    ids=["closer", "not closer", "positions fall", "offsets fall", "behind the log", "no entries"],
)
def test_entries_show_index_interval_bytes(entries: tuple[tuple[int, int], ...], expected: int) -> None:
    """LogSegment.append adds an entry once more bytes than index.interval.bytes have followed the one before."""
    folder = folder_of({name(100): bytes(10_000), INDEX: index(*entries) + bytes(80)})
    assert expected == index_interval(folder, Settings())
    assert 4096 == index_interval(folder, Settings(index_interval_said=True))


def test_the_newest_index_with_entries_shows_it() -> None:
    """The active segment may have none yet."""
    files = {name(100): bytes(10_000), INDEX: index((1, 100)), name(200): bytes(500)}
    assert 99 == index_interval(folder_of(files), Settings())
