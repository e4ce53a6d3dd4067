"""Reads files that may be anything: only regular files, no symbolic links, and without changing access times."""

import errno
import os
import stat
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from kcheck.disk.refusals import MISSING, note_refusal
from kcheck.disk.remote import Store, store_of
from kcheck.model.names import STRANGERS_MAX, further_strangers, is_stranger
from kcheck.model.source import SMALL_FILE_SIZE_MAX, DirectoryEntries, Filled, Source, small_size_max
from kcheck.model.unreadable import UnreadableCause, UnreadableError, too_large

if TYPE_CHECKING:
    from kcheck.disk.bundle import Bundle

COUNT_MAX = 10_000
"""A listing with this many names leaves strangers out, and again each time it has doubled."""
_HOLE_SIZE_MIN = 64 << 10
"""It is faster to read a smaller file than to look for holes in it."""
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0)
_NOATIME = getattr(os, "O_NOATIME", 0)
_NOT_REGULAR = "not a regular file"
_WORDS: dict[int | None, str] = {errno.ENXIO: _NOT_REGULAR}
"""The system's error for a socket."""
_NUL = "embedded null byte"
_ANYBODY = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH


def unreadable(error: OSError | ValueError, path: str) -> UnreadableError:
    """Return the UnreadableError for an error of the operating system about a path; the command remembers it."""
    note_refusal(path, error)
    missing = isinstance(error, OSError) and error.errno == errno.ENOENT
    return UnreadableError(word_for(error), UnreadableCause.MISSING if missing else UnreadableCause.REFUSED)


def word_for(error: OSError | ValueError) -> str:
    """Return the operating system's message for an error.

    For a name with a NUL it is kcheck's own: Python refuses such a name itself, each release in other words.
    """
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return _NUL if "embedded null" in str(error) else str(error)


class LocalFile:
    """An open file of this machine: a `Source`, as long as the block of `opened` lasts."""

    __slots__ = ("_descriptor", "size")

    def __init__(self, descriptor: int, size: int) -> None:
        self._descriptor = descriptor
        self.size = size

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
        """Return where data follows as `Source.next_data`; the position itself where the file system does not know."""
        try:
            return os.lseek(self._descriptor, position, os.SEEK_DATA)
        except OSError as error:
            return None if error.errno == errno.ENXIO else position

    def filled_size(self) -> int:
        """Return where the hole begins that ends the file; its size if there is none, or none is known."""
        try:
            hole = os.lseek(self._descriptor, 0, os.SEEK_HOLE)
        except OSError:
            return self.size
        return hole if self.next_data(hole) is None else self.size


@runtime_checkable
class _KnowsHoles(Protocol):
    """An open file that knows where the hole begins that ends it."""

    def filled_size(self) -> int:
        """Return where the hole begins; the size if there is none, or none is known."""


class _Opened:
    """An open regular file of this machine or of a store, for a `with` block; gives a `Source`.

    `at` is the descriptor of a directory; the path is then a name in it. An OSError inside of the block becomes an
    UnreadableError.
    """

    __slots__ = ("_file", "_folder", "_path")

    def __init__(
        self, path: str, store: "Store | Bundle | None", *, follow: bool, at: int | None = None, folder: str = ""
    ) -> None:
        flags = _FLAGS & ~_NOFOLLOW if follow else _FLAGS
        self._path, self._folder = path, folder
        self._file: int | Source
        try:
            if store is not None:
                self._file = store.source(path)
                return
            try:
                self._file = os.open(path, flags | _NOATIME, dir_fd=at)
            except PermissionError:
                # Only the owner may use O_NOATIME.
                self._file = os.open(path, flags, dir_fd=at)
        except OSError as error:
            if error.errno == errno.ELOOP and store is None:
                raise _of_link(path, at) from error
            if error.errno in _WORDS:
                raise UnreadableError(_WORDS[error.errno]) from error
            raise self._unreadable(error) from error
        except ValueError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError | ValueError) -> UnreadableError:
        return unreadable(error, os.path.join(self._folder, self._path))

    def __enter__(self) -> Source:
        if not isinstance(self._file, int):
            return self._file
        try:
            status = os.fstat(self._file)
        except OSError as error:
            os.close(self._file)
            raise self._unreadable(error) from error
        if not stat.S_ISREG(status.st_mode):
            os.close(self._file)
            raise UnreadableError(_NOT_REGULAR)
        return LocalFile(self._file, status.st_size)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(self._file, int):
            os.close(self._file)
        if isinstance(error, OSError):
            raise self._unreadable(error) from error


def opened(path: str, *, follow: bool = False) -> _Opened:
    """Open a regular file for a `with` block; gives a `Source`. UnreadableError for anything else.

    `follow` follows a symbolic link: only for a path that the user named.
    """
    return _Opened(path, store_of(path), follow=follow)


def read_whole(path: str, *, follow: bool = False, size_max: int | None = None) -> bytes:
    """Return the bytes of a small file; UnreadableError if it is larger than `size_max` or cannot be read."""
    folder, slash, name = path.rpartition("/")
    return FilesOf(folder + slash, follow=follow).read_whole(name, size_max)


