"""Reads the facts for the premises of a next start (the settings, log dirs and metadata of one broker)."""

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from typing import TypeGuard

from kcheck.core.cluster.copies import LostCopy, MetadataCopy, decides_alone, newest_copy
from kcheck.core.premises.addresses import registered_addresses
from kcheck.core.premises.facts import (
    BrokerFacts,
    KeylessLog,
    LogDirFacts,
    LogFacts,
    NodeAddresses,
    VoterList,
    enables_migration,
)
from kcheck.core.premises.listeners import addresses_of, listening_ports
from kcheck.core.start.meta_properties import names_nothing
from kcheck.core.start.node_settings import ids_of_voters, stated_id
from kcheck.core.start.startup import Mode, mode_of
from kcheck.disk.paths import absolute, is_absolute, join, split
from kcheck.disk.rights import process_limits
from kcheck.disk.tree import real_path, tree_of
from kcheck.formats.offset_checkpoint import OffsetCheckpoint
from kcheck.model.cluster import ClusterImage
from kcheck.model.java import java_int
from kcheck.model.names import (
    CLEAN_SHUTDOWN,
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    RECOVERY_POINT,
    REPLICATION_OFFSET,
    TopicPartition,
)
from kcheck.model.premises import PremiseEvidence
from kcheck.model.release import Release
from kcheck.model.rights import ProcessLimits
from kcheck.model.views import LogDir
from kcheck.model.zookeeper_metadata import ZookeeperCopy
from kcheck.views.host_facts import is_its_host, stopped_at, stores_of, with_rights, with_volumes, written_at
from kcheck.views.log_dir import LogDirs
from kcheck.views.settings_files import beside
from kcheck.views.targets import (
    Target,
    TargetKind,
    log_dirs_in,
    read_properties,
    refused_line_of,
    relative_bases,
    written_log_dirs,
)

_VOTERS = "controller.quorum.voters"
_UPWARDS = re.compile(r"(?:\.\.?/)*")
"""The part of a relative path that leads nowhere, or upwards."""


