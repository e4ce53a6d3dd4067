"""`kcheck predict`: what the broker will do with these log dirs at its next start."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kcheck.core.cluster_copies import MetadataCopy
from kcheck.core.predictions import LogDirPrediction, LostRecords, PartitionPrediction
from kcheck.core.startup import NEXT_STARTS, Mode, Outcome
from kcheck.disk.walk import exists, join, split
from kcheck.formats.leader_epoch_checkpoint import entry_rows
from kcheck.model.finding import Finding, Severity
from kcheck.model.names import PARTITION_METADATA, PartitionDirectory
from kcheck.model.report import Report, Row
from kcheck.startup.log_manager import StartOptions, combined_starts, is_metadata_log, start_log_dir
from kcheck.tables import predictions as predictions_table
from kcheck.views.log_dir import open_log_dir, open_single_partition, report_links, wanted_directories
from kcheck.views.metadata_copy import read_copy
from kcheck.views.targets import Target, TargetKind, broker_of, directory_wanted, paths_of, replica_targets


class Predicted(NamedTuple):
    """The answer, and how bad the worst of it is."""

    report: Report
    severity: Severity


def predict(arguments: list[str], wish: StartOptions) -> Predicted:
    """Return what becomes of every log dir that the paths hold, and of the partitions in it."""
    targets = replica_targets(arguments)
    collected: list[Finding] = []
    for target in targets:
        if target.kind is TargetKind.FILE:
            raise directory_wanted(target.path, "a start")
    starts = _starts(targets, wish, collected)
    report = Report(
        verb="predict",
        kafka=wish.release.name,
        body={"log_dirs": (_log_dir_row(start) for start in starts)},
        collected=collected,
        table="log_dirs.partitions",
        columns=predictions_table.TABLE.columns,
        kinds={"log_dirs": "log-dir", "partitions": "partition"},
        checked=paths_of(targets),
    )
    return Predicted(report, max(map(severity, starts), key=lambda found: found.rank, default=Severity.INFO))


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


def severity(start: LogDirPrediction) -> Severity:
    """Return how bad the worst is that happens to a log dir."""
    found = (_SEVERITIES[start.outcome], *map(_severity, start.partitions))
    return max(found, key=lambda each: each.rank)


def _severity(found: PartitionPrediction) -> Severity:
    # What is deleted without being marked is so because the cluster does not know it.
    unmarked = found.outcome is Outcome.DELETED and not found.dir.endswith("-delete")
    return _SEVERITIES[Outcome.STRAY if unmarked else found.outcome]


def verdict_rows(arguments: list[str], wish: StartOptions) -> tuple[Row, ...]:
    """Return the verdict on each log dir that the paths hold, without its partitions."""
    targets = [target for target in replica_targets(arguments) if target.kind is not TargetKind.FILE]
    return tuple({**_log_dir_row(start), "partitions": ()} for start in _starts(targets, wish, []))


def _starts(targets: Sequence[Target], wish: StartOptions, collected: list[Finding]) -> list[LogDirPrediction]:
    """Return what becomes of what was named, as the start of one broker or of several."""
    wish = with_copies(targets, wish)
    return combined_starts([start_of(target, wish, collected) for target in targets], wish.release)


def with_copies(targets: Iterable[Target], wish: StartOptions) -> StartOptions:
    """Return the wish with the copies of the metadata of clusters that stand in the log dirs (3.3 and later).

    Up to 3.6 nothing is done with strays where a log names no topic: there are none then.
    """
    found: dict[str, tuple[MetadataCopy, ...]] = {}
    paths = {target.path if target.kind is TargetKind.LOG_DIR else split(target.path)[0]: target for target in targets}
    for path, target in paths.items() if wish.release.kraft_is_production_ready else ():
        log_dir = open_log_dir(path, target.broker_id, wish.release)
        cluster = log_dir.view.cluster_id or ""
        for name, directory in log_dir.directories if cluster else ():
            if is_metadata_log(name, directory, wish.release):
                copy = read_copy(join(path, name), log_dir.view.where.broker_id)
                found[cluster] = (*found.get(cluster, ()), *([copy] if copy else ()))
            elif wish.release.passes_over_nameless_logs and not exists(join(path, name, PARTITION_METADATA)):
                return wish
    return wish._replace(copies=found)


def start_of(target: Target, wish: StartOptions, collected: list[Finding]) -> LogDirPrediction:
    """Return what becomes of one thing that was named; what cannot be looked at goes into `collected`."""
    from kcheck.startup.partition import start_partition  # numpy: worth its import where a start is simulated

    if target.kind is TargetKind.LOG_DIR:
        log_dir = open_log_dir(target.path, target.broker_id, wish.release)
        found = wanted_directories(log_dir, wish.wanted)
        report_links(log_dir, wish.wanted)
        collected.extend(log_dir.findings)
        start = start_log_dir(target.path, log_dir, found, wish, collected, start_partition)
        return start._replace(broker=broker_of(target, log_dir.view))
    view, log_dir = open_single_partition(target.path, target.broker_id, walk_all=False, release=wish.release)
    if view is None:
        collected.extend(log_dir.findings)
        return LogDirPrediction(target.path, None, Outcome.OK, (), False, Mode.KRAFT, None, ())
    parent, name = split(target.path)
    directory = PartitionDirectory(view.topic, view.partition, view.state, canonical=True)
    return start_log_dir(parent, log_dir, [(name, directory)], wish, collected, start_partition)


def verdict(start: LogDirPrediction) -> str:
    """Return the verdict in words."""
    if start.outcome in (Outcome.ABORT, Outcome.OFFLINE):
        return NEXT_STARTS[start.outcome]
    if start.unread or any(each.outcome is Outcome.UNKNOWN for each in start.partitions):
        return NEXT_STARTS[Outcome.UNKNOWN]
    lost = [each.lost for each in start.partitions if each.lost is not None]
    if not lost:
        return NEXT_STARTS[Outcome.OK]
    known = sum(each.records or 0 for each in lost)
    if all(each.records is not None for each in lost):
        return f"will boot but lose {known} {'record' if known == 1 else 'records'}"
    return f"will boot but lose {f'{known} records and more' if known else 'an unknown number of records'}"


def _log_dir_row(start: LogDirPrediction) -> Row:
    lost = [each.lost for each in start.partitions if each.lost is not None]
    known = [each.records for each in lost]
    return {
        "path": start.path,
        "broker_id": start.broker_id,
        "outcome": str(start.outcome),
        "verdict": verdict(start),
        "reason": start.reasons[0] if start.reasons else None,
        "reasons": start.reasons,
        "uncertain": start.uncertain,
        "clean_start": start.clean,
        "mode": str(start.mode),
        "next_start": _next_start(start),
        "lost_records": None if None in known else sum(each or 0 for each in known),
        "scan_bytes": sum(each.scan_bytes for each in start.partitions),
        "partitions": tuple(
            {"broker_id": start.broker_id, "log_dir": start.path, **partition_row(each)} for each in start.partitions
        ),
    }


def _next_start(start: LogDirPrediction) -> str | None:
    """Return what the start after this one will find, where this one fails."""
    if start.outcome is not Outcome.ABORT:
        return None
    if not start.clean:
        return "unclean"
    # ZooKeeper's broker shuts down in order where a KRaft broker halts, and so writes the marker again.
    return "unclean" if start.mode is Mode.KRAFT else "clean"


def partition_row(found: PartitionPrediction) -> dict[str, object]:
    """Return a partition as JSON shows it."""
    log, changes = found.log, found.changes
    return {
        "dir": found.dir,
        "topic": found.directory.topic,
        "partition": found.directory.partition,
        "outcome": str(found.outcome),
        "reason": found.reason,
        "uncertain": found.uncertain,
        "log_start_offset": None if log is None else log.log_start_offset,
        "log_end_offset": None if log is None else log.log_end_offset,
        "recovery_point": None if log is None else log.recovery_point,
        "high_watermark": found.high_watermark,
        "leader_epochs": None if log is None else entry_rows(log.leader_epochs),
        "lost": None if found.lost is None else lost_row(found.lost),
        "scan_bytes": found.scan_bytes,
        "files": {
            "created": changes.created,
            "changed": changes.changed,
            "removed": changes.removed,
            "renamed": tuple({"from": old, "to": new} for old, new in changes.renamed),
            "unknown": changes.unknown,
        },
    }


def lost_row(lost: LostRecords) -> dict[str, object]:
    """Return what is lost as JSON shows it."""
    return {
        "from": lost.start,
        "to": lost.end,
        "records": lost.records,
        "bytes": lost.bytes,
        "below_high_watermark": lost.below_high_watermark,
    }
