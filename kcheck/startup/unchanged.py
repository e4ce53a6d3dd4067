"""The logs that the next start loads unchanged. Their view gives the prediction without a simulated load.

After a clean shutdown nearly every log is one of these. All others go through `startup/log_loader.py`, which gives the
same answer for these.
"""

from collections.abc import Iterable

from kcheck.core.replication.leader_epochs import load, read_lines
from kcheck.core.start.predictions import Changes, LoadedLog, PartitionPrediction
from kcheck.core.start.segments import LOG_SIZE_MAX, loaded_high_watermark, log_start_offset
from kcheck.core.start.startup import Outcome, outcome_without_topic_id, recovery_point
from kcheck.formats import producer_snapshot, transaction_index
from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.entries import EpochEntries, Offset
from kcheck.model.names import (
    LEADER_EPOCHS,
    PARTITION_METADATA,
    DirectoryState,
    PartitionDirectory,
    segment_prefix,
)
from kcheck.model.release import Release
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import PartitionView
from kcheck.startup.inputs import Context, LoadInputs, unstable
from kcheck.startup.virtual_files import SNAPSHOT

_NEEDED = (".log", ".index", ".timeindex")
_TRANSACTIONS = ".txnindex"
_PREFIX_SIZE = len(segment_prefix(0))
_FIXED = (LEADER_EPOCHS, PARTITION_METADATA)


def unchanged_prediction(
    disk: Files, name: str, directory: PartitionDirectory, view: PartitionView, inputs: LoadInputs, context: Context
) -> PartitionPrediction | None:
    """Return the prediction of a log that the broker loads unchanged; None if that is not certain.

    A broker of 3.0 and later loads a log unchanged if all of these hold:
    - the last shutdown was clean;
    - the directory has only intact segments, snapshots of their base offsets and of the log end, epochs and topic id;
    - the last index leads to the log end over batches with increasing offsets;
    - the epochs increase;
    - the broker can read the snapshot at the log end, which the shutdown wrote, or there is no snapshot;
    - the metadata of the cluster, if there is any, places the replica here.

    As in every load, the indexes of the last segment get their full size. The broker removes epochs without a record
    and snapshots up to the log start, and writes empty snapshots where there are none. `view` must be complete.
    """
    release, settings = context.release, context.settings
    # Earlier releases cut the epochs at the first segment too, which is not done here.
    plain = inputs.clean and release.cuts_epochs_at_log_start_checkpoint and release.epoch_cache
    plain = plain and not settings.of_topic and (inputs.log_start is None or not settings.remote_storage)
    if not plain or directory.state is not DirectoryState.CURRENT or _may_move(directory, view, context):
        return None
    if view.index_size is None or view.log_end_offset is None:
        return None
    if view.size > LOG_SIZE_MAX and any(segment.size > LOG_SIZE_MAX for segment in view.segments):
        return None
    first, end = view.segments[0].base_offset, view.log_end_offset
    if view.log_start_offset is not None and view.log_start_offset < first:
        return None  # The first records are in remote storage.
    start = log_start_offset(inputs.log_start, first)
    files = _files(view, end)
    epochs = _epochs(view, inputs, end, release)
    if start > end or files is None or epochs is None or not _has_topic(view, context):
        return None
    snapshots, transactions = files
    try:
        changed = _resized(disk, view, context)
        open_transaction = _open_transaction(disk, start, end, snapshots, release)
        if changed is None or open_transaction is None or not _sane_transactions(disk, transactions, release):
            return None
    except UnreadableError:
        return None
    bases = tuple([segment.base_offset for segment in view.segments])
    point = recovery_point(at_end=True, checkpoint=inputs.recovery_point, end=end, start=start, release=release)
    changes = Changes(
        created=() if snapshots else tuple(map(_snapshot, sorted({*bases[-2:], end} - {0}))),
        changed=(*changed, LEADER_EPOCHS) if epochs[1] else tuple(changed),
        removed=tuple(_snapshot(offset) for offset in snapshots if offset <= start),
    )
    high_watermark = None if inputs.high_watermark is None else Offset(inputs.high_watermark)
    return PartitionPrediction(
        name, directory, Outcome.OK, None,
        log=LoadedLog(
            log_start_offset=Offset(start), log_end_offset=end, recovery_point=Offset(point), leader_epochs=epochs[0],
            unstable=open_transaction, bases=bases,
        ),
        high_watermark=loaded_high_watermark(high_watermark, log_start=Offset(start), log_end=end, release=release),
        changes=changes, later_use=unstable(name) if open_transaction else None, topic_id=view.topic_id,
        gaps=None if view.gaps is None else tuple(gap for gap in view.gaps if gap[1] > start),
    )  # fmt: skip


