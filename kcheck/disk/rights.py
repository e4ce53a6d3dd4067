"""Asks the operating system for the owners and modes of files, and for the file system that contains them."""

import os
import re
import stat
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from kcheck.disk.local import MODE_BITS
from kcheck.disk.paths import join
from kcheck.disk.refusals import note_refusal
from kcheck.disk.tree import tree_of
from kcheck.model.rights import PlainRights, ProcessLimits, Rights, Volume

_MOUNTS = "/proc/self/mountinfo"
_ESCAPED = re.compile(r"\\([0-7]{3})")
"""A space or a backslash in a path there."""
_MAP_COUNT = "/proc/sys/vm/max_map_count"
_OF_CONTAINERS = ("overlay", "aufs", "fuse.fuse-overlayfs")
"""The file systems at the root of a container."""


def rights_of(log_dir: str, path: str = "") -> Rights | None:
    """Return the rights of a path in a log dir on a local disk, through links; None if unknown."""
    try:
        status = os.stat(join(log_dir, path))
    except (OSError, ValueError) as error:
        note_refusal(join(log_dir, path), error)
        return None
    return _rights(path, status)


def rights_in(log_dir: str, directory: str, wanted: Callable[[str], object]) -> Iterator[PlainRights]:
    """Yield the rights of the wanted regular files in a directory of a log dir; nothing if it is unreadable."""
    try:
        folder = os.open(join(log_dir, directory), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    name = entry.name
                    if wanted(name) and entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        yield f"{directory}/{name}", status.st_uid, status.st_gid, status.st_mode & MODE_BITS
        finally:
            os.close(folder)
    except (OSError, ValueError) as error:
        note_refusal(join(log_dir, directory), error)


def _rights(path: str, status: os.stat_result) -> Rights:
    return Rights(path, status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode))


def volume_of(path: str) -> Volume | None:
    """Return the file system that contains a log dir; None for a store, or if the system does not say."""
    if tree_of(path).is_remote:
        return None
    try:
        status = os.statvfs(path)
    except (OSError, ValueError):
        return None
    return Volume(
        mount_point=_mount_point(path),
        is_read_only=bool(status.f_flag & os.ST_RDONLY),
        is_seen_in_container=in_container(),
        free=status.f_bavail * status.f_frsize,
        free_for_root=status.f_bfree * status.f_frsize,
        block_size=status.f_frsize,
    )


class _Mount(NamedTuple):
    """A mount that this process sees."""

    point: str
    type: str


@cache
def _mounts() -> tuple[_Mount, ...]:
    """Return the mounts, later ones over earlier ones; none if the system does not say."""
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as lines:
            rows = [line.split() for line in lines]
    except OSError:
        return ()
    return tuple(_Mount(_ESCAPED.sub(_character, row[4]), row[row.index("-") + 1]) for row in rows)


def _character(escaped: re.Match[str]) -> str:
    return chr(int(escaped[1], 8))


def _mount_point(path: str) -> str:
    """Return the mount point of a path; ismount misses a directory that is mounted on its own disk."""
    place, points = os.path.realpath(path), {mount.point for mount in _mounts()}
    while place not in points and not os.path.ismount(place):
        place = os.path.dirname(place)
    return place


def in_container() -> bool:
    """Return whether the root of this process is the file system of a container."""
    types = [mount.type for mount in _mounts() if mount.point == "/"]
    return bool(types) and types[-1] in _OF_CONTAINERS


def machine_names() -> frozenset[str]:
    """Return the names of this machine, complete and without its domain, in lower case."""
    import platform  # only where the settings of a broker may name this machine

    name = platform.node().lower()
    return frozenset((name, name.partition(".")[0]))


def process_limits() -> ProcessLimits:
    """Return the limits of a process of this session."""
    return ProcessLimits(_map_count_max(), _open_files_max())


def _open_files_max() -> int | None:
    """Return the hard limit of open files in this session (RLIMIT_NOFILE); None without a limit.

    A JVM raises its own limit to the hard limit (MaxFDLimit).
    """
    try:
        import resource
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return None if limit == resource.RLIM_INFINITY else limit


def _map_count_max() -> int | None:
    """Return how many maps a process may have on this host (vm.max_map_count); None if the system does not say."""
    try:
        with open(_MAP_COUNT, encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None
