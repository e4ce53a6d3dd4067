"""Reads this machine's files, but only regular ones, no links, without changing access times."""

import errno
import os
import stat
from contextlib import AbstractContextManager
from functools import partial
from typing import Self

from kcheck.disk.directory import Directory, filled, read
from kcheck.disk.listing import Listing, leave_out, with_few_strangers
from kcheck.disk.refusals import MISSING, note_refusal, readable, unreadable
from kcheck.disk.tree import Tree
from kcheck.model.names import IsStranger, is_stranger
from kcheck.model.rights import PlainOwners
from kcheck.model.source import SHORT_SIZE_MAX, DirectoryEntries, Filled, Source
from kcheck.model.unreadable import UnreadableCause, UnreadableError

COUNT_MAX = 10_000
"""A listing with this many names leaves strangers out, and again each time it has doubled."""
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0)
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NOATIME = getattr(os, "O_NOATIME", 0)
_NOT_REGULAR = "not a regular file"
_WORDS: dict[int | None, str] = {errno.ENXIO: _NOT_REGULAR}
"""The system's error for a socket."""
_ANYBODY = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
MODE_BITS = 0o7777
"""The bits that stat.S_IMODE keeps."""


class LocalFile:
    """An open file of this machine, which is a `Source` while the block of `opened` lasts."""

    __slots__ = ("_descriptor", "size")

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor = descriptor
        self.size: int = size

    def fileno(self) -> int:
        """Return the descriptor, as of any file of Python."""
        return self._descriptor

    def pread(self, count: int, position: int) -> bytes:
        """Return bytes as `Source.pread`."""
        return os.pread(self._descriptor, count, position)

    def pread_into(self, buffer: memoryview, position: int) -> int:
        """Fill a buffer as `Source.pread_into`."""
        return os.preadv(self._descriptor, [buffer], position)

    def next_data(self, position: int) -> int | None:
        """Return the next data as `Source.next_data`; the position itself where the file system does not know."""
        try:
            return os.lseek(self._descriptor, position, os.SEEK_DATA)
        except OSError as error:
            return None if error.errno == errno.ENXIO else position

    def filled_size(self) -> int:
        """Return the offset of the hole that ends the file; its size if there is no known hole."""
        try:
            hole = os.lseek(self._descriptor, 0, os.SEEK_HOLE)
        except OSError:
            return self.size
        return hole if self.next_data(hole) is None else self.size


class OpenedFile:
    """An open regular file for a `with` block; gives its `source`.

    `at` is the descriptor of a directory; the path is then a name in this directory. `descriptor` is the open file. An
    OSError inside of the block becomes an UnreadableError.
    """

    __slots__ = ("_file", "_folder", "_path", "source")

    def __init__(
        self, path: str, *, follow: bool, at: int | None = None, folder: str = "", descriptor: int | None = None
    ) -> None:
        self._path, self._folder = path, folder
        self._file: int = self._opened(path, follow=follow, at=at) if descriptor is None else descriptor
        try:
            status = os.fstat(self._file)
        except OSError as error:
            os.close(self._file)
            raise self._unreadable(error) from error
        if not stat.S_ISREG(status.st_mode):
            os.close(self._file)
            raise UnreadableError(_NOT_REGULAR)
        self.source: LocalFile = LocalFile(self._file, status.st_size)

    def _opened(self, path: str, *, follow: bool, at: int | None) -> int:
        flags = _FLAGS & ~_NOFOLLOW if follow else _FLAGS
        try:
            try:
                return os.open(path, flags | _NOATIME, dir_fd=at)
            except PermissionError:
                # Only the owner may use O_NOATIME.
                return os.open(path, flags, dir_fd=at)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise _of_link(path, at) from error
            if error.errno in _WORDS:
                raise UnreadableError(_WORDS[error.errno]) from error
            raise self._unreadable(error) from error
        except ValueError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError | ValueError) -> UnreadableError:
        return unreadable(error, os.path.join(self._folder, self._path))

    def __enter__(self) -> Source:
        return self.source

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        os.close(self._file)
        if isinstance(error, OSError):
            raise self._unreadable(error) from error


