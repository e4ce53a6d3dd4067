"""`kcheck dump --records`: a row for each record, what is wanted of them, and what cannot be read."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from kcheck.disk.local import LocalFile
from kcheck.dumps import batch_columns as dump_columns
from kcheck.dumps import records as dump_records
from kcheck.formats.producer_snapshot import ProducerSnapshot, serialize
from kcheck.records import record as reading
from kcheck.segments import header_columns as window
from kcheck.tables import records
from tests.builders import index
from tests.cli.command import kcheck
from tests.record_bytes import batch_of, old_message, record, wrapper

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"
MARKER = b"\0\0\0\1", b"\0\0\0\0\0\7"
INNER = b"".join(old_message(offset, b"k", b"v", timestamp=5000 + offset) for offset in range(3))


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    """Write a log of three records, a commit, a wrapper of three messages, and a message."""
    three = record(0, b"a", b"1") + record(
        1, None, b"\xff\\", headers=[(b"h", b"\xfe"), (b"n", None)], timestamp_delta=10
    )
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(
        batch_of(
            three + record(2, b"c", None, timestamp_delta=20), 3, codec=4, timestamps=(1000, 1020), producer=(7, 0, 5)
        )
        + batch_of(record(0, *MARKER), 1, base_offset=3, attributes=0x30, producer=(7, 0, -1), timestamps=(2000, 2000))
        + wrapper(6, INNER, timestamp=5002)
        + old_message(7, magic=0)
    )
    return path


def batches(*arguments: object) -> list[dict[str, Any]]:
    """Return the rows of the batches of the one file."""
    (found,) = json.loads(kcheck("dump", *arguments, "--format", "json").out)["files"]
    rows: list[dict[str, Any]] = found["batches"]
    return rows


def offsets(*arguments: object) -> list[list[int]]:
    """Return the offsets of the records of each batch that is shown."""
    return [[one["offset"] for one in batch["records"]] for batch in batches(*arguments, "--records")]


def test_every_field_of_a_record(segment: Path) -> None:
    rows = batches(segment, "--records")
    assert {
        "batch_position": 0, "offset": 1, "timestamp_type": "CreateTime", "timestamp": 1010, "key_size": None,
        "value_size": 2, "sequence": 6, "header_keys": ["h", "n"], "crc": None, "valid": None, "control": None,
    } == rows[0]["records"][1]  # fmt: skip
    assert {"type": 1, "name": "COMMIT", "coordinator_epoch": 7} == rows[1]["records"][0]["control"]
    inner = rows[2]["records"][2]
    assert (6, 5002, None, None, True) == tuple(
        inner[name] for name in ("offset", "timestamp", "sequence", "header_keys", "valid")
    )
    assert [None] == [one["timestamp"] for one in rows[3]["records"]]
    assert "records" not in batches(segment)[0]


@pytest.mark.parametrize(
    ("style", "key", "value", "headers"),
    [
        ("utf8", "a", r"\xff\\", [{"key": "h", "value": r"\xfe"}, {"key": "n", "value": None}]),
        ("hex", "61", "ff5c", [{"key": "h", "value": "fe"}, {"key": "n", "value": None}]),
        ("base64", "YQ==", "/1w=", [{"key": "h", "value": "/g=="}, {"key": "n", "value": None}]),
    ],
)
def test_data(segment: Path, style: str, key: str, value: str, headers: list[dict[str, str | None]]) -> None:
    """Bytes that are no UTF-8 are escaped, and it is said where: there a backslash is two."""
    first, second, third = batches(segment, "--print-data", style)[0]["records"]
    assert (key, None, None) == (first["key"], second["key"], third["value"])
    assert (value, headers) == (second["value"], second["headers"])
    assert (["value", "headers"] if style == "utf8" else []) == second["escaped"]
    assert [] == first["escaped"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), [[0, 1, 2], [3], [4, 5, 6], [7]]),
        (("--offset", "1..3"), [[1, 2], [3]]),
        (("--offset", "5"), [[5]]),
        (("--offset", "..2"), [[0, 1, 2]]),
        (("--producer-id", "7"), [[0, 1, 2], [3]]),
        (("--time", "1970-01-01T00:00:01.005Z..1970-01-01T01:00:02+01:00"), [[1, 2], [3], []]),
        (("--time", "01010.."), [[1, 2], [3], [4, 5, 6]]),
        (("--time", "..1970-01-01T00:00:01"), [[0], []]),
        (("--time", "05001..05001"), [[5]]),
        (("--only-damaged",), []),
    ],
)  # fmt: skip
def test_filters_hold_for_records_too(segment: Path, arguments: tuple[str, ...], expected: list[list[int]]) -> None:
    """The first time in a wrapper is not known, so it is looked into where its last is late enough."""
    assert expected == offsets(segment, *arguments)


def test_times_of_other_rows(segment: Path) -> None:
    times = segment.with_suffix(".timeindex")
    times.write_bytes(bytes.fromhex("00000000000003e8 00000001 00000000000007d0 00000003"))
    done = kcheck("dump", times, "--time", "01500..", "--format", "csv")
    assert ["2000"] == [row["timestamp"] for row in csv.DictReader(io.StringIO(done.out))]
    appended = batch_of(record(0), 1, attributes=8, timestamps=(1000, 9000))
    horizon = batch_of(record(0), 1, base_offset=1, attributes=0x40, timestamps=(99_000, 5000))
    segment.write_bytes(appended + horizon)
    assert [1] == [row["base_offset"] for row in batches(segment, "--time", "..08000")]


def test_csv_is_a_row_for_each_record(segment: Path) -> None:
    done = kcheck("dump", segment, "--print-data", "utf8", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [str(number) for number in range(8)] == [row["offset"] for row in rows]
    assert [name for name in records.TABLE.names if name not in dump_records.DECODED_COLUMNS] == list(rows[0])
    assert '["h", "n"]' == rows[1]["header_keys"]
    assert '{"type": 1, "name": "COMMIT", "coordinator_epoch": 7}' == rows[3]["control"]


def test_ndjson_is_a_line_for_each_record(segment: Path) -> None:
    out = kcheck("dump", segment, "--records", "--format", "ndjson").out
    kinds = [json.loads(line)["kind"] for line in out.splitlines()]
    expected = ["batch", *["record"] * 3, "batch", "record", "batch", *["record"] * 3, "batch", "record"]
    assert ["run", "segment", *expected, "summary"] == kinds


def test_the_lines_of_kafka(segment: Path) -> None:
    """A text is what Java makes of it; what moves a cursor is escaped."""
    lines = kcheck("dump", segment, "--print-data", "utf8", "--format", "kafka").out.splitlines()
    assert [
        "| offset: 0 CreateTime: 1000 keySize: 1 valueSize: 1 sequence: 5 headerKeys: [] key: a payload: 1",
        "| offset: 1 CreateTime: 1010 keySize: -1 valueSize: 2 sequence: 6 headerKeys: [h,n] payload: \ufffd\\",
        "| offset: 2 CreateTime: 1020 keySize: 1 valueSize: -1 sequence: 7 headerKeys: [] key: c",
    ] == lines[3:6]
    assert lines[7].endswith("headerKeys: [] endTxnMarker: COMMIT coordinatorEpoch: 7")
    assert lines[-1].startswith("| offset: 7 NoTimestampType: -1 keySize: 3 valueSize: 5 isValid: true crc: ")


@pytest.mark.parametrize("style", ["text", "json", "ndjson", "csv", "kafka"])
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            batch_of(record(0) + b"\x09", 2),
            f"record 1 of the batch at offset 0 is unreadable at byte {len(record(0))} of its records",
        ),
        (wrapper(2, INNER[:-1] + b"x"), "the CRC of the message at offset 2 in a wrapper does not match"),
        (batch_of(record(0, b"\0"), 1, attributes=0x20), "the control record at offset 0: the key of the control"),
    ],
)
def test_damage_is_1_and_is_told(segment: Path, style: str, data: bytes, said: str) -> None:
    """And not looked for without --records: the CRC of the batch matches."""
    segment.write_bytes(data)
    done = kcheck("dump", segment, "--records", "--format", style, columns=200)
    assert (1, 1) == (done.code, (done.out + done.err).count(said))
    assert 0 == kcheck("dump", segment, "--format", style).code


def test_only_what_is_damaged(segment: Path) -> None:
    """Also where it takes a look into the records to see it."""
    good, bad = batch_of(record(0), 1, base_offset=5), batch_of(record(0), 2, base_offset=6)
    changed = wrapper(10, INNER[:-1] + b"x")
    control = batch_of(record(0, b"\0"), 1, base_offset=11, attributes=0x20)
    segment.write_bytes(good + bad + changed + control)
    assert [[6], [8, 9, 10], [11]] == offsets(segment, "--only-damaged")
    assert [] == batches(segment, "--only-damaged")


def test_a_batch_that_is_too_large_is_not_read(segment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window, "WINDOW_SIZE", 100)
    monkeypatch.setattr(dump_records, "BODY_SIZE_MAX", 100)
    done = kcheck("dump", segment, "--records")
    assert 1 == done.code
    assert "is too large; kcheck reads at most 100" in " ".join(done.out.split())


def test_a_batch_that_becomes_shorter_while_it_is_read(segment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LocalFile, "pread", lambda *_: b"")
    assert "the file was truncated while kcheck read it" in " ".join(kcheck("dump", segment, "--records").out.split())


def test_a_record_that_would_be_too_large_is_told(segment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory has a bound, whatever a batch says."""
    monkeypatch.setattr(dump_columns, "_UNPACKED_SIZE_MAX", 1000)
    monkeypatch.setattr(reading.read_records, "__defaults__", (1000,))
    segment.write_bytes(batch_of(record(0, b"", bytes(5000)), 1, codec=1))
    assert "more than 1000 bytes after decompression" in " ".join(kcheck("dump", segment, "--records").out.split())