def broker_facts(
    targets: tuple[Target, ...], log_dirs: LogDirs, *, config: str | None,
    copies: Mapping[str, tuple[MetadataCopy, ...]], zookeeper: ZookeeperCopy | None,
    clusters: tuple[PremiseEvidence, ...], lost_copies: tuple[LostCopy, ...] = (), written: Mapping[str, int] | None,
    logs: tuple[LogFacts, ...] = (), keyless_logs: tuple[KeylessLog, ...] | None = None, sees_host: bool = True,
    without: frozenset[str] = frozenset(), added: frozenset[str] = frozenset(),
    planned: Mapping[int, Mapping[str, str]] = {}, mode: Mode | None = None, defined: frozenset[str] = frozenset(),
) -> BrokerFacts:  # fmt: skip
    """Return the facts of the broker of all these targets; `config` is the server.properties of `--config`.

    `written` are the bytes that the broker adds to each log dir, by real path; None if its machine is another one. With
    `sees_host` owners and modes of files are looked at. `without` are given up in log.dirs. `added` are log dirs that
    it will name, the metadata log's first. A plan changes `planned` settings. `mode`: what its cluster shows.
    """
    given = {target.tree.real(target.path): target for target in targets if target.kind is TargetKind.LOG_DIR}
    path, settings, every, is_elsewhere = _settings(targets, given, config, planned)
    named = [] if is_elsewhere else [place for place in every if place not in without]
    broker_id = next((target.broker_id for target in targets if target.broker_id is not None), None)
    paths = {real_path(place): place for place in named} | {place: target.path for place, target in given.items()}
    added = frozenset(map(real_path, added))
    may_differ = config is not None or is_elsewhere or not every
    loaded = _loaded({*map(real_path, every), *added}, given, may_differ=may_differ)
    opened = [*_opened(paths, broker_id, log_dirs, loaded=loaded, given=given)]
    brought = [place for place, (row, _) in zip(paths, opened, strict=True) if place in added and row.has_metadata_log]
    near = _beside(every, given, broker_id, log_dirs) if is_elsewhere and _are_moved(every, given) else ()
    facts = (*_on_host(opened, written, sees_host=sees_host), *near)
    ids = {row.identity["cluster.id"] for row in facts if row.identity and "cluster.id" in row.identity}
    is_led = _is_led_by_zookeeper(settings, zookeeper, log_dirs.release)
    of_cluster = [] if is_led else [copy for cluster in sorted(ids) for copy in copies.get(cluster, ())]
    own = _own(facts, settings or {}) if broker_id is None else broker_id
    (image, image_path), controllers = _deciding(of_cluster, zookeeper), _of_controllers(of_cluster, own)
    asked_at = None if zookeeper is None or own is None else zookeeper.metadata.asked_at.get(own)
    return BrokerFacts(
        broker_id=own,
        release=log_dirs.release,
        mode=_mode(settings, facts, log_dirs.release, of_cluster=mode),
        log_dirs=facts if _registered_at(zookeeper, own) is asked_at is None else tuple(map(_with_times, facts)),
        config=settings,
        config_path=path,
        defined=defined,
        refused_line=None if path is None else refused_line_of(path),
        doubled=tuple(_doubled(settings or {}, every)),
        elsewhere=tuple(every) if is_elsewhere and are_missed(settings or {}, every, given) else (),
        begins_in=_base(path, every) if path in (config, targets[0].config) else None,
        begins_too=_other_base(path) if path in (config, targets[0].config) else None,
        stores=None if written is None else stores_of(settings or {}, every, given),
        metadata_log_dir=None if settings is None else metadata_log_dir(settings, [*brought, *named], paths),
        is_complete=bool(every and not is_elsewhere) or all(target.folder is not None for target in given.values()),
        clusters=clusters,
        logs=logs,
        keyless_logs=keyless_logs,
        copies=tuple(of_cluster),
        lost_copies=tuple(map(_placed, lost_copies)),
        image=image,
        image_path=image_path,
        is_expected=_is_expected(copies, zookeeper, own),
        chroot=zookeeper.metadata.chroot if _has_topics(zookeeper) else None,
        registered_at=_registered_at(zookeeper, own),
        asked_at=asked_at,
        created_at={} if zookeeper is None else zookeeper.metadata.created_at,
        closed_session=zookeeper is not None and own in zookeeper.metadata.closed,
        elected=next((copy.elected for copy in of_cluster if copy.node_id == own and copy.elected is not None), None),
        voter_lists=tuple(_voter_lists(controllers)),
        stopped=_stopped(controllers, _foreign(copies, ids, clusters), own),
        controller_ports={number: listening_ports(said) for number, (_, said) in controllers.items()},
        controller_config=next((said for _, said in controllers.values()), None),
        addresses=tuple(_addresses(image, zookeeper, controllers)),
        limits=ProcessLimits() if written is None or not any(row.rights for row in facts) else process_limits(),
    )


def _addresses(
    image: ClusterImage | None,
    zookeeper: ZookeeperCopy | None,
    controllers: Mapping[int, tuple[str, Mapping[str, str]]],
) -> Iterator[NodeAddresses]:
    """Yield the addresses that nodes registered, and those in the settings of controllers."""
    if image is not None:
        yield from registered_addresses(image, {} if zookeeper is None else zookeeper.metadata.endpoints)
    for number, (path, said) in controllers.items():
        yield NodeAddresses(number, addresses_of(said), path)


def _is_led_by_zookeeper(settings: Mapping[str, str] | None, zookeeper: ZookeeperCopy | None, release: Release) -> bool:
    """Return whether a broker obeys the given ZooKeeper alone.

    The migration to KRaft was given up then, and old copies of its metadata count for nothing.
    """
    if settings is None or zookeeper is None or not release.may_migrate_to_kraft:
        return False
    return not settings.get("process.roles", "").strip() and not enables_migration(settings)


def _own(facts: Iterable[LogDirFacts], settings: Mapping[str, str]) -> int | None:
    """Return the node of log dirs, or else of the settings; None without one."""
    stated = (*(row.node_id for row in facts), stated_id(settings))
    return next((number for number in stated if number is not None), None)


def _registered_at(zookeeper: ZookeeperCopy | None, own: int | None) -> int | None:
    """Return the last registration of a broker at ZooKeeper, in ms since 1970; None if not known."""
    return None if zookeeper is None or own is None else zookeeper.metadata.registered_at.get(own)


def _with_times(row: LogDirFacts) -> LogDirFacts:
    """Return a log dir with the times of its clean stop and of its newest checkpoint."""
    return row._replace(stopped_at=stopped_at(row.path) if row.clean else None, written_at=written_at(row.path))


