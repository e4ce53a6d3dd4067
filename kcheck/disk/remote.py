"""Log dirs in object stores and other file systems that fsspec knows: one listing of a log dir, and ranges of files.

A path is remote only below a root that was mounted; no other path comes here. An answer that a store refuses is an
OSError, whatever its client raises.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from io import FileIO
from threading import Lock
from typing import Any, BinaryIO, NamedTuple, TypeVar

from kcheck.disk.quota import take
from kcheck.errors import KcheckError, UsageError

T = TypeVar("T")

_URL = re.compile(r"[a-z][a-z0-9+.-]*://")
_BLOCK_SIZE = 16 << 10
"""So much is asked for at least: a request costs more than its bytes."""
_EXTRAS = {"s3": "s3", "s3a": "s3"}
"""What of kcheck's extras a scheme needs, other than `remote`."""
_STAMPS = ("ETag", "etag", "generation", "LastModified", "last_modified", "updated", "mtime", "modified", "created")
"""What stores call that which another file of the same name and size has not."""


class Files(NamedTuple):
    """What stands in a directory of a store: files with their sizes in bytes, and directories.

    `stamps` tell of the files of a log dir that is held whether they are the same as before, as far as the store does.
    """

    sizes: Mapping[str, int]
    directories: tuple[str, ...]
    stamps: Mapping[str, str] = {}


class Store:
    """A file system of fsspec; its listings of log dirs are held until they are dropped.

    `system` gives it. Each process asks for its own: a client is none behind a fork.
    """

    def __init__(self, system: Callable[[], Any]) -> None:
        self._made: tuple[int, Any] = (os.getpid(), system())
        self._make = system
        self._held: dict[str, dict[str, Files]] = {}
        self._lock = Lock()

    @property
    def _system(self) -> Any:
        if self._made[0] != os.getpid():
            self._made = (os.getpid(), self._make())
        return self._made[1]

    def hold(self, path: str) -> None:
        """List a log dir with all that is below it, once: a request for each thousand files, with their sizes.

        One that is empty may not be there at all: who lists it next is told.
        """
        if path not in self._held:
            found = self._tree(path)
            if found[""].sizes or found[""].directories:
                with self._lock:
                    self._held[path] = found

    def drop(self, path: str) -> None:
        """Forget the listing of a log dir."""
        with self._lock:
            self._held.pop(path, None)

    def list_directory(self, path: str) -> Files:
        """Return what stands in a directory, without a request below a log dir that is held."""
        path = path.rstrip("/")
        log_dir = path if path in self._held else path.rpartition("/")[0]
        held = self._held.get(log_dir)
        if held is not None:
            return held.get(path[len(log_dir) + 1 :], Files({}, ()))
        return self._children(path)

    def find(self, path: str) -> Files:
        """Return what `list_directory` does, nothing where there is nothing."""
        try:
            return self.list_directory(path)
        except FileNotFoundError:
            return Files({}, ())

    def size(self, path: str) -> int:
        """Return the size of a file."""
        folder, _, name = path.rpartition("/")
        size = self.list_directory(folder).sizes.get(name)
        if size is None:
            raise FileNotFoundError(2, "No such file or directory")
        return size

    def is_held(self, path: str) -> bool:
        """Whether the size of a file is known without a request."""
        folder = path.rpartition("/")[0]
        return folder in self._held or folder.rpartition("/")[0] in self._held

    def read(self, path: str, start: int, end: int) -> bytes:
        """Return the bytes of a range of a file, fewer where it ends: one request."""
        take(end - start)
        try:
            found: bytes = _asked(lambda: self._system.cat_file(self._named(path), start=start, end=end))
        except OSError as error:
            if "range is not satisfiable" in str(error).lower():
                return b""  # The file ends before it: an empty one has no range at all.
            raise
        return found

    def open(self, path: str) -> tuple[BinaryIO, int]:
        """Open a file to read it by ranges; returns it and its size."""
        found = _asked(lambda: self._system.open(self._named(path), "rb"))
        return found, found.size

    def create(self, path: str) -> "Upload":
        """Open a file that is in the store once it is settled."""
        return Upload(lambda local: _asked(lambda: self._system.put_file(local, self._named(path))))

    def write(self, path: str, data: bytes) -> None:
        """Write a file whole."""
        _asked(lambda: self._system.pipe_file(self._named(path), data))

    def try_to_write(self, folder: str) -> None:
        """Write a file and remove it: who may not write is told so before the work is begun."""
        self.write(f"{folder}/.kcheck", b"")
        self.remove(f"{folder}/.kcheck")

    def remove(self, path: str) -> None:
        """Remove a file, or all that is below a directory."""
        _asked(lambda: self._system.rm(self._named(path), recursive=True))

    def move(self, folder: str, other: str) -> None:
        """Move the files below a directory below another one, over those of their names."""
        for below, files in self._tree(folder).items():
            for name in files.sizes:
                self.rename(*("/".join(filter(None, (at, below, name))) for at in (folder, other)))

    def rename(self, path: str, other: str) -> None:
        """Give a file another path, which may be that of a file."""
        _asked(lambda: self._system.mv(self._named(path), self._named(other)))

    def _named(self, path: str) -> str:
        """Return a path as the file system has it."""
        found: str = self._system._strip_protocol(path)  # noqa: SLF001 - fsspec's own way
        return found.rstrip("/")

    def _tree(self, path: str) -> dict[str, Files]:
        root = self._named(path)
        listed = _asked(lambda: self._system.find(root, detail=True))
        found: dict[str, tuple[dict[str, int], set[str], dict[str, str]]] = {"": ({}, set(), {})}
        for full, about in listed.items():
            *folders, name = full[len(root) + 1 :].split("/")
            if name and about.get("type") == "file":
                above = ""
                for folder in folders:
                    found[above][1].add(folder)
                    above = f"{above}/{folder}" if above else folder
                    found.setdefault(above, ({}, set(), {}))
                sizes, _, stamps = found[above]
                sizes[name] = int(about["size"] or 0)
                stamp = [str(about[key]) for key in _STAMPS if about.get(key) is not None]
                if stamp:
                    stamps[name] = " ".join(stamp)
        return {name: Files(sizes, tuple(sorted(below)), stamps) for name, (sizes, below, stamps) in found.items()}

    def _children(self, path: str) -> Files:
        root = self._named(path)
        listed = _asked(lambda: self._system.ls(root, detail=True))
        sizes, below = {}, set()
        for about in listed:
            name = about["name"].rstrip("/").rpartition("/")[2]
            if about["name"].rstrip("/") == root:
                continue  # The mark of a directory that some tools write.
            if about["type"] == "directory":
                below.add(name)
            else:
                sizes[name] = int(about["size"] or 0)
        return Files(sizes, tuple(sorted(below)))


