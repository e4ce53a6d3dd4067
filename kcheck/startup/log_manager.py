"""Predicts the next start of one log dir, and of all log dirs of one broker (LogManager)."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from posixpath import join

from kcheck.core.cluster.metadata_version import unsupported
from kcheck.core.start.meta_properties import names_nothing, outcome_of
from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import (
    REMOTE_STORAGE,
    Mode,
    Outcome,
    Settings,
    UnreadableOutcome,
    mode_of,
    refusal_of,
    unreadable_checkpoint,
)
from kcheck.core.start.strays import StrayDetector, replica_in_cluster, stray_detector
from kcheck.core.start.topic_settings import has_remote_storage, with_log_start
from kcheck.core.start.zookeeper_replicas import zookeeper_replicas
from kcheck.jobs.guard import guarded
from kcheck.model.finding import Finding, Severity
from kcheck.model.names import (
    CLEAN_SHUTDOWN,
    CLUSTER_METADATA,
    META_PROPERTIES,
    METADATA_DIRECTORY,
    OFFSET_CHECKPOINTS,
    REMOTE_INDEX_CACHE,
    FileKind,
    PartitionDirectory,
    broker_accepts,
    skipped_by_broker,
)
from kcheck.model.release import Release
from kcheck.model.views import LogDir, LogDirView, PartitionView
from kcheck.rules import (
    kc001_unreadable,
    kc121_meta_properties_unreadable,
    kc305_identity_mismatch,
    kc306_directory_id_duplicate,
    kc314_remote_index_cache_refused,
    kc503_metadata_version_too_new,
)
from kcheck.startup.inputs import Context, DirectoryLoad, LoadInputs, load_inputs
from kcheck.startup.log_dir_outcome import (
    PredictedPartition,
    Unformatted,
    broker_abort,
    current_logs,
    duplicates,
    future_beside_current,
    log_dir_outcome,
    promoted_futures,
    with_abort,
    without_abandoned,
    without_replaced,
)
from kcheck.startup.options import StartOptions

Load = Callable[[str, PartitionDirectory, LoadInputs, Context], PartitionPrediction]
"""Predicts one partition directory of a log dir, from its name, parsed name, inputs and context."""
HasLeft = Callable[[LogDirView | None, str], bool]
"""True if a directory has left a log dir, because a running broker moves partitions between its log dirs."""


def start_log_dir(
    path: str,
    log_dir: LogDir,
    directories: list[tuple[str, PartitionDirectory]],
    options: StartOptions,
    collected: list[Finding],
    load: Load,
    has_left: HasLeft,
) -> LogDirPrediction:
    """Return the prediction of one log dir alone; `load` predicts one directory.

    Findings about unreadable files go into `collected`.
    """
    clean, context = start_context(log_dir, options)
    partitions = load_directories(log_dir, directories, collected, load, has_left, clean=clean, context=context)
    return log_dir_start(path, log_dir, tuple(partitions), clean=clean, context=context)


def start_context(log_dir: LogDir, options: StartOptions) -> tuple[bool, Context]:
    """Return whether the last shutdown counts as clean, and the context that every step needs."""
    view = log_dir.view
    clean = view.clean_shutdown if options.clean is None else options.clean
    copies = options.copies.get(view.cluster_id or "", ())
    detector = stray_detector(copies, view.where.broker_id, view.directory_id, keeps_strays=options.has_log_without_id)
    settings = _with_mode(options, view)
    mode = mode_of_log_dir(log_dir, settings, options.release, detector)
    kraft, zookeeper, release = mode is Mode.KRAFT, options.zookeeper, options.release
    by_zookeeper = None if kraft or zookeeper is None else zookeeper_replicas(
        zookeeper, view, compares_topic_ids=release.compares_topic_ids
    )  # fmt: skip
    return clean, Context(settings, mode, release, detector if kraft else None, by_zookeeper)


def _with_mode(options: StartOptions, view: LogDirView) -> Settings:
    """Return the settings, with the mode of the cluster if no setting and no meta.properties has one."""
    is_open = options.settings.mode is None and META_PROPERTIES not in view.files
    return options.settings._replace(mode=options.mode_of_cluster) if is_open else options.settings


def load_directories(
    log_dir: LogDir, directories: list[tuple[str, PartitionDirectory]], collected: list[Finding],
    load: Load, has_left: HasLeft, *, clean: bool, context: Context,
) -> Iterator[PartitionPrediction]:  # fmt: skip
    """Yield the predictions of the directories that the broker loads.

    Findings about unreadable files go into `collected`.
    """
    view = log_dir.view
    for name, directory in directories:
        checkpoints = log_dir.checkpoints.of(directory.topic, directory.partition)
        inputs = load_inputs(checkpoints, context.release, clean=clean)
        directory_load = directory_load_of(name, directory, inputs, context)
        if directory_load is None:
            continue
        where = view.where._replace(dir=name, topic=directory.topic, partition=directory.partition)
        predict = partial(load, name, directory, directory_load.inputs, directory_load.context)
        prediction = guarded(predict, where)
        if view.locked_by is not None and (isinstance(prediction, Finding) or prediction.unread):
            if has_left(view, name):
                collected.append(kc001_unreadable.finding(where, kc001_unreadable.GONE))
                continue
            prediction = guarded(predict, where)
        if isinstance(prediction, Finding):
            collected.append(prediction)
        else:
            yield prediction
            if prediction.unread:
                collected.append(kc001_unreadable.finding(where, prediction.unread))


def mode_of_log_dir(
    log_dir: LogDir, settings: Settings, release: Release, detector: StrayDetector | None = None
) -> Mode:
    """Return whether KRaft or ZooKeeper keeps the metadata of the log dir's broker.

    A broker that came from ZooKeeper keeps version 0 in its meta.properties. `detector` has its registration.
    """
    if settings.mode is None and detector is not None and detector.of_kraft:
        return Mode.KRAFT
    meta = log_dir.view.files.get(META_PROPERTIES)
    known = meta is not None and not names_nothing(meta.parsed.value.properties)
    return mode_of(settings.mode, meta.parsed.value.version if meta is not None and known else None, release)


def directory_load_of(
    name: str, directory: PartitionDirectory, inputs: LoadInputs, context: Context
) -> DirectoryLoad | None:
    """Return the inputs for loading a directory; None if the broker does not load a directory of this name.

    KafkaMetadataLog, not LogManager, loads the KRaft log. It loads it as unclean, from its first offset, without topic
    settings.
    """
    if not is_metadata_log(name, directory, context.release):
        known = broker_accepts(name, context.release) is not None
        return DirectoryLoad(inputs, with_topic_settings(context, directory.topic)) if known else None
    if context.mode is not Mode.KRAFT or name != METADATA_DIRECTORY:
        return None
    fixed = Settings(index_size_said=True, index_interval_said=True)
    return DirectoryLoad(LoadInputs(clean=False), context._replace(settings=fixed))


def with_topic_settings(context: Context, topic: str) -> Context:
    """Return the context with the metadata of a topic, that is, whether it has a part in remote storage."""
    detector, said = context.stray_detector, context.settings.remote_storage
    if detector is None or not detector.sees_copy or said is False:
        return context
    remote = has_remote_storage(detector.copy.image, topic)
    if remote is None:
        return context
    return context._replace(settings=context.settings._replace(remote_storage=remote, of_topic=remote))


def placed(view: PartitionView, log_dir: LogDirView, context: Context) -> PartitionView:
    """Return a partition with its metadata in the context, if there is any."""
    if context.stray_detector is None:
        return view
    settings = with_topic_settings(context, view.topic).settings
    view = with_log_start(view, context.release, remote_storage=settings.remote_storage, of_topic=settings.of_topic)
    return view._replace(in_cluster=replica_in_cluster(context.stray_detector, view, log_dir))


def is_metadata_log(name: str, directory: PartitionDirectory, release: Release) -> bool:
    """Return whether a directory holds the KRaft log."""
    return directory.topic == CLUSTER_METADATA and skipped_by_broker(name, release)


def _failures(log_dir: LogDir, context: Context) -> Iterator[UnreadableOutcome]:
    """Yield the failures at the top of a log dir (checkpoints, small files, metadata, names of directories)."""
    mode, release, detector = context.mode, context.release, context.stray_detector
    for name in OFFSET_CHECKPOINTS:
        refusal = refusal_of(name, log_dir.view)
        failure = None if refusal is None else unreadable_checkpoint(name, refusal, release)
        if failure is not None:
            yield failure
    meta = log_dir.view.files.get(META_PROPERTIES)
    fault = None if meta is None else kc121_meta_properties_unreadable.fault_in(meta, release)
    if meta is not None and fault is not None:
        outcome = outcome_of(fault, release, mode=mode)
        if outcome is not Outcome.OK:
            yield UnreadableOutcome(outcome, kc121_meta_properties_unreadable.message(meta, fault))
    refused = None if detector is None else unsupported(detector.copy.image, release)
    if refused is not None:
        words = kc503_metadata_version_too_new.feature_words(refused)
        yield UnreadableOutcome(Outcome.ABORT, f"{words}: {kc503_metadata_version_too_new.effect(release)}")
    cache = _refused_cache(log_dir, context)
    if cache is not None and context.settings.remote_storage:
        yield UnreadableOutcome(Outcome.ABORT, cache)
    bootstrap = log_dir.view.files.get(FileKind.BOOTSTRAP)
    # The broker reads it only in the log dir of the KRaft log.
    is_read = mode is Mode.KRAFT and any(
        is_metadata_log(name, directory, release) for name, directory in log_dir.directories
    )
    if is_read and bootstrap is not None and bootstrap.refusal is not None:
        yield UnreadableOutcome(Outcome.ABORT, f"{FileKind.BOOTSTRAP} cannot be read: {bootstrap.refusal}")
    yield from _blocked(log_dir, context)
    for name in () if log_dir.alone else log_dir.view.unparseable:
        if name != CLEAN_SHUTDOWN or not release.removes_marker_first:
            yield UnreadableOutcome(Outcome.ABORT, f"{name} is not a valid partition directory name")
        elif not log_dir.view.clean_shutdown:
            yield UnreadableOutcome(Outcome.OFFLINE, f"the broker cannot remove the directory {name}: it is not empty")


def _blocked(log_dir: LogDir, context: Context) -> Iterator[UnreadableOutcome]:
    """Yield the files that block a directory which the broker creates (KafkaRaftManager.createDataDir, LogManager)."""
    needed = log_dir.view.blocked_and_needed
    for name in log_dir.view.blocked:
        if context.mode is Mode.KRAFT and name == METADATA_DIRECTORY:
            outcome = Outcome.ABORT
        elif name in needed:
            outcome = Outcome.OFFLINE if context.release.has_offline_log_dirs else Outcome.ABORT
        else:
            continue
        yield UnreadableOutcome(outcome, f"{name} is a file, so the broker cannot create the directory")


def _refused_cache(log_dir: LogDir, context: Context) -> str | None:
    """Return why a broker with remote storage cannot open its remote-log-index-cache; None if it can."""
    cache = log_dir.view.remote_index_cache
    if cache is None or not cache.refused_count or not context.release.has_remote_storage:
        return None
    return f"{REMOTE_INDEX_CACHE}: {kc314_remote_index_cache_refused.message(cache)}"


def log_dir_start(
    path: str, log_dir: LogDir, partitions: tuple[PartitionPrediction, ...], *, clean: bool, context: Context
) -> LogDirPrediction:
    """Return the outcome of a log dir alone; `clean`: whether its last shutdown counts as clean."""
    refused = {name for name in OFFSET_CHECKPOINTS if refusal_of(name, log_dir.view) is not None}
    unreadable = [
        finding.where
        for finding in log_dir.findings
        if finding.severity is Severity.ERROR and (finding.where.dir is not None or finding.where.file not in refused)
    ]
    decision = log_dir_outcome(
        tuple(_failures(log_dir, context)),
        [PredictedPartition(join(path, partition.dir), partition) for partition in partitions],
        unformatted=_unformatted(log_dir, context),
        unread=(unreadable[0].dir or unreadable[0].file or path) if unreadable else None,
        release=context.release,
    )
    detector, cache, uncertain = context.stray_detector, _refused_cache(log_dir, context), decision.uncertain
    if cache is not None and context.settings.remote_storage is None:
        uncertain = uncertain or f"startup aborts if {REMOTE_STORAGE} is true: {cache}"
    number = log_dir.view.where.broker_id
    registers = detector is None or number is None or number in detector.copy.image.brokers
    return LogDirPrediction(
        path=path, broker_id=number, outcome=decision.outcome, reasons=decision.reasons,
        clean=clean, mode=context.mode, uncertain=uncertain, partitions=partitions,
        view=log_dir.view._replace(
            of_kraft=detector is not None and detector.of_kraft,
            of_controller=not registers and all(part.directory.topic == CLUSTER_METADATA for part in partitions),
        ),
        unread=bool(unreadable),
    )  # fmt: skip


def _unformatted(log_dir: LogDir, context: Context) -> Unformatted:
    """Return the meaning of a log dir without meta.properties."""
    if context.mode is not Mode.KRAFT or log_dir.alone or META_PROPERTIES in log_dir.view.files:
        return Unformatted.NO
    unreadable = [finding.where.file for finding in log_dir.findings if finding.where.dir is None]
    if not {None, META_PROPERTIES}.isdisjoint(unreadable):
        return Unformatted.NO
    # It may be of ZooKeeper, or copies of files: every log dir that was in use has partitions and checkpoints.
    in_use = bool(log_dir.view.files and log_dir.directories)
    return Unformatted.YES if context.settings.mode is not None and in_use else Unformatted.MAYBE


def _conflicts(starts: list[LogDirPrediction], release: Release, has_left: HasLeft) -> Iterator[str]:
    """Yield why log dirs cannot belong to one broker (different identities, or a partition in two of them)."""
    views = tuple(start.view for start in starts if start.view is not None)
    for rule in (kc305_identity_mismatch, kc306_directory_id_duplicate):
        yield from (finding.message for finding in rule.check(views, release))
    yield from duplicates(_places(starts, has_left))
    renaming = (start for start in starts if _renames_at_start(start, release))
    yield from (why for start in renaming if (why := future_beside_current(start)) is not None)


def _renames_at_start(start: LogDirPrediction, release: Release) -> bool:
    """Return whether the broker renames future logs before it serves any (BrokerMetadataPublisher 3.7.1 to 4.3.1)."""
    return release.promotes_future_logs and start.mode is Mode.KRAFT


def _places(starts: Iterable[LogDirPrediction], has_left: HasLeft) -> Iterator[PredictedPartition]:
    """Yield the partition directories that are still there."""
    for start in starts:
        for partition in start.partitions:
            if not has_left(start.view, partition.dir):
                yield PredictedPartition(join(start.path, partition.dir), partition)


def _none_left(_: LogDirView | None, __: str) -> bool:
    return False


def _with_failed_rename(start: LogDirPrediction, release: Release) -> LogDirPrediction:
    """Return a log dir that goes offline later because a broker cannot rename its -future directory.

    This concerns 3.7.0 and earlier, and every broker with ZooKeeper.
    """
    why = None if _renames_at_start(start, release) else future_beside_current(start)
    if why is None or start.outcome is not Outcome.OK:
        return start
    return start._replace(outcome=Outcome.OFFLINE, reasons=(why, *start.reasons))


def combined_starts(
    starts: list[LogDirPrediction], release: Release, has_left: HasLeft = _none_left
) -> list[LogDirPrediction]:
    """Return the log dirs, in order, with the effects that log dirs of the same broker have on each other."""
    brokers = [number if start.broker is None else (start.broker,) for number, start in enumerate(starts)]
    log_dirs: dict[object, list[LogDirPrediction]] = {}
    for broker, start in zip(brokers, starts, strict=True):
        log_dirs.setdefault(broker, []).append(start)
    aborts = {
        broker: broker_abort(group, [*_conflicts(group, release, has_left)]) for broker, group in log_dirs.items()
    }
    current = {broker: current_logs(group) for broker, group in log_dirs.items()}
    futures = {broker: promoted_futures(group) for broker, group in log_dirs.items()}
    return [
        with_abort(start, aborts[broker])
        if aborts[broker] is not None
        else without_abandoned(without_replaced(_with_failed_rename(start, release), futures[broker]), current[broker])
        for broker, start in zip(brokers, starts, strict=True)
    ]
