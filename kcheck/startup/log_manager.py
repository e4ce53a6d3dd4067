"""What the next start makes of one log dir, and what the log dirs of one broker mean for each other: LogManager."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from kcheck.core.cluster_copies import MetadataCopy, StrayDetector, stray_detector
from kcheck.core.meta_properties import names_nothing, outcome_of
from kcheck.core.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.startup import Mode, Outcome, Settings, UnreadableOutcome, mode_of, unreadable_checkpoint
from kcheck.disk.walk import join
from kcheck.jobs.guard import guarded
from kcheck.model.finding import Finding, Severity
from kcheck.model.names import (
    CLEAN_SHUTDOWN,
    CLUSTER_METADATA,
    LIVE,
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    DirectoryState,
    FileKind,
    PartitionDirectory,
    broker_accepts,
    skipped_by_broker,
)
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.rules import (
    kc001_unreadable,
    kc121_meta_properties_unreadable,
    kc305_identity_mismatch,
    kc306_directory_id_duplicate,
)
from kcheck.startup.inputs import Context, LoadInputs, load_inputs
from kcheck.views.log_dir import LogDir
from kcheck.views.recheck import has_left

_ABSENT = (Outcome.ABORT, Outcome.OFFLINE, Outcome.UNKNOWN, Outcome.STRAY)
"""What is not loaded, or not as a partition."""

Load = Callable[[str, str, PartitionDirectory, LoadInputs, Context], PartitionPrediction]


class StartOptions(NamedTuple):
    """What the user says of the start: whether the stop before it was clean (None: the marker tells), its settings.

    `copies` are those of the metadata of clusters that he gave, by the ids of these.
    """

    clean: bool | None
    settings: Settings
    release: Release
    wanted: PartitionFilter = PartitionFilter()
    copies: Mapping[str, tuple[MetadataCopy, ...]] = {}


def start_log_dir(
    path: str,
    log_dir: LogDir,
    directories: list[tuple[str, PartitionDirectory]],
    wish: StartOptions,
    collected: list[Finding],
    load: Load,
) -> LogDirPrediction:
    """Return what the start makes of one log dir, looked at by itself; `load` tells it of one directory."""
    clean, context = start_context(log_dir, wish)
    partitions = loaded(path, log_dir, directories, collected, load, clean=clean, context=context)
    return log_dir_start(path, log_dir, tuple(partitions), clean=clean, context=context)


def start_context(log_dir: LogDir, wish: StartOptions) -> tuple[bool, Context]:
    """Return whether the stop before the start counts as clean, and what every step of the start needs to know."""
    view = log_dir.view
    clean = view.clean_shutdown if wish.clean is None else wish.clean
    told_by = stray_detector(wish.copies.get(view.cluster_id or "", ()), view.where.broker_id, view.directory_id)
    mode = mode_of_log_dir(log_dir, wish.settings, wish.release, told_by)
    return clean, Context(wish.settings, mode, wish.release, told_by if mode is Mode.KRAFT else None)


def loaded(
    path: str, log_dir: LogDir, directories: list[tuple[str, PartitionDirectory]], collected: list[Finding],
    load: Load, *, clean: bool, context: Context,
) -> Iterator[PartitionPrediction]:  # fmt: skip
    """Yield what becomes of those directories that the start loads; what cannot be looked at goes into `collected`."""
    view = log_dir.view
    for name, directory in directories:
        told = log_dir.checkpoints.of(directory.topic, directory.partition)
        begun = begin(name, directory, load_inputs(told, context.release, clean=clean), context)
        if begun is None:
            continue
        where = view.where._replace(dir=name, topic=directory.topic, partition=directory.partition)
        found = guarded(partial(load, join(path, name), name, directory, *begun), where)
        if view.locked_by is not None and (isinstance(found, Finding) or found.unread):
            if has_left(view, name):
                collected.append(kc001_unreadable.finding(where, kc001_unreadable.GONE))
                continue
            found = guarded(partial(load, join(path, name), name, directory, *begun), where)
        if isinstance(found, Finding):
            collected.append(found)
        else:
            yield found
            if found.unread:
                collected.append(kc001_unreadable.finding(where, found.unread))


def mode_of_log_dir(
    log_dir: LogDir, settings: Settings, release: Release, told_by: StrayDetector | None = None
) -> Mode:
    """Return who keeps the metadata of the broker that the log dir belongs to.

    The meta.properties of a broker that came from ZooKeeper keeps its version 0: `told_by` knows how it registered.
    """
    if settings.mode is None and told_by is not None and told_by.of_kraft:
        return Mode.KRAFT
    meta = log_dir.view.files.get(META_PROPERTIES)
    known = meta is not None and not names_nothing(meta.parsed.value.properties)
    return mode_of(settings.mode, meta.parsed.value.version if meta is not None and known else None, release)


def begin(
    name: str, directory: PartitionDirectory, stored: LoadInputs, context: Context
) -> tuple[LoadInputs, Context] | None:
    """Return with what the start loads a directory, None if it loads none of this name.

    The log of KRaft is loaded by another part of the broker: it is read from its begin, whatever the checkpoints say,
    and takes none of the settings of a topic.
    """
    if not is_metadata_log(name, directory, context.release):
        return None if broker_accepts(name, context.release) is None else (stored, context)
    if context.mode is not Mode.KRAFT or name != f"{CLUSTER_METADATA}-0":
        return None
    return LoadInputs(clean=False), context._replace(settings=Settings(index_size_said=True))


def is_metadata_log(name: str, directory: PartitionDirectory, release: Release) -> bool:
    """Whether a directory is that of the log of KRaft."""
    return directory.topic == CLUSTER_METADATA and skipped_by_broker(name, release)


def _readings(log_dir: LogDir, mode: Mode, release: Release) -> Iterator[UnreadableOutcome]:
    """Yield what follows from the files at the top of a log dir."""
    for name in OFFSET_CHECKPOINTS:
        file = log_dir.view.files.get(name)
        if file is not None and file.refusal is not None:
            found = unreadable_checkpoint(name, file.refusal, release)
            if found is not None:
                yield found
    meta = log_dir.view.files.get(META_PROPERTIES)
    fault = None if meta is None else kc121_meta_properties_unreadable.fault_in(meta, release)
    if meta is not None and fault is not None:
        outcome = outcome_of(fault, release, mode=mode, empty=names_nothing(meta.parsed.value.properties))
        if outcome is not Outcome.OK:
            yield UnreadableOutcome(outcome, kc121_meta_properties_unreadable.message(meta, fault))
    bootstrap = log_dir.view.files.get(FileKind.BOOTSTRAP)
    # It is read beside the log of KRaft alone.
    read = mode is Mode.KRAFT and any(is_metadata_log(*each, release) for each in log_dir.directories)
    if read and bootstrap is not None and bootstrap.refusal is not None:
        yield UnreadableOutcome(Outcome.ABORT, f"{FileKind.BOOTSTRAP} cannot be read: {bootstrap.refusal}")
    for name in () if log_dir.alone else log_dir.view.unparseable:
        if name != CLEAN_SHUTDOWN or not release.removes_marker_first:
            yield UnreadableOutcome(Outcome.ABORT, f"{name} is no name of a partition directory")
        elif not log_dir.view.clean_shutdown:
            yield UnreadableOutcome(Outcome.OFFLINE, f"{name} is a directory that is not empty: it cannot be removed")


def log_dir_start(
    path: str, log_dir: LogDir, partitions: tuple[PartitionPrediction, ...], *, clean: bool, context: Context
) -> LogDirPrediction:
    """Return the outcome of a log dir: an abort before a failure of the log dir, that before a load.

    `clean`: whether the stop before was.
    """
    mode, release = context.mode, context.release
    readings = tuple(_readings(log_dir, mode, release))
    aborts = [each.reason for each in readings if each.outcome is Outcome.ABORT]
    aborts += [f"{each.dir}: {each.reason}" for each in partitions if each.outcome is Outcome.ABORT]
    aborts += _duplicates((path, each) for each in partitions)
    offline = [each.reason for each in readings if each.outcome is Outcome.OFFLINE]
    offline += [f"{each.dir}: {each.reason}" for each in partitions if each.outcome is Outcome.OFFLINE]
    touched = next((each.touched for each in partitions if each.touched is not None), None)
    unread = [each.where for each in log_dir.findings if each.severity is Severity.ERROR]
    uncertain = f"{unread[0].dir or unread[0].file or path} cannot be read" if unread else None
    if offline and touched is not None and release.aborts_on_open_transactions_offline:
        # Reading or renaming it raises KafkaStorageException, because its log dir is already given up.
        why = f"{touched}, and its log dir is already given up"
        if any(each.queued for each in readings):
            aborts.append(f"{offline[0]}; {why}")
        elif any(each.queued for each in partitions):
            uncertain = f"the start may abort instead: {why}, if it is loaded after the file that cannot be read"
    if mode is Mode.KRAFT and _is_unformatted(log_dir):
        # It may be of ZooKeeper, or copies of files: every log dir that was in use has partitions and checkpoints.
        if context.settings.mode is None or not (log_dir.view.files and log_dir.directories):
            uncertain = f"the start ends if this is a log dir of KRaft: {META_PROPERTIES} is missing"
        else:
            aborts.append(f"{META_PROPERTIES} is missing: the log dir was never formatted, or has lost it")
    outcome = Outcome.ABORT if aborts else Outcome.OFFLINE if offline else Outcome.OK
    view = log_dir.view._replace(of_kraft=context.judge is not None and context.judge.of_kraft)
    return LogDirPrediction(
        path, view.where.broker_id, outcome, (*aborts, *offline), clean, mode, uncertain, partitions, view,
        unread=bool(unread),
    )  # fmt: skip


def _is_unformatted(log_dir: LogDir) -> bool:
    """Whether the log dir is known to have no meta.properties."""
    if log_dir.alone or META_PROPERTIES in log_dir.view.files:
        return False
    unread = [each.where.file for each in log_dir.findings if each.where.dir is None]
    return not {None, META_PROPERTIES}.intersection(unread)


def _duplicates(places: Iterable[tuple[str, PartitionPrediction]]) -> list[str]:
    """Return the partitions that are loaded twice, each with its log dir (LogManager.loadLog, KafkaRaftServer)."""
    found: dict[tuple[str, int, DirectoryState], list[tuple[str, str]]] = {}
    for path, each in places:
        topic, number, state, _ = each.directory
        if each.outcome not in _ABSENT and state in LIVE:
            found.setdefault((topic, number, state), []).append((path, each.dir))
    return [
        f"{topic}-{number} stands there twice: {' and '.join(join(*place) for place in same)}"
        for (topic, number, _), same in found.items()
        if len(same) > 1
    ]


def _strangers(starts: Iterable[LogDirPrediction], release: Release) -> Iterator[str]:
    """Yield why log dirs are not those of one broker, or not different ones: no log is loaded then."""
    views = tuple(each.view for each in starts if each.view is not None)
    for rule in (kc305_identity_mismatch, kc306_directory_id_duplicate):
        yield from (finding.message for finding in rule.check(views, release))


def _end_of_all(starts: list[LogDirPrediction], release: Release) -> str | None:
    """Return why no log dir of a broker is loaded, None where nothing speaks against it."""
    together = [*_strangers(starts, release)]
    together += _duplicates(
        (each.path, part) for each in starts for part in each.partitions if not has_left(each.view, part.dir)
    )
    if together:
        return together[0]
    bad = next((each for each in starts if each.outcome is Outcome.ABORT), None)
    return None if bad is None else f"the start of the broker ends because of {bad.path}: {bad.reasons[0]}"


def _promoted(group: list[LogDirPrediction]) -> dict[tuple[str, int], str]:
    """Return the log dirs of future logs that take the place of current ones, by partition."""
    return {each.directory[:2]: start.path for start in group for each in start.partitions if each.promoted}


def _replaced(start: LogDirPrediction, found: Mapping[tuple[str, int], str]) -> LogDirPrediction:
    """Return a log dir without the logs that a future one replaces (LogManager.replaceCurrentWithFutureLog)."""
    return start._replace(
        partitions=tuple(
            each._replace(
                outcome=Outcome.DELETED, reason=f"its future log in {found[each.directory[:2]]} takes its place"
            )
            if each.directory[:2] in found and each.directory.state is DirectoryState.CURRENT
            else each
            for each in start.partitions
        )
    )


def combined_starts(starts: list[LogDirPrediction], release: Release) -> list[LogDirPrediction]:
    """Return the log dirs with what those of the same broker mean for each other."""
    brokers = [at if start.broker is None else (start.broker,) for at, start in enumerate(starts)]
    groups: dict[object, list[LogDirPrediction]] = {}
    for broker, start in zip(brokers, starts, strict=True):
        groups.setdefault(broker, []).append(start)
    ends = {broker: _end_of_all(group, release) for broker, group in groups.items()}
    promoted = {broker: _promoted(group) for broker, group in groups.items()}
    found: list[LogDirPrediction] = []
    for broker, at in zip(brokers, starts, strict=True):
        why, start = ends[broker], _replaced(at, promoted[broker])
        if why is None or start.outcome is Outcome.ABORT:
            found.append(start)
        else:
            found.append(start._replace(outcome=Outcome.ABORT, reasons=(why, *start.reasons)))
    return found
