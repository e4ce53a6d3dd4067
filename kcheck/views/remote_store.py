"""Lists the objects of a remote store: of a folder, a URL, or a listing file."""

import stat
from collections.abc import Iterator

from kcheck.core.tiered.store import listed_object
from kcheck.disk.paths import join
from kcheck.disk.tree import Tree, tree_of
from kcheck.errors import UsageError
from kcheck.model.remote_log import StoreObject
from kcheck.model.unreadable import UnreadableError

_DEPTH_MAX = 8
_NANOSECONDS = 1_000_000


def store_objects(place: str) -> Iterator[StoreObject]:
    """Yield the objects of a store; UsageError if the place is not there, or has no line of a listing."""
    tree = tree_of(place)
    if not tree.exists(place):
        raise UsageError(f"{place}: no such file or directory")
    if tree.is_directory(place):
        yield from _below(tree, place, 0)
        return
    try:
        lines = tree.read_whole(place).decode("utf-8", "replace").splitlines()
    except UnreadableError as error:
        raise UsageError(f"{place}: {error}") from error
    listed = [row for row in map(listed_object, lines) if row is not None]
    if lines and not listed:
        raise UsageError(f"{place}: no line is of aws s3 ls --recursive, gsutil ls -l, rclone lsl or find -printf")
    yield from listed


def _below(tree: Tree, path: str, depth: int) -> Iterator[StoreObject]:
    directories = tree.listing(path).directories
    for name, mode, size, modified in tree.states(path):
        if name not in directories and not (isinstance(mode, int) and stat.S_ISDIR(mode)):
            yield StoreObject(join(path, name), size, modified // _NANOSECONDS if isinstance(modified, int) else None)
    for name in directories if depth < _DEPTH_MAX else ():
        yield from _below(tree, join(path, name), depth + 1)
