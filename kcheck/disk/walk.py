"""What stands in a directory, without following a link out of it."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple, Self, TypeVar

from kcheck.disk.quota import reading_at_most
from kcheck.disk.read import opened, read_whole, readable_size, unreadable
from kcheck.disk.remote import store_of
from kcheck.model.finding import Location
from kcheck.model.unreadable import UnreadableError

T = TypeVar("T")

_AGAIN = 16
"""What stands in a directory is read a few times, by several rules: so often never."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Listing(NamedTuple):
    """The names in one directory, sorted: regular files, directories, and links or devices that are left alone.

    A link to a directory counts as a directory only if it stays inside of this one.
    """

    files: tuple[str, ...]
    directories: tuple[str, ...]
    others: tuple[str, ...]


def list_directory(path: str) -> Listing:
    """Return what stands in `path`; UnreadableError if it cannot be listed."""
    store = store_of(path)
    if store is not None:
        found = _asked(lambda: store.list_directory(path))
        return Listing(tuple(sorted(found.sizes)), found.directories, ())
    return _asked(lambda: _listed(path, path))


def _listed(path: str, directory: str | int) -> Listing:
    """Return what stands in a directory, which is its path or an open descriptor."""
    with os.scandir(directory) as entries:
        found = list(entries)
    files = [entry.name for entry in found if entry.is_file(follow_symlinks=False)]
    files.sort()
    if len(files) == len(found):
        return Listing(tuple(files), (), ())
    directories = [
        entry.name for entry in found
        if entry.is_dir(follow_symlinks=False) or (entry.is_symlink() and _inside(path, join(path, entry.name)))
    ]  # fmt: skip
    others = {entry.name for entry in found}.difference(files, directories)
    return Listing(tuple(files), tuple(sorted(directories)), tuple(sorted(others)))


def has_file(path: str, wanted: Callable[[str], bool]) -> bool:
    """Whether a regular file whose name is `wanted` stands in `path`: the first one ends the look.

    UnreadableError if it cannot be listed.
    """
    if is_remote(path):
        return any(map(wanted, list_directory(path).files))
    return _asked(lambda: _has_file(path, wanted))


def _has_file(path: str, wanted: Callable[[str], bool]) -> bool:
    with os.scandir(path) as entries:
        return any(wanted(entry.name) and entry.is_file(follow_symlinks=False) for entry in entries)


def states(path: str) -> list[tuple[str, object, int, object]]:
    """Return what tells whether something in a directory changed: names, kinds, sizes and times in ns, sorted.

    Of what is in a store its listing tells it. UnreadableError if it cannot be listed, or if a store tells only sizes.
    """
    store = store_of(path)
    if store is not None:
        listed = _asked(lambda: store.list_directory(path))
        if len(listed.stamps) < len(listed.sizes):
            raise UnreadableError("its store does not tell what has changed")
        of_files = [(name, None, size, listed.stamps[name]) for name, size in listed.sizes.items()]
        return sorted([*of_files, *((name, None, 0, None) for name in listed.directories)])
    try:
        with os.scandir(path) as entries:
            found = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
    except (OSError, ValueError) as error:
        raise unreadable(error) from error
    return sorted((name, stat.st_mode, stat.st_size, stat.st_mtime_ns) for name, stat in found)


def hold_listing(path: str) -> None:
    """List a log dir in a store with all that is below it, until `drop_listing`; UnreadableError if that fails."""
    store = store_of(path)
    if store is not None:
        _asked(lambda: store.hold(path))


def is_remote(path: str) -> bool:
    """Whether a path is in a store: each request takes long, and many can be under way."""
    return store_of(path) is not None


@contextmanager
def bounded(path: str, size_max: int | None) -> Iterator[None]:
    """Read at most `size_max` bytes of a directory in a store, or, where that is None, what is there a few times.

    TooMuchReadError where it is more. What is held of few bytes is bounded for all threads together; what is read a few
    times is read by windows, and not held.
    """
    if store_of(path) is None:
        yield
        return
    holds = size_max is not None
    if size_max is None:
        with suppress(UnreadableError):
            size_max = _AGAIN * sum(file_sizes(path).values())
    with reading_at_most(size_max or 0, holds=holds):
        yield


def drop_listing(path: str) -> None:
    """Forget what `hold_listing` listed."""
    store = store_of(path)
    if store is not None:
        store.drop(path)


