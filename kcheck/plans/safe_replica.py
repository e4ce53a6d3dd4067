"""Whether another broker's replica has every committed record: what makes it safe to set a replica aside."""

from functools import partial

from kcheck.core.replication.truncation_plans import best
from kcheck.disk.paths import folder_of
from kcheck.model.names import DirectoryState, ids_differ
from kcheck.plans.edited_log_dir import EditedLogDir
from kcheck.plans.edited_partition import EditedPartition, Holders
from kcheck.repairs import DAMAGE, RECORDS
from kcheck.replicas.costed_plans import plans_of
from kcheck.replicas.leader_plans import Election
from kcheck.replicas.loading import ReplicaFiles, started
from kcheck.verbs.batch_reads import Budgets, broker_budgets


def prove(log_dirs: list[EditedLogDir], others: list[EditedLogDir]) -> None:
    """Give each partition what finds the replicas of other brokers that can replace it."""
    budgets = broker_budgets()
    for log_dir in log_dirs:
        of_others = [other for other in others if _is_of_other_broker(log_dir, other)]
        for partition in log_dir.partitions if of_others else ():
            partition.find_holders = partial(_holders, log_dir, partition, of_others, budgets)


def _is_of_other_broker(log_dir: EditedLogDir, other: EditedLogDir) -> bool:
    one, two = log_dir.view, other.view
    if two.where.broker_id is None or one.where.broker_id == two.where.broker_id:
        return False
    return not ids_differ(one.cluster_id, two.cluster_id)


def _holders(
    log_dir: EditedLogDir, partition: EditedPartition, others: list[EditedLogDir], budgets: Budgets
) -> Holders:
    replicas = [
        (other, replica) for other in others for replica in other.partitions if _is_replica_of(partition, replica)
    ]
    proven = tuple(replica for _, replica in replicas if _is_intact(replica))
    if not proven or len(replicas) == 1:
        return Holders(proven, None)
    return Holders(proven, _best_leader((log_dir, partition), replicas, budgets))


def _best_leader(
    own: tuple[EditedLogDir, EditedPartition], replicas: list[tuple[EditedLogDir, EditedPartition]], budgets: Budgets
) -> int | None:
    """Return the broker that `kcheck truncation --leader best` names among the others; None if it names none."""
    states = tuple(
        started(
            ReplicaFiles(path=folder_of(replica.view.where), view=replica.view, log_dir=log_dir.view),
            log_dir.release,
            budgets[replica.view.where.broker_id],
        )
        for log_dir, replica in (own, *replicas)
    )
    plans = plans_of(states, Election(), own[0].release)
    cheapest = best([plan for plan in plans if plan.leader != states[0].broker_id])
    return None if cheapest is None else cheapest.leader


def _is_replica_of(partition: EditedPartition, other: EditedPartition) -> bool:
    mine, theirs = partition.view, other.view
    if (mine.topic, mine.partition) != (theirs.topic, theirs.partition) or theirs.state is not DirectoryState.CURRENT:
        return False
    return not ids_differ(mine.topic_id, theirs.topic_id)


def _is_intact(other: EditedPartition) -> bool:
    """Return whether every batch of a replica was read and is valid."""
    if other.view.log_end_offset is None:
        return False
    if any(finding.id in (*DAMAGE, *RECORDS) or finding.id.startswith(("KC00", "KC22")) for finding in other.findings):
        return False
    return other.image().fault is None
