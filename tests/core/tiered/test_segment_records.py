"""Records of `__remote_log_metadata`, folded into segments."""

from typing import Any

from kcheck.core.tiered.segment_records import SegmentFold
from kcheck.model.entries import EpochEntry
from kcheck.model.remote_log import RemoteSegment, SegmentState

TOPIC = "D2kA7PHGSbuG8vUj45S1jg"
KEY = (TOPIC, 1)


def update(segment_id: str, state: int, time: int, **more: Any) -> dict[str, Any]:
    """Return the value of a record of type 1, or with more fields of type 0."""
    where = {"name": "t", "id": TOPIC, "partition": 1}
    return {
        "remoteLogSegmentId": {"topicIdPartition": where, "id": segment_id},
        "brokerId": 1,
        "eventTimestampMs": time,
        "customMetadata": None,
        "remoteLogSegmentState": state,
        **more,
    }


def first(segment_id: str, start: int, end: int, time: int, **more: Any) -> dict[str, Any]:
    """Return the value of a record of type 0; `end` belongs to the segment."""
    epochs = [{"leaderEpoch": 0, "offset": start}]
    row = {"startOffset": start, "endOffset": end, "segmentSizeInBytes": 400, "segmentLeaderEpochs": epochs}
    row["maxTimestampMs"] = 7
    return update(segment_id, 0, time, **{**row, **more})


def test_the_later_record_wins() -> None:
    """The state and the metadata of the plugin change, the rest stays; the segments are in the order of offsets."""
    fold = SegmentFold()
    fold.take(first("b", 5, 9, 10))
    fold.take(first("a", 0, 4, 20))
    fold.take(update("b", 1, 30, customMetadata="AQI="))
    one, two = fold.logs()[KEY]
    epochs = (EpochEntry(0, 0),)
    assert one == RemoteSegment("a", SegmentState.COPY_STARTED, 0, 5, 400, epochs, 1, 20, 20, newest_ms=7)
    assert two[:5] == ("b", SegmentState.COPY_FINISHED, 5, 10, 400)
    assert two[7:] == (10, 30, 0, True, b"\x01\x02", 7)
    assert (fold.last_ms, fold.names, fold.unreadable) == (30, {KEY: "t"}, 0)


def test_only_later_records_are_left() -> None:
    """Retention cut the first one; if it comes again, it counts."""
    fold = SegmentFold()
    fold.take(update("a", 2, 10))
    fold.take(update("a", 2, 20))
    (row,) = fold.logs()[KEY]
    assert row == RemoteSegment("a", SegmentState.DELETE_STARTED, first_ms=10, last_ms=20, deletions=2)
    assert not row.is_finished
    fold.take(first("a", 0, 4, 30))
    (row,) = fold.logs()[KEY]
    assert (row.start_offset, row.state) == (0, SegmentState.COPY_STARTED)


def test_segments_of_the_same_epochs_share_them() -> None:
    fold = SegmentFold()
    for name, start in (("a", 5), ("b", 6)):
        fold.take(first(name, start, 9, 1, segmentLeaderEpochs=[{"leaderEpoch": 3, "offset": 5}]))
    one, two = fold.logs()[KEY]
    assert one.epochs is two.epochs


def test_what_no_broker_writes_is_counted() -> None:
    """A value that cannot be decoded, an unknown state, offsets that contradict each other."""
    fold = SegmentFold()
    for fields in (None, update("a", 7, 1), first("a", 5, 4, 1), first("a", -1, 4, 1), first("a", 0, 1 << 62, 1)):
        fold.take(fields)
    assert (fold.unreadable, dict(fold.logs())) == (5, {})


def test_records_of_other_types_say_nothing_of_a_segment() -> None:
    fold = SegmentFold()
    fold.take({"topicIdPartition": {}, "remotePartitionDeleteState": 0})
    assert (fold.unreadable, dict(fold.logs())) == (0, {})
