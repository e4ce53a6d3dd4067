"""The split of a segment with an offset that does not fit: LocalLog.splitOverflowedSegment (rule 3.4).

tests/oracle/starts/test_predict.py holds the same on damaged copies of real logs.
"""

import pytest

from kcheck.model.entries import RELATIVE_OFFSET_MAX
from kcheck.startup.segment import Segment
from kcheck.startup.sorted_map import SortedMap
from kcheck.startup.split_overflow import split
from kcheck.startup.virtual_files import StartError
from tests.builders import FIRST_TIMESTAMP, Made, batch
from tests.startup.folders import name, segment_of

FAR = RELATIVE_OFFSET_MAX + 100
RELEASES = ("2.8", "3.9.0", "4.3")


def split_log(batches: list[Made], kafka: str) -> tuple[Segment, SortedMap[Segment], int | None]:
    """Split the only segment of a log; return it, the new segments, and the base offset that has gone."""
    segment = segment_of(batches, kafka)
    segments: SortedMap[Segment] = SortedMap()
    segments[0] = segment
    return segment, segments, split(segment, segments, interval=0)


@pytest.mark.parametrize("kafka", RELEASES)
def test_the_overflowing_batch_begins_a_segment(kafka: str) -> None:
    """LocalLog.splitOverflowedSegment: each new segment has the base offset of its first batch."""
    segment, segments, gone = split_log([batch(0, 5), batch(5, 5), batch(FAR, 2)], kafka)
    assert [0, FAR] == segments.order
    assert gone is None
    assert (10, FAR + 2) == tuple(made.next_offset() for made in segments.values())
    folder = segment.folder
    assert name(0) + ".deleted" in folder
    assert folder.files[name(0)].size + folder.files[name(FAR)].size == segment.size
    assert not any(file.endswith((".cleaned", ".swap")) for file in folder.files)


@pytest.mark.parametrize("kafka", RELEASES)
def test_a_base_offset_that_no_new_segment_has_is_told(kafka: str) -> None:
    """LocalLog.splitOverflowedSegment: the snapshot of such a segment belongs to no segment any more."""
    _, segments, gone = split_log([batch(7, 5), batch(FAR, 2)], kafka)
    assert ([7, FAR], 0) == (segments.order, gone)


@pytest.mark.parametrize(("kafka", "counts"), [("3.9.0", (0, 0)), ("4.3", (2, 0))])
def test_the_indexes_of_new_segments(kafka: str, counts: tuple[int, int]) -> None:
    """LogSegment.appendFromFile: up to 3.9.0 small batches are appended as one chunk, with one index entry at most."""
    batches = [batch(base, 5) for base in (0, 5, 10)]
    _, segments, _ = split_log([*batches, batch(FAR, 2)], kafka)
    assert counts == tuple(made.offset_index.entries for made in segments.values())
    first = segments[0].time_index
    timestamp, offset = first.slot(first.entries - 1)
    assert timestamp == FIRST_TIMESTAMP + 5
    assert offset in (4, 14)


@pytest.mark.parametrize(
    "batches",
    [[batch(0, 5), batch(5, 5)], [batch(0, 5), batch(FAR, 2), batch(10, 5)], [batch(0, 1, last_offset=-5)]],
    ids=["all fit", "in the middle", "below the base offset"],
)
@pytest.mark.parametrize("kafka", RELEASES)
def test_the_last_batch_must_overflow(batches: list[Made], kafka: str) -> None:
    """LocalLog.splitOverflowedSegment: requires an overflow in the last batch, else the broker aborts."""
    with pytest.raises(StartError, match="not in its last batch"):
        split_log(batches, kafka)


def test_an_unknown_magic_cannot_be_split() -> None:
    """UnifiedLog.append checks the magic of each batch (from 3.9.1 on the batches are appended one by one)."""
    strange = batch(5, 5, magic=3)
    with pytest.raises(StartError, match="CorruptRecordException"):
        split_log([batch(0, 5), strange, batch(FAR, 2)], "4.3")
    assert [0, FAR] == split_log([batch(0, 5), strange, batch(FAR, 2)], "3.9.0")[1].order


def test_a_batch_that_ends_below_its_own_base_cannot_be_split() -> None:
    """LocalLog.splitOverflowedSegment: such a batch fits into no segment, not even its own."""
    backward = batch(0, 1, last_offset=-5)
    with pytest.raises(StartError, match="IllegalStateException"):
        split_log([backward, batch(FAR, 2)], "4.3")
