"""Loads replicas by broker, from log dirs, partition directories and bare leader-epoch-checkpoints."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from kcheck.core.start.predictions import PartitionPrediction
from kcheck.core.start.startup import Mode, Settings
from kcheck.disk.local import LOCAL
from kcheck.disk.paths import folder_of, split
from kcheck.disk.tree import Tree
from kcheck.documents.next_start import StartEffects
from kcheck.errors import UsageError, no_such_file
from kcheck.formats import leader_epoch_checkpoint
from kcheck.model.cluster import ClusterImage
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.java import java_long
from kcheck.model.names import DirectoryState, PartitionDirectory
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import CheckpointOffsets, LogDir, LogDirView, PartitionView
from kcheck.replicas.replica import ReplicaState, after_start
from kcheck.startup.inputs import Context, load_inputs
from kcheck.survey.rule_runner import check_file, check_partition
from kcheck.verbs.batch_reads import ReadBudget, with_faults
from kcheck.views.log_dir import LogDirs, open_single_partition, partitions
from kcheck.views.partition import view_of
from kcheck.views.remote_logs import remote_logs
from kcheck.views.targets import Target, TargetKind, directory_wanted, replica_targets, require_same_broker
from kcheck.words import partition_name

_MODE = Mode.ZOOKEEPER
"""Lets a directory whose name gives no topic count as a current replica."""
_BARE_OPTION = re.compile(r",(leo|hw|start)=([^,]*)$")


class ReplicaFiles(NamedTuple):
    """The files of one replica, and their path. `bare`: only a leader-epoch-checkpoint."""

    path: str
    view: PartitionView
    log_dir: LogDirView | None
    tree: Tree = LOCAL
    bare: bool = False

    @property
    def key(self) -> tuple[str, int]:
        """The topic and partition; ("", -1) for a bare file of an unknown partition."""
        return (self.view.topic, self.view.partition)


class DoubleReplica(NamedTuple):
    """A partition with two directories of one broker, which does not start with them."""

    name: str
    """The partition; empty for bare files."""
    broker_id: int
    """The broker."""
    paths: tuple[str, str]
    """Their paths."""


class LoadedReplicas(NamedTuple):
    """The replicas in the paths, sorted by partition and broker."""

    replicas: tuple[ReplicaFiles, ...]
    findings: list[Finding]
    doubles: tuple[DoubleReplica, ...] = ()


def replicas_of(
    targets: tuple[Target, ...], *, wanted: PartitionFilter, log_dirs: LogDirs, running: bool = False,
    image: ClusterImage | None = None, keeps_doubles: bool = False,
) -> LoadedReplicas:  # fmt: skip
    """Return every current replica, with the findings in its files; `image` is the given metadata.

    UsageError: two replicas of one partition with one broker id, unless `keeps_doubles`. Or a broker id of a
    `running` broker that contradicts meta.properties.
    """
    replicas: list[ReplicaFiles] = []
    findings: list[Finding] = []
    seen: set[str | None] = set()
    release = log_dirs.release
    for target in targets:
        if target.kind is TargetKind.FILE:
            bare = _bare(target, release)
            replicas.append(bare)
            if bare.view.epochs is not None:
                findings.extend(check_file(bare.view.epochs, release))
            continue
        views, log_dir = _views(target, wanted, log_dirs)
        if release.has_remote_storage:
            remote = remote_logs(targets, log_dirs, lambda _: image)
            views = [remote.placed(view, log_dir.view.cluster_id) for view in views]
        if log_dir.view.files and running:
            require_same_broker(target, log_dir.view)
        files = log_dir.view if log_dir.view.files else None
        for view in views:
            replicas.append(ReplicaFiles(path=target.path, view=view, log_dir=files))
            findings.extend(_settled(check_partition(view, release), view, release))
        if log_dir.view.where.log_dir not in seen:
            seen.add(log_dir.view.where.log_dir)
            for small in log_dir.view.files.values():
                findings.extend(check_file(small, release))
        findings.extend(log_dir.findings)
    doubles = tuple(_doubles(replicas))
    for name, broker_id, (path, other) in () if keeps_doubles else doubles:
        raise UsageError(f"two replicas{f' of {name}' if name else ''} with broker id {broker_id}: {path} and {other}")
    ordered = sorted(replicas, key=lambda r: (*r.key, -1 if r.view.where.broker_id is None else r.view.where.broker_id))
    # Show findings that can make the plan wrong; the rest belongs to `inspect`.
    noticed = [finding for finding in findings if finding.severity is not Severity.INFO]
    return LoadedReplicas(replicas=tuple(ordered), findings=noticed, doubles=doubles)


def _settled(findings: Iterable[Finding], view: PartitionView, release: Release) -> Iterator[Finding]:
    """Yield the findings of a replica, each with an effect that the next start has."""
    start = None
    for finding in findings:
        if finding.claims:
            start = start or StartEffects(_start_of(view, release), release)
            yield start.settled(finding)
        else:
            yield finding


def started(files: ReplicaFiles, release: Release, budget: ReadBudget | None = None) -> ReplicaState:
    """Return a replica after the next start of its broker, with the faults of its batches up to a `budget`."""
    view, start = files.view, None
    if view.segments or view.log_end_offset is None:  # Otherwise only the values from the user are known.
        start = _start_of(view, release)
        if budget is not None:
            assert view.disk is not None
            start = with_faults(view.disk, start, budget)
    return after_start(view, files.log_dir, start, release)


def brought_back(view: PartitionView, log_dir: LogDirView | None, release: Release) -> ReplicaState:
    """Return a directory that no broker serves as it is once a broker has started with it as its replica."""
    view = view._replace(state=DirectoryState.CURRENT)
    return after_start(view, log_dir, _start_of(view, release, partition_name(view.topic, view.partition)), release)


def _start_of(view: PartitionView, release: Release, name: str | None = None) -> PartitionPrediction:
    """Return the next start of a partition directory, under its own name or another one."""
    from kcheck.startup.partition import start_partition  # imports numpy: only to simulate a start

    assert view.disk is not None
    directory = PartitionDirectory(view.topic, view.partition, view.state, canonical=True)
    checkpoints = CheckpointOffsets(view.recovery_point, view.log_start_checkpoint, view.high_watermark)
    inputs = load_inputs(checkpoints, release, clean=view.clean_shutdown is not False)
    is_tiered = view.remote is not None
    settings = Settings(remote_storage=True, of_topic=True) if is_tiered else Settings()
    context = Context(settings, _MODE, release)
    return start_partition(view.disk, name or split(folder_of(view.where))[1], directory, inputs, context)


def _views(target: Target, wanted: PartitionFilter, log_dirs: LogDirs) -> tuple[list[PartitionView], LogDir]:
    if target.kind is TargetKind.PARTITION:
        view, log_dir = open_single_partition(target, walk_all=False, log_dirs=log_dirs)
        return ([] if view is None else [view]), log_dir
    log_dir = log_dirs.open(target)
    views = partitions(target.tree, log_dir, wanted=wanted, walk_all=False, release=log_dirs.release)
    return [view for view in views if view.is_replica], log_dir


def _bare(target: Target, release: Release) -> ReplicaFiles:
    """Read a bare file; `,leo=N`, `,hw=N` and `,start=N` may follow its path."""
    path, tree, said = target.path, target.tree, dict[str, Offset]()
    while not tree.exists(path) and (match := _BARE_OPTION.search(path)):
        value = java_long(match[2])
        if value is None or value < 0:
            raise UsageError(f"{target.path}: {match[1]}={match[2]} is not an offset")
        said[match[1]] = Offset(value)
        path = path[: match.start()]
    if not tree.exists(path):
        raise UsageError(no_such_file(path))
    where = Location(broker_id=target.broker_id, file=path)
    try:
        data = tree.read_whole(path, follow=True)
    except UnreadableError as error:
        raise UnreadableError(f"{path}: {error}", error.cause) from error
    epochs = view_of(data, leader_epoch_checkpoint.FORMAT, where, release)
    view = PartitionView(
        where=where, topic="", partition=-1, state=DirectoryState.CURRENT, epochs=epochs,
        log_end_offset=said.get("leo"), high_watermark=said.get("hw"), log_start_checkpoint=said.get("start"),
        log_start_offset=said.get("start", Offset(0)),
        disk=tree.directory(""),  # It has no other files.
    )  # fmt: skip
    return ReplicaFiles(path=path, view=view, log_dir=None, bare=True)


def require_one_cluster(loaded: LoadedReplicas) -> None:
    """Raise UsageError for replicas of two clusters, as their records cannot be compared."""
    known: dict[str, str] = {}
    for files in loaded.replicas:
        if files.log_dir is not None and files.log_dir.cluster_id is not None:
            known.setdefault(files.log_dir.cluster_id, files.log_dir.where.log_dir or files.path)
    if len(known) > 1:
        (one, first), (other, second) = list(known.items())[:2]
        raise UsageError(f"two clusters: {first}/meta.properties says {one}, {second}/meta.properties says {other}")


def _doubles(replicas: list[ReplicaFiles]) -> Iterator[DoubleReplica]:
    """Yield the partitions of which a broker has two directories."""
    seen: dict[tuple[object, ...], str] = {}
    for replica in replicas:
        broker_id = replica.view.where.broker_id
        key = (*replica.key, broker_id)
        if broker_id is not None and key in seen:
            name = "" if replica.bare else partition_name(replica.view.topic, replica.view.partition)
            yield DoubleReplica(name, broker_id, (seen[key], replica.path))
        seen[key] = replica.path


def election_targets(arguments: list[str], trees: Mapping[str, Tree], without: Collection[str]) -> tuple[Target, ...]:
    """Return the targets, read from their trees; UsageError for a file."""
    targets = [target for target in replica_targets(arguments) if target.path not in without]
    for target in targets:
        if target.kind is TargetKind.FILE:
            raise directory_wanted(target, "an election")
    return tuple(target._replace(tree=trees.get(target.log_dir, target.tree)) for target in targets)


def opened(targets: Iterable[Target], trees: Mapping[str, Tree], release: Release) -> LogDirs:
    """Return the log dirs of a command, with those in `trees` opened before --metadata names them."""
    log_dirs = LogDirs(release)
    for target in targets:
        if target.log_dir in trees:
            log_dirs.open(target)
    return log_dirs