class Directory:
    """An open directory, whose files are opened by their names. A context; UnreadableError if it cannot be opened."""

    __slots__ = ("_descriptor", "_prefix", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self._descriptor = None if is_remote(path) else _asked(lambda: os.open(path, _DIRECTORY))
        self._prefix = join(path, "") if self._descriptor is None else ""

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        if self._descriptor is not None:
            os.close(self._descriptor)

    def listing(self) -> Listing:
        """Return what stands in it; UnreadableError if it cannot be listed."""
        descriptor = self._descriptor
        return list_directory(self.path) if descriptor is None else _asked(lambda: _listed(self.path, descriptor))

    def opened(self, name: str) -> opened:
        """Open a file, as `kcheck.disk.read.opened`."""
        return opened(self._prefix + name, at=self._descriptor)

    def read_whole(self, name: str) -> bytes:
        """Return the bytes of a small file, as `kcheck.disk.read.read_whole`."""
        return read_whole(self._prefix + name, at=self._descriptor)

    def readable_size(self, name: str) -> int:
        """Return the size of a file in bytes, as `kcheck.disk.read.readable_size`."""
        return readable_size(self._prefix + name, at=self._descriptor)


def _asked(ask: Callable[[], T]) -> T:
    try:
        return ask()
    except (OSError, ValueError) as error:
        raise unreadable(error) from error


def _inside(directory: str, link: str) -> bool:
    """Whether a link leads to a directory below `directory`; one that leads in a circle leads nowhere."""
    if not os.path.isdir(link):
        return False
    root = os.path.realpath(directory)
    return os.path.realpath(link).startswith(root + os.sep)


def sizes(path: str, ending: str) -> list[int]:
    """Return the sizes in bytes of the regular files whose names have this ending; none if `path` cannot be listed."""
    try:
        with os.scandir(path) as entries:
            named = [entry for entry in entries if entry.name.endswith(ending)]
            return [
                entry.stat(follow_symlinks=False).st_size for entry in named if entry.is_file(follow_symlinks=False)
            ]
    except (OSError, ValueError):
        return []


def file_sizes(path: str) -> dict[str, int]:
    """Return the regular files of a directory and their sizes in bytes, links followed; UnreadableError if it fails.

    So File.isFile and File.length see them; what a link leads to is not opened by that.
    """
    store = store_of(path)
    if store is not None:
        return dict(_asked(lambda: store.list_directory(path)).sizes)
    found: dict[str, int] = {}
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_file():
                    found[entry.name] = entry.stat().st_size
    except (OSError, ValueError) as error:
        raise unreadable(error) from error
    return found


def no_files(path: str) -> list[str]:
    """Return what stands in a directory and is no regular file, links followed; UnreadableError if it fails."""
    if is_remote(path):
        return []
    with _asked(lambda: os.scandir(path)) as entries:
        return sorted(entry.name for entry in entries if not entry.is_file() and os.path.exists(entry.path))


def file_size(path: str) -> int:
    """Return the size of a file in bytes without following a link; UnreadableError if it is gone."""
    try:
        return os.lstat(path).st_size
    except OSError as error:
        raise unreadable(error) from error


def is_directory(path: str) -> bool:
    """Whether the user's path is a directory; a link that the user named is followed.

    In a store there are no empty ones. UnreadableError if it does not answer.
    """
    store = store_of(path)
    if store is not None:
        found = _asked(lambda: store.find(path))
        return bool(found.sizes or found.directories)
    return os.path.isdir(path)


def exists(path: str) -> bool:
    """Whether the user's path names anything, or a directory in which we may not look."""
    store = store_of(path)
    if store is not None:
        folder, name = split(path)
        found = _asked(lambda: store.find(folder))
        return name in found.sizes or name in found.directories
    try:
        os.lstat(path)
    except PermissionError:
        return True  # whoever opens it tells why it cannot be read
    except (OSError, ValueError):
        return False
    return True


def real(path: str) -> str:
    """Return the one name of what a path names, with every link followed; of what no file can be named, the path."""
    if store_of(path) is not None:
        return path.rstrip("/")
    return path if "\0" in path else os.path.realpath(path)


def is_link(path: str) -> bool:
    """Whether a path is a symbolic link."""
    return store_of(path) is None and os.path.islink(path)


def join(directory: str, *names: str) -> str:
    """Return the path of a name in a directory."""
    return os.path.join(directory, *names)


def folder_of(where: Location) -> str:
    """Return the path of the partition directory that a place is in."""
    return join(where.log_dir or "", where.dir or "")


def split(path: str) -> tuple[str, str]:
    """Return (directory, last name) of the user's path; `x/` has the last name x."""
    if store_of(path) is not None:
        folder, _, name = path.rstrip("/").rpartition("/")
        return folder, name
    head, tail = os.path.split(os.path.normpath(path))
    return head or ".", tail
