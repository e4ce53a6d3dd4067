"""`kcheck inspect`: files, partitions and log dirs as rows, with the findings of the rules."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kcheck.disk.read import UnreadableError, opened, read_whole
from kcheck.disk.walk import exists, file_size, join, list_directory, real, split
from kcheck.errors import UsageError
from kcheck.formats._contract import Format
from kcheck.formats.leader_epoch_checkpoint import entry_rows
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Location
from kcheck.model.names import OFFSET_CHECKPOINTS, parse_directory, parse_file
from kcheck.model.release import Release
from kcheck.model.report import Report, Row, Wanted
from kcheck.model.views import FileView, LogDirView, PartitionView
from kcheck.registry import discover
from kcheck.rules import kc001_unreadable
from kcheck.scan.batches import Walk
from kcheck.scan.host import LogDir, one_partition, open_log_dir, partitions
from kcheck.scan.inputs import Kind, Target, targets
from kcheck.scan.partition import Checkpoints, batch_row, batch_rows, try_partition, view_of
from kcheck.scan.rules import check_broker, check_file, check_log_dir, check_partition


class Shown(NamedTuple):
    """What is wanted beside the summary."""

    segments: bool = False
    epochs: bool = False
    batches: bool = False
    files: bool = False

    @property
    def walk_all(self) -> bool:
        """Whether every segment is walked from its start."""
        return self.segments or self.batches


def inspect_paths(paths: list[str], *, as_kind: str | None, wanted: Wanted, shown: Shown, release: Release) -> Report:
    """Return a report with an item for each path (a folder of log dirs gives one for each), read as it is written."""
    found = targets(paths)
    kinds = {target: _kind(target.path, as_kind) for target in found if target.kind is Kind.FILE}
    collected: list[Finding] = []
    items = _Inspection(wanted=wanted, shown=shown, release=release, collected=collected).items(found, kinds)
    return Report(
        verb="inspect",
        kafka=release.name,
        body={"items": items},
        collected=collected,
        kinds={"items": "item", "partitions": "partition"},
        checked=(*paths, *(target.path for target in found)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inspection:
    """What is asked, and the findings so far."""

    wanted: Wanted
    shown: Shown
    release: Release
    collected: list[Finding]

    def items(self, found: tuple[Target, ...], kinds: dict[Target, Format]) -> Iterator[Row]:
        """Yield an item for each target, then compare the log dirs of each broker."""
        by_broker: dict[object, dict[str, LogDirView]] = {}
        for target in found:
            if target.kind is Kind.LOG_DIR:
                views: list[LogDirView] = []
                yield self._log_dir(target, views)
                for view in views:
                    by_broker.setdefault(_broker(target, view), {}).setdefault(real(target.path), view)
            else:
                yield from self._partition(target) if target.kind is Kind.PARTITION else self._file(target, kinds)
        for same in by_broker.values():
            self._collect(check_broker(tuple(same.values()), self.release))

    def _collect(self, findings: Iterable[Finding]) -> None:
        """Keep what concerns no partition, or one that was asked for."""
        for finding in findings:
            where = finding.where
            if where.topic is None or where.partition is None or self.wanted.has(where.topic, where.partition):
                self.collected.append(finding)

    def _log_dir(self, target: Target, views: list[LogDirView]) -> Row:
        log_dir = open_log_dir(target.path, target.broker_id, self.release)
        return log_dir_row(log_dir.view, self._partitions(log_dir, views))

    def _partitions(self, log_dir: LogDir, views: list[LogDirView]) -> Iterator[Row]:
        """Yield the partitions; afterwards `views` has the log dir with the little that its own rules need of them."""
        light: list[PartitionView] = []
        for view in partitions(log_dir, wanted=self.wanted, walk_all=self.shown.walk_all, release=self.release):
            self._check(view, log_dir)
            light.append(view._replace(epochs=None, metadata=None, segments=(), last_batch=None))
            yield partition_row(view, self.shown)
        unseen = tuple(_unseen(log_dir, light))
        whole = log_dir.view._replace(partitions=(*light, *unseen))
        unread = {finding.where.dir for finding in log_dir.findings if finding.where.dir is not None}
        unread.update(view.where.dir or "" for view in unseen)
        self._collect(found for found in check_log_dir(whole, self.release) if found.where.dir not in unread)
        self.collected.extend(log_dir.findings)
        views.append(whole)

    def _check(self, view: PartitionView, log_dir: LogDir) -> None:
        """Run the rules of a partition, unless a part of it could not be read: they would take it for missing."""
        if not any(finding.where.dir == view.where.dir for finding in log_dir.findings):
            self.collected.extend(check_partition(view, self.release))

    def _partition(self, target: Target) -> Iterator[Row]:
        view, log_dir = lone_partition(target, walk_all=self.shown.walk_all, release=self.release)
        self.collected.extend(log_dir.findings)
        if view is not None:
            self._check(view, log_dir)
            yield {"kind": "partition", "path": target.path, **partition_row(view, self.shown)}

    def _file(self, target: Target, kinds: dict[Target, Format]) -> Iterator[Row]:
        where = Location(broker_id=target.broker_id, file=target.path)
        kind = kinds[target]
        try:
            if kind.parse is None:
                yield _segment_item(target.path, batches=self.shown.batches)
                return
            data = read_whole(target.path, follow=True)
        except UnreadableError as error:
            self.collected.append(kc001_unreadable.finding(where, str(error)))
            return
        view = view_of(data, kind, where._replace(file=split(target.path)[1]), self.release)
        view = view._replace(where=where)
        self.collected.extend(check_file(view, self.release))
        yield _file_item(target.path, view, kind)


def _unseen(log_dir: LogDir, seen: list[PartitionView]) -> Iterator[PartitionView]:
    """Yield the partitions of a log dir that were not asked for or could not be read: they are there all the same."""
    names = {name for name, _ in log_dir.directories} | {finding.where.dir or "" for finding in log_dir.findings}
    for name in sorted(names - {view.where.dir for view in seen}):
        found = parse_directory(name)
        if found is not None:
            where = log_dir.view.where._replace(dir=name, topic=found.topic, partition=found.partition)
            yield PartitionView(where=where, topic=found.topic, partition=found.partition, state=found.state)


def _broker(target: Target, view: LogDirView) -> object:
    """Return what tells the log dirs of one broker from those of others."""
    if target.config is not None:
        return target.config
    if view.where.broker_id is None:
        return target.path
    # Disks of one id side by side are those of one broker, even where one of them is foreign.
    return (target.folder or view.cluster_id, view.where.broker_id)


def lone_partition(target: Target, *, walk_all: bool, release: Release) -> tuple[PartitionView | None, LogDir]:
    """Return a partition directory that was named by itself, with the log dir around it if there is one."""
    parent, name = split(target.path)
    directory = parse_directory(name)
    assert directory is not None
    log_dir = open_log_dir(parent, target.broker_id, release)
    if log_dir.view.files:
        log_dir.findings.clear()
        return one_partition(log_dir, name, directory, walk_all=walk_all, release=release), log_dir
    where = Location(broker_id=target.broker_id, dir=target.path)
    view, findings = try_partition(
        target.path, directory, where, log_dir=None, checkpoints=Checkpoints({}, {}, {}), walk_all=walk_all,
        release=release,
    )  # fmt: skip
    return view, LogDir(view=log_dir.view, checkpoints=log_dir.checkpoints, findings=list(findings))


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
    unread = view.reads is not None and view.reads.error is not None
    if defects or unread:
        first = str(defects[0]) if defects else f"the broker's reader fails: {view.reads and view.reads.error}"
        return {"status": "damaged", "entries": entries, "defect": first}
    empty = view.parsed.value.version is None or view.size <= len(b"0\n")
    return {"status": "empty" if empty else "ok", "entries": entries, "defect": None}


def partition_row(view: PartitionView, shown: Shown) -> Row:
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


def _extra(view: PartitionView, row: Row, shown: Shown) -> Row:
    path = join(view.where.log_dir or "", view.where.dir or "")
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


def _formats() -> tuple[Format, ...]:
    return tuple(kind for kind in discover("kcheck.formats", "FORMAT") if isinstance(kind, Format))


def _kind(path: str, as_kind: str | None) -> Format:
    """Return the format of a file; UsageError lists the kinds where neither its name nor `--as` tells one."""
    if not exists(path):
        raise UsageError(f"{path}: no such file or directory")
    name = split(path)[1]
    for kind in _formats():
        if kind.kind == as_kind or (as_kind is None and kind.matches(name)):
            return kind
    known = ", ".join(sorted(kind.kind for kind in _formats()))
    if as_kind is None:
        raise UsageError(f"{path}: its name is none of Kafka's; --as KIND says what it is: {known}")
    raise UsageError(f"--as {as_kind} is not known; known are {known}")


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
