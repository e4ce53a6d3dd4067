"""Records of __remote_log_metadata as kafka-dump-log writes them, by toString of kafka-storage 4.3.1.

The records and these classes share names, but some fields are named differently.
"""

from binascii import a2b_base64
from typing import Any

from kcheck.renderers._json_writer import printable_json

_SEGMENT_STATES = (
    "COPY_SEGMENT_STARTED", "COPY_SEGMENT_FINISHED", "DELETE_SEGMENT_STARTED", "DELETE_SEGMENT_FINISHED",
)  # fmt: skip
_PARTITION_STATES = ("DELETE_PARTITION_MARKED", "DELETE_PARTITION_STARTED", "DELETE_PARTITION_FINISHED")

_RANGE = ("remoteLogSegmentId", "startOffset", "endOffset")
_REST = ("segmentLeaderEpochs", "segmentSizeInBytes", "customMetadata", "state", "txnIdxEmpty")
_SHOWN = {
    "RemoteLogSegmentMetadata": (*_RANGE, "brokerId", "maxTimestampMs", "eventTimestampMs", *_REST),
    "RemoteLogSegmentMetadataUpdate": ("remoteLogSegmentId", "customMetadata", "state", "eventTimestampMs", "brokerId"),
    "RemotePartitionDeleteMetadata": ("topicPartition", "state", "eventTimestampMs", "brokerId"),
    "RemoteLogSegmentMetadataSnapshot": ("segmentId", *_RANGE[1:], "maxTimestampMs", *_REST),
}
"""The fields that the toString of a class shows, in order."""


def remote_metadata(offset: object, row: Any) -> str:
    """Return the text after `payload: ` for a row of `Message`."""
    data = row["data"]
    name = str(row["name"]).removesuffix("Record")
    problem = row.get("problem") or _refused(name, data)
    if problem is not None:
        return f"Error at offset {offset}, skipping. {problem}"
    return f"{name}{{{', '.join(f'{field}={_text(field, data)}' for field in _SHOWN[name])}}}"


def _refused(name: str, data: Any) -> str | None:
    """Return why the class rejects these fields, or None."""
    if _state(data) is None:
        return "unknown state"
    if name == "RemoteLogSegmentMetadata" and not 0 <= data["startOffset"] <= data["endOffset"]:
        return "no range of offsets"
    return "no leader epochs" if data.get("segmentLeaderEpochs") == [] else None


def _state(data: Any) -> str | None:
    for field, names in (("remoteLogSegmentState", _SEGMENT_STATES), ("remotePartitionDeleteState", _PARTITION_STATES)):
        if field in data and 0 <= data[field] < len(names):
            return names[data[field]]
    return None


def _text(field: str, data: Any) -> str:
    match field:
        case "remoteLogSegmentId":
            segment = data[field]
            where = _partition(segment["topicIdPartition"])
            return f"RemoteLogSegmentId{{topicIdPartition={where}, id={segment['id']}}}"
        case "topicPartition":
            return _partition(data["topicIdPartition"])
        case "segmentLeaderEpochs":
            epochs = {entry["leaderEpoch"]: entry["offset"] for entry in data[field]}
            return f"{{{', '.join(f'{epoch}={start}' for epoch, start in sorted(epochs.items()))}}}"
        case "customMetadata":
            custom = data[field]
            return (
                "Optional.empty" if custom is None else f"Optional[CustomMetadata{{{len(a2b_base64(custom))} bytes}}]"
            )
        case "state":
            return str(_state(data))
        case "txnIdxEmpty":
            return "true" if data.get("txnIndexEmpty") else "false"
    return str(data[field])


def _partition(where: Any) -> str:
    return f"{where['id']}:{printable_json(where['name'])}-{where['partition']}"
