"""Which records of a log are exported, and what is said of the others."""

from pathlib import Path

import pytest

from kcheck.api import export
from kcheck.errors import UsageError
from tests.builders import FIRST_TIMESTAMP, batch_of, broker, flip_byte, log_dir, message, record, write
from tests.exports.logs import counts, data, exported, marker, offsets_of, segments
from tests.record_bytes import batch_of as bytes_of
from tests.record_bytes import old_message, wrapper
from tests.record_bytes import record as record_bytes

SIZE = len(data(0).data)


def test_a_record_is_exported_whole(tmp_path: Path) -> None:
    """Key, value, headers and timestamp as they are, nulls too."""
    records = [record(0, 5, key=b"\xff", value=None, headers=[(b"h", b"\0"), (b"h", None)]), record(1, value=b"")]
    path = segments(tmp_path / "t-3", [batch_of(7, *records)])
    first, second = exported(path).records()
    assert ("t", 3, 7, FIRST_TIMESTAMP + 5, "CreateTime", b"\xff", None, ((b"h", b"\0"), (b"h", None))) == first
    assert (8, None, b"", ()) == (second.offset, second.key, second.value, second.headers)


def test_segments_follow_each_other(tmp_path: Path) -> None:
    path = segments(tmp_path / "t-0", [data(0), data(2)], [data(4)])
    assert ([0, 1, 2, 3, 4, 5], []) == offsets_of(path)


def test_the_range(tmp_path: Path) -> None:
    """`end` is not in it. A segment that is wholly outside is not read, nor counted."""
    path = segments(tmp_path / "t-0", [data(0), data(2)], [data(4), data(6)], [data(8)])
    offsets, rows = offsets_of(path, start=1, end=7)
    assert [1, 2, 3, 4, 5, 6] == offsets
    assert [("outside-range", None, 0, None)] == [(str(row.why), row.records, row.start, row.end) for row in rows]
    offsets, rows = offsets_of(path, start=4, end=7)
    assert ([4, 5, 6], {"outside-range": None}) == (offsets, counts(rows))
    assert [] == offsets_of(path, start=100)[0]


def test_an_empty_range_is_refused(tmp_path: Path) -> None:
    path = segments(tmp_path / "t-0", [data(0)])
    with pytest.raises(UsageError, match="--from 3 --to 3: no offset is between them"):
        export(path, start=3, end=3)


def test_below_the_log_start(tmp_path: Path) -> None:
    """Deleted records are exported only where the user names their offset."""
    log_dir(tmp_path, log_start={"t-0": 3})
    path = segments(tmp_path / "t-0", [data(0), data(2)])
    offsets, rows = offsets_of(path)
    assert ([3], {"below-log-start": 3}) == (offsets, counts(rows))
    assert "3 records below the log start offset (offsets 0-2)" == str(rows[0])
    assert ([0, 1, 2, 3], []) == offsets_of(path, start=0)


def test_transactions(tmp_path: Path) -> None:
    """Without `committed` only markers are left out."""
    batches = [
        data(0, producer_id=1), data(2), data(4, producer_id=2), marker(6, 1, 0), data(7, producer_id=1),
        marker(9, 2, 1), data(10, producer_id=2), marker(12, 1, 1), data(13),
    ]  # fmt: skip
    path = segments(tmp_path / "t-0", batches[:5], batches[5:])
    offsets, rows = offsets_of(path)
    assert ([*range(6), 7, 8, 10, 11, 13, 14], {"control": 3}) == (offsets, counts(rows))
    assert "3 control records (offsets 6-12)" == str(rows[0])
    offsets, rows = offsets_of(path, committed=True)
    assert [2, 3, 4, 5, 7, 8, 13, 14] == offsets
    assert {"control": 3, "aborted": 2, "open": 2} == counts(rows)
    log = exported(path, committed=True)
    assert 4 == len([one for one in log.records() if one.offset in (4, 5, 7, 8)]) == log.transactional


