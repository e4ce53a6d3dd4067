"""Faults of batches that a start does not notice."""

import struct

from kcheck.model.entries import Offset
from kcheck.model.loss import BatchFaults
from kcheck.model.names import log_name
from kcheck.segments.batch_faults import LoadedSegment, batch_faults, first_identity
from tests.builders import FIRST_TIMESTAMP, BytesFiles, batch, flipped, index, log, message, run, times

FIRST, SECOND, THIRD = run(0, 99), run(100, 199), run(200, 249)
CRC, SIZE, MAGIC = 80, 8, 16
"""Positions in a batch: a byte of its records, its size, its magic."""


def faults(*segments: bytes, start: int = 0, end: int = 250, fits: int = 1 << 30) -> BatchFaults:
    """Return the faults of a log whose segments begin at 0, 100 and 200."""
    named = [LoadedSegment(Offset(100 * number), str(number), 1 << 30) for number in range(len(segments))]
    files = BytesFiles({name: data for (_, name, *_), data in zip(named, segments, strict=True)})
    return batch_faults(files, named, Offset(start), Offset(end), lambda size: size <= fits)


def spans(given: BatchFaults) -> list[tuple[int, int]]:
    """Return the offsets that cannot be read."""
    return [(one.start, one.end) for one in given.unreadable]


def test_an_intact_log() -> None:
    found = faults(log(FIRST), log(SECOND), log(THIRD))
    first, newest = found.first, found.newest
    assert found == BatchFaults(first=first, newest=newest)
    assert first == (0, 9, int.from_bytes(FIRST[0].data[17:21], "big"), 0)
    assert newest is not None
    assert newest[0] == THIRD[0].base_offset
    assert found.shared(is_compacted=False) == (first, newest)
    assert found.shared(is_compacted=True) == (newest,)
    assert faults(log([message(0), message(9, codec=1)]), end=10) == BatchFaults()
    unread = faults(log(FIRST), fits=10)
    assert (unread.is_complete, unread.first, unread.newest) == (False, first, None)


def test_the_first_batch_alone() -> None:
    """It is that of all faults, after empty segments, too."""
    named = [LoadedSegment(Offset(0), "a", 1 << 30), LoadedSegment(Offset(0), "b", 1 << 30)]
    first = faults(log(FIRST)).first
    assert first is not None
    assert first == first_identity(BytesFiles({"a": b"", "b": log(FIRST)}), named)
    assert first_identity(BytesFiles({"a": b"", "b": b""}), named) is None


def test_corrupt_batches() -> None:
    """One with a wrong CRC hides its own records, one with a wrong size all that follow in its segment."""
    size = len(FIRST[0].data)
    crc = faults(flipped(log(FIRST), 3 * size + CRC), log(SECOND), log(THIRD))
    assert spans(crc) == [(30, 40)]
    assert crc.unreadable[0].why == "the CRC does not match"
    assert spans(faults(flipped(log(FIRST), 3 * size + CRC), log(SECOND), start=40, end=200)) == []
    assert spans(faults(log(FIRST), flipped(log(SECOND), 9 * size + CRC), log(THIRD))) == [(190, 200)]
    broken = bytearray(log(FIRST))
    broken[3 * size + SIZE : 3 * size + SIZE + 4] = struct.pack(">i", 3)
    assert spans(faults(bytes(broken), log(SECOND), log(THIRD))) == [(30, 100)]
    assert spans(faults(bytes(broken), end=100)) == [(30, 100)]
    assert spans(faults(log(FIRST)[:-1], log(SECOND), log(THIRD))) == [(90, 100)]
    assert spans(faults(log(FIRST) + bytes(40), log(SECOND), log(THIRD))) == []
    unknown = bytearray(log(FIRST))
    unknown[3 * size + MAGIC] = 3
    assert spans(faults(bytes(unknown), log(SECOND), log(THIRD))) == [(30, 40)]
    unknown[3 * size + SIZE : 3 * size + SIZE + 4] = struct.pack(">i", 20)
    assert spans(faults(bytes(unknown), log(SECOND), log(THIRD))) == [(30, 100)]


def test_bytes_after_the_last_batch() -> None:
    """A broker appends after them, where it does not truncate them."""
    assert faults(log(FIRST)[:-1], end=90).tail == "it is incomplete"
    assert faults(log(FIRST) + bytes(40), end=100).tail is not None
    for tail in (faults(log(FIRST), end=100), faults(log(FIRST)[:-1], log(SECOND)), faults(log(FIRST)[:-1], fits=10)):
        assert tail.tail is None
    size = len(log(FIRST))
    named = [LoadedSegment(Offset(0), "a", size - len(FIRST[-1].data))]
    cut = batch_faults(BytesFiles({"a": log(FIRST)[:-1]}), named, Offset(0), Offset(90), lambda _: True)
    assert cut.tail is None


def test_offsets_that_are_not_possible() -> None:
    """The CRC does not cover the base offset of a batch."""
    size = len(FIRST[0].data)
    lower = bytearray(log(FIRST))
    lower[3 * size : 3 * size + 8] = struct.pack(">q", 10)
    assert spans(faults(bytes(lower), log(SECOND), log(THIRD))) == [(30, 40)]
    higher = bytearray(log(FIRST))
    higher[3 * size : 3 * size + 8] = struct.pack(">q", 1 << 40)
    assert spans(faults(bytes(higher), log(SECOND), log(THIRD))) == [(30, 40)]


