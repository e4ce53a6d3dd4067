"""The findings of a repair that only a comparison with the replicas of other brokers shows."""

from collections.abc import Iterable, Sequence

from kcheck.model.names import DirectoryState, ids_differ
from kcheck.model.release import Release
from kcheck.model.views import PartitionView, ReplicasView
from kcheck.plans.edited_log_dir import EditedLogDir
from kcheck.rules import kc411_replica_lacks_remote_history as kc411


def compare_histories(log_dirs: Iterable[EditedLogDir], others: Sequence[EditedLogDir], release: Release) -> None:
    """Give each partition the finding that it lacks leader epochs of remote segments, which another replica has."""
    for log_dir in log_dirs:
        for partition in log_dir.partitions:
            replicas = tuple(_replicas(partition.view, others)) if partition.view.remote is not None else ()
            if replicas:
                findings = kc411.check(ReplicasView((partition.view, *replicas)), release)
                partition.findings += tuple(
                    row for row in findings if row.where.log_dir == partition.view.where.log_dir
                )


def _replicas(view: PartitionView, others: Sequence[EditedLogDir]) -> Iterable[PartitionView]:
    for other in others:
        for replica in other.partitions:
            row = replica.view
            is_same = (row.topic, row.partition, row.state) == (view.topic, view.partition, DirectoryState.CURRENT)
            if is_same and not ids_differ(row.topic_id, view.topic_id):
                yield row
