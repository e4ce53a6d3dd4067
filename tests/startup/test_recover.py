"""The recovery of one segment: LogSegment.recover (rules 3.2 to 3.4 and 3.6).

tests/oracle/starts/test_predict.py holds the same on damaged copies of real logs.
"""

import pytest

from kcheck.core.releases.releases import release
from kcheck.model.entries import RELATIVE_OFFSET_MAX
from kcheck.startup.leader_epochs import EpochCache
from kcheck.startup.producer_state import Producers
from kcheck.startup.recover import OffsetOrderError, Recovered, SegmentOverflowError, build_indexes, recover
from kcheck.startup.segment import Segment
from kcheck.startup.virtual_files import StartError
from tests.builders import FIRST_TIMESTAMP, Made, batch, log, message
from tests.compressed import gzip
from tests.startup.folders import segment_of

FAR = RELATIVE_OFFSET_MAX + 1


def recovered(segment: Segment, epochs: EpochCache | None = None) -> Recovered:
    """Recover a segment with producers of its own."""
    producers = Producers(segment.folder, segment.context.release, for_recovery=True)
    return recover(segment, producers, epochs, interval=segment.context.settings.index_interval_bytes)


def damaged(made: Made) -> Made:
    """Return a batch with another last byte, so that its CRC does not match."""
    data = made.data[:-1] + bytes([made.data[-1] ^ 1])
    return Made(data=data, base_offset=made.base_offset, last_offset=made.last_offset)


def test_a_valid_segment_stays() -> None:
    """LogSegment.recover: both indexes are rebuilt, with the last batch of the largest timestamp as time entry."""
    segment = segment_of([batch(base, 5) for base in (0, 5, 10)], index_interval_bytes=0)
    assert Recovered(0, None) == recovered(segment)
    assert [(9, 61), (14, 122)] == [segment.offset_index.slot(number) for number in range(2)]
    assert (FIRST_TIMESTAMP + 5, 4) == segment.time_index.slot(0)
    assert (2, 1) == (segment.offset_index.entries, segment.time_index.entries)


def test_an_entry_needs_more_bytes_than_the_interval() -> None:
    """LogSegment.recover: index.interval.bytes, counted from the batch of the entry before."""
    segment = segment_of([batch(base) for base in range(10)], index_interval_bytes=2 * 61)
    recovered(segment)
    assert [3, 6, 9] == [segment.offset_index.slot(number)[0] for number in range(segment.offset_index.entries)]


@pytest.mark.parametrize("tail", [damaged(batch(5, payload=b"x")).data, batch(5).data[:40], bytes(40)])
def test_everything_after_the_first_invalid_batch_is_truncated(tail: bytes) -> None:
    """LogSegment.recover: a wrong CRC, an incomplete batch, zeros; valid batches after them go too."""
    last = Made(data=tail + batch(6).data, base_offset=5, last_offset=6)
    segment = segment_of([batch(0, 5), last])
    recovery = recovered(segment)
    assert (len(last.data), 61) == (recovery.cut, segment.size)
    assert "position 61" in (recovery.why or "")


@pytest.mark.parametrize("far", [batch(FAR), batch(0, 1, last_offset=-1)], ids=["above", "below"])
def test_an_offset_out_of_range_overflows(far: Made) -> None:
    """LogSegment.ensureOffsetInRange throws LogSegmentOffsetOverflowException, from 1.1.1 on (rule 3.2, test 3)."""
    segment = segment_of([batch(0, 5), far])
    with pytest.raises(SegmentOverflowError, match="position 61") as raised:
        recovered(segment)
    assert raised.value.segment is segment


def test_offsets_out_of_order_fail_at_an_index_entry() -> None:
    """OffsetIndex.append throws InvalidOffsetException; between entries nothing looks at the order (rule 3.2)."""
    fallen = [batch(0, 5), batch(10, 5), batch(5, 5)]
    with pytest.raises(OffsetOrderError, match="position 122"):
        recovered(segment_of(fallen, index_interval_bytes=0))
    assert Recovered(0, None) == recovered(segment_of(fallen))


