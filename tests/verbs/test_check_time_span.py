"""What `kcheck check` leaves out for a span of time, and what it says of the rest."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats.transaction_index import ABORTED_TXN
from kcheck.model.depth import Depth
from kcheck.model.report import PartitionFilter
from kcheck.segments.time_span import TimeSpan
from kcheck.verbs.check import ReadOptions, check
from tests.builders import broker, flip_byte, log, partition_dir, run, times, write
from tests.reports import EVERY, document, ids
from tests.segments.test_time_span import BROKERS, NAME, SCENES, T, logs
from tests.segments.test_transactions import of_producer


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


def told(row: dict[str, Any]) -> str:
    """Return a finding without its advice, which can depend on what is found in other replicas."""
    return json.dumps({name: value for name, value in row.items() if name != "advice"})


@pytest.mark.sample(6)
@pytest.mark.parametrize("scene", SCENES, ids=lambda path: str(path.relative_to(BROKERS)))
def test_no_window_raises_an_alarm(scene: Path) -> None:
    """Of the scenes of real brokers: a finding with some segments left out is one without a window too."""
    kafka = ".".join(scene.parent.name.split(".")[:2]) if scene.parent.name[0] != "0" else scene.parent.name
    paths = [f"{folder.name.removeprefix('broker-')}={folder}" for folder in sorted(scene.glob("broker-*"))]
    stamps = sorted({view.max_timestamp for view, _ in logs(scene).values() if view.max_timestamp >= 0})
    every = {told(row) for row in checked(*paths, window=TimeSpan(), kafka=kafka)["findings"]}
    assert stamps
    some = [stamps[len(stamps) * part // 4] for part in range(4)]
    windows = [TimeSpan(since=at) for at in some] + [TimeSpan(until=at) for at in some]
    windows += [TimeSpan(since=stamps[-1] + 1), TimeSpan(until=stamps[0] - 10**9), TimeSpan(some[1], some[2])]
    skipped = set()
    for window in windows:
        found = checked(*paths, window=window, kafka=kafka)
        skipped.add(found["checked"]["segments_skipped"])
        assert {told(row) for row in found["findings"]} <= every, window
    assert len(skipped) > 1


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
