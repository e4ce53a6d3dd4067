"""Chooses the least set of repair steps without which the next start ends differently.

The broker repairs the rest itself. kcheck simulates the next start of a partition without a step. If the broker then
serves the same log, and leaves the same files, the step is not needed. kcheck tries the steps with the largest changes
first.
"""

from collections.abc import Mapping

from kcheck.core.start.predictions import Content, LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import NOT_SERVED, Outcome
from kcheck.model.entries import Offset
from kcheck.model.finding import Severity
from kcheck.model.loss import LostRecords
from kcheck.model.names import (
    CLEANER_OFFSET,
    INDEX_ENDINGS,
    LOG_START,
    PARTITION_METADATA,
    RECOVERY_POINT,
    REPLICATION_OFFSET,
    FileKind,
    parse_file,
)
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.plans.edited_log_dir import EditedLogDir
from kcheck.plans.edited_partition import EditedPartition
from kcheck.repairs import AsideEdit, Edit, EntryEdit, Impact, RenameEdit, RepairStep, WriteEdit
from kcheck.startup.virtual_files import StartError, read_content
from kcheck.words import some_reasons

_UNDECIDED = (Outcome.ABORT, Outcome.OFFLINE, Outcome.UNKNOWN)
"""Outcomes that do not show the changes of a step."""
_REASON_COUNT = 1


class PlannedStep:
    """A step with the log dir of its finding, the log dir that it edits, and the removed records.

    `needed` describes the next start without the step.
    """

    def __init__(
        self, shown: EditedLogDir, edited: EditedLogDir, step: RepairStep, lost: LostRecords | None, impact: Impact
    ) -> None:
        """Take a step whose edits are made."""
        self.shown: EditedLogDir = shown
        self.edited: EditedLogDir = edited
        self.step: RepairStep = step
        self.lost: LostRecords | None = lost
        self.impact: Impact = impact
        self.needed: str = step.finding.effect

    @property
    def dirs(self) -> frozenset[str]:
        """The partition directories that it edits; the empty string for files next to them."""
        return frozenset(_dir_of(self.edited, edit) for edit in self.step.edits if not isinstance(edit, EntryEdit))

    @property
    def is_certain(self) -> bool:
        """True if only a rule can tell the result without the step, and the rule calls it severe."""
        severity = self.step.finding.severity
        renames = any(isinstance(edit, RenameEdit) for edit in self.step.edits)
        if renames or severity is Severity.FATAL or self.lost is not None or self.step.holder is not None:
            return True
        if any(edit.path.endswith(PARTITION_METADATA) for edit in self.step.edits):
            return severity is Severity.ERROR  # Whether the broker serves it is not known from the log.
        if any(edit.path == CLEANER_OFFSET for edit in self.step.edits):
            return severity is not Severity.INFO  # No start reads it.
        return severity is Severity.ERROR and ("" in self.dirs or self.moves_unread or self._moves_directory)

    @property
    def _moves_directory(self) -> bool:
        """True if it moves a directory that has the name of a file."""
        places = (edit.path.partition("/") for edit in self.step.edits if isinstance(edit, AsideEdit))
        return any(
            owner in self.edited.by_dir and self.edited.by_dir[owner].is_directory(name) for owner, _, name in places
        )

    @property
    def moves_unread(self) -> bool:
        """True if it only moves files that no start reads."""
        return all(isinstance(edit, AsideEdit) and _is_unread(edit.path.rpartition("/")[2]) for edit in self.step.edits)


def least_steps(planned: list[PlannedStep]) -> tuple[list[PlannedStep], list[PlannedStep]]:
    """Return the needed steps, and the others.

    All edits are made. Afterwards only edits of the needed steps remain.
    """
    starts: dict[str, LogDirPrediction] = {}
    groups: dict[tuple[str, str], list[PlannedStep]] = {}
    kept: set[int] = set()
    for step in planned:
        owner = min(step.dirs) if len(step.dirs) == 1 else ""
        groups.setdefault((step.edited.path, owner), []).append(step)
    for (_, owner), steps in groups.items():
        log_dir = steps[0].edited
        partition = log_dir.by_dir.get(owner)
        if partition is None or partition.gone:
            alone = (_judged_alone(step, starts) for step in steps)
            needed = [step for step in alone if step is not None]
        else:
            needed = _Chooser(log_dir, partition, steps).needed()
        kept |= {id(step) for step in needed}
    return [step for step in planned if id(step) in kept], [step for step in planned if id(step) not in kept]


