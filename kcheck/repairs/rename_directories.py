"""Give the only directory of a replica its name back.

A -future directory whose current one is gone is renamed to TOPIC-PARTITION, in its log dir: the start would empty it. A
-stray directory is renamed so if the given metadata assign the broker this partition of the topic with the id on
disk. An empty directory of that name moves out first; plan again after that plan.

The repair requires that every batch of the directory is valid, and that all log dirs of the broker are named: another
one could have the current directory.
"""

from collections.abc import Iterator

from kcheck.model.finding import Finding
from kcheck.model.names import LIVE
from kcheck.repairs._contract import (
    AsideEdit,
    Evidence,
    Impact,
    LogDirSite,
    PartitionSite,
    Refused,
    RenameEdit,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
)
from kcheck.repairs._files import whole_log
from kcheck.words import partition_name


def plan(log_dir: LogDirSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield the new name of each directory."""
    by_dir = {partition.dir: partition for partition in log_dir.partitions}
    for finding in findings:
        partition = by_dir.get(finding.where.dir or "")
        if partition is None:
            yield Refused(finding, "kcheck did not read the directory")
        else:
            yield _renamed(partition, finding)


def _renamed(partition: PartitionSite, finding: Finding) -> RepairOutcome:
    view, log_dir, image = partition.view, partition.log_dir, partition.image()
    name = partition_name(view.topic, view.partition)
    if not log_dir.is_with_all_siblings:
        return Refused(finding, "another log dir may have the current directory: name the broker's server.properties")
    twins = [other for site in (log_dir, *log_dir.siblings) for other in site.partitions if _is_twin(partition, other)]
    if any(other.view.size for other in twins):
        return Refused(finding, f"there is another directory of {name} on the broker")
    if image.fault is not None:
        return Refused(finding, f"the directory is not valid to its end: {image.fault}")
    empty = next((other for other in twins if other.view.state in LIVE), None)
    if empty is not None:
        evidence = (Evidence(empty.dir, None, crc_verified=None, what="the directory holds no record"),)
        reason = f"move the empty {empty.dir} out; plan again to rename {partition.dir}"
        return RepairStep(finding, (AsideEdit(empty.dir),), reason, evidence, log_dir=empty.log_dir)
    reason = f"rename it to {name}: the broker then loads it with every record"
    return RepairStep(finding, (RenameEdit(partition.dir, name),), reason, (whole_log(partition),))


def _is_twin(partition: PartitionSite, other: PartitionSite) -> bool:
    """Return whether the broker loads another directory of the partition, or another one was moved aside."""
    one, two = partition.view, other.view
    is_same = other is not partition and (one.topic, one.partition) == (two.topic, two.partition)
    return is_same and (two.state in LIVE or two.state is one.state)


REPAIR = Repair(
    name="rename-directories",
    rank=17,
    scope=RepairScope.LOG_DIR,
    rules=("KC316", "KC318"),
    plan=plan,
    impact=Impact.CHECKPOINT,
    page=__doc__,
)