class FilesOf:
    """The files of one directory, by name: `kcheck.model.source.Files` that other processes can be given.

    `follow` follows a symbolic link when a file is opened: only for a path that the user named.
    """

    __slots__ = ("_at", "_follow", "_prefix", "_store", "path")

    def __init__(self, path: str, *, follow: bool = False) -> None:
        self.path = path
        self._follow = follow
        self._store = store_of(path)
        self._prefix = os.path.join(path, "")
        self._at: int | None = None
        """The descriptor of the directory, in which the prefix is empty."""

    def __reduce__(self) -> tuple[object, ...]:
        return partial(FilesOf, self.path, follow=self._follow), ()  # Another process finds the store itself.

    def entries(self) -> DirectoryEntries:
        """Return the names as `Files.entries`; kcheck does not open the targets of links.

        Of the files that no broker knows only the first `STRANGERS_MAX` are named.
        """
        sizes: dict[str, int] = {}
        directories: dict[str, bool] = {}
        others: list[str] = []
        loops: list[str] = []
        try:
            if self._store is not None:
                listed = self._store.list_directory(self.path)
                below = {name: is_empty(self._prefix + name) for name in listed.directories}
                return DirectoryEntries(_with_few_strangers(listed.sizes), below, listed.others)
            count_max = COUNT_MAX
            with os.scandir(self.path) as entries:
                for entry in entries:
                    nowhere = _leads_nowhere(entry.path) if entry.is_symlink() else None
                    if nowhere is not None:
                        loops += [entry.name] * (nowhere == errno.ELOOP)
                        continue
                    if entry.is_file():
                        sizes[entry.name] = entry.stat().st_size
                        if len(sizes) > count_max:
                            sizes = _with_few_strangers(sizes)
                            count_max = max(COUNT_MAX, 2 * len(sizes))
                    elif entry.is_dir():
                        directories[entry.name] = is_empty(entry.path)
                    else:
                        others.append(entry.name)
        except (OSError, ValueError) as error:
            raise unreadable(error, self.path) from error
        return DirectoryEntries(_with_few_strangers(sizes), directories, tuple(sorted(others)), tuple(sorted(loops)))

    def open(self, name: str) -> _Opened:
        """Open a file as `opened`."""
        folder = "" if self._at is None else self.path
        return _Opened(self._prefix + name, self._store, follow=self._follow, at=self._at, folder=folder)

    def readable_size(self, name: str) -> int:
        """Return the size in bytes of a readable regular file; UnreadableError as `opened` for any other."""
        path, at = self._prefix + name, self._at
        try:
            if self._store is None:
                status = os.stat(path, dir_fd=at, follow_symlinks=False)
                may_read = status.st_mode & _ANYBODY == _ANYBODY or os.access(path, os.R_OK, dir_fd=at)
                if stat.S_ISREG(status.st_mode) and may_read:
                    return status.st_size
        except (OSError, ValueError):
            pass
        with self.open(name) as source:
            return source.size

    def read_filled(self, name: str) -> Filled:
        """Return a file without the hole at its end; UnreadableError if it cannot be read.

        The index of an active segment is mostly preallocated space.
        """
        with self.open(name) as source:
            if source.size <= _HOLE_SIZE_MIN:
                data = _read(source, source.size)
                return Filled(data, len(data))
            filled = source.filled_size() if isinstance(source, _KnowsHoles) else source.size
            if filled > SMALL_FILE_SIZE_MAX:
                raise too_large(filled)
            data = _read(source, filled)
            return Filled(data, source.size if len(data) == filled else len(data))

    def read_whole(self, name: str, size_max: int | None = None) -> bytes:
        """Return the bytes of a small file; UnreadableError if it is larger than `size_max` or cannot be read."""
        size_max = small_size_max(name) if size_max is None else size_max
        path = self._prefix + name
        if self._store is not None and not self._store.is_held(path):
            return _read_unlisted(self._store, path, size_max)
        with self.open(name) as source:
            if source.size > size_max:
                raise too_large(source.size)
            return _read(source, source.size)


def _with_few_strangers(sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the files without the further strangers."""
    more = further_strangers(sizes, is_stranger) if len(sizes) > STRANGERS_MAX else ()
    return {name: sizes[name] for name in sizes.keys() - more} if more else dict(sizes)


def _read_unlisted(store: "Store | Bundle", path: str, size_max: int) -> bytes:
    """Return the bytes of a small file of unknown size; asking for its size would cost another request."""
    try:
        data = store.read(path, 0, size_max + 1)
    except OSError as error:
        raise unreadable(error, path) from error
    if len(data) > size_max:
        words = f"more than {size_max} bytes are too many for a file of this kind"
        raise UnreadableError(words, UnreadableCause.TOO_LARGE)
    return data


def _read(source: Source, size: int) -> bytes:
    """Return the first `size` bytes of a file, fewer if it has become shorter."""
    data = more = source.pread(size, 0) if size else b""
    while more and len(data) < size:
        more = source.pread(size - len(data), len(data))
        data += more
    return data


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


def is_empty(path: str) -> bool:
    """Whether a directory is known to be empty: False if it cannot be listed. A store has no empty directories."""
    store = store_of(path)
    if store is not None:
        return store.is_empty(path)
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is None
    except OSError as error:
        note_refusal(path, error)
        return False
