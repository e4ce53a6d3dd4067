"""Saves the records that one replica will lose, as a copy of their batches, byte for byte.

   OUT/<topic>-<partition>/broker-<id>/<first offset, 20 digits>.log

`kcheck dump` and Kafka's own tools read these files.
"""

import os
from hashlib import sha256
from typing import NamedTuple

from kcheck.core.election.start_losses import RemovedAtStart
from kcheck.disk.new_files import NewFiles
from kcheck.disk.paths import split
from kcheck.disk.tree import tree_of
from kcheck.errors import UsageError
from kcheck.model.entries import Batch, Offset
from kcheck.model.java import INT_MAX
from kcheck.model.names import log_name
from kcheck.model.report import Row
from kcheck.model.source import Files, Source
from kcheck.model.unreadable import UnreadableError
from kcheck.replicas.loss import wrapped_offsets
from kcheck.replicas.replica import LogFile, logs_from
from kcheck.segments.batches import Walk

_WINDOW_SIZE = 1 << 20
_FILE_SIZE_MAX = INT_MAX
"""Kafka's tools read no larger file (FileRecords)."""
_SEEN_MAX = 1 << 20
"""So many batches are remembered."""
_WRAPPER_SIZE_MAX = 32 << 20
"""kcheck does not look into a larger wrapper."""


class SavedRecords(NamedTuple):
    """The saved records of one replica."""

    path: str | None
    """The file; None if no batch is in the range."""
    start: Offset | None
    """The first offset in it; None without any."""
    end: Offset | None
    """The offset after the last one."""
    batches: int
    """The number of batches."""
    records: int | None
    """The number of their records; None if a wrapper of messages is corrupt."""
    bytes: int
    """Their size in bytes."""
    sha256: str
    """The SHA-256 of their bytes."""
    more: tuple[str, ...] = ()
    """Further files, if the batches are too large for one."""


class SavedReplica(NamedTuple):
    """The saved records of a replica."""

    topic: str
    partition: int
    broker_id: int
    records: SavedRecords
    """The files, and how much they hold."""


def saved_row(saved: SavedReplica) -> Row:
    """Return the saved records of a replica as JSON shows them."""
    records = saved.records
    return {
        "topic": saved.topic,
        "partition": saved.partition,
        "broker_id": saved.broker_id,
        "paths": (*(() if records.path is None else (records.path,)), *records.more),
        "from": records.start,
        "to": records.end,
        "batches": records.batches,
        "records": records.records,
        "bytes": records.bytes,
        "sha256": records.sha256,
    }


def in_bundle(logs: tuple[LogFile, ...]) -> bool:
    """Return whether the segments are in a bundle, which has zeros where their records were."""
    return any(tree_of(log.path).is_bundle for log in logs)


def save_lost(
    files: NewFiles, folder: str, name: str, broker_id: int, logs: tuple[LogFile, ...], start: Offset, end: Offset
) -> SavedRecords:
    """Copy the batches of one replica that overlap `[start, end)` below a folder of new files.

    `name` is `<topic>-<partition>`. UsageError if a file exists already or cannot be written. UsageError also for a log
    in a bundle. UnreadableError if the log cannot be read.
    """
    if in_bundle(logs):
        raise UsageError(f"{split(logs[0].path)[0]}: a bundle has no records; name the log dir itself")
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise UsageError(f"{name!r} cannot be the name of a directory")
    copy = _Copy(files, os.path.join(folder, name, f"broker-{broker_id}"))
    for log in logs_from(logs, start):
        if log.base_offset >= end:
            break
        with log.open() as source:
            copy.take(source, log.size, start, end)
    return copy.saved()


def save_runs(
    files: NewFiles, folder: str, name: str, row: RemovedAtStart, disk: Files, seen: set[int]
) -> SavedRecords:
    """Copy the readable batches of a log that its broker truncates, without those in `seen`, and remember them there.

    So no batch of two replicas is saved twice, unless there are very many. UsageError and UnreadableError as
    `save_lost`.
    """
    copy = _Copy(files, os.path.join(folder, name, f"broker-{row.broker_id}"), seen)
    for run in row.readable:
        with disk.open(run.segment) as source:
            copy.take(source, source.size, run.start, run.end, run.position)
    return copy.saved()


class _Copy:
    """The batches that are copied, segment by segment."""

    def __init__(self, files: NewFiles, folder: str, seen: set[int] | None = None) -> None:
        """Take the folder of the files; batches in `seen` are left out, and others are added there."""
        self._files, self._folder, self._seen = files, folder, seen
        self._paths: list[str] = []
        self._start: Offset | None = None
        self._end: Offset | None = None
        self._batches = self._bytes = self._file_size = 0
        self._records: int | None = 0
        self._digest = sha256()

    def take(self, source: Source, size: int, start: Offset, end: Offset, position: int = 0) -> None:
        """Copy the batches of a segment from the first one after `position` that overlaps `[start, end)` on."""
        walk = Walk(source, size, position=position)
        copied = stop = -1
        for batch in walk:
            if self._start is None and batch.last_offset < start:
                continue
            inner = wrapped_offsets(source, batch) if _is_wrapper(batch) else []
            first = inner[0] if inner else batch.base_offset
            if first >= end:
                break
            if self._is_seen(batch):
                self._copy(source, copied, stop)
                copied = stop = -1
            else:
                if not self._paths or self._file_size + batch.size > _FILE_SIZE_MAX:
                    self._copy(source, copied, stop)
                    copied = batch.position
                    self._paths.append(self._files.begin(os.path.join(self._folder, log_name(first))))
                    self._file_size = 0
                copied, stop = batch.position if copied < 0 else copied, walk.position
                self._count(batch, first, batch.record_count if batch.record_count is not None else len(inner) or None)
            if stop - copied >= _WINDOW_SIZE:
                self._copy(source, copied, stop)
                copied = stop
            if batch.last_offset + 1 == end:
                break
        else:
            if walk.position < size:
                raise UnreadableError("the segment ends early")
        self._copy(source, copied, stop)

    def _is_seen(self, batch: Batch) -> bool:
        """Return whether another replica had a batch before; otherwise remember the batch."""
        if self._seen is None:
            return False
        key = hash((batch.base_offset, batch.last_offset, batch.epoch, batch.crc))
        if key in self._seen:
            return True
        if len(self._seen) < _SEEN_MAX:
            self._seen.add(key)
        return False

    def _count(self, batch: Batch, first: Offset, records: int | None) -> None:
        self._start = first if self._start is None else self._start
        self._end = Offset(batch.last_offset + 1)
        self._batches += 1
        self._bytes += batch.size
        self._file_size += batch.size
        self._records = None if self._records is None or records is None else self._records + records

    def _copy(self, source: Source, position: int, end: int) -> None:
        """Copy the bytes from one position to another, window by window."""
        while position < end:
            data = source.pread(min(_WINDOW_SIZE, end - position), position)
            if not data:
                raise UnreadableError("the segment became shorter")
            self._files.write(data)
            self._digest.update(data)
            position += len(data)

    def saved(self) -> SavedRecords:
        """Return the saved records."""
        path = self._paths[0] if self._paths else None
        return SavedRecords(
            path, self._start, self._end, self._batches, self._records, self._bytes, self._digest.hexdigest(),
            tuple(self._paths[1:]),
        )  # fmt: skip


def _is_wrapper(batch: Batch) -> bool:
    return batch.record_count is None and batch.size <= _WRAPPER_SIZE_MAX
