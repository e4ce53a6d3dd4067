"""Lists directories and answers questions about paths, without following a link out of a checked directory."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

from kcheck.disk.quota import reading_at_most
from kcheck.disk.read import COUNT_MAX, FilesOf, unreadable
from kcheck.disk.refusals import MISSING, note_refusal
from kcheck.disk.remote import BUNDLE_SUFFIX, store_of
from kcheck.model.finding import Location
from kcheck.model.names import STRANGERS_MAX, IsStranger, further_strangers, is_stranger
from kcheck.model.unreadable import UnreadableCause, UnreadableError

if TYPE_CHECKING:
    from kcheck.disk.bundle import Bundle

T = TypeVar("T")

_READ_COUNT_MAX = 16
"""More often than any rule and scan together read a file of one directory."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Listing(NamedTuple):
    """The names in one directory, sorted."""

    files: tuple[str, ...]
    """Regular files."""
    directories: tuple[str, ...]
    """Directories, and links to a directory below this one."""
    others: tuple[str, ...]
    """Other links, devices, sockets and pipes: kcheck does not open them."""
    strangers: int = 0
    """How many more files there are that were left out as strangers."""


def list_directory(path: str, strange: IsStranger | None = None) -> Listing:
    """Return the names in a directory; UnreadableError if it cannot be listed.

    Of the files that are strangers only the first `STRANGERS_MAX` are named.
    """
    store = store_of(path)
    if store is not None:
        content = _readable(path, lambda: store.list_directory(path))
        files = set(content.sizes)
        strangers = _leave_out(files, strange)
        return Listing(
            tuple(sorted(files)), directories=content.directories, others=content.others, strangers=strangers
        )
    return _readable(path, lambda: _listed(path, path, strange))


def _listed(path: str, directory: str | int, strange: IsStranger | None) -> Listing:
    """Return the names in a directory, which is its path or an open descriptor."""
    files, directories, others = set[str](), list[str](), list[str]()
    strangers, count_max = 0, COUNT_MAX
    with os.scandir(directory) as entries:
        for entry in entries:
            name = entry.name
            if entry.is_file(follow_symlinks=False):
                files.add(name)
                if len(files) > count_max:
                    strangers += _leave_out(files, strange)
                    count_max = max(COUNT_MAX, 2 * len(files))
            elif entry.is_dir(follow_symlinks=False) or (entry.is_symlink() and _inside(path, join(path, name))):
                directories.append(name)
            else:
                others.append(name)
    strangers += _leave_out(files, strange)
    return Listing(tuple(sorted(files)), tuple(sorted(directories)), tuple(sorted(others)), strangers)


def _leave_out(files: set[str], strange: IsStranger | None) -> int:
    """Remove all but the first strangers from the names of files; return how many were removed."""
    if strange is None or len(files) <= STRANGERS_MAX:
        return 0
    more = further_strangers(files, strange)
    files.difference_update(more)
    return len(more)


def has_file(path: str, wanted: Callable[[str], bool]) -> bool:
    """Whether a directory has a regular file whose name is `wanted`; UnreadableError if it cannot be listed."""
    if is_remote(path):
        return any(map(wanted, list_directory(path).files))
    return _readable(path, lambda: _has_file(path, wanted))


def _has_file(path: str, wanted: Callable[[str], bool]) -> bool:
    with os.scandir(path) as entries:
        return any(wanted(entry.name) and entry.is_file(follow_symlinks=False) for entry in entries)


def states(path: str) -> list[tuple[str, object, int, object]]:
    """Return values that differ once a directory changes: names, types, sizes and times (ns since 1970), sorted.

    UnreadableError if it cannot be listed, or if its store shows only sizes.
    """
    store = store_of(path)
    if store is not None:
        listed = _readable(path, lambda: store.list_directory(path))
        if len(listed.stamps) < len(listed.sizes):
            raise UnreadableError("its store does not show which files have changed")
        of_files = [(name, None, size, listed.stamps[name]) for name, size in listed.sizes.items()]
        return sorted([*of_files, *((name, None, 0, None) for name in listed.directories)])
    statuses = _readable(path, lambda: _statuses(path))
    return sorted((name, status.st_mode, status.st_size, status.st_mtime_ns) for name, status in statuses)


