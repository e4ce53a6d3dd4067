"""Rewrite an offset checkpoint with provable values only, which the repair lowers or removes, but never raises.

- recovery-point-offset-checkpoint: The repair removes a value above the log end, and every value of a corrupt file.
  After an unclean shutdown the broker then scans these logs.
- replication-offset-checkpoint: The repair lowers a value above the log end to the log end. A value is removed only if
  the leader-epoch-checkpoint of the partition has entries. Otherwise a follower would lose its complete log.
- log-start-offset-checkpoint: The repair removes a value above the log end, so that the broker keeps the partition.
  An unreadable line is removed too. Records that DeleteRecords removed there may become readable again.
- cleaner-offset-checkpoint: The repair removes the same values as for the recovery point. The broker cleans the log
  from the beginning again.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.formats import offset_checkpoint
from kcheck.formats.offset_checkpoint import OffsetCheckpoint
from kcheck.model.entries import Offset, OffsetEntry
from kcheck.model.finding import Finding
from kcheck.model.names import (
    CLEANER_OFFSET,
    LOG_START,
    OFFSET_CHECKPOINTS,
    RECOVERY_POINT,
    REPLICATION_OFFSET,
    is_legal_topic,
)
from kcheck.repairs._contract import (
    Evidence,
    Impact,
    LogDirSite,
    PartitionSite,
    Refused,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
    WriteEdit,
)
from kcheck.repairs._entries import serialized
from kcheck.repairs._epochs import entries_of
from kcheck.repairs._files import DAMAGE, unsettled
from kcheck.words import partition_name

_NOT_HERE = ("KC302", "KC307")
"""Rules about lines of partitions that this log dir does not hold. They change only the cleaner's file."""


class _Kept(NamedTuple):
    entries: tuple[OffsetEntry, ...]
    changes: tuple[str, ...]
    why_not: str | None = None


