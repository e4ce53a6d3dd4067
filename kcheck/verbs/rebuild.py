"""Writes the lost metadata of remote segments that manifests give back: `kcheck tiered --rebuild DIR`.

A partition of `__remote_log_metadata` without a record gets a log, which replicas take before they start. Its offsets
end at the high watermark that checkpoints have. Records of other partitions are for a producer.
"""

import json
from base64 import b64encode
from collections.abc import Iterator

from kcheck.core.tiered.rebuilt_records import RebuiltSegment
from kcheck.disk.new_files import NewFiles
from kcheck.errors import UsageError
from kcheck.formats import partition_metadata
from kcheck.formats.partition_metadata import PartitionMetadata
from kcheck.model.entries import Offset
from kcheck.model.names import PARTITION_METADATA, log_name
from kcheck.model.remote_log import REMOTE_LOG_METADATA
from kcheck.records.raft_batch import raft_batch
from kcheck.verbs.tiered import Tiered
from kcheck.words import partition_name

RECORDS = "lost-records.jsonl"
"""The records for a producer, a line each, with the partition and the value in base64. The key is null."""
_EPOCH, _BATCH_COUNT_MAX, _OFFSET_SIZE = 0, 500, 8


class _RebuiltLog:
    """The batches of one partition, from offset 0 on."""

    def __init__(self, timestamp: int) -> None:
        self.batches: list[bytes] = []
        self.count = 0
        self._timestamp = timestamp
        self._values: list[tuple[None, bytes]] = []

    def add(self, segment: RebuiltSegment) -> None:
        self._values += [(None, value) for value in segment.values]
        if len(self._values) >= _BATCH_COUNT_MAX:
            self.end()

    def end(self) -> None:
        if self._values:
            self.batches.append(raft_batch(self.count, _EPOCH, self._timestamp, self._values))
            self.count += len(self._values)
            self._values = []

    def from_offset(self, base: int) -> Iterator[bytes]:
        """Yield the batches with higher offsets, which no checksum covers (DefaultRecordBatch)."""
        for batch in self.batches:
            offset = base + int.from_bytes(batch[:_OFFSET_SIZE], "big")
            yield offset.to_bytes(_OFFSET_SIZE, "big") + batch[_OFFSET_SIZE:]


def write_rebuilt(answer: Tiered, folder: str) -> None:
    """Write what the manifests give back below a directory; UsageError if that is nothing, or a file exists."""
    logs, lines = dict[int, _RebuiltLog](), list[bytes]()
    store = answer.store
    for segment in answer.rebuilt():
        assert store is not None
        count = store.metadata_partitions
        number = None if count is None else segment.metadata_partition(count)
        if number is not None and number in store.lost_metadata:
            logs.setdefault(number, _RebuiltLog(store.now_ms)).add(segment)
        else:
            lines.extend(_line(number, value) for value in segment.values)
    if store is None or not (logs or lines):
        raise UsageError("--rebuild: the store has no manifest of a segment without metadata, of a topic that exists")
    with NewFiles(folder, (), apart_from=answer.checked) as files:
        for number, log in sorted(logs.items()):
            log.end()
            name = partition_name(REMOTE_LOG_METADATA, number)
            base = Offset(max(0, store.lost_metadata[number] - log.count))
            files.begin(f"{name}/{log_name(base)}")
            for batch in log.from_offset(base):
                files.write(batch)
            if store.metadata_topic_id is not None:
                files.begin(f"{name}/{PARTITION_METADATA}")
                files.write(partition_metadata.serialize(PartitionMetadata(0, store.metadata_topic_id)))
        if lines:
            files.begin(RECORDS)
            files.write(b"".join(lines))


def _line(number: int | None, value: bytes) -> bytes:
    row = {"topic": REMOTE_LOG_METADATA, "partition": number, "value": b64encode(value).decode()}
    return f"{json.dumps(row)}\n".encode()
