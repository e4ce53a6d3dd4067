"""Give the only directory of a replica its name back.

A -future directory whose current one is gone is renamed to TOPIC-PARTITION, in its log dir: the start would empty it.
The repair requires that every batch of the copy is valid, and that all log dirs of the broker are named: the current
directory could be in another one.
"""

from collections.abc import Iterator

from kcheck.model.finding import Finding
from kcheck.model.names import LIVE
from kcheck.repairs._contract import (
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
        yield (
            Refused(finding, "kcheck did not read the directory") if partition is None else _renamed(partition, finding)
        )


def _renamed(partition: PartitionSite, finding: Finding) -> RepairOutcome:
    view, log_dir, image = partition.view, partition.log_dir, partition.image()
    name = partition_name(view.topic, view.partition)
    if not log_dir.is_with_all_siblings:
        return Refused(finding, "another log dir may have the current directory: name the broker's server.properties")
    if any(_is_live_twin(partition, other) for sibling in log_dir.siblings for other in sibling.partitions):
        return Refused(finding, f"another log dir of the broker has a directory of {name}, too")
    if image.error is not None or image.cuts:
        return Refused(finding, f"the copy is not valid to its end: {image.error or image.cuts[0].why}")
    reason = f"rename it to {name}: the broker then loads it with every record"
    return RepairStep(finding, (RenameEdit(partition.dir, name),), reason, (whole_log(partition),))


def _is_live_twin(partition: PartitionSite, other: PartitionSite) -> bool:
    one, two = partition.view, other.view
    return (one.topic, one.partition) == (two.topic, two.partition) and two.state in LIVE


REPAIR = Repair(
    name="rename-directories",
    rank=17,
    scope=RepairScope.LOG_DIR,
    rules=("KC316",),
    plan=plan,
    impact=Impact.CHECKPOINT,
    page=__doc__,
)
