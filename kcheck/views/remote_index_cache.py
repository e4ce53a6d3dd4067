"""Reads the names and sizes in a log dir's `remote-log-index-cache`."""

from collections.abc import Iterator

from kcheck.core.start.remote_index_cache import NOT_A_DIRECTORY, is_stranger_in_cache, read_cache
from kcheck.disk.listing import Listing
from kcheck.disk.paths import join
from kcheck.disk.tree import Tree
from kcheck.model.names import REMOTE_INDEX_CACHE
from kcheck.model.release import Release
from kcheck.model.remote_index_cache import RemoteIndexCache
from kcheck.model.unreadable import Unreadable, UnreadableCause, UnreadableError


def remote_index_cache(
    tree: Tree, path: str, log_dir: Listing, release: Release
) -> RemoteIndexCache | Unreadable | None:
    """Return the cache of the log dir at a path; None without one. A link to another place is not followed."""
    if REMOTE_INDEX_CACHE in log_dir.files:
        return NOT_A_DIRECTORY
    if REMOTE_INDEX_CACHE not in log_dir.directories:
        return None
    cache = join(path, REMOTE_INDEX_CACHE)
    try:
        listing = tree.listing(cache, is_stranger_in_cache)
        others = (*listing.directories, *listing.others)
        return read_cache(_sizes(tree, cache, listing.files), others, listing.strangers, release=release)
    except UnreadableError as error:
        return error.why


def _sizes(tree: Tree, cache: str, names: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Yield the files with their sizes, except files that a running broker has removed meanwhile."""
    for name in names:
        try:
            yield name, tree.size(join(cache, name))
        except UnreadableError as error:
            if error.cause is not UnreadableCause.MISSING:
                raise
