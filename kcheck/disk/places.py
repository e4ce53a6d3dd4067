"""The files of a log dir that a plan changes, reached by name, and never through a symbolic link."""

import errno
import hashlib
import os
import stat
from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple, Self

from kcheck.disk import signals
from kcheck.disk.attributes import Attributes, attributes_of, set_attributes
from kcheck.disk.tree import Tree
from kcheck.errors import PlanError, StalePlanError
from kcheck.model.plan import Digest, listed, place_of

CHUNK_SIZE = 1 << 20
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DIRECTORY_MODE = 0o755
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NOWHERE = -1


class PathAt(NamedTuple):
    """A name in an open directory."""

    parent: int
    """The descriptor of the directory; -1 for one that is still to be created."""
    name: str
    """The name in it, which may not exist."""


class Places:
    """The directories of some log dirs, open during a `with` block."""

    def __init__(self, log_dirs: Iterable[str], new: frozenset[str] = frozenset()) -> None:
        """Remember the log dirs; `at` opens directories. Those in `new` may be missing."""
        self._log_dirs, self._new = tuple(log_dirs), new
        self._open: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()

    def at(self, path: str) -> PathAt:
        """Return the place of a path. PlanError if a link leads to its log dir, OSError if its directory is missing."""
        log_dir_and_names = place_of(path, self._log_dirs)
        assert log_dir_and_names is not None
        log_dir, names = log_dir_and_names
        parent = self._opened(log_dir)
        return PathAt(parent if len(names) == 1 else self._opened(log_dir, names[0]), names[-1])

    def directory(self, path: str) -> int:
        """Return the descriptor of a log dir, or of a directory in one."""
        return self._opened(path) if path in self._log_dirs else self.at(f"{path}/.kcheck").parent

    def create(self, kept: Container[str]) -> None:
        """Create the directories of `new`, with the owner of the log dir, except the ones in `kept`."""
        for path in sorted(path for path in self._new if path not in kept):
            log_dir, name = os.path.split(path)
            parent = self._opened(log_dir)
            if self.directory(path) == _NOWHERE:
                os.mkdir(name, _DIRECTORY_MODE, dir_fd=parent)
            above, here = os.fstat(parent), os.fstat(self.directory(path))
            if (above.st_uid, above.st_gid) != (here.st_uid, here.st_gid):
                os.fchown(self.directory(path), above.st_uid, above.st_gid)
            os.fsync(parent)

    def remove(self, kept: Container[str]) -> None:
        """Remove the directories of `new` that are empty again, except the ones in `kept`."""
        for path in sorted(path for path in self._new if path not in kept):
            descriptor = self.directory(path)
            if descriptor == _NOWHERE or os.listdir(descriptor):
                continue
            os.close(self._open.pop(path))
            log_dir, name = os.path.split(path)
            os.rmdir(name, dir_fd=self._opened(log_dir))
            os.fsync(self._opened(log_dir))

    def _opened(self, log_dir: str, name: str = "") -> int:
        path = f"{log_dir}/{name}" if name else log_dir
        if path not in self._open:
            if name:
                try:
                    self._open[path] = os.open(name, _DIRECTORY, dir_fd=self._opened(log_dir))
                except FileNotFoundError:
                    if path not in self._new:
                        raise
                    return _NOWHERE
            else:
                self._open[path] = opened_log_dir(log_dir)
        return self._open[path]


def opened_log_dir(log_dir: str) -> int:
    """Return the descriptor of a log dir; PlanError if a link leads to it, OSError if it is missing."""
    if os.path.realpath(log_dir) != log_dir:
        raise PlanError(f"{log_dir} contains a symbolic link: the plan must have the real path")
    return os.open(log_dir, _DIRECTORY)


def digest_at(place: PathAt, *, directory: bool) -> Digest | None:
    """Return the digest of a file or directory; None if it is missing, StalePlanError if it is of another type."""
    status = status_at(place)
    if status is None:
        return None
    if directory and stat.S_ISDIR(status.st_mode):
        return _listed(place)
    if directory or not stat.S_ISREG(status.st_mode):
        raise StalePlanError(f"{place.name} is not a {'directory' if directory else 'regular file'}")
    return digest_of(chunks_at(place))


