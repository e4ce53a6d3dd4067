"""`kcheck dump`: every header and every entry, what is damaged, and nothing of a file in memory."""

import io
import json
import os
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kcheck.dumps import entries as reading
from kcheck.dumps import open_file as dumping
from kcheck.dumps.filter import Filter, parse_offsets, parse_times
from kcheck.errors import UsageError
from kcheck.formats.producer_snapshot import PRODUCER, SNAPSHOT_HEADER, Producer, ProducerSnapshot, serialize
from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.formats.transaction_index import ABORTED_TXN
from kcheck.model.names import segment_prefix
from kcheck.renderers import Options
from kcheck.renderers.json import render
from kcheck.verbs.dump import dump
from tests.builders import batch, flip_byte, index, log, message, run

ALL = Filter()
PRODUCERS = (Producer(7, 1, 9, 41, 4, 1000, 0, -1), Producer(8, 0, 2, 20, 2, 2000, 3, 18))


def file(tmp_path: Path, ending: str, data: bytes, base: int = 0) -> str:
    """Write a file of a segment and return its path."""
    path = tmp_path / f"{segment_prefix(base)}{ending}"
    path.write_bytes(data)
    return str(path)


def document(*paths: str, wanted: Filter = ALL, as_kind: str | None = None) -> dict[str, Any]:
    """Return the whole answer."""
    stream = io.StringIO()
    render(dump(list(paths), as_kind=as_kind, wanted=wanted).report(), stream, Options())
    found: dict[str, Any] = json.loads(stream.getvalue())
    return found


def one(path: str, wanted: Filter = ALL) -> dict[str, Any]:
    """Return what is said of the one file."""
    (found,) = document(path, wanted=wanted)["files"]
    assert isinstance(found, dict)
    return found


def told(found: dict[str, Any]) -> list[tuple[int, int, str]]:
    """Return the places and the words of what is damaged."""
    return [(damage["position"], damage["size"], damage["message"]) for damage in found["damage"]]


def test_a_message_has_no_producer_and_a_wrapper_no_first_offset(tmp_path: Path) -> None:
    path = file(tmp_path, ".log", log([message(0, magic=0), message(1), message(9, codec=1)]))
    rows = one(path)["batches"]
    assert [(0, 0, 1), (1, 1, 1), (None, 9, None)] == [
        (row["base_offset"], row["last_offset"], row["count"]) for row in rows
    ]
    assert [None, "CreateTime", "CreateTime"] == [row["timestamp_type"] for row in rows]
    assert ["none", "none", "gzip"] == [row["compression"] for row in rows]
    assert {None} == {row[name] for row in rows for name in ("producer_id", "base_sequence", "leader_epoch")}


@pytest.mark.parametrize(
    ("tail", "why"),
    [
        (b"\0" * 40, "size field 0 is too small for a batch"),
        (b"\0" * 17, "a batch is larger than 17 bytes"),
        (batch(10).data[:-1], "the batch is incomplete, its header states 61 bytes"),
        (b"\0" * 11 + b"\x20\0\0\0\0\x02" + b"\0" * 40, "size field 32 is too small for a batch"),
    ],
)
def test_where_valid_data_ends_and_why(tmp_path: Path, tail: bytes, why: str) -> None:
    found = one(file(tmp_path, ".log", log(run(0, 9)) + tail))
    assert 1 == len(found["batches"])
    assert [(100, len(tail), f"no valid batch in the last {len(tail)} bytes: {why}")] == told(found)


def test_what_no_release_knows_is_told(tmp_path: Path) -> None:
    path = file(tmp_path, ".log", log([batch(0, magic=9), message(1, codec=6), batch(2)]))
    found = one(path, Filter(only_damaged=True))
    assert ["unknown magic 9", "unknown compression 6"] == [message for *_, message in told(found)]
    assert [0, 1] == [row["last_offset"] for row in found["batches"]]


def test_an_index_shows_absolute_offsets_and_its_room(tmp_path: Path) -> None:
    found = one(file(tmp_path, ".index", index((4, 100), (9, 200)) + bytes(16), base=100))
    assert [
        {"entry": 0, "offset": 104, "position": 100, "valid": True},
        {"entry": 1, "offset": 109, "position": 200, "valid": True},
    ] == found["entries"]
    assert (2, 16, []) == (found["count"], found["room"], found["damage"])


def test_entries_out_of_order_and_a_torn_one_are_told(tmp_path: Path) -> None:
    found = one(file(tmp_path, ".index", index((4, 100), (4, 200), (-1, 0)) + b"\1\2"))
    assert [True, False, False] == [row["valid"] for row in found["entries"]]
    assert [
        (8, 8, "entry 1 is not above the entry before it"),
        (16, 8, "entry 2 has a negative number"),
        (24, 2, "2 bytes after the last complete entry"),
    ] == told(found)


def test_a_time_index(tmp_path: Path) -> None:
    data = b"".join(TIME_INDEX_ENTRY.pack(*entry) for entry in ((1000, 3), (1000, 5), (2000, 4)))
    found = one(file(tmp_path, ".timeindex", data, base=10))
    assert [(1000, 13), (1000, 15), (2000, 14)] == [(row["timestamp"], row["offset"]) for row in found["entries"]]
    assert [12, 24] == [position for position, *_ in told(found)]


