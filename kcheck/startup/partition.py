"""What the next start makes of one partition directory: its load, what is lost by it, and which files change."""

from contextlib import suppress

import numpy as np

from kcheck.core.cluster_image import becomes_of_strays
from kcheck.core.predictions import LoadedLog, LogCut, LostRecords, PartitionPrediction, total_loss
from kcheck.core.segments import loaded_high_watermark
from kcheck.core.startup import IO_ERROR, Outcome, nameless
from kcheck.disk.read import opened
from kcheck.disk.walk import file_sizes, no_files
from kcheck.formats import partition_metadata
from kcheck.model.entries import Offset
from kcheck.model.names import (
    PARTITION_METADATA,
    UNMODELLED_DIRECTORIES,
    DirectoryState,
    FileKind,
    PartitionDirectory,
    parse_file,
    skipped_by_broker,
)
from kcheck.model.release import Release
from kcheck.model.unreadable import UnreadableError
from kcheck.segments.batches_after_damage import intact_batches, only_zeros
from kcheck.segments.header_columns import HeaderColumns, HeaderReader
from kcheck.startup import metadata_log as start_metadata
from kcheck.startup.index import made_with
from kcheck.startup.inputs import Context, LoadInputs, unstable
from kcheck.startup.log_loader import LogLoader
from kcheck.startup.log_manager import is_metadata_log
from kcheck.startup.segment import Segment
from kcheck.startup.virtual_files import Folder, QueuedError, StartError, UnseenError, failed

_SET_ASIDE = ": the directory is renamed with a suffix -stray, and nobody serves it"


def start_partition(
    path: str,
    name: str,
    directory: PartitionDirectory,
    stored: LoadInputs,
    context: Context,
    folder: Folder | None = None,
) -> PartitionPrediction:
    """Return what the start makes of a partition directory, or of `folder` in its place; nothing is written."""
    try:
        folder = folder or _folder(path)
    except UnreadableError as error:
        return PartitionPrediction(name, directory, Outcome.UNKNOWN, str(error), unread=error.why)
    loader: LogLoader | None = None
    log: LoadedLog | None = None
    is_metadata = is_metadata_log(name, directory, context.release)
    folder.fails_offline = context.release.has_offline_log_dirs
    try:
        loader = LogLoader(
            folder, _of_its_own(folder, context), clean=stored.clean, log_start=stored.log_start,
            recovery_point=stored.recovery_point, deleted=name.endswith("-delete"),
        )  # fmt: skip
        log = loader.load()
        topic_id = _topic_id(folder, context.release)
        if is_metadata:
            log = start_metadata.finish(loader, log, topic_id)
    except UnseenError as error:
        return PartitionPrediction(name, directory, Outcome.UNKNOWN, str(error), unread=error.why)
    except StartError as error:
        outcome = Outcome.OFFLINE if error.offline and not is_metadata else Outcome.ABORT
        queued = isinstance(error, QueuedError) and error.queued
        scanned = 0 if loader is None else loader.rescanned
        touched = unstable(name) if log is not None and log.unstable else None
        return PartitionPrediction(
            name, directory, outcome, str(error), None, None, None, scanned, folder.changes(), folder.files, queued,
            touched=touched,
        )  # fmt: skip
    lost = _lost(log, loader, stored)
    mark = loaded_high_watermark(
        None if stored.high_watermark is None else Offset(stored.high_watermark), log_start=log.log_start_offset,
        log_end=log.log_end_offset, release=context.release,
    )  # fmt: skip
    outcome, reason, doubt = _outcome(name, directory, log, lost, topic_id, context)
    touched = unstable(name) if log.unstable else None
    if outcome is Outcome.STRAY and directory.state is not DirectoryState.STRAY:
        touched = touched or f"{name} is to be renamed"
        loader.epochs.set_aside()
        log = log._replace(leader_epochs=())
    return PartitionPrediction(
        name, directory, outcome, reason, log, mark, lost, log.rescanned, folder.changes(), folder.files,
        uncertain=loader.uncertain or doubt, touched=touched,
        promoted=outcome is not Outcome.STRAY and _promoted(directory, topic_id, context),
    )  # fmt: skip


def _promoted(directory: PartitionDirectory, topic_id: str | None, context: Context) -> bool:
    """Whether a future log takes the place of the current one, because the cluster believes that it has."""
    judge, known = context.judge, context.release.promotes_future_logs
    if judge is None or topic_id is None or directory.state is not DirectoryState.FUTURE or not known:
        return False
    return judge.promotes(topic_id, directory.partition)


def _of_its_own(folder: Folder, context: Context) -> Context:
    """Return the settings of a topic, as far as its files tell them."""
    size = None if context.settings.index_size_said else made_with(folder)
    return context if size is None else context._replace(settings=context.settings._replace(segment_index_bytes=size))


def _folder(path: str) -> Folder:
    """Return the files of a directory; UnreadableError where a device or the like stands under the name of one."""
    directories, others = no_files(path)
    unknown = (name for name in directories if parse_file(name).kind in UNMODELLED_DIRECTORIES)
    for name in (*others, *unknown):
        if parse_file(name).kind is not FileKind.OTHER:
            raise UnreadableError(f"{name} is no regular file")
    return Folder(path, file_sizes(path), directories)


