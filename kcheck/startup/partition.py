"""Predicts the next start of one partition directory (its log, its lost records, and its changed files)."""

from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from kcheck.core.start.predictions import LoadedLog, LogCut, PartitionPrediction, total_loss
from kcheck.core.start.segments import loaded_high_watermark
from kcheck.core.start.startup import IO_ERROR, NOT_SERVED, Mode, Outcome, outcome_without_topic_id
from kcheck.documents.strays import SET_ASIDE, removal_words, stray_outcome, unserved_outcome
from kcheck.formats import partition_metadata
from kcheck.model.entries import RELATIVE_OFFSET_MAX, Offset
from kcheck.model.loss import LostRecords
from kcheck.model.names import (
    LEADER_EPOCHS,
    LIVE,
    PARTITION_METADATA,
    TEMPORARY,
    UNMODELLED_DIRECTORIES,
    DirectoryState,
    FileKind,
    PartitionDirectory,
    log_name,
    parse_file,
    segment_bases,
    skipped_by_broker,
)
from kcheck.model.release import Release
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.records.batch import HEADER, incomplete_batch
from kcheck.segments.batches_after_damage import intact_batches, only_zeros
from kcheck.segments.header_columns import Array, HeaderColumns, HeaderReader
from kcheck.startup import metadata_log as start_metadata
from kcheck.startup.index import made_with
from kcheck.startup.inputs import Context, LoadInputs, unstable
from kcheck.startup.log_loader import LogLoader
from kcheck.startup.log_manager import is_metadata_log
from kcheck.startup.segment import Segment
from kcheck.startup.virtual_files import Folder, StartError, UnreadableFileError, UnseenError, contents_of, failed


def start_partition(
    disk: Files, name: str, directory: PartitionDirectory, inputs: LoadInputs, context: Context, *, counts: bool = True
) -> PartitionPrediction:
    """Return the prediction of a partition directory, given its files.

    `counts` is true if the records of a future stray directory are counted, not only named by their offsets.
    """
    try:
        folder = _folder(disk)
    except UnreadableError as error:
        return PartitionPrediction(name, directory, Outcome.UNKNOWN, str(error), unread=error.why)
    return start_folder(folder, name, directory, inputs, context, counts=counts)


def start_folder(
    folder: Folder, name: str, directory: PartitionDirectory, inputs: LoadInputs, context: Context, *,
    counts: bool = True,
) -> PartitionPrediction:  # fmt: skip
    """Return the prediction of a partition directory with these files; the folder then has the changed files."""
    loader: LogLoader | None = None
    log: LoadedLog | None = None
    is_metadata = is_metadata_log(name, directory, context.release)
    folder.fails_offline = context.release.has_offline_log_dirs
    try:
        loader = LogLoader(
            folder, _with_topic_settings(folder, context), clean=inputs.clean, log_start=inputs.log_start,
            recovery_point=inputs.recovery_point, deleted=name.endswith("-delete"),
        )  # fmt: skip
        log = loader.load()
        if context.release.looks_up_cut_transactions:
            unstable_from = loader.producers.states.first_unstable_from(inputs.high_watermark or 0)
            log = log._replace(first_unstable=None if unstable_from is None else Offset(unstable_from))
        topic_id = _topic_id(folder, context.release)
        if is_metadata:
            log = start_metadata.finish(loader, log, topic_id)
    except UnseenError as error:
        return PartitionPrediction(name, directory, Outcome.UNKNOWN, str(error), unread=error.why)
    except StartError as error:
        outcome = Outcome.OFFLINE if error.offline and not is_metadata else Outcome.ABORT
        fails_later = isinstance(error, UnreadableFileError) and error.fails_later
        scanned = 0 if loader is None else loader.rescanned
        later_use = unstable(name) if log is not None and log.unstable else None
        return PartitionPrediction(
            name, directory, outcome, str(error), scan_bytes=scanned, changes=folder.changes(), after=folder.files,
            fails_later=fails_later, later_use=later_use,
        )  # fmt: skip
    whole = None
    if directory.state in _EMPTIED:
        whole = whole_loss(folder.disk, folder.disk.entries().sizes, inputs.high_watermark)
    removed = whole if directory.state is DirectoryState.DELETED else _removed(log, loader, inputs)
    lost, unproven = (removed, None) if removed is None or removed.is_known else (None, removed)
    high_watermark = loaded_high_watermark(
        None if inputs.high_watermark is None else Offset(inputs.high_watermark), log_start=log.log_start_offset,
        log_end=log.log_end_offset, release=context.release,
    )  # fmt: skip
    outcome, reason, uncertain = _outcome(name, directory, log, lost, topic_id, context)
    is_stray = directory.state is DirectoryState.STRAY
    if is_stray or (directory.state, outcome) == (DirectoryState.CURRENT, Outcome.STRAY):
        whole = held_loss(folder.disk, log, counts=counts or is_stray)
    blocked = _blocked_write(folder, topic_id, context.release)
    if blocked is not None and directory.state in LIVE and outcome not in NOT_SERVED:
        outcome, reason = Outcome.OFFLINE if folder.fails_offline else Outcome.ABORT, blocked
    later_use = unstable(name) if log.unstable else None
    is_renamed = context.mode is Mode.KRAFT and directory.state is not DirectoryState.STRAY
    if outcome is Outcome.STRAY and is_renamed:
        later_use = later_use or f"the broker renames {name} to -stray"
        loader.epochs.set_aside()
        log = log._replace(leader_epochs=())
    return PartitionPrediction(
        name, directory, outcome, reason, log=log, high_watermark=high_watermark, lost=lost, scan_bytes=log.rescanned,
        changes=folder.changes(), after=folder.files, uncertain=loader.uncertain or uncertain, later_use=later_use,
        promoted=outcome is not Outcome.STRAY and _promoted(directory, topic_id, context), unproven=unproven,
        whole=whole, topic_id=topic_id,
    )  # fmt: skip


