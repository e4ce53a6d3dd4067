"""The records that a step removes, or that the next start would lose because of it."""

from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import NamedTuple

from kcheck.core.start.predictions import LogDirPrediction, total_loss
from kcheck.model.entries import Offset
from kcheck.model.loss import LostRecords
from kcheck.plans.edited_log_dir import EditedLogDir
from kcheck.plans.edited_partition import EditedPartition
from kcheck.plans.least_steps import PlannedStep
from kcheck.repairs import EntryEdit, RepairStep
from kcheck.words import lost_words, record_count


def scope_row(step: RepairStep) -> dict[str, object]:
    """Return whether the records are lost for the cluster or this disk, and who must lead first.

    The counts are for this disk.
    """
    if step.holder is None:
        return {"scope": "disk", "cluster_records": None}
    first = {} if step.leader is None else {"leader": step.leader}
    return {"scope": "cluster", "cluster_records": 0, **first}


def worse(before: list[LogDirPrediction], after: list[LogDirPrediction]) -> str | None:
    """Return the records that the next start would discard because of a step that discards nothing itself."""
    known = {(start.path, part.dir): part.lost for start in before for part in start.partitions}
    for start in after:
        for part in start.partitions:
            was, now = known.get((start.path, part.dir)), part.lost
            if now is not None and (was is None or _count(now) > _count(was)):
                return f"the next start would then discard {in_words(now)} of {part.dir}: only with --accept-loss"
    return None


def _count(lost: LostRecords) -> float:
    return inf if lost.records is None else lost.records


def lost_with(log_dir: EditedLogDir, step: RepairStep) -> LostRecords | None:
    """Return the records that go with a step; None if none is known to."""
    dirs = dict.fromkeys(edit.path.partition("/")[0] for edit in step.edits)
    parts = [part for name in dirs if (part := log_dir.by_dir.get(name)) is not None and not part.gone]
    losses = ((part, part.loss(step.edits)) for part in parts)
    return _known(total_loss(counted(part, loss) for part, loss in losses if loss is not None))


def counted(partition: EditedPartition, lost: LostRecords) -> LostRecords:
    """Return lost records with their number, where an intact replica (`--against`) has it."""
    if lost.records is not None or lost.start is None:
        return lost
    for holder in partition.holders():
        count, end = _records_between(holder, lost.start, lost.end)
        if count > lost.counted:
            return lost._replace(records=count, end=end, counted=0)
    return lost


def _records_between(holder: EditedPartition, start: Offset, end: Offset | None) -> tuple[int, Offset]:
    """Return how many records the batches from `start` to `end` have, or the batch at `start`; and where they end."""
    count, last = 0, start
    for columns in holder.windows():
        base, ends = columns.base_offset, columns.last_offset + 1
        chosen = base == start if end is None else (base >= start) & (ends <= end)
        count += int(columns.record_count[chosen].sum())
        last = max(last, Offset(int(ends[chosen].max(initial=0))))
    return count, last if end is None else end


def why_refused(planned: PlannedStep) -> str:
    """Return why a step that discards records is not planned, and what the next start loses as it is."""
    assert planned.lost is not None
    log_dir, lost = planned.edited, planned.lost
    part = next((part for name in sorted(planned.dirs) if (part := log_dir.by_dir.get(name)) is not None), None)
    beside = "" if part is None else _beside_start(log_dir, part, planned.step, lost)
    holders = () if part is None else part.holders()
    others = ", or --against a replica that has them"
    if holders:
        where = holders[0].view.where
        others = f"; broker {where.broker_id} has offsets up to {holders[0].view.log_end_offset}"
    return f"it discards {in_words(lost)}{beside}: only with --accept-loss{others}"


def _beside_start(log_dir: EditedLogDir, partition: EditedPartition, step: RepairStep, lost: LostRecords) -> str:
    now = log_dir.start_of(partition, {})
    loss = None if now is None else now.lost or now.unproven
    if loss is None:
        return ""
    loses = counted(partition, loss)
    saved = loses.at_least - lost.at_least
    if saved > 0:
        restore = partition.saved()
        for edit in step.edits:
            if not isinstance(edit, EntryEdit):
                partition.edit(edit, edit.path.partition("/")[2])
        after = log_dir.start_of(partition, {})
        restore()
        saved -= 0 if after is None or after.lost is None else after.lost.at_least
    if saved > 0:
        return f", and saves {record_count(saved)} that the next start loses"
    return ", as the next start does" if loses.at_least >= lost.at_least else ""


class PartitionLoss(NamedTuple):
    """The loss of a partition on this disk, without and with a plan."""

    log_dir: str
    """The log dir."""
    dir: str
    """The partition directory."""
    start_loses: LostRecords | None
    """The loss of the next start without the plan."""
    plan_loses: LostRecords | None
    """The loss by the steps of the plan and the next start after them."""

    @property
    def saved(self) -> int:
        """Number of records that the plan saves at least."""
        start, plan = (0 if lost is None else lost.at_least for lost in (self.start_loses, self.plan_loses))
        return max(start - plan, 0)


def partition_losses(
    log_dirs: Iterable[EditedLogDir],
    starts: tuple[Iterable[LogDirPrediction], Iterable[LogDirPrediction]],
    discarded: Mapping[tuple[str, str], list[LostRecords]],
) -> Iterator[PartitionLoss]:
    """Yield the partitions that lose records without or with the plan, except partitions that it moves aside.

    `starts` are the predictions without and with the plan. `discarded` are the records that its steps remove.
    """
    before, after = (
        {(start.path, part.dir): part.lost or part.unproven for start in group for part in start.partitions}
        for group in starts
    )
    for log_dir in log_dirs:
        for partition in log_dir.partitions:
            place = (log_dir.path, partition.dir)
            now, later = before.get(place), after.get((log_dir.path, partition.named[0]))
            losses = [*discarded.get(place, ()), *(() if later is None else (later,))]
            with_plan = _known(total_loss(counted(partition, lost) for lost in losses))
            without = None if now is None else _known(counted(partition, now))
            if not partition.gone and (without or with_plan):
                yield PartitionLoss(*place, without, with_plan)


def _known(lost: LostRecords | None) -> LostRecords | None:
    return lost if lost is not None and lost.is_known else None


def in_words(lost: LostRecords) -> str:
    """Return lost records in words."""
    below = lost.below_high_watermark
    return f"{lost_words(lost)}, {lost.bytes} bytes" + ("" if below is None else f", {below} below the high watermark")
