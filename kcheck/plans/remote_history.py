"""Adds evidence about remote storage to a repair, from other replicas and from the store."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kcheck.core.tiered.histories import last_segments
from kcheck.model.names import DirectoryState, ids_differ
from kcheck.model.release import Release
from kcheck.model.remote_log import StoredEpochs
from kcheck.model.views import PartitionView, ReplicasView
from kcheck.plans.edited_log_dir import EditedLogDir
from kcheck.plans.edited_partition import EditedPartition
from kcheck.repairs.restore_remote_epochs import REPAIR
from kcheck.rules import kc411_replica_lacks_remote_history as kc411
from kcheck.views.remote_store import epoch_indexes


def compare_histories(
    log_dirs: Iterable[EditedLogDir], others: Sequence[EditedLogDir], release: Release, *, store: str | None = None
) -> None:
    """Add the findings about missing leader epochs of remote segments, and the epoch indexes of the store."""
    tiered = [row for log_dir in log_dirs for row in log_dir.partitions if row.view.remote is not None]
    for partition in tiered:
        replicas = tuple(_replicas(partition.view, others))
        if replicas or store is not None:
            findings = kc411.check(ReplicasView((partition.view, *replicas)), release)
            own = partition.view.where.log_dir
            partition.findings += tuple(row for row in findings if row.where.log_dir == own)
    if store is not None:
        _look_up(store, [row for row in tiered if any(found.id in REPAIR.rules for found in row.findings)])


def _look_up(store: str, partitions: Iterable[EditedPartition]) -> None:
    """Give each partition the epoch indexes of its last remote segments."""
    owners: dict[str, EditedPartition] = {}
    for partition in partitions:
        remote, segments = partition.view.remote, partition.view.segments
        if remote is not None and segments:
            owners |= {row.segment_id: partition for row in last_segments(remote, segments[0].base_offset)}
            partition.stored_epochs = ()
    indexes: dict[EditedPartition, list[StoredEpochs]] = defaultdict(list)
    for segment_id, index in epoch_indexes(store, owners):
        indexes[owners[segment_id]].append(index)
    for partition, rows in indexes.items():
        partition.stored_epochs = tuple(rows)


def _replicas(view: PartitionView, others: Sequence[EditedLogDir]) -> Iterable[PartitionView]:
    for other in others:
        for replica in other.partitions:
            row = replica.view
            is_same = (row.topic, row.partition, row.state) == (view.topic, view.partition, DirectoryState.CURRENT)
            if is_same and not ids_differ(row.topic_id, view.topic_id):
                yield row
