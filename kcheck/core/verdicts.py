"""The verdict on a log dir: its outcome and those of its partitions in one line, and how severe they are."""

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
    """Return the severity of the worst outcome in a log dir."""
    severities = (_SEVERITIES[start.outcome], *map(_severity, start.partitions))
    return max(severities, key=lambda severity: severity.rank)


def _severity(partition: PartitionPrediction) -> Severity:
    # A start deletes a directory without -delete because the cluster does not know the replica.
    is_stray = partition.outcome is Outcome.DELETED and not partition.dir.endswith("-delete")
    return _SEVERITIES[Outcome.STRAY if is_stray else partition.outcome]


def verdict(start: LogDirPrediction) -> str:
    """Return the verdict in words."""
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
    """Return whether the next start finds a clean or an unclean shutdown; None unless this start aborts."""
    if start.outcome is not Outcome.ABORT:
        return None
    if not start.clean:
        return "unclean"
    # A ZooKeeper broker shuts down in order and writes .kafka_cleanshutdown again; a KRaft broker halts.
    return "unclean" if start.mode is Mode.KRAFT else "clean"
