"""The logs in partition directories, log dirs, `.log` files, and copies by `elect --save-lost`."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple

from kcheck.core.releases.releases import NEWEST_TESTED, release
from kcheck.disk.local import LOCAL
from kcheck.disk.paths import absolute, folder_of, join, split
from kcheck.disk.tree import Tree, tree_of
from kcheck.errors import UsageError
from kcheck.exports.backups import is_backup, kept_logs
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding
from kcheck.model.names import (
    CLUSTER_METADATA,
    COMPACTED,
    CONSUMER_OFFSETS,
    SHARE_GROUP_STATE,
    SWAP,
    DirectoryState,
    PartitionDirectory,
    log_name,
    parse_directory,
    parse_file,
)
from kcheck.model.remote_log import REMOTE_LOG_METADATA
from kcheck.model.report import PartitionFilter
from kcheck.model.source import Files, Source
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import PartitionView
from kcheck.views.log_dir import LogDirs, open_single_partition, partitions
from kcheck.views.targets import Target, TargetKind, replica_targets
from kcheck.words import partition_name

INTERNAL = (*COMPACTED, CLUSTER_METADATA, SHARE_GROUP_STATE, REMOTE_LOG_METADATA)
"""The topics that brokers and controllers write. From a log dir they are exported only if the filter names them."""
_BROKER = "broker"
"""`elect --save-lost` saves the records of broker 1 in `orders-0/broker-1`."""


class SegmentFile(NamedTuple):
    """A `.log` to read."""

    path: str
    """Its path."""
    name: str
    """Its name."""
    base: Offset | None
    """The offset in its name; None without one."""
    disk: Files
    """The directory that opens it."""

    def open(self) -> AbstractContextManager[Source]:
        """Open it for a `with` block; UnreadableError if it cannot be read."""
        return self.disk.open(self.name)


class ExportLog(NamedTuple):
    """A log whose records are to be exported."""

    name: str
    """The partition, as `orders-0`; the name of the file if nothing names its partition."""
    topic: str | None
    """The topic; None if nothing names it."""
    partition: int | None
    """The partition number; None if nothing names it."""
    state: DirectoryState
    """The state in the suffix of the directory."""
    path: str
    """The directory; the file of a bare file."""
    segments: tuple[SegmentFile, ...]
    """Its segments, by base offset."""
    log_start: Offset | None = None
    """The offset in log-start-offset-checkpoint; None without an entry."""
    compacted: bool = False
    """True if the log cleaner is known to take records out of it."""
    is_named: bool = True
    """True if the user named it, not a log dir around it."""
    swaps: tuple[SegmentFile, ...] = ()
    """Segments of an interrupted compaction, which a broker puts in the place of others when it starts."""


class Skipped(NamedTuple):
    """A directory of a log dir that is not exported."""

    path: str
    """The directory."""
    why: str
    """The reason."""


class Sources(NamedTuple):
    """The contents of the paths."""

    logs: tuple[ExportLog, ...]
    """The exported logs, by topic and partition."""
    skipped: tuple[Skipped, ...]
    """The skipped logs."""
    findings: tuple[Finding, ...]
    """Unreadable files."""
    targets: tuple[Target, ...]
    """The paths as targets, but for backups."""
    checked: tuple[str, ...]
    """The paths that were read."""


def sources(paths: list[str], wanted: PartitionFilter) -> Sources:
    """Return the logs of the paths; UsageError if a path has none, or if two logs are of one partition."""
    backups, targets = _split(paths)
    log_dirs = LogDirs(release(NEWEST_TESTED))
    logs, skipped, findings = list[ExportLog](), list[Skipped](), list[Finding]()
    places = (*backups, *((target.tree, target.path) for target in targets))
    bundle = next((path for tree, path in places if tree.is_bundle), None)
    if bundle is not None:
        raise UsageError(f"{bundle}: a bundle has no records")
    for tree, path in backups:
        logs += [log for log in _kept(tree, path) if wanted.has(log.topic or "", log.partition or 0)]
    for target in targets:
        for log in _logs_of(target, wanted, log_dirs, findings):
            if not log.is_named and log.topic in INTERNAL and not _names_internal(wanted):
                skipped.append(Skipped(log.path, "a topic that brokers write; --topic exports it"))
            elif log.topic is None or log.partition is None or wanted.has(log.topic, log.partition):
                logs.append(log)
    kept, others = _one_each(_joined(logs))
    checked = (*(path for _, path in backups), *(target.path for target in targets), *(log.path for log in logs))
    return Sources(tuple(kept), (*skipped, *others), tuple(findings), targets, checked)


def offset_logs(paths: Iterable[str]) -> Iterator[PartitionView]:
    """Yield the replicas of `__consumer_offsets` in the log dirs of paths, those around a partition or a file too."""
    log_dirs = LogDirs(release(NEWEST_TESTED))
    wanted = PartitionFilter(topics=(CONSUMER_OFFSETS,))
    named = _split(paths)[1]
    for target in named:
        if not target.tree.exists(target.path):
            raise UsageError(f"{target.path}: no such file or directory")
    for target in dict.fromkeys(map(_around, named)):
        yield from partitions(
            target.tree, log_dirs.open(target), wanted=wanted, walk_all=False, release=log_dirs.release
        )


def _split(paths: Iterable[str]) -> tuple[list[tuple[Tree, str]], tuple[Target, ...]]:
    """Return the backups among paths, and the targets of the others."""
    trees = [(tree_of(path) if path else LOCAL, path) for path in paths]
    backups = [(tree, path) for tree, path in trees if path and is_backup(tree, path)]
    return backups, replica_targets([path for tree, path in trees if (tree, path) not in backups])


def _kept(tree: Tree, path: str) -> Iterator[ExportLog]:
    """Yield the logs in a backup of `kcheck apply`."""
    for directory, files in kept_logs(tree, path):
        segments = tuple(SegmentFile(place, name, base, disk) for place, base, name, disk in files)
        yield _log(directory, files[0][0], segments)


def _around(target: Target) -> Target:
    """Return the log dir that a target is in, or is."""
    path = split(target.log_dir)[0] if target.kind is TargetKind.FILE else target.log_dir
    return target._replace(kind=TargetKind.LOG_DIR, path=path)


def _logs_of(
    target: Target, wanted: PartitionFilter, log_dirs: LogDirs, findings: list[Finding]
) -> Iterator[ExportLog]:
    """Yield the logs of one target; what cannot be read becomes a finding."""
    tree = target.tree
    if target.kind is TargetKind.FILE:
        yield _file(target)
        return
    saved = _saved(tree, target)
    if saved:
        yield from saved
        return
    if target.kind is TargetKind.PARTITION:
        view, log_dir = open_single_partition(target, walk_all=False, log_dirs=log_dirs)
        if view is not None:
            yield _of_view(view, target.path, is_named=True)
        findings.extend(log_dir.findings)
        return
    log_dir = log_dirs.open(target)
    for view in partitions(tree, log_dir, wanted=wanted, walk_all=False, release=log_dirs.release):
        yield _of_view(view, folder_of(view.where), is_named=False)
    findings.extend(log_dir.findings)


def _of_view(view: PartitionView, path: str, *, is_named: bool) -> ExportLog:
    disk = view.disk
    assert disk is not None
    names = [(log_name(segment.base_offset), segment.base_offset) for segment in view.segments]
    swaps = sorted(name for name in view.files if name.endswith(f".log{SWAP}"))
    return ExportLog(
        partition_name(view.topic, view.partition), view.topic, view.partition, view.state, path,
        tuple(SegmentFile(join(path, name), name, base, disk) for name, base in names),
        view.log_start_checkpoint, view.is_compacted, is_named,
        tuple(SegmentFile(join(path, name), name, parse_file(name).offset, disk) for name in swaps),
    )  # fmt: skip


def _file(target: Target) -> ExportLog:
    """Return the log of a single file; UsageError if it is no `.log`."""
    path, tree = target.path, target.tree
    if not tree.exists(path):
        raise UsageError(f"{path}: no such file or directory")
    folder, name = split(path)
    if ".log" not in name:
        raise UsageError(f"{path}: only a .log has records")
    segment = SegmentFile(path, name, parse_file(name).offset, tree.directory(folder, follow=True))
    saved = _saved_log(tree, folder)
    if saved is not None:
        return saved._replace(segments=(segment,))
    directory = parse_directory(split(absolute(folder))[1])
    if directory is None:
        alone = segment.base is None
        name, place = (name, path) if alone else (split(absolute(folder))[1], folder)
        return ExportLog(name, None, None, DirectoryState.CURRENT, place, (segment,))
    return _log(directory, folder, (segment,))


def _log(directory: PartitionDirectory, path: str, segments: tuple[SegmentFile, ...]) -> ExportLog:
    name = partition_name(directory.topic, directory.partition)
    return ExportLog(name, directory.topic, directory.partition, directory.state, path, segments)


def _saved_partition(folder: str) -> PartitionDirectory | None:
    """Return the partition whose records were saved in a folder `orders-0/broker-1`; None for any other folder."""
    above, name = split(absolute(folder))
    replica = parse_directory(name)
    if replica is None or (replica.topic, replica.state) != (_BROKER, DirectoryState.CURRENT):
        return None
    return parse_directory(split(above)[1])


def _saved(tree: Tree, target: Target) -> tuple[ExportLog, ...]:
    """Return the copies by `elect --save-lost` in a directory of a partition, or of one replica of it; else nothing."""
    try:
        if target.kind is TargetKind.PARTITION:
            folders = [target.path]
        else:
            listing = tree.listing(target.path)
            folders = [] if listing.files else [join(target.path, name) for name in listing.directories]
        logs = [_saved_log(tree, folder) for folder in folders]
    except UnreadableError:
        return ()
    return tuple(log for log in logs if log is not None) if None not in logs else ()


def _saved_log(tree: Tree, folder: str) -> ExportLog | None:
    """Return the log of one saved replica. Its directory has segments, and nothing else of a log."""
    directory = _saved_partition(folder)
    if directory is None:
        return None
    listing = tree.listing(folder)
    bases = {name: parse_file(name).offset for name in listing.files if name.endswith(".log")}
    if listing.directories or len(bases) < len(listing.files):
        return None
    disk = tree.directory(folder)
    segments = tuple(SegmentFile(join(folder, name), name, base, disk) for name, base in bases.items())
    return _log(directory, folder, segments)


def _joined(logs: Iterable[ExportLog]) -> list[ExportLog]:
    """Return the logs with files of one directory joined, each with its segments by base offset."""
    by_place: dict[tuple[str, bool], list[ExportLog]] = defaultdict(list)
    for log in logs:
        by_place[log.path, log.topic is None].append(log)
    joined = []
    for first, *others in by_place.values():
        segments = {segment.path: segment for log in (first, *others) for segment in log.segments}
        ordered = sorted(segments.values(), key=lambda segment: (segment.base or 0, segment.name))
        is_named = any(log.is_named for log in (first, *others))
        joined.append(first._replace(segments=tuple(ordered), is_named=is_named))
    return sorted(joined, key=lambda log: (log.topic or "", log.partition or 0, log.path))


def _one_each(logs: list[ExportLog]) -> tuple[list[ExportLog], list[Skipped]]:
    """Return one log for each partition, and the others; UsageError if nothing says which one is meant."""
    by_partition: dict[object, list[ExportLog]] = defaultdict(list)
    for log in logs:
        by_partition[log.path if log.topic is None else (log.topic, log.partition)].append(log)
    kept, skipped = [], []
    for copies in by_partition.values():
        meant = [log for log in copies if log.is_named] or [
            log for log in copies if log.state is DirectoryState.CURRENT
        ]
        if len(copies) > 1 and len(meant) != 1:
            places = ", ".join(log.path for log in copies)
            raise UsageError(f"{copies[0].name} is there {len(copies)} times: {places}; name one of these")
        chosen = meant[0] if len(copies) > 1 else copies[0]
        kept.append(chosen)
        skipped += [Skipped(log.path, f"{chosen.path} is of the same partition") for log in copies if log is not chosen]
    return kept, skipped


def _names_internal(wanted: PartitionFilter) -> bool:
    return any(name.startswith("__") for name in (*wanted.topics, *wanted.partitions))