def test_a_transaction_index(tmp_path: Path) -> None:
    data = ABORTED_TXN.pack(0, 7, 0, 5, 6) + ABORTED_TXN.pack(0, 8, 10, 9, 9) + ABORTED_TXN.pack(0, 8, 1, 4, 4)
    found = one(file(tmp_path, ".txnindex", data + ABORTED_TXN.pack(3, 8, 1, 4, 4) + ABORTED_TXN.pack(0, -1, 1, 4, 4)))
    assert [True, False, False, False, False] == [row["valid"] for row in found["entries"]]
    assert {"version": 0, "producer_id": 7, "first_offset": 0, "last_offset": 5, "last_stable_offset": 6}.items() <= (
        found["entries"][0].items()
    )


def test_a_snapshot(tmp_path: Path) -> None:
    found = one(file(tmp_path, ".snapshot", serialize(ProducerSnapshot(1, PRODUCERS)), base=42))
    assert [(7, 5, 9), (8, 0, 2)] == [
        (row["producer_id"], row["first_sequence"], row["last_sequence"]) for row in found["entries"]
    ]
    assert (1, 2, True, []) == (found["version"], found["count"], found["valid"], found["damage"])


@pytest.mark.parametrize(
    ("data", "count", "said"),
    [
        (b"", 0, ["the file is empty"]),
        (b"\0\1\0", 0, ["3 bytes are too few for a header"]),
        (serialize(ProducerSnapshot(1, PRODUCERS))[:-1], 1,
         ["the CRC does not match", "the count 2 needs 102 bytes, but the file has 101"]),
        (SNAPSHOT_HEADER.pack(2, 0, -1) + bytes(PRODUCER.size), 0,
         ["unknown version 2, expected 1", "the CRC does not match",
          "the count -1 needs 0 bytes, but the file has 56"]),
    ],
)  # fmt: skip
def test_a_damaged_snapshot(tmp_path: Path, data: bytes, count: int, said: list[str]) -> None:
    found = one(file(tmp_path, ".snapshot", data))
    assert said == [message for *_, message in told(found)]
    assert not found["valid"]
    assert [False] * count == [row["valid"] for row in found["entries"]]


@pytest.mark.parametrize(
    ("wanted", "bases"),
    [
        (Filter(offsets=(15, 20)), [10, 20]),
        (Filter(offsets=(None, 9)), [0]),
        (Filter(offsets=(30, None)), [30]),
        (Filter(offsets=(40, 50)), []),
        (Filter(epoch=3), [20, 30]),
        (Filter(epoch=3, offsets=(0, 29)), [20]),
        (Filter(producer_id=-1), [0, 10, 20, 30]),
        (Filter(producer_id=4), []),
        (Filter(only_damaged=True), [30]),
    ],
)
def test_what_is_wanted(tmp_path: Path, wanted: Filter, bases: list[int]) -> None:
    """Damage is told all the same."""
    path = file(tmp_path, ".log", log([*run(0, 19), *run(20, 39, epoch=3)]))
    flip_byte(Path(path), 370)
    found = one(path, wanted)
    assert bases == [row["base_offset"] for row in found["batches"]]
    assert 1 == len(found["damage"])


def test_a_wrapper_may_hold_what_lies_between_it_and_the_batch_before(tmp_path: Path) -> None:
    """Its first offset is not in its header."""
    path = file(tmp_path, ".log", log([message(5), message(9, codec=1)]), base=5)
    assert [9] == [row["last_offset"] for row in one(path, Filter(offsets=(6, 8)))["batches"]]
    assert [5] == [row["last_offset"] for row in one(path, Filter(offsets=(0, 5)))["batches"]]
    alone = file(tmp_path, ".log", message(9, codec=1).data, base=7)
    assert 1 == len(one(alone, Filter(offsets=(7, 7)))["batches"])
    assert not one(alone, Filter(offsets=(0, 6)))["batches"]


@pytest.mark.parametrize(
    ("text", "offsets"), [("5..9", (5, 9)), ("5..", (5, None)), ("..9", (None, 9)), ("7", (7, 7)), ("-1..0", (-1, 0))]
)
def test_a_range_of_offsets(text: str, offsets: tuple[int | None, int | None]) -> None:
    assert offsets == parse_offsets(text)


@pytest.mark.parametrize("text", ["", "..", "5-9", "a..b", "5...9", "1..2..3", " 5"])
def test_no_range_of_offsets(text: str) -> None:
    with pytest.raises(UsageError, match="invalid range"):
        parse_offsets(text)


@pytest.mark.parametrize(
    ("parsed", "text"),
    [(parse_offsets, "5..3"), (parse_times, "2026-02-01..2026-01-31"), (parse_times, "100001..100000")],
)
def test_a_range_that_ends_before_it_begins_is_refused(parsed: Callable[[str], object], text: str) -> None:
    """It would show nothing, and say that nothing is there."""
    with pytest.raises(UsageError, match=rf"{re.escape(text)} ends before it begins"):
        parsed(text)


