"""The verdict on a log dir, with its outcome, the outcomes of its partitions, and their severity."""

from collections.abc import Iterable
from typing import NamedTuple

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Mode, Outcome
from kcheck.model.finding import Severity
from kcheck.model.loss import LostRecords

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
    if _is_unknown_replica(partition.outcome, partition.dir) or partition.lost is not None:
        return max(SEVERITIES[Outcome.LOST], SEVERITIES[partition.outcome], key=lambda severity: severity.rank)
    return SEVERITIES[partition.outcome]


def _is_unknown_replica(outcome: str, name: str) -> bool:
    """Return whether the broker deletes a directory without -delete, because the cluster does not know the replica."""
    return outcome == Outcome.DELETED and not name.endswith("-delete")


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


def is_set_aside(partition: PartitionPrediction) -> bool:
    """Return whether the broker stops serving a partition with this start, although it loads it."""
    return stops_serving(partition.outcome, partition.dir)


def stops_serving(outcome: str, name: str) -> bool:
    """Return whether a broker with this outcome for a directory of that name stops serving its partition."""
    was_served = not name.endswith("-stray")
    return _is_unknown_replica(outcome, name) or (outcome == Outcome.STRAY and was_served)


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
        if partition.outcome in ranks or partition.lost is not None or is_set_aside(partition)
    ]
    return sorted(bad, key=badness)


class LogDirVerdict(NamedTuple):
    """The next start of a log dir."""

    outcome: Outcome
    """ABORT, OFFLINE, UNKNOWN, or OK: the broker loads it."""
    lost: tuple[LostRecords, ...] = ()
    """The loss of its partitions."""
    unserved: int = 0
    """Number of partitions that the broker stops serving."""


def verdict(start: LogDirPrediction) -> LogDirVerdict:
    """Return the verdict on a log dir; what partitions lose counts only where the broker loads them."""
    if start.outcome in (Outcome.ABORT, Outcome.OFFLINE):
        return LogDirVerdict(start.outcome)
    if start.unread or any(partition.outcome is Outcome.UNKNOWN for partition in start.partitions):
        return LogDirVerdict(Outcome.UNKNOWN)
    lost = tuple(partition.lost for partition in start.partitions if partition.lost is not None)
    return LogDirVerdict(Outcome.OK, lost, sum(map(is_set_aside, start.partitions)))


def shutdown_after_abort(start: LogDirPrediction) -> str | None:
    """Return the shutdown found after an aborted start, `clean` or `unclean`; None without an abort."""
    if start.outcome is not Outcome.ABORT:
        return None
    if not start.clean:
        return "unclean"
    # A ZooKeeper broker shuts down in order and writes .kafka_cleanshutdown again; a KRaft broker halts.
    return "unclean" if start.mode is Mode.KRAFT else "clean"
