"""Files of log dirs that are to be changed: reached from the log dir on, name by name, and never through a link."""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Self

from kcheck.errors import PlanError, StalePlanError
from kcheck.model.plan import Digest, listed, place_of

CHUNK_SIZE = 1 << 20
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Place(NamedTuple):
    """A name in an open directory, whose descriptor is `parent`."""

    parent: int
    name: str


class Places:
    """The directories of some log dirs, open as long as the `with` block lasts."""

    def __init__(self, log_dirs: Iterable[str]) -> None:
        """Open nothing yet."""
        self._log_dirs = tuple(log_dirs)
        self._open: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for descriptor in self._open.values():
            os.close(descriptor)
        self._open.clear()

    def at(self, path: str) -> Place:
        """Return where a path is. PlanError: its log dir is behind a link; OSError: its directory is not there."""
        place = place_of(path, self._log_dirs)
        assert place is not None
        log_dir, names = place
        parent = self._opened(log_dir)
        return Place(parent if len(names) == 1 else self._opened(log_dir, names[0]), names[-1])

    def _opened(self, log_dir: str, name: str = "") -> int:
        path = f"{log_dir}/{name}"
        if path not in self._open:
            if name:
                self._open[path] = os.open(name, _DIRECTORY, dir_fd=self._opened(log_dir))
            elif os.path.realpath(log_dir) != log_dir:
                raise PlanError(f"{log_dir} is a symbolic link, or stands behind one: the plan must name the directory")
            else:
                self._open[path] = os.open(log_dir, _DIRECTORY)
        return self._open[path]


def seen_at(place: Place, *, directory: bool) -> Digest | None:
    """Return what stands at a place, None for nothing; StalePlanError if it is neither a file nor what is expected."""
    status = status_at(place)
    if status is None:
        return None
    if directory and stat.S_ISDIR(status.st_mode):
        return _listed(place)
    if directory or not stat.S_ISREG(status.st_mode):
        raise StalePlanError(f"{place.name} is no {'directory' if directory else 'regular file'}, or a symbolic link")
    found, size = hashlib.sha256(), 0
    for chunk in chunks_at(place):
        found.update(chunk)
        size += len(chunk)
    return Digest(found.hexdigest(), size)


def status_at(place: Place) -> os.stat_result | None:
    """Return the status of what stands at a place, a link for itself, None for nothing."""
    try:
        return os.stat(place.name, dir_fd=place.parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def chunks_at(place: Place) -> Iterator[bytes]:
    """Yield the bytes of a regular file."""
    descriptor = os.open(place.name, _FILE, dir_fd=place.parent)
    try:
        while chunk := os.read(descriptor, CHUNK_SIZE):
            yield chunk
    finally:
        os.close(descriptor)


def _listed(place: Place) -> Digest:
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


def digest_of_directory(path: str) -> Digest:
    """Return what a plan says of a directory that is to be moved as a whole."""
    descriptor = os.open(os.path.dirname(path) or ".", _DIRECTORY)
    try:
        return _listed(Place(descriptor, os.path.basename(path)))
    finally:
        os.close(descriptor)


def write_new(place: Place, chunks: Iterable[bytes], *, mode: int, owner: tuple[int, int]) -> Digest:
    """Write a file and have it on its disk, in place of what stands there; return what was written."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(place.name, flags, 0o600, dir_fd=place.parent)
    found, size = hashlib.sha256(), 0
    try:
        for chunk in chunks:
            left = memoryview(chunk)
            while left:
                left = left[os.write(descriptor, left) :]
            found.update(chunk)
            size += len(chunk)
        status = os.fstat(descriptor)
        if (status.st_uid, status.st_gid) != owner:
            os.fchown(descriptor, *owner)
        os.fchmod(descriptor, mode)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return Digest(found.hexdigest(), size)


def remove(place: Place) -> bool:
    """Remove a file that may be there; whether it was."""
    try:
        os.unlink(place.name, dir_fd=place.parent)
    except FileNotFoundError:
        return False
    return True