def _blocked_write(folder: Folder, topic_id: str | None, release: Release) -> str | None:
    """Return why the broker cannot write a small file once it leads or follows the partition; None if it can.

    CheckpointFile.write 0.11 to 4.3.1, PartitionMetadataFile 2.8 to 4.3.1: they open a temporary file by its name.
    """
    written = {LEADER_EPOCHS: release.epoch_cache, PARTITION_METADATA: release.has_partition_metadata and not topic_id}
    blocked = (name for name, is_written in written.items() if is_written and name + TEMPORARY in folder.directories)
    name = next(blocked, None)
    return None if name is None else f"{name}{TEMPORARY} is a directory, so the broker cannot write {name}"


_EMPTIED = (DirectoryState.FUTURE, DirectoryState.DELETED)
"""The states of directories that a broker may empty or delete completely."""


def _promoted(directory: PartitionDirectory, topic_id: str | None, context: Context) -> bool:
    """Return whether a future log replaces the current one, as the cluster metadata has already done."""
    detector, promotes = context.stray_detector, context.release.promotes_future_logs
    if detector is None or topic_id is None or directory.state is not DirectoryState.FUTURE or not promotes:
        return False
    return detector.promotes(topic_id, directory.partition)


def _with_topic_settings(folder: Folder, context: Context) -> Context:
    """Return the context with the settings of the topic, as far as the indexes show them."""
    said = context.settings
    size = None if said.index_size_said else made_with(folder)
    return context if size is None else context._replace(settings=said._replace(segment_index_bytes=size))


def _folder(disk: Files) -> Folder:
    """Return the files of a directory; UnreadableError where the name of a Kafka file is a device or the like."""
    sizes, directories, others, loops = disk.entries()
    unknown = (name for name in directories if parse_file(name).kind in UNMODELLED_DIRECTORIES)
    for name in (*others, *unknown):
        if parse_file(name).kind is not FileKind.OTHER:
            raise UnreadableError(f"{name} is not a regular file")
    return Folder(disk, contents_of(sizes), directories, loops)


def _topic_id(folder: Folder, release: Release) -> str | None:
    """Return the topic id in partition.metadata, None without one; StartError where the broker fails on the file."""
    if not release.has_partition_metadata:
        return None
    if PARTITION_METADATA in folder.directories and PARTITION_METADATA not in folder.loops:
        raise failed(PARTITION_METADATA, IO_ERROR, release)
    if PARTITION_METADATA not in folder:
        return None
    reads = partition_metadata.broker_reads(folder.read_whole(PARTITION_METADATA), release)
    if reads.error is not None:
        raise failed(PARTITION_METADATA, reads.error, release)
    return None if reads.value is None else reads.value.topic_id


