"""`kcheck inspect` as JSON: an item per file, partition or log dir."""

from collections.abc import Sequence
from typing import NamedTuple, assert_never

from kcheck.core.replication.lost_transactions import KEPT_COUNT
from kcheck.documents.inspection import (
    InspectDetail,
    InspectedFile,
    InspectedItem,
    InspectedLogDir,
    InspectedPartition,
    InspectedSegment,
)
from kcheck.documents.remote_log import remote_row
from kcheck.formats.leader_epoch_checkpoint import entry_rows
from kcheck.model.entries import Batch
from kcheck.model.names import OFFSET_CHECKPOINTS
from kcheck.model.remote_index_cache import RemoteIndexCache
from kcheck.model.report import Row
from kcheck.model.unreadable import UnreadableCause
from kcheck.model.views import LogDirView, PartitionView


def item_row(item: InspectedItem, detail: InspectDetail) -> Row:
    """Return the row of one item; the partitions of a log dir are read lazily."""
    match item:
        case InspectedLogDir():
            return _log_dir_row(item, detail)
        case InspectedPartition():
            return {"kind": "partition", "path": item.path, **_partition_row(item, detail)}
        case InspectedFile():
            return _file_row(item)
        case InspectedSegment():
            return _segment_row(item)
        case _:
            assert_never(item)


def _log_dir_row(item: InspectedLogDir, detail: InspectDetail) -> Row:
    view = item.view
    return {
        "kind": "log-dir",
        "path": view.where.log_dir,
        "broker_id": view.where.broker_id,
        "cluster_id": view.cluster_id,
        "directory_id": view.directory_id,
        "clean_shutdown": view.clean_shutdown,
        "locked_by": view.locked_by,
        "cordoned": item.cordoned,
        "checkpoints": {name: checkpoint_state(view, name)._asdict() for name in OFFSET_CHECKPOINTS},
        "unparseable": view.unparseable,
        "remote_index_cache": None if view.remote_index_cache is None else _cache_row(view.remote_index_cache, detail),
        "partitions": (_partition_row(partition, detail) for partition in item.partitions),
    }


def _cache_row(cache: RemoteIndexCache, detail: InspectDetail) -> Row:
    """Return the row of a remote-log-index-cache, with its indexes if files are shown."""
    indexed = [segment._asdict() for segment in cache.indexed] if detail.files else None
    return {**cache._asdict(), "indexed": indexed}


class CheckpointState(NamedTuple):
    """The state of an offset checkpoint in a word."""

    status: str
    """The state of a file (`ok`, `empty`, `damaged`, `unreadable` or `missing`)."""
    entries: int | None = None
    """The number of its lines; None if it was not read."""
    defect: str | None = None
    """The defect; None without one."""


def checkpoint_state(log_dir: LogDirView, name: str) -> CheckpointState:
    """Return the state of a checkpoint of a log dir."""
    view, unread = log_dir.files.get(name), log_dir.unread.get(name)
    if name in log_dir.unparseable:
        return CheckpointState("unreadable", defect="is a directory")
    if unread is not None and unread.cause is not UnreadableCause.MISSING:
        return CheckpointState("unreadable", defect=unread.words)
    if view is None:
        return CheckpointState("missing")
    defects = [defect for defect in view.parsed.defects if not defect.accepted]
    entries = len(view.parsed.value)
    if defects or view.refusal is not None:
        first = str(defects[0]) if defects else f"the broker's reader fails: {view.refusal}"
        return CheckpointState("damaged", entries, first)
    empty = view.parsed.value.version is None or view.size <= len(b"0\n")
    return CheckpointState("empty" if empty else "ok", entries)


def _partition_row(item: InspectedPartition, detail: InspectDetail) -> Row:
    row, shown = {**_summary_row(item.view), **_open_row(item)}, shown_rows(item, detail)
    return {**row, "shown": shown} if shown else row


def shown_rows(item: InspectedPartition, detail: InspectDetail) -> dict[str, Sequence[Row]]:
    """Return the tables that the options ask for, by name."""
    shown: dict[str, Sequence[Row]] = {}
    if detail.segments:
        shown["segments"] = _segment_rows(item.view)
    if detail.epochs:
        shown["epochs"] = entry_rows(item.view.leader_epochs)
    if item.files is not None:
        shown["files"] = [{"file": name, "size": size} for name, size in item.files]
    if item.batches is not None:
        shown["batches"] = [batch_row(batch) for batch in item.batches]
    return shown


def _open_row(item: InspectedPartition) -> Row:
    """Return the offsets that consumers of committed records do not get."""
    still_open = None if item.open is None else [transaction._asdict() for transaction in item.open[:KEPT_COUNT]]
    return {"last_stable_offset": item.last_stable_offset, "open_transactions": still_open}


def _summary_row(view: PartitionView) -> Row:
    return {
        "broker_id": view.where.broker_id,
        "log_dir": view.where.log_dir,
        "dir": view.where.dir,
        "topic": view.topic,
        "partition": view.partition,
        "state": str(view.state),
        "topic_id": view.topic_id,
        "log_start_offset": view.log_start_offset,
        "recovery_point": view.recovery_point,
        "high_watermark": view.high_watermark,
        "log_end_offset": view.log_end_offset,
        "size": view.size,
        "leader_epochs": entry_rows(view.leader_epochs),
        "segments": _segment_rows(view),
        "remote": remote_row(view),
    }


def _segment_rows(view: PartitionView) -> list[Row]:
    return [
        {
            "base_offset": segment.base_offset,
            "end_offset": segment.end_offset,
            "size": segment.size,
            "batches": segment.batches,
            "max_timestamp": segment.max_timestamp,
        }
        for segment in view.segments
    ]


def _file_row(item: InspectedFile) -> Row:
    view, kind = item.view, item.format
    assert kind.row is not None
    row = {"kind": view.kind, "path": item.path, **kind.row(view.parsed.value)}
    row["defects"] = [
        {"line": defect.line, "column": defect.column, "position": defect.position,
         "found": defect.found.decode("latin-1"), "message": defect.message, "accepted": defect.accepted}
        for defect in view.parsed.defects
    ]  # fmt: skip
    if view.reads is None:
        return row
    if view.reads.error is not None:
        return {**row, "broker_reads": {"error": view.reads.error}}
    assert kind.reads_row is not None
    return {**row, "broker_reads": dict(kind.reads_row(view.reads.value))}


def _segment_row(item: InspectedSegment) -> Row:
    row = {
        "kind": "segment",
        "path": item.path,
        "base_offset": item.base_offset,
        "end_offset": item.end_offset,
        "size": item.size,
        "valid_size": item.valid_size,
        "stopped_by": item.stopped_by,
        "batches": item.batch_count,
        "max_timestamp": item.max_timestamp,
    }
    return row if item.batches is None else {**row, "headers": [batch_row(batch) for batch in item.batches]}


def batch_row(batch: Batch) -> dict[str, object]:
    """Return a batch header as a row."""
    return {
        "position": batch.position,
        "size": batch.size,
        "magic": batch.magic,
        "base_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "leader_epoch": batch.epoch,
        "records": batch.record_count,
        "max_timestamp": batch.max_timestamp,
    }