def _on_host(
    opened: Iterable[tuple[LogDirFacts, tuple[str, ...]]], written: Mapping[str, int] | None, *, sees_host: bool
) -> tuple[LogDirFacts, ...]:
    """Return the log dirs with the missing rights of the user, and with their volumes."""
    facts = with_rights(opened) if sees_host else tuple(row for row, _ in opened)
    return facts if written is None else tuple(with_volumes(facts, written))


def _settings(
    targets: Iterable[Target],
    given: Mapping[str, Target],
    config: str | None,
    planned: Mapping[int, Mapping[str, str]],
) -> tuple[str | None, Mapping[str, str] | None, list[str], bool]:
    """Return the path of the settings of a broker, them, their log dirs, and whether all of these are elsewhere.

    Such settings are next to other log dirs of the node.
    """
    asked = next((target.config for target in targets if target.config is not None), config)
    path = asked or beside(given)
    if path is None:
        return None, None, [], False
    settings = read_properties(path)
    every = log_dirs_in(tree_of(path), path, settings)
    is_here = any(real_path(place) in given or tree_of(place).exists(place) for place in every)
    numbers = {target.broker_id for target in targets}
    changed = next((changes for number, changes in planned.items() if number in numbers), {})
    return path, _as_planned(settings, changed), every, asked is None and bool(every) and not is_here


def _as_planned(settings: Mapping[str, str], changed: Mapping[str, str]) -> Mapping[str, str]:
    """Return settings with the values that a plan changes; an empty value removes one."""
    return {name: value for name, value in {**settings, **changed}.items() if value or name not in changed}


def _base(path: str | None, every: Iterable[str]) -> str | None:
    """Return the folder with the relative log dirs; None if that is the working directory."""
    if path is None or tree_of(path).is_bundle:
        return None
    pairs = zip(written_log_dirs(read_properties(path)), every, strict=True)
    return next((place.removesuffix(written) for written, place in pairs if place != written), None)


def _other_base(path: str | None) -> str | None:
    """Return the second folder with relative log dirs of these settings; None without one.

    Folders above a working directory with log dirs do not count.
    """
    if path is None or tree_of(path).is_bundle:
        return None
    bases = [*relative_bases(tree_of(path), path, written_log_dirs(read_properties(path)))]
    here = absolute(".")
    if bases[:1] == [""]:
        bases = [base for base in bases if absolute(base or ".").startswith(here)]
    return next((absolute(base or ".") for base in bases[1:]), None)


def are_missed(settings: Mapping[str, str], places: Iterable[str], given: Iterable[str]) -> bool:
    """Return whether the broker may miss the listed log dirs, because no given one can be a copy of them.

    On the broker's own host an absolute path does not change.
    """
    is_absent = any(map(is_absolute, places)) and is_its_host(settings)
    return is_absent or not _are_moved(places, given)


def _are_moved(places: Iterable[str], given: Iterable[str]) -> bool:
    """Return whether the given log dirs can be the listed ones, copied or mounted somewhere else.

    A relative path leads to each from a directory above. An absolute path ends in the name of one.
    """
    ends = tuple(map(_end_of, places))
    return all(place.endswith(ends) for place in given)


def _end_of(place: str) -> str:
    """Return the end of the path that copies and mounts of a listed log dir keep."""
    return "/" + (split(place)[1] if is_absolute(place) else _UPWARDS.sub("", place, count=1).rstrip("/"))


def _beside(
    places: Iterable[str], given: Mapping[str, Target], broker_id: int | None, log_dirs: LogDirs
) -> Iterator[LogDirFacts]:
    """Yield the listed log dirs that are not given, where a given log dir of their folder is."""
    places = tuple(places)
    for place in places:
        folder, name = split(place)
        beside_it = tuple(_end_of(other) for other in places if split(other)[0] == folder)
        folders = {split(target.path)[0]: target.tree for real, target in given.items() if real.endswith(beside_it)}
        for here, tree in folders.items():
            path = join(here, name)
            if not tree.exists(path):
                yield LogDirFacts(path, is_there=False, is_given=False, listed=place)
            elif tree.real(path) not in given:
                yield _log_dir(path, broker_id, log_dirs, is_given=False)[0]


def _voter_lists(settings: Mapping[int, tuple[str, Mapping[str, str]]]) -> Iterator[VoterList]:
    """Yield the controller.quorum.voters of controllers."""
    for number, (path, said) in settings.items():
        voters = ids_of_voters(said.get(_VOTERS, ""))
        if voters:
            yield VoterList(number, path, voters)