def test_markers_outside_of_the_range_count(tmp_path: Path) -> None:
    """Before it and behind it."""
    path = segments(tmp_path / "t-0", [data(0, producer_id=1)], [data(2)], [marker(4, 1, 0)])
    assert [2] == offsets_of(path, committed=True, end=3)[0]
    assert [2, 3] == offsets_of(path, committed=True, start=1, end=4)[0]


def test_a_damaged_part_may_have_hidden_a_marker(tmp_path: Path) -> None:
    """What lies before it is neither committed nor aborted; what lies behind it is judged by its marker."""
    batches = [data(0, producer_id=1), marker(2, 1, 0), data(3, producer_id=1), marker(5, 1, 1), data(6, producer_id=1)]
    path = segments(tmp_path / "t-0", batches)
    flip_byte(path / "00000000000000000000.log", len(batches[0].data) + 30)
    offsets, rows = offsets_of(path, committed=True)
    assert [3, 4] == offsets
    assert {"control": 1, "unproven": 2, "open": 2, "damaged": 1} == counts(rows)
    flip_byte(path / "00000000000000000000.log", -1)
    assert {"control": 1, "unproven": 2, "damaged": 3} == counts(offsets_of(path, committed=True)[1])


def test_a_missing_segment_may_have_hidden_a_marker(tmp_path: Path) -> None:
    """Not in a compacted log: the cleaner keeps a marker as long as its records."""
    log_dir(tmp_path, cleaner={"compact-0": 9})
    batches = [data(0, producer_id=1)], [data(9, producer_id=1), marker(11, 1, 1)]
    path = segments(tmp_path / "t-0", *batches)
    offsets, rows = offsets_of(path, committed=True)
    assert ([9, 10], {"control": 1, "unproven": 2, "missing": None}) == (offsets, counts(rows))
    assert "an unknown number of records in no segment here (offsets 2-8)" in map(str, rows)
    assert [0, 1, 9, 10] == offsets_of(path)[0]
    offsets, rows = offsets_of(segments(tmp_path / "compact-0", *batches), committed=True)
    assert ([0, 1, 9, 10], {"control": 1}) == (offsets, counts(rows))


def test_the_beginning_may_be_elsewhere(tmp_path: Path) -> None:
    """Of a tiered log, in remote storage."""
    log_dir(tmp_path, log_start={"t-0": 3})
    path = segments(tmp_path / "t-0", [data(9)])
    offsets, rows = offsets_of(path)
    assert ([9, 10], ["an unknown number of records in no segment here (offsets 3-8)"]) == (offsets, [*map(str, rows)])
    assert ([9, 10], []) == offsets_of(path, start=9)


def test_an_interrupted_compaction_is_told(tmp_path: Path) -> None:
    """The file is a log of its own, if the user names it."""
    path = segments(tmp_path / "t-0", [data(4)])
    swap = write(path, {"00000000000000000000.log.swap": data(0).data}) / "00000000000000000000.log.swap"
    offsets, rows = offsets_of(path)
    assert ([4, 5], [("unfinished", str(swap))]) == (offsets, [(str(row.why), row.detail) for row in rows])
    assert ([0, 1], []) == offsets_of(swap)


def test_an_offset_outside_of_its_batch_is_damage(tmp_path: Path) -> None:
    """Its CRC matches all the same."""
    path = segments(tmp_path / "t-0", [batch_of(0, record(0), record(7), record(2), count=3)])
    offsets, rows = offsets_of(path)
    assert ([0, 2], {"damaged": 1}) == (offsets, counts(rows))


def test_a_marker_that_cannot_be_read_ends_no_transaction(tmp_path: Path) -> None:
    path = segments(
        tmp_path / "t-0", [data(0, producer_id=1), marker(2, 1, 77), data(3, producer_id=1), marker(5, 1, 1)]
    )
    assert [3, 4] == offsets_of(path, committed=True)[0]


