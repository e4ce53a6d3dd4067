"""Reads a log dir, first its small files, then its partitions one by one, in bounded memory."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from kcheck.disk.directory import Directory
from kcheck.disk.listing import Listing
from kcheck.disk.lock import locked_by
from kcheck.disk.paths import absolute, is_absolute, join, split
from kcheck.disk.tree import Tree
from kcheck.formats import Format, clean_shutdown, meta_properties, metadata_snapshot, offset_checkpoint
from kcheck.model.finding import Finding, Location
from kcheck.model.names import (
    CLEAN_SHUTDOWN,
    CLEANER_OFFSET,
    LOG_START,
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    RECOVERY_POINT,
    REMOTE_INDEX_CACHE,
    REPLICATION_OFFSET,
    DirectoryState,
    FileKind,
    PartitionDirectory,
    broker_accepts,
    is_stranger_in_log_dir,
    parse_directory,
    skipped_by_broker,
)
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import Unreadable, UnreadableCause, UnreadableError
from kcheck.model.views import CheckpointOffsets, Checkpoints, FileView, LogDir, LogDirView, PartitionView
from kcheck.rules import kc001_unreadable
from kcheck.views.partition import read_small, try_partition
from kcheck.views.remote_index_cache import remote_index_cache
from kcheck.views.targets import Target

if TYPE_CHECKING:
    from kcheck.core.cluster.copies import MetadataCopy
    from kcheck.views.remote_logs import RemoteLogs

_SMALL_SIZE_MAX = 1 << 20

FILES: tuple[tuple[str, Format], ...] = (
    *((name, offset_checkpoint.FORMAT) for name in OFFSET_CHECKPOINTS),
    (META_PROPERTIES, meta_properties.FORMAT),
    (CLEAN_SHUTDOWN, clean_shutdown.FORMAT),
    (FileKind.BOOTSTRAP, metadata_snapshot.BOOTSTRAP),
)


def open_log_dir(tree: Tree, path: str, broker_id: int | None, release: Release) -> LogDir:
    """Read the files at the top of a log dir."""
    where = Location(log_dir=path, broker_id=broker_id)
    findings: list[Finding] = []
    unlisted = None
    try:
        listing = tree.listing(path, is_stranger_in_log_dir)
    except UnreadableError as error:
        listing, unlisted = Listing((), (), ()), error.why
        if unlisted.cause is UnreadableCause.MISSING and not (tree.is_remote or is_absolute(path)):
            # A relative log dir of a server.properties: from another directory it is another one, for Kafka too.
            unlisted = unlisted._replace(words=f"{unlisted.words}: {absolute(path)}")
        findings.append(kc001_unreadable.finding(where, unlisted))
    files, unread = _files(tree.directory(path), where, listing, release)
    cache = remote_index_cache(tree, path, listing, release)
    not_read = unread if not isinstance(cache, Unreadable) else {**unread, REMOTE_INDEX_CACHE: cache}
    findings.extend(kc001_unreadable.finding(where._replace(file=name), why) for name, why in not_read.items())
    identity = files[META_PROPERTIES].parsed.value if META_PROPERTIES in files else meta_properties.MetaProperties({})
    if broker_id is None:
        where = where._replace(broker_id=identity.broker_id)
        files = {name: file._replace(where=where._replace(file=name)) for name, file in files.items()}
        findings = [finding._replace(where=finding.where._replace(broker_id=where.broker_id)) for finding in findings]
    # The broker follows every link to a directory.
    linked = tuple(name for name in listing.others if tree.is_directory(join(path, name)))
    blocking = tuple(name for name in listing.others if name not in linked)
    unparseable = tuple(
        name for name in (*listing.directories, *linked)
        if broker_accepts(name, release) is None and not skipped_by_broker(name, release)
    )  # fmt: skip
    view = LogDirView(
        where=where,
        cluster_id=identity.properties.get("cluster.id"),
        directory_id=identity.properties.get("directory.id"),
        clean_shutdown=CLEAN_SHUTDOWN in listing.files or _is_marker(tree, path, unparseable, release),
        files=files,
        unread=unread if unlisted is None else _with_unlisted(unread, unlisted),
        unparseable=unparseable,
        blocked=tuple(
            name
            for name, directory in _of_partitions((*listing.files, *blocking))
            if directory.state is DirectoryState.CURRENT
        ),
        locked_by=None if tree.is_remote else locked_by(path),
        remote_index_cache=None if isinstance(cache, Unreadable) else cache,
    )
    directories, links = _of_partitions(listing.directories), _of_partitions(linked)
    return LogDir(
        view=view,
        checkpoints=checkpoints_of(files, (*directories, *links)),
        directories=directories,
        links=links,
        findings=findings,
        unlisted=unlisted,
    )


def _with_unlisted(unread: Mapping[str, Unreadable], unlisted: Unreadable) -> Mapping[str, Unreadable]:
    """Return the files that exist and cannot be read, with meta.properties where the log dir is no directory or closed.

    A broker takes that log dir offline (BrokerMetadataCheckpoint, MetaPropertiesEnsemble). A missing one has no file.
    """
    return unread if unlisted.cause is UnreadableCause.MISSING else {**unread, META_PROPERTIES: unlisted}


def _is_marker(tree: Tree, path: str, unparseable: tuple[str, ...], release: Release) -> bool:
    """Return whether a directory counts as the clean shutdown marker.

    2.8 and later accept an empty one, and remove it.
    """
    is_blocked = release.removes_marker_first and CLEAN_SHUTDOWN in unparseable
    return is_blocked and tree.is_empty(join(path, CLEAN_SHUTDOWN))


class LogDirs:
    """The log dirs of one command, each opened once."""

    def __init__(self, release: Release) -> None:
        """Take the release to model."""
        self.release = release
        self._opened: dict[tuple[str, int | None], LogDir] = {}
        self.trees: dict[str, Tree] = {}
        """The tree of each opened log dir."""
        self.remote: RemoteLogs | None = None
        """The remote logs of the command; None if nothing has asked for them."""
        self._copies: dict[tuple[str, int | None], MetadataCopy | None] = {}

    def open(self, target: Target) -> LogDir:
        """Return the log dir of a target with its own copy of the findings made while opening it."""
        key = (target.log_dir, target.broker_id)
        if key not in self._opened:
            self._opened[key] = open_log_dir(target.tree, *key, self.release)
            self.trees.setdefault(target.log_dir, target.tree)
        log_dir = self._opened[key]
        return log_dir._replace(findings=[*log_dir.findings])

    def hold(self, target: Target, log_dir: LogDir) -> None:
        """Take a log dir that was opened before."""
        self._opened[target.log_dir, target.broker_id] = log_dir
        self.trees.setdefault(target.log_dir, target.tree)

    def hold_copy(self, copy: "MetadataCopy") -> None:
        """Take a complete copy of the cluster's metadata that was read before."""
        self._copies[copy.path, copy.node_id] = copy if copy.decides else None

    def edited(self, edited: Mapping[str, LogDir]) -> "LogDirs":
        """Return the opened log dirs, with some of them, by path, after edits."""
        other = LogDirs(self.release)
        other.trees, other._copies = self.trees, self._copies
        other._opened = {key: edited.get(key[0], log_dir) for key, log_dir in self._opened.items()}
        return other

    def copy(self, tree: Tree, path: str, node_id: int | None) -> "MetadataCopy | None":
        """Return the copy of the cluster's metadata in a directory, which is replayed once.

        None if it does not decide, as of `complete_copy`.
        """
        key = (path, node_id)
        if key not in self._copies:
            from kcheck.views.metadata_copy import complete_copy  # imports the decoders: only for a metadata log

            self._copies[key] = complete_copy(tree, path, node_id)
        return self._copies[key]