def _stopped(
    controllers: Mapping[int, tuple[str, Mapping[str, str]]], foreign: list[MetadataCopy], own: int | None
) -> frozenset[int]:
    """Return the controllers given next to the broker that do not start, or do not answer its cluster."""
    settings = {**controllers, **_of_controllers(foreign, own)}
    return frozenset((*_of_another_disk(settings), *_of_another_cluster(foreign, own)))


def _of_another_disk(settings: Mapping[int, tuple[str, Mapping[str, str]]]) -> Iterator[int]:
    """Yield the controllers whose settings lead to another node's disk, and that node. Neither starts."""
    for number, (_, said) in settings.items():
        named = java_int(said.get("node.id", "").strip())
        if named not in (None, number):
            yield from (named, number)


def _foreign(
    copies: Mapping[str, tuple[MetadataCopy, ...]], own: Container[str], clusters: Iterable[PremiseEvidence]
) -> list[MetadataCopy]:
    """Return the copies that the user names for the broker's cluster, but that belong to another one."""
    named = {evidence.path for evidence in clusters}
    return [copy for cluster, rows in copies.items() if cluster not in own for copy in rows if copy.path in named]


def _of_another_cluster(copies: Iterable[MetadataCopy], own: int | None) -> Iterator[int]:
    """Yield the controllers whose disk has another cluster id. The others answer them INCONSISTENT_CLUSTER_ID."""
    for copy in copies:
        if copy.node_id is not None and copy.node_id != own:
            yield copy.node_id


def _of_controllers(copies: Iterable[MetadataCopy], own: int | None) -> dict[int, tuple[str, Mapping[str, str]]]:
    """Return the settings next to the copies of other controllers, with their paths, by node."""
    settings: dict[int, tuple[str, Mapping[str, str]]] = {}
    for copy in copies:
        if copy.node_id is not None and copy.node_id != own:
            place = split(copy.path)[0]
            target = Target(TargetKind.LOG_DIR, place, copy.node_id, tree=tree_of(place))
            path = beside({target.tree.real(place): target})
            said = {} if path is None else read_properties(path)
            if path is not None and not copy.voters.isdisjoint((copy.node_id, stated_id(said))):
                settings[copy.node_id] = path, said
    return settings


def _placed(copy: LostCopy) -> LostCopy:
    """Return a log dir without metadata log, with the settings next to it."""
    tree = tree_of(copy.path)
    path = beside({tree.real(copy.path): Target(TargetKind.LOG_DIR, copy.path, copy.node_id, tree=tree)})
    if path is None:
        return copy
    settings = read_properties(path)
    named = log_dirs_in(tree_of(path), path, settings)
    expected = metadata_log_dir(settings, named, {real_path(place): real_path(place) for place in named})
    number = java_int(settings.get("node.id", "").strip()) if copy.node_id is None else copy.node_id
    return copy._replace(node_id=number, is_place=expected == tree.real(copy.path))


def _deciding(copies: list[MetadataCopy], zookeeper: ZookeeperCopy | None) -> tuple[ClusterImage | None, str | None]:
    """Return the metadata that decides, of the newest copy or in ZooKeeper, with its path; None without any."""
    newest = newest_copy(tuple(copies))
    if newest is not None and decides_alone(newest, None if zookeeper is None else zookeeper.metadata.image):
        return newest.image, newest.path
    return (None, None) if zookeeper is None else (zookeeper.metadata.image, zookeeper.path)


def _is_expected(
    copies: Mapping[str, tuple[MetadataCopy, ...]], zookeeper: ZookeeperCopy | None, own: int | None
) -> bool | None:
    """Return whether the only given cluster knows a broker; None without metadata or id."""
    known = [*filter(None, map(newest_copy, copies.values()))]
    images = [copy.image for copy in known] if known or zookeeper is None else [zookeeper.metadata.image]
    if own is None or len(images) != 1:
        return None
    return own in images[0].brokers or any(own in partition.replicas for *_, partition in images[0].partitions())


def _doubled(settings: Mapping[str, str], every: Iterable[str]) -> Iterator[str]:
    """Yield the entries of log.dirs and metadata.log.dir that are other paths of earlier ones.

    Brokers with ZooKeeper do not read metadata.log.dir. KRaft nodes look for the metadata log in every other path
    (KafkaRaftServer.initializeLogDirs 3.3 to 4.3.1).
    """
    of_metadata = settings.get("metadata.log.dir", "").strip() if not settings.get("process.roles", "").strip() else ""
    seen = set()
    for place in every:
        real = real_path(place)
        if real in seen and place != of_metadata:
            yield place
        seen.add(real)