def _judged_alone(step: PlannedStep, starts: dict[str, LogDirPrediction]) -> PlannedStep | None:
    """Return a step that edits files of a log dir; None if the next start is the same without it."""
    names = [edit.path for edit in step.step.edits if isinstance(edit, WriteEdit) and "/" not in edit.path]
    if step.is_certain or len(names) < len(step.step.edits) or not step.edited.lines_changed.isdisjoint(names):
        return step
    if step.edited.path not in starts:
        starts[step.edited.path] = step.edited.start()
    start = starts[step.edited.path]
    without, restore = step.edited.start_without(names)
    why = None if (without.outcome, without.reasons) == (start.outcome, start.reasons) else _outcome(without)
    known = {partition.dir: partition for partition in start.partitions}
    disks = {partition.named[0]: partition.disk for partition in step.edited.partitions}
    for partition in without.partitions:
        disk = disks[partition.dir]
        why = why or difference(disk, partition, known[partition.dir])
    if why is not None:
        restore()
        step.needed = why
        return step
    return None


class _Chooser:
    """Chooses the steps of one partition."""

    def __init__(self, log_dir: EditedLogDir, partition: EditedPartition, steps: list[PlannedStep]) -> None:
        """Take the steps in their order; their edits are made."""
        self._log_dir, self._partition, self._steps = log_dir, partition, steps
        self._final = log_dir.start_of(partition, {})
        self._why: dict[int, str] = {}
        self._states = {frozenset(range(len(steps))): partition.state()}

    def needed(self) -> list[PlannedStep]:
        """Return the needed steps, and leave only their edits made."""
        optional = [number for number, step in enumerate(self._steps) if self._may_go(step)]
        always = [number for number in range(len(self._steps)) if number not in optional]
        unserved = self._partition.is_unknown and self._final is not None and self._final.outcome in NOT_SERVED
        is_enough = unserved or self._without(always) is None
        kept = always if is_enough else sorted([*always, *self._left(always, optional)])
        self._make(kept)
        self._partition.forget()
        for number in kept:
            self._steps[number].needed = self._why.get(number, self._steps[number].needed)
        return [self._steps[number] for number in kept]

    def _may_go(self, step: PlannedStep) -> bool:
        if step.is_certain:
            return False
        return self._final is None or self._final.outcome not in _UNDECIDED or step.moves_unread

    def _left(self, always: list[int], optional: list[int]) -> list[int]:
        """Return the needed ones of the optional steps, together for each rule, the largest changes first."""
        rules = dict.fromkeys(self._rank(number) for number in sorted(optional, key=self._rank))
        groups = [[number for number in optional if self._rank(number) == rule] for rule in rules]
        kept: list[int] = []
        for place, group in enumerate(groups):
            others = [*always, *kept, *(number for later in groups[place + 1 :] for number in later)]
            kept += self._of_files(others, group) or self._bisected(others, group)
        return kept

    def _rank(self, number: int) -> tuple[int, str]:
        return -self._steps[number].impact, self._steps[number].step.finding.id

    def _of_files(self, others: list[int], group: list[int]) -> list[int]:
        """Return the steps whose files differ without the group, if nothing else differs; else an empty list.

        Most steps of a log with many files concern one file each. Then two simulated starts are enough for all of them.
        """
        self._make(sorted(others))
        start = self._log_dir.start_of(self._partition, self._stored(others))
        if start is None or self._final is None or served_otherwise(start, self._final) is not None:
            return []
        names = differing_files(self._partition.disk, start, self._final)
        prefix = f"{self._partition.dir}/"
        edited = {
            number: {edit.path.removeprefix(prefix) for edit in self._steps[number].step.edits} for number in group
        }
        kept = [number for number in group if not edited[number].isdisjoint(names)]
        if self._without([*others, *kept]) is not None:
            return []
        self._why |= {number: _leaves(min(edited[number] & names), start, self._final) for number in kept}
        return kept

    def _bisected(self, others: list[int], group: list[int]) -> list[int]:
        """Return the steps of a group that are needed in addition to the others."""
        why = self._without(others)
        if why is None:
            return []
        if len(group) == 1:
            self._why[group[0]] = why
            return group
        half = len(group) // 2
        first = self._bisected([*others, *group[half:]], group[:half])
        return first + self._bisected([*others, *first], group[half:])

    def _without(self, others: list[int]) -> str | None:
        """Return how the next start differs with these steps alone; None if it does not."""
        self._make(sorted(others))
        start = self._log_dir.start_of(self._partition, self._stored(others))
        if start is None or self._final is None:
            return None if start is self._final else "the next start does not load the directory"
        return difference(self._partition.disk, start, self._final)

    def _stored(self, others: list[int]) -> Mapping[str, Offset | None]:
        """Return the lines of checkpoints that are as before without the other steps."""
        view = self._partition.view
        stated = {
            RECOVERY_POINT: view.recovery_point,
            REPLICATION_OFFSET: view.high_watermark,
            LOG_START: view.log_start_checkpoint,
        }
        made = {
            edit.path for number in others for edit in self._steps[number].step.edits if isinstance(edit, EntryEdit)
        }
        edits = (edit for step in self._steps for edit in step.step.edits)
        return {
            edit.path: stated[edit.path]
            for edit in edits
            if isinstance(edit, EntryEdit) and edit.path not in made and edit.path in stated
        }

    def _make(self, numbers: list[int]) -> None:
        """Leave only the edits of these steps made."""
        key = frozenset(numbers)
        if key in self._states:
            self._partition.put(self._states[key])
            return
        self._partition.reset()
        for number in numbers:
            for edit in self._steps[number].step.edits:
                if not isinstance(edit, EntryEdit):
                    self._log_dir.edit(edit)
        self._states[key] = self._partition.state()


