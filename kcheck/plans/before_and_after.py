"""Describes the next start without and with an operation, in a sentence."""

from collections.abc import Iterable

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.model.finding import Severity
from kcheck.plans.edited_log_dir import EditedLogDir
from kcheck.repairs import RenameEdit, RepairStep
from kcheck.words import epoch_words, record_count, some_reasons

_DIR_COUNT = 4
"""The most partitions that one operation names."""


class StartComparison:
    """The next starts before and after some steps, which are judged together."""

    def __init__(self, before: Iterable[LogDirPrediction], after: Iterable[LogDirPrediction], *, steps: int) -> None:
        """Take the starts, and how many steps are between them."""
        self._starts = ({start.path: start for start in before}, {start.path: start for start in after})
        self._found: dict[str, tuple[dict[str, PartitionPrediction], dict[str, PartitionPrediction], list[str]]] = {}
        self._alone = steps == 1

    def now_and_after(self, log_dir: EditedLogDir, step: RepairStep) -> tuple[str, str]:
        """Return the next start of a log dir before and after a step, with the partitions that it changes."""
        one, other = (starts[log_dir.path] for starts in self._starts)
        first, second, changed = self._of(log_dir.path)
        dirs = [edit.path.partition("/")[0] for edit in step.edits]
        dirs += [edit.to for edit in step.edits if isinstance(edit, RenameEdit)]
        named = [name for name in dict.fromkeys((*dirs, *changed)) if name in first or name in second]
        # Only the rule says what the broker does when all logs are loaded.
        unseen = step.finding.severity is Severity.FATAL and one.outcome is Outcome.OK
        return step.finding.effect if unseen else _words(one, first, named, second), _words(other, second, named, first)

    def _of(self, path: str) -> tuple[dict[str, PartitionPrediction], dict[str, PartitionPrediction], list[str]]:
        """Return the partitions of a log dir by name, before and after, and which of them one step has changed."""
        if path not in self._found:
            first, second = (
                {partition.dir: partition for partition in starts[path].partitions} for starts in self._starts
            )
            names = first.keys() | second.keys() if self._alone else ()
            self._found[path] = (
                first,
                second,
                sorted(name for name in names if _differ(first.get(name), second.get(name))),
            )
        return self._found[path]


def _differ(first: PartitionPrediction | None, second: PartitionPrediction | None) -> bool:
    """Return whether two starts make something else of a directory; batches are read only of logs that are loaded."""
    if first is None or second is None:
        return first != second
    return first._replace(batches=None) != second._replace(batches=None)


def _words(
    start: LogDirPrediction, predictions: dict[str, PartitionPrediction], named: list[str],
    against: dict[str, PartitionPrediction],
) -> str:  # fmt: skip
    if start.outcome is Outcome.ABORT:
        return f"the broker does not start: {start.reasons[0]}"
    if start.outcome is Outcome.OFFLINE:
        return f"the log dir goes offline: {start.reasons[0]}"
    shown = (f"{name} {_partition(predictions.get(name), against.get(name))}" for name in named)
    return some_reasons(["the log dir is loaded", *shown], 1 + _DIR_COUNT)


def _partition(prediction: PartitionPrediction | None, against: PartitionPrediction | None) -> str:
    if prediction is None:
        return "is not there"
    if prediction.log is None:
        return str(prediction.outcome)
    end = f"ends at offset {prediction.log.log_end_offset}"
    if prediction.outcome is Outcome.LOST and prediction.lost is not None:
        lost = prediction.lost
        return f"{end} and LOSES {record_count(lost.records, lost.counted, lost.at_most)}"
    if prediction.outcome is Outcome.STRAY:
        return "becomes a stray: no broker serves it" if prediction.is_set_aside else "stays a stray"
    read = f"; the broker reads {prediction.scan_bytes} bytes" if prediction.scan_bytes else ""
    mended = f" ({prediction.reason})" if prediction.reason else ""
    other = None if against is None else against.log
    if other is not None and other.leader_epochs != prediction.log.leader_epochs:
        end += f", {epoch_words(prediction.log.leader_epochs) or 'no leader epochs'}"
    return f"{end}{read}{mended}"
