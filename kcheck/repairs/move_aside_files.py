"""Move files that no broker needs out of a partition directory.

These are copies, notes, and directories with the name of a file. Others are leftovers of an interrupted deletion,
compaction or write. A `.swap` waits to replace segments, and the broker does that itself. The repair moves it aside
only if its batches are corrupt and the segments that it would replace are intact.
"""

from collections.abc import Iterator

from kcheck.model.finding import Finding, Severity
from kcheck.model.names import CLEANED, DELETED, PARTITION_METADATA, SWAP, TEMPORARY, FileKind, is_stranger, parse_file
from kcheck.repairs._contract import (
    AsideEdit,
    Evidence,
    Impact,
    PartitionSite,
    Refused,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
    Settled,
)
from kcheck.repairs._files import path_of, whole_log
from kcheck.words import offset_range


def plan(partition: PartitionSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield the outcome of each file, or of all files of one kind."""
    for finding in findings:
        if finding.id == "KC225":
            yield _stray(partition, finding)
        elif finding.id == "KC226":
            yield from _leftover(partition, finding)
        elif finding.id == "KC227":
            yield from _alone(partition, finding)
        elif finding.id == "KC233":
            yield _directory(partition, finding)
        else:
            yield _swap(partition, finding)


def _aside(partition: PartitionSite, finding: Finding, names: list[str], reason: str, what: str) -> RepairStep:
    edits = tuple(AsideEdit(path_of(partition, name)) for name in names)
    return RepairStep(
        finding, edits, reason, (Evidence(path_of(partition, names[0]), None, crc_verified=None, what=what),)
    )


def _stray(partition: PartitionSite, finding: Finding) -> RepairOutcome:
    if finding.where.file is None:
        return _strangers(partition, finding)
    name = finding.where.file
    if name not in partition.names:
        return Settled(finding)  # Already moved with other leftovers.
    size = partition.size(name)
    if parse_file(name).kind is FileKind.LOG and size:
        return Refused(finding, f"the file may hold records: {size} bytes under a name that no broker opens")
    return _aside(partition, finding, [name], "move aside a file that is not Kafka's", "no broker writes this name")


def _strangers(partition: PartitionSite, finding: Finding) -> RepairOutcome:
    """Move the files that kcheck knows by name; a plan after this one moves the next of them."""
    names = sorted(filter(is_stranger, partition.names))
    more = f", {len(names)} of {finding.data['count']}" if partition.view.strangers else ""
    return _aside(
        partition, finding, names, f"move aside files that are not Kafka's{more}", "no broker writes these names"
    )


def _directory(partition: PartitionSite, finding: Finding) -> RepairOutcome:
    """Move a directory with the name of a file aside, unless that leaves a file missing."""
    name = finding.where.file or ""
    file = parse_file(name)
    if name == PARTITION_METADATA:
        return Refused(finding, "replace it with the partition.metadata of another partition of the topic")
    if file.kind is FileKind.LOG and file.canonical and not file.suffix:
        return Refused(finding, "the directory may hold the records of the segment; look into it, and move it by hand")
    in_use = finding.severity in (Severity.ERROR, Severity.FATAL) and file.suffix != TEMPORARY
    if in_use and file.kind is not FileKind.PRODUCER_SNAPSHOT:
        return Refused(finding, "a file is missing in its place; move the directory by hand, then plan again")
    return _aside(
        partition,
        finding,
        [name],
        "move aside a directory with the name of a file",
        "no broker creates a directory like this",
    )


def _leftover(partition: PartitionSite, finding: Finding) -> Iterator[RepairOutcome]:
    suffix = str(finding.data["suffix"])
    names = sorted(name for name in partition.names if parse_file(name).suffix == suffix)
    if suffix == SWAP:
        yield Refused(finding, "the broker itself replaces the segments with the .swap")
    elif suffix == CLEANED and any(name.endswith(SWAP) for name in partition.names):
        yield Refused(finding, "the broker needs the .cleaned file to decide which .swap files to keep")
    elif names:
        # The indexes of a segment whose .log was renamed already are left over as well.
        renamed = frozenset(names)
        names += [name for name in _without_log(partition) if f"{name[:20]}.log{suffix}" in renamed]
        words = {CLEANED: "an unfinished compaction", DELETED: "a deletion", TEMPORARY: "an unfinished write"}
        reason = f"move aside the files left over from {words[suffix]}"
        yield _aside(partition, finding, names, reason, f"no start reads a {suffix} file")


def _alone(partition: PartitionSite, finding: Finding) -> Iterator[RepairOutcome]:
    names = _without_log(partition)
    if names:
        what = "no .log has this base offset, so the broker would delete the index"
        yield _aside(partition, finding, names, "move aside indexes without a segment", what)


def _without_log(partition: PartitionSite) -> list[str]:
    logs = {name[:20] for name in partition.names if name.endswith(".log")}
    indexes = (FileKind.INDEX, FileKind.TIME_INDEX, FileKind.TRANSACTION_INDEX)
    parsed = [(name, parse_file(name)) for name in sorted(partition.names)]
    return [name for name, file in parsed if file.kind in indexes and not file.suffix and name[:20] not in logs]


def _swap(partition: PartitionSite, finding: Finding) -> RepairOutcome:
    """Move all swaps aside if the segments that they replace exist, are intact, and hold all their offsets."""
    image = partition.image()
    names = sorted(name for name in partition.names if name.endswith(SWAP))
    if any(name.endswith(CLEANED) for name in partition.names):
        return Refused(finding, "a .cleaned file exists too, so a split was in progress")
    if image.fault is not None:
        return Refused(finding, f"the segments to be replaced are corrupt: {image.fault}")
    ends = [(swap.base_offset, swap.end_offset) for swap in partition.view.swaps]
    logs = [(log.base_offset, log.end_offset) for log in partition.view.read or ()]
    for base, end in ends:
        covered = base
        for first, last in logs:
            covered = max(covered, last) if first <= covered else covered
        if not any(first <= base < max(last, first + 1) for first, last in logs) or covered < end:
            return Refused(finding, f"the segments to be replaced no longer hold {offset_range(base, end)}")
    step = _aside(
        partition, finding, names, "keep the segments as they were before the compaction", "the .swap is corrupt"
    )
    return step._replace(evidence=(*step.evidence, whole_log(partition)))


REPAIR = Repair(
    name="move-aside-files",
    rank=40,
    scope=RepairScope.PARTITION,
    rules=("KC225", "KC226", "KC227", "KC228", "KC233"),
    plan=plan,
    impact=Impact.INDEX,
    page=__doc__,
)