def _files(view: PartitionView, end: Offset) -> tuple[list[Offset], list[Offset]] | None:
    """Return the offsets of the snapshots, and of the transaction indexes, each ascending.

    None if there is any other file, or if a segment lacks one of its files.
    """
    prefixes = {segment_prefix(segment.base_offset): segment.base_offset for segment in view.segments}
    needed = {prefix + ending for prefix in prefixes for ending in _NEEDED}
    if not needed <= view.files:
        return None
    snapshots, transactions = [], []
    for name in view.files.difference(needed, _FIXED):
        base, ending = prefixes.get(name[:_PREFIX_SIZE]), name[_PREFIX_SIZE:]
        if ending == SNAPSHOT and (base is not None or name == _snapshot(end)):
            snapshots.append(end if base is None else base)
        elif base is not None and ending == _TRANSACTIONS:
            transactions.append(base)
        else:
            return None
    return sorted(snapshots), sorted(transactions)


def _snapshot(offset: int) -> str:
    return segment_prefix(offset) + SNAPSHOT


def _epochs(view: PartitionView, inputs: LoadInputs, end: Offset, release: Release) -> tuple[EpochEntries, bool] | None:
    """Return the epochs, and whether their file changes; None if no broker writes this file."""
    file = view.epochs
    if file is None or file.reads is None or file.reads.value is None or file.parsed.defects:
        return None
    stored: EpochEntries = file.reads.value
    try:
        kept = load(
            stored, log_end_offset=end, log_start_checkpoint=inputs.log_start or Offset(0),
            first_segment=view.segments[0].base_offset, release=release,
        )  # fmt: skip
        return (kept, kept != stored) if kept == stored or read_lines(stored, release) == stored else None
    except ValueError:
        return None


def _has_topic(view: PartitionView, context: Context) -> bool:
    """Return whether partition.metadata is readable, or missing in a release that does not need it."""
    if PARTITION_METADATA in view.files:
        return view.metadata is not None and view.metadata.reads is not None and view.metadata.reads.error is None
    return outcome_without_topic_id(mode=context.mode, release=context.release) is Outcome.OK


def _may_move(directory: PartitionDirectory, view: PartitionView, context: Context) -> bool:
    """Return whether by the metadata the broker does not serve the replica, or can promote it."""
    detector, zookeeper = context.stray_detector, context.zookeeper
    if zookeeper is not None and zookeeper.unserved(directory.topic, directory.partition, view.topic_id):
        return True
    if detector is None:
        return False
    future = directory.state is DirectoryState.FUTURE
    return future or (view.topic_id is not None and detector.stray(view.topic_id, directory.partition) is not None)


def _resized(disk: Files, view: PartitionView, context: Context) -> list[str] | None:
    """Return the indexes of the last segment below their full size; None if one is above it."""
    name = segment_prefix(view.segments[-1].base_offset) + ".timeindex"
    changed = []
    for index, size, entry_size in (
        (name.replace("time", ""), view.index_size or 0, OFFSET_INDEX_ENTRY.size),
        (name, disk.readable_size(name), TIME_INDEX_ENTRY.size),
    ):
        full = context.settings.segment_index_bytes // entry_size * entry_size
        if size > full:
            return None
        if size < full:
            changed.append(index)
    return changed


def _open_transaction(disk: Files, start: int, end: Offset, snapshots: list[Offset], release: Release) -> bool | None:
    """Return whether the snapshot at the log end has an open transaction; None if the broker would read the log."""
    if not snapshots or 0 < end == start:
        return False
    if snapshots[-1] != end or end <= start:
        return None
    reads = producer_snapshot.broker_reads(disk.read_whole(_snapshot(end)), release)
    if reads.value is None:
        return None
    begins = [row.current_txn_first_offset for row in reads.value.producers if row.current_txn_first_offset >= 0]
    if any(not start <= begin < end for begin in begins):
        return None  # The broker looks the offset up in the log, and some releases abort.
    return bool(begins)


def _sane_transactions(disk: Files, bases: Iterable[Offset], release: Release) -> bool:
    """Return whether no transaction index makes the broker recover its segment, or fail."""
    for base in bases:
        entries = transaction_index.broker_reads(disk.read_whole(segment_prefix(base) + _TRANSACTIONS), release).value
        if entries is None or any(entry.last_offset < base for entry in entries):
            return False
    return True