class RemoteFile:
    """A file of a store; what was read last is kept, so that small reads side by side are one request."""

    def __init__(self, store: Store, path: str, size: int) -> None:
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
            upto = min(max(end, position + _BLOCK_SIZE), self.size)
            self._start = min(position, max(upto - _BLOCK_SIZE, 0))
            self._block = self._store.read(self._path, self._start, upto)
        return self._block[position - self._start : end - self._start]

    def pread_into(self, buffer: memoryview, position: int) -> int:
        """Fill a buffer as `kcheck.model.source.Source`."""
        data = self.pread(len(buffer), position)
        buffer[: len(data)] = data
        return len(data)

    def next_data(self, position: int) -> int:
        """Return the position itself: a store has no holes."""
        return position


class Upload(FileIO):
    """A file that is written on this machine, and handed on when it is settled; otherwise it is gone once closed."""

    def __init__(self, hand_on: Callable[[str], None]) -> None:
        from tempfile import NamedTemporaryFile  # only where something is written

        self._file = NamedTemporaryFile(prefix="kcheck-")  # noqa: SIM115 - `close` closes it
        self._hand_on = hand_on
        super().__init__(self._file.fileno(), "wb", closefd=False)

    def settle(self) -> None:
        """Have it where it belongs."""
        self._hand_on(self._file.name)
        self.close()

    def close(self) -> None:
        """Forget it."""
        super().close()
        self._file.close()


_MOUNTED: dict[str, Store] = {}
_OPTIONS: list[Mapping[str, object]] = []
"""Those of the contexts that are open."""


def store_of(path: str) -> Store | None:
    """Return the store that a path is in, None for what is on this machine."""
    for prefix, store in _MOUNTED.items():
        if f"{path}/".startswith(prefix):
            return store
    return None


def is_url(root: str) -> bool:
    """Whether a root names something that is not on this machine, as s3://bucket does."""
    return _URL.match(root) is not None


@contextmanager
def mounted(roots: Sequence[str], options: Mapping[str, object]) -> Iterator[None]:
    """Let paths below those roots that are URLs be read; `options` are those of the file system of fsspec.

    UsageError where that file system is not installed, or does not take the options, KcheckError where it cannot be
    reached.
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
    """Let what is named only later be read, too, if it is a URL, as long as the paths that are mounted."""
    scheme, is_remote, rest = path.partition("://")
    prefix = f"{scheme}://{rest.partition('/')[0]}/"
    if is_remote and is_url(path) and _OPTIONS and prefix not in _MOUNTED:
        _MOUNTED[prefix] = Store(partial(_system, path, prefix, _OPTIONS[-1]))


def _system(root: str, prefix: str, options: Mapping[str, object]) -> Any:
    """Return the file system of a root: its host and port, where the scheme has them, are those of the `prefix`."""
    try:
        from fsspec.core import url_to_fs  # only for roots that are URLs

        # Listings are held where they are needed: the client would keep those of the whole fleet.
        return url_to_fs(prefix, **{"use_listings_cache": False, **options})[0]
    except ImportError as error:
        scheme = prefix.partition("://")[0]
        raise UsageError(
            f"{root} needs {scheme}: pip install 'kcheck[{_EXTRAS.get(scheme, 'remote')}]'; {error}"
        ) from error
    except (ValueError, TypeError) as error:
        raise UsageError(f"{root}: {error}") from error
    except Exception as error:  # some connect at once, and a client may raise anything
        raise KcheckError(f"{root}: {type(error).__name__}: {error}") from error


def _asked(ask: Callable[[], T]) -> T:
    """Return an answer of a store; its client may raise anything."""
    try:
        return ask()
    except FileNotFoundError as error:
        raise FileNotFoundError(2, "No such file or directory") from error  # Some clients say no more than the name.
    except OSError:
        raise
    except Exception as error:
        raise OSError(f"{type(error).__name__}: {error}") from error
