"""Finds the copies of a cluster's metadata in paths, which are the `__cluster_metadata-0` of log dirs."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kcheck.core.cluster.copies import LostCopy
from kcheck.core.cluster.quorum import NodeDirectory
from kcheck.core.start.identity import KRAFT_VERSION
from kcheck.disk.local import LOCAL
from kcheck.disk.paths import join, split
from kcheck.disk.tree import Tree
from kcheck.errors import UsageError
from kcheck.formats import meta_properties
from kcheck.model.names import (
    META_PROPERTIES,
    METADATA_DIRECTORY,
    FileKind,
    is_stranger_in_log_dir,
    parse_directory,
    parse_file,
)
from kcheck.model.unreadable import UnreadableError
from kcheck.views.targets import Target, TargetKind

_METADATA = parse_directory(METADATA_DIRECTORY)
_SMALL_SIZE_MAX = 1 << 20


class NodeIdentity(NamedTuple):
    """The identity in the meta.properties of a log dir; a field is None if it is missing."""

    node_id: int | None = None
    """The node."""
    cluster_id: str | None = None
    """Its cluster.id."""
    directory_id: str | None = None
    """The directory.id of the log dir."""
    is_kraft: bool = False
    """True if it has the version that KRaft writes."""


class MetadataPath(NamedTuple):
    """A copy of the metadata of a cluster."""

    path: str
    """The directory of its files."""
    node_id: int | None
    """The node that it belongs to, None where that is not known."""
    cluster_id: str | None
    """The cluster.id of the node's meta.properties."""
    only: str | None = None
    """The one file that is read, a snapshot or a segment; None for all."""
    tree: Tree = LOCAL
    """The tree of the path."""


def metadata_paths(targets: Iterable[Target]) -> tuple[MetadataPath, ...]:
    """Return the copies in the targets; UsageError without any, or if they are of two clusters."""
    paths = paths_of_clusters(targets)
    clusters = {path.cluster_id: path.path for path in paths if path.cluster_id is not None}
    if len(clusters) > 1:
        (one, path), (other, other_path) = [*clusters.items()][:2]
        raise UsageError(f"two clusters: {path} is of {one}, {other_path} of {other}")
    return paths


def paths_of_clusters(targets: Iterable[Target]) -> tuple[MetadataPath, ...]:
    """Return the copies in the targets, of any clusters; UsageError without any."""
    targets = tuple(targets)
    paths = paths_beside(targets)
    if not paths:
        named = ", ".join(dict.fromkeys(target.path for target in targets))
        where = f"a KRaft node keeps them in {METADATA_DIRECTORY}, ZooKeeper in its data directory (version-2)"
        lost = "; if every node has lost it, run kcheck recover metadata"
        raise UsageError(f"no cluster metadata in {named}: {where}{lost}")
    return paths


def paths_beside(targets: Iterable[Target]) -> tuple[MetadataPath, ...]:
    """Return the copies in the targets, of any cluster."""
    return tuple(path for target in targets for path in _of_target(target))


def without_metadata(targets: Iterable[Target]) -> Iterator[LostCopy]:
    """Yield the log dirs in the targets that are of KRaft or empty, and have no metadata log."""
    for target in targets:
        tree, path = target.tree, target.path
        if target.kind is not TargetKind.LOG_DIR or tree.is_directory(join(path, METADATA_DIRECTORY)):
            continue
        own = identity_of(tree, path)
        if own.is_kraft or not tree.exists(join(path, META_PROPERTIES)):
            yield LostCopy(path, own.node_id if target.broker_id is None else target.broker_id)


def nodes_without_metadata(targets: Iterable[Target]) -> frozenset[int]:
    """Return the nodes whose log dirs are in the targets, and have no metadata log."""
    targets = tuple(targets)
    holders = {path.node_id for path in paths_beside(row for row in targets if row.kind is TargetKind.LOG_DIR)}
    lost = (copy.node_id for copy in without_metadata(targets) if copy.node_id not in holders)
    return frozenset(number for number in lost if number is not None)


def node_directories(targets: Iterable[Target], cluster_id: str | None) -> Iterator[NodeDirectory]:
    """Yield the log dirs in the targets that belong to nodes of a cluster."""
    for target in targets:
        own = identity_of(target.tree, target.path) if target.kind is TargetKind.LOG_DIR else NodeIdentity()
        if own.node_id is not None and own.cluster_id == cluster_id:
            try:
                names = target.tree.listing(target.path, is_stranger_in_log_dir).directories
            except UnreadableError:
                continue
            partitions = [name for name in names if parse_directory(name) is not None]
            has_log = METADATA_DIRECTORY in partitions
            yield NodeDirectory(own.node_id, own.directory_id, target.path, has_log, is_empty=not partitions)


def _of_target(target: Target) -> Iterator[MetadataPath]:
    path, only, tree = target.path, None, target.tree
    if target.kind is TargetKind.LOG_DIR:
        path = join(path, METADATA_DIRECTORY)
        if not tree.is_directory(path):
            return
    elif target.kind is TargetKind.FILE:
        if not tree.exists(path):
            raise UsageError(f"{path}: no such file or directory")
        (path, only) = split(path)
        if parse_file(only).kind not in (FileKind.METADATA_SNAPSHOT, FileKind.LOG):
            raise UsageError(f"{target.path}: not a snapshot or segment of cluster metadata")
    elif parse_directory(split(path)[1]) != _METADATA:
        raise UsageError(f"{path}: not cluster metadata, which is in {METADATA_DIRECTORY}")
    own = identity_of(tree, split(path)[0])
    yield MetadataPath(path, own.node_id if target.broker_id is None else target.broker_id, own.cluster_id, only, tree)


def identity_of(tree: Tree, log_dir: str) -> NodeIdentity:
    """Return the identity in the meta.properties of a log dir."""
    try:
        identity = meta_properties.parse(
            tree.read_whole(join(log_dir, META_PROPERTIES), size_max=_SMALL_SIZE_MAX)
        ).value
    except UnreadableError:
        return NodeIdentity()
    cluster_id, directory_id = (identity.properties.get(key) or None for key in ("cluster.id", "directory.id"))
    is_kraft = identity.properties.get("version") == str(KRAFT_VERSION)
    return NodeIdentity(identity.broker_id, cluster_id, directory_id, is_kraft)
