"""Which segments a span of time leaves out: what real brokers wrote, and what only looks like it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases import release
from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.formats.transaction_index import ABORTED_TXN
from kcheck.model.depth import Depth
from kcheck.model.entries import Offset
from kcheck.model.finding import Location
from kcheck.model.report import PartitionFilter
from kcheck.model.segments import SegmentView
from kcheck.segments.segment import examine
from kcheck.segments.time_span import TimeSpan
from kcheck.verbs.check import ReadOptions, check
from tests.builders import batch, broker, flip_byte, index, log, message, partition_dir, run, write
from tests.reports import EVERY, document, ids
from tests.segments.test_transactions import of_producer

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"
SCENES = sorted(path for path in BROKERS.glob("*/*") if path.is_dir())


def logs(scene: Path) -> dict[Path, tuple[SegmentView, bool]]:
    """Return what stands in each `.log` of a scene, and whether it is the last of its partition."""
    found = {}
    for path in sorted(scene.rglob("*.log")):
        last = max(path.parent.glob("*.log")) == path
        found[path] = (examine(str(path), Location(dir=path.parent.name), Offset(int(path.stem)), verify=False), last)
    return found


def checked(*paths: str, window: TimeSpan, kafka: str = "4.3") -> dict[str, Any]:
    """Return what `kcheck check` says of a span of time."""
    report = check(
        [*paths],
        depth=Depth.CRC,
        as_kind=None,
        wanted=EVERY,
        release=release(kafka),
        reading=ReadOptions(span=window),
    )
    return document(report)


@pytest.mark.parametrize("scene", SCENES, ids=lambda path: str(path.relative_to(BROKERS)))
def test_since_leaves_out_what_is_older(scene: Path) -> None:
    """No segment with a record from the time on, as its batches tell; every other one whose index has an entry."""
    for path, (view, last) in logs(scene).items():
        newest, base = view.max_timestamp, view.base_offset
        assert not TimeSpan(since=newest).leaves_out(str(path), base, active=last)
        if view.time_index is not None and view.time_index.entries and not view.time_index.counts:
            assert TimeSpan(since=newest + 1).leaves_out(str(path), base, active=last)


@pytest.mark.parametrize("scene", SCENES, ids=lambda path: str(path.relative_to(BROKERS)))
def test_no_window_raises_an_alarm(scene: Path) -> None:
    """Of the scenes of real brokers: a finding with some segments left out is one without a window too."""
    kafka = ".".join(scene.parent.name.split(".")[:2]) if scene.parent.name[0] != "0" else scene.parent.name
    paths = [f"{folder.name.removeprefix('broker-')}={folder}" for folder in sorted(scene.glob("broker-*"))]
    stamps = sorted({view.max_timestamp for view, _ in logs(scene).values() if view.max_timestamp >= 0})
    every = {json.dumps(row) for row in checked(*paths, window=TimeSpan(), kafka=kafka)["findings"]}
    assert stamps
    some = [stamps[len(stamps) * part // 4] for part in range(4)]
    windows = [TimeSpan(since=at) for at in some] + [TimeSpan(until=at) for at in some]
    windows += [TimeSpan(since=stamps[-1] + 1), TimeSpan(until=stamps[0] - 10**9), TimeSpan(some[1], some[2])]
    skipped = set()
    for window in windows:
        found = checked(*paths, window=window, kafka=kafka)
        skipped.add(found["checked"]["segments_skipped"])
        assert {json.dumps(row) for row in found["findings"]} <= every, window
    assert len(skipped) > 1


NAME = "00000000000000000100"
T = 1_700_000_000_000
"""The timestamp of what `tests.builders` makes; a batch of one has T + 1 as its largest."""


def times(*entries: tuple[int, int]) -> bytes:
    """Return a time index of (timestamp, relative offset)."""
    return b"".join(TIME_INDEX_ENTRY.pack(*entry) for entry in entries)


def left_out(
    folder: Path, time_index: bytes | None, *, since: int | None = None, until: int | None = None,
    data: bytes | None = None, offsets: bytes = b"", active: bool = False,
) -> bool:  # fmt: skip
    """Whether a segment with these files is left out."""
    write(folder, {f"{NAME}.log": log([batch(100)]) if data is None else data, f"{NAME}.index": offsets})
    if time_index is not None:
        write(folder, {f"{NAME}.timeindex": time_index})
    return TimeSpan(since, until).leaves_out(str(folder / f"{NAME}.log"), Offset(100), active=active)


def test_a_whole_time_index_decides(tmp_path: Path) -> None:
    """By its last entry; both ends belong to the span."""
    index_of_two = times((T - 5, 0), (T, 3))
    assert not left_out(tmp_path, index_of_two)
    assert not left_out(tmp_path, index_of_two, since=T)
    assert left_out(tmp_path, index_of_two, since=T + 1)
    assert not left_out(tmp_path, index_of_two, until=T)
    assert left_out(tmp_path, index_of_two, until=T - 1)
    assert not left_out(tmp_path, index_of_two, since=T, until=T)


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
def test_without_a_whole_time_index_a_segment_is_read(tmp_path: Path, damaged: bytes | None) -> None:
    """It is missing, empty, has zeros behind it, or is out of order: then what it says is not believed."""
    assert left_out(tmp_path, times((T, 3)), since=T + 1)
    (tmp_path / f"{NAME}.timeindex").unlink()
    for span in ({"since": T + 10**9}, {"until": T - 10**9}):
        assert not left_out(tmp_path, damaged, **span)


def test_what_the_last_segment_got_last_is_not_in_its_index(tmp_path: Path) -> None:
    """While it is written to: behind the last entry of its offset index, newer batches may stand."""
    made = [batch(100, timestamp=T - 9), batch(101, timestamp=T - 8), batch(102, timestamp=T)]
    offsets = index((1, len(made[0].data)))
    data, room = log(made), bytes(1200)
    for of_times in (times((T - 7, 1)), times((T - 7, 1)) + room):
        files: dict[str, Any] = {"data": data, "offsets": offsets + room, "active": True}
        assert not left_out(tmp_path, of_times, since=T + 1, **files)
        assert left_out(tmp_path, of_times, since=T + 2, **files)
        assert not left_out(tmp_path, of_times, since=T + 2, **{**files, "data": data + b"torn"})
    assert not left_out(tmp_path, times((T + 5, 0)), since=T + 5, **files)


def test_a_long_tail_of_the_last_segment_is_not_walked(tmp_path: Path) -> None:
    """It is read instead."""
    data = log([batch(100, payload=bytes(2 << 20))])
    assert not left_out(tmp_path, times((T, 0)), since=T + 10**9, data=data, active=True)


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
def test_the_first_batch_tells_where_a_segment_begins(tmp_path: Path, attributes: int, first: int, out: bool) -> None:
    data = bytearray(batch(100).data)
    data[ATTRIBUTES_AT : ATTRIBUTES_AT + 2] = attributes.to_bytes(2, "big")
    data[FIRST_TIMESTAMP_AT : FIRST_TIMESTAMP_AT + 8] = first.to_bytes(8, "big", signed=True)
    assert out == left_out(tmp_path, times((T + 1, 0)), until=T - 60 if out else T - 70, data=bytes(data))


@pytest.mark.parametrize(("magic", "out"), [(1, True), (0, False)])
def test_an_old_message_may_have_a_timestamp(tmp_path: Path, magic: int, out: bool) -> None:
    data = log([message(100, bytes(40), magic=magic)])
    assert out == left_out(tmp_path, times((T, 0)), until=T - 1, data=data)


@pytest.mark.parametrize("data", [b"", bytes(20)])
def test_a_segment_without_a_batch_is_read(tmp_path: Path, data: bytes) -> None:
    assert not left_out(tmp_path, times((T, 0)), until=0, data=data)


def test_a_segment_that_is_gone_is_read(tmp_path: Path) -> None:
    """To be told as such."""
    write(tmp_path, {f"{NAME}.timeindex": times((T, 0))})
    assert not TimeSpan(until=0).leaves_out(str(tmp_path / f"{NAME}.log"), Offset(100), active=False)


def three(folder: Path, *, old: int = 1) -> Path:
    """Write a partition of three segments; the time index of one of them is older than the others."""
    partition_dir(folder, [run(0, 99), run(100, 199), run(200, 299)])
    for number, base in enumerate((0, 100, 200)):
        stamp = T - 1000 if number == old else T + 1
        write(folder, {f"{base:020}.timeindex": times((stamp, 0))})
    return folder


def test_what_is_left_out_is_counted_and_not_read(tmp_path: Path) -> None:
    """A flipped bit in a segment shows only where that is read."""
    path = three(broker(tmp_path / "data", run(0, 9), partition="u-0") / "t-0")
    flip_byte(path / f"{NAME}.log", 90)
    every, some = (checked(str(tmp_path / "data"), window=window) for window in (TimeSpan(), TimeSpan(since=T - 100)))
    assert "KC141" in ids(every)
    assert "KC141" not in ids(some)
    assert "segments_skipped" not in every["checked"]
    assert 1 == some["checked"]["segments_skipped"]
    assert every["checked"]["segments"] == some["checked"]["segments"]
    assert every["checked"]["bytes"] - 1000 - 72 - 12 == some["checked"]["bytes"]


def test_at_the_depth_of_the_checkpoints_nothing_is_left_out(tmp_path: Path) -> None:
    three(tmp_path / "t-0")
    reading = ReadOptions(span=TimeSpan(since=T - 100))
    report = check(
        [str(tmp_path / "t-0")], depth=Depth.CHECKPOINTS, as_kind=None, wanted=PartitionFilter(),
        release=release("4.3"), reading=reading,
    )  # fmt: skip
    assert 0 == document(report)["checked"]["segments_skipped"]


def test_a_segment_that_was_named_is_read(tmp_path: Path) -> None:
    path = three(tmp_path / "t-0")
    assert 1000 < checked(str(path / f"{NAME}.log"), window=TimeSpan(since=T + 10**9))["checked"]["bytes"]


def test_replicas_are_compared_where_they_were_read(tmp_path: Path) -> None:
    """What a time leaves out is not; the epochs are then those of the files."""
    for number in (1, 2):
        three(broker(tmp_path / f"d{number}", run(0, 9), broker_id=number, partition="u-0") / "t-0", old=number - 1)
    changed = run(100, 199, payload=b"y" * 39)
    write(tmp_path / "d2" / "t-0", {f"{NAME}.log": log(changed)})
    paths = [str(tmp_path / "d1"), str(tmp_path / "d2")]
    assert "KC401" in ids(checked(*paths, window=TimeSpan()))
    found = ids(checked(*paths, window=TimeSpan(since=T - 100)))
    assert not {"KC401", "KC402"} & set(found)
    write(tmp_path / "d2" / "t-0", {f"{200:020}.log": log(run(200, 299, payload=b"z" * 39))})
    assert "KC401" in ids(checked(*paths, window=TimeSpan(since=T - 100)))


def test_what_is_not_read_ends_what_is_known_of_transactions(tmp_path: Path) -> None:
    """Left out or unreadable: a transaction seems to begin where an earlier one of its producer did."""
    segments = [
        [of_producer(0, 10, 7)],
        [of_producer(10, 1, 7, marker=1), of_producer(11, 9, 7)],
        [of_producer(20, 5, 7), of_producer(25, 1, 7, marker=0)],
    ]
    path = partition_dir(tmp_path / "t-0", segments, index_every=None)
    entry = ABORTED_TXN.pack(0, 7, 11, 25, 11)
    for base, stamp in ((0, T), (10, T - 1000), (20, T)):
        write(path, {f"{base:020}.timeindex": times((stamp, 0)), f"{base:020}.txnindex": entry if base == 20 else b""})
    assert "KC172" not in ids(checked(str(path), window=TimeSpan()))
    left = checked(str(path), window=TimeSpan(since=T - 10))
    assert (1, False) == (left["checked"]["segments_skipped"], "KC172" in ids(left))
    (path / f"{10:020}.log").unlink()
    os.mkfifo(path / f"{10:020}.log")
    found = ids(checked(str(path), window=TimeSpan()))
    assert ("KC001" in found, "KC172" in found) == (True, False)
    write(path, {f"{20:020}.txnindex": b""})
    (path / f"{10:020}.log").unlink()
    assert "KC172" in ids(checked(str(path), window=TimeSpan()))
