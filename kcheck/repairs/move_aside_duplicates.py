"""Move one of two directories of a partition aside, if the other one holds all of its batches.

If each directory holds records that the other does not, the repair is refused. The files do not show which is right.
The repair is also refused if both log dirs hold the metadata log. They may belong to two nodes that claim one node id.
"""

from collections.abc import Iterator

from kcheck.model.finding import Finding
from kcheck.model.names import DirectoryState
from kcheck.repairs._contract import (
    AsideEdit,
    Edit,
    Evidence,
    Impact,
    LogDirSite,
    PartitionSite,
    Refused,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
)
from kcheck.repairs._entries import without_entries
from kcheck.repairs._files import stands_in, whole_log


def plan(own_log_dir: LogDirSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield the directory that goes, of whichever log dir it is."""
    known: dict[tuple[str, int, DirectoryState], list[PartitionSite]] = {}
    for directory in (
        directory for log_dir in (own_log_dir, *own_log_dir.siblings) for directory in log_dir.partitions
    ):
        known.setdefault(_key(directory), []).append(directory)
    own = {part.dir: part for part in own_log_dir.partitions}
    for finding in findings:
        part = own.get(finding.where.dir or "")
        twins = () if part is None else (part, *(directory for directory in known[_key(part)] if directory is not part))
        if len(twins) != 2:
            yield Refused(
                finding,
                f"kcheck read {len(twins)} of its directories; name all log dirs of the broker",
            )
            continue
        if all(any(held.view.is_metadata_log for held in twin.log_dir.partitions) for twin in twins):
            yield Refused(
                finding,
                "both log dirs hold the metadata log, and may be of two nodes with one node id (KC501)",
            )
            continue
        # A log dir that knows a high watermark of the partition is the one in which it lived.
        one, other = sorted(twins, key=lambda part: part.view.high_watermark is not None)
        goes = next((part for part, stays in ((one, other), (other, one)) if stands_in(part, stays)), None)
        if goes is None:
            yield Refused(finding, "each of the two directories holds something that the other does not")
            continue
        stays = one if goes is other else other
        reason = f"{_place(stays)} holds every batch of {_place(goes)}"
        if stands_in(stays, goes):
            reason = f"both copies have the same batches, and {_place(stays)} stays"
        yield RepairStep(
            finding, tuple(_edits(goes)), reason, (_proof(stays),),
            holder=f"{_place(stays)} holds every batch", log_dir=goes.log_dir,
        )  # fmt: skip


def _key(part: PartitionSite) -> tuple[str, int, DirectoryState]:
    return part.view.topic, part.view.partition, part.view.state


def _edits(part: PartitionSite) -> Iterator[Edit]:
    yield AsideEdit(part.dir)
    yield from without_entries(part)


def _place(part: PartitionSite) -> str:
    return f"{part.view.where.log_dir}/{part.dir}"


def _proof(part: PartitionSite) -> Evidence:
    evidence = whole_log(part)
    return evidence._replace(file=f"{part.view.where.log_dir}/{evidence.file}")


REPAIR = Repair(
    name="move-aside-duplicates",
    rank=20,
    scope=RepairScope.LOG_DIR,
    rules=("KC304",),
    plan=plan,
    impact=Impact.ASIDE,
    page=__doc__,
)
