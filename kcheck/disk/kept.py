"""One look at a log dir. During a command each listing and each small file of this machine is read once."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import local
from typing import Any, TypeVar

from kcheck.disk.directory import HOLE_SIZE_MIN, read
from kcheck.disk.listing import Listing
from kcheck.disk.local import LOCAL, LocalDirectory, LocalTree, OpenedFile, listed
from kcheck.model.names import IsStranger, is_stranger
from kcheck.model.rights import PlainOwners
from kcheck.model.source import BytesSource, Source

A = TypeVar("A")
T = TypeVar("T")

_SIZE_MAX = 16 << 20
"""Number of bytes of small files that are kept; the oldest go first."""
_KEPT_SIZE = 320
"""The size of each of them besides its bytes, for its path and its place."""


class KeptTree(LocalTree):
    """The files of this machine as a command saw them first; what is refused is asked again."""

    __slots__ = ("_files", "_left", "_listings", "_same", "answers", "owners")

    def __init__(self) -> None:
        self.answers: dict[Hashable, Any] = {}
        self.owners: dict[str, PlainOwners] | None = None
        """The owners of files by directory; None unless a premise asks for owners."""
        self._same: dict[PlainOwners, PlainOwners] = {}
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

    def note_owners(self, path: str, owners: PlainOwners) -> None:
        """Keep the owners of a directory."""
        if self.owners is not None:
            self.owners[path] = self._same.setdefault(owners, owners)

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

    __slots__ = ("_folder", "_sizes", "_tree")

    def __init__(self, tree: KeptTree, path: str, *, follow: bool) -> None:
        super().__init__(path, follow=follow)
        self._folder = self._prefix
        self._tree = tree
        self._sizes: dict[str, int] = {}

    def __exit__(self, *error: object) -> None:
        self._sizes = {}
        super().__exit__(*error)

    def listing(self) -> Listing:
        """Return its names as `Directory.listing`, and note the owners of its files."""
        if self._tree.owners is None or self.path in self._tree.owners:
            return super().listing()
        listing, owners = listed(self.path, is_stranger, self._at, self._sizes)
        if owners is not None:
            self._tree.note_owners(self.path, owners)
        return listing

    def readable_size(self, name: str) -> int:
        """Return the size of a file as `Directory.readable_size`; in a `with` block, the size at the listing."""
        size = self._sizes.get(name)
        return super().readable_size(name) if size is None else size

    def open(self, name: str) -> AbstractContextManager[Source]:
        """Open a file as `Directory.open`."""
        found = self.opened(name) if name.endswith(".log") else self.short_or_opened(name)
        return nullcontext(BytesSource(found)) if isinstance(found, bytes) else found

    def short_or_opened(self, name: str) -> bytes | OpenedFile:
        """Return the bytes of a small file, read once; a larger file is open."""
        if name.endswith(".log"):
            return super().short_or_opened(name)
        path = self._folder + name
        data = self._tree.kept(path)
        if data is None:
            found = super().short_or_opened(name)
            if isinstance(found, bytes):
                data = found
            elif found.source.size > HOLE_SIZE_MIN:
                return found
            else:
                with found as source:
                    data = read(source, source.size)
            self._tree.keep(path, data)
        return data


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


def expect_owners() -> None:
    """Let the listings of this command note the owners of files, for the premises of the next start."""
    tree = local_tree()
    if isinstance(tree, KeptTree) and tree.owners is None:
        tree.owners = {}


def noted_owners(path: str) -> PlainOwners | None:
    """Return the owners of the files of a directory at its listing; None if unknown."""
    tree = local_tree()
    return tree.owners.get(path) if isinstance(tree, KeptTree) and tree.owners is not None else None


def once(ask: Callable[[str, A], T], path: str, more: A) -> T:
    """Return the answer of a function about a path; within `one_look` it is called once."""
    tree = local_tree()
    if not isinstance(tree, KeptTree):
        return ask(path, more)
    if (ask, path, more) not in tree.answers:
        tree.answers[ask, path, more] = ask(path, more)
    answer: T = tree.answers[ask, path, more]
    return answer
