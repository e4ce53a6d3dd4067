"""Whether another broker's replica has every committed record: what makes it safe to set a replica aside."""

from collections.abc import Iterator

from kcheck.model.names import DirectoryState, ids_differ
from kcheck.plans.edited_log_dir import EditedLogDir
from kcheck.plans.edited_partition import EditedPartition
from kcheck.repairs._files import DAMAGE, RECORDS


def prove(log_dirs: list[EditedLogDir], others: list[EditedLogDir]) -> None:
    """Give each partition the replicas of other brokers that can stand for it."""
    for log_dir in log_dirs:
        for partition in log_dir.partitions:
            partition.proven = tuple(_holders(log_dir, partition, others))


def _holders(
    log_dir: EditedLogDir, partition: EditedPartition, others: list[EditedLogDir]
) -> Iterator[EditedPartition]:
    for other in others:
        one, two = log_dir.view, other.view
        if one.where.broker_id == two.where.broker_id or two.where.broker_id is None:
            continue
        if ids_differ(one.cluster_id, two.cluster_id):
            continue
        yield from (replica for replica in other.partitions if _stands_for(partition, replica))


def _stands_for(partition: EditedPartition, other: EditedPartition) -> bool:
    """Whether a replica is whole, of the same topic, and reaches as far as anything that was committed."""
    mine, theirs = partition.view, other.view
    same = (mine.topic, mine.partition) == (theirs.topic, theirs.partition)
    if not same or theirs.state is not DirectoryState.CURRENT or theirs.log_end_offset is None:
        return False
    if ids_differ(mine.topic_id, theirs.topic_id):
        return False
    if any(finding.id in (*DAMAGE, *RECORDS) or finding.id.startswith(("KC00", "KC22")) for finding in other.findings):
        return False
    image = other.image()
    return image.error is None and not image.cuts
