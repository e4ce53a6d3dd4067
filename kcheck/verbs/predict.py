"""`kcheck predict`: simulates the next start of the broker on its log dirs."""

from collections.abc import Iterable, Mapping

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.cluster.quorum import with_electors
from kcheck.core.premises.settings import refused_start
from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import NOT_LOADED, Mode, Outcome, Settings
from kcheck.core.start.unserved import unserved
from kcheck.disk.kept import expect_owners
from kcheck.disk.paths import join, split
from kcheck.disk.tree import Tree, real_path, tree_of
from kcheck.model.cluster import PROVIDER
from kcheck.model.finding import Finding
from kcheck.model.names import (
    META_PROPERTIES,
    METADATA_DIRECTORY,
    PARTITION_METADATA,
    PartitionDirectory,
    parse_directory,
)
from kcheck.model.report import PartitionFilter
from kcheck.model.views import LogDir
from kcheck.startup.inputs import Context, LoadInputs
from kcheck.startup.log_manager import Load, is_metadata_log, mode_of_log_dir, start_log_dir
from kcheck.startup.options import StartOptions
from kcheck.startup.unchanged import unchanged_prediction
from kcheck.survey.recheck import has_left
from kcheck.survey.selection import require_match
from kcheck.verbs.log_facts import looks_between, looks_into_segments
from kcheck.verbs.prediction import Prediction
from kcheck.verbs.premises import judged_starts
from kcheck.views.broker_facts import are_missed, metadata_log_dir
from kcheck.views.controller_settings import controller_settings, seats_in, with_settings
from kcheck.views.log_dir import LogDirs, open_single_partition, report_links, wanted_directories
from kcheck.views.partition import read_partition
from kcheck.views.settings_files import beside
from kcheck.views.targets import (
    Target,
    TargetKind,
    broker_of,
    directory_wanted,
    log_dirs_in,
    paths_of,
    read_properties,
    replica_targets,
)
from kcheck.words import partition_name


def predict(arguments: list[str], options: StartOptions) -> Prediction:
    """Return the prediction for every log dir in the paths, and for its partitions.

    UsageError: a path is a file.
    """
    targets = replica_targets(arguments)
    for target in targets:
        if target.kind is TargetKind.FILE:
            raise directory_wanted(target, "a start")
    require_match(targets, options.wanted)
    return _prediction(targets, options, LogDirs(options.release))


def _prediction(targets: tuple[Target, ...], options: StartOptions, log_dirs: LogDirs) -> Prediction:
    """Return the prediction for the targets, which may belong to several brokers."""
    return prediction_of(targets, with_copies(targets, options, log_dirs), log_dirs)


def prediction_of(targets: tuple[Target, ...], options: StartOptions, log_dirs: LogDirs) -> Prediction:
    """Return the prediction for targets with options that hold the copies of the cluster's metadata."""
    expect_owners()
    collected: list[Finding] = []
    named, wanted = paths_of(targets), _with_log_dirs(targets, options.wanted, log_dirs)
    targets = tuple(wanted)
    starts = [
        start_of(target, options._replace(wanted=chosen), collected, log_dirs) for target, chosen in wanted.items()
    ]
    judged, premises = judged_starts(targets, starts, options, log_dirs, collected, reads_keys=True)
    return Prediction(
        release=options.release,
        log_dirs=judged,
        premises=premises,
        unserved=tuple(unserved(judged, options.image_of, options.settings.delete_delay_ms)),
        others=tuple(sorted(_members(judged, options) - {start.broker_id for start in judged})),
        collected=collected,
        checked=named,
    )


def _members(starts: Iterable[LogDirPrediction], options: StartOptions) -> set[int]:
    """Return the brokers of the cluster. ZooKeeper's data names only the brokers of replicas."""
    images = [options.image_of(start.view and start.view.cluster_id) for start in starts]
    return {
        number
        for image in filter(None, images[:1])
        for number in image.brokers
        or (one for topic in image.topics.values() for row in topic.partitions.values() for one in row.replicas)
    }


