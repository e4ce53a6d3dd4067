"""Log dirs as a plan would leave them. This tree is over another one, and applies the plan's operations.

Nothing is written. Files that a plan does not touch are read from the tree below.
"""

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Self

from kcheck.disk.directory import Directory
from kcheck.disk.listing import Listing
from kcheck.disk.paths import absolute, join
from kcheck.disk.tree import Tree
from kcheck.model.names import IsStranger
from kcheck.model.plan import FileOp, Patch, Rename, SetAside, Truncate, Write, place_of, touched
from kcheck.model.source import BytesSource, CopyingSource, DirectoryEntries, Filled, Source
from kcheck.model.unreadable import UnreadableCause, UnreadableError

_InDirectory = Mapping[str, FileOp]
"""The operations in one directory, by the names that they create, change or remove."""
_NONE: _InDirectory = {}


class PlannedTree(Tree):
    """A tree with the operations of a plan made."""

    __slots__ = ("_below", "_operations")

    def __init__(self, tree: Tree, log_dirs: Mapping[str, str], operations: tuple[FileOp, ...]) -> None:
        """Take the tree below, the log dirs here by their paths in the plan, and the operations."""
        self._below = tree
        self._operations: dict[str, dict[str, FileOp]] = {}
        for operation in operations:
            for path in touched(operation):
                place = place_of(path, log_dirs)
                assert place is not None
                *folders, name = place[1]
                folder = join(absolute(log_dirs[place[0]]), *folders)
                self._operations.setdefault(folder, {})[name] = operation

    @property
    def is_remote(self) -> bool:  # type: ignore[override]  # a class variable there
        """True if the tree below is no directory of this machine."""
        return self._below.is_remote

    @property
    def is_bundle(self) -> bool:  # type: ignore[override]  # a class variable there
        """True if the tree below is a bundle."""
        return self._below.is_bundle

    def _of(self, path: str) -> tuple[str, _InDirectory]:
        """Return the place of a directory below, and the operations in it; a path that is moved away is empty."""
        folder, _, name = absolute(path).rpartition("/")
        operation = self._operations.get(folder, _NONE).get(name)
        if isinstance(operation, Rename) and name == operation.to:
            path = join(path.rstrip("/").rpartition("/")[0], operation.path.rpartition("/")[2])
        elif isinstance(operation, Rename | SetAside):
            raise _missing()
        return path, self._operations.get(absolute(path), _NONE)

    def directory(self, path: str, *, follow: bool = False) -> Directory:
        """Return a directory as `Tree.directory`."""
        below, operations = self._of(path)
        directory = self._below.directory(below, follow=follow)
        return PlannedDirectory(path, directory, operations) if operations or below != path else directory

    def open(self, path: str, *, follow: bool = False) -> AbstractContextManager[Source]:
        """Open a file as `Tree.open`."""
        folder, slash, name = path.rpartition("/")
        return self.directory(folder + slash, follow=follow).open(name)

    def listing(self, path: str, strange: IsStranger | None = None) -> Listing:
        """Return the names in a directory as `Tree.listing`."""
        below, operations = self._of(path)
        return _listed(self._below.listing(below, strange), operations)

    def states(self, path: str) -> list[tuple[str, object, int, object]]:
        """Return the states of a directory on disk, as `Tree.states`."""
        return self._below.states(self._of(path)[0])

    def _at(self, path: str) -> tuple[str, FileOp | None]:
        """Return the place of a path below, and the operation that makes, changes or removes it."""
        folder, slash, name = path.rstrip("/").rpartition("/")
        below, operations = self._of(folder) if slash else ("", self._operations.get(absolute("."), _NONE))
        return path if below == folder else join(below, name), operations.get(name)

    def size(self, path: str) -> int:
        """Return the size of a file as `Tree.size`."""
        below, operation = self._at(path)
        if operation is None:
            return self._below.size(below)
        folder, _, name = path.rpartition("/")
        return self.directory(folder).readable_size(name)

    def file_type(self, path: str) -> int | None:
        """Return the type of a path as `Tree.file_type`."""
        try:
            below, operation = self._at(path)
        except UnreadableError:
            return None
        if isinstance(operation, Rename) and path.rstrip("/").endswith(f"/{operation.to}"):
            return stat.S_IFDIR if operation.directory else stat.S_IFREG
        if isinstance(operation, Rename | SetAside):
            return None
        return self._below.file_type(below) if operation is None else stat.S_IFREG

    def is_directory(self, path: str) -> bool:
        """Return whether a path is a directory as `Tree.is_directory`."""
        try:
            below, operation = self._at(path)
        except UnreadableError:
            return False
        return self._below.is_directory(below) if operation is None else self.file_type(path) == stat.S_IFDIR

    def is_empty(self, path: str) -> bool:
        """Return whether a directory is known to be empty, as `Tree.is_empty`; False if the plan changes it."""
        return absolute(path) not in self._operations and self._below.is_empty(path)

    def real(self, path: str) -> str:
        """Return a path as `Tree.real`."""
        return self._below.real(path)

    def is_link(self, path: str) -> bool:
        """Return whether a path is a link as `Tree.is_link`: no plan makes one."""
        below, operation = self._at(path)
        return operation is None and self._below.is_link(below)


