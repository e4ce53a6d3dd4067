"""The indexes of a segment are written anew, byte for byte as a broker's recovery of the segment writes them.

Only where every batch of the log is whole: a broker that recovers a segment for its missing index cuts it at the first
damaged batch, and never says so.
"""

from collections.abc import Iterator

from kcheck.model.finding import Finding
from kcheck.repairs._contract import Answer, Edit, PartitionSite, Refused, Repair, Scope, Step, Write
from kcheck.repairs._files import DAMAGE, INDEX_ENDINGS, log_name, path_of, unsettled, whole_log


def plan(site: PartitionSite, findings: tuple[Finding, ...]) -> Iterator[Answer]:
    """Yield the indexes of each segment of which one is wrong."""
    by_segment: dict[str, list[Finding]] = {}
    for finding in findings:
        by_segment.setdefault((finding.where.file or "")[:20], []).append(finding)
    for prefix, about in sorted(by_segment.items()):
        yield from _segment(site, prefix, max(about, key=lambda each: each.severity.rank))


def _segment(site: PartitionSite, prefix: str, finding: Finding) -> Iterator[Answer]:
    if f"{prefix}.log" not in site.names:
        return  # It went with its segment.
    damaged = unsettled(site, DAMAGE)
    image = site.image()
    if damaged is not None:
        where = damaged.where
        yield Refused(finding, f"{where.file} is damaged: {damaged.message}")
        return
    if image.error is not None or image.cuts:
        yield Refused(finding, f"the log cannot be read through: {image.error or image.cuts[0].why}")
        return
    edits: list[Edit] = []
    for ending in INDEX_ENDINGS:
        name = prefix + ending
        built = image.files.get(name)
        if built is not None and built != site.read(name):
            edits.append(Write(path_of(site, name), built))
    if edits:
        names = ", ".join(edit.path.rpartition("/")[2] for edit in edits)
        yield Step(finding, tuple(edits), f"as a recovery of {log_name(int(prefix))} writes them: {names}",
                   (whole_log(site),))  # fmt: skip


REPAIR = Repair(
    name="rebuild-indexes",
    rank=60,
    scope=Scope.PARTITION,
    rules=("KC151", "KC152", "KC153", "KC154", "KC155", "KC161", "KC162", "KC171", "KC172"),
    plan=plan,
    page=__doc__,
)
