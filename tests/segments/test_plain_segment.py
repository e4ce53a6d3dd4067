"""A small segment without a fault is told without the engine, as the engine tells it; with one it is not told."""

import os
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from fastcrc import crc32

from kcheck.disk.local import LOCAL
from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.finding import Location
from kcheck.model.segments import SegmentView
from kcheck.model.source import Files
from kcheck.rules import Scope
from kcheck.segments import plain_segment as small
from kcheck.segments.producer_snapshots import offsets_within, snapshot_offsets
from kcheck.segments.segment import read_segment
from tests.builders import BytesFiles, Made, batch, log
from tests.cases.build import shared_copies
from tests.oracle.ask import spread
from tests.rules.build import found_by_all
from tests.test_brokers import BROKERS

Told = tuple[SegmentView, bool]
Look = Callable[[Files, str, bool, Iterable[str]], Told]
NAME = "00000000000000000100"


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Look:
    """Return what tells of a segment what the engine finds, and whether it was told without; both must be the same.

    No rule finds anything where its precondition does not hold: `found_by_all` asserts it.
    """
    without = small.read_plain

    def look(files: Files, name: str, verify: bool, names: Iterable[str]) -> Told:
        where, base = Location(dir="t-0", file=name), int(name.removesuffix(".log"))
        told: list[SegmentView | None] = []

        def sound(*args: Any, **how: Any) -> SegmentView | None:
            told.append(without(*args, **how))
            return told[-1]

        names = frozenset(names)
        asked = offsets_within(snapshot_offsets(names), base, None)
        monkeypatch.setattr(small, "read_plain", sound)
        found = read_segment(files, name, where, base, verify=verify, cuts=asked)
        monkeypatch.setattr(small, "read_plain", lambda *_args, **_how: None)
        assert read_segment(files, name, where, base, verify=verify, cuts=asked) == found
        inside = found._replace(files=names)
        for view in (inside, inside._replace(active=False)):
            found_by_all(view, Scope.SEGMENT)
        return found, any(view is not None for view in told)

    return look


@pytest.mark.parametrize(("root", "least"), [(lambda: BROKERS, 0.5), (shared_copies, 0.2)], ids=["brokers", "cases"])
def test_segments_of_fixtures(both: Look, root: Callable[[], Path], least: float) -> None:
    """Of real brokers of all releases most are small, whole, and without transactions; of the cases many."""
    paths = [path for path in root().rglob("*.log") if path.stem.isdigit() and path.is_file()]
    told = [
        both(LOCAL.directory(str(path.parent)), path.name, verify, os.listdir(path.parent))[1]
        for path in spread(paths, 150)
        for verify in (False, True)
    ]
    assert sum(told) > len(told) * least


def of_producer(base: int, count: int, sequence: int) -> Made:
    """Return a batch of producer 7."""
    made = batch(base, count, payload=b"x" * 39, timestamp=1000 + base)
    data = bytearray(made.data)
    struct.pack_into(">qhi", data, 43, 7, 0, sequence)
    struct.pack_into(">I", data, 17, crc32.iscsi(bytes(data[21:])))
    return Made(data=bytes(data), base_offset=base, last_offset=made.last_offset)


def files_of(made: list[Made]) -> dict[str, bytes]:
    """Return a segment with indexes: two entries, and room behind those of the offset index."""
    second = len(made[0].data)
    offsets = OFFSET_INDEX_ENTRY.pack(9, 0) + OFFSET_INDEX_ENTRY.pack(14, second)
    times = TIME_INDEX_ENTRY.pack(1100, 9) + TIME_INDEX_ENTRY.pack(1115, 14)
    return {f"{NAME}.log": log(made), f"{NAME}.index": offsets + bytes(16), f"{NAME}.timeindex": times}


def look_at(both: Look, files: dict[str, bytes], verify: bool = True) -> Told:
    """Return what is told of the segment among these files."""
    return both(BytesFiles(files), f"{NAME}.log", verify, files)


MADE = [batch(100, 10, payload=b"x" * 39, timestamp=1090), of_producer(110, 5, 3), of_producer(115, 5, 8)]


def test_a_whole_segment_is_told_without_the_engine(both: Look) -> None:
    found, told = look_at(both, files_of(MADE))
    assert told
    assert (3, 1120, 2) == (found.batches, found.max_timestamp, found.offset_index.entries if found.offset_index else 0)


@pytest.mark.sample(3)
@pytest.mark.parametrize("ending", [".log", ".index", ".timeindex"])
@pytest.mark.parametrize("verify", [False, True])
def test_every_flipped_byte_is_told_as_by_the_engine(both: Look, ending: str, verify: bool) -> None:
    """And every file that is cut short there."""
    files = files_of(MADE)
    data = files[NAME + ending]
    for position in range(len(data)):
        flipped = bytes((data[position] ^ 0xFF,))
        for damaged in (data[:position] + flipped + data[position + 1 :], data[:position]):
            look_at(both, {**files, NAME + ending: damaged}, verify)


def test_what_is_no_fault_is_told_without_the_engine(both: Look) -> None:
    """Gaps of a cleaner, an empty segment, no indexes."""
    assert look_at(both, files_of([MADE[0], MADE[2]]))[1] is False
    assert look_at(both, {f"{NAME}.log": log([batch(109, 2), batch(120, 2)])})[1]
    assert look_at(both, {f"{NAME}.log": b""})[1]


@pytest.mark.parametrize(
    "made",
    [
        [of_producer(100, 5, 3), of_producer(105, 5, 9)],
        [of_producer(100, 5, 3), of_producer(105, 5, 3)],
        [batch(100 + number, payload=b"x") for number in range(150)],
    ],
    ids=["a gap of sequences", "a repeated sequence", "many batches"],
)
def test_what_is_left_to_the_engine(both: Look, made: list[Made]) -> None:
    assert look_at(both, {f"{NAME}.log": log(made)})[1] is False
