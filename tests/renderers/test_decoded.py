"""How decoded records are written for people who know kafka-dump-log: `tests/oracle` compares with the tool itself."""

import json
from typing import Any

import pytest

from kcheck.renderers._decoded import texts
from kcheck.renderers._json_writer import PrintableJson, jackson, printable_json

COMMIT = {"type": 1, "name": "OffsetCommitKey", "data": {"group": "g", "topic": "t", "partition": 0}}
UNKNOWN_TYPE = {"type": 18, "data": None, "problem": "record type 18 is not known", "damaged": False, "bytes": "ABI="}
UNKNOWN_VERSION = {
    "name": "OffsetCommitValue",
    "version": 9,
    "data": None,
    "problem": "p",
    "damaged": False,
    "bytes": "",
}
DAMAGED = {
    "name": "OffsetCommitValue",
    "version": 4,
    "data": None,
    "problem": "byte 2: w",
    "damaged": True,
    "bytes": "",
}
KEY = '{"type":"1","data":{"group":"g","topic":"t","partition":0}}'
MIGRATION = {"type": 21, "name": "ZkMigrationStateRecord", "version": 0, "data": {"zkMigrationState": 1}}
VALUE = {"name": "OffsetCommitValue", "version": 3, "data": {"offset": 7}}


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        (COMMIT, VALUE, (KEY, '{"version":"3","data":{"offset":7}}')),
        (COMMIT, None, (KEY, "<DELETE>")),
        (UNKNOWN_TYPE, None, ("Unknown record type 18 at offset 42, skipping.", None)),
        (
            COMMIT, UNKNOWN_VERSION,
            ("Error at offset 42, skipping. Found an unknown record version 9 for 1 type", None),
        ),
        (COMMIT, DAMAGED, ("Error at offset 42, skipping. byte 2: w", None)),
        (None, DAMAGED, (None, "Error at 42, skipping. byte 2: w")),
        (
            None, MIGRATION,
            (None, '{"type":"ZK_MIGRATION_STATE_RECORD","version":0,"data":{"zkMigrationState":1}}'),
        ),
    ],
)  # fmt: skip
def test_key_and_payload(key: Any, value: Any, expected: tuple[str | None, str | None]) -> None:
    assert expected == texts(42, key, value, PrintableJson())


WHERE = {"name": "t\n", "id": "i", "partition": 3}
FIRST = {
    "segmentId": "j", "startOffset": 1, "endOffset": 9, "maxTimestampMs": 5, "segmentSizeInBytes": 7,
    "segmentLeaderEpochs": [{"leaderEpoch": 2, "offset": 4}, {"leaderEpoch": 1, "offset": 1}], "customMetadata": "AAA=",
    "remoteLogSegmentState": 3, "txnIndexEmpty": True,
}  # fmt: skip
GONE = {"topicIdPartition": WHERE, "remotePartitionDeleteState": 1, "eventTimestampMs": 5, "brokerId": 6}
LATER = {
    "remoteLogSegmentId": {"topicIdPartition": WHERE, "id": "j"}, "customMetadata": None, "remoteLogSegmentState": 0,
    "eventTimestampMs": 5, "brokerId": 6,
}  # fmt: skip
REMOTE = """
RemoteLogSegmentMetadataSnapshot{segmentId=j, startOffset=1, endOffset=9, maxTimestampMs=5, \
segmentLeaderEpochs={1=1, 2=4}, segmentSizeInBytes=7, customMetadata=Optional[CustomMetadata{2 bytes}], \
state=DELETE_SEGMENT_FINISHED, txnIdxEmpty=true}
RemotePartitionDeleteMetadata{topicPartition=i:t\\u000A-3, state=DELETE_PARTITION_STARTED, \
eventTimestampMs=5, brokerId=6}
RemoteLogSegmentMetadataUpdate{remoteLogSegmentId=RemoteLogSegmentId{topicIdPartition=i:t\\u000A-3, id=j}, \
customMetadata=Optional.empty, state=COPY_SEGMENT_STARTED, eventTimestampMs=5, brokerId=6}
"""


def test_remote_metadata() -> None:
    """The texts of Kafka's classes."""
    names = ("RemoteLogSegmentMetadataSnapshot", "RemotePartitionDeleteMetadata", "RemoteLogSegmentMetadataUpdate")
    rows = zip(names, (FIRST, GONE, LATER), strict=True)
    said = [texts(42, None, {"name": f"{name}Record", "data": data}, PrintableJson()) for name, data in rows]
    assert [(None, line) for line in REMOTE.split("\n")[1:-1]] == said


@pytest.mark.parametrize(
    ("name", "row", "why"),
    [
        ("RemoteLogMetadata", {"data": None, "problem": "why"}, "why"),
        ("RemoteLogSegmentMetadataUpdateRecord", {"data": LATER | {"remoteLogSegmentState": 4}}, "unknown state"),
        ("RemoteLogSegmentMetadataSnapshotRecord", {"data": FIRST | {"segmentLeaderEpochs": []}}, "no leader epochs"),
        ("RemoteLogSegmentMetadataRecord", {"data": FIRST | {"startOffset": 10}}, "no range of offsets"),
        ("RemoteLogSegmentMetadataRecord", {"data": FIRST | {"startOffset": -1}}, "no range of offsets"),
    ],
)
def test_remote_metadata_that_no_class_takes(name: str, row: Any, why: str) -> None:
    assert (None, f"Error at offset 42, skipping. {why}") == texts(42, None, {"name": name, **row}, PrintableJson())


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.0"), (-0.0, "-0.0"), (1.0, "1.0"), (0.001, "0.001"), (0.00099, "9.9E-4"), (1e7, "1.0E7"),
        (0.0125, "0.0125"), (9999999.5, "9999999.5"), (-1234567.0, "-1234567.0"),
        (1.5e300, "1.5E300"), (120.0, "120.0"), (1e23, "1.0E23"), (5e-324, "4.9E-324"), (-1e-323, "-9.9E-324"),
    ],
)  # fmt: skip
def test_numbers_are_those_of_java(number: float, text: str) -> None:
    """Double.toString: an exponent from ten million on and below a thousandth, and two digits at least."""
    assert jackson(number) == text


def test_no_character_moves_the_cursor() -> None:
    """What JSON leaves as it is becomes an escape, and stays the same text."""
    said = {"k\x7f": ['\x00\x1f"\\\n', "\u202e \U000e0001", None, True, 7]}
    text = printable_json(jackson(said))
    assert text.isascii()
    assert json.loads(text) == said
    assert '"\\u0000\\u001F\\"\\\\\\n"' in text
    assert printable_json("{}") == "{}"