def _of_partitions(names: tuple[str, ...]) -> tuple[tuple[str, PartitionDirectory], ...]:
    parsed = [(name, parse_directory(name)) for name in names]
    return tuple((name, directory) for name, directory in parsed if directory is not None)


def partitions(
    tree: Tree, log_dir: LogDir, *, wanted: PartitionFilter, walk_all: bool, release: Release
) -> Iterator[PartitionView]:
    """Yield the partitions of a log dir by topic and number; a failure becomes a finding of the log dir."""
    report_links(log_dir, wanted)
    for name, directory in wanted_directories(log_dir, wanted):
        view = one_partition(tree, log_dir, name, directory, walk_all=walk_all, release=release)
        if view is not None:
            yield view


def report_links(log_dir: LogDir, wanted: PartitionFilter) -> None:
    """Report links named like partition directories that lead to another place than the log dir."""
    for name, directory in log_dir.links:
        if wanted.has(directory.topic, directory.partition):
            where = log_dir.view.where._replace(dir=name)
            log_dir.findings.append(kc001_unreadable.finding(where, kc001_unreadable.LINK))


def wanted_directories(log_dir: LogDir, wanted: PartitionFilter) -> list[tuple[str, PartitionDirectory]]:
    """Return the selected partition directories, sorted by topic and number."""
    named = [item for item in log_dir.directories if wanted.has(item[1].topic, item[1].partition)]
    return sorted(named, key=lambda item: (item[1].topic, item[1].partition, item[0]))


