"""Of two directories of one partition, the one whose every batch stands in the other too is moved aside.

Where each of them holds something that the other does not, nothing tells which is right.
"""

from collections.abc import Iterator

from kcheck.model.finding import Finding
from kcheck.repairs._contract import Answer, Aside, Edit, Evidence, LogDirSite, PartitionSite, Refused, Repair, Scope
from kcheck.repairs._contract import Step
from kcheck.repairs._entries import without_entries
from kcheck.repairs._files import whole_log


def plan(site: LogDirSite, findings: tuple[Finding, ...]) -> Iterator[Answer]:
    """Yield the directory that goes, if it is one of this log dir."""
    for finding in findings:
        twins = list(_twins(site, finding))
        if len(twins) != 2:
            yield Refused(finding, f"{len(twins)} of its directories were looked at: name all log dirs of the broker")
            continue
        one, other = twins
        goes = next((part for part, stays in ((other, one), (one, other)) if _stands_in(part, stays)), None)
        if goes is None:
            yield Refused(finding, "each of the two directories holds something that the other does not")
            continue
        stays = one if goes is other else other
        # The plan of a log dir changes that log dir alone, so the finding is asked about in each of them.
        yield Step(finding, tuple(_edits(goes)), f"{_place(stays)} holds every batch of {_place(goes)}",
                   (_proof(stays),), held=f"every batch stands in {_place(stays)}")  # fmt: skip


def _twins(site: LogDirSite, finding: Finding) -> Iterator[PartitionSite]:
    """Yield the live directories of a partition in the log dirs of a broker, this log dir's own first."""
    where = finding.where
    for log_dir in (site, *site.siblings):
        for part in log_dir.partitions:
            view = part.view
            if (view.topic, view.partition) == (where.topic, where.partition) and "." not in part.dir[-40:].partition(
                f"{where.topic}-"
            )[2]:
                yield part


def _stands_in(part: PartitionSite, other: PartitionSite) -> bool:
    ids = {part.view.topic_id, other.view.topic_id} - {None}
    image = other.image()
    return len(ids) <= 1 and image.error is None and not image.cuts and other.contains(part)


def _edits(part: PartitionSite) -> Iterator[Edit]:
    yield Aside(part.dir)
    yield from without_entries(part)


def _place(part: PartitionSite) -> str:
    return f"{part.view.where.log_dir}/{part.dir}"


def _proof(part: PartitionSite) -> Evidence:
    found = whole_log(part)
    return found._replace(file=f"{part.view.where.log_dir}/{found.file}")


REPAIR = Repair(
    name="move-aside-duplicates",
    rank=20,
    scope=Scope.LOG_DIR,
    rules=("KC304",),
    plan=plan,
    page=__doc__,
)
