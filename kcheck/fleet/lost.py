"""The parts of an earlier run that a run lacks (log dirs, and partition directories of present log dirs).

Both runs have their rows broker by broker. Mostly the order is the same, so that few brokers are in memory at once.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby, zip_longest
from typing import Any, NamedTuple, TypeVar

from kcheck.core.premises.mounts import DISKS_MOUNTED
from kcheck.core.premises.presence import LOG_DIRS_THERE
from kcheck.disk.paths import split
from kcheck.fleet.run import BrokerKey, FleetRun, data_of, name_order, open_run
from kcheck.model.cluster import is_reserved
from kcheck.model.finding import Severity
from kcheck.model.lost import Lost, LostKind, SharedBroker, SharedCluster
from kcheck.model.names import DirectoryState
from kcheck.model.premises import PremiseStatus
from kcheck.words import partition_name

RULE = "KC505"
"""The rule that reports it."""
UNREAD = ("KC000", "KC001")
"""The rules that report files and directories that could not be read."""
_MISSING = {(LOG_DIRS_THERE, str(PremiseStatus.REFUTED)), (DISKS_MOUNTED, str(PremiseStatus.NOT_SEEN))}
"""The judgements that name a missing log dir, or an empty one."""
_SHOWN_COUNT = 20
"""Partitions that a finding names."""

Values = tuple[Any, ...]
"""Values of columns. A finding is the columns of its table, then the identity of its log dir."""
Identities = Mapping[Values, str]
"""The name of a log dir in every run, by cluster, broker and path."""
NumberedTopic = tuple[str, int]
"""A topic, and the number of a partition."""
_Held = TypeVar("_Held", set[Any], dict[Any, Any])


def identities_of(run: FleetRun) -> Identities:
    """Return the name of each log dir, whatever its mount point.

    The name is its directory id, if it has one. Otherwise the only log dir of a broker has an empty name. Of several
    log dirs the last part of the path counts if it is unique, and otherwise the path.
    """
    of_broker: dict[Values, list[tuple[str, str | None]]] = defaultdict(list)
    columns = ("cluster", "broker", "log_dir", "directory_id")
    for cluster, broker, log_dir, directory_id in run.values("log_dirs", columns):
        of_broker[cluster, broker].append((log_dir or "", directory_id))
    identities: dict[Values, str] = {}
    for broker_key, log_dirs in of_broker.items():
        names = [directory_id or split(path)[1] for path, directory_id in log_dirs]
        counts = Counter(names)
        for (path, directory_id), name in zip(log_dirs, names, strict=True):
            alone = "" if len(log_dirs) == 1 and directory_id is None else name
            identities[*broker_key, path] = alone if counts[name] == 1 else path
    return identities


def is_empty_row(directory_id: str | None, cluster_id: str | None, directories: int | None) -> bool:
    """Return whether a row of the table `log_dirs` is of an empty log dir. Its disk may not be mounted."""
    return not directories and (directory_id or cluster_id) is None


class _RunLogDir(NamedTuple):
    """A log dir of a run."""

    broker_id: int | None
    path: str
    directory_id: str | None
    directories: int
    is_empty: bool


def _log_dirs(run: FleetRun) -> dict[Values, _RunLogDir]:
    """Return the log dirs of a run by cluster, broker and identity."""
    identities = identities_of(run)
    names = ("cluster", "broker", "log_dir", "broker_id", "directory_id", "directories", "cluster_id")
    return {
        (cluster, broker, identities[cluster, broker, path or ""]): _RunLogDir(
            broker_id, path or "", directory_id, count or 0, is_empty_row(directory_id, cluster_id, count)
        )
        for cluster, broker, path, broker_id, directory_id, count, cluster_id in run.values("log_dirs", names)
    }


def absent_by_settings(run: FleetRun) -> set[Values]:
    """Return cluster, broker and path of log dirs that settings list, and that are missing or empty by a premise."""
    there = {path for (path,) in run.values("log_dirs", ("log_dir",))}
    columns = ("cluster", "broker", "log_dir", "id", "status")
    return {
        (cluster, broker, path)
        for cluster, broker, path, premise, status in run.values("premises", columns)
        if (premise, status) in _MISSING and path is not None and path not in there
    }


class RegisteredLogDirs(NamedTuple):
    """The log dirs that a broker registered with its cluster, if the run lacks some."""

    cluster: str | None
    broker: str | None
    broker_id: int
    known: int
    missing: tuple[str, ...]
    """The ids that no log dir of the run has. A log dir without an id can be any of its broker."""
    is_seen: bool
    """True if the run has a log dir of the broker."""


def registered_log_dirs(run: FleetRun) -> Iterator[RegisteredLogDirs]:
    """Yield the brokers whose registration names log dirs that the run lacks."""
    ids, unnamed, seen = set[Values](), Counter[Values](), set[Values]()
    columns = ("cluster", "broker", "broker_id", "directory_id")
    for cluster, broker, broker_id, directory_id in run.values("log_dirs", columns):
        ids.add((cluster, directory_id))
        seen.add((cluster, broker_id))
        unnamed[cluster, broker] += directory_id is None
    of_broker = ("cluster", "broker", "broker_id", "log_dirs", "replicas")
    for cluster, broker, broker_id, log_dirs, replicas in run.values("cluster_brokers", of_broker):
        registered = json.loads(log_dirs) if log_dirs is not None and replicas else ()
        known = [number for number in registered if not is_reserved(number)]
        missing = [number for number in known if (cluster, number) not in ids]
        if len(missing) > unnamed[cluster, broker]:
            is_seen = (cluster, broker_id) in seen
            yield RegisteredLogDirs(cluster, broker, broker_id, len(known), tuple(missing), is_seen)


def not_reached(run: FleetRun) -> tuple[str, ...]:
    """Return the log dirs that a run should have and could not look at, by their known paths."""
    return tuple(dict.fromkeys(name for _, name, _ in _not_reached(run)))


def not_reached_of(run: FleetRun, cluster: str | None) -> tuple[str, ...]:
    """Return the paths of log dirs that can be of a cluster."""
    rows = () if run.finished else _paths_not_reached(run.path, run.ended)
    return tuple(dict.fromkeys(path for name, path in rows if name in (None, cluster)))


@lru_cache(maxsize=1)  # Each cluster of a run asks.
def _paths_not_reached(path: str, _: int | None) -> tuple[tuple[str | None, str], ...]:
    return tuple((cluster, name) for cluster, name, is_path in _not_reached(open_run(path)) if is_path)


def _not_reached(run: FleetRun) -> Iterator[tuple[str | None, str, bool]]:
    """Yield cluster, path and True of each log dir; other words and False without a known path."""
    rows = [*run.values("log_dirs", ("cluster", "log_dir", "problem", "directory_id", "cluster_id", "directories"))]
    there = {path for _, path, *_ in rows}
    for cluster, path, problem, *facts in rows:
        if path and (problem is not None or is_empty_row(*facts)):
            yield cluster, path, True
    columns = ("cluster", "broker", "broker_id", "log_dir", "dir", "id", "severity", "data")
    for cluster, broker, broker_id, path, directory, rule, severity, data in run.values("findings", columns):
        if rule == RULE and severity == Severity.ERROR:
            known: Any = data_of(data) or {}
            ids = known.get("partitions") or ()
            label = f"of {broker}" if broker != str(broker_id) else f"of broker {broker_id}"
            names = [path] if path else [f"{number} {label}" for number in ids] or [f"all {label}"]
            yield from ((cluster, name, bool(path)) for name in names)
        elif rule in UNREAD and path and path not in there and directory is None:
            yield cluster, path, True
    yield from ((cluster, path, True) for cluster, _, path in sorted(absent_by_settings(run), key=str))


class LostPlace(NamedTuple):
    """The parts of a broker, or of a cluster, that a run lacks."""

    cluster: str | None
    broker: str | None
    """None if the run has no log dir of the cluster."""
    log_dirs: int
    """The log dirs of the earlier run that are missing or empty."""
    partitions: int
    """The partitions with a missing replica, at least."""


def lost_places(run: FleetRun) -> tuple[LostPlace, ...]:
    """Return the parts that findings name as lost, first complete clusters."""
    there = {cluster for (cluster,) in run.values("log_dirs", ("cluster",))}
    log_dirs, partitions = Counter[BrokerKey](), Counter[BrokerKey]()
    for cluster, broker, rule, severity, text in run.values(
        "findings", ("cluster", "broker", "id", "severity", "data")
    ):
        data: Any = data_of(text) if rule == RULE and severity == Severity.ERROR else None
        if isinstance(data, dict):
            log_dirs[cluster, broker] += data["kind"] in (LostKind.LOG_DIR, LostKind.EMPTY)
            partitions[cluster, broker] += data["count"] * (data["kind"] in (LostKind.LOG_DIR, LostKind.BROKER))
    places: dict[BrokerKey, LostPlace] = {}
    for (cluster, broker), count in log_dirs.items():
        key = (cluster, broker if cluster in there else None)
        known = places.get(key, LostPlace(*key, 0, 0))
        # The same partition can have replicas on several of these brokers.
        places[key] = LostPlace(*key, known.log_dirs + count, max(known.partitions, partitions[cluster, broker]))
    return tuple(sorted(places.values(), key=lambda place: (place.broker is not None, *map(name_order, place[:2]))))


def shared_clusters(run: FleetRun) -> Iterator[SharedCluster]:
    """Yield the cluster ids that log dirs of several clusters have."""
    names: dict[str, dict[str, None]] = defaultdict(dict)
    for cluster, cluster_id in run.values("log_dirs", ("cluster", "cluster_id")):
        if cluster is not None and cluster_id is not None:
            names[cluster_id][cluster] = None
    yield from (SharedCluster(cluster_id, (*of_id,)) for cluster_id, of_id in names.items() if len(of_id) > 1)


def shared_brokers(run: FleetRun) -> Iterator[tuple[str | None, SharedBroker]]:
    """Yield the broker ids that several brokers of one cluster have, by the name of the cluster."""
    names: dict[tuple[str | None, str | None, int], dict[str, None]] = defaultdict(dict)
    for cluster, cluster_id, broker_id, broker in run.values(
        "log_dirs", ("cluster", "cluster_id", "broker_id", "broker")
    ):
        if broker_id is not None and broker is not None:
            names[cluster, cluster_id, broker_id][broker] = None
    for (cluster, _, broker_id), brokers in names.items():
        if len(brokers) > 1:
            yield cluster, SharedBroker(broker_id, (*brokers,))


def lost_since(before: FleetRun, after: FleetRun, *, partitions: bool) -> Iterator[tuple[BrokerKey, Lost]]:
    """Yield what `after` lacks of `before`, by broker; partitions only if both runs looked at all of them."""
    was, now = _log_dirs(before), _log_dirs(after)
    paths, known_paths = ({known.path for known in rows.values()} for rows in (now, was))
    # A log dir at another path is the same one; the clone of a cluster was there before.
    moved = {(cluster, row.directory_id) for (cluster, *_), row in now.items() if row.path not in known_paths}
    gone: dict[Values, Lost] = {}
    for (cluster, broker, identity), known in was.items():
        if not known.is_empty and (cluster, broker, identity) not in now:
            gone[cluster, broker, known.path] = Lost(
                LostKind.LOG_DIR, known.broker_id, known.path, known.directory_id, before.name, known.directories
            )
    for place, lost in _still_lost(before):
        gone.setdefault((*place, lost.log_dir), lost)
    for (cluster, broker, path), lost in sorted(gone.items(), key=lambda row: tuple(map(name_order, row[0]))):
        if path not in paths and (lost.directory_id is None or (cluster, lost.directory_id) not in moved):
            yield (cluster, broker), lost
    if partitions:
        yield from _partitions(before, after, {key[:2] for key in now}, {key[2] for key in gone})


def _still_lost(before: FleetRun) -> Iterator[tuple[BrokerKey, Lost]]:
    """Yield the log dirs that the earlier run lacked already."""
    for cluster, broker, broker_id, path, rule, data in before.values(
        "findings", ("cluster", "broker", "broker_id", "log_dir", "id", "data")
    ):
        known: Any = data_of(data) if rule == RULE else None
        if isinstance(known, dict) and known.get("kind") == LostKind.LOG_DIR:
            yield (
                (cluster, broker),
                Lost(LostKind.LOG_DIR, broker_id, path, known["directory_id"], known["source"], known["count"]),
            )


def _partitions(
    before: FleetRun, after: FleetRun, brokers: set[Values], lost_log_dirs: set[Any]
) -> Iterator[tuple[BrokerKey, Lost]]:
    """Yield partitions that a broker had and lacks, if they are assigned to it, or have fewer replicas than before."""
    gone: dict[BrokerKey, set[NumberedTopic]] = {}
    moved: Counter[Values] = Counter()
    groups = _by_broker(before, lost_log_dirs, current=True), _by_broker(after, set(), current=False)
    for place, was, now in side_by_side(*groups, set):
        if place in brokers and was - now:
            gone[place] = was - now
        moved.update((place[0], *partition) for partition in now - was)
    if not gone:
        return
    for cluster, broker in [*gone]:
        for partition in sorted(gone[cluster, broker]):
            if moved[cluster, *partition]:
                moved[cluster, *partition] -= 1
                gone[cluster, broker].discard(partition)
    ids = {(cluster, broker): known.broker_id for (cluster, broker, _), known in _log_dirs(after).items()}
    assigned = _assigned(after, gone)
    with_metadata = {cluster for (cluster,) in after.values("clusters", ("cluster",))}
    for (cluster, broker), absent in sorted(gone.items(), key=lambda row: tuple(map(name_order, row[0]))):
        broker_id = ids[cluster, broker]
        missing = sorted(
            row for row in absent
            if cluster not in with_metadata or broker_id in assigned.get((cluster, *row), ())
        )  # fmt: skip
        if missing:
            names = tuple(partition_name(*row) for row in missing[:_SHOWN_COUNT])
            yield (cluster, broker), Lost(LostKind.PARTITIONS, broker_id, None, None, before.name, len(missing), names)


def _assigned(after: FleetRun, gone: Mapping[BrokerKey, Iterable[NumberedTopic]]) -> dict[Values, list[int]]:
    """Return the replicas of these partitions according to the metadata."""
    wanted = {(cluster, *partition) for (cluster, _), missing in gone.items() for partition in missing}
    columns = ("cluster", "topic", "partition", "replicas")
    return {
        (cluster, topic, number): json.loads(replicas)
        for cluster, topic, number, replicas in after.values("cluster_partitions", columns)
        if (cluster, topic, number) in wanted
    }


def side_by_side(
    before: Iterable[tuple[BrokerKey, _Held]], after: Iterable[tuple[BrokerKey, _Held]], empty: Callable[[], _Held]
) -> Iterator[tuple[BrokerKey, _Held, _Held]]:
    """Yield the values of each broker in both runs, sets or mappings; `empty` makes one without any."""
    was: dict[BrokerKey, _Held] = {}
    now: dict[BrokerKey, _Held] = {}
    for pair in zip_longest(before, after):
        for own, other, group in zip((was, now), (now, was), pair, strict=True):
            if group is None:
                continue
            place, values = group
            own.setdefault(place, empty()).update(values)
            if place in other:
                yield place, was.pop(place), now.pop(place)
    for place in (*was, *now):
        yield place, was.get(place, empty()), now.get(place, empty())


def _by_broker(run: FleetRun, without: set[Any], *, current: bool) -> Iterator[tuple[BrokerKey, set[NumberedTopic]]]:
    rows = run.values("partitions", ("cluster", "broker", "log_dir", "topic", "partition", "state"))
    for place, group in groupby(rows, key=lambda row: row[:2]):
        yield (
            (place[0], place[1]),
            {
                (topic, number)
                for _, _, path, topic, number, state in group
                if path not in without and (state == DirectoryState.CURRENT or not current) and topic is not None
            },
        )