@pytest.mark.parametrize(("kafka", "fails"), [("0.10.2", True), ("1.1", True), ("2.0", False)])
def test_a_wrapper_that_begins_below_the_entry_before(kafka: str, fails: bool) -> None:
    """An index entry has the first offset of a wrapper, from 2.0 the last one (KAFKA-3919, KAFKA-6264)."""
    inner = log([message(offset) for offset in range(4)])
    batches = [*(message(offset) for offset in range(3)), message(3, gzip(inner), codec=1)]
    segment = segment_of(batches, kafka, index_interval_bytes=0)
    if fails:
        with pytest.raises(OffsetOrderError, match="begins at offset 0, not above"):
            recovered(segment)
    else:
        assert Recovered(0, None) == recovered(segment)


def test_a_time_index_refuses_an_offset_that_falls() -> None:
    """TimeIndex.maybeAppend throws InvalidOffsetException at the end of a recovery, for the largest timestamp."""
    newest = batch(1, timestamp=FIRST_TIMESTAMP + 900)
    batches = [batch(0, 5), batch(5, 5), batch(10, 5, timestamp=FIRST_TIMESTAMP + 50), newest]
    with pytest.raises(OffsetOrderError):
        recovered(segment_of(batches, index_interval_bytes=100))


@pytest.mark.parametrize("size", [8, 24])
def test_an_index_without_room_aborts_the_start(size: int) -> None:
    """AbstractIndex.append: more entries than segment.index.bytes holds; the time index keeps one slot in reserve."""
    batches = [batch(base, timestamp=FIRST_TIMESTAMP + base) for base in range(9)]
    segment = segment_of(batches, index_interval_bytes=0, segment_index_bytes=size)
    with pytest.raises(StartError, match=r"segment\.index\.bytes"):
        recovered(segment)


def test_epochs_of_batches_are_added() -> None:
    """LogSegment.recover: LeaderEpochFileCache.assign for each batch with an epoch above the latest."""
    segment = segment_of([batch(0, 5, epoch=1), batch(5, 5, epoch=4), batch(10, 5, epoch=2)])
    epochs = EpochCache(segment.folder, release("4.3"))
    recovered(segment, epochs)
    assert [(1, 0), (4, 5)] == [tuple(entry) for entry in epochs.entries]


def test_a_negative_first_offset_of_an_epoch_aborts_the_start() -> None:
    """EpochEntry throws IllegalArgumentException for a negative start offset."""
    segment = segment_of([batch(-2, 5, epoch=1)], base=-2)
    with pytest.raises(StartError, match="IllegalArgumentException"):
        recovered(segment, EpochCache(segment.folder, release("4.3")))


def test_a_release_without_magic_2_cuts_it() -> None:
    """Message.isValid 0.10.2 computes the CRC of a message over a batch of magic 2, which never matches."""
    segment = segment_of([message(0), batch(1)], kafka="0.10.2")
    assert recovered(segment).cut == 61


def test_indexes_of_unchecked_batches() -> None:
    """LogSegment.append checks the order as a recovery does, but its callers do not handle it: the start aborts."""
    good = segment_of([batch(0, 5), batch(5, 5)])
    build_indexes(good, 0)
    assert good.offset_index.entries == 1
    with pytest.raises(StartError):
        build_indexes(segment_of([batch(0, 5), batch(9), batch(5)]), 0)
    newest = batch(1, timestamp=FIRST_TIMESTAMP + 900)
    batches = [batch(0, 5), batch(5, 5), batch(10, 5, timestamp=FIRST_TIMESTAMP + 50), newest]
    with pytest.raises(StartError, match="InvalidOffsetException"):
        build_indexes(segment_of(batches), 100)
