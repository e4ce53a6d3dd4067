"""The verdict on a log dir, from its outcome and those of its partitions."""

from kcheck.core.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.startup import NEXT_STARTS, Mode, Outcome
from kcheck.model.finding import Severity

_SEVERITIES = {
    Outcome.OK: Severity.INFO,
    Outcome.DELETED: Severity.INFO,
    Outcome.REPAIRED: Severity.WARNING,
    Outcome.STRAY: Severity.ERROR,
    Outcome.LOST: Severity.ERROR,
    Outcome.OFFLINE: Severity.FATAL,
    Outcome.ABORT: Severity.FATAL,
    Outcome.UNKNOWN: Severity.INFO,
}


def log_dir_severity(start: LogDirPrediction) -> Severity:
    """Return the severity of the worst that happens in a log dir."""
    severities = (_SEVERITIES[start.outcome], *map(_severity, start.partitions))
    return max(severities, key=lambda severity: severity.rank)


def _severity(partition: PartitionPrediction) -> Severity:
    # A directory that the start deletes without the -delete suffix is a replica that the cluster does not know.
    unmarked = partition.outcome is Outcome.DELETED and not partition.dir.endswith("-delete")
    return _SEVERITIES[Outcome.STRAY if unmarked else partition.outcome]


def verdict(start: LogDirPrediction) -> str:
    """Return the verdict in words: one of NEXT_STARTS, or how many records the start loses."""
    if start.outcome in (Outcome.ABORT, Outcome.OFFLINE):
        return NEXT_STARTS[start.outcome]
    if start.unread or any(partition.outcome is Outcome.UNKNOWN for partition in start.partitions):
        return NEXT_STARTS[Outcome.UNKNOWN]
    lost = [partition.lost for partition in start.partitions if partition.lost is not None]
    if not lost:
        return NEXT_STARTS[Outcome.OK]
    known = sum(loss.records or 0 for loss in lost)
    if all(loss.records is not None for loss in lost):
        return f"will boot but lose {known} {'record' if known == 1 else 'records'}"
    return f"will boot but lose {f'at least {known} records' if known else 'an unknown number of records'}"


def next_start(start: LogDirPrediction) -> str | None:
    """Return what the start after a failed one will find: a clean or an unclean shutdown; None where this one loads."""
    if start.outcome is not Outcome.ABORT:
        return None
    if not start.clean:
        return "unclean"
    # A KRaft broker halts. A ZooKeeper broker shuts down, and writes the marker again.
    return "unclean" if start.mode is Mode.KRAFT else "clean"
