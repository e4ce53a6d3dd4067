"""Resolves arguments: files, partition directories, log dirs, folders of log dirs, server.properties, replicas."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import PurePath
from typing import NamedTuple

from kcheck.disk.kept import once
from kcheck.disk.listing import Listing
from kcheck.disk.local import LOCAL
from kcheck.disk.paths import absolute, is_absolute, join, split
from kcheck.disk.tree import Tree, tree_of
from kcheck.errors import EMPTY_PATH, NotALogDirError, UsageError, no_such_file
from kcheck.formats.meta_properties import properties, refused_line
from kcheck.model.java import INT_MAX, java_int
from kcheck.model.names import (
    BUNDLE_SUFFIX,
    LEADER_EPOCHS,
    LOST_FOUND,
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    PARTITION_METADATA,
    FileKind,
    is_stranger,
    is_stranger_in_log_dir,
    parse_directory,
    parse_file,
)
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import LogDirView

_OF_A_LOG_DIR = {*OFFSET_CHECKPOINTS, META_PROPERTIES}
_REPLICA = re.compile(r"([0-9]+)=(.+)", re.DOTALL)
_NO_PATH = re.compile("[\ud800-\udfff]")
_PROPERTIES_SIZE_MAX = 1 << 20
SERVER_PROPERTIES = "server.properties"


IsWanted = Callable[[str], bool]


class TargetKind(StrEnum):
    """The kind of a path."""

    FILE = "file"
    PARTITION = "partition"
    LOG_DIR = "log-dir"


class Target(NamedTuple):
    """A path to read; `broker_id` comes from the user, None without `BROKER=`.

    `config` is the server.properties that lists a log dir. All its log dirs belong to one broker. `folder` is the
    folder of log dirs that contains it. `tree` is the tree of the path.
    """

    kind: TargetKind
    path: str
    broker_id: int | None = None
    config: str | None = None
    folder: str | None = None
    tree: Tree = LOCAL

    @property
    def log_dir(self) -> str:
        """The path of the log dir, which is the target, or its parent directory."""
        return self.path if self.kind is TargetKind.LOG_DIR else split(self.path)[0]


def broker_of(target: Target, view: LogDirView) -> object:
    """Return a key that the log dirs of one broker share, from the user or from their files."""
    if target.config is not None or target.broker_id is not None:
        return target.config, target.broker_id
    if view.where.broker_id is None:
        return target.path
    # Log dirs with one broker id in one folder belong to one broker, even if one is foreign.
    return (target.folder or view.cluster_id, view.where.broker_id)


def other_broker(target: Target, view: LogDirView) -> int | None:
    """Return the broker that meta.properties names if it is not the one from the user; None if they agree."""
    identity = view.files.get(META_PROPERTIES)
    own = None if identity is None or target.broker_id is None else identity.parsed.value.broker_id
    return None if own == target.broker_id else own


def require_same_broker(target: Target, view: LogDirView) -> None:
    """Raise UsageError if the broker id from the user contradicts meta.properties; an id in settings is a premise."""
    own = other_broker(target, view)
    if own is not None and target.config is None:
        raise UsageError(f"{target.broker_id}={target.path}: {view.where.log_dir}/{META_PROPERTIES} says broker {own}")


def targets(paths: list[str]) -> tuple[Target, ...]:
    """Return the targets of each path; resolve folders and server.properties. NotALogDirError: nothing of Kafka."""
    return tuple(target for path in paths for target in _of(path, None))


def replica_targets(arguments: list[str]) -> tuple[Target, ...]:
    """Return the targets of `BROKER=PATH` or plain path arguments, each once."""
    by_path: dict[tuple[int | None, str], Target] = {}
    for broker_id, path in map(replica_argument, arguments):
        for target in once(_targets, path, broker_id):
            by_path.setdefault((broker_id, target.tree.real(target.path)), target)
    return tuple(by_path.values())


def replica_argument(argument: str) -> tuple[int | None, str]:
    """Return the broker, None without one, and the path of `BROKER=PATH`; UsageError for an id that no broker has."""
    match = _REPLICA.fullmatch(argument)
    if match is None:
        return None, argument
    broker_id = java_int(match[1])
    if broker_id is None:
        raise UsageError(f"{argument}: a broker id is at most {INT_MAX}")
    return broker_id, match[2]


def _targets(path: str, broker_id: int | None) -> tuple[Target, ...]:
    return tuple(_of(path, broker_id))


def _of(path: str, broker_id: int | None) -> Iterator[Target]:
    if not path:
        raise _unset()
    tree = tree_of(path)
    target = Target(kind=TargetKind.LOG_DIR, path=path, broker_id=broker_id, tree=tree)
    if not tree.is_directory(path):
        if path.endswith(BUNDLE_SUFFIX) and tree.exists(path):
            raise UsageError(f"{path}: not a bundle of kcheck capture; a bundle begins with a manifest")
        if _is_configuration(tree, path):
            yield from _server_properties(tree, path, broker_id)
        else:
            yield target._replace(kind=TargetKind.FILE)
        return
    named = parse_directory(split(path)[1]) is not None
    try:
        is_partition = named and any(map(_of_a_partition, tree.listing(path, is_stranger).files))
        listing = None if is_partition else tree.listing(path, is_stranger_in_log_dir)
    except UnreadableError as error:
        if tree.is_remote:
            raise UsageError(f"{path}: {error}") from error
        # Opening it later gives the reason; the other paths are still read.
        yield target._replace(kind=TargetKind.PARTITION if named else TargetKind.LOG_DIR)
        return
    if listing is None:
        yield target._replace(kind=TargetKind.PARTITION)
    elif _is_log_dir(tree, path, listing):
        yield target
    else:
        yield from _below(target, listing)


def _below(target: Target, listing: Listing) -> Iterator[Target]:
    """Yield the log dirs in a folder, or in its server.properties, or itself if it is empty.

    Its server.properties counts if the folder has no log dirs. An empty directory is a new disk, also if the
    server.properties of log dirs here names it. Copies that these settings leave out do not count.
    NotALogDirError without any Kafka file.
    """
    log_dirs = [*_log_dirs_below(target.tree, target.path, listing, depth=2)]
    path = join(target.path, SERVER_PROPERTIES) if SERVER_PROPERTIES in listing.files else None
    if path is not None and (not log_dirs or _names_new_disk(target.tree, path, log_dirs)):
        named = [*_server_properties(target.tree, path, target.broker_id)]
        yield from named
        places = {row.tree.real(row.path) for row in named}
        log_dirs = [below for below in log_dirs if target.tree.real(below) not in places]
    elif path is not None and (left := _left_behind(target.tree, path, log_dirs)):
        log_dirs = [below for below in log_dirs if below not in left]
    elif new := [*_new_brokers(target, listing, log_dirs)]:
        yield from new
    elif not log_dirs:
        if not _has_nothing(listing):
            raise NotALogDirError(f"{target.path}: no log dir in it or two levels below; name a deeper folder")
        yield target
    for below in log_dirs:
        yield target._replace(path=below, folder=split(below)[0])


def _new_brokers(target: Target, listing: Listing, log_dirs: Sequence[str]) -> Iterator[Target]:
    """Yield the log dirs that a server.properties one folder down names, of a broker without any disk.

    These are empty, files, links to nothing, or missing next to the settings.
    """
    tree = target.tree
    for name in listing.directories:
        path = join(target.path, name, SERVER_PROPERTIES)
        has_log_dirs = any(below.startswith(join(target.path, name, "")) for below in log_dirs)
        if has_log_dirs or not _is_configuration(tree, path):
            continue
        try:
            places = [*log_dirs_in(tree, path, _properties(tree, path))]
        except UsageError:
            continue
        if places and all(_lacks_disk(tree, place, split(path)[0]) for place in places):
            yield from _server_properties(tree, path, target.broker_id)


def _left_behind(tree: Tree, path: str, log_dirs: Sequence[str]) -> set[str]:
    """Return the log dirs of a broker that its server.properties leaves out, if all others are here.

    Their logs do not end beyond the logs of the same partitions in the others.
    """
    try:
        places = {tree.real(place) for place in log_dirs_in(tree, path, _properties(tree, path))}
        named = [below for below in log_dirs if tree.real(below) in places]
        if len(named) < len(places) or len(named) == len(log_dirs):
            return set()
        numbers = {below: _number_in(tree, below) for below in log_dirs}
        rest = [below for below in log_dirs if below not in named and {*map(numbers.get, named)} == {numbers[below]}]
        ends = {below: _ends(tree, below) for below in (*named, *rest)}
    except (UsageError, UnreadableError):
        return set()
    own = {name: end for below in named for name, end in ends[below].items()}
    return {below for below in rest if all(own.get(name, ("", 0)) >= end for name, end in ends[below].items())}


def _number_in(tree: Tree, path: str) -> str:
    """Return the broker that the meta.properties of a log dir names, else its path."""
    if not tree.exists(join(path, META_PROPERTIES)):
        return path
    said = properties(tree.read_whole(join(path, META_PROPERTIES), size_max=_PROPERTIES_SIZE_MAX))
    return said.get("node.id") or said.get("broker.id") or path


def _ends(tree: Tree, path: str) -> dict[str, tuple[str, int]]:
    """Return the last segment of each log in a log dir, with its size."""
    logs = {
        name: [file for file in tree.listing(join(path, name)).files if file.endswith(".log")]
        for name in tree.listing(path, is_stranger_in_log_dir).directories
        if parse_directory(name) is not None
    }
    lasts = ((name, max(files, default="")) for name, files in logs.items())
    return {name: (last, tree.size(join(path, name, last)) if last else 0) for name, last in lasts}


def _names_new_disk(tree: Tree, path: str, log_dirs: Sequence[str]) -> bool:
    """Return whether a server.properties names an empty directory next to one of these log dirs."""
    try:
        places = {tree.real(place): place for place in log_dirs_in(tree, path, _properties(tree, path))}
    except UsageError:
        return False
    known = set(map(tree.real, log_dirs))
    return not known.isdisjoint(places) and any(_is_empty(tree, places[real]) for real in places.keys() - known)


def _lacks_disk(tree: Tree, path: str, folder: str) -> bool:
    """Return whether a listed log dir is no disk, although its place is on this machine."""
    if tree.is_directory(path):
        return _is_empty(tree, path)
    return tree.exists(path) or tree.is_link(path) or tree.real(split(path)[0]) == tree.real(folder)


def has_no_disk(tree: Tree, path: str) -> bool:
    """Return whether a log dir does not exist, or is empty as the mount point of a disk."""
    return not tree.exists(path) or (not tree.exists(join(path, META_PROPERTIES)) and _is_empty(tree, path))


def _is_empty(tree: Tree, path: str) -> bool:
    try:
        return tree.is_directory(path) and _has_nothing(tree.listing(path))
    except UnreadableError:
        return False


def _has_nothing(listing: Listing) -> bool:
    """Return whether a directory is empty, except for the lost+found of a new file system."""
    return not (listing.files or listing.others or {*listing.directories} - {LOST_FOUND})


def _of_a_partition(name: str) -> bool:
    """Return whether a file makes a directory a partition directory; a `server.log` is no segment: it has no offset."""
    if name in (LEADER_EPOCHS, PARTITION_METADATA):
        return True
    return name.endswith((".log", ".index")) and parse_file(name).offset is not None


def _is_log_dir(tree: Tree, path: str, listing: Listing) -> bool:
    """Return whether a directory is a log dir, not a folder of log dirs with partition directories moved aside."""
    if not _OF_A_LOG_DIR.isdisjoint(listing.files):
        return True
    named = [name for name in listing.directories if parse_directory(name) is not None]
    if not any(_has(tree, join(path, name), _of_a_partition) for name in named):
        return False
    return not any(
        _has(tree, join(path, name), _OF_A_LOG_DIR.__contains__) for name in {*listing.directories} - {*named}
    )


def _has(tree: Tree, path: str, wanted: IsWanted) -> bool:
    try:
        return any(map(wanted, tree.listing(path, is_stranger).files))
    except UnreadableError:
        return False


def _log_dirs_below(tree: Tree, path: str, listing: Listing, *, depth: int) -> Iterator[str]:
    for name in listing.directories:
        below = join(path, name)
        if name == LOST_FOUND or tree.is_link(below):
            continue  # What a file system check saves is no log dir; the target of a link is in this folder too.
        try:
            content = tree.listing(below, is_stranger_in_log_dir)
        except UnreadableError:
            yield below  # As above: an unreadable disk is not skipped.
            continue
        if _is_log_dir(tree, below, content):
            yield below
        elif depth > 1:
            yield from _log_dirs_below(tree, below, content, depth=depth - 1)


def is_configuration(path: str) -> bool:
    """Return whether a path is a `server.properties`, which means the log dirs that it names."""
    return _is_configuration(tree_of(path), path)


def _is_configuration(tree: Tree, path: str) -> bool:
    """Return whether a file is a server.properties, by its name or its content.

    The content counts if no file of Kafka has this name.
    """
    name = split(path)[1]
    if parse_file(name).kind is not FileKind.OTHER or not tree.exists(path) or tree.is_directory(path):
        return False
    return name.endswith(".properties") or _names_log_dirs(tree, path)


def _names_log_dirs(tree: Tree, path: str) -> bool:
    try:
        settings = properties(tree.read_whole(path, follow=True, size_max=_PROPERTIES_SIZE_MAX))
    except UnreadableError:
        return False
    return bool(settings.get("log.dirs") or settings.get("log.dir"))


def _server_properties(tree: Tree, path: str, broker_id: int | None) -> Iterator[Target]:
    """Return the log dirs in a broker's configuration (KafkaConfig, log.dirs before log.dir)."""
    config = _properties(tree, path)
    named = config.get("log.dirs") or config.get("log.dir")
    if not named:
        raise NotALogDirError(f"{path}: no log.dirs setting")
    said = config.get("node.id") or config.get("broker.id") or ""
    own = java_int(said) if said.isascii() and said.isdigit() else None
    said_id = own if broker_id is None else broker_id
    for place in log_dirs_in(tree, path, config):
        yield Target(TargetKind.LOG_DIR, place, said_id, config=path, tree=tree if tree.is_bundle else tree_of(place))