@pytest.mark.parametrize(
    ("ending", "wanted", "said"),
    [
        (".index", Filter(epoch=1), "--epoch: .* has no leader epoch in its rows"),
        (".snapshot", Filter(epoch=1), "--epoch"),
        (".timeindex", Filter(producer_id=1), "--producer-id: .* has no producer id in its rows"),
    ],
)
def test_what_the_rows_do_not_have_cannot_be_wanted(tmp_path: Path, ending: str, wanted: Filter, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        dump([file(tmp_path, ending, b"")], as_kind=None, wanted=wanted)


def test_other_files_are_for_inspect(tmp_path: Path) -> None:
    path = tmp_path / "leader-epoch-checkpoint"
    path.write_bytes(b"0\n0\n")
    with pytest.raises(UsageError, match="dump does not read leader-epoch-checkpoint files; use kcheck inspect"):
        dump([str(path)], as_kind=None, wanted=ALL)
    with pytest.raises(UsageError, match="no such file"):
        dump([str(tmp_path / "gone")], as_kind=None, wanted=ALL)


def test_a_file_of_another_name_is_read_as_is_told(tmp_path: Path) -> None:
    """Its offsets are then relative."""
    path = tmp_path / "from-a-ticket"
    path.write_bytes(index((4, 100)))
    (found,) = document(str(path), as_kind="offset-index")["files"]
    assert (None, 4) == (found["base_offset"], found["entries"][0]["offset"])


def test_what_is_no_file_is_a_finding_and_the_rest_is_shown(tmp_path: Path) -> None:
    fifo, folder = tmp_path / "00000000000000000001.log", tmp_path / "t-0"
    os.mkfifo(fifo)
    folder.mkdir()
    found = document(str(fifo), file(tmp_path, ".log", batch(0).data), str(folder))
    assert [("KC001", str(fifo)), ("KC001", str(folder))] == [(f["id"], f["file"]) for f in found["findings"]]
    assert 1 == len(found["files"])


def test_an_index_that_no_broker_can_map_is_not_read(tmp_path: Path) -> None:
    path = file(tmp_path, ".index", b"")
    os.truncate(path, 2**31)
    found = document(path)
    assert ["cannot be read: 2147483648 bytes are too many for a file of this kind"] == [
        finding["message"] for finding in found["findings"]
    ]


@pytest.mark.parametrize("ending", [".log", ".index", ".timeindex", ".txnindex", ".snapshot"])
def test_a_disk_that_does_not_answer_is_a_finding(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read until then is shown."""

    def fail(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    path = file(tmp_path, ending, batch(0).data * 3)
    report = dump([path], as_kind=None, wanted=ALL).report()
    monkeypatch.setattr(os, "pread", fail)
    monkeypatch.setattr(os, "preadv", fail)
    stream = io.StringIO()
    render(report, stream, Options())
    (finding,) = json.loads(stream.getvalue())["findings"]
    assert ("KC001", "cannot be read: Input/output error") == (finding["id"], finding["message"])
    assert report.unfinished


@pytest.mark.parametrize("ending", [".log", ".index", ".timeindex", ".txnindex", ".snapshot"])
def test_a_file_that_becomes_shorter_is_shown_as_far_as_it_goes(tmp_path: Path, ending: str) -> None:
    path = file(tmp_path, ending, log(run(0, 99)))
    report = dump([path], as_kind=None, wanted=ALL).report()
    files: Any = report.body["files"]
    first = next(files)
    os.truncate(path, 5)
    list(first["batches" if ending == ".log" else "entries"])
    list(first["damage"])
    assert not list(files)


def test_damage_is_bounded_and_the_end_is_told_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumping, "DAMAGE_COUNT_MAX", 2)
    found = one(file(tmp_path, ".index", index((9, 9), *[(1, 1)] * 5) + b"\1"))
    assert [8, 16, 24, 48] == [position for position, *_ in told(found)]
    assert "more corrupt bytes from here on" == found["damage"][2]["message"]


def test_entries_are_read_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_ENTRY_COUNT", 3)
    monkeypatch.setattr(reading, "_PIECE_SIZE", 20)
    found = one(file(tmp_path, ".index", index(*((n + 1, 100 * n) for n in range(10))) + bytes(80)))
    assert list(range(1, 11)) == [row["offset"] for row in found["entries"]]
    assert (10, 80) == (found["count"], found["room"])
    snapshot = one(file(tmp_path, ".snapshot", serialize(ProducerSnapshot(1, PRODUCERS * 5))))
    assert (10, True) == (len(snapshot["entries"]), snapshot["valid"])


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """As tuples these entries would take some 8 MB."""
    path = file(tmp_path, ".index", index(*((n + 1, n) for n in range(60_000))))
    files: Any = dump([path], as_kind=None, wanted=ALL).report().body["files"]
    tracemalloc.start()
    try:
        count = sum(1 for _ in next(files)["entries"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 60_000 == count
    assert peak < 1 << 20
