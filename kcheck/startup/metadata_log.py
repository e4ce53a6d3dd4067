"""The steps for the KRaft log after its load (KafkaMetadataLog 3.0 to 4.2, KafkaRaftLog 4.3).

Then the broker reads the file about the last election (QuorumState).
"""

from typing import Any

from kcheck.core.replication.leader_epochs import latest_epoch
from kcheck.core.start.predictions import LoadedLog, new_content
from kcheck.formats import metadata_snapshot, quorum_state
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
    """Clean up the snapshots, and write the small files; StartError if the broker fails on one of them.

    The latest snapshot replaces the log if it is beyond the log end. The broker then stopped between the download and
    the truncation. `topic_id` comes from partition.metadata.
    """
    folder, release = loader.folder, loader.context.release
    if topic_id not in (None, METADATA_TOPIC_ID):
        raise StartError(f"InconsistentTopicIdException: {PARTITION_METADATA} has another topic id, {topic_id}")
    kept = _clean_up(folder, log, release)
    log = _truncated_to_snapshot(loader, log, kept)
    if kept and release.reads_metadata_snapshot_at_start:
        newest = _name(max(kept))
        if newest in folder:
            _refused(newest, metadata_snapshot.broker_reads(folder.read_whole(newest), release))
        elif release.aborts_on_misnamed_snapshots:
            raise _misnamed(kept[max(kept)], newest)
    removal = _removed_election(folder, release)
    if PARTITION_METADATA not in folder:
        folder.put(PARTITION_METADATA, new_content(serialize(PartitionMetadata(0, METADATA_TOPIC_ID))))
    return log if removal is None else log._replace(reasons=(*log.reasons, removal))


def _truncated_to_snapshot(loader: LogLoader, log: LoadedLog, kept: dict[tuple[int, int], str]) -> LoadedLog:
    """Return the log, emptied if its latest snapshot is beyond the log end (truncateToLatestSnapshot)."""
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
        reasons=(*log.reasons, f"the snapshot at offset {offset} is beyond the log end: the log restarts there"),
    )  # fmt: skip


def _name(snapshot: tuple[int, int]) -> str:
    """Return the name that the broker expects for a snapshot of this epoch and offset."""
    return f"{snapshot[1]:020d}-{snapshot[0]:010d}{SNAPSHOT_ENDINGS[0]}"


def _misnamed(actual: str, expected: str) -> StartError:
    return StartError(f"UncheckedIOException: the broker looks for {actual} under the name {expected}")


def _refused(name: str, reads: BrokerReads[Any]) -> None:
    if reads.error is not None:
        raise StartError(f"{name} cannot be read: {reads.error}")


def _removed_election(folder: Folder, release: Release) -> str | None:
    """Read quorum-state, and return why the broker removes it; None where it keeps it.

    The new bytes of the file depend on the other nodes.
    """
    name, removal = FileKind.QUORUM_STATE, None
    folder.remove(f"{name}{TEMPORARY}")
    if name in folder:
        reads = quorum_state.broker_reads(folder.read_whole(name), release)
        _refused(name, reads)
        assert reads.value is not None
        if reads.value.removed_because is None:
            return None
        removal = f"the broker removes {name} and forgets the last election: {reads.value.removed_because}"
    folder.put(name, new_content(b"", certain=False))
    return removal


def _clean_up(folder: Folder, log: LoadedLog, release: Release) -> dict[tuple[int, int], str]:
    """Remove the snapshots that are not needed, and return the names of the others by epoch and offset."""
    kept: dict[tuple[int, int], str] = {}
    unneeded: list[str] = []
    for name in sorted({*folder.files, *folder.directories}):  # The broker lists directories too.
        if not name.endswith(SNAPSHOT_ENDINGS):
            continue
        snapshot = parse_metadata_snapshot(name)
        if snapshot is None:
            raise StartError(f"NumberFormatException: the name {name} has no offset and epoch")
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
