"""What a start does to the log of KRaft once it is loaded: KafkaMetadataLog 3.0 to 4.2, KafkaRaftLog 4.3.

Then it reads what it knows of the last election (QuorumState).
"""

from typing import Any

from kcheck.core.leader_epochs import latest_epoch
from kcheck.core.predictions import LoadedLog, new_content
from kcheck.formats import _metadata_snapshot, _quorum_state
from kcheck.formats.partition_metadata import PartitionMetadata, serialize
from kcheck.model.entries import Offset
from kcheck.model.names import (
    DELETED,
    METADATA_TOPIC_ID,
    PARTITION_METADATA,
    SNAPSHOT_ENDINGS,
    TEMPORARY,
    FileKind,
    parse_metadata_snapshot,
)
from kcheck.model.parsed import BrokerReads
from kcheck.model.release import Release
from kcheck.startup.log_loader import LogLoader
from kcheck.startup.virtual_files import Folder, StartError


def finish(loader: LogLoader, log: LoadedLog, topic_id: str | None) -> LoadedLog:
    """Sort out the snapshots, and write the small files; StartError where the start ends with what they hold.

    The whole log gives way to the latest snapshot where that lies beyond it: a download that was not followed by the
    truncation. `topic_id` is what partition.metadata says.
    """
    folder, release = loader.folder, loader.context.release
    if topic_id not in (None, METADATA_TOPIC_ID):
        raise StartError(f"InconsistentTopicIdException: {PARTITION_METADATA} names another topic id, {topic_id}")
    kept = _sorted_out(folder, log, release)
    log = _begun_anew(loader, log, kept)
    if kept and release.reads_metadata_snapshot_at_start:
        newest = _name(max(kept))
        if newest in folder:
            _refused(newest, _metadata_snapshot.broker_reads(folder.read_whole(newest), release))
        elif release.aborts_on_misnamed_snapshots:
            raise _misnamed(kept[max(kept)], newest)
    forgotten = _elections(folder, release)
    if PARTITION_METADATA not in folder:
        folder.put(PARTITION_METADATA, new_content(serialize(PartitionMetadata(0, METADATA_TOPIC_ID))))
    return log if forgotten is None else log._replace(reasons=(*log.reasons, forgotten))


def _begun_anew(loader: LogLoader, log: LoadedLog, kept: dict[tuple[int, int], str]) -> LoadedLog:
    """Return the log, emptied where its latest snapshot lies beyond it (truncateToLatestSnapshot)."""
    if not kept:
        return log
    epoch, offset = latest = max(kept)
    known = max(latest_epoch(log.leader_epochs), 0)
    if epoch < known or (epoch == known and offset <= log.log_end_offset):
        return log
    loader.truncate_fully(offset)
    for older in sorted(kept.keys() - {latest}):
        name = _name(older)
        if not loader.folder.rename(name, name + DELETED):
            raise _misnamed(kept[older], name)
    start = Offset(offset)
    return log._replace(
        log_start_offset=start, log_end_offset=start, recovery_point=Offset(min(log.recovery_point, offset)),
        leader_epochs=(), bases=(offset,), cuts=(),
        reasons=(*log.reasons, f"the snapshot at offset {offset} lies beyond the log, which begins there anew"),
    )  # fmt: skip


def _name(snapshot: tuple[int, int]) -> str:
    """Return the proper name of a snapshot of this epoch and offset."""
    return f"{snapshot[1]:020d}-{snapshot[0]:010d}{SNAPSHOT_ENDINGS[0]}"


def _misnamed(found: str, name: str) -> StartError:
    return StartError(f"UncheckedIOException: {found} is looked for as {name}")


def _refused(name: str, reads: BrokerReads[Any]) -> None:
    if reads.error is not None:
        raise StartError(f"{name} cannot be read: {reads.error}")


def _elections(folder: Folder, release: Release) -> str | None:
    """Read the last election, and return why it is forgotten; what the start writes of it depends on the others."""
    name, forgotten = FileKind.QUORUM_STATE, None
    folder.remove(f"{name}{TEMPORARY}")
    if name in folder:
        reads = _quorum_state.broker_reads(folder.read_whole(name), release)
        _refused(name, reads)
        if reads.value is None:
            return None
        forgotten = f"{name} is removed, and what it said of the last election forgotten: {reads.value}"
    folder.put(name, new_content(b"", certain=False))
    return forgotten


def _sorted_out(folder: Folder, log: LoadedLog, release: Release) -> dict[tuple[int, int], str]:
    """Remove the snapshots that nobody needs, and return the names of the others by epoch and offset."""
    kept: dict[tuple[int, int], str] = {}
    unneeded: list[str] = []
    for name in sorted(folder.files):
        if not name.endswith(SNAPSHOT_ENDINGS):
            continue
        snapshot = parse_metadata_snapshot(name)
        if snapshot is None:
            raise StartError(f"NumberFormatException: {name} has no offset and epoch where a snapshot has them")
        if not name.endswith(SNAPSHOT_ENDINGS[0]) or snapshot[0] < log.log_start_offset:
            unneeded.append(name)
        else:
            kept[snapshot[1], snapshot[0]] = name
    covered = not log.log_start_offset or (kept and max(kept)[1] >= log.log_start_offset)
    if not covered and release.needs_snapshot_of_cut_metadata:
        raise StartError(f"IllegalStateException: no snapshot covers the offsets below {log.log_start_offset}")
    for name in unneeded:
        folder.remove(name)
    return kept