class LocalDirectory(Directory):
    """A directory of this machine. `follow` follows a link to a file, only for a path that the user named."""

    __slots__ = ("_at", "_follow", "_prefix")

    def __init__(self, path: str, *, follow: bool = False) -> None:
        self.path = path
        self._follow = follow
        self._prefix = os.path.join(path, "")
        self._at: int | None = None
        """The descriptor of the directory in a `with` block, in which the prefix is empty."""

    def __reduce__(self) -> tuple[object, ...]:
        return partial(LocalDirectory, self.path, follow=self._follow), ()

    def __enter__(self) -> Self:
        self._at, self._prefix = _open_directory(self.path), ""
        return self

    def __exit__(self, *_: object) -> None:
        assert self._at is not None
        os.close(self._at)
        self._at, self._prefix = None, os.path.join(self.path, "")

    def listing(self) -> Listing:
        """Return its names as `Directory.listing`."""
        return listed(self.path, is_stranger, self._at)[0]

    def entries(self) -> DirectoryEntries:
        """Return its names as `Directory.entries`."""
        return _entries(self.path)

    def open(self, name: str) -> AbstractContextManager[Source]:
        """Open a file as `Directory.open`."""
        return self.opened(name)

    def opened(self, name: str) -> OpenedFile:
        """Return an open file, which a `with` block closes."""
        folder = "" if self._at is None else self.path
        return OpenedFile(self._prefix + name, follow=self._follow, at=self._at, folder=folder)

    def short_or_opened(self, name: str) -> bytes | OpenedFile:
        """Return a short file, mostly with one read and without its status; a larger file is open."""
        try:
            descriptor = os.open(self._prefix + name, _FLAGS | _NOATIME, dir_fd=self._at)
        except (OSError, ValueError):
            return self.opened(name)  # It says why.
        try:
            data = os.pread(descriptor, SHORT_SIZE_MAX + 1, 0)
        except OSError:
            data = b""
        if not 0 < len(data) <= SHORT_SIZE_MAX:  # A device can look like an empty file.
            return OpenedFile(name, follow=False, folder=self.path, descriptor=descriptor)
        os.close(descriptor)
        return data

    def read_short(self, name: str) -> bytes | None:
        """Return a complete file, as `Files.read_short`."""
        found = self.short_or_opened(name)
        if isinstance(found, bytes):
            return found if len(found) <= SHORT_SIZE_MAX else None
        with found as source:
            return read(source, source.size) if source.size <= SHORT_SIZE_MAX else None

    def read_filled(self, name: str) -> Filled:
        """Return a file without the hole at its end, as `Directory.read_filled`."""
        found = self.short_or_opened(name)
        return Filled(found, len(found)) if isinstance(found, bytes) else filled(found)

    def readable_size(self, name: str) -> int:
        """Return the size of a file as `Directory.readable_size`."""
        path, at = self._prefix + name, self._at
        try:
            status = os.stat(path, dir_fd=at, follow_symlinks=False)
            may_read = status.st_mode & _ANYBODY == _ANYBODY or os.access(path, os.R_OK, dir_fd=at)
            if stat.S_ISREG(status.st_mode) and may_read:
                return status.st_size
        except (OSError, ValueError):
            pass
        return super().readable_size(name)


class LocalTree(Tree):
    """The files of this machine."""

    __slots__ = ()
    is_remote = False

    def __reduce__(self) -> tuple[object, ...]:
        return _local, ()

    def directory(self, path: str, *, follow: bool = False) -> LocalDirectory:
        """Return a directory as `Tree.directory`."""
        return LocalDirectory(path, follow=follow)

    def open(self, path: str, *, follow: bool = False) -> OpenedFile:
        """Open a file as `Tree.open`."""
        return OpenedFile(path, follow=follow)

    def listing(self, path: str, strange: IsStranger | None = None) -> Listing:
        """Return the names in a directory as `Tree.listing`."""
        return listed(path, strange)[0]

    @readable
    def states(self, path: str) -> list[tuple[str, object, int, object]]:
        """Return the states of a directory as `Tree.states`; by its descriptor each file is found in one step."""
        descriptor = os.open(path, _DIRECTORY)
        try:
            with os.scandir(descriptor) as entries:
                statuses = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
        finally:
            os.close(descriptor)
        return sorted((name, status.st_mode, status.st_size, status.st_mtime_ns) for name, status in statuses)

    def sizes(self, path: str, ending: str) -> list[int]:
        """Return the sizes of files as `Tree.sizes`."""
        try:
            with os.scandir(path) as entries:
                named = [entry for entry in entries if entry.name.endswith(ending)]
                return [
                    entry.stat(follow_symlinks=False).st_size for entry in named if entry.is_file(follow_symlinks=False)
                ]
        except (OSError, ValueError) as error:
            note_refusal(path, error)
            return []

    @readable
    def size(self, path: str) -> int:
        """Return the size of a file as `Tree.size`."""
        return os.lstat(path).st_size

    @readable
    def file_type(self, path: str) -> int | None:
        """Return the type of a path as `Tree.file_type`."""
        try:
            return stat.S_IFMT(os.lstat(path).st_mode)
        except FileNotFoundError:
            return None

    def is_directory(self, path: str) -> bool:
        """Return whether a path is a directory as `Tree.is_directory`; a link that the user named is followed."""
        try:
            return stat.S_ISDIR(os.stat(path).st_mode)
        except (OSError, ValueError) as error:
            note_refusal(path, error)
            return False

    def is_empty(self, path: str) -> bool:
        """Return whether a directory is known to be empty as `Tree.is_empty`."""
        return _is_empty(path)

    def exists(self, path: str) -> bool:
        """Return whether a path exists as `Tree.exists`."""
        try:
            os.lstat(path)
        except OSError as error:
            return error.errno not in MISSING  # Opening it will report any other error.
        except ValueError:
            return False
        return True

    def real(self, path: str) -> str:
        """Return a path with every link resolved; a path that no file can have is returned as it is."""
        return path if "\0" in path else os.path.realpath(path)

    def is_link(self, path: str) -> bool:
        """Return whether a path is a symbolic link."""
        return os.path.islink(path)


