"""The severity of the next start of a log dir, and its worst partitions."""

from collections.abc import Iterable

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Mode, Outcome
from kcheck.model.finding import Severity

SEVERITIES = {
    Outcome.OK: Severity.INFO,
    Outcome.DELETED: Severity.INFO,
    Outcome.REPAIRED: Severity.WARNING,
    Outcome.STRAY: Severity.ERROR,
    Outcome.LOST: Severity.ERROR,
    Outcome.OFFLINE: Severity.FATAL,
    Outcome.ABORT: Severity.FATAL,
    Outcome.UNKNOWN: Severity.INFO,
}
"""The severity of an outcome."""


def log_dir_severity(start: LogDirPrediction) -> Severity:
    """Return the severity of the worst outcome in a log dir."""
    severities = (SEVERITIES[start.outcome], *map(_severity, start.partitions))
    return max(severities, key=lambda severity: severity.rank)


def _severity(partition: PartitionPrediction) -> Severity:
    if partition.is_unknown_replica or partition.lost is not None:
        return max(SEVERITIES[Outcome.LOST], SEVERITIES[partition.outcome], key=lambda severity: severity.rank)
    return SEVERITIES[partition.outcome]


def removed_alone(starts: Iterable[LogDirPrediction]) -> dict[str, tuple[str, ...]]:
    """Return the -delete directories with records, by log dir; empty if anything else is lost or fails.

    No repair keeps them, because a broker removes them by their names.
    """
    removed: dict[str, tuple[str, ...]] = {}
    for start in starts:
        own = [row for row in start.partitions if _severity(row).rank >= Severity.ERROR.rank]
        if SEVERITIES[start.outcome].rank >= Severity.ERROR.rank or not all(row.dir.endswith("-delete") for row in own):
            return {}
        if own:
            removed[start.path] = tuple(row.dir for row in own)
    return removed


def worst_first(partitions: Iterable[PartitionPrediction]) -> list[PartitionPrediction]:
    """Return the partitions that fail when the broker starts, lose records or are not served, worst first."""
    ranks = {Outcome.ABORT: 0, Outcome.OFFLINE: 1}

    def badness(partition: PartitionPrediction) -> tuple[object, ...]:
        lost = partition.lost
        rank = ranks.get(partition.outcome, 2 if lost is not None else 3)
        if lost is None:
            return (rank, False, 0, 0, partition.dir)
        below = lost.below_high_watermark
        # An unknown number may be the largest.
        return (rank, lost.records is not None, -(below or 0), -(lost.records or 0), partition.dir)

    bad = [
        partition
        for partition in partitions
        if partition.outcome in ranks or partition.lost is not None or partition.is_set_aside
    ]
    return sorted(bad, key=badness)


def unmarked_by(starts: Iterable[LogDirPrediction]) -> tuple[int, ...]:
    """Return the brokers whose failed starts remove .kafka_cleanshutdown."""
    return tuple(sorted({row.broker_id for row in starts if removes_marker(row) and row.broker_id is not None}))


def removes_marker(start: LogDirPrediction) -> bool:
    """Return whether the broker loads logs, fails, and so removes .kafka_cleanshutdown."""
    return start.clean and shutdown_after_abort(start) == "unclean"


def shutdown_after_abort(start: LogDirPrediction) -> str | None:
    """Return the shutdown found after an aborted start, `clean` or `unclean`; None without an abort."""
    if start.outcome is not Outcome.ABORT:
        return None
    # LogManager.loadLogs removes .kafka_cleanshutdown before it loads a log. A ZooKeeper broker shuts down in order and
    # writes the file again; a KRaft broker halts.
    removed = bool(start.partitions) and start.mode is Mode.KRAFT
    return "clean" if start.clean and not removed else "unclean"
