"""Move a -future directory aside if the current directory in the same log dir holds all of its batches.

The broker would rename one to the other and fail. The repair is refused if the -future copy holds records that the
current directory does not. Look at both, and move the unwanted one by hand.
"""

from collections.abc import Iterator

from kcheck.model.finding import Finding
from kcheck.model.names import DirectoryState
from kcheck.repairs._contract import (
    AsideEdit,
    Impact,
    LogDirSite,
    PartitionSite,
    Refused,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
)
from kcheck.repairs._files import stands_in, whole_log


def plan(log_dir: LogDirSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield the directories that go."""
    by_dir = {partition.dir: partition for partition in log_dir.partitions}
    current = {_key(part): part for part in log_dir.partitions if part.view.state is DirectoryState.CURRENT}
    for finding in findings:
        future = by_dir.get(finding.where.dir or "")
        stays = None if future is None else current.get(_key(future))
        if future is None or stays is None:
            yield Refused(finding, "kcheck did not read both directories")
        elif not stands_in(future, stays):
            yield Refused(finding, f"{stays.dir} does not hold every batch of it, or is corrupt; compare the two")
        else:
            reason = f"move the -future directory out: {stays.dir} in the same log dir stays"
            holder = f"{stays.dir} holds every batch of it"
            yield RepairStep(finding, (AsideEdit(future.dir),), reason, (whole_log(stays),), holder=holder)


def _key(partition: PartitionSite) -> tuple[str, int]:
    return partition.view.topic, partition.view.partition


REPAIR = Repair(
    name="move-aside-futures",
    rank=16,
    scope=RepairScope.LOG_DIR,
    rules=("KC317",),
    plan=plan,
    impact=Impact.ASIDE,
    page=__doc__,
)
