"""Records of `__remote_log_metadata` from manifests: the bytes that real brokers of 4.3.1 wrote for such segments."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.tiered.rebuilt_records import rebuilt_segment
from kcheck.disk.local import LocalTree
from kcheck.schemas.records import decoder
from kcheck.segments.record_values import record_values
from tests.tiered_states import OBJECTS, state


def manifest(data: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of the Aiven plugin for a segment, from the fields of its first record."""
    own = data["remoteLogSegmentId"]
    where = own["topicIdPartition"]
    place = {"topic": where["name"], "partition": where["partition"]}
    return {
        "version": "1",
        "chunkIndex": {"type": "fixed", "originalChunkSize": 4096, "originalFileSize": data["segmentSizeInBytes"]},
        "segmentIndexes": {"offset": {"position": 0, "size": 1}, "transaction": None},
        "compression": False,
        "remoteLogSegmentMetadata": {
            "remoteLogSegmentId": {
                "topicIdPartition": {"topicId": where["id"], "topicPartition": place},
                "id": own["id"],
            },
            "startOffset": data["startOffset"],
            "endOffset": data["endOffset"],
            "maxTimestampMs": data["maxTimestampMs"],
            "brokerId": data["brokerId"],
            "eventTimestampMs": data["eventTimestampMs"],
            "segmentLeaderEpochs": {str(row["leaderEpoch"]): row["offset"] for row in data["segmentLeaderEpochs"]},
        },
    }


def segment_records(log: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield the first record of each segment in a log, with its fields."""
    decode = decoder("remote-log")
    with LocalTree().open(str(log)) as source:
        for value in record_values(source):
            message = None if value is None else decode(None, value).value
            data = {} if message is None or message.data is None else dict(message.data)
            if value is not None and "segmentSizeInBytes" in data:
                yield value, data


def test_the_bytes_of_a_broker(tmp_path: Path) -> None:
    """The first record of each segment is that of the broker; the second one says that the copy is finished."""
    log = state(OBJECTS, "1-stopped", tmp_path) / f"broker-1/__remote_log_metadata-0/{0:020d}.log"
    rows = list(segment_records(log))
    assert len(rows) == 4
    for value, data in rows:
        rebuilt = rebuilt_segment(manifest(data))
        assert rebuilt is not None
        assert (rebuilt.values[0], rebuilt.metadata_partition(3)) == (value, 0)
        ended = decoder("remote-log")(None, rebuilt.values[1]).value
        assert ended is not None
        assert ended.data is not None
        assert ended.data["remoteLogSegmentState"] == 1


@pytest.mark.parametrize(
    "change",
    [
        None,
        {"version": "1"},
        {"remoteLogSegmentMetadata": {"remoteLogSegmentId": 3}, "chunkIndex": {"originalFileSize": 1}},
        {"chunkIndex": {"originalFileSize": "x"}, "remoteLogSegmentMetadata": {}},
    ],
)
def test_other_json(change: object) -> None:
    assert rebuilt_segment(change) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", "short"),
        ("brokerId", 1 << 40),
        ("startOffset", -5),
        ("startOffset", 1.5),
        ("startOffset", True),
        ("endOffset", 0),
        ("segmentSizeInBytes", -1),
        ("segmentLeaderEpochs", []),
        ("segmentLeaderEpochs", [{"leaderEpoch": -1, "offset": 1}]),
        ("segmentLeaderEpochs", [{"leaderEpoch": 0, "offset": -1}]),
        ("partition", -1),
    ],
)
def test_values_that_no_record_holds(field: str, value: object) -> None:
    place: dict[str, Any] = {"name": "t", "id": "A" * 22, "partition": 0}
    own: dict[str, Any] = {"topicIdPartition": place, "id": "A" * 22}
    segment: dict[str, Any] = {
        "remoteLogSegmentId": own, "startOffset": 1, "endOffset": 4, "brokerId": 1, "maxTimestampMs": 3,
        "eventTimestampMs": 5, "segmentLeaderEpochs": [{"leaderEpoch": 0, "offset": 1}], "segmentSizeInBytes": 400,
    }  # fmt: skip
    assert rebuilt_segment(manifest(segment)) is not None
    next(row for row in (own, segment, place) if field in row)[field] = value
    assert rebuilt_segment(manifest(segment)) is None


def test_a_segment_with_a_transaction_index() -> None:
    """It has no tagged field; without one it has the field txnIndexEmpty."""
    segment = {
        "remoteLogSegmentId": {
            "topicIdPartition": {"name": "t", "id": "A" * 22, "partition": 0},
            "id": "B" * 21 + "A",
        },
        "startOffset": 0, "endOffset": 4, "brokerId": 1, "maxTimestampMs": 3, "eventTimestampMs": 5,
        "segmentLeaderEpochs": [{"leaderEpoch": 0, "offset": 0}], "segmentSizeInBytes": 400,
    }  # fmt: skip
    plain = manifest(segment)
    with_index = {**plain, "segmentIndexes": {"transaction": {"position": 9, "size": 8}}}
    first, second = rebuilt_segment(plain), rebuilt_segment(with_index)
    assert first is not None
    assert second is not None
    assert len(first.values[0]) == len(second.values[0]) + 3
