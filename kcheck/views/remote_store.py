"""Lists the objects of a remote store, in a folder, a URL, or a listing file."""

import json
import re
import stat
from collections.abc import Collection, Iterator
from typing import Any

from kcheck.core.tiered.listings import listed_in_json, listed_object, time_ms
from kcheck.core.tiered.manifests import MANIFEST_SUFFIX, epoch_index_in
from kcheck.core.tiered.store import is_in_table, segment_id_of
from kcheck.disk.paths import join
from kcheck.disk.store import mounted
from kcheck.disk.tree import Tree, tree_of
from kcheck.errors import UsageError
from kcheck.model.remote_log import StoredEpochs, StoreObject
from kcheck.model.source import Source
from kcheck.model.unreadable import UnreadableError

_DEPTH_MAX = 8
_NOTHING_KNOWN = ". Without a complete listing no object is known to be missing"
_START, _PART = 64, 1 << 20
_MANIFEST_MAX = 16 << 20
_TOOLS = "aws s3 ls --recursive, s3cmd ls, gsutil ls -l, rclone lsl, find -printf, or S3 Inventory"
_NANOSECONDS = 1_000_000
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^ ]*")


def store_objects(place: str) -> Iterator[StoreObject]:
    """Yield the objects of a store.

    UsageError if the place does not exist, is no listing, or cannot be read completely. Only a complete listing proves
    that an object is missing.
    """
    with mounted([place], {}):  # Those of a URL that the command has mounted stay.
        yield from _objects(place)


def manifests(place: str) -> Iterator[tuple[str, Any]]:
    """Yield the keys of manifests of the Aiven plugin, each with its JSON, or None if it is invalid."""
    with mounted([place], {}):
        for key, size, _ in _objects(place):
            if key.endswith(f".{MANIFEST_SUFFIX}") and size <= _MANIFEST_MAX:
                try:
                    yield key, _json(tree_of(key).read_whole(key, size_max=_MANIFEST_MAX))
                except UnreadableError as error:
                    raise UsageError(f"{key}: {error}") from error
                except ValueError:
                    yield key, None


def epoch_indexes(place: str, segment_ids: Collection[str]) -> Iterator[tuple[str, StoredEpochs]]:
    """Yield the epoch indexes of segments by their ids, in LocalTieredStorage and in a store of the Aiven plugin.

    UsageError if the place is a listing, or if an object cannot be read.
    """
    with mounted([place], {}):
        if tree_of(place).exists(place) and not tree_of(place).is_directory(place):
            raise UsageError(f"{place}: a listing has no leader epochs; name the store")
        for key, _, _ in _objects(place):
            segment_id = segment_id_of(key)
            if segment_id is None or segment_id not in segment_ids:
                continue
            try:
                if is_in_table(key):
                    raise UsageError(f"{key}: kcheck does not read the leader epochs of the plugin's Iceberg mode")
                if key.endswith(".leader_epoch_checkpoint"):
                    yield segment_id, StoredEpochs(key, tree_of(key).read_whole(key, size_max=_MANIFEST_MAX))
                elif key.endswith(f".{MANIFEST_SUFFIX}"):
                    yield segment_id, _of_manifest(key)
            except UnreadableError as error:
                raise UsageError(f"{key}: {error}") from error


def _of_manifest(key: str) -> StoredEpochs:
    """Read the epoch index of a segment of the Aiven plugin."""
    try:
        place = epoch_index_in(_json(tree_of(key).read_whole(key, size_max=_MANIFEST_MAX)))
    except ValueError as error:
        raise UsageError(f"{key} is not a manifest of version 1") from error
    if place is None:
        return StoredEpochs(key, None)
    path = f"{key.removesuffix(MANIFEST_SUFFIX)}indexes"
    with tree_of(path).open(path, follow=True) as source:
        return StoredEpochs(path, source.pread(place.size, place.position))


def _objects(place: str) -> Iterator[StoreObject]:
    tree = tree_of(place)
    try:
        if not tree.exists(place):
            raise UsageError(f"{place}: no such file or directory")
        if tree.is_directory(place):
            yield from _below(tree, place, 0)
            return
        with tree.open(place, follow=True) as source:
            yield from _listed(place, source)
    except UnreadableError as error:
        raise UsageError(f"{place}: {error}{_NOTHING_KNOWN}") from error


def _listed(place: str, source: Source) -> Iterator[StoreObject]:
    """Yield the objects of a listing, of one JSON document or line by line."""
    start = source.pread(_START, 0).lstrip()[:1]
    if start == b"[" or (start == b"{" and not _is_json(next(_lines(source), ""))):
        try:
            yield from listed_in_json(_json(source.pread(source.size, 0)))
        except ValueError as error:
            raise UsageError(f"{place}: {error}") from error
        return
    is_listing = False
    if source.size and source.pread(1, source.size - 1) != b"\n":
        raise UsageError(f"{place}: ends within a line: the listing was cut{_NOTHING_KNOWN}")
    for line in _lines(source):
        for row in _objects_in(place, line):
            is_listing = True
            yield row
    if source.size and not is_listing:
        raise UsageError(f"{place}: no line is of {_TOOLS}")


def _json(text: bytes | str) -> Any:
    """Return a JSON document."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("JSON is nested too deeply") from error


def _is_json(line: str) -> bool:
    """Return True for a JSON document in one line, as mc ls --json writes."""
    try:
        _json(line)
    except ValueError:
        return False
    return True


def _objects_in(place: str, line: str) -> Iterator[StoreObject]:
    """Yield the objects in a line of a listing."""
    if not line.startswith("{"):
        row = listed_object(line)
        yield from () if row is None else (row,)
        return
    try:
        yield from listed_in_json(_json(line))
    except ValueError as error:
        raise UsageError(f"{place}: {error}") from error


def _lines(source: Source) -> Iterator[str]:
    """Yield the lines of a file, of which a part is held."""
    rest, at = b"", 0
    while data := source.pread(_PART, at):
        at += len(data)
        *lines, rest = (rest + data).split(b"\n")
        yield from (line.rstrip(b"\r").decode("utf-8", "surrogateescape") for line in lines)


def _modified_ms(state: object) -> int | None:
    """Return when a file was written, from its state (a number in ns in a folder, words in a store)."""
    if isinstance(state, int):
        return state // _NANOSECONDS
    time = _TIME.search(str(state))
    return None if time is None else time_ms(time[0])


def _below(tree: Tree, path: str, depth: int) -> Iterator[StoreObject]:
    if depth > _DEPTH_MAX:
        raise UsageError(f"{path}: more than {_DEPTH_MAX} folders deep{_NOTHING_KNOWN}")
    try:
        directories, states = tree.listing(path).directories, tree.states(path)
    except UnreadableError as error:
        raise UsageError(f"{path}: {error}{_NOTHING_KNOWN}") from error
    for name, mode, size, modified in states:
        if isinstance(mode, int) and stat.S_ISLNK(mode):
            raise UsageError(f"{join(path, name)}: a link, which kcheck does not follow{_NOTHING_KNOWN}")
        if name not in directories and not (isinstance(mode, int) and stat.S_ISDIR(mode)):
            yield StoreObject(join(path, name), size, _modified_ms(modified))
    for name in directories:
        yield from _below(tree, join(path, name), depth + 1)
