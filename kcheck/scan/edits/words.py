"""What the next start does without and with an operation, in a sentence."""

from collections.abc import Iterable

from kcheck.core.startup import Outcome
from kcheck.model.finding import Severity
from kcheck.repairs._contract import Step
from kcheck.scan.edits.site import Site
from kcheck.scan.start.host import LogDirStart
from kcheck.scan.start.values import Prediction

_DIR_COUNT = 4
"""So many partitions are told of one operation."""


def now_and_after(
    before: Iterable[LogDirStart], after: Iterable[LogDirStart], site: Site, step: Step
) -> tuple[str, str]:
    """Return what the start does with a log dir before a step and after it, and with the partitions that it changes."""
    one = next(start for start in before if start.path == site.path)
    other = next(start for start in after if start.path == site.path)
    first, second = ({each.dir: each for each in start.partitions} for start in (one, other))
    dirs = [edit.path.partition("/")[0] for edit in step.edits]
    changed = [name for name in first.keys() | second.keys() if first.get(name) != second.get(name)]
    named = [name for name in dict.fromkeys((*dirs, *sorted(changed))) if name in first or name in second]
    # What the broker does when all logs are loaded only the rule tells.
    unseen = step.finding.severity is Severity.FATAL and one.outcome is Outcome.OK
    return step.finding.effect if unseen else _words(one, first, named, second), _words(other, second, named, first)


def _words(
    start: LogDirStart, found: dict[str, Prediction], named: list[str], against: dict[str, Prediction]
) -> str:  # fmt: skip
    if start.outcome is Outcome.ABORT:
        return f"the broker does not start: {start.reasons[0]}"
    if start.outcome is Outcome.OFFLINE:
        return f"the log dir goes offline: {start.reasons[0]}"
    shown = [f"{name} {_partition(found.get(name), against.get(name))}" for name in named[:_DIR_COUNT]]
    more = len(named) - len(shown)
    return "the log dir is loaded" + "".join(f"; {each}" for each in shown) + (f"; and {more} more" if more else "")


def _partition(found: Prediction | None, against: Prediction | None) -> str:
    if found is None:
        return "is not there"
    if found.log is None:
        return str(found.outcome)
    end = f"ends at offset {found.log.log_end_offset}"
    if found.outcome is Outcome.LOST and found.lost is not None:
        count = "an unknown number of" if found.lost.records is None else str(found.lost.records)
        return f"{end} and LOSES {count} records"
    if found.outcome is Outcome.STRAY:
        return "is set aside as stray: nobody serves it"
    read = f", {found.scan_bytes} bytes are read through" if found.scan_bytes else ""
    mended = f" ({found.reason})" if found.reason else ""
    other = None if against is None else against.log
    if other is not None and other.leader_epochs != found.log.leader_epochs:
        end += f", epochs {', '.join(f'{e.epoch} @ {e.start_offset}' for e in found.log.leader_epochs) or 'none'}"
    return f"{end}{read}{mended}"
