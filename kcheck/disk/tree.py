"""The trees of paths (this machine's files, a store, or a bundle). A command asks once for each given path."""

import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING

from kcheck.disk.directory import Directory
from kcheck.disk.listing import Listing
from kcheck.disk.quota import reading_at_most
from kcheck.model.names import BUNDLE_SUFFIX, IsStranger
from kcheck.model.source import Source
from kcheck.model.unreadable import UnreadableError

if TYPE_CHECKING:
    from kcheck.model.plan import Digest

_READ_COUNT_MAX = 16
"""More often than any rule and scan together read a file of one directory."""


class Tree:
    """The place of files. Methods take the paths that users see.

    UnreadableError if the system or a store refuses a path. A tree can be given to other processes, which open a store
    or a bundle again.
    """

    __slots__ = ()
    is_remote = True
    """True if it is no directory of this machine."""
    is_bundle = False
    """True if it is a bundle of `kcheck capture`."""

    def directory(self, path: str, *, follow: bool = False) -> Directory:
        """Return a directory; `follow` follows a link to a file, only for a path that the user named."""
        raise NotImplementedError

    def open(self, path: str, *, follow: bool = False) -> AbstractContextManager[Source]:
        """Open a regular file for a `with` block; gives a `Source`. `follow` as in `directory`."""
        raise NotImplementedError

    def read_whole(self, path: str, *, follow: bool = False, size_max: int | None = None) -> bytes:
        """Return the bytes of a small file; UnreadableError if it is larger than `size_max` or cannot be read."""
        folder, slash, name = path.rpartition("/")
        return self.directory(folder + slash, follow=follow).read_whole(name, size_max)

    def listing(self, path: str, strange: IsStranger | None = None) -> Listing:
        """Return the names in a directory; of the files that are `strange` only the first `STRANGERS_MAX`."""
        raise NotImplementedError

    def states(self, path: str) -> list[tuple[str, object, int, object]]:
        """Return values that change with a directory (names, types, sizes and times in ns since 1970), sorted.

        UnreadableError too if its store shows only sizes.
        """
        raise NotImplementedError

    def sizes(self, path: str, ending: str) -> list[int]:
        """Return the sizes in bytes of the regular files whose names have this ending; empty if it cannot be listed."""
        with suppress(UnreadableError):
            return [size for name, size in self.directory(path).entries().sizes.items() if name.endswith(ending)]
        return []

    def size(self, path: str) -> int:
        """Return the size of a file in bytes without following a link."""
        raise NotImplementedError

    def file_type(self, path: str) -> int | None:
        """Return the type bits of the mode of a path, not of a link's target; None if it is missing."""
        raise NotImplementedError

    def is_directory(self, path: str) -> bool:
        """Return whether a path is a directory, on disk also through a link that the user named.

        A store has no empty directories.
        """
        return self.file_type(path) == stat.S_IFDIR

    def is_empty(self, path: str) -> bool:
        """Return whether a directory is known to be empty."""
        del path
        return False

    def exists(self, path: str) -> bool:
        """Return whether a path exists, or the system refuses to say."""
        return self.file_type(path) is not None

    def real(self, path: str) -> str:
        """Return a path with every link resolved."""
        return path.rstrip("/")

    def is_link(self, path: str) -> bool:
        """Return whether a path is a symbolic link that kcheck could follow."""
        del path
        return False

    def digest(self, path: str, *, directory: bool = False) -> "Digest | None":
        """Return the digest in a bundle of a file or directory of its host; None outside of bundles.

        UnreadableError if the bundle has none.
        """
        del path, directory
        return None

    def hold(self, path: str) -> None:
        """Keep a listing of everything below a log dir in a store until `drop`; UnreadableError if it fails."""

    def drop(self, path: str) -> None:
        """Forget the listing that `hold` keeps."""


def tree_of(path: str) -> Tree:
    """Return the tree that a path is in. UsageError: it leads into a corrupt bundle."""
    from kcheck.disk.kept import local_tree  # trees import this module
    from kcheck.disk.store import store_of

    store = store_of(path)
    if store is None and BUNDLE_SUFFIX in path:
        from kcheck.disk.bundle import bundle_of  # only for a path that may be in one

        return bundle_of(path) or local_tree()
    return store or local_tree()


def real_path(path: str) -> str:
    """Return a path with every link resolved."""
    return tree_of(path).real(path)


def path_at_home(path: str) -> str:
    """Return a path in a bundle without the file of the bundle, and any other path unchanged."""
    from kcheck.disk.bundle import BundleTree

    tree = tree_of(path)
    return path[len(tree.path) :].strip("/") or "." if isinstance(tree, BundleTree) else path


def logs_in(path: str) -> tuple[str, ...]:
    """Return the paths of the logs of brokers in a bundle; empty for any other path."""
    from kcheck.disk.bundle import BundleTree

    tree = tree_of(path) if path.endswith(BUNDLE_SUFFIX) else None
    return tree.logs() if isinstance(tree, BundleTree) else ()


@contextmanager
def bounded(tree: Tree, path: str, size_max: int | None) -> Iterator[None]:
    """Let this thread read at most `size_max` bytes of a directory in a store; TooMuchReadError beyond that.

    With None the limit is several times the size of the directory. Reads with a `size_max` are in memory, so all
    threads share a limit. A read without one goes by windows, and needs little memory.
    """
    if not tree.is_remote:
        yield
        return
    holds = size_max is not None
    if size_max is None:
        with suppress(UnreadableError):
            size_max = _READ_COUNT_MAX * sum(tree.directory(path).entries().sizes.values())
    with reading_at_most(size_max or 0, holds=holds):
        yield
