"""Lists every file and directory below the paths, with the part of it that goes into the bundle."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from kcheck.capture.contents import COMMITS_LOG, CONFIGURATION, METADATA_LOG, SEGMENTS_LOG, How, Taken, content_of
from kcheck.core.releases.releases import release
from kcheck.disk.local import LOCAL
from kcheck.disk.paths import split
from kcheck.disk.refusals import word_for
from kcheck.disk.tree import tree_of
from kcheck.errors import UsageError
from kcheck.model.names import CLUSTER_METADATA, CONSUMER_OFFSETS, FileKind, parse_directory, parse_file
from kcheck.model.remote_log import REMOTE_LOG_METADATA
from kcheck.views.log_dir import LogDirs
from kcheck.views.targets import (
    TargetKind,
    is_configuration,
    replica_argument,
    replica_targets,
    require_same_broker,
    targets,
    unusable,
)

_DEPTH_MAX = 4
"""A folder, a log dir, a partition directory, and one directory in it."""


class CapturedPath(NamedTuple):
    """A file or directory to capture."""

    path: str
    """Its path on this machine."""
    name: str
    """Its path in the bundle."""
    kind: str
    """file, directory, link, or other."""
    size: int = 0
    """Its size in bytes."""
    mode: int = 0
    """Its mode bits."""
    modified: int = 0
    """When it was changed, in ns since 1970."""
    error: tuple[int, str] | None = None
    """The system's error, if it cannot be listed or looked at."""
    content: Taken | None = None
    """The part of a file that goes in; None for anything else."""
    log_dirs: Mapping[str, str] | None = None
    """Of a server.properties: the names in the bundle of the log dirs that it names."""


CONFIGURATION_NAME = "server.properties"
"""The name of a configuration in the bundle, whatever it is on this host."""


def captured_paths(arguments: Sequence[str]) -> list[str]:
    """Return the paths to capture. A server.properties means the log dirs that it names."""
    return [path for _, path in _roots(arguments)]


def _roots(arguments: Sequence[str]) -> list[tuple[int | None, str]]:
    """Return the paths to capture, each with the broker that the user names."""
    named = map(replica_argument, arguments)
    log_dirs = (
        ((broker_id, target.path) for target in targets([path])) if is_configuration(path) else ((broker_id, path),)
        for broker_id, path in named
    )
    return [*chain.from_iterable(log_dirs)]


def items(arguments: Sequence[str], *, offsets: bool = False) -> Iterator[CapturedPath]:
    """Yield every file and directory below the paths, sorted below each; UsageError for a path without Kafka files.

    One log dir, or one folder of them, is the bundle itself. Anything else has its own name in the bundle, as have the
    log dirs of a server.properties. Two of one name get the names of their brokers before it, if the arguments are
    `BROKER=PATH`. With `offsets` the committed offsets of groups are included.
    """
    logs = {CLUSTER_METADATA: METADATA_LOG, REMOTE_LOG_METADATA: SEGMENTS_LOG}
    logs |= {CONSUMER_OFFSETS: COMMITS_LOG} if offsets else {}
    if not arguments:
        raise UsageError("capture needs at least one path")
    paths = [path for _, path in map(replica_argument, arguments)]
    for path in paths:
        if tree_of(path).is_bundle:
            raise UsageError(f"{path} is a bundle already")
    configurations = [path for path in paths if is_configuration(path)]
    wanted = _roots(arguments)
    alone = len(wanted) == 1 and not configurations
    roots = [*_named([(broker_id, path, _root_name(path, alone=alone)) for broker_id, path in wanted])]
    _require_same_brokers(arguments)
    names = [*(name for _, name in roots), *(CONFIGURATION_NAME for _ in configurations)]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two paths end in {name}: capture them into two bundles")
    for path in configurations:
        yield _item(path, CONFIGURATION_NAME, _status(path), None)._replace(content=CONFIGURATION, log_dirs=dict(roots))
    for path, name in sorted(roots, key=lambda root: root[1]):
        if name:
            yield _item(path, name, _status(path), None)
        if LOCAL.is_directory(path):
            yield from _below(path, name, logs, depth=0)


def _named(roots: list[tuple[int | None, str, str]]) -> Iterator[tuple[str, str]]:
    """Yield each path with its name in the bundle; a partition directory keeps its name."""
    names = [name for _, _, name in roots]
    for broker_id, path, name in roots:
        may_change = broker_id is not None and parse_directory(name) is None and LOCAL.is_directory(path)
        yield path, f"broker-{broker_id}-{name}" if may_change and names.count(name) > 1 else name


def _require_same_brokers(arguments: Sequence[str]) -> None:
    """Raise UsageError if the user names another broker than the log dir's."""
    log_dirs = LogDirs(release())
    for target in replica_targets([*arguments]):
        if target.broker_id is not None and target.kind is TargetKind.LOG_DIR:
            require_same_broker(target, log_dirs.open(target).view)


def _root_name(path: str, *, alone: bool) -> str:
    """Return the name of a path in the bundle; an empty one if it is the bundle itself."""
    chosen = targets([path])
    if not LOCAL.is_directory(path) and not os.path.isfile(path):
        raise unusable(path, f"{path}: not a regular file or directory")
    is_partition = any(target.kind is TargetKind.PARTITION for target in chosen)
    return "" if alone and LOCAL.is_directory(path) and not is_partition else split(LOCAL.real(path))[1]


def _below(path: str, name: str, logs: Mapping[str, Taken], *, depth: int) -> Iterator[CapturedPath]:
    try:
        with os.scandir(path) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except OSError as error:
        if depth == 0:
            raise UsageError(f"{path}: {word_for(error)}") from error
        return
    parsed = parse_directory(os.path.basename(path))
    log = None if parsed is None else logs.get(parsed.topic)
    for entry in entries:
        inside = f"{name}/{entry.name}" if name else entry.name
        item = _item(entry.path, inside, _status(entry.path), log)
        yield item
        if item.kind == "directory" and item.error is None and depth < _DEPTH_MAX:
            yield from _below(entry.path, inside, logs, depth=depth + 1)


def _status(path: str) -> os.stat_result | OSError:
    try:
        return os.lstat(path) if os.path.islink(path) else os.stat(path)
    except OSError as error:
        return error


def _item(path: str, name: str, status: os.stat_result | OSError, log: Taken | None) -> CapturedPath:
    """Return a path; `log` is the part of a `.log` that goes in, if that depends on its topic."""
    if isinstance(status, OSError):
        return CapturedPath(path, name, "file", error=(status.errno or 5, word_for(status)))
    mode, times = stat.S_IMODE(status.st_mode), status.st_mtime_ns
    if stat.S_ISDIR(status.st_mode):
        return CapturedPath(path, name, "directory", 0, mode, times, _listing_error(path))
    if not stat.S_ISREG(status.st_mode):
        return CapturedPath(path, name, "link" if stat.S_ISLNK(status.st_mode) else "other", 0, mode, times)
    file_name = os.path.basename(path)
    content = content_of(file_name)
    if log is not None and parse_file(file_name).kind is FileKind.LOG:
        content = log
    if content.how is How.NAME and status.st_size == 0:
        content = Taken(How.NAME, "empty")
    return CapturedPath(path, name, "file", status.st_size, mode, times, content=content)


def _listing_error(path: str) -> tuple[int, str] | None:
    try:
        with os.scandir(path):
            return None
    except OSError as error:
        return error.errno or 5, word_for(error)
