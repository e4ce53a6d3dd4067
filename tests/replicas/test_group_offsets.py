"""Committed offsets are read from the logs of `__consumer_offsets`, as brokers of all releases write them."""

import struct
from pathlib import Path
from typing import Any

import pytest

from kcheck.disk.local import LOCAL
from kcheck.model.entries import Offset
from kcheck.records.batch import CONTROL, TRANSACTIONAL
from kcheck.replicas import group_offsets
from kcheck.replicas.group_offsets import _take_plain as take_plain
from kcheck.replicas.group_offsets import committed_offsets
from kcheck.replicas.replica import LogFile
from tests.builders import flipped
from tests.record_bytes import batch_of, old_message, record, wrapper

FIXTURES = Path("fixtures/brokers")
IN_TRANSACTION = {"attributes": TRANSACTIONAL, "producer": (7, 0, 0)}
GROUP_METADATA = struct.pack(">hh7s", 2, 7, b"readers")


@pytest.fixture(autouse=True, params=[False, True], ids=["together", "one by one"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches that are read together say the same as one by one."""
    if request.param:
        monkeypatch.setattr(group_offsets, "_take_plain", lambda *_: None)


def log_files(folder: Path) -> tuple[LogFile, ...]:
    """Return the segments of a partition directory."""
    disk = LOCAL.directory(str(folder))
    return tuple(
        LogFile(str(path), Offset(int(path.stem)), path.stat().st_size, disk) for path in sorted(folder.glob("*.log"))
    )


def key(group: str = "readers", partition: int = 0, *, kind: int = 1) -> bytes:
    """Return the key of a commit for topic t."""
    return struct.pack(f">hh{len(group)}sh1si", kind, len(group), group.encode(), 1, b"t", partition)


def value(offset: int, *, version: int = 3) -> bytes:
    """Return the value of a commit, without metadata."""
    epoch = struct.pack(">i", -1) if version >= 3 else b""
    expires = struct.pack(">q", -1) if version == 1 else b""
    return struct.pack(">hq", version, offset) + epoch + struct.pack(">hq", 0, 1) + expires


def commit(base_offset: int, of: bytes, content: bytes | None, **how: object) -> bytes:
    """Return a batch with one commit."""
    return batch_of(record(0, of, content), 1, base_offset=base_offset, **how)


def marker(base_offset: int, *, commits: bool, producer_id: int = 7) -> bytes:
    """Return the control batch that ends a transaction."""
    content = record(0, struct.pack(">hh", 0, int(commits)), struct.pack(">hi", 0, 0))
    return batch_of(
        content, 1, base_offset=base_offset, attributes=TRANSACTIONAL | CONTROL, producer=(producer_id, 0, -1)
    )


def replica(folder: Path, *segments: bytes, bases: tuple[int, ...] = (0,)) -> tuple[LogFile, ...]:
    """Write segments into a partition directory."""
    folder.mkdir(parents=True)
    for base, data in zip(bases, segments, strict=True):
        (folder / f"{base:020}.log").write_bytes(data)
    return log_files(folder)


def read(*replicas: tuple[LogFile, ...]) -> tuple[dict[tuple[str, int], Offset], bool]:
    """Return the committed offsets by group and partition of topic t, and whether they are complete."""
    answer = committed_offsets(replicas)
    offsets = {(row.group, row.partition): row.offset for rows in answer.by_partition.values() for row in rows}
    return offsets, answer.is_complete


@pytest.mark.parametrize("folder", sorted(FIXTURES.glob("*/stopped/*/*/__consumer_offsets-0")), ids=str)
def test_what_brokers_wrote(folder: Path) -> None:
    """Every release from 0.10.2 on: one commit of one group."""
    answer = committed_offsets([log_files(folder)])
    assert answer.is_complete
    assert {("plain", 0): [("readers", "plain", 0, 7)]} == {
        key: list(rows) for key, rows in answer.by_partition.items()
    }


def test_groups_of_every_kind() -> None:
    """Deleted groups and offsets, and those of an open transaction, are not committed; the history says 9 and 5."""
    folder = FIXTURES / "4.3.1/coordinators/broker-1/data2/__consumer_offsets-0"
    answer = committed_offsets([log_files(folder)])
    assert {("orders", 0): [("classic", 9), ("in-commit", 5)]} == {
        key: [(row.group, row.offset) for row in rows] for key, rows in answer.by_partition.items()
    }


def test_all_message_formats(tmp_path: Path) -> None:
    """Messages of magic 0 and 1, wrappers, both types of keys, every version of values."""
    inner = old_message(0, key("b"), value(2, version=1)) + old_message(1, key("c"), value(3, version=2))
    log = (
        old_message(0, key("a", kind=0), value(1, version=0)[:-8] + bytes(8), magic=0)
        + wrapper(2, inner)
        + commit(3, key("d"), value(4), codec=1)
        + commit(4, GROUP_METADATA, None)
        + commit(5, struct.pack(">h", 3), b"\0\0")
    )
    assert ({("a", 0): 1, ("b", 0): 2, ("c", 0): 3, ("d", 0): 4}, True) == read(replica(tmp_path / "o-0", log))


def test_transactions_and_tombstones(tmp_path: Path) -> None:
    """Transactional commits count once their transaction has committed."""
    first = commit(0, key("a"), value(1)) + commit(1, key("b"), value(2), **IN_TRANSACTION)
    first += commit(2, key("c"), value(3)) + commit(3, key("c"), None)
    second = commit(4, key("d"), value(4), attributes=TRANSACTIONAL, producer=(8, 0, 0))
    second += marker(5, commits=True) + marker(6, commits=False, producer_id=8)
    logs = replica(tmp_path / "o-0", first, second, bases=(0, 4))
    assert ({("a", 0): 1, ("b", 0): 2}, True) == read(logs)
    assert ({("a", 0): 1}, True) == read(logs[:1])


def test_an_unknown_control_record_ends_nothing(tmp_path: Path) -> None:
    """Coordinators ignore it."""
    unknown = batch_of(
        record(0, struct.pack(">hh", 0, 9), b""),
        1,
        base_offset=1,
        attributes=TRANSACTIONAL | CONTROL,
        producer=(7, 0, -1),
    )
    log = commit(0, key("a"), value(1), **IN_TRANSACTION) + unknown + marker(2, commits=True)
    assert ({("a", 0): 1}, True) == read(replica(tmp_path / "o-0", log))


def test_replicas_and_partitions(tmp_path: Path) -> None:
    """Only a replica of the same partition proves that a commit was deleted."""
    old = replica(tmp_path / "1/o-0", commit(0, key("a"), value(1)) + commit(1, key("b"), value(2)))
    new = replica(tmp_path / "2/o-0", commit(1, key("b"), value(2)) + commit(9, key("b", 1), value(5)))
    other = replica(tmp_path / "2/o-1", commit(9, key("c"), value(7)))
    assert ({("b", 0): 2, ("b", 1): 5, ("c", 0): 7}, True) == read(old, other, new, ())


@pytest.mark.parametrize(
    "damaged",
    [
        flipped(commit(1, key("b"), value(9)), 80),
        commit(1, key("b"), value(9), magic=3),
        commit(1, key("b")[:-1], value(9)),
        commit(1, key("b"), b"\0"),
        commit(1, key("b"), b""),
        commit(1, key("b"), struct.pack(">hq", 99, 5)),
        batch_of(record(0, None, value(9)), 1, base_offset=1),
        batch_of(record(0, b"\0", value(9)), 1, base_offset=1),
        batch_of(b"\xff" * 9, 1, base_offset=1),
        batch_of(record(0, key("b"), value(9))[:-1] + b"\x02", 1, base_offset=1),
        commit(1, key("b") + b"x" * 300, b"\0\1"),
        commit(1, key("b")[:-1], None),
        batch_of(record(0, b"\0"), 1, base_offset=1, attributes=CONTROL),
        wrapper(1, flipped(old_message(0, key("b"), value(9)), -1)),
        wrapper(1, b"")[:-2] + b"xx",
    ],
)
def test_unreadable_parts_are_passed_over(tmp_path: Path, damaged: bytes) -> None:
    """The commits before and after count, and the answer says that it is not complete."""
    log = commit(0, key("a"), value(1)) + damaged + commit(2, key("c"), value(3))
    assert ({("a", 0): 1, ("c", 0): 3}, False) == read(replica(tmp_path / "o-0", log))


def test_segments_that_cannot_be_read(tmp_path: Path) -> None:
    """A segment that is gone, and one that ends within a batch."""
    batches = [commit(number, key(partition=number), value(number)) for number in range(3)]
    logs = replica(tmp_path / "o-0", *batches, bases=(0, 1, 2))
    Path(logs[1].path).unlink()
    assert ({("readers", 0): 0, ("readers", 2): 2}, False) == read(logs)
    short = replica(tmp_path / "o-1", commit(0, key(), value(1)) + batches[1][:50])
    assert ({("readers", 0): 1}, False) == read(short)


def test_more_commits_than_are_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_offsets, "COUNT_MAX", 2)
    batches = [commit(number, key(partition=number), value(number)) for number in range(4)]
    one, other = replica(tmp_path / "o-0", b"".join(batches)), replica(tmp_path / "o-1", commit(0, key("b"), value(1)))
    assert ({("readers", 0): 0, ("readers", 1): 1}, False) == read(one, other)


def test_replicas_are_held_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commits of one partition are compared before they are counted, those of open transactions too."""
    monkeypatch.setattr(group_offsets, "COUNT_MAX", 2)
    one = replica(tmp_path / "1/o-0", commit(0, key(), value(1)) + commit(1, key("a"), value(2), **IN_TRANSACTION))
    other = replica(tmp_path / "2/o-0", commit(0, key(), value(1)))
    assert ({("readers", 0): 1}, False) == read(one, other)


def test_a_batch_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_offsets, "_BATCH_SIZE_MAX", 130)
    large = batch_of(record(0, key("x" * 50), value(1)), 1, attributes=TRANSACTIONAL, producer=(7, 0, 0))
    assert ({("a", 0): 1}, False) == read(replica(tmp_path / "o-0", large + commit(1, key("a"), value(1))))


def test_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of several windows, and one that is larger than a window; those in a window are read together."""
    together = []

    def spy(*arguments: Any) -> bool | None:
        together.append(take_plain(*arguments))
        return together[-1]

    monkeypatch.setattr(group_offsets, "_take_plain", spy)
    monkeypatch.setattr("kcheck.segments.header_columns.WINDOW_SIZE", 300)
    batches = [commit(number, key(partition=number % 3), value(number)) for number in range(9)]
    large = batch_of(record(0, key("x" * 300), value(1)), 1, base_offset=9)
    expected = {("readers", 0): 6, ("readers", 1): 7, ("readers", 2): 8, ("x" * 300, 0): 1}
    assert (expected, True) == read(replica(tmp_path / "o-0", b"".join(batches) + large))
    assert len(together) > 2
    assert all(together)


def test_offsets_in_the_log(tmp_path: Path) -> None:
    """Those of records, not of batches; and a log reaches up to its last one."""
    rows = record(0, key("a"), value(1)) + record(5, key("b"), value(2)) + record(7, key("a"), value(3))
    one = replica(tmp_path / "1/o-0", batch_of(rows, 3, base_offset=10, last_offset=18))
    other = replica(tmp_path / "2/o-0", commit(9, key("a"), value(8)) + commit(14, key("b"), value(9)))
    last = [
        replica(tmp_path / f"{end}/o-0", commit(17, key("a"), value(3)) + commit(end, key("c"), value(9)))
        for end in (18, 19)
    ]
    assert ({("a", 0): 3, ("b", 0): 2}, True) == read(one, other)
    assert [({("a", 0): 3}, True), ({("a", 0): 3, ("c", 0): 9}, True)] == [read(one, log) for log in last]
    assert ({("a", 0): 3, ("b", 0): 2}, True) == read(one, replica(tmp_path / "4/o-0", commit(14, key("c"), None)))