def test_reading_goes_on_behind_a_damaged_batch(tmp_path: Path) -> None:
    """One bad byte costs one batch."""
    path = segments(tmp_path / "t-0", [data(0), data(2), data(4)])
    file = path / "00000000000000000000.log"
    flip_byte(file, SIZE + 70)
    log = exported(path)
    assert [0, 1, 4, 5] == [one.offset for one in log.records()]
    assert ["2 records damaged (offsets 2-3)"] == [str(row) for row in log.left_out.rows()]
    said = f"{file}: position {SIZE}, {SIZE} bytes: the CRC of the batch at offset 2 does not match"
    assert [said] == [str(place) for place in log.damage]


@pytest.mark.parametrize("position", [SIZE + 8, SIZE + 10])
def test_reading_goes_on_behind_a_wrong_size(tmp_path: Path, position: int) -> None:
    """Where the next batch begins is found by its CRC; nobody can count what was between."""
    path = segments(tmp_path / "t-0", [data(0), data(2), data(4), data(6)], [data(8)])
    flip_byte(path / "00000000000000000000.log", position)
    log = exported(path)
    assert [0, 1, 4, 5, 6, 7, 8, 9] == [one.offset for one in log.records()]
    assert [("damaged", None, 2, 4)] == [(str(row.why), row.records, row.start, row.end) for row in log.left_out.rows()]
    assert [SIZE] == [place.size for place in log.damage]


def test_a_cut_batch_is_damage_and_reserved_zeros_are_not(tmp_path: Path) -> None:
    path = segments(tmp_path / "t-0", [data(0), data(2)])
    file = path / "00000000000000000000.log"
    whole = file.read_bytes()
    file.write_bytes(whole[:-5])
    log = exported(path)
    assert [0, 1] == [one.offset for one in log.records()]
    assert ["the last batch is incomplete"] == [place.message for place in log.damage]
    file.write_bytes(whole + bytes(100_000))
    assert ([0, 1, 2, 3], []) == offsets_of(path)


def test_offsets_that_do_not_fit_are_damage(tmp_path: Path) -> None:
    """No CRC covers them."""
    path = segments(tmp_path / "t-0", [data(0), data(2), data(4)], [data(6)])
    flip_byte(path / "00000000000000000000.log", SIZE + 2)
    log = exported(path)
    assert [0, 1, 4, 5, 6, 7] == [one.offset for one in log.records()]
    assert "do not fit into the segment" in log.damage[0].message


def test_a_batch_that_jumps_ahead_is_damage(tmp_path: Path) -> None:
    """Its own offsets are wrong, not those of all that follow."""
    path = segments(tmp_path / "t-0", [data(0), data(2), data(4), data(6)])
    flip_byte(path / "00000000000000000000.log", SIZE + 6)
    log = exported(path)
    assert [0, 1, 4, 5, 6, 7] == [one.offset for one in log.records()]
    assert ["2 records damaged (offsets 2-3)"] == [str(row) for row in log.left_out.rows()]
    assert ["offsets 65282-65283 come before lower ones"] == [place.message for place in log.damage]


def test_a_renamed_file_is_read_by_its_offsets(tmp_path: Path) -> None:
    path = write(tmp_path / "t-0", {f"{at:020}.log": data(base).data for at, base in ((0, 0), (25, 20), (30, 30))})
    offsets, rows = offsets_of(path)
    assert ([0, 1, 20, 21, 30, 31], {"missing": None}) == (offsets, counts(rows))


def test_bytes_behind_the_last_record_lose_none(tmp_path: Path) -> None:
    path = segments(tmp_path / "t-0", [batch_of(0, payload=record(0) + b"more", count=1)])
    log = exported(path)
    assert ([0], []) == ([one.offset for one in log.records()], list(log.left_out.rows()))
    assert ["the batch at offset 0: record 1: 4 bytes follow the last of 1 records"] == [
        at.message for at in log.damage
    ]


