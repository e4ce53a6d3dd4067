"""Tells whether another broker's replica has every committed record, so that a replica can be moved aside."""

from functools import partial

from kcheck.core.election.plans import PartitionElection, best_candidate, record_costs
from kcheck.model.names import DirectoryState, ids_differ
from kcheck.plans.edited_log_dir import EditedLogDir
from kcheck.plans.edited_partition import EditedPartition, Holders
from kcheck.repairs import DAMAGE, RECORDS
from kcheck.replicas.elect import ClusterElection


def prove(log_dirs: list[EditedLogDir], others: list[EditedLogDir], election: ClusterElection) -> None:
    """Give each partition what finds the replicas of other brokers that can replace it, and who should lead."""
    rows = {(row.topic, row.partition): row for row in election.of_cluster}
    for log_dir in log_dirs:
        of_others = [other for other in others if _is_of_other_broker(log_dir, other)]
        for partition in log_dir.partitions if of_others else ():
            row = rows.get((partition.view.topic, partition.view.partition))
            partition.find_holders = partial(_holders, partition, of_others, row)


def _is_of_other_broker(log_dir: EditedLogDir, other: EditedLogDir) -> bool:
    one, two = log_dir.view, other.view
    if two.where.broker_id is None or one.where.broker_id == two.where.broker_id:
        return False
    return not ids_differ(one.cluster_id, two.cluster_id)


def _holders(partition: EditedPartition, others: list[EditedLogDir], row: PartitionElection | None) -> Holders:
    replicas = (replica for other in others for replica in other.partitions if _is_replica_of(partition, replica))
    leader = None if row is None else _leader(row, partition.view.where.broker_id)
    return Holders(tuple(filter(_is_intact, replicas)), leader)


def _leader(row: PartitionElection, own: int | None) -> int | None:
    """Return the broker that should lead; another one if it loses no more; None if not decided."""
    leader = row.best if row.planned is None else row.planned
    if leader is None or leader != own:
        return leader
    other = best_candidate(candidate for candidate in row.candidates if candidate.broker_id != own)
    return own if other is None or record_costs(other) > record_costs(row.leaders[leader]) else other.broker_id


def _is_replica_of(partition: EditedPartition, other: EditedPartition) -> bool:
    mine, theirs = partition.view, other.view
    if (mine.topic, mine.partition) != (theirs.topic, theirs.partition) or theirs.state is not DirectoryState.CURRENT:
        return False
    # An id of another topic can be what is wrong. The batches show it.
    is_wrong = mine.in_cluster is not None and mine.in_cluster.owner is not None
    return is_wrong or not ids_differ(mine.topic_id, theirs.topic_id)


def _is_intact(other: EditedPartition) -> bool:
    """Return whether every batch of a replica was read and is valid."""
    if other.view.log_end_offset is None:
        return False
    if any(finding.id in (*DAMAGE, *RECORDS) or finding.id.startswith(("KC00", "KC22")) for finding in other.findings):
        return False
    return other.image().fault is None