def plan(log_dir: LogDirSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield one rewritten file for all findings about it."""
    for name in OFFSET_CHECKPOINTS:
        about = [finding for finding in findings if name in (finding.where.file, finding.data.get("file"))]
        data = log_dir.read(name)
        if not about or data is None:
            continue
        if name != CLEANER_OFFSET and all(finding.id in _NOT_HERE for finding in about):
            continue  # No broker looks these lines up.
        answer = _answer(log_dir, name, data, about)
        if answer is not None:
            yield answer


def _answer(log_dir: LogDirSite, name: str, data: bytes, about: list[Finding]) -> RepairOutcome | None:
    finding = max(about, key=lambda candidate: candidate.severity.rank)
    parsed = offset_checkpoint.parse(data)
    reset = name in (RECOVERY_POINT, CLEANER_OFFSET) and _is_refused(data, log_dir)
    if reset:
        kept = _Kept((), ("remove all values: the file is unreadable, and the broker does not need them",))
    else:
        kept = _kept(log_dir, name, tuple(parsed.value), {candidate.id for candidate in about})
    if name == LOG_START and kept.why_not is None and not data.endswith(b"\n") and tuple(parsed.value):
        kept = kept._replace(why_not="the last line is incomplete, and may lack digits of its offset")
    if name == REPLICATION_OFFSET and kept.why_not is None:
        kept = kept._replace(
            why_not=_without_mark(log_dir, parsed.value, kept.entries, refused=_is_refused(data, log_dir))
        )
    if kept.why_not is not None:
        return Refused(finding, kept.why_not)
    entries = kept.entries
    written = serialized(list(entries))
    if written == data:
        return None  # The repair of the log has corrected it already.
    unread = sum(not defect.accepted for defect in parsed.defects)
    lines = f"{len(entries)} of {len(parsed.value)} readable lines kept"
    broken = "" if not unread else f", {unread} unreadable"
    evidence = [Evidence(name, None, crc_verified=None, what=lines + broken)]
    evidence += _ends(log_dir, entries, tuple(parsed.value))
    reason = "; ".join(kept.changes) or "rewrite the file so that the broker reads it; every value is from the old file"
    return RepairStep(finding, (WriteEdit(name, written),), reason, tuple(evidence), settles=tuple(about))


def _is_refused(data: bytes, log_dir: LogDirSite) -> bool:
    return offset_checkpoint.broker_reads(data, log_dir.release).error is not None


def _kept(log_dir: LogDirSite, name: str, entries: tuple[OffsetEntry, ...], rules: set[str]) -> _Kept:
    """Return the entries that stay, lowered where need be, and what was done to the others."""
    values: dict[tuple[str, int], set[int]] = {}
    for entry in entries:
        values.setdefault((entry.topic, entry.partition), set()).add(entry.offset)
    kept: list[OffsetEntry] = []
    changes: list[str] = []
    for (topic, partition), stated in values.items():
        offsets = stated
        end, there = log_dir.end_of(topic, partition)
        where = partition_name(topic, partition)
        if not is_legal_topic(topic) or partition < 0:
            changes.append(f"remove a line that names no partition: {topic!r} {partition}")
            continue
        if name == CLEANER_OFFSET and rules & {*_NOT_HERE} and not log_dir.holds(topic, partition):
            changes.append(f"remove the line of {where}: it is not in this log dir")
            continue
        if name == LOG_START:
            offsets = {offset for offset in stated if end is None or offset <= end}
            if len(offsets) > 1:
                return _Kept((), (), f"{where} has {len(offsets)} log starts, and the files do not show which is right")
        low = min(offsets, default=None)
        if low is None or low < 0 or (name == RECOVERY_POINT and end is not None and low > end):
            why = "above the log end" if low is None else "outside the log"
            changes.append(f"remove the line of {where}: its value {'' if low is None else f'{low} '}is {why}")
            continue
        if name == REPLICATION_OFFSET and end is not None and low > end and there is not None:
            damaged = unsettled(there, (*DAMAGE, "KC221"))
            if damaged is not None:
                # It proves that the damaged part held committed records.
                return _Kept(
                    (),
                    (),
                    f"{name} stays as it is, because the high watermark of {where} shows the loss of its corrupt log"
                    f" ({damaged.id})",
                )
            changes.append(f"lower {where} from {low} to its log end {end}")
            low = end
        elif len(offsets) > 1:
            changes.append(f"keep the lowest of {len(offsets)} values for {where}, {low}")
        kept.append(OffsetEntry(topic, partition, Offset(low)))
    return _Kept(tuple(kept), tuple(changes))


def _without_mark(
    log_dir: LogDirSite, stated: OffsetCheckpoint, kept: tuple[OffsetEntry, ...], *, refused: bool
) -> str | None:
    """Return why a high watermark must not be left out, as the partition has no leader epochs."""
    left = {(entry.topic, entry.partition) for entry in kept}
    gone = {(entry.topic, entry.partition) for entry in stated} - left
    for partition in log_dir.partitions:
        view = partition.view
        key = (view.topic, view.partition)
        if key in left or not (refused or key in gone) or not _has_records(partition):
            continue
        if not entries_of(partition):
            return f"without high watermark and leader epochs {partition.dir} would lose all records as a follower"
    return None


def _has_records(partition: PartitionSite) -> bool:
    return any(segment.size for segment in partition.view.segments)


def _ends(log_dir: LogDirSite, kept: tuple[OffsetEntry, ...], stated: tuple[OffsetEntry, ...]) -> Iterator[Evidence]:
    """Yield where the logs end whose values change."""
    stays = frozenset(kept)
    for entry in dict.fromkeys(stated):
        if entry in stays:
            continue
        end, partition = log_dir.end_of(entry.topic, entry.partition)
        if end is not None and partition is not None:
            what = f"the log of {partition.dir} ends at offset {end}"
            yield Evidence(partition.dir, None, crc_verified=None, what=what)


REPAIR = Repair(
    name="rewrite-offset-checkpoints",
    rank=90,
    scope=RepairScope.LOG_DIR,
    rules=("KC101", "KC102", "KC104", "KC105", "KC211", "KC212", "KC213", "KC214", "KC302", "KC307"),
    plan=plan,
    impact=Impact.CHECKPOINT,
    page=__doc__,
)
