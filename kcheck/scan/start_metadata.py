"""What a start does to the log of KRaft once it is loaded: KafkaMetadataLog 3.0 to 4.2, KafkaRaftLog 4.3.

Then it reads what it knows of the last election (QuorumState).
"""

from kcheck.core.leader_epochs import latest_epoch
from kcheck.formats import _quorum_state
from kcheck.formats.partition_metadata import PartitionMetadata, serialize
from kcheck.model.entries import Offset
from kcheck.model.names import DELETED, PARTITION_METADATA, FileKind, parse_file, parse_metadata_snapshot
from kcheck.scan.start_files import Folder, StartError, made
from kcheck.scan.start_log import LogLoader
from kcheck.scan.start_values import Loaded

TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
"""That of the metadata of every cluster."""


def finish(loader: LogLoader, log: Loaded) -> Loaded:
    """Sort out the snapshots; StartError where none covers the start of the log, or `quorum-state` cannot be read.

    The whole log gives way to the latest snapshot where that lies beyond it: a download that was not followed by the
    truncation.
    """
    kept = _sorted_out(loader.folder, log)
    if FileKind.QUORUM_STATE in loader.folder:
        data, size = loader.folder.read(FileKind.QUORUM_STATE)
        why = _quorum_state.broker_reads(data.ljust(size, b"\0"), loader.context.release).error
        if why is not None:
            raise StartError(f"{FileKind.QUORUM_STATE} cannot be read: {why}")
    if PARTITION_METADATA not in loader.folder:
        loader.folder.put(PARTITION_METADATA, made(serialize(PartitionMetadata(0, TOPIC_ID))))
    if not kept:
        return log
    epoch, offset = latest = max(kept)
    known = max(latest_epoch(log.leader_epochs), 0)
    if epoch < known or (epoch == known and offset <= log.log_end_offset):
        return log
    loader.truncate_fully(offset)
    for older, name in kept.items():
        if older < latest:
            loader.folder.rename(name, name + DELETED)
    start = Offset(offset)
    return log._replace(
        log_start_offset=start, log_end_offset=start, recovery_point=Offset(min(log.recovery_point, offset)),
        leader_epochs=(), bases=(offset,), cuts=(),
        reasons=(*log.reasons, f"the snapshot at offset {offset} lies beyond the log, which begins there anew"),
    )  # fmt: skip


def _sorted_out(folder: Folder, log: Loaded) -> dict[tuple[int, int], str]:
    """Remove the snapshots that nobody needs, and return the names of the others by epoch and offset."""
    kept: dict[tuple[int, int], str] = {}
    unneeded: list[str] = []
    for name in sorted(folder.files):
        snapshot = parse_metadata_snapshot(name)
        if parse_file(name).kind is not FileKind.METADATA_SNAPSHOT or snapshot is None:
            continue
        if parse_file(name).suffix or snapshot[0] < log.log_start_offset:
            unneeded.append(name)
        else:
            kept[snapshot[1], snapshot[0]] = name
    if log.log_start_offset > 0 and (not kept or max(kept)[1] < log.log_start_offset):
        raise StartError(f"IllegalStateException: no snapshot covers the offsets below {log.log_start_offset}")
    for name in unneeded:
        folder.remove(name)
    return kept
