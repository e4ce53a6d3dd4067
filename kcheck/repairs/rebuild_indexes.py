"""Rebuild the indexes of a segment, byte for byte as a broker's recovery writes them.

The repair requires that every batch of the log is valid. If a broker recovers a segment because of a missing index, it
truncates it at the first corrupt batch, without a warning.
"""

from collections.abc import Iterator

from kcheck.model.finding import Finding
from kcheck.model.names import INDEX_ENDINGS
from kcheck.repairs._contract import (
    Evidence,
    Impact,
    PartitionSite,
    Refused,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
    WriteEdit,
)
from kcheck.repairs._files import DAMAGE, path_of, unsettled, whole_log


def plan(partition: PartitionSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield the indexes of each segment of which one is wrong."""
    by_segment: dict[str, list[Finding]] = {}
    for finding in findings:
        by_segment.setdefault((finding.where.file or "")[:20], []).append(finding)
    image, damaged = partition.image(), unsettled(partition, DAMAGE)
    evidence: tuple[Evidence, ...] = ()
    for prefix, about in sorted(by_segment.items()):
        finding = max(about, key=lambda candidate: candidate.severity.rank)
        if f"{prefix}.log" not in partition.names:
            continue  # It went with its segment.
        if damaged is not None:
            yield Refused(finding, f"{damaged.where.file} is corrupt: {damaged.message}")
        elif image.fault is not None:
            yield Refused(finding, f"the log is not valid to its end: {image.fault}")
        else:
            names = [prefix + ending for ending in INDEX_ENDINGS]
            built = ((name, image.files[name]) for name in names if name in image.files)
            edits = tuple(
                WriteEdit(path_of(partition, name), data) for name, data in built if data != partition.read(name)
            )
            if edits:
                evidence = evidence or (whole_log(partition),)
                written = ", ".join(edit.path.rpartition("/")[2] for edit in edits)
                reason = f"rebuild {written} from {prefix}.log"
                yield RepairStep(finding, edits, reason, evidence)


REPAIR = Repair(
    name="rebuild-indexes",
    rank=60,
    scope=RepairScope.PARTITION,
    rules=("KC151", "KC152", "KC153", "KC154", "KC155", "KC161", "KC162", "KC171", "KC172", "KC234"),
    plan=plan,
    impact=Impact.INDEX,
    page=__doc__,
)