def written_log_dirs(config: Mapping[str, str]) -> tuple[str, ...]:
    """Return the log dirs as settings have them, each once."""
    named = config.get("log.dirs") or config.get("log.dir") or ""
    directories = [*named.split(","), config.get("metadata.log.dir", "")]
    return tuple(dict.fromkeys(part.strip() for part in directories if part.strip()))


def log_dirs_in(tree: Tree, path: str, config: Mapping[str, str]) -> list[str]:
    """Return the paths of the log dirs that a server.properties names, in the order of `written_log_dirs`.

    UsageError if one leads to a place outside of its bundle. UsageError also for half a surrogate pair, as no file
    system has that name.
    """
    places = written_log_dirs(config)
    for place in places:
        if _NO_PATH.search(place) is not None:
            raise UsageError(f"{path}: log.dirs: {place!a} is not a path; an example is /var/lib/kafka/data")
    if tree.is_bundle:
        return [_in_bundle(path, place) for place in places]
    base = next(relative_bases(tree, path, places), "")
    return [place if is_absolute(place) else join(base, place) for place in places]


def relative_bases(tree: Tree, path: str, places: Iterable[str]) -> Iterator[str]:
    """Yield the folders in which relative log dirs of a server.properties exist, the likeliest first.

    Kafka opens them in the directory of the broker's start. A file below the working directory ("") means that one.
    Otherwise the folders above the file come first, as the working directory may be the one of another broker.
    """
    relative = [place for place in places if not is_absolute(place)]
    whole, here = PurePath(absolute(path)), PurePath(absolute("."))
    above = {absolute(str(folder)): str(folder) for one in (whole, PurePath(path)) for folder in one.parents}
    folders = [above[str(folder)] for folder in whole.parents if folder != here]
    folders = ["", *folders] if here in whole.parents else [*folders, ""]
    if not tree.is_remote:
        yield from (folder for folder in folders if any(tree.exists(join(folder, place)) for place in relative))


