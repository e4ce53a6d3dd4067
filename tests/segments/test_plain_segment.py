"""A small segment without a fault is told without the engine, as the engine tells it; with one it is not told."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastcrc import crc32

from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.finding import Location
from kcheck.model.segments import SegmentView
from kcheck.rules._contract import Scope
from kcheck.segments import plain_segment as small
from kcheck.segments.producer_snapshots import cuts, snapshot_offsets
from kcheck.segments.segment import examine
from tests.builders import Made, batch, log
from tests.cases.build import shared_copies
from tests.rules.build import found_by_all
from tests.test_brokers import BROKERS

Told = tuple[SegmentView, bool]


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, bool], Told]:
    """Return what tells of a segment what the engine finds, and whether it was told without; both must be the same.

    No rule finds anything where its precondition does not hold: `found_by_all` asserts it.
    """
    without = small.sound

    def look(path: Path, verify: bool) -> Told:
        where, base = Location(dir=path.parent.name, file=path.name), int(path.stem)
        told: list[SegmentView | None] = []

        def sound(*args: Any, **how: Any) -> SegmentView | None:
            told.append(without(*args, **how))
            return told[-1]

        asked = cuts(snapshot_offsets(each.name for each in path.parent.iterdir()), base, None)
        monkeypatch.setattr(small, "sound", sound)
        found = examine(str(path), where, base, verify=verify, cuts=asked)
        monkeypatch.setattr(small, "sound", lambda *_args, **_how: None)
        assert examine(str(path), where, base, verify=verify, cuts=asked) == found
        inside = found._replace(files=frozenset(each.name for each in path.parent.iterdir()))
        for view in (inside, inside._replace(active=False)):
            found_by_all(view, Scope.SEGMENT)
        return found, any(view is not None for view in told)

    return look


@pytest.mark.parametrize(("root", "least"), [(lambda: BROKERS, 0.5), (shared_copies, 0.2)], ids=["brokers", "cases"])
def test_segments_of_fixtures(both: Callable[[Path, bool], Told], root: Callable[[], Path], least: float) -> None:
    """Of real brokers of all releases most are small, whole, and without transactions; of the cases many."""
    paths = [path for path in root().rglob("*.log") if path.stem.isdigit() and path.is_file()]
    told = [both(path, verify)[1] for path in paths for verify in (False, True)]
    assert sum(told) > len(told) * least


def of_producer(base: int, count: int, sequence: int) -> Made:
    """Return a batch of producer 7."""
    made = batch(base, count, payload=b"x" * 39, timestamp=1000 + base)
    data = bytearray(made.data)
    struct.pack_into(">qhi", data, 43, 7, 0, sequence)
    struct.pack_into(">I", data, 17, crc32.iscsi(bytes(data[21:])))
    return Made(data=bytes(data), base_offset=base, last_offset=made.last_offset)


def write(folder: Path, made: list[Made]) -> Path:
    """Write a segment with indexes: two entries, and room behind those of the offset index."""
    path = folder / "00000000000000000100.log"
    path.write_bytes(log(made))
    second = len(made[0].data)
    offsets = OFFSET_INDEX_ENTRY.pack(9, 0) + OFFSET_INDEX_ENTRY.pack(14, second)
    path.with_suffix(".index").write_bytes(offsets + bytes(16))
    times = TIME_INDEX_ENTRY.pack(1100, 9) + TIME_INDEX_ENTRY.pack(1115, 14)
    path.with_suffix(".timeindex").write_bytes(times)
    return path


MADE = [batch(100, 10, payload=b"x" * 39, timestamp=1090), of_producer(110, 5, 3), of_producer(115, 5, 8)]


def test_a_whole_segment_is_told_without_the_engine(tmp_path: Path, both: Callable[[Path, bool], Told]) -> None:
    found, told = both(write(tmp_path, MADE), True)
    assert told
    assert (3, 1120, 2) == (found.batches, found.max_timestamp, found.offset_index.entries if found.offset_index else 0)


@pytest.mark.parametrize("ending", [".log", ".index", ".timeindex"])
@pytest.mark.parametrize("verify", [False, True])
def test_every_flipped_byte_is_told_as_by_the_engine(
    tmp_path: Path, both: Callable[[Path, bool], Told], ending: str, verify: bool
) -> None:
    """And every file that is cut short there."""
    path = write(tmp_path, MADE).with_suffix(ending)
    data = path.read_bytes()
    for position in range(len(data)):
        flipped = bytes((data[position] ^ 0xFF,))
        for damaged in (data[:position] + flipped + data[position + 1 :], data[:position]):
            path.write_bytes(damaged)
            both(path.with_suffix(".log"), verify)


def test_what_is_no_fault_is_told_without_the_engine(tmp_path: Path, both: Callable[[Path, bool], Told]) -> None:
    """Gaps of a cleaner, an empty segment, no indexes."""
    assert both(write(tmp_path, [MADE[0], MADE[2]]), True)[1] is False
    path = tmp_path / "00000000000000000007.log"
    path.write_bytes(log([batch(9, 2), batch(20, 2)]))
    assert both(path, True)[1]
    path.write_bytes(b"")
    assert both(path, True)[1]


@pytest.mark.parametrize(
    "made",
    [
        [of_producer(100, 5, 3), of_producer(105, 5, 9)],
        [of_producer(100, 5, 3), of_producer(105, 5, 3)],
        [batch(100 + number, payload=b"x") for number in range(150)],
    ],
    ids=["a gap of sequences", "a repeated sequence", "many batches"],
)
def test_what_is_left_to_the_engine(tmp_path: Path, both: Callable[[Path, bool], Told], made: list[Made]) -> None:
    path = tmp_path / "00000000000000000100.log"
    path.write_bytes(log(made))
    assert both(path, True)[1] is False