class PlannedDirectory(Directory):
    """A directory with the operations of a plan made."""

    __slots__ = ("_below", "_operations")

    def __init__(self, path: str, below: Directory, operations: _InDirectory) -> None:
        """Take its path, the present directory, and the operations in it."""
        self.path: str = path
        self._below, self._operations = below, operations

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlannedDirectory) and (other.path, other._operations) == (self.path, self._operations)

    def __hash__(self) -> int:
        return hash(self.path)

    def __enter__(self) -> Self:
        self._below.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._below.__exit__(*error)

    def listing(self) -> Listing:
        """Return its names as `Directory.listing`."""
        return _listed(self._below.listing(), self._operations)

    def entries(self) -> DirectoryEntries:
        """Return its names as `Directory.entries`."""
        now = self._below.entries()
        left = {name: size for name, size in now.sizes.items() if name not in self._operations}
        directories = {name: empty for name, empty in now.directories.items() if name not in self._operations}
        for name, operation in self._operations.items():
            if isinstance(operation, Rename) and name == operation.to:
                old = operation.path.rpartition("/")[2]
                if operation.directory:
                    directories[name] = now.directories.get(old, False)
                else:
                    left[name] = operation.after.size
            elif isinstance(operation, Write | Patch | Truncate):
                left[name] = operation.after.size
        others = tuple(name for name in now.others if name not in self._operations)
        return DirectoryEntries(left, directories, others, now.loops)

    def open(self, name: str) -> AbstractContextManager[Source]:
        """Open a file as `Directory.open`."""
        operation = self._operations.get(name)
        if operation is None:
            return self._below.open(name)
        if isinstance(operation, Write):
            return nullcontext(BytesSource(operation.content))
        if isinstance(operation, Patch | Truncate):
            return self._edited(name, operation)
        if isinstance(operation, Rename) and name == operation.to:
            return self._below.open(operation.path.rpartition("/")[2])
        raise _missing()

    @contextmanager
    def _edited(self, name: str, operation: Patch | Truncate) -> Iterator[Source]:
        with self._below.open(name) as source:
            yield _EditedSource(source, operation)

    def readable_size(self, name: str) -> int:
        """Return the size of a file as `Directory.readable_size`."""
        return super().readable_size(name) if name in self._operations else self._below.readable_size(name)

    def read_filled(self, name: str) -> Filled:
        """Return a file as `Directory.read_filled`."""
        return super().read_filled(name) if name in self._operations else self._below.read_filled(name)

    def read_whole(self, name: str, size_max: int | None = None) -> bytes:
        """Return the bytes of a small file as `Directory.read_whole`."""
        changed = name in self._operations
        return super().read_whole(name, size_max) if changed else self._below.read_whole(name, size_max)


class _EditedSource(CopyingSource):
    """An open file with changed bytes, or a truncated end, as they are read."""

    __slots__ = ("_changes", "_source", "size")

    def __init__(self, source: Source, operation: Patch | Truncate) -> None:
        self._source, self.size = source, operation.after.size
        changes = operation.changes if isinstance(operation, Patch) else ()
        self._changes = tuple((change.position, change.new) for change in changes)

    def pread(self, count: int, position: int) -> bytes:
        """Return bytes as `Source.pread`."""
        data = bytearray(self._source.pread(max(0, min(count, self.size - position)), position))
        for at, new in self._changes:
            first, end = max(at, position), min(at + len(new), position + len(data))
            if first < end:
                data[first - position : end - position] = new[first - at : end - at]
        return bytes(data)

    def next_data(self, position: int) -> int | None:
        """Return the next data as `Source.next_data`."""
        after = self._source.next_data(position)
        return None if after is None or after >= self.size else after


def _listed(now: Listing, operations: _InDirectory) -> Listing:
    """Return names with the operations made."""
    files = {name for name in now.files if name not in operations}
    directories = {name for name in now.directories if name not in operations}
    for name, operation in operations.items():
        if isinstance(operation, Rename) and name == operation.to:
            (directories if operation.directory else files).add(name)
        elif isinstance(operation, Write | Patch | Truncate):
            files.add(name)
    others = tuple(name for name in now.others if name not in operations)
    return Listing(tuple(sorted(files)), tuple(sorted(directories)), others, now.strangers)


def _missing() -> UnreadableError:
    return UnreadableError(os.strerror(errno.ENOENT), UnreadableCause.MISSING)
