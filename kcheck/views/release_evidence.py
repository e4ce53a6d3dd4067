"""Gathers evidence in log dirs for the release of their brokers. `core.releases` weighs it.

It reads the names in a log dir, three small files, a few partition directories, and the last part of the metadata log.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from kcheck.core.releases.release_evidence import (
    Clue,
    EvidenceKind,
    ReleaseRange,
    age,
    line_of_level,
    possible,
    registered,
)
from kcheck.core.start.remote_index_cache import is_cached_index, is_stranger_in_cache
from kcheck.disk.directory import Directory
from kcheck.disk.listing import Listing
from kcheck.disk.paths import join, split
from kcheck.disk.tree import Tree
from kcheck.formats import clean_shutdown, meta_properties
from kcheck.model.names import (
    CLEAN_SHUTDOWN,
    LOG_START,
    META_PROPERTIES,
    METADATA_DIRECTORY,
    OFFSET_CHECKPOINTS,
    REMOTE_INDEX_CACHE,
    DirectoryState,
    FileKind,
    is_stranger_in_log_dir,
    log_name,
    metadata_snapshots,
    parse_directory,
    segment_bases,
)
from kcheck.model.unreadable import UnreadableError
from kcheck.records import metadata_features
from kcheck.views.named_evidence import of_config
from kcheck.views.partition_evidence import of_coordinators, of_partitions, sample
from kcheck.views.settings_files import settings_path
from kcheck.views.targets import Target, TargetKind

_SMALL_SIZE_MAX = 1 << 20
_LOG_SIZE_MAX = 32 << 20
"""Size of the end of a metadata log that is read. A node takes a snapshot after 20 MiB of new records."""
_SNAPSHOT_SIZE_MAX = 4 << 20
"""A snapshot begins with the levels of features and the registrations of nodes."""
_ZERO_SNAPSHOT = f"{0:020d}-{0:010d}.checkpoint"
_PREVIEW_DIRECTORY = "@metadata-0"
_VERSION_1 = re.compile(rb'"data_version"\s*:\s*1\b')
_STATES = {
    DirectoryState.STRAY: EvidenceKind.STRAY,
    DirectoryState.FUTURE: EvidenceKind.FUTURE,
    DirectoryState.DELETED: EvidenceKind.DELETED,
}
_OF_BROKERS = (EvidenceKind.TRANSACTION_TOPIC, EvidenceKind.REMOTE_TOPIC, EvidenceKind.SHARE_TOPIC)
_TOPICS = {str(kind): kind for kind in _OF_BROKERS}


def release_ranges(targets: Iterable[Target], named: Sequence[Clue] = ()) -> tuple[ReleaseRange, ...]:
    """Return the releases that the files of each broker fit; empty for files outside of a log dir.

    Settings next to a log dir count like settings that name it. `named` comes from files that the user named, of the
    one broker, or of one of several.
    """
    by_broker: dict[object, dict[str, list[Clue]]] = {}
    for target in targets:
        for clues in _of_target(target):
            of_broker = by_broker.setdefault(clues.broker, {})
            of_broker.setdefault(clues.path, clues.clues)
            config = settings_path((target,)) if target.kind is TargetKind.LOG_DIR else target.config
            if config is not None and config not in of_broker:
                of_broker[config] = [*of_config(config, target.broker_id)]
    if named:
        only = next(iter(by_broker)) if len(by_broker) == 1 else None
        by_broker.setdefault(only, {})[""] = [*named]
    return tuple(possible(chain.from_iterable(of_paths.values())) for of_paths in by_broker.values())


def clues_of_log_dir(tree: Tree, path: str, broker_id: int | None) -> tuple[Clue, ...]:
    """Return the evidence in a log dir and the settings next to it.

    `broker_id` is the user's; None for its own.
    """
    target = Target(TargetKind.LOG_DIR, path, broker_id, tree=tree)
    config = settings_path((target,))
    of_files = chain.from_iterable(evidence.clues for evidence in _of_target(target))
    return (*of_files, *(() if config is None else of_config(config, broker_id)))


class _Clues(NamedTuple):
    """The evidence at a path, and a key that the log dirs of one broker share."""

    broker: object
    path: str
    clues: list[Clue]


def _of_target(target: Target) -> Iterator[_Clues]:
    path, tree = target.path, target.tree
    if target.kind is TargetKind.FILE:
        path = split(path)[0]
    if target.kind is not TargetKind.LOG_DIR and parse_directory(split(path)[1]) is not None:
        path, partition = split(path)[0], path
    else:
        partition = None
    try:
        listing = tree.listing(path, is_stranger_in_log_dir)
    except UnreadableError:
        return
    if target.kind is TargetKind.LOG_DIR or not {META_PROPERTIES, *OFFSET_CHECKPOINTS}.isdisjoint(listing.files):
        yield _of_log_dir(target, path, listing)
    elif partition is not None and split(partition)[1] == METADATA_DIRECTORY:
        clues = [Clue(EvidenceKind.METADATA_LOG, partition, target.broker_id)]
        yield _Clues(target.broker_id, partition, [*clues, *_of_metadata(tree, partition, target.broker_id)])
    elif partition is not None:
        yield _Clues(target.broker_id, partition, [*of_partitions(tree, [partition], target.broker_id)])


def _of_log_dir(target: Target, path: str, listing: Listing) -> _Clues:
    tree, files = target.tree, target.tree.directory(path)
    data = _small(files, META_PROPERTIES) if META_PROPERTIES in listing.files else None
    identity = None if data is None else meta_properties.parse(data).value
    own = None if identity is None else identity.broker_id
    broker_id = own if target.broker_id is None else target.broker_id
    cluster = None if identity is None else identity.properties.get("cluster.id")
    names = _named(tree, files, path, listing, broker_id)
    identified = () if identity is None or own is None else _identified(join(path, META_PROPERTIES), identity, own)
    clues = [*names, *identified]
    if METADATA_DIRECTORY in listing.directories:
        clues += _of_metadata(tree, join(path, METADATA_DIRECTORY), own)
    if not any(clue.evidence is EvidenceKind.REGISTRATION for clue in clues):
        partitions = sample(path, listing)
        inside = [*of_partitions(tree, partitions, broker_id)]
        clues += [*inside, *of_coordinators(tree, path, listing, broker_id)]
        if partitions and identity is not None and own is not None and identity.version == 0:
            clues += _absent(path, listing, inside, broker_id)
    return _Clues((target.config, cluster, path if broker_id is None else broker_id), path, clues)


def _named(tree: Tree, files: Directory, path: str, listing: Listing, broker_id: int | None) -> Iterator[Clue]:
    """Yield what the names in a log dir say, and the files that say more than their name."""
    parsed = [(name, directory) for name in listing.directories if (directory := parse_directory(name))]
    states = {directory.state: name for name, directory in parsed}
    topics = {directory.topic: name for name, directory in parsed if directory.topic in _TOPICS}
    yield from (Clue(_STATES[state], join(path, name), broker_id) for state, name in states.items() if state in _STATES)
    yield from (Clue(_TOPICS[topic], join(path, name), broker_id) for topic, name in topics.items())
    if METADATA_DIRECTORY in listing.directories:
        yield Clue(EvidenceKind.METADATA_LOG, join(path, METADATA_DIRECTORY), broker_id)
    if _PREVIEW_DIRECTORY in listing.directories:
        yield Clue(EvidenceKind.PREVIEW_LOG, join(path, _PREVIEW_DIRECTORY), broker_id)
    if REMOTE_INDEX_CACHE in listing.directories:
        cache = join(path, REMOTE_INDEX_CACHE)
        yield Clue(EvidenceKind.REMOTE_CACHE, cache, broker_id)
        yield from (
            Clue(EvidenceKind.REMOTE_INDEX, join(cache, name), broker_id) for name in _cached_indexes(tree, cache)
        )
    if FileKind.REMOTE_OFFSETS in listing.files:
        yield Clue(EvidenceKind.REMOTE_OFFSETS, join(path, FileKind.REMOTE_OFFSETS), broker_id)
    if LOG_START in listing.files:
        yield Clue(EvidenceKind.LOG_START, join(path, LOG_START), broker_id)
    if CLEAN_SHUTDOWN in listing.files and (marker := _small(files, CLEAN_SHUTDOWN)) is not None:
        if not marker:
            yield Clue(EvidenceKind.EMPTY_MARKER, join(path, CLEAN_SHUTDOWN), broker_id)
        elif clean_shutdown.parse(marker).value.broker_epoch is not None:
            yield Clue(EvidenceKind.BROKER_EPOCH, join(path, CLEAN_SHUTDOWN), broker_id)
    if FileKind.BOOTSTRAP in listing.files:
        where = join(path, FileKind.BOOTSTRAP)
        yield Clue(EvidenceKind.BOOTSTRAP, where, broker_id)
        for said in metadata_features.features(_small(files, FileKind.BOOTSTRAP) or b""):
            yield Clue(EvidenceKind.FEATURE_LEVEL, where, broker_id, first=line_of_level(said.highest))


def _cached_indexes(tree: Tree, cache: str) -> list[str]:
    """Return an index that a broker of 3.6 and later fetched, if there is one."""
    try:
        return [*filter(is_cached_index, tree.listing(cache, is_stranger_in_cache).files)][:1]
    except UnreadableError:
        return []


def _identified(path: str, identity: meta_properties.MetaProperties, broker_id: int) -> Iterator[Clue]:
    """Yield what a meta.properties says that names its node."""
    kraft, has_directory = identity.version > 0, "directory.id" in identity.properties
    yield Clue(EvidenceKind.NODE_ID if kraft else EvidenceKind.BROKER_ID, path, broker_id)
    if has_directory:
        yield Clue(EvidenceKind.DIRECTORY_ID, path, broker_id)
    else:
        yield Clue(EvidenceKind.NO_DIRECTORY_ID_IN_KRAFT if kraft else EvidenceKind.NO_DIRECTORY_ID, path, broker_id)
    if not kraft:
        has_cluster = "cluster.id" in identity.properties
        yield Clue(EvidenceKind.CLUSTER_ID if has_cluster else EvidenceKind.NO_CLUSTER_ID, path, broker_id)


def _absent(path: str, listing: Listing, there: Sequence[Clue], broker_id: int | None) -> Iterator[Clue]:
    """Yield what is absent from the partitions of a ZooKeeper broker."""
    if not any(clue.evidence in (EvidenceKind.TOPIC_ID, EvidenceKind.TIME_INDEX) for clue in there):
        yield Clue(EvidenceKind.NO_TIME_INDEX, path, broker_id)
    has_epochs = any(clue.evidence in (EvidenceKind.TOPIC_ID, EvidenceKind.LEADER_EPOCHS) for clue in there)
    if not has_epochs and LOG_START not in listing.files:
        yield Clue(EvidenceKind.NO_LEADER_EPOCHS, path, broker_id)


def _of_metadata(tree: Tree, path: str, node_id: int | None) -> Iterator[Clue]:
    """Yield the evidence in the metadata log about its own node, or about all nodes if its own is unknown."""
    files, level = tree.directory(path), None
    if (state := _small(files, FileKind.QUORUM_STATE)) and _VERSION_1.search(state):
        yield Clue(EvidenceKind.QUORUM_STATE, join(path, FileKind.QUORUM_STATE), node_id)
    if tree.exists(join(path, _ZERO_SNAPSHOT)):
        yield Clue(EvidenceKind.ZERO_SNAPSHOT, join(path, _ZERO_SNAPSHOT), node_id)
        if any(metadata_features.features(_small(files, _ZERO_SNAPSHOT) or b"")):
            yield Clue(EvidenceKind.ZERO_RECORDS, join(path, _ZERO_SNAPSHOT), node_id)
    nodes: dict[int, tuple[str, str]] = {}
    size, unread = 0, False
    for name, data, is_whole in _ends(files):
        size, unread = size + len(data), unread or not is_whole
        for said in metadata_features.features(data):
            if said.node_id is not None:
                nodes.setdefault(said.node_id, (registered(said.lowest, said.highest), join(path, name)))
            elif level is None:
                level = Clue(EvidenceKind.FEATURE_LEVEL, join(path, name), node_id, first=line_of_level(said.highest))
        if node_id in nodes:
            break
    if level is not None:
        yield level
    registrations = [nodes[node_id]] if node_id in nodes else nodes.values() if node_id is None else ()
    if registrations:
        (first, where), *_, (last, _) = sorted([*registrations, *registrations], key=lambda node: age(node[0]))
        yield Clue(EvidenceKind.REGISTRATION, where, node_id, first, last)
    elif size and level is None and not nodes and not unread:
        yield Clue(EvidenceKind.NO_METADATA_VERSION, path, node_id)


def _ends(files: Directory) -> Iterator[tuple[str, bytes, bool]]:
    """Yield the newest bytes of the log down to its newest snapshot, then the beginning of that snapshot.

    With each the name of the file, and whether the bytes are all of it.
    """
    try:
        sizes = files.entries().sizes
        snapshots = metadata_snapshots(sizes)
        end = snapshots[-1][1] if snapshots else 0
        left, following = _LOG_SIZE_MAX, None
        for base in reversed(segment_bases(sizes)):
            if left <= 0 or (following is not None and following <= end):
                break
            with files.open(log_name(base)) as source:
                count = min(left, source.size)
                yield log_name(base), source.pread(count, source.size - count), count == source.size
            left, following = left - count, base
        if snapshots:
            with files.open(snapshots[-1][2]) as source:
                yield snapshots[-1][2], source.pread(_SNAPSHOT_SIZE_MAX, 0), source.size <= _SNAPSHOT_SIZE_MAX
    except UnreadableError:
        return


def _small(files: Directory, name: str) -> bytes | None:
    """Return the bytes of a small file, None if it cannot be read."""
    try:
        return files.read_whole(name, _SMALL_SIZE_MAX)
    except UnreadableError:
        return None