def test_the_snapshot_of_kraft_is_dumped_as_a_log(tmp_path: Path) -> None:
    data = (BROKERS / "4.3.1/stopped/broker-1/data1/bootstrap.checkpoint").read_bytes()
    for name, line in (
        ("bootstrap.checkpoint", "KRaft bootstrap snapshot"),
        ("00000000000000000042-0000000003.checkpoint", "Snapshot end offset: 42, epoch: 3"),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        done = kcheck("dump", path, "--records", "--format", "kafka")
        assert (0, line) == (done.code, done.out.splitlines()[1])
        assert "SnapshotHeader {" in done.out
    (found,) = json.loads(kcheck("dump", path, "--format", "json").out)["files"]
    assert ("metadata-snapshot", None, 42, 3) == tuple(
        found[name] for name in ("kind", "base_offset", "end_offset", "epoch")
    )
    other = tmp_path / "copy"
    other.write_bytes(data)
    done = kcheck("dump", other, "--as", "metadata-snapshot", "--format", "kafka")
    assert done.out.splitlines()[1].startswith("baseOffset: 0")


def test_text(segment: Path) -> None:
    """A line for a batch, a table of its records; with data a line for each record."""
    out = kcheck("dump", segment, "--records").out
    assert "  1       1010       null  2      h,n" in out
    assert "COMMIT (type 1, coordinator epoch 7)" in out
    out = kcheck("dump", segment, "--print-data", "utf8").out
    assert r"  1   1010   key: null   value: \xff\\   headers: h=\xfe, n=null" in out
    segment.write_bytes(b"")
    assert 0 == kcheck("dump", segment, "--records").code


def test_a_mix_of_files_has_no_records_of_all(segment: Path) -> None:
    beside = segment.with_suffix(".index")
    beside.write_bytes(index((2, 61)))
    snapshot = segment.with_suffix(".snapshot")
    snapshot.write_bytes(serialize(ProducerSnapshot(1, ())))
    for other in (beside, snapshot):
        assert "has no records" in kcheck("dump", segment, other, "--records").err