def difference(disk: Files, without: PartitionPrediction, final: PartitionPrediction) -> str | None:
    """Return how the served log or the files of the next start differ without a step; None if equal."""
    files = differing_files(disk, without, final)
    return served_otherwise(without, final) or (_leaves(min(files), without, final) if files else None)


def served_otherwise(without: PartitionPrediction, final: PartitionPrediction) -> str | None:
    """Return how the log that the broker serves differs without a step; None if it does not."""
    if _class_of(without) != _class_of(final):
        return _outcome(without)
    if without.lost != final.lost:
        return "the next start loses records"
    if (without.log is None) != (final.log is None) or without.high_watermark != final.high_watermark:
        return f"the high watermark becomes {without.high_watermark}"
    if without.log is not None and final.log is not None:
        before, after = without.log, final.log
        if (before.log_start_offset, before.log_end_offset) != (after.log_start_offset, after.log_end_offset):
            return f"the log starts at offset {before.log_start_offset} and ends at {before.log_end_offset}"
        if before.leader_epochs != after.leader_epochs:
            return "the leader epochs are wrong after the next start"
        if (before.recovery_point > before.log_end_offset) != (after.recovery_point > after.log_end_offset):
            return "the recovery point stays above the log end"
    once_loaded = [(start.later_use, start.fails_later, start.promoted) for start in (without, final)]
    if once_loaded[0] != once_loaded[1]:
        return without.later_use or "the log dir goes offline later"
    return None


def differing_files(disk: Files, without: PartitionPrediction, final: PartitionPrediction) -> set[str]:
    """Return the files that the broker reads and that differ after its next start without a step."""
    # What only the start without the step creates is the broker's own.
    names = final.after.keys() | (without.after.keys() - frozenset(without.changes.created))
    return {name for name in names if _differs(disk, name, without, final)}


def _leaves(name: str, without: PartitionPrediction, final: PartitionPrediction) -> str:
    """Return how the next start differs without a step, by its reason and one of its files.

    The reason is given only if the other start has no reason, or another one.
    """
    if without.reason is not None and without.reason != final.reason:
        why = some_reasons(without.reason.split("; "), _REASON_COUNT, "change")
        return f"{why}; the next start leaves another {name}"
    if name not in without.after:
        return f"the next start leaves no {name}"
    if name not in final.after or name in without.changes.created:
        return f"the next start leaves another {name}" if name in final.after else f"the next start leaves {name}"
    does = "changes" if name in without.changes.changed else "leaves"
    return f"the next start {does} {name}" + (" as it is" if does == "leaves" else "")


def _class_of(start: PartitionPrediction) -> Outcome:
    return Outcome.OK if start.outcome is Outcome.REPAIRED else start.outcome


def _outcome(start: PartitionPrediction | LogDirPrediction) -> str:
    reasons = start.reasons if isinstance(start, LogDirPrediction) else (start.reason or "",)
    return f"the next start ends as {start.outcome}: {'; '.join(reasons)}".rstrip(": ")


def _differs(disk: Files, name: str, without: PartitionPrediction, final: PartitionPrediction) -> bool:
    if _is_unread(name):
        return False
    one, other = without.after.get(name), final.after.get(name)
    if one is None or other is None:
        return one is not other
    return one != other and (name.endswith(".log") or not _same_bytes(disk, name, one, other))


def _same_bytes(disk: Files, name: str, one: Content, other: Content) -> bool:
    """Return whether two files are equal; files that depend on the clock count as equal to each other."""
    if one.size != other.size or one.certain != other.certain:
        return False
    if not one.certain:
        return True
    if name.endswith(INDEX_ENDINGS) and one.filled != other.filled:
        return False  # The broker takes all that the file had before it made it larger for entries.
    try:
        contents = [read_content(disk, name, content)[0].rstrip(b"\0") for content in (one, other)]
    except (StartError, UnreadableError):
        return False
    return contents[0] == contents[1]


def _is_unread(name: str) -> bool:
    """Return whether no start reads a file of this name, unless it removes it first."""
    file = parse_file(name)
    return file.kind is FileKind.OTHER or bool(file.suffix)


def _dir_of(log_dir: EditedLogDir, edit: Edit) -> str:
    owner, slash, _ = edit.path.partition("/")
    return owner if slash or owner in log_dir.by_dir else ""