def _with_log_dirs(
    targets: Iterable[Target], wanted: PartitionFilter, log_dirs: LogDirs
) -> dict[Target, PartitionFilter]:
    """Return the targets with the partitions to show; a partition in a log dir becomes that log dir.

    A broker loads every directory of a log dir, and each of them can stop the broker.
    """
    chosen: dict[Target, PartitionFilter] = {}
    for target in targets:
        directory = parse_directory(split(target.path)[1]) if target.kind is TargetKind.PARTITION else None
        if directory is None or not log_dirs.open(target).view.files:
            chosen[target] = wanted
            continue
        log_dir = target._replace(kind=TargetKind.LOG_DIR, path=target.log_dir)
        before = chosen.get(log_dir, PartitionFilter()).partitions
        if log_dir not in chosen or before:
            name = partition_name(directory.topic, directory.partition)
            chosen[log_dir] = PartitionFilter(partitions=(*before, name))
    return chosen


def with_copies(targets: Iterable[Target], options: StartOptions, log_dirs: LogDirs) -> StartOptions:
    """Return the options with the cluster metadata that the user names, and those in the log dirs (3.3 and later)."""
    if options.copies or options.zookeeper:
        return options
    targets = tuple(targets)
    if options.metadata:
        from kcheck.views.metadata_at_hand import named_metadata

        named = named_metadata(options.metadata, targets, options.config)
        zookeeper, clusters, lost = named.zookeeper, named.clusters, named.lost
        copies = {
            cluster: tuple(copy._replace(not_started=_not_started(copy, options, log_dirs)) for copy in known)
            for cluster, known in named.copies.items()
        }
    else:
        copies, zookeeper, clusters, lost = {}, None, (), ()
    has_log_without_id, release = False, options.release
    for path, target in {target.log_dir: target for target in targets}.items():
        log_dir = log_dirs.open(target)
        cluster = log_dir.view.cluster_id or ""
        for name, directory in log_dir.directories if cluster and release.kraft_is_production_ready else ():
            if is_metadata_log(name, directory, release):
                copy = log_dirs.copy(target.tree, join(path, name), log_dir.view.where.broker_id)
                copies[cluster] = (*copies.get(cluster, ()), *([copy] if copy else ()))
            elif release.passes_over_logs_without_id and not target.tree.exists(join(path, name, PARTITION_METADATA)):
                has_log_without_id = True
    seen = controller_settings(targets, options.metadata, options.controller_config or options.config)
    compares = release.compares_voters_with_quorum_state
    copies = {
        cluster: tuple(
            copy._replace(image=with_settings(copy.image, seen))
            for copy in with_electors(known, seats_in(seen), compares=compares)
        )
        for cluster, known in copies.items()
    }
    if zookeeper is not None:
        image = with_settings(zookeeper.metadata.image, seen)
        zookeeper = zookeeper._replace(metadata=zookeeper.metadata._replace(image=image))
    return options._replace(
        copies=copies, zookeeper=zookeeper, clusters=clusters, lost_copies=lost, has_log_without_id=has_log_without_id,
        mode_of_disks=_mode_of_disks(targets, options, log_dirs),
    )  # fmt: skip


def _not_started(copy: MetadataCopy, options: StartOptions, log_dirs: LogDirs) -> str | None:
    """Return why the node of a copy does not start from its log dir; None without a reason."""
    place, name = split(copy.path)
    tree = tree_of(place)
    if copy.node_id is None or name != METADATA_DIRECTORY or not tree.exists(join(place, META_PROPERTIES)):
        return None
    target = Target(TargetKind.LOG_DIR, place, copy.node_id, tree=tree)
    path = beside({tree.real(place): target})
    said = {} if path is None else read_properties(path)
    refused = None if path is None else refused_start(copy.node_id, said, options.release)
    if path is not None and refused is None:
        refused = _kept_elsewhere(tree.real(place), said, log_dirs_in(tree_of(path), path, said))
    if refused is not None:
        return f"{path} has {refused}"
    alone = options._replace(wanted=PartitionFilter(partitions=(METADATA_DIRECTORY,)))
    start = start_of(target, alone, [], log_dirs)
    return start.reasons[0] if start.outcome in NOT_LOADED else None