def _in_bundle(path: str, directory: str) -> str:
    """Return the path of a log dir that the configuration in a bundle names; UsageError if it is outside."""
    if directory.startswith("/") or ".." in directory.split("/"):
        raise UsageError(f"{path}: the log dir {directory} is not in the bundle")
    return join(split(path)[0], directory)


def read_properties(path: str) -> Mapping[str, str]:
    """Return the settings in a `server.properties`; UsageError if it cannot be read."""
    return _properties(tree_of(path), path)


def refused_line_of(path: str) -> int | None:
    """Return the first line of a `server.properties` that no broker reads; None without one."""
    try:
        return refused_line(tree_of(path).read_whole(path, follow=True, size_max=_PROPERTIES_SIZE_MAX))
    except UnreadableError:
        return None  # It was read before.


def _properties(tree: Tree, path: str) -> Mapping[str, str]:
    if tree.is_directory(path):
        raise UsageError(f"{path}: a directory, not a server.properties")
    try:
        return properties(tree.read_whole(path, follow=True, size_max=_PROPERTIES_SIZE_MAX))
    except UnreadableError as error:
        raise UsageError(f"{path}: {error}") from error


def paths_of(targets: Iterable[Target]) -> tuple[str, ...]:
    """Return the paths to read, and the server.properties that list them, where kcheck writes no files."""
    return tuple(path for target in targets for path in (target.path, target.config) if path is not None)


def directory_wanted(target: Target, what: str) -> UsageError:
    """Return the error for a path that is a file or missing, when `what` needs directories."""
    return unusable(target.path, f"{target.path}: a file; {what} needs a log dir or partition directory")


def unusable(path: str, words: str) -> UsageError:
    """Return the error for an unusable path, which says that it is missing, or the given words."""
    if not path:
        return _unset()
    return UsageError(words if tree_of(path).exists(path) else no_such_file(path))


def _unset() -> UsageError:
    return UsageError(EMPTY_PATH)