def test_offsets_that_no_batch_has() -> None:
    """In a segment, and between two; many gaps, or holes in batches, are the work of a log cleaner."""
    without = log([*FIRST[:3], *FIRST[4:]])
    assert faults(without, log(SECOND), log(THIRD)).gaps == ((30, 40),)
    assert faults(without, log(SECOND), log(THIRD), start=40).gaps == ()
    assert faults(log(FIRST[:-2]), log(SECOND), log(THIRD)).gaps == ((80, 100),)
    assert faults(log(FIRST[::2]), log(SECOND), log(THIRD)).gaps == ()
    headless = log(FIRST[2:])
    assert faults(headless, log(SECOND), log(THIRD)).head == (0, 20)
    assert faults(headless, log(SECOND), log(THIRD), start=10).head == (10, 20)
    assert faults(headless, log(SECOND), log(THIRD), start=20).head is None
    assert faults(log([*FIRST[2:3], batch(30, 5, last_offset=39)]), end=40).head is None
    short = [log(run(base, base + 59)) for base in range(0, 500, 100)]
    assert len(faults(*short, log(run(500, 599)), end=600).gaps) == 5
    cleaned = batch(20, 5, last_offset=29)
    assert faults(log([*FIRST[:2], cleaned, *FIRST[4:]]), log(SECOND), log(THIRD)).gaps == ()


def test_the_time_index_of_other_batches() -> None:
    """Its last entry names a batch by offset and timestamp; zeros, parts of an entry, and no file say nothing."""
    newest = FIRST_TIMESTAMP + 10

    def foreign(entries: bytes, first: int = 0, *, is_indexed: bool = True) -> tuple[tuple[int, int], ...]:
        files = BytesFiles({log_name(Offset(0)): log(FIRST), "00000000000000000000.timeindex": entries})
        segment = LoadedSegment(Offset(0), log_name(Offset(0)), 1 << 30, is_indexed)
        return batch_faults(files, [segment], Offset(first), Offset(100), lambda _: True).foreign

    own, other = (times((timestamp, 39)) for timestamp in (newest, newest + 1))
    assert [(), ((0, 40),), ((20, 40),), ()] == [foreign(own), foreign(other), foreign(other, 20), foreign(other, 40)]
    assert [(), (), ()] == [foreign(other, is_indexed=False), foreign(other + bytes(12)), foreign(other + b"x")]


def of_indexes(offsets: bytes = b"", dates: bytes = b"", start: int = 0, *, is_indexed: bool = True) -> BatchFaults:
    """Return the faults of a log of one segment with these indexes; none is there if it is empty."""
    contents = {"log": log(FIRST), "index": offsets, "timeindex": dates}
    files = BytesFiles({f"{0:020d}.{ending}": data for ending, data in contents.items() if data})
    segment = LoadedSegment(Offset(0), log_name(Offset(0)), 1 << 30, is_indexed)
    return batch_faults(files, [segment], Offset(start), Offset(100), lambda _: True)


def test_a_time_index_that_is_older_than_the_records() -> None:
    newest = FIRST_TIMESTAMP + 10
    older = times((newest - 5, 39))
    assert of_indexes(dates=older).dated == ((0, 100, newest - 5, newest),)
    assert of_indexes(dates=older, start=40).dated == ((40, 100, newest - 5, newest),)
    assert of_indexes(dates=older, is_indexed=False).dated == of_indexes(dates=older, start=100).dated == ()
    assert of_indexes(dates=times((newest, 99))).dated == ()


def test_an_offset_index_that_names_a_later_batch_or_none() -> None:
    """A lookup begins to read at the last entry at or below its offset: LogSegment.translateOffset."""
    size = len(FIRST[0].data)

    def skipped(*entries: tuple[int, int], start: int = 0) -> tuple[tuple[int, int], ...]:
        return of_indexes(index(*entries), start=start).skipped

    assert skipped((19, size), (39, 2 * size), (99, 0), (100, 99), (-1, 5), (0, 0)) == ()
    assert skipped((19, 4 * size)) == ((19, 40),)
    assert skipped((19, 4 * size), start=30) == ((30, 40),)
    assert skipped((19, size + 1), (29, 99 * size)) == ((19, 100), (29, 100))
    assert skipped((19, 4 * size), start=40) == ()
    assert of_indexes().skipped == of_indexes(index((19, 4 * size)), is_indexed=False).skipped == ()


def test_a_segment_that_overlaps_the_next_one() -> None:
    """With the same batches, or with others at the same offsets: then one of the segments is of another log."""
    longer = run(0, 149)
    assert faults(log(longer), log(longer[10:]), log(THIRD)).foreign == ()
    assert faults(log([*run(0, 89), batch(90, 15)]), log(run(105, 199)), log(THIRD)).foreign == ()
    assert faults(log(longer), log(run(150, 199)), log(THIRD)).foreign == ((0, 150),)
    assert faults(log(run(0, 149, payload=b"x")), log(SECOND), log(THIRD)).foreign == ((0, 150),)
    assert faults(log(run(0, 149, payload=b"x")), log(SECOND), log(THIRD), start=150).foreign == ()
