"""`kcheck dump`: exit codes, fields, and what goes to stderr where the answer has no place for it."""

import csv
import io
import json
import os
from pathlib import Path

import pytest

from tests.builders import batch, flip_byte, index, log, message, run
from tests.cli.command import kcheck

COLUMNS = [
    "path", "position", "size", "magic", "base_offset", "last_offset", "count", "base_sequence", "last_sequence",
    "producer_id", "producer_epoch", "leader_epoch", "transactional", "control", "delete_horizon_ms", "timestamp_type",
    "base_timestamp", "max_timestamp", "compression", "crc", "valid",
]  # fmt: skip


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    """Write a log of three batches."""
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(log(run(0, 29)))
    return path


def test_a_whole_file_is_0(segment: Path) -> None:
    done = kcheck("dump", segment)
    assert (0, "") == (done.code, done.err)
    assert 4 == len(done.out[done.out.index("position") :].splitlines())


@pytest.mark.parametrize("style", ["text", "json", "ndjson", "csv", "kafka"])
def test_damage_is_1_and_is_told(segment: Path, style: str) -> None:
    """On stderr where a table has no place for it; not with --quiet, but the exit code stays."""
    flip_byte(segment, 170)
    said = "the CRC of the batch at offset 10 does not match"
    done = kcheck("dump", segment, "--format", style)
    assert 1 == done.code
    assert said in (done.err if style in ("csv", "kafka") else done.out)
    assert 1 == (done.out + done.err).count(said)
    quiet = kcheck("dump", segment, "--format", style, "--quiet")
    assert (1, "", done.out) == (quiet.code, quiet.err, quiet.out)


def test_damage_that_is_not_shown_is_1_too(segment: Path) -> None:
    flip_byte(segment, 170)
    assert 1 == kcheck("dump", segment, "--offset", "20..").code


@pytest.mark.parametrize("style", ["text", "json", "ndjson", "csv", "kafka"])
def test_what_is_no_regular_file_is_3(tmp_path: Path, style: str) -> None:
    path = tmp_path / "00000000000000000000.log"
    os.mkfifo(path)
    done = kcheck("dump", path, "--format", style)
    assert 3 == done.code
    assert "not a regular file" in done.out + done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--offset", "x"), "--offset: invalid range 'x'"),
        (("--epoch", "x"), "x"),
        (("--as", "poem"), "poem"),
        (("--as", "leader-epoch-checkpoint"), "use kcheck inspect"),
        (("--time", "now"), "--time: invalid range 'now'"),
        (("--time", "2026-01-01"), "invalid range"),
        (("--time", ".."), "invalid range"),
        (("--time", "x..y"), "invalid range"),
        (("--print-data", "ebcdic"), "not one of utf8, hex, base64"),
        (("--as", "offset-index", "--records"), "--records: "),
        (("--as", "offset-index", "--time", "10000.."), "has no timestamp in its rows"),
        (("--as", "offset-index", "--epoch", "1"), "has no leader epoch in its rows"),
    ],
)
def test_usage_errors_are_2(segment: Path, arguments: tuple[str, ...], said: str) -> None:
    done = kcheck("dump", segment, *arguments)
    assert (2, "") == (done.code, done.out)
    assert said in done.err


def test_a_file_that_is_refused_is_one_finding(segment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are read."""
    plain, other = os.open, segment.with_name("00000000000000000100.log")
    other.write_bytes(b"")

    def refuses(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if path == str(other):
            raise PermissionError(13, "Permission denied")
        return plain(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", refuses)
    done = kcheck("dump", other, segment, "--format", "json")
    document = json.loads(done.out)
    assert (3, [str(segment)]) == (done.code, [row["path"] for row in document["files"]])
    assert [("KC001", str(other))] == [(row["id"], row["file"]) for row in document["findings"]]


def test_csv_is_one_table_of_one_kind(segment: Path, tmp_path: Path) -> None:
    other = tmp_path / "00000000000000000030.log"
    other.write_bytes(message(30).data)
    done = kcheck("dump", segment, other, "--format", "csv")
    rows = list(csv.reader(io.StringIO(done.out)))
    assert [COLUMNS, *([str(segment)] * 3), str(other)] == [rows[0], *(row[0] for row in rows[1:])]
    (tmp_path / "00000000000000000000.index").write_bytes(index((9, 100)))
    refused = kcheck("dump", segment, tmp_path / "00000000000000000000.index", "--format", "csv")
    assert (2, "") == (refused.code, refused.out)
    assert "has more than one table; use json or ndjson" in refused.err


def test_ndjson_tags_each_line(segment: Path, tmp_path: Path) -> None:
    beside = tmp_path / "00000000000000000000.index"
    beside.write_bytes(index((9, 100)) + b"\1")
    out = kcheck("dump", segment, beside, "--format", "ndjson").out
    kinds = [json.loads(line)["kind"] for line in out.splitlines()]
    assert ["run", "segment", "batch", "batch", "batch", "offset-index", "entry", "damage", "summary"] == kinds


@pytest.mark.parametrize(
    ("entries", "lines"),
    [
        (index((9, 100), (19, 200)) + bytes(16), ["offset: 9 position: 100", "offset: 19 position: 200"]),
        (index((9, 100), (0, 200), (29, 300)), ["offset: 9 position: 100"]),
        (bytes(16), ["offset: 0 position: 0"]),
    ],
)
def test_the_lines_of_kafka_end_at_an_entry_for_the_base_offset(
    segment: Path, entries: bytes, lines: list[str]
) -> None:
    """As zeros at the end are one, unless it is the first."""
    path = segment.with_suffix(".index")
    path.write_bytes(entries)
    done = kcheck("dump", path, "--format", "kafka")
    assert [f"Dumping {path}", *lines] == done.out.splitlines()


def test_the_lines_of_kafka_for_nothing(segment: Path) -> None:
    path = segment.with_suffix(".index")
    path.write_bytes(b"")
    assert f"Dumping {path}\n{path} is empty.\n" == kcheck("dump", path, "--format", "kafka").out
    segment.write_bytes(b"")
    assert f"Dumping {segment}\nLog starting offset: 0\n" == kcheck("dump", segment, "--format", "kafka").out
    assert "invalid" not in kcheck("dump", segment).out


def test_text_begins_a_new_table_after_a_thousand_rows(segment: Path) -> None:
    """So that a dump needs no more memory than that."""
    segment.write_bytes(log([batch(offset) for offset in range(1001)]))
    out = kcheck("dump", segment).out
    assert (2, 1001) == (out.count("position"), out.count("1700000000001"))


def test_nothing_is_written_over(segment: Path) -> None:
    before = segment.read_bytes()
    assert 2 == kcheck("dump", segment, "-o", segment).code
    assert before == segment.read_bytes()
