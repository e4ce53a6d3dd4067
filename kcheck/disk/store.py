"""Log dirs in S3 and other stores of fsspec, by one listing for each log dir, and byte ranges.

A path is remote only below a mounted root. Every failure of a store becomes an OSError, whatever its client raises.
Some failures say nothing about the file or directory. They become a StoreFailedError while a file is read. They also do
while a directory outside of a log dir's listing is listed.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from io import FileIO
from threading import Lock
from typing import Any, BinaryIO, TypeVar

from kcheck.disk.contents import ContentTree
from kcheck.disk.listing import DirectoryContent
from kcheck.disk.paths import is_url
from kcheck.disk.quota import take
from kcheck.disk.refusals import readable
from kcheck.errors import KcheckError, StoreFailedError, UsageError
from kcheck.model.source import CopyingSource

T = TypeVar("T")

_BLOCK_SIZE = 16 << 10
"""The smallest read: a request costs more than its bytes."""
_EXTRAS = {"s3": "s3", "s3a": "s3"}
"""The extra of kcheck that a URL scheme needs; `remote` for all others."""
_PASSING = (
    errno.EIO, getattr(errno, "EREMOTEIO", errno.EIO), errno.EBUSY, errno.ETIMEDOUT, errno.EPIPE, errno.ECONNRESET,
    errno.ECONNREFUSED, errno.ECONNABORTED, errno.EHOSTUNREACH, errno.ENETUNREACH,
)  # fmt: skip
"""Errors that say nothing about the file. The store is busy, unreachable, or has sent an incomplete answer."""
_STAMPS = ("ETag", "etag", "generation", "LastModified", "last_modified", "updated", "mtime", "modified", "created")
"""The attributes by which stores tell a changed file from the old one."""


class StoreTree(ContentTree):
    """A file system of fsspec that keeps the listings of log dirs from `hold` to `drop`."""

    def __init__(self, root: str, system: Callable[[], Any]) -> None:
        """Make the file system of a root with `system`, once in each process, as clients do not survive a fork."""
        self._root = root
        self._made: tuple[int, Any] = (os.getpid(), system())
        self._make = system
        self._held: dict[str, dict[str, DirectoryContent]] = {}
        self._failed: dict[str, OSError] = {}
        self._lock = Lock()

    @property
    def _system(self) -> Any:
        if self._made[0] != os.getpid():
            self._made = (os.getpid(), self._make())
        return self._made[1]

    def __reduce__(self) -> tuple[object, ...]:
        return _mounted_at, (self._root,)  # Another process, which has mounted it too, has a tree of its own.

    @readable
    def hold(self, path: str) -> None:
        """List everything below a log dir once, with sizes, by one request for each thousand files.

        An empty listing is not kept. The log dir may be missing, and the next listing reports that. A failure is kept,
        so that no other listing shows a part of it.
        """
        if path not in self._held:
            try:
                self._failed.pop(path, None)
                tree = self._tree(path)
            except OSError as error:
                self._failed[path] = error
                raise
            if tree[""].sizes or tree[""].directories:
                with self._lock:
                    self._held[path] = tree

    def drop(self, path: str) -> None:
        """Forget the listing of a log dir."""
        with self._lock:
            self._held.pop(path, None)
            self._failed.pop(path, None)

    def content(self, path: str) -> DirectoryContent:
        """Return the content of a directory; in a held log dir this needs no request.

        OSError: the store refuses the directory, or failed when the log dir was listed. StoreFailedError: it fails now.
        """
        path = path.rstrip("/")
        for failed in (path, path.rpartition("/")[0]):
            if failed in self._failed:
                raise self._failed[failed]
        log_dir = path if path in self._held else path.rpartition("/")[0]
        held = self._held.get(log_dir)
        if held is not None:
            return held.get(path[len(log_dir) + 1 :], DirectoryContent({}, ()))
        return self._children(path)

    def _found(self, path: str) -> DirectoryContent:
        """Return the content of a directory, an empty one if it is missing."""
        try:
            return self.content(path)
        except FileNotFoundError:
            return DirectoryContent({}, ())

    @readable
    def size(self, path: str) -> int:
        """Return the size of a file as `Tree.size`."""
        return self._size(path)

    def _size(self, path: str) -> int:
        folder, _, name = path.rpartition("/")
        size = self.content(folder).sizes.get(name)
        if size is None:
            raise FileNotFoundError(2, "No such file or directory")
        return size

    @readable
    def is_directory(self, path: str) -> bool:
        """Return whether there is a file below a path, as a store has no empty directories."""
        content = self._found(path)
        return bool(content.sizes or content.directories)

    @readable
    def file_type(self, path: str) -> int | None:
        """Return the type of a path as `Tree.file_type`."""
        folder, _, name = path.rstrip("/").rpartition("/")
        content = self._found(folder)
        return stat.S_IFREG if name in content.sizes else stat.S_IFDIR if name in content.directories else None

    def source(self, path: str) -> "RemoteFile":
        """Return a file to read by ranges."""
        return RemoteFile(self, path, self._size(path))

    def is_held(self, path: str) -> bool:
        """Return whether the size of a file is known without a request."""
        folder = path.rpartition("/")[0]
        return folder in self._held or folder.rpartition("/")[0] in self._held

    def read(self, path: str, start: int, end: int) -> bytes:
        """Return the bytes of a file from `start` to below `end`, fewer at its end; one request.

        OSError: the store refuses the file. StoreFailedError: it does not say whether it has the file.
        """
        take(end - start)
        try:
            data: bytes = _os_errors(lambda: self._system.cat_file(self._stripped(path), start=start, end=end))
        except OSError as error:
            # The file ends before the range; an empty file has no range at all. Only the words say so: the stores of
            # fsspec give HTTP status 416 no common class or errno (s3fs makes it EINVAL, like other refusals).
            if "range is not satisfiable" in str(error).lower():
                return b""
            _end_if_it_fails(path, error)
            raise
        return data

    def stream(self, path: str) -> tuple[BinaryIO, int]:
        """Open a file for reading; return it and its size in bytes."""
        remote = _os_errors(lambda: self._system.open(self._stripped(path), "rb"))
        return remote, remote.size

    def create(self, path: str) -> "Upload":
        """Open a file for writing; it is in the store once it is settled."""
        return Upload(lambda local: _os_errors(lambda: self._system.put_file(local, self._stripped(path))))

    def write(self, path: str, data: bytes) -> None:
        """Write a complete file."""
        _os_errors(lambda: self._system.pipe_file(self._stripped(path), data))

    def try_to_write(self, folder: str) -> None:
        """Write a file and remove it, so that a missing permission shows before the work begins."""
        self.write(f"{folder}/.kcheck", b"")
        self.remove(f"{folder}/.kcheck")

    def remove(self, path: str) -> None:
        """Remove a file, or everything below a directory."""
        _os_errors(lambda: self._system.rm(self._stripped(path), recursive=True))

    def move(self, folder: str, other: str) -> None:
        """Move the files below one directory to another, over files of the same names."""
        for below, files in self._tree(folder).items():
            for name in files.sizes:
                self.rename(*("/".join(filter(None, (root, below, name))) for root in (folder, other)))

    def rename(self, path: str, other: str) -> None:
        """Rename a file, over an existing one."""
        _os_errors(lambda: self._system.mv(self._stripped(path), self._stripped(other)))

    def _stripped(self, path: str) -> str:
        """Return a path without its protocol, as the file system expects it."""
        stripped: str = self._system._strip_protocol(path)  # noqa: SLF001 - fsspec's own way
        return stripped.rstrip("/")

    def _tree(self, path: str) -> dict[str, DirectoryContent]:
        """Return the content of every directory below a path, by relative path."""
        root = self._stripped(path)
        listed = _os_errors(lambda: self._system.find(root, detail=True))
        tree: dict[str, tuple[dict[str, int], set[str], dict[str, str]]] = {"": ({}, set(), {})}
        for full, details in listed.items():
            *folders, name = full[len(root) + 1 :].split("/")
            if name and details.get("type") == "file":
                parent = ""
                for folder in folders:
                    tree[parent][1].add(folder)
                    parent = f"{parent}/{folder}" if parent else folder
                    tree.setdefault(parent, ({}, set(), {}))
                sizes, _, stamps = tree[parent]
                sizes[name] = int(details["size"] or 0)
                if stamp := _stamp(details):
                    stamps[name] = stamp
        return {
            name: DirectoryContent(sizes, tuple(sorted(directories)), stamps)
            for name, (sizes, directories, stamps) in tree.items()
        }

    def _children(self, path: str) -> DirectoryContent:
        """Return the content of one directory."""
        root = self._stripped(path)
        try:
            listed = _os_errors(lambda: self._system.ls(root, detail=True))
        except OSError as error:
            _end_if_it_fails(path, error)
            raise
        sizes, directories, stamps = {}, set(), {}
        for details in listed:
            name = details["name"].rstrip("/").rpartition("/")[2]
            if details["name"].rstrip("/") == root:
                continue  # Some tools write an empty object as the mark of a directory.
            if details["type"] == "directory":
                directories.add(name)
            else:
                sizes[name] = int(details["size"] or 0)
                if stamp := _stamp(details):
                    stamps[name] = stamp
        return DirectoryContent(sizes, tuple(sorted(directories)), stamps)


def _stamp(details: Mapping[str, Any]) -> str:
    """Return a mark that changes with a file; empty if the store has none."""
    return " ".join(str(details[key]) for key in _STAMPS if details.get(key) is not None)


class RemoteFile(CopyingSource):
    """A file in a store; it keeps the last block, so that small neighbouring reads need one request."""

    def __init__(self, store: StoreTree, path: str, size: int) -> None:
        self.size = size
        self._store = store
        self._path = path
        self._start, self._block = 0, b""

    def pread(self, count: int, position: int) -> bytes:
        """Return bytes as `kcheck.model.source.Source`."""
        end = min(position + count, self.size)
        if position >= end:
            return b""
        if not self._start <= position <= end <= self._start + len(self._block):
            block_end = min(max(end, position + _BLOCK_SIZE), self.size)
            self._start = min(position, max(block_end - _BLOCK_SIZE, 0))
            self._block = self._store.read(self._path, self._start, block_end)
        return self._block[position - self._start : end - self._start]

    def next_data(self, position: int) -> int:
        """Return the position itself, as a store has no holes."""
        return position


class Upload(FileIO):
    """A local temporary file that `settle` uploads; `close` alone discards it."""

    def __init__(self, upload: Callable[[str], None]) -> None:
        from tempfile import NamedTemporaryFile  # only for a command that writes

        self._file = NamedTemporaryFile(prefix="kcheck-")  # noqa: SIM115 - `close` closes it
        self._upload = upload
        super().__init__(self._file.fileno(), "wb", closefd=False)

    def settle(self) -> None:
        """Upload it and close it."""
        self._upload(self._file.name)
        self.close()

    def close(self) -> None:
        """Close and remove it."""
        super().close()
        self._file.close()


_MOUNTED: dict[str, StoreTree] = {}
_OPTIONS: list[Mapping[str, object]] = []
"""The options of every open `mounted` block."""


def store_of(path: str) -> StoreTree | None:
    """Return the store of a path; None for a local path."""
    return next((store for prefix, store in _MOUNTED.items() if f"{path}/".startswith(prefix)), None)


def _mounted_at(prefix: str) -> StoreTree:
    return _MOUNTED[prefix]


@contextmanager
def mounted(roots: Sequence[str], options: Mapping[str, object]) -> Iterator[None]:
    """Make paths below the roots that are URLs readable; `options` go to the file system of fsspec.

    UsageError if the file system is not installed or refuses the options, KcheckError if it cannot be reached.
    """
    before = {*_MOUNTED}
    _OPTIONS.append(options)
    try:
        for root in roots:
            mount(root)
        yield
    finally:
        _OPTIONS.pop()
        for prefix in _MOUNTED.keys() - before:
            del _MOUNTED[prefix]


def mount(path: str) -> None:
    """Make the paths below one more root readable, if it is a URL, until the innermost `mounted` block ends."""
    scheme, is_remote, rest = path.partition("://")
    prefix = f"{scheme}://{rest.partition('/')[0]}/"
    if is_remote and is_url(path) and _OPTIONS and prefix not in _MOUNTED:
        _MOUNTED[prefix] = StoreTree(prefix, partial(_system, path, prefix, _OPTIONS[-1]))


def _system(root: str, prefix: str, options: Mapping[str, object]) -> Any:
    """Return the file system of a root; `prefix` has its scheme, and perhaps its host and port."""
    try:
        from fsspec.core import url_to_fs  # only for roots that are URLs

        # `StoreTree` keeps listings itself: the client would keep those of every log dir until the end.
        return url_to_fs(prefix, **{"use_listings_cache": False, **options})[0]
    except ImportError as error:
        scheme = prefix.partition("://")[0]
        raise UsageError(
            f"{root} needs support for {scheme}: pip install 'kcheck[{_EXTRAS.get(scheme, 'remote')}]'; {error}"
        ) from error
    except (ValueError, TypeError) as error:
        raise UsageError(f"{root}: {error}") from error
    except Exception as error:  # some clients connect here, and they can raise anything
        raise KcheckError(f"{root}: {type(error).__name__}: {error}") from error


def _end_if_it_fails(path: str, error: OSError) -> None:
    """Raise StoreFailedError if the error of a store says nothing about the path."""
    if isinstance(error, TimeoutError | ConnectionError) or error.errno in _PASSING:
        raise StoreFailedError(f"{path}: the store fails: {error.strerror or error}") from error


def _os_errors(request: Callable[[], T]) -> T:
    """Return the answer of a store; every exception of its client becomes an OSError."""
    try:
        return request()
    except FileNotFoundError as error:
        raise FileNotFoundError(2, "No such file or directory") from error  # Some clients give only the name.
    except OSError:
        raise
    except Exception as error:
        raise OSError(errno.EIO, f"{type(error).__name__}: {error}") from error