def _outcome(
    name: str,
    directory: PartitionDirectory,
    log: LoadedLog,
    lost: LostRecords | None,
    topic_id: str | None,
    context: Context,
) -> tuple[Outcome, str | None, str | None]:
    """Return the outcome, the reason, and what is uncertain about it."""
    # What takes records comes first: the first screen shows one reason.
    cuts = (cut.why for cut in log.cuts if cut.why)
    reason = "; ".join(dict.fromkeys((*cuts, *log.reasons))) or None
    if name.endswith("-delete"):
        after = removal_words(context.settings.delete_delay_ms)
        return Outcome.DELETED, f"the directory is marked for deletion; the broker removes it {after}", None
    if directory.state is DirectoryState.STRAY and context.release.has_stray_directories:
        return Outcome.STRAY, "the broker renamed the directory to -stray before, and does not serve it", None
    if not skipped_by_broker(name, context.release):
        unnamed = outcome_without_topic_id(mode=context.mode, release=context.release)
        if topic_id is None and unnamed is not Outcome.OK:
            why = f"{PARTITION_METADATA} is missing"
            return unnamed, f"{why}{SET_ASIDE}" if unnamed is Outcome.STRAY else why, None
        detector = context.stray_detector
        if detector is not None and topic_id:
            stray = stray_outcome(detector, topic_id, directory.partition, context.release)
            if stray is not None:
                return stray
        unserved = None if context.zookeeper is None else unserved_outcome(context.zookeeper, directory, topic_id)
        if unserved is not None:
            return unserved
    if lost is not None:
        reason = reason or f"the log ends at offset {log.log_end_offset}, but batches follow"
        return Outcome.LOST, reason, None
    return Outcome.REPAIRED if reason else Outcome.OK, reason, None


def _removed(log: LoadedLog, loader: LogLoader, inputs: LoadInputs) -> LostRecords | None:
    """Return the records that the broker truncates or deletes, and the records above a log end that is too low."""
    losses = [cut_loss(loader.folder.disk, cut, inputs.high_watermark) for cut in log.cuts]
    if not loader.deleted:
        last = loader.segments[log.bases[-1]]
        hidden = _hidden(last, log, inputs.high_watermark)
        losses.extend(() if hidden is None else (hidden,))
    return total_loss(losses)


def cut_loss(disk: Files, cut: LogCut, high_watermark: int | None) -> LostRecords:
    """Return the records in the removed part of a `.log`, by the batch headers there.

    Zeros after the batches, as a preallocated file has them, do not count as lost bytes.
    """
    try:
        with disk.open(cut.name) as source:
            reader = HeaderReader(source, min(source.size, cut.size), verify=False, position=cut.position)
            count = _BatchCount(high_watermark, cut.end_offset)
            for columns in reader:
                count.take(columns)
            end = Offset(cut.end_offset if count.end is None else count.end)
            filled = cut.size
            if only_zeros(source, reader.position, cut.size):
                filled, later = reader.position, None
            else:
                later = intact_batches(source, reader.position, cut.size, base=cut.base_offset, after=Offset(end - 1))
            header = source.pread(HEADER.size, reader.position) if later is None and reader.position < filled else b""
    except UnreadableError:
        return LostRecords(start=None, end=None, records=None, bytes=cut.size - cut.position, below_high_watermark=None)
    if later is not None:
        count.uncounted(min(cut.end_offset, later.base_offset), later.last_offset + 1)
    elif reader.position < cut.size:
        count.take_rest(header, cut, end, cut.size - reader.position)
    return count.lost(filled - cut.position)


def whole_loss(disk: Files, sizes: Mapping[str, int], high_watermark: int | None) -> LostRecords | None:
    """Return every record in a partition directory with these files as lost; None if it has none."""
    cuts = (
        LogCut(log_name(base), base, base, position=0, size=sizes[log_name(base)], why="")
        for base in segment_bases(sizes)
        if sizes.get(log_name(base))
    )
    return total_loss(cut_loss(disk, cut, high_watermark) for cut in cuts)


_COUNTED_SIZE_MAX = 64 << 20
"""Of a larger directory that no broker serves and no start changes, kcheck states the offsets, not the records."""


def held_loss(disk: Files, log: LoadedLog, *, counts: bool) -> LostRecords | None:
    """Return every record in a directory that the broker does not change; None if it has none."""
    sizes = disk.entries().sizes
    size = sum(size for name, size in sizes.items() if name.endswith(".log"))
    if counts and size <= _COUNTED_SIZE_MAX:
        return whole_loss(disk, sizes, None)
    return LostRecords(log.log_start_offset, log.log_end_offset, None, size, None)


