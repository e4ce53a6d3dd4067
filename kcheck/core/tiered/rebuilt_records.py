"""Records of `__remote_log_metadata` that the manifests of the Aiven plugin give back (version 1.0.0)."""

import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

from kcheck.core.tiered.metadata_partition import metadata_partition
from kcheck.model.remote_log import SegmentState
from kcheck.schemas.encode import remote_log_record


class RebuiltSegment(NamedTuple):
    """A remote segment, by its manifest."""

    topic: str
    """Its topic."""
    topic_id: str
    """The id of its topic."""
    partition: int
    """Its partition."""
    segment_id: str
    """Its id."""
    start_offset: int
    """Its first offset."""
    copied_ms: int
    """When it was copied, in ms since 1970."""
    values: tuple[bytes, bytes]
    """The values of its two records (the copy began, the copy is finished)."""

    def metadata_partition(self, count: int) -> int | None:
        """Return the partition of `__remote_log_metadata` that gets the records, of `count`."""
        return metadata_partition(self.topic_id, self.partition, count)


def rebuilt_segment(manifest: Any) -> RebuiltSegment | None:
    """Return the segment that a manifest describes; None if the manifest does not have version 1.

    The manifest is not encrypted, even if the plugin encrypts the segment. It has everything that the records need
    (RemoteLogSegmentMetadata 3.6 to 4.3.1), except the optional custom metadata of the plugin.
    """
    try:
        segment, size = manifest["remoteLogSegmentMetadata"], _integer(manifest["chunkIndex"]["originalFileSize"])
        first, last, copied_ms = (_integer(segment[name]) for name in ("startOffset", "endOffset", "eventTimestampMs"))
        own = segment["remoteLogSegmentId"]
        where = own["topicIdPartition"]
        if None in (metadata_partition(where["topicId"], 0, 1), metadata_partition(own["id"], 0, 1)):
            return None
        topic, number = where["topicPartition"]["topic"], _integer(where["topicPartition"]["partition"])
        epochs = {int(epoch): _integer(start) for epoch, start in segment["segmentLeaderEpochs"].items()}
        if not epochs or min(first, size, number, *epochs, *epochs.values()) < 0 or last < first:
            return None  # A broker that reads such a record fails (RemoteLogSegmentMetadata 3.6 to 4.3.1).
        of_both = {
            "remoteLogSegmentId": {
                "topicIdPartition": {"name": topic, "id": where["topicId"], "partition": number},
                "id": own["id"],
            },
            "brokerId": _integer(segment["brokerId"]),
            "eventTimestampMs": copied_ms,
            "customMetadata": None,
        }
        begun = {
            **of_both,
            "startOffset": first,
            "endOffset": last,
            "maxTimestampMs": _integer(segment["maxTimestampMs"]),
            "segmentLeaderEpochs": [{"leaderEpoch": epoch, "offset": start} for epoch, start in sorted(epochs.items())],
            "segmentSizeInBytes": size,
            "remoteLogSegmentState": int(SegmentState.COPY_STARTED),
            **_without_transactions(manifest["segmentIndexes"]),
        }
        ended = {**of_both, "remoteLogSegmentState": int(SegmentState.COPY_FINISHED)}
        values = (
            remote_log_record("RemoteLogSegmentMetadataRecord", begun),
            remote_log_record("RemoteLogSegmentMetadataUpdateRecord", ended),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, struct.error):
        return None
    return RebuiltSegment(topic, where["topicId"], number, own["id"], first, copied_ms, values)


def _integer(value: Any) -> int:
    """Return an integer; TypeError for anything else."""
    if type(value) is not int:
        raise TypeError
    return value


def _without_transactions(indexes: Mapping[str, Any]) -> dict[str, bool]:
    """Return the tagged field that a segment without a transaction index has."""
    return {} if indexes.get("transaction") else {"txnIndexEmpty": True}