LOCAL = LocalTree()


def _local() -> LocalTree:
    return LOCAL


def _open_directory(path: str) -> int:
    try:
        return os.open(path, _DIRECTORY)
    except (OSError, ValueError) as error:
        raise unreadable(error, path) from error


def listed(
    path: str, strange: IsStranger | None, at: int | None = None, sizes: dict[str, int] | None = None
) -> tuple[Listing, PlainOwners | None]:
    """Return the names in a directory, by its descriptor if open; UnreadableError if that fails.

    With `sizes` also the owners and modes of regular files, None if a file left meanwhile. `sizes` gets the size of
    each `.log` with read permission for everybody.
    """
    files, directories, others = set[str](), list[str](), list[str]()
    owners, segments, is_complete = set[tuple[int, int, int]](), 0, sizes is not None
    strangers, count_max = 0, COUNT_MAX
    try:
        with os.scandir(path if at is None else at) as entries:
            for entry in entries:
                name = entry.name
                if entry.is_file(follow_symlinks=False):
                    files.add(name)
                    if sizes is not None:
                        try:
                            status = entry.stat(follow_symlinks=False)
                        except OSError:
                            is_complete = False
                        else:
                            mode = status.st_mode
                            owners.add((status.st_uid, status.st_gid, mode & MODE_BITS))
                            if name.endswith(".log"):
                                segments += 1
                                if mode & _ANYBODY == _ANYBODY:
                                    sizes[name] = status.st_size
                    if len(files) > count_max:
                        strangers += leave_out(files, strange)
                        count_max = max(COUNT_MAX, 2 * len(files))
                elif entry.is_dir(follow_symlinks=False) or (
                    entry.is_symlink() and _inside(path, os.path.join(path, name))
                ):
                    directories.append(name)
                else:
                    others.append(name)
    except (OSError, ValueError) as error:
        raise unreadable(error, path) from error
    strangers += leave_out(files, strange)
    listing = Listing(tuple(sorted(files)), tuple(sorted(directories)), tuple(sorted(others)), strangers)
    return listing, (frozenset(owners), segments) if is_complete else None


def _inside(directory: str, link: str) -> bool:
    """Return whether a link leads to a directory below `directory`; a loop of links leads nowhere."""
    if not os.path.isdir(link):
        return False
    root = os.path.realpath(directory)
    return os.path.realpath(link).startswith(root + os.sep)


def _entries(path: str) -> DirectoryEntries:
    """Return the names in a directory as `Directory.entries`."""
    sizes: dict[str, int] = {}
    directories: dict[str, bool] = {}
    others: list[str] = []
    loops: list[str] = []
    count_max = COUNT_MAX
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                nowhere = _leads_nowhere(entry.path) if entry.is_symlink() else None
                if nowhere is not None:
                    loops += [entry.name] * (nowhere == errno.ELOOP)
                    continue
                if entry.is_file():
                    sizes[entry.name] = entry.stat().st_size
                    if len(sizes) > count_max:
                        sizes = with_few_strangers(sizes)
                        count_max = max(COUNT_MAX, 2 * len(sizes))
                elif entry.is_dir():
                    directories[entry.name] = _is_empty(entry.path)
                else:
                    others.append(entry.name)
    except (OSError, ValueError) as error:
        raise unreadable(error, path) from error
    return DirectoryEntries(with_few_strangers(sizes), directories, tuple(sorted(others)), tuple(sorted(loops)))


def _is_empty(path: str) -> bool:
    """Return whether a directory is known to be empty: False if it cannot be listed."""
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is None
    except OSError as error:
        note_refusal(path, error)
        return False


def _of_link(link: str, at: int | None) -> UnreadableError:
    """Return why kcheck does not open a symbolic link."""
    nowhere = _leads_nowhere(link, at)
    if nowhere is None:
        return UnreadableError("a symbolic link: not followed", UnreadableCause.LINK)
    target = "itself" if nowhere == errno.ELOOP else "a path that does not exist"
    return UnreadableError(f"a symbolic link to {target}", UnreadableCause.NOWHERE)


def _leads_nowhere(link: str, at: int | None = None) -> int | None:
    """Return why nothing is at the end of a link, as an errno; Java's File.isFile and isDirectory are false then."""
    try:
        os.stat(link, dir_fd=at)
    except OSError as error:
        note_refusal(link, error)
        return error.errno if error.errno in MISSING else None
    return None