def test_offsets_that_come_again_are_exported_once(tmp_path: Path) -> None:
    path = segments(tmp_path / "t-0", [data(0, 4), data(2, 4)])
    offsets, rows = offsets_of(path)
    assert ([0, 1, 2, 3, 4, 5], {"repeated": 2}) == (offsets, counts(rows))


def test_a_batch_that_lies_about_its_records(tmp_path: Path) -> None:
    """Its CRC matches; what can be read of it is exported."""
    records = record(0, key=b"k") + record(1, key=b"k")
    path = segments(
        tmp_path / "t-0", [batch_of(0, payload=records, count=5), batch_of(5, payload=b"", count=-3, last_offset=5)]
    )
    log = exported(path)
    assert [0, 1] == [one.offset for one in log.records()]
    assert [("damaged", None, 2, 6)] == [(str(row.why), row.records, row.start, row.end) for row in log.left_out.rows()]
    assert ["the batch at offset 0: record 2: 3 of 5 records are missing"] == [
        place.message for place in log.damage[:1]
    ]


@pytest.mark.parametrize(("magic", "codec", "why"), [(5, 0, "unknown-format"), (2, 6, "unknown-format")])
def test_formats_that_no_release_knows(tmp_path: Path, magic: int, codec: int, why: str) -> None:
    unknown = bytes_of(record_bytes(0), 1, base_offset=0, codec=codec, magic=magic)
    path = write(tmp_path / "t-0", {"00000000000000000000.log": unknown + data(1).data})
    offsets, rows = offsets_of(path)
    assert ([1, 2], {why: 1}) == (offsets, counts(rows))


def test_old_messages(tmp_path: Path) -> None:
    """Magic 0 has no timestamp; a wrapper has the messages in it; one of them may be damaged."""
    inner = old_message(0, b"a", b"1") + old_message(1, b"b", b"2")[:-1] + b"\xee" + old_message(2, None, None)
    log = message(0, magic=0).data + message(1).data + wrapper(4, inner)
    path = write(tmp_path / "t-0", {"00000000000000000000.log": log})
    export_of = exported(path)
    found = [(one.offset, one.timestamp, one.timestamp_type, one.key) for one in export_of.records()]
    kinds = [(0, None, None, None), (1, FIRST_TIMESTAMP, "CreateTime", None)]
    assert [*kinds, (2, FIRST_TIMESTAMP, "CreateTime", b"a"), (4, FIRST_TIMESTAMP, "CreateTime", None)] == found
    assert ["1 record damaged (offset 3)"] == [str(row) for row in export_of.left_out.rows()]


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_compressed_batches(tmp_path: Path, codec: int) -> None:
    packed = bytes_of(record_bytes(0) + record_bytes(1), 2, codec=codec)
    path = write(tmp_path / "t-0", {"00000000000000000000.log": packed})
    assert ([0, 1], []) == offsets_of(path)


def test_damage_outside_of_the_range_is_not_said(tmp_path: Path) -> None:
    path = segments(tmp_path / "t-0", [data(0), data(2), data(4)])
    flip_byte(path / "00000000000000000000.log", 70)
    offsets, rows = offsets_of(path, start=2)
    assert ([2, 3, 4, 5], []) == (offsets, rows)


def test_a_broker_may_run_with_a_future_log(tmp_path: Path) -> None:
    """Of one partition the directory that the broker serves is exported; the other is named."""
    broker(tmp_path, [data(0)])
    segments(tmp_path / f"t-0.{'a' * 32}-future", [data(0)])
    answer = export(tmp_path)
    assert [str(tmp_path / "t-0")] == [log.log.path for log in answer.logs]
    assert [(f"{tmp_path}/t-0.{'a' * 32}-future", f"{tmp_path}/t-0 is of the same partition")] == list(answer.skipped)
