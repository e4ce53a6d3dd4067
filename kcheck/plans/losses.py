"""The records that a step removes, or that the next start would lose because of it."""

from math import inf

from kcheck.core.predictions import LogDirPrediction, LostRecords, total_loss
from kcheck.model.entries import Offset
from kcheck.plans.edited_log_dir import EditedLogDir
from kcheck.repairs._contract import CutEdit, RepairStep


def scope_row(step: RepairStep) -> dict[str, object]:
    """Return whether the records are lost for the cluster: the counts are those of this disk."""
    return (
        {"scope": "disk", "cluster_records": None} if step.held is None else {"scope": "cluster", "cluster_records": 0}
    )


def worse(before: list[LogDirPrediction], after: list[LogDirPrediction]) -> str | None:
    """Return what the next start would discard because of a step that discards nothing itself."""
    known = {(start.path, part.dir): part.lost for start in before for part in start.partitions}
    for start in after:
        for part in start.partitions:
            was, now = known[start.path, part.dir], part.lost
            if now is not None and (was is None or _count(now) > _count(was)):
                return f"the next start would then discard {in_words(now)} of {part.dir}: only with --accept-loss"
    return None


def _count(lost: LostRecords) -> float:
    return inf if lost.records is None else lost.records


def lost_with(log_dir: EditedLogDir, step: RepairStep) -> LostRecords | None:
    """Return the records that go with a step."""
    dirs = dict.fromkeys(edit.path.partition("/")[0] for edit in step.edits)
    parts = [part for name in dirs if (part := log_dir.by_dir.get(name)) is not None]
    losses = [part.loss(step.edits) for part in parts if not part.gone]
    known = [loss for loss in losses if loss is not None]
    if not known and step.hole is not None:
        first, behind = (Offset(loss) for loss in step.hole)
        cut = [(part, edit) for part in parts for edit in step.edits
               if isinstance(edit, CutEdit) and edit.path.startswith(f"{part.dir}/")]  # fmt: skip
        size = sum(part.size(edit.path.rpartition("/")[2]) - edit.size for part, edit in cut)
        return LostRecords(first, behind, None, size, None)
    return total_loss(known)


def in_words(lost: LostRecords) -> str:
    """Return lost records in words."""
    records = "an unknown number of records" if lost.records is None else f"{lost.records} records"
    offsets = "" if lost.start is None or lost.end is None else f" (offsets {lost.start} to {lost.end - 1})"
    below = lost.below_high_watermark
    return f"{records}{offsets}, {lost.bytes} bytes" + ("" if below is None else f", {below} below the high watermark")
