"""`kcheck inspect`: files, partitions and log dirs as rows, with the findings of the rules."""

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.disk.read import UnreadableError, opened
from kcheck.disk.walk import file_size, folder_of, join, list_directory, split
from kcheck.formats._contract import Format
from kcheck.formats.leader_epoch_checkpoint import entry_rows
from kcheck.model.entries import Offset
from kcheck.model.names import OFFSET_CHECKPOINTS, parse_file
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter, Report, Row
from kcheck.model.views import FileView, LogDirView, PartitionView
from kcheck.segments.batches import Walk
from kcheck.views.partition import batch_row, batch_rows
from kcheck.views.survey import Survey, format_of
from kcheck.views.targets import Target, TargetKind, replica_targets, require_same_broker


class InspectDetail(NamedTuple):
    """What is wanted beside the summary."""

    segments: bool = False
    epochs: bool = False
    batches: bool = False
    files: bool = False

    @property
    def walk_all(self) -> bool:
        """Whether every segment is walked from its start."""
        return self.segments or self.batches


def inspect_paths(
    paths: list[str], *, as_kind: str | None, wanted: PartitionFilter, shown: InspectDetail, release: Release
) -> Report:
    """Return a report with an item for each path (a folder of log dirs gives one for each), read as it is written."""
    found = tuple(target for path in paths for target in replica_targets([path]))
    kinds = {target: format_of(target.path, as_kind) for target in found if target.kind is TargetKind.FILE}
    look = Survey(wanted=wanted, release=release, walk_all=shown.walk_all)
    return Report(
        verb="inspect",
        kafka=release.name,
        body={"items": _items(look, found, kinds, shown)},
        collected=look.collected,
        kinds={"items": "item", "partitions": "partition"},
        checked=(*paths, *(target.path for target in found)),
    )


def _items(look: Survey, found: tuple[Target, ...], kinds: dict[Target, Format], shown: InspectDetail) -> Iterator[Row]:
    """Yield an item for each target, then compare the log dirs of each broker."""
    for target in found:
        match target.kind:
            case TargetKind.LOG_DIR:
                log_dir, views = look.log_dir(target)
                require_same_broker(target, log_dir.view)
                yield log_dir_row(log_dir.view, (partition_row(view, shown) for view in views))
            case TargetKind.PARTITION:
                for view in look.partition(target):
                    yield {"kind": "partition", "path": target.path, **partition_row(view, shown)}
            case TargetKind.FILE:
                yield from _file_items(look, target, kinds[target], shown)
    look.compare()


def _file_items(look: Survey, target: Target, kind: Format, shown: InspectDetail) -> Iterator[Row]:
    if kind.parse is not None:
        view = look.file(target, kind)
        if view is not None:
            yield _file_item(target.path, view, kind)
        return
    try:
        yield _segment_item(target.path, batches=shown.batches)
    except UnreadableError as error:
        look.unreadable(target, error)


def log_dir_row(view: LogDirView, rows: Iterator[Row]) -> Row:
    """Return a log dir as JSON shows it."""
    return {
        "kind": "log-dir",
        "path": view.where.log_dir,
        "broker_id": view.where.broker_id,
        "cluster_id": view.cluster_id,
        "directory_id": view.directory_id,
        "clean_shutdown": view.clean_shutdown,
        "locked_by": view.locked_by,
        "checkpoints": {name: _checkpoint_row(view.files.get(name)) for name in OFFSET_CHECKPOINTS},
        "unparseable": view.unparseable,
        "partitions": rows,
    }


def _checkpoint_row(view: FileView | None) -> Row:
    if view is None:
        return {"status": "missing", "entries": None, "defect": None}
    defects = [defect for defect in view.parsed.defects if not defect.accepted]
    entries = len(view.parsed.value)
    if defects or view.refusal is not None:
        first = str(defects[0]) if defects else f"the broker's reader fails: {view.refusal}"
        return {"status": "damaged", "entries": entries, "defect": first}
    empty = view.parsed.value.version is None or view.size <= len(b"0\n")
    return {"status": "empty" if empty else "ok", "entries": entries, "defect": None}


def partition_row(view: PartitionView, shown: InspectDetail) -> Row:
    """Return a partition as JSON shows it; `shown` holds what was asked for beside it."""
    row: dict[str, object] = {
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
        "segments": [
            {
                "base_offset": segment.base_offset,
                "end_offset": segment.end_offset,
                "size": segment.size,
                "batches": segment.batches,
                "max_timestamp": segment.max_timestamp,
            }
            for segment in view.segments
        ],
    }
    extra = _extra(view, row, shown)
    return {**row, "shown": extra} if extra else row


def _extra(view: PartitionView, row: Row, shown: InspectDetail) -> Row:
    path = folder_of(view.where)
    extra: dict[str, object] = {}
    if shown.segments:
        extra["segments"] = row["segments"]
    if shown.epochs:
        extra["epochs"] = row["leader_epochs"]
    try:
        if shown.files:
            names = list_directory(path).files
            extra["files"] = [{"file": name, "size": file_size(join(path, name))} for name in names]
        if shown.batches:
            rows = (batch for segment in view.segments for batch in batch_rows(path, segment.base_offset))
            extra["batches"] = list(rows)
    except UnreadableError:
        pass  # The finding of the same file stands in the report already.
    return extra


def _file_item(path: str, view: FileView, kind: Format) -> Row:
    assert kind.row is not None
    item = {"kind": view.kind, "path": path, **kind.row(view.parsed.value)}
    item["defects"] = [
        {"line": d.line, "column": d.column, "position": d.position, "found": d.found.decode("latin-1"),
         "message": d.message, "accepted": d.accepted}
        for d in view.parsed.defects
    ]  # fmt: skip
    if view.reads is None:
        return item
    if view.reads.error is not None:
        return {**item, "broker_reads": {"error": view.reads.error}}
    assert kind.reads_row is not None
    return {**item, "broker_reads": dict(kind.reads_row(view.reads.value))}


def _segment_item(path: str, *, batches: bool) -> Row:
    """Walk one `.log`; with `batches` its headers stand in the row too."""
    base = parse_file(split(path)[1]).offset
    rows: list[Row] = []
    count, timestamp, end = 0, -1, base
    with opened(path, follow=True) as (descriptor, size):
        walk = Walk(descriptor, size)
        for batch in walk:
            count, end = count + 1, Offset(batch.last_offset + 1)
            timestamp = max(timestamp, -1 if batch.max_timestamp is None else batch.max_timestamp)
            if batches:
                rows.append(batch_row(batch))
    item = {
        "kind": "segment",
        "path": path,
        "base_offset": base,
        "end_offset": end,
        "size": size,
        "valid_size": walk.position,
        "stopped_by": walk.corrupt,
        "batches": count,
        "max_timestamp": timestamp if count else None,
    }
    return {**item, "headers": rows} if batches else item