def one_partition(
    tree: Tree, log_dir: LogDir, name: str, directory: PartitionDirectory, *, walk_all: bool, release: Release
) -> PartitionView | None:
    """Return one partition of a log dir; None, and finding KC000, after a bug in kcheck."""
    where = log_dir.view.where._replace(dir=name)
    view, findings = try_partition(
        tree.directory(join(where.log_dir or "", name)), directory, where, log_dir=log_dir.view,
        offsets=log_dir.checkpoints.of(directory.topic, directory.partition),
        walk_all=walk_all, release=release,
    )  # fmt: skip
    log_dir.findings.extend(findings)
    return view


def open_single_partition(target: Target, *, walk_all: bool, log_dirs: LogDirs) -> tuple[PartitionView | None, LogDir]:
    """Return a partition directory given as an argument, with the log dir around it, if any."""
    tree, path, name = target.tree, target.path, split(target.path)[1]
    directory = parse_directory(name)
    assert directory is not None
    release = log_dirs.release
    log_dir = log_dirs.open(target)._replace(alone=True)
    if log_dir.view.files:
        log_dir.findings.clear()
        return one_partition(tree, log_dir, name, directory, walk_all=walk_all, release=release), log_dir
    where = Location(broker_id=target.broker_id, dir=path)
    view, findings = try_partition(
        tree.directory(path), directory, where, log_dir=None, offsets=CheckpointOffsets(), walk_all=walk_all,
        release=release,
    )  # fmt: skip
    return view, LogDir(view=log_dir.view, checkpoints=log_dir.checkpoints, findings=list(findings), alone=True)


def _files(
    folder: Directory, where: Location, listing: Listing, release: Release
) -> tuple[dict[str, FileView], dict[str, Unreadable]]:
    """Return the files that could be read, and why the others could not."""
    views, unread = dict[str, FileView](), dict[str, Unreadable]()
    for name, kind in FILES:
        if name not in listing.files and name not in listing.others:
            continue
        large = kind is offset_checkpoint.FORMAT
        try:
            views[name] = read_small(
                folder, name, kind, where._replace(file=name), release,
                size_max=None if large else _SMALL_SIZE_MAX,
            )  # fmt: skip
        except UnreadableError as error:
            unread[name] = error.why
    return views, unread


def checkpoints_of(
    files: dict[str, FileView], directories: Iterable[tuple[str, PartitionDirectory]]
) -> Checkpoints:  # fmt: skip
    """Return the offsets that the broker reads from the checkpoints for topics with directories here.

    None for a file that the broker cannot read.
    """
    topics = {offsets.topic for _, offsets in directories}
    offsets = {
        name: view.parsed.value.by_topic(topics)
        for name, view in files.items()
        if name in OFFSET_CHECKPOINTS and view.reads is not None and view.reads.error is None
    }
    return Checkpoints(
        offsets.get(RECOVERY_POINT, {}), offsets.get(LOG_START, {}), offsets.get(REPLICATION_OFFSET, {}),
        offsets.get(CLEANER_OFFSET, None if CLEANER_OFFSET in files else {}),
    )  # fmt: skip
