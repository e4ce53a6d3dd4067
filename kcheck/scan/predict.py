"""`kcheck predict`: what the broker will do with these log dirs at its next start."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from kcheck.core.startup import Mode, Outcome, Reading, Settings, reading
from kcheck.disk.walk import join, split
from kcheck.errors import UsageError
from kcheck.formats.leader_epoch_checkpoint import entry_rows
from kcheck.model.finding import Finding, Severity
from kcheck.model.names import (
    CLUSTER_METADATA,
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    DirectoryState,
    PartitionDirectory,
    broker_accepts,
    skipped_by_broker,
)
from kcheck.model.release import Release
from kcheck.model.report import Report, Row, Wanted
from kcheck.rules import kc121_meta_properties_unreadable
from kcheck.rules._checkpoints import LOG_DIR_OFFLINE
from kcheck.scan.attempt import attempt
from kcheck.scan.host import LogDir, lone_partition, open_log_dir, wanted_directories
from kcheck.scan.inputs import Kind, Target, replica_targets
from kcheck.scan.start_partition import Lost, Prediction, Stored, start_partition
from kcheck.scan.start_segment import Context
from kcheck.tables import predictions as predictions_table


class Wish(NamedTuple):
    """What the user says of the start: whether the stop before it was clean (None: the marker tells), its settings."""

    clean: bool | None
    settings: Settings
    release: Release
    wanted: Wanted = Wanted()


class LogDirStart(NamedTuple):
    """What becomes of a log dir: `reasons` tell why it is not loaded, the first of them decides.

    `uncertain` is what else may happen, where the files cannot tell which.
    """

    path: str
    broker_id: int | None
    outcome: Outcome
    reasons: tuple[str, ...]
    clean: bool
    uncertain: str | None
    partitions: tuple[Prediction, ...]


class Predicted(NamedTuple):
    """The answer, and how bad the worst of it is."""

    report: Report
    severity: Severity


def predict(arguments: list[str], wish: Wish) -> Predicted:
    """Return what becomes of every log dir that the paths hold, and of the partitions in it."""
    targets = replica_targets(arguments)
    collected: list[Finding] = []
    for target in targets:
        if target.kind is Kind.FILE:
            raise UsageError(f"{target.path}: a start is about log dirs and partition directories, not about one file")
    starts = decided([_start(target, wish, collected) for target in targets])
    report = Report(
        verb="predict",
        kafka=wish.release.name,
        body={"mode": str(wish.settings.mode), "log_dirs": (_log_dir_row(start, wish) for start in starts)},
        collected=collected,
        table="log_dirs.partitions",
        columns=predictions_table.COLUMNS,
        kinds={"log_dirs": "log-dir", "partitions": "partition"},
        checked=tuple(path for target in targets for path in (target.path, target.config) if path is not None),
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
}


def severity(start: LogDirStart) -> Severity:
    """Return how bad the worst is that happens to a log dir."""
    found = (start.outcome, *(each.outcome for each in start.partitions))
    return max((_SEVERITIES[each] for each in found), key=lambda each: each.rank)


def verdict_rows(arguments: list[str], wish: Wish) -> tuple[Row, ...]:
    """Return the verdict on each log dir that the paths hold, without its partitions."""
    targets = [target for target in replica_targets(arguments) if target.kind is not Kind.FILE]
    starts = decided([_start(target, wish, []) for target in targets])
    return tuple({**_log_dir_row(start, wish), "partitions": ()} for start in starts)


def _start(target: Target, wish: Wish, collected: list[Finding]) -> LogDirStart:
    if target.kind is Kind.LOG_DIR:
        log_dir = open_log_dir(target.path, target.broker_id, wish.release)
        found = wanted_directories(log_dir, wish.wanted)
        collected.extend(log_dir.findings)
        return start_log_dir(target.path, log_dir, found, wish, collected)
    view, log_dir = lone_partition(target.path, target.broker_id, walk_all=False, release=wish.release)
    if view is None:
        collected.extend(log_dir.findings)
        return LogDirStart(target.path, None, Outcome.OK, (), False, None, ())
    parent, name = split(target.path)
    directory = PartitionDirectory(view.topic, view.partition, view.state, canonical=True)
    alone = LogDir(view=log_dir.view._replace(unparseable=()), checkpoints=log_dir.checkpoints)
    return start_log_dir(parent, alone, [(name, directory)], wish, collected)


def start_log_dir(
    path: str, log_dir: LogDir, directories: list[tuple[str, PartitionDirectory]], wish: Wish, collected: list[Finding]
) -> LogDirStart:
    """Return what the start makes of one log dir, looked at by itself."""
    release = wish.release
    view = log_dir.view
    clean = view.clean_shutdown if wish.clean is None else wish.clean
    context = Context(wish.settings, release)
    partitions: list[Prediction] = []
    for name, directory in directories:
        if not _is_loaded(name, directory, wish):
            continue
        stored = _stored(directory, log_dir, clean=clean)
        if _is_metadata_log(name, directory, release):
            stored = Stored(clean=False)  # It is read from its begin, whatever the checkpoints say.
        where = view.where._replace(dir=name, topic=directory.topic, partition=directory.partition)
        # The log of KRaft takes none of the settings of a topic.
        own = Context(Settings(wish.settings.mode), release) if _is_metadata_log(name, directory, release) else context
        found = attempt(_task(join(path, name), name, directory, stored, own), where)
        if isinstance(found, Finding):
            collected.append(found)
        else:
            partitions.append(found)
    readings = tuple(_checkpoint_readings(log_dir, release))
    return _judged(path, log_dir, readings, clean, tuple(partitions), release)


def _task(
    path: str, name: str, directory: PartitionDirectory, stored: Stored, context: Context
) -> Callable[[], Prediction]:
    return lambda: start_partition(path, name, directory, stored, context)


def _is_loaded(name: str, directory: PartitionDirectory, wish: Wish) -> bool:
    """Whether the start loads a directory; the log of KRaft is loaded by another part of the broker."""
    if _is_metadata_log(name, directory, wish.release):
        return wish.settings.mode is Mode.KRAFT and name == f"{CLUSTER_METADATA}-0"
    return broker_accepts(name, wish.release) is not None


def _is_metadata_log(name: str, directory: PartitionDirectory, release: Release) -> bool:
    return directory.topic == CLUSTER_METADATA and skipped_by_broker(name, release)


def _stored(directory: PartitionDirectory, log_dir: LogDir, *, clean: bool) -> Stored:
    """Return what the checkpoints say."""
    told = log_dir.checkpoints

    def offset(table: Mapping[str, Mapping[int, int]]) -> int | None:
        return table.get(directory.topic, {}).get(directory.partition)

    return Stored(clean, offset(told.log_start) or 0, offset(told.recovery_point) or 0, offset(told.high_watermark))


def _checkpoint_readings(log_dir: LogDir, release: Release) -> Iterator[Reading]:
    """Yield what follows from the files at the top of a log dir."""
    for name in OFFSET_CHECKPOINTS:
        file = log_dir.view.files.get(name)
        if file is not None and file.reads is not None and file.reads.error is not None:
            found = reading(name, file.reads.error, release)
            if found is not None:
                yield found
    meta = log_dir.view.files.get(META_PROPERTIES)
    for finding in () if meta is None else kc121_meta_properties_unreadable.check(meta, release):
        offline = LOG_DIR_OFFLINE in finding.effect
        if offline or "does not start" in finding.effect:
            yield Reading(Outcome.OFFLINE if offline else Outcome.ABORT, finding.message)
    for name in log_dir.view.unparseable:
        yield Reading(Outcome.ABORT, f"{name} is no name of a partition directory")


def _judged(
    path: str, log_dir: LogDir, readings: tuple[Reading, ...], clean: bool, partitions: tuple[Prediction, ...],
    release: Release,
) -> LogDirStart:  # fmt: skip
    """Return the outcome of a log dir: an abort before a failure of the log dir, that before a load."""
    aborts = [each.reason for each in readings if each.outcome is Outcome.ABORT]
    aborts += [f"{each.dir}: {each.reason}" for each in partitions if each.outcome is Outcome.ABORT]
    aborts += _duplicates(partitions)
    offline = [each.reason for each in readings if each.outcome is Outcome.OFFLINE]
    offline += [f"{each.dir}: {each.reason}" for each in partitions if each.outcome is Outcome.OFFLINE]
    unstable = [each.dir for each in partitions if each.log is not None and each.log.unstable]
    uncertain = None
    if offline and unstable and release.version >= (3,):
        # A log with an unstable offset is read while its log dir is already given up: KafkaStorageException.
        why = f"{unstable[0]} has a transaction that is not settled, and its log dir is already given up"
        if any(each.queued for each in readings):
            aborts.append(f"{offline[0]}; {why}")
        elif any(each.queued for each in partitions):
            uncertain = f"the start may abort instead: {why}, if it is loaded after the file that cannot be read"
    outcome = Outcome.ABORT if aborts else Outcome.OFFLINE if offline else Outcome.OK
    return LogDirStart(path, log_dir.view.where.broker_id, outcome, (*aborts, *offline), clean, uncertain, partitions)


def _duplicates(partitions: Iterable[Prediction]) -> list[str]:
    """Return the partitions that are loaded twice (LogManager.loadLog)."""
    live = (DirectoryState.CURRENT, DirectoryState.FUTURE)
    keys = [
        (each.directory.topic, each.directory.partition, each.directory.state)
        for each in partitions
        if each.log is not None and each.directory.state in live and each.outcome is not Outcome.STRAY
    ]
    return [f"{topic}-{number} stands there twice" for (topic, number, _), n in Counter(keys).items() if n > 1]


def decided(starts: list[LogDirStart]) -> list[LogDirStart]:
    """Return the log dirs with what those of the same broker mean for each other."""
    found: list[LogDirStart] = []
    for start in starts:
        others = [each for each in starts if each.broker_id == start.broker_id and each.broker_id is not None]
        twice = _duplicates(part for each in others for part in each.partitions) if len(others) > 1 else []
        bad = next((each for each in others if each.outcome is Outcome.ABORT and each is not start), None)
        if start.outcome is not Outcome.ABORT and (twice or bad is not None):
            why = twice[0] if bad is None else f"the start of the broker ends because of {bad.path}: {bad.reasons[0]}"
            found.append(start._replace(outcome=Outcome.ABORT, reasons=(why, *start.reasons)))
        else:
            found.append(start)
    return found


def verdict(start: LogDirStart) -> str:
    """Return the verdict in words."""
    if start.outcome is Outcome.ABORT:
        return "will not boot"
    if start.outcome is Outcome.OFFLINE:
        return "will go offline"
    lost = [each.lost for each in start.partitions if each.lost is not None]
    if not lost:
        return "will boot"
    known = [each.records for each in lost if each.records is not None]
    return f"will boot but lose {'at least ' if len(known) < len(lost) else ''}{sum(known)} records"


def _log_dir_row(start: LogDirStart, wish: Wish) -> Row:
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
        "next_start": _next_start(start, wish.settings),
        "lost_records": None if None in known else sum(each or 0 for each in known),
        "scan_bytes": sum(each.scan_bytes for each in start.partitions),
        "partitions": tuple(partition_row(each) for each in start.partitions),
    }


def _next_start(start: LogDirStart, settings: Settings) -> str | None:
    """Return what the start after this one will find, where this one fails."""
    if start.outcome is not Outcome.ABORT:
        return None
    if not start.clean:
        return "unclean"
    # ZooKeeper's broker shuts down in order where a KRaft broker halts, and so writes the marker again.
    return "unclean" if settings.mode is Mode.KRAFT else "clean"


def partition_row(found: Prediction) -> dict[str, object]:
    """Return a partition as JSON shows it."""
    log, changes = found.log, found.changes
    return {
        "dir": found.dir,
        "topic": found.directory.topic,
        "partition": found.directory.partition,
        "outcome": str(found.outcome),
        "reason": found.reason,
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


def lost_row(lost: Lost) -> dict[str, object]:
    """Return what is lost as JSON shows it."""
    return {
        "from": lost.start,
        "to": lost.end,
        "records": lost.records,
        "bytes": lost.bytes,
        "below_high_watermark": lost.below_high_watermark,
    }