def _kept_elsewhere(place: str, settings: Mapping[str, str], named: list[str]) -> str | None:
    """Return in words where else settings keep the metadata log; None for this place or a copy."""
    if not named or PROVIDER in "".join(named):
        return None
    real = {real_path(one): one for one in named}
    expected = metadata_log_dir(settings, named, real)
    is_other = expected is not None and real_path(expected) != place
    if is_other and (place in real or are_missed(settings, named, [place])):
        return f"the metadata log in {expected}, and not in {place}"
    return None


def _mode_of_disks(targets: Iterable[Target], options: StartOptions, log_dirs: LogDirs) -> Mode | None:
    """Return the place of the cluster's metadata by the log dirs that have a meta.properties; None if they differ."""
    opened = (log_dirs.open(target) for target in targets if target.kind is TargetKind.LOG_DIR)
    formatted = (log_dir for log_dir in opened if META_PROPERTIES in log_dir.view.files)
    modes = {mode_of_log_dir(log_dir, Settings(), options.release) for log_dir in formatted}
    return modes.pop() if len(modes) == 1 else None


def start_of(
    target: Target,
    options: StartOptions,
    collected: list[Finding],
    log_dirs: LogDirs | None = None,
    *,
    all_simulated: bool = False,
) -> LogDirPrediction:
    """Return the next start of one target; add findings about unreadable files to `collected`.

    Without `all_simulated`, logs that the broker loads unchanged are not simulated, and their `after` is empty.
    """
    log_dirs, tree, path = log_dirs or LogDirs(options.release), target.tree, target.log_dir
    if target.kind is TargetKind.LOG_DIR:
        log_dir = log_dirs.open(target)
        directories = wanted_directories(log_dir, options.wanted)
        report_links(log_dir, options.wanted)
        collected.extend(log_dir.findings)
        load = load_below(tree, path) if all_simulated else quick_load_below(tree, path, log_dir)
        start = start_log_dir(path, log_dir, directories, options, collected, load, has_left)
        return start._replace(broker=broker_of(target, log_dir.view))
    view, log_dir = open_single_partition(target, walk_all=False, log_dirs=log_dirs)
    if view is None:
        collected.extend(log_dir.findings)
        return LogDirPrediction(
            path=target.path, broker_id=None, outcome=Outcome.UNKNOWN, reasons=(), clean=False, mode=Mode.KRAFT,
            uncertain=None, partitions=(),
        )  # fmt: skip
    name = split(target.path)[1]
    directory = PartitionDirectory(view.topic, view.partition, view.state, canonical=True)
    load = load_below(tree, path)
    start = start_log_dir(path, log_dir, [(name, directory)], options, collected, load, has_left)
    return start._replace(alone=not log_dir.view.files)


def load_below(tree: Tree, path: str) -> Load:
    """Return the predictor of one partition directory of the log dir at a path."""
    from kcheck.startup.partition import start_partition  # imports numpy: only to simulate a start

    def load(name: str, directory: PartitionDirectory, inputs: LoadInputs, context: Context) -> PartitionPrediction:
        return start_partition(tree.directory(join(path, name)), name, directory, inputs, context)

    return load


def quick_load_below(tree: Tree, path: str, log_dir: LogDir) -> Load:
    """Return the predictor of one partition directory, without simulation of logs that load unchanged."""

    def load(name: str, directory: PartitionDirectory, inputs: LoadInputs, context: Context) -> PartitionPrediction:
        start = None
        if inputs.clean:
            disk = tree.directory(join(path, name))
            offsets = log_dir.checkpoints.of(directory.topic, directory.partition)
            view, unread = read_partition(
                disk, directory, log_dir.view.where._replace(dir=name), log_dir=log_dir.view, offsets=offsets,
                walk_all=False, release=context.release,
                ends=looks_into_segments(tree)
                and looks_between(directory.topic, offsets, context.image, log_dir.view.where.broker_id),
            )  # fmt: skip
            start = None if unread else unchanged_prediction(disk, name, directory, view, inputs, context)
        return start or load_below(tree, path)(name, directory, inputs, context)

    return load
