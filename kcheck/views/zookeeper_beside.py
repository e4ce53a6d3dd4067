"""ZooKeeper's data directories in the folders that a command reads, next to the log dirs of its brokers."""

from collections.abc import Iterable, Iterator, Sequence

from kcheck.disk.listing import Listing
from kcheck.disk.paths import join
from kcheck.disk.tree import Tree, tree_of
from kcheck.errors import UsageError
from kcheck.model.names import META_PROPERTIES, OFFSET_CHECKPOINTS, is_stranger
from kcheck.model.unreadable import UnreadableError
from kcheck.model.zookeeper_metadata import ZookeeperCopy
from kcheck.views.metadata_paths import NodeIdentity, identity_of
from kcheck.views.targets import TargetKind, replica_argument, replica_targets
from kcheck.views.zookeeper_server import VERSION_2

_OF_A_LOG_DIR = {*OFFSET_CHECKPOINTS, META_PROPERTIES}


def zookeeper_beside(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the data directory of ZooKeeper in folders among the arguments; none where KRaft alone decides.

    Of several servers of one cluster the server with the most transactions counts. Several clusters have no answer.
    """
    found = tuple(dict.fromkeys(path for argument in arguments for path in _below(replica_argument(argument)[1])))
    if not found:
        return ()
    try:
        targets = replica_targets([*arguments])
    except UsageError:
        return ()  # The command itself says why.
    own = [identity_of(target.tree, target.path) for target in targets if target.kind is TargetKind.LOG_DIR]
    if not _is_of_zookeeper(own):
        return ()
    return found if len(found) == 1 else _newest(found, {row.cluster_id for row in own})


def _is_of_zookeeper(identities: Sequence[NodeIdentity]) -> bool:
    """Return whether a log dir is of a broker that ZooKeeper serves, or none is of KRaft."""
    is_said = any(own.node_id is not None and not own.is_kraft for own in identities)
    return is_said or not any(own.is_kraft for own in identities)


def _newest(paths: Iterable[str], cluster_ids: set[str | None]) -> tuple[str, ...]:
    """Return the copy with the most transactions; nothing for several clusters."""
    from kcheck.views.zookeeper_copy import zookeeper_copy  # its formats: only for several servers

    copies = [zookeeper_copy(path) for path in paths]
    own = [copy for copy in copies if copy.metadata.cluster_id in cluster_ids] or copies
    if len({copy.metadata.cluster_id for copy in own}) > 1:
        return ()
    return (max(own, key=_zxid).path,)


def _zxid(copy: ZookeeperCopy) -> int:
    return -1 if copy.metadata.zxid is None else copy.metadata.zxid


def _below(path: str) -> Iterator[str]:
    """Yield the data directories in a folder on disk, and one level below."""
    tree = tree_of(path)
    if tree.is_remote or tree.is_bundle or not path or not tree.is_directory(path):
        return
    yield from _data_in(tree, path, depth=2)


def _data_in(tree: Tree, path: str, *, depth: int) -> Iterator[str]:
    listing = _listing(tree, path)
    if listing is None or not _OF_A_LOG_DIR.isdisjoint(listing.files):
        return
    for name in listing.directories:
        below = join(path, name)
        if tree.is_link(below):
            continue
        inner = _listing(tree, below)
        if inner is not None and VERSION_2 in inner.directories:
            yield from (below,) if _is_of_server(below) else ()
        elif depth > 1:
            yield from _data_in(tree, below, depth=depth - 1)


def _is_of_server(path: str) -> bool:
    from kcheck.views.zookeeper_copy import zookeeper_kind  # its formats: only where a directory looks like one

    return zookeeper_kind(path) == "zookeeper"


def _listing(tree: Tree, path: str) -> Listing | None:
    try:
        return tree.listing(path, is_stranger)
    except UnreadableError:
        return None
