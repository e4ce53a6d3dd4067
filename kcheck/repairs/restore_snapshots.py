"""Move a wrong producer snapshot aside, if a right one remains.

The broker then loads the older snapshot and reads the rest of the log. Without any snapshot it would forget every
producer after a clean shutdown. So if no right snapshot remains, the repair writes one from a replay of the log. That
requires that the log starts at offset 0 and was never compacted. After an unclean shutdown the broker does that itself
at its start.
"""

from collections.abc import Iterator

from kcheck.formats import producer_snapshot
from kcheck.model.finding import Finding, Severity
from kcheck.model.names import FileKind, parse_file
from kcheck.repairs._contract import (
    AsideEdit,
    Edit,
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
from kcheck.repairs._files import DAMAGE, bases, path_of, unsettled, whole_log


def plan(partition: PartitionSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield one step for all snapshots that are wrong."""
    wrong: dict[str, Finding] = {}
    for finding in findings:
        if finding.id == "KC184" and not _snapshots(partition):
            if finding.severity is not Severity.INFO:  # Else the start reads the log through, and writes it.
                yield _replayed(partition, finding, [])
            return
        end = finding.data.get("log_end_offset")
        names = [finding.where.file] if finding.where.file else _above(partition, end)
        wrong |= {name: finding for name in names if name in partition.names}
    if not wrong:
        return
    worst = max(wrong.values(), key=lambda candidate: candidate.severity.rank)
    good = [name for name in sorted(_snapshots(partition)) if name not in wrong and _is_sound(partition, name)]
    damaged = unsettled(partition, DAMAGE)
    image = partition.image()
    if damaged is not None or image.fault is not None:
        why = damaged.message if damaged is not None else image.fault
        yield Refused(worst, f"the log is not valid to its end, so the broker cannot rebuild the snapshot: {why}")
    elif not good:
        yield _replayed(partition, worst, sorted(wrong))
    else:
        edits = tuple(AsideEdit(path_of(partition, name)) for name in sorted(wrong))
        what = f"this snapshot is right; {len(good)} remain"
        evidence = (Evidence(path_of(partition, good[-1]), None, crc_verified=True, what=what),)
        yield RepairStep(worst, edits, f"let the broker load {good[-1]} and read the log from there", evidence)


def _replayed(partition: PartitionSite, finding: Finding, names: list[str]) -> RepairOutcome:
    image, view = partition.image(), partition.view
    written = {name: data for name, data in image.files.items() if name.endswith(".snapshot")}
    if not written or bases(partition)[0] != 0 or view.log_start_offset != 0 or view.cleaned is not False:
        return Refused(finding, "no right snapshot remains, and the log is not complete from offset 0")
    edits: list[Edit] = [AsideEdit(path_of(partition, name)) for name in names if name not in written]
    edits += [WriteEdit(path_of(partition, name), data) for name, data in sorted(written.items())]
    return RepairStep(finding, tuple(edits), "rebuild the snapshot from a replay of the log", (whole_log(partition),))


def _snapshots(partition: PartitionSite) -> list[str]:
    parsed = ((name, parse_file(name)) for name in partition.names)
    return [n for n, file in parsed if file.kind is FileKind.PRODUCER_SNAPSHOT and not file.suffix and file.canonical]


def _above(partition: PartitionSite, end: object) -> list[str]:
    if not isinstance(end, int):
        return []
    return [name for name in _snapshots(partition) if (parse_file(name).offset or 0) > end]


def _is_sound(partition: PartitionSite, name: str) -> bool:
    """Return whether the broker accepts a snapshot, which is readable and in the log."""
    offset, start, end = parse_file(name).offset, partition.view.log_start_offset, partition.image().log_end_offset
    data = partition.read(name)
    inside = offset is not None and start is not None and start < offset <= end
    return inside and data is not None and producer_snapshot.broker_reads(data, partition.release).error is None


REPAIR = Repair(
    name="restore-snapshots",
    rank=70,
    scope=RepairScope.PARTITION,
    rules=("KC181", "KC182", "KC184", "KC185"),
    plan=plan,
    impact=Impact.INDEX,
    page=__doc__,
)
