"""The common parts of stores and bundles (trees that answer from directory contents, and read files by ranges)."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from kcheck.disk.directory import Directory
from kcheck.disk.listing import DirectoryContent, Listing, leave_out, with_few_strangers
from kcheck.disk.paths import join
from kcheck.disk.refusals import readable, unreadable
from kcheck.disk.tree import Tree
from kcheck.model.names import IsStranger, is_stranger
from kcheck.model.source import DirectoryEntries, Source, small_size_max
from kcheck.model.unreadable import UnreadableCause, UnreadableError


class ContentTree(Tree, ABC):
    """The common part of a store and a bundle."""

    @abstractmethod
    def content(self, path: str) -> DirectoryContent:
        """Return the content of a directory; OSError if it is refused."""

    @abstractmethod
    def source(self, path: str) -> Source:
        """Return a file to read by ranges; OSError if it is refused."""

    def is_held(self, path: str) -> bool:
        """Return whether the size of a file is known without a request."""
        del path
        return True

    def read(self, path: str, start: int, end: int) -> bytes:
        """Return the bytes of a file from `start` to below `end`, fewer at its end; OSError if it is refused."""
        return self.source(path).pread(end - start, start)

    def directory(self, path: str, *, follow: bool = False) -> "ContentDirectory":
        """Return a directory as `Tree.directory`."""
        del follow
        return ContentDirectory(self, path)

    @contextmanager
    def open(self, path: str, *, follow: bool = False) -> Iterator[Source]:
        """Open a file as `Tree.open`."""
        del follow
        source = self._opened(path)
        try:
            yield source
        except OSError as error:
            raise unreadable(error, path) from error

    @readable
    def _opened(self, path: str) -> Source:
        return self.source(path)

    @readable
    def listing(self, path: str, strange: IsStranger | None = None) -> Listing:
        """Return the names in a directory as `Tree.listing`."""
        content = self.content(path)
        files = {*content.sizes}
        strangers = leave_out(files, strange)
        return Listing(tuple(sorted(files)), content.directories, content.others, strangers)

    @readable
    def entries(self, path: str) -> DirectoryEntries:
        """Return the names in a directory as `Directory.entries`."""
        content = self.content(path)
        below = {name: self.is_empty(join(path, name)) for name in content.directories}
        return DirectoryEntries(with_few_strangers(content.sizes), below, content.others)

    @readable
    def states(self, path: str) -> list[tuple[str, object, int, object]]:
        """Return the states of a directory as `Tree.states`."""
        content = self.content(path)
        if len(content.stamps) < len(content.sizes):
            raise UnreadableError("its store does not show which files have changed")
        of_files = [(name, None, size, content.stamps[name]) for name, size in content.sizes.items()]
        return sorted([*of_files, *((name, None, 0, None) for name in content.directories)])


class ContentDirectory(Directory):
    """A directory in a store or a bundle."""

    __slots__ = ("_prefix", "_tree")

    def __init__(self, tree: ContentTree, path: str) -> None:
        self.path = path
        self._tree = tree
        self._prefix = path if path.endswith("/") or not path else f"{path}/"

    def listing(self) -> Listing:
        """Return its names as `Directory.listing`."""
        return self._tree.listing(self.path, is_stranger)

    def entries(self) -> DirectoryEntries:
        """Return its names as `Directory.entries`."""
        return self._tree.entries(self.path)

    def open(self, name: str) -> AbstractContextManager[Source]:
        """Open a file as `Directory.open`."""
        return self._tree.open(self._prefix + name)

    def read_whole(self, name: str, size_max: int | None = None) -> bytes:
        """Return a file as `Directory.read_whole`; where its size is not known, to ask would cost another request."""
        path = self._prefix + name
        if self._tree.is_held(path):
            return super().read_whole(name, size_max)
        size_max = small_size_max(name) if size_max is None else size_max
        try:
            data = self._tree.read(path, 0, size_max + 1)
        except OSError as error:
            raise unreadable(error, path) from error
        if len(data) > size_max:
            words = f"more than {size_max} bytes are too many for a file of this kind"
            raise UnreadableError(words, UnreadableCause.TOO_LARGE)
        return data