def _topic_id(folder: Folder, release: Release) -> str | None:
    """Return the id of its topic that the log names; StartError where the file that does it cannot be read."""
    if not release.has_partition_metadata:
        return None
    if PARTITION_METADATA in folder.directories:
        raise failed(PARTITION_METADATA, IO_ERROR, release)
    if PARTITION_METADATA not in folder:
        return None
    found = partition_metadata.broker_reads(folder.read_whole(PARTITION_METADATA), release)
    if found.error is not None:
        raise failed(PARTITION_METADATA, found.error, release)
    return None if found.value is None else found.value.topic_id


def _outcome(
    name: str,
    directory: PartitionDirectory,
    log: LoadedLog,
    lost: LostRecords | None,
    topic_id: str | None,
    context: Context,
) -> tuple[Outcome, str | None, str | None]:
    """Return the outcome, why, and what else may be."""
    reason = "; ".join(log.reasons) or None
    if name.endswith("-delete"):
        return Outcome.DELETED, "the directory is marked to be deleted", None
    if directory.state is DirectoryState.STRAY and context.release.has_stray_directories:
        return Outcome.STRAY, "the directory was set aside before: nobody serves it", None
    if not skipped_by_broker(name, context.release):
        unnamed = nameless(mode=context.mode, release=context.release)
        if topic_id is None and unnamed is not Outcome.OK:
            why = f"{PARTITION_METADATA} is missing"
            return unnamed, f"{why}{_SET_ASIDE}" if unnamed is Outcome.STRAY else why, None
        judged = context.judge and topic_id and context.judge.stray(topic_id, directory.partition)
        if judged:
            outcome = becomes_of_strays(context.release)
            what = _SET_ASIDE if outcome is Outcome.STRAY else ": the directory is deleted"
            return outcome, f"{judged[0]}{what}", judged[1]
    if lost is not None:
        reason = reason or f"the log ends at offset {log.log_end_offset}, though batches stand behind it"
        return Outcome.LOST, reason, None
    return Outcome.REPAIRED if reason else Outcome.OK, reason, None


def _lost(log: LoadedLog, loader: LogLoader, stored: LoadInputs) -> LostRecords | None:
    """Return the records that are cut or deleted, and those that a log end below them hides."""
    found = [cut_loss(cut, stored.high_watermark) for cut in log.cuts]
    if not loader.deleted:
        last = loader.segments[log.bases[-1]]
        hidden = _hidden(last, log, stored.high_watermark)
        found.extend(() if hidden is None else (hidden,))
    return total_loss(found)


def cut_loss(cut: LogCut, mark: int | None) -> LostRecords:
    """Return what stands in the part of a `.log` that goes, by the headers that can be found there.

    Zeros behind the batches, as a preallocated file has them, are no bytes that are lost.
    """
    try:
        with opened(cut.path) as source:
            reader = HeaderReader(source, min(source.size, cut.size), verify=False, position=cut.position)
            count = _Count(mark)
            for columns in reader:
                count.take(columns)
            behind, filled = None, cut.size
            if only_zeros(source, reader.position, cut.size):
                filled = reader.position
            else:
                after = Offset(cut.base_offset - 1 if count.end is None else count.end - 1)
                behind = intact_batches(source, reader.position, cut.size, base=cut.base_offset, after=after)
    except UnreadableError:
        return LostRecords(None, None, None, cut.size - cut.position, None)
    if behind is not None:
        start = min(cut.end_offset, behind.base_offset, cut.end_offset if count.start is None else count.start)
        end = max(behind.last_offset + 1, count.end or 0)
        return LostRecords(Offset(start), Offset(end), None, cut.size - cut.position, None)
    return count.lost(filled - cut.position)


def _hidden(segment: Segment, log: LoadedLog, mark: int | None) -> LostRecords | None:
    """Return the batches of the last segment that stand behind the log end, which a wrong index took too low."""
    if log.log_end_offset != segment.base or not segment.size:
        return None
    count = _Count(mark)
    with suppress(StartError):  # The start itself did not read as far as that.
        for columns, _ in segment.windows(0):
            count.take(columns)
    return count.lost(segment.size) if count.end is not None and count.end > log.log_end_offset else None


class _Count:
    """Counts batches: their offsets, their records, and how many of these lie below a high watermark."""

    def __init__(self, mark: int | None) -> None:
        self.start: int | None = None
        self.end: int | None = None
        self._records: int | None = 0
        self._below: int | None = None if mark is None else 0
        self._mark = mark

    def take(self, columns: HeaderColumns) -> None:
        """Take the batches of a window."""
        first, last = int(columns.base_offset.min()), int(columns.last_offset.max()) + 1
        self.start = first if self.start is None else min(first, self.start)
        self.end = last if self.end is None else max(last, self.end)
        counts = columns.record_count
        if (counts < 0).any():
            self._records = self._below = None
        if self._records is not None:
            self._records += int(counts.sum(dtype=np.int64))
        if self._mark is not None and self._below is not None:
            inside = np.clip(self._mark - columns.base_offset, 0, counts)
            self._below += int(inside.sum(dtype=np.int64))

    def lost(self, size: int) -> LostRecords:
        """Return what was counted."""
        start, end = (None if each is None else Offset(each) for each in (self.start, self.end))
        return LostRecords(start, end, self._records, size, self._below)
