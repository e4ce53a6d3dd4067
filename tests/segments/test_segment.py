"""What a segment holds is told with the place and the values of each fault, and bounded."""

from collections.abc import Mapping, Sequence
from typing import TypedDict, Unpack

import pytest

from kcheck.model.finding import Location
from kcheck.model.names import segment_prefix
from kcheck.model.producers import Producing, Range
from kcheck.model.segments import (
    BatchFault,
    Beyond,
    End,
    Epochless,
    EpochRun,
    FaultyBatch,
    Gap,
    SegmentView,
    Transactions,
)
from kcheck.model.unreadable import UnreadableError
from kcheck.rules.kc001_unreadable import GONE
from kcheck.segments import columnar_segment as whole
from kcheck.segments import header_columns as columns
from kcheck.segments import plain_segment as small
from kcheck.segments.segment import read_segment
from tests.builders import BytesFiles, Made, batch, flipped, index_of, log, message, run

LEAST = -(2**63)
PAYLOAD = b"x" * 39
"""A batch with it has 100 bytes."""


class How(TypedDict, total=False):
    """What may be told to `seen`."""

    base: int
    verify: bool


@pytest.fixture(autouse=True, params=[4 << 20, 300], ids=["one window", "many windows"])
def _window(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All batches in one window, and windows of three; all are read by the engine."""
    monkeypatch.setattr(small, "SIZE_MAX", -1)
    monkeypatch.setattr(columns, "WINDOW_SIZE", request.param)


def seen(made: Sequence[Made], *, tail: bytes = b"", **how: Unpack[How]) -> SegmentView:
    """Return what is told of a segment of these batches, with `tail` behind them."""
    return read(log(made) + tail, **how)


def read(data: bytes | None, *, indexes: Mapping[str, bytes] = {}, **how: Unpack[How]) -> SegmentView:
    """Return what is told of a segment with these bytes, and of the indexes with these endings beside it."""
    base = how.get("base", 0)
    prefix = segment_prefix(base)
    name = f"{prefix}.log"
    files = {f"{prefix}{ending}": content for ending, content in indexes.items()}
    if data is not None:
        files[name] = data
    return read_segment(BytesFiles(files), name, Location(dir="t-0", file=name), base, verify=how.get("verify", True))


def faults(found: SegmentView) -> list[FaultyBatch]:
    """Return the faults; all of them are kept here."""
    assert sum(found.counts.values()) == len(found.faults)
    return list(found.faults)


def test_a_sound_segment() -> None:
    found = seen(run(0, 99, epoch=3))
    expected = SegmentView(
        where=Location(dir="t-0", file=f"{segment_prefix(0)}.log"),
        base_offset=0,
        size=1000,
        valid_size=1000,
        end=End.WHOLE,
        zeros=False,
        batches=10,
        first_offset=0,
        end_offset=100,
        max_timestamp=1_700_000_000_010,
        epochs=(EpochRun(3, 0, 99),),
        faults=(),
        counts={},
        beyond=None,
        transactions=Transactions((), {}, {}),
        offset_index=None,
        time_index=None,
        producers=Producing(Range(0, 100, 0, {}), {}, (), {}),
        unread={".index": GONE, ".timeindex": GONE},
    )
    assert expected == found


def test_an_empty_segment() -> None:
    found = seen([], base=70)
    assert (0, 0, End.WHOLE, False) == (found.size, found.valid_size, found.end, found.zeros)
    assert (0, None, 70, -1) == (found.batches, found.first_offset, found.end_offset, found.max_timestamp)
    assert ((), (), {}, None) == (found.epochs, found.faults, found.counts, found.beyond)


def test_a_segment_may_begin_above_its_base_offset() -> None:
    """Compaction has taken the first records."""
    found = seen(run(20, 39))
    assert (0, 20, 40, []) == (found.base_offset, found.first_offset, found.end_offset, faults(found))


def test_a_wrong_crc() -> None:
    found = read(flipped(log(run(0, 99, epoch=4)), 399))
    assert [FaultyBatch(BatchFault.CRC, 300, 100, 30, 39, 4, 10, 2, 29)] == faults(found)
    assert (10, End.WHOLE, 1000) == (found.batches, found.end, found.valid_size)


def test_without_verification_no_crc_is_wrong() -> None:
    found = read(flipped(log(run(0, 99)), 399), verify=False)
    assert [] == faults(found)


def test_a_wrong_crc_of_the_first_batch_has_nothing_before() -> None:
    data = flipped(log(run(0, 99)), 99)
    assert [FaultyBatch(BatchFault.CRC, 0, 100, 0, 9, 0, 10, 2, LEAST)] == faults(read(data))


def test_a_wrong_crc_of_a_batch_larger_than_a_window() -> None:
    data = flipped(log([batch(0), batch(1, payload=bytes(1000)), batch(2)]), 1000)
    assert [FaultyBatch(BatchFault.CRC, 61, 1061, 1, 1, 0, 1, 2, 0)] == faults(read(data))


@pytest.mark.parametrize("magic", [3, 127])
def test_an_unknown_magic(magic: int) -> None:
    """No CRC covers it."""
    found = seen([*run(0, 29), batch(30, 10, magic=magic, payload=PAYLOAD), *run(40, 49)])
    assert [FaultyBatch(BatchFault.MAGIC, 300, 100, 30, 39, 0, 10, magic, 29)] == faults(found)


@pytest.mark.parametrize("magic", [-128, -1])
def test_a_negative_magic(magic: int) -> None:
    """It is read as a message, as the broker does."""
    found = seen([*run(0, 29), message(30, magic=magic), *run(31, 40)])
    assert [FaultyBatch(BatchFault.MAGIC, 300, 31, 30, 30, -1, 1, magic, 29)] == faults(found)


@pytest.mark.parametrize("base", [5, 29])
def test_a_batch_at_or_below_the_last_offset(base: int) -> None:
    found = seen([*run(0, 29), batch(base, 10, payload=PAYLOAD), *run(40, 49)])
    assert [FaultyBatch(BatchFault.ORDER, 300, 100, base, base + 9, 0, 10, 2, 29)] == faults(found)


def test_a_batch_is_compared_with_the_one_before_it() -> None:
    """A copy of what stands there already is one fault, at its start."""
    found = seen([*run(0, 49), *run(0, 49)])
    assert [FaultyBatch(BatchFault.ORDER, 500, 100, 0, 9, 0, 10, 2, 49)] == faults(found)


def test_a_batch_that_ends_below_its_base_offset() -> None:
    found = seen([*run(0, 29), batch(30, 10, last_offset=25, payload=PAYLOAD), *run(40, 49)])
    assert [FaultyBatch(BatchFault.DELTA, 300, 100, 30, 25, 0, 10, 2, 29)] == faults(found)


def test_a_batch_below_the_base_offset_of_the_segment() -> None:
    found = seen([*run(90, 99), *run(100, 119)], base=100)
    assert [FaultyBatch(BatchFault.RANGE, 0, 100, 90, 99, 0, 10, 2, LEAST)] == faults(found)


@pytest.mark.parametrize(("base", "expected"), [(99 + 2**31, []), (100 + 2**31, [BatchFault.RANGE])])
def test_a_batch_too_far_above_the_base_offset_of_the_segment(base: int, expected: list[BatchFault]) -> None:
    found = seen([*run(100, 109), batch(base)], base=100)
    assert [FaultyBatch(fault, 100, 61, base, base, 0, 1, 2, 109) for fault in expected] == faults(found)


@pytest.mark.parametrize(
    ("last", "count", "wrong"), [(39, 11, True), (39, -1, True), (39, 10, False), (39, 0, False), (30, 2, True)]
)
def test_a_record_count_that_cannot_be(last: int, count: int, *, wrong: bool) -> None:
    """Compaction leaves fewer records than offsets, even none."""
    found = seen([*run(0, 29), batch(30, count, last_offset=last, payload=PAYLOAD), *run(40, 49)])
    expected = [FaultyBatch(BatchFault.COUNT, 300, 100, 30, last, 0, count, 2, 29)] if wrong else []
    assert expected == faults(found)


def test_an_epoch_below_one_before() -> None:
    """It is compared with the largest, in whatever window that was."""
    found = seen([*run(0, 49, epoch=5), *run(50, 59, epoch=3), *run(60, 69, epoch=4), *run(70, 79, epoch=5)])
    expected = [
        FaultyBatch(BatchFault.EPOCH, 500, 100, 50, 59, 3, 10, 2, 5),
        FaultyBatch(BatchFault.EPOCH, 600, 100, 60, 69, 4, 10, 2, 5),
    ]
    assert expected == faults(found)
    assert [EpochRun(5, 0, 49), EpochRun(3, 50, 59), EpochRun(4, 60, 69), EpochRun(5, 70, 79)] == list(found.epochs)


def test_an_epoch_below_that_of_none() -> None:
    """No leader has a negative one, and the cleaner writes -1 where a message had none."""
    found = seen([*run(0, 9, epoch=-2), *run(10, 29, epoch=-1), *run(30, 39), *run(40, 49, epoch=-1)])
    assert [FaultyBatch(BatchFault.EPOCH, 0, 100, 0, 9, -2, 10, 2, -1)] == faults(found)
    assert Epochless(3, 100, 10) == found.epochless


def test_epochs_are_told_as_runs() -> None:
    made = [*run(0, 9), *run(10, 59, epoch=2), *run(60, 69, epoch=3), *run(70, 99, epoch=7)]
    expected = [EpochRun(0, 0, 9), EpochRun(2, 10, 59), EpochRun(3, 60, 69), EpochRun(7, 70, 99)]
    assert expected == list(seen(made).epochs)


def test_of_many_runs_of_epochs_the_first_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "_EPOCH_COUNT_MAX", 5)
    made = [batch(number, epoch=number, payload=PAYLOAD) for number in range(50)]
    assert [EpochRun(number, number, number) for number in range(5)] == list(seen(made).epochs)


def test_what_has_no_epoch_is_passed_over() -> None:
    """Messages have none; -1 is what a batch has that was converted."""
    made = [message(0), *run(1, 10, epoch=-1), *run(11, 30, epoch=2), message(31), *run(32, 81, epoch=2)]
    found = seen(made)
    assert [EpochRun(2, 11, 81)] == list(found.epochs)
    assert [] == faults(found)


def test_messages_have_no_fault() -> None:
    """A wrapper's offset is its last one: those before are inside."""
    made = [message(0, magic=0), message(1), message(9, magic=0, codec=1), message(19, codec=2)]
    found = seen(made)
    assert ([], 4, 0, 20) == (faults(found), found.batches, found.first_offset, found.end_offset)


def test_offsets_that_are_in_no_batch() -> None:
    """The first two gaps; what a batch, or the beginning of the segment, lacks is counted alone."""
    made = [*run(2, 41), *run(50, 59), batch(60, 7, last_offset=69, payload=PAYLOAD), *run(75, 84), *run(90, 99)]
    found = seen(made)
    assert ((Gap(42, 50), Gap(70, 75)), 2 + 8 + 3 + 5 + 5) == (found.gaps, found.holes)


def test_the_largest_timestamp_is_that_of_any_batch() -> None:
    stamps = [5, 900, 30, 20, 10, 7]
    made = [batch(number, timestamp=stamp, payload=PAYLOAD) for number, stamp in enumerate(stamps)]
    assert seen(made).max_timestamp == 901


def test_without_a_timestamp_there_is_no_largest() -> None:
    assert seen([message(0, magic=0)]).max_timestamp == -1


@pytest.mark.parametrize(("zeros", "end"), [(1, End.TORN), (17, End.TORN), (18, End.CORRUPT), (3 << 20, End.CORRUPT)])
def test_zeros_behind_valid_data(zeros: int, end: End) -> None:
    found = seen(run(0, 99), tail=bytes(zeros))
    assert (end, True, 1000, 1000 + zeros, None) == (found.end, found.zeros, found.valid_size, found.size, found.beyond)


@pytest.mark.parametrize("tail", [b"\1", bytes(16) + b"\1", bytes(2 << 20) + b"\1", b"\1" + bytes(100)])
def test_other_bytes_behind_valid_data(tail: bytes) -> None:
    found = seen(run(0, 99), tail=tail)
    assert (False, 1000, None) == (found.zeros, found.valid_size, found.beyond)
    assert found.end in (End.TORN, End.CORRUPT)


def test_a_segment_of_zeros_alone() -> None:
    found = seen([], tail=bytes(1000))
    assert (End.CORRUPT, True, 0, 0) == (found.end, found.zeros, found.valid_size, found.batches)


def test_batches_behind_damage() -> None:
    """Those with offsets above the last that is valid."""
    found = seen(run(0, 49), tail=bytes(33) + log(run(40, 99)))
    assert (End.CORRUPT, 500, 50, Beyond(633, 50, 99, 5)) == (
        found.end,
        found.valid_size,
        found.end_offset,
        found.beyond,
    )


def test_batches_behind_damage_at_the_start() -> None:
    found = seen([], tail=b"\xff" * 33 + log(run(90, 129)), base=100)
    assert (0, 0, Beyond(133, 100, 129, 3)) == (found.valid_size, found.batches, found.beyond)


def test_more_than_100_faults_of_a_kind_are_counted() -> None:
    """The first 100 of each kind are kept."""
    made = [batch(number, 3, last_offset=number, magic=3, payload=PAYLOAD) for number in range(250)]
    found = seen(made)
    assert {BatchFault.MAGIC: 250, BatchFault.COUNT: 250} == dict(found.counts)
    for fault in found.counts:
        assert list(range(0, 10_000, 100)) == [each.position for each in found.faults if each.fault is fault]


def test_indexes_beside_it_are_checked() -> None:
    made = run(1000, 1199)
    indexes = {".index": index_of(made, 1000) + bytes(80), ".timeindex": b""}
    found = read(log(made), indexes=indexes, base=1000)
    assert found.offset_index is not None
    assert found.time_index is not None
    assert (19, 80, {}) == (found.offset_index.entries, found.offset_index.room, found.offset_index.counts)
    assert (0, {}) == (found.time_index.entries, found.time_index.counts)
    prefix = segment_prefix(1000)
    expected = [Location(dir="t-0", file=f"{prefix}{ending}") for ending in (".index", ".timeindex")]
    assert expected == [found.offset_index.where, found.time_index.where]


def test_an_index_that_is_missing_is_none() -> None:
    found = seen(run(0, 99))
    assert (None, None) == (found.offset_index, found.time_index)


def test_a_log_that_cannot_be_read() -> None:
    with pytest.raises(UnreadableError):
        read(None)
