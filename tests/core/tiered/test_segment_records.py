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
    assert two[7:] == (10, 30, 0, True, b"\x01\x02", 7, False)
    assert (fold.last_ms, fold.names, fold.unreadable) == (30, {KEY: "t"}, 0)


def test_a_broker_that_says_which_segments_have_no_transaction_index_shows_those_that_have_one() -> None:
    """Kafka 4.0 writes the field for a segment without one, 3.9 for none. Brokers of both can be in one cluster."""
    fold = SegmentFold()
    fold.take(first("old", 0, 4, 10))
    fold.take(first("without", 5, 9, 20, txnIndexEmpty=True))
    fold.take(first("other", 10, 14, 30, brokerId=2))
    fold.take(first("with", 15, 19, 40))
    assert [row.has_aborted for row in fold.logs()[KEY]] == [False, False, False, True]


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


def test_the_epochs_of_a_segment() -> None:
    """They are kept once, counted from its first offset, and read as its record has them."""
    fold = SegmentFold()
    for name, start, offsets in (("a", 5, (5, 7)), ("b", 8, (8, 10)), ("c", 11, (5,))):
        epochs = [{"leaderEpoch": 3 + at, "offset": offset} for at, offset in enumerate(offsets)]
        fold.take(first(name, start, 20, 1, segmentLeaderEpochs=epochs))
    assert [row.epochs for row in fold.logs()[KEY]] == [((3, 5), (4, 7)), ((3, 8), (4, 10)), ((3, 5),)]


def test_logs_of_one_metadata_partition() -> None:
    """Each has its own segments; one id in two logs, which no broker writes, is two segments."""
    fold = SegmentFold()
    other = first("a", 0, 4, 2)
    other["remoteLogSegmentId"]["topicIdPartition"] = {"name": "u", "id": TOPIC, "partition": 2}
    for fields in (first("b", 5, 9, 1), first("a", 0, 4, 1), other, {**other, "startOffset": 3}):
        fold.take(fields)
    logs = fold.logs()
    assert {key: [(row.segment_id, row.start_offset) for row in rows] for key, rows in logs.items()} == {
        KEY: [("a", 0), ("b", 5)],
        (TOPIC, 2): [("a", 3)],
    }
    assert (fold.names, list(fold.ids)) == ({KEY: "t", (TOPIC, 2): "u"}, ["b", "a"])


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