def status_at(place: PathAt) -> os.stat_result | None:
    """Return the status of a place without following a link; None if nothing is there."""
    if place.parent == _NOWHERE:
        return None
    try:
        return os.stat(place.name, dir_fd=place.parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def attributes_at(place: PathAt) -> Attributes | None:
    """Return the attributes of a file or directory; None if nothing is there."""
    if place.parent == _NOWHERE:
        return None
    try:
        descriptor = os.open(place.name, _FILE, dir_fd=place.parent)
    except FileNotFoundError:
        return None
    try:
        return attributes_of(descriptor)
    finally:
        os.close(descriptor)


def chunks_at(place: PathAt) -> Iterator[bytes]:
    """Yield the bytes of a regular file; StalePlanError for any other, StoppedError if a signal was held back."""
    descriptor = os.open(place.name, _FILE, dir_fd=place.parent)
    try:
        _require_regular(descriptor, place)
        while chunk := os.read(descriptor, CHUNK_SIZE):
            yield chunk
            signals.step()
    finally:
        os.close(descriptor)


def _listed(place: PathAt) -> Digest:
    descriptor = os.open(place.name, _DIRECTORY, dir_fd=place.parent)
    try:
        with os.scandir(descriptor) as entries:
            return listed(
                (
                    entry.name,
                    entry.stat(follow_symlinks=False).st_size if entry.is_file(follow_symlinks=False) else None,
                )
                for entry in entries
            )
    finally:
        os.close(descriptor)


def digest_of(chunks: Iterable[bytes]) -> Digest:
    """Return the digest of a file that comes in pieces."""
    sha256, size = hashlib.sha256(), 0
    for chunk in chunks:
        sha256.update(chunk)
        size += len(chunk)
    return Digest(sha256.hexdigest(), size)


def digest_of_directory(tree: Tree, path: str) -> Digest:
    """Return the digest of a directory for a plan that moves it."""
    known = tree.digest(path, directory=True)
    if known is not None:
        return known
    descriptor = os.open(os.path.dirname(path) or ".", _DIRECTORY)
    try:
        return _listed(PathAt(descriptor, os.path.basename(path)))
    finally:
        os.close(descriptor)


def digest_of_file(tree: Tree, path: str) -> Digest:
    """Return the digest of a file for a plan, in a bundle the digest of the original file.

    UnreadableError if it is not known.
    """
    return tree.digest(path) or digest_of(chunks_of(tree, path))


def chunks_of(tree: Tree, path: str) -> Iterator[bytes]:
    """Yield the bytes of a file; UnreadableError if it cannot be read."""
    with tree.open(path) as source:
        for position in range(0, source.size, CHUNK_SIZE):
            yield source.pread(min(CHUNK_SIZE, source.size - position), position)


def _require_regular(descriptor: int, place: PathAt) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise _not_regular(place)


def _not_regular(place: PathAt) -> StalePlanError:
    return StalePlanError(f"{place.name} is not a regular file")


def write_new(place: PathAt, chunks: Iterable[bytes], attributes: Attributes) -> Digest:
    """Write a file with its attributes, over an existing one, and sync it; return its digest.

    StalePlanError if something else has the name. Nothing waits for a reader of a named pipe.
    """
    try:
        descriptor = os.open(place.name, _WRITE, 0o600, dir_fd=place.parent)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        raise _not_regular(place) from error
    sha256, size = hashlib.sha256(), 0
    try:
        _require_regular(descriptor, place)
        os.ftruncate(descriptor, 0)
        for chunk in chunks:
            left = memoryview(chunk)
            while left:
                left = left[os.write(descriptor, left) :]
            sha256.update(chunk)
            size += len(chunk)
        set_attributes(descriptor, attributes)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return Digest(sha256.hexdigest(), size)


def remove(place: PathAt) -> bool:
    """Remove a file if it exists; return whether it did."""
    if place.parent == _NOWHERE:
        return False
    try:
        os.unlink(place.name, dir_fd=place.parent)
    except FileNotFoundError:
        return False
    return True
