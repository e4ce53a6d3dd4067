"""One look at a log dir. During a command each listing and each small file of this machine is read once."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import local
from typing import Any, TypeVar

from kcheck.disk.directory import HOLE_SIZE_MIN, read
from kcheck.disk.listing import Listing
from kcheck.disk.local import LOCAL, LocalDirectory, LocalTree
from kcheck.model.names import IsStranger
from kcheck.model.source import SHORT_SIZE_MAX, BytesSource, Source

A = TypeVar("A")
T = TypeVar("T")

_SIZE_MAX = 16 << 20
"""Number of bytes of small files that are kept; the oldest go first."""
_KEPT_SIZE = 320
"""The size of each of them besides its bytes, for its path and its place."""


class KeptTree(LocalTree):
    """The files of this machine as a command saw them first; what is refused is asked again."""

    __slots__ = ("_files", "_left", "_listings", "answers")

    def __init__(self) -> None:
        self.answers: dict[Hashable, Any] = {}
        self._listings: dict[tuple[str, IsStranger], Listing] = {}
        self._files: dict[str, bytes] = {}
        self._left = _SIZE_MAX

    def directory(self, path: str, *, follow: bool = False) -> "KeptDirectory":
        """Return a directory as `Tree.directory`."""
        return KeptDirectory(self, path, follow=follow)

    def listing(self, path: str, strange: IsStranger | None = None) -> Listing:
        """Return the names in a directory as `Tree.listing`: few enough to be kept where strangers are left out."""
        if strange is None:
            return super().listing(path)
        if (path, strange) not in self._listings:
            self._listings[path, strange] = super().listing(path, strange)
        return self._listings[path, strange]

    def kept(self, path: str) -> bytes | None:
        """Return the bytes of a small file that was read before."""
        return self._files.get(path)

    def keep(self, path: str, data: bytes) -> None:
        """Keep the bytes of a small file."""
        self._files[path] = data
        self._left -= len(data) + _KEPT_SIZE
        while self._left < 0:
            self._left += len(self._files.pop(next(iter(self._files)))) + _KEPT_SIZE


class KeptDirectory(LocalDirectory):
    """A directory of a `KeptTree`: indexes and other small files are read once, `.log` files each time."""

    __slots__ = ("_folder", "_tree")

    def __init__(self, tree: KeptTree, path: str, *, follow: bool) -> None:
        super().__init__(path, follow=follow)
        self._folder = self._prefix
        self._tree = tree

    def read_short(self, name: str) -> bytes | None:
        """Return a file as `Files.read_short`."""
        if name.endswith(".log"):
            return LocalDirectory.read_short(self, name)
        path = self._folder + name
        data = self._tree.kept(path)
        if data is None:
            data = LocalDirectory.read_short(self, name)
            if data is not None:
                self._tree.keep(path, data)
        return data if data is None or len(data) <= SHORT_SIZE_MAX else None

    def open(self, name: str) -> AbstractContextManager[Source]:
        """Open a file as `Directory.open`."""
        if name.endswith(".log"):
            return self.opened(name)
        path = self._folder + name
        data = self._tree.kept(path)
        if data is None:
            opened = self.opened(name)
            if opened.source.size > HOLE_SIZE_MIN:
                return opened
            with opened as source:
                data = read(source, source.size)
            self._tree.keep(path, data)
        return nullcontext(BytesSource(data))


_LOOKING = local()
"""The `tree` of the command that this thread runs."""


def local_tree() -> LocalTree:
    """Return the tree of this machine's files; within `one_look` it reads small files once."""
    tree: LocalTree = getattr(_LOOKING, "tree", LOCAL)
    return tree


@contextmanager
def one_look() -> Iterator[None]:
    """Let every part of a command see the same listings and small files; inner blocks join the outer block."""
    before = local_tree()
    if before is LOCAL:
        _LOOKING.tree = KeptTree()
    try:
        yield
    finally:
        _LOOKING.tree = before


def once(ask: Callable[[str, A], T], path: str, more: A) -> T:
    """Return the answer of a function about a path; within `one_look` it is called once."""
    tree = local_tree()
    if not isinstance(tree, KeptTree):
        return ask(path, more)
    if (ask, path, more) not in tree.answers:
        tree.answers[ask, path, more] = ask(path, more)
    answer: T = tree.answers[ask, path, more]
    return answer