def _has_topics(zookeeper: ZookeeperCopy | None) -> TypeGuard[ZookeeperCopy]:
    """Return whether the files of a ZooKeeper server have topics."""
    return zookeeper is not None and zookeeper.names_all and bool(zookeeper.metadata.image.topics)


def metadata_log_dir(settings: Mapping[str, str], named: list[str], paths: Mapping[str, str]) -> str | None:
    """Return the log dir for the metadata log, which is metadata.log.dir, or else the first of log.dirs."""
    own = settings.get("metadata.log.dir", "").strip()
    of_setting = (place for place in reversed(named) if place == own or place.endswith(f"/{own}"))
    place = next(of_setting if own else iter(named), None)
    return None if place is None else paths[real_path(place)]


def _loaded(listed: set[str], given: Collection[str], *, may_differ: bool) -> set[str]:
    """Return the log dirs that the broker loads; the given ones too if the settings may be of other paths."""
    return {*listed, *given} if may_differ and listed.isdisjoint(given) else listed


def _opened(
    paths: Mapping[str, str],
    broker_id: int | None,
    log_dirs: LogDirs,
    *,
    loaded: Container[str],
    given: Container[str],
) -> Iterator[tuple[LogDirFacts, tuple[str, ...]]]:
    """Yield log dirs, by real path. `loaded` are the log dirs of the broker, `given` the arguments."""
    for place, path in paths.items():
        yield _log_dir(path, broker_id, log_dirs, is_named=place in loaded, is_given=place in given)


def _log_dir(
    path: str, broker_id: int | None, log_dirs: LogDirs, *, is_named: bool = True, is_given: bool = True
) -> tuple[LogDirFacts, tuple[str, ...]]:
    """Return a log dir, and the names of its partition directories."""
    tree = tree_of(path)
    log_dir = log_dirs.open(Target(TargetKind.LOG_DIR, path, broker_id, tree=tree))
    if log_dir.unlisted is not None and not tree.exists(path):
        resolved = absolute(path) if not (tree.is_remote or is_absolute(path)) else None
        return LogDirFacts(path, is_there=False, is_given=is_given, resolved=resolved), ()
    file = log_dir.view.files.get(META_PROPERTIES)
    entries = {} if file is None else file.parsed.value.properties
    facts = LogDirFacts(
        path,
        is_given=is_given,
        is_named=is_named,
        is_readable=log_dir.unlisted is None and META_PROPERTIES not in log_dir.view.unread,
        identity=None if names_nothing(entries) else entries,
        directories=tuple(directory for _, directory in log_dir.directories),
        has_files=bool(log_dir.view.files),
        left=_left(log_dir),
        was_used=not {CLEAN_SHUTDOWN, *OFFSET_CHECKPOINTS}.isdisjoint(log_dir.view.files),
        clean=log_dir.view.clean_shutdown,
        shutdown_epoch=log_dir.view.shutdown_epoch,
    )
    return facts, tuple(name for name, _ in log_dir.directories)


def _left(log_dir: LogDir) -> frozenset[TopicPartition]:
    """Return the partitions that a checkpoint lists, and that have no directory in the log dir."""
    here = {(directory.topic, directory.partition) for _, directory in log_dir.directories}
    files = (log_dir.view.files.get(name) for name in (REPLICATION_OFFSET, RECOVERY_POINT))
    values = (None if file is None else file.parsed.value for file in files)
    rows = (
        row
        for value in values
        if isinstance(value, OffsetCheckpoint)
        for row in zip(value.topics, value.partitions, strict=True)
    )
    return frozenset(TopicPartition(*row) for row in rows if row not in here)


def _mode(
    settings: Mapping[str, str] | None, log_dirs: Iterable[LogDirFacts], release: Release, *, of_cluster: Mode | None
) -> Mode:
    """Return the place of the cluster's metadata.

    The settings come first, then the version of meta.properties, then the rest of the cluster.
    """
    if settings is not None and release.has_kraft and not release.is_kraft_only:
        return Mode.KRAFT if settings.get("process.roles", "").strip() else Mode.ZOOKEEPER
    versions = (java_int(row.identity.get("version", "")) for row in log_dirs if row.identity is not None)
    configured = Mode.KRAFT if release.is_kraft_only else None if release.has_kraft else Mode.ZOOKEEPER
    return mode_of(configured, next(versions, None), release, of_cluster)
