"""The fate of a log dir, and how the log dirs of one broker affect each other (LogManager.loadLogs).

An abort of the broker comes before a failure of the log dir, and a failure before a load.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, auto
from typing import NamedTuple

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Mode, Outcome, UnreadableOutcome
from kcheck.model.names import CLUSTER_METADATA, LIVE, META_PROPERTIES, DirectoryState, TopicPartition
from kcheck.model.release import Release
from kcheck.words import partition_name

_NOT_LIVE = (Outcome.ABORT, Outcome.OFFLINE, Outcome.UNKNOWN, Outcome.STRAY)
"""The outcomes of directories that do not become a live log."""


class Unformatted(Enum):
    """The meaning of a missing meta.properties for the next start of a KRaft broker."""

    NO = auto()
    """The file exists, may exist, or the broker needs none."""
    MAYBE = auto()
    """The file is missing, and the directory may not be a KRaft log dir."""
    YES = auto()
    """A KRaft log dir without the file, which was never formatted, or lost the file."""


class LogDirOutcome(NamedTuple):
    """The outcome of a log dir."""

    outcome: Outcome
    """ABORT, OFFLINE, or OK where the log dir is loaded."""
    reasons: tuple[str, ...]
    """The reason why it is not loaded; the first reason decides. Empty where it is loaded."""
    uncertain: str | None
    """Another possible outcome if the files do not decide; None if they do."""


class PredictedPartition(NamedTuple):
    """A partition directory."""

    path: str
    """The path of the directory."""
    partition: PartitionPrediction
    """Its predicted state after the broker has started."""


def log_dir_outcome(
    failures: Sequence[UnreadableOutcome],
    places: Sequence[PredictedPartition],
    *,
    unformatted: Unformatted,
    unread: str | None,
    release: Release,
) -> LogDirOutcome:
    """Return the outcome of a log dir.

    `failures` are the files at its top that the broker cannot use, `places` its partition directories. `unread` names
    the files that kcheck could not read; None if it read everything.
    """
    partitions = [place.partition for place in places]
    aborts = [failure.reason for failure in failures if failure.outcome is Outcome.ABORT]
    aborts += [_reason(partition) for partition in partitions if partition.outcome is Outcome.ABORT]
    aborts += duplicates(places)
    offline = [failure.reason for failure in failures if failure.outcome is Outcome.OFFLINE]
    offline += [_reason(partition) for partition in partitions if partition.outcome is Outcome.OFFLINE]
    uncertain = f"kcheck cannot read {unread}" if unread is not None else None
    later_use = next((partition.later_use for partition in partitions if partition.later_use is not None), None)
    if offline and later_use is not None and release.aborts_on_open_transactions_offline:
        # Reading or renaming the log raises KafkaStorageException once its log dir has failed.
        if any(failure.fails_later for failure in failures):
            aborts.append(f"{offline[0]}; {later_use}, and its log dir has already failed")
        elif any(partition.fails_later for partition in partitions):
            uncertain = f"startup aborts instead if this log loads after the unreadable file: {later_use}"
    if unformatted is Unformatted.YES:
        aborts.append(f"{META_PROPERTIES} is missing: the log dir was never formatted, or lost the file")
    elif unformatted is Unformatted.MAYBE:
        uncertain = f"startup aborts if this is a KRaft log dir: {META_PROPERTIES} is missing"
    outcome = Outcome.ABORT if aborts else Outcome.OFFLINE if offline else Outcome.OK
    return LogDirOutcome(outcome, (*aborts, *offline), uncertain)


def _reason(partition: PartitionPrediction) -> str:
    return f"{partition.dir}: {partition.reason}"


def duplicates(places: Iterable[PredictedPartition]) -> list[str]:
    """Return a reason for each partition that would be loaded twice (LogManager.loadLog, KafkaRaftServer)."""
    paths: dict[tuple[TopicPartition, DirectoryState], list[str]] = {}
    for path, partition in places:
        topic, number, state, _ = partition.directory
        if partition.outcome not in _NOT_LIVE and state in LIVE:
            paths.setdefault((TopicPartition(topic, number), state), []).append(path)
    return [
        f"{partition_name(topic, number)} exists twice: {' and '.join(copies)}"
        for ((topic, number), _), copies in paths.items()
        if len(copies) > 1
    ]


def broker_abort(starts: Iterable[LogDirPrediction], conflicts: Sequence[str]) -> str | None:
    """Return why the broker loads no log dir; None if it loads the intact ones.

    `conflicts` are reasons that no single log dir shows, which are different identities and duplicates.
    """
    if conflicts:
        return conflicts[0]
    starts = tuple(starts)
    failed = next((start for start in starts if start.outcome is Outcome.OFFLINE and has_metadata_log(start)), None)
    if failed is not None:
        why = failed.reasons[0] if failed.reasons else "it goes offline"
        return f"the log dir with the metadata log, {failed.path}, fails: {why}"
    aborted = next((start for start in starts if start.outcome is Outcome.ABORT), None)
    return None if aborted is None else f"{aborted.path} stops the broker while it starts: {aborted.reasons[0]}"


def has_metadata_log(start: LogDirPrediction) -> bool:
    """Return whether the broker exits if this log dir fails, as it contains the KRaft metadata log.

    ReplicaManager 3.3 to 4.3.1 does that.
    """
    names = (partition.directory.topic for partition in start.partitions)
    return start.mode is Mode.KRAFT and CLUSTER_METADATA in names


def with_abort(start: LogDirPrediction, reason: str | None) -> LogDirPrediction:
    """Return the log dir of a broker whose start aborts for this reason; unchanged where it is None."""
    if reason is None or start.outcome is Outcome.ABORT:
        return start
    return start._replace(outcome=Outcome.ABORT, reasons=(reason, *start.reasons))


def with_offline(start: LogDirPrediction, reason: str | None) -> LogDirPrediction:
    """Return a log dir that goes offline for this reason; unchanged where it is None."""
    if reason is None or start.outcome is Outcome.ABORT:
        return start
    return start._replace(outcome=Outcome.OFFLINE, reasons=(reason, *start.reasons))


def future_beside_current(start: LogDirPrediction) -> str | None:
    """Return why a broker fails on a -future directory in the log dir of its current one; None without one.

    It renames one to the other (LogManager.replaceCurrentWithFutureLog 2.8 to 4.3.1), and meets a
    DirectoryNotEmptyException.
    """
    current = {partition.directory[:2] for partition in start.partitions if _is(partition, DirectoryState.CURRENT)}
    beside = (
        partition.dir
        for partition in start.partitions
        if _is(partition, DirectoryState.FUTURE) and partition.directory[:2] in current
    )
    name = next(beside, None)
    return None if name is None else f"{name} is in the log dir of its current log, and the broker cannot rename it"


NO_CURRENT_LOG = "no log dir has its current log, so the broker makes an empty one and truncates this one to it"


def current_logs(starts: Iterable[LogDirPrediction]) -> frozenset[TopicPartition]:
    """Return the partitions that have a current log on a log dir of one broker."""
    return frozenset(
        TopicPartition(*partition.directory[:2])
        for start in starts
        for partition in start.partitions
        if _is(partition, DirectoryState.CURRENT)
    )


def without_abandoned(start: LogDirPrediction, current: frozenset[TopicPartition]) -> LogDirPrediction:
    """Return a log dir with the loss of future logs that have no current log on the broker.

    `current` lists the current logs. The broker makes an empty current log, truncates the future one to it, and swaps
    it in (ReplicaAlterLogDirsThread).
    """
    return start._replace(
        partitions=tuple(row if row.directory[:2] in current else _abandoned(row) for row in start.partitions)
    )


def _abandoned(partition: PartitionPrediction) -> PartitionPrediction:
    if not _is(partition, DirectoryState.FUTURE) or partition.promoted or partition.whole is None:
        return partition
    if partition.outcome is Outcome.STRAY:
        return partition  # The broker has renamed it before any thread moves it (LogManager.loadLog).
    return partition._replace(outcome=Outcome.LOST, reason=NO_CURRENT_LOG, lost=partition.whole)


def _is(partition: PartitionPrediction, state: DirectoryState) -> bool:
    return partition.directory.state is state


def promoted_futures(starts: Iterable[LogDirPrediction]) -> dict[TopicPartition, str]:
    """Return the log dirs of the future logs that replace current ones, by partition."""
    return {
        TopicPartition(*partition.directory[:2]): start.path
        for start in starts
        for partition in start.partitions
        if partition.promoted
    }


def without_replaced(start: LogDirPrediction, futures: Mapping[TopicPartition, str]) -> LogDirPrediction:
    """Return a log dir without the logs that a future log replaces (LogManager.replaceCurrentWithFutureLog).

    `futures` are the log dirs of the future logs, by partition.
    """
    return start._replace(partitions=tuple(_without_replaced(partition, futures) for partition in start.partitions))


def _without_replaced(partition: PartitionPrediction, futures: Mapping[TopicPartition, str]) -> PartitionPrediction:
    future = futures.get(TopicPartition(*partition.directory[:2]))
    if future is None or partition.directory.state is not DirectoryState.CURRENT:
        return partition
    return partition._replace(outcome=Outcome.DELETED, reason=f"its future log in {future} replaces it")