def _statuses(path: str) -> list[tuple[str, os.stat_result]]:
    """Return the names in a directory on a disk with their states; by its descriptor each is found in one step."""
    descriptor = os.open(path, _DIRECTORY)
    try:
        with os.scandir(descriptor) as entries:
            return [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
    finally:
        os.close(descriptor)


def hold_listing(path: str) -> None:
    """Keep a listing of everything below a log dir in a store until `drop_listing`; UnreadableError if it fails."""
    store = store_of(path)
    if store is not None:
        _readable(path, lambda: store.hold(path))


def is_remote(path: str) -> bool:
    """Whether a path is in a store, where a request takes long and many can run at once."""
    return store_of(path) is not None


def is_bundle(path: str) -> bool:
    """Whether a path is a bundle of `kcheck capture`, or leads into one."""
    return bundle_at(path) is not None


def bundle_at(path: str) -> "Bundle | None":
    """Return the bundle that a path is, or leads into; None for any other path."""
    if BUNDLE_SUFFIX not in path or store_of(path) is None:
        return None
    from kcheck.disk.bundle import bundle_of  # only for a path that may be one

    return bundle_of(path)


def logs_in(path: str) -> tuple[str, ...]:
    """Return the paths of the logs of brokers in a bundle; none of any other path."""
    bundle = bundle_at(path) if path.endswith(BUNDLE_SUFFIX) else None
    return () if bundle is None else bundle.logs()


@contextmanager
def bounded(path: str, size_max: int | None) -> Iterator[None]:
    """Let this thread read at most `size_max` bytes of a directory in a store; TooMuchReadError beyond that.

    With None the limit is several times the size of the directory. A read with a `size_max` is held in memory, so all
    threads share a limit; a read without one goes by windows and is not held.
    """
    if store_of(path) is None:
        yield
        return
    holds = size_max is not None
    if size_max is None:
        with suppress(UnreadableError):
            size_max = _READ_COUNT_MAX * sum(FilesOf(path).entries().sizes.values())
    with reading_at_most(size_max or 0, holds=holds):
        yield


def drop_listing(path: str) -> None:
    """Forget the listing that `hold_listing` keeps."""
    store = store_of(path)
    if store is not None:
        store.drop(path)


class Directory(FilesOf):
    """An open directory for a `with` block, whose files are opened by name. UnreadableError if it cannot be opened."""

    __slots__ = ()

    def __init__(self, path: str) -> None:
        super().__init__(path)
        if self._store is None:
            self._at, self._prefix = _readable(path, lambda: os.open(path, _DIRECTORY)), ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._at is not None:
            os.close(self._at)

    def listing(self) -> Listing:
        """Return its names as of a partition directory; UnreadableError if it cannot be listed."""
        descriptor = self._at
        if descriptor is None:
            return list_directory(self.path, is_stranger)
        return _readable(self.path, lambda: _listed(self.path, descriptor, is_stranger))


def _readable(path: str, access: Callable[[], T]) -> T:
    """Return the result of an access to a path on a disk or in a store; its error becomes an UnreadableError."""
    try:
        return access()
    except (OSError, ValueError) as error:
        raise unreadable(error, path) from error


def _inside(directory: str, link: str) -> bool:
    """Whether a link leads to a directory below `directory`; a loop of links leads nowhere."""
    if not os.path.isdir(link):
        return False
    root = os.path.realpath(directory)
    return os.path.realpath(link).startswith(root + os.sep)


def sizes(path: str, ending: str) -> list[int]:
    """Return the sizes in bytes of the regular files whose names have this ending; empty if `path` cannot be listed."""
    try:
        with os.scandir(path) as entries:
            named = [entry for entry in entries if entry.name.endswith(ending)]
            return [
                entry.stat(follow_symlinks=False).st_size for entry in named if entry.is_file(follow_symlinks=False)
            ]
    except (OSError, ValueError) as error:
        note_refusal(path, error)
        return []


def file_size(path: str) -> int:
    """Return the size of a file in bytes without following a link; UnreadableError if it is missing."""
    store = store_of(path)
    if store is not None:
        return _readable(path, lambda: store.size(path))
    return _readable(path, lambda: os.lstat(path).st_size)


def file_type(path: str) -> int | None:
    """Return the type bits of the mode of a path, not of the target of a link; None if nothing is there.

    UnreadableError if the system refuses to say.
    """
    bundle = bundle_at(path)
    if bundle is not None:
        return bundle.file_type(path)
    try:
        return stat.S_IFMT(_readable(path, lambda: os.lstat(path)).st_mode)
    except UnreadableError as error:
        if error.cause is UnreadableCause.MISSING:
            return None
        raise


def is_directory(path: str) -> bool:
    """Whether the user's path is a directory; a link that the user named is followed.

    A store has no empty directories. UnreadableError if the store does not answer.
    """
    store = store_of(path)
    if store is not None:
        return _readable(path, lambda: store.is_directory(path))
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError) as error:
        note_refusal(path, error)
        return False


def exists(path: str) -> bool:
    """Whether the user's path exists, or the system refuses to say."""
    store = store_of(path)
    if store is not None:
        return _readable(path, lambda: store.exists(path))
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno not in MISSING  # Opening it will report any other error.
    except ValueError:
        return False
    return True


def real(path: str) -> str:
    """Return a path with every link resolved; a path that no file can have is returned as it is."""
    if store_of(path) is not None:
        return path.rstrip("/")
    return path if "\0" in path else os.path.realpath(path)


def absolute(path: str) -> str:
    """Return a path that means the same in every working directory."""
    return path if store_of(path) is not None else os.path.abspath(path)


def is_link(path: str) -> bool:
    """Whether a path is a symbolic link."""
    return store_of(path) is None and os.path.islink(path)


def join(directory: str, *names: str) -> str:
    """Return the path of a name in a directory."""
    return os.path.join(directory, *names)


def folder_of(where: Location) -> str:
    """Return the path of the partition directory of a location."""
    return join(where.log_dir or "", where.dir or "")


def split(path: str) -> tuple[str, str]:
    """Return (directory, last name) of the user's path; `x/` has the last name x."""
    if store_of(path) is not None:
        folder, _, name = path.rstrip("/").rpartition("/")
        return folder, name
    head, tail = os.path.split(os.path.normpath(path))
    return head or ".", tail