def _hidden(segment: Segment, log: LoadedLog, high_watermark: int | None) -> LostRecords | None:
    """Return the records of the last segment above the log end, which a wrong index makes too low."""
    if log.log_end_offset != segment.base or not segment.size:
        return None
    count = _BatchCount(high_watermark, Offset(segment.base))
    with suppress(StartError):  # The start itself did not read that far.
        for columns, _ in segment.windows(0):
            count.take(columns)
    return count.lost(segment.size) if count.end is not None and count.end > log.log_end_offset else None


def _plausible_counts(columns: HeaderColumns) -> Array:
    """Return the number of records of each batch; -1 also where a corrupt header contradicts itself.

    A batch without records is a header alone, and no batch has more records than offsets.
    """
    counts, is_new = columns.record_count, columns.magic == 2
    is_wrong = (counts > columns.last_offset - columns.base_offset + 1) | ((counts == 0) & (columns.size > HEADER.size))
    return np.where(is_new & is_wrong, -1, counts)


class _BatchCount:
    """Counts the records of batches, and those below a high watermark."""

    def __init__(self, high_watermark: int | None, first: Offset) -> None:
        """Take the high watermark, and the first offset that the batches can have."""
        self._first = first
        self.start: int | None = None
        self.end: int | None = None
        self._records: int | None = 0
        self._counted = 0
        self._below: int | None = None if high_watermark is None else 0
        self._high_watermark = high_watermark

    def take(self, columns: HeaderColumns) -> None:
        """Count the batches of a window."""
        counts = _plausible_counts(columns)
        begins_with_wrapper = self.start is None and int(counts[0]) < 0 and int(columns.magic[0]) < 2
        start = int(columns.base_offset.min())  # The header of a wrapper does not name its first offset.
        self._extend(min(start, self._first) if begins_with_wrapper else start, int(columns.last_offset.max()) + 1)
        self._counted += int(counts.sum(dtype=np.int64, where=counts >= 0))
        if (counts < 0).any():
            self._records = self._below = None
        if self._records is not None:
            self._records = self._counted
        if self._high_watermark is not None and self._below is not None:
            below = np.clip(self._high_watermark - columns.base_offset, 0, counts)
            self._below += int(below.sum(dtype=np.int64))

    def take_rest(self, header: bytes, cut: LogCut, end: Offset, size: int) -> None:
        """Count the records in the last `size` bytes of a file, which have no batch.

        `header` is empty if all bytes are zeros. A complete header names the records. Otherwise the next segment, or
        the high watermark, bounds their offsets. Nothing is missing if the next segment begins where the batches end.
        """
        last = cut.base_offset + RELATIVE_OFFSET_MAX if cut.next_base is None else cut.next_base - 1
        torn = incomplete_batch(header, remaining=size, low=end, high=last)
        mark = self._high_watermark
        if torn is not None:
            count = torn.record_count or 0
            self._extend(torn.base_offset, torn.last_offset + 1)
            self._counted += count
            self._records = None if self._records is None else self._counted
            if mark is not None and self._below is not None:
                self._below += min(max(mark - torn.base_offset, 0), count)
            return
        bound = mark or 0 if cut.next_base is None else cut.next_base
        if bound > end or (header and cut.next_base is None):
            # At the end of a log, offsets below the high watermark that no batch has were committed records.
            is_hole = mark is not None and mark > end and cut.next_base is not None
            committed = None if mark is None or is_hole else max(0, mark - end)
            self.uncounted(end, bound if bound > end else None, below=committed)

    def uncounted(self, start: int, end: int | None, *, below: int | None = None) -> None:
        """Add records of unknown number; `below` of them are below the high watermark."""
        self._extend(start, start if end is None else end)
        if end is None:
            self.end = None
        self._records = None
        self._below = None if self._below is None or below is None else self._below + below

    def _extend(self, start: int, end: int) -> None:
        self.start = start if self.start is None else min(start, self.start)
        self.end = end if self.end is None else max(end, self.end)

    def lost(self, size: int) -> LostRecords:
        """Return the batches that were counted, `size` bytes, as lost."""
        start = None if self.start is None else Offset(self.start)
        end = None if self.end is None else Offset(self.end)
        counted = self._counted if self._records is None else 0
        return LostRecords(start, end, self._records, size, self._below, counted)
