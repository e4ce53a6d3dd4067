"""Which segments a span of time leaves out: what real brokers wrote, and what only looks like it."""

from pathlib import Path
from typing import Any

import pytest

from kcheck.disk.local import LOCAL
from kcheck.model.entries import Offset
from kcheck.model.finding import Location
from kcheck.model.segments import SegmentView
from kcheck.segments.segment import read_segment
from kcheck.segments.time_span import TimeSpan
from tests.builders import BytesFiles, batch, index, log, message, times

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"
SCENES = sorted(path for path in BROKERS.glob("*/*") if path.is_dir())


def logs(scene: Path) -> dict[Path, tuple[SegmentView, bool]]:
    """Return what stands in each `.log` of a scene, and whether it is the last of its partition."""
    found = {}
    for path in sorted(scene.rglob("*.log")):
        last = max(path.parent.glob("*.log")) == path
        files, where = LOCAL.directory(str(path.parent)), Location(dir=path.parent.name)
        found[path] = (read_segment(files, path.name, where, Offset(int(path.stem)), verify=False), last)
    return found


@pytest.mark.parametrize("scene", SCENES, ids=lambda path: str(path.relative_to(BROKERS)))
def test_since_leaves_out_what_is_older(scene: Path) -> None:
    """No segment with a record from the time on, as its batches tell; every other one whose index has an entry."""
    for path, (view, last) in logs(scene).items():
        newest, base = view.max_timestamp, view.base_offset
        assert not TimeSpan(since=newest).excludes(LOCAL.directory(str(path.parent)), base, active=last)
        if view.time_index is not None and view.time_index.entries and not view.time_index.counts:
            assert TimeSpan(since=newest + 1).excludes(LOCAL.directory(str(path.parent)), base, active=last)


NAME = "00000000000000000100"
T = 1_700_000_000_000
"""The timestamp of what `tests.builders` makes; a batch of one has T + 1 as its largest."""


def left_out(
    time_index: bytes | None, *, since: int | None = None, until: int | None = None,
    data: bytes | None = None, offsets: bytes = b"", active: bool = False,
) -> bool:  # fmt: skip
    """Whether a segment with these files is left out."""
    files = {f"{NAME}.log": log([batch(100)]) if data is None else data, f"{NAME}.index": offsets}
    if time_index is not None:
        files[f"{NAME}.timeindex"] = time_index
    return TimeSpan(since, until).excludes(BytesFiles(files), Offset(100), active=active)


def test_a_whole_time_index_decides() -> None:
    """By its last entry; both ends belong to the span."""
    index_of_two = times((T - 5, 0), (T, 3))
    assert not left_out(index_of_two)
    assert not left_out(index_of_two, since=T)
    assert left_out(index_of_two, since=T + 1)
    assert not left_out(index_of_two, until=T)
    assert left_out(index_of_two, until=T - 1)
    assert not left_out(index_of_two, since=T, until=T)


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        b"",
        bytes(24),
        times((T, 3)) + bytes(12),
        times((T, 3)) + b"\1",
        times((T, 3), (T, 4)),
        times((T, 3), (T - 1, 4)),
        times((T - 1, 3), (T, 2)),
        times((-1, 3)),
        times((T, -1)),
    ],
)
def test_without_a_whole_time_index_a_segment_is_read(damaged: bytes | None) -> None:
    """It is missing, empty, has zeros behind it, or is out of order: then what it says is not believed."""
    assert left_out(times((T, 3)), since=T + 1)
    for span in ({"since": T + 10**9}, {"until": T - 10**9}):
        assert not left_out(damaged, **span)


def test_what_the_last_segment_got_last_is_not_in_its_index() -> None:
    """While it is written to: behind the last entry of its offset index, newer batches may stand."""
    made = [batch(100, timestamp=T - 9), batch(101, timestamp=T - 8), batch(102, timestamp=T)]
    offsets = index((1, len(made[0].data)))
    data, room = log(made), bytes(1200)
    for of_times in (times((T - 7, 1)), times((T - 7, 1)) + room):
        files: dict[str, Any] = {"data": data, "offsets": offsets + room, "active": True}
        assert not left_out(of_times, since=T + 1, **files)
        assert left_out(of_times, since=T + 2, **files)
        assert not left_out(of_times, since=T + 2, **{**files, "data": data + b"torn"})
    assert not left_out(times((T + 5, 0)), since=T + 5, **files)


def test_a_long_tail_of_the_last_segment_is_not_walked() -> None:
    """It is read instead."""
    data = log([batch(100, payload=bytes(2 << 20))])
    assert not left_out(times((T, 0)), since=T + 10**9, data=data, active=True)


FIRST_TIMESTAMP_AT, ATTRIBUTES_AT = 27, 21


@pytest.mark.parametrize(
    ("attributes", "first", "out"),
    [
        (0, T - 50, True),
        (0, T - 100, False),
        (0, -1, False),
        (8, T - 1000, True),  # LogAppendTime: the largest timestamp is that of all
        (0x40, T + 10**9, False),  # compaction put a time of deletion there
    ],
)
def test_the_first_batch_tells_where_a_segment_begins(attributes: int, first: int, out: bool) -> None:
    data = bytearray(batch(100).data)
    data[ATTRIBUTES_AT : ATTRIBUTES_AT + 2] = attributes.to_bytes(2, "big")
    data[FIRST_TIMESTAMP_AT : FIRST_TIMESTAMP_AT + 8] = first.to_bytes(8, "big", signed=True)
    assert out == left_out(times((T + 1, 0)), until=T - 60 if out else T - 70, data=bytes(data))


@pytest.mark.parametrize(("magic", "out"), [(1, True), (0, False)])
def test_an_old_message_may_have_a_timestamp(magic: int, out: bool) -> None:
    data = log([message(100, bytes(40), magic=magic)])
    assert out == left_out(times((T, 0)), until=T - 1, data=data)


@pytest.mark.parametrize("data", [b"", bytes(20)])
def test_a_segment_without_a_batch_is_read(data: bytes) -> None:
    assert not left_out(times((T, 0)), until=0, data=data)


def test_a_segment_that_is_gone_is_read() -> None:
    """To be told as such."""
    files = BytesFiles({f"{NAME}.timeindex": times((T, 0))})
    assert not TimeSpan(until=0).excludes(files, Offset(100), active=False)
