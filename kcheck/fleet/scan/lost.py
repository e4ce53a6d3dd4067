"""Finds the parts that a run lacks, by an earlier run or by metadata, and clusters with one cluster id."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from kcheck.core.cluster.quorum import Quorum
from kcheck.errors import KcheckError
from kcheck.fleet.lost import (
    RegisteredLogDirs,
    Values,
    absent_by_settings,
    is_empty_row,
    lost_since,
    registered_log_dirs,
    shared_brokers,
    shared_clusters,
)
from kcheck.fleet.run import BrokerKey, FleetRun, open_run, run_directories, run_in, written_run
from kcheck.fleet.run_output import RunOutput
from kcheck.fleet.went_back import went_back
from kcheck.model.finding import Finding, Location
from kcheck.model.lost import Lost, LostKind, RunView
from kcheck.model.names import META_PROPERTIES
from kcheck.model.release import Release
from kcheck.model.unreadable import Unreadable, UnreadableCause
from kcheck.model.views import LogDir
from kcheck.rules import kc001_unreadable
from kcheck.survey.rule_runner import check_run

_LOOKED_AT = 20
"""Earlier runs that are asked for their ROOTs."""


def is_empty(log_dir: LogDir) -> bool:
    """Return whether a log dir that could be listed has neither meta.properties nor a partition directory."""
    view = log_dir.view
    has_identity = META_PROPERTIES in view.files or META_PROPERTIES in view.unread
    return not (log_dir.unlisted or log_dir.directories or log_dir.links or has_identity)


def empty_findings(opened: Sequence[LogDir], known: Sequence[Finding], release: Release) -> Iterator[Finding]:
    """Yield a finding for each empty log dir of a broker of which no other finding tells that."""
    explained = {finding.where.log_dir for finding in known}
    for log_dir in opened:
        where = log_dir.view.where
        if is_empty(log_dir) and where.log_dir not in explained:
            yield from check_run(Lost(LostKind.EMPTY, where.broker_id, where.log_dir), release)


def broker_findings(quorum: Quorum, seen: set[int], release: Release) -> Iterator[Finding]:
    """Yield a finding for each broker with replicas of which no log dir was `seen`."""
    replicas = Counter(number for *_, partition in quorum.newest.image.partitions() for number in partition.replicas)
    for number, count in sorted(replicas.items()):
        if number not in seen:
            yield from check_run(Lost(LostKind.BROKER, number, source=quorum.newest.path, counted=count), release)


class Earlier(NamedTuple):
    """The run to compare with, and the runs that cannot be read."""

    run: FleetRun | None
    """None for a first scan."""
    unreadable: tuple[tuple[str, str], ...] = ()
    """The directories of these runs with their errors. One may be the run to compare with."""


def previous(out: str, roots: Sequence[str], since: str | None, written: FleetRun) -> Earlier:
    """Return the run to compare with, from `since`, or else the newest below `out` with the same ROOTs.

    The second choice is the newest with the same layouts below other folders, and an id in common with `written`.
    """
    if since is not None:
        return Earlier(open_run(since))
    runs: list[FleetRun] = []
    unreadable: list[tuple[str, str]] = []
    for path in run_directories(out):
        try:
            run = run_in(path)
            if run is not None:
                runs.append(run)
        except KcheckError as error:
            unreadable.append((path, str(error)))
    form, ids = _form(roots), _ids(written)
    other: FleetRun | None = None
    for run in sorted(runs, key=lambda run: (run.ended or 0, run.path), reverse=True)[:_LOOKED_AT]:
        try:
            named = _roots(run)
            if named == [*roots]:
                return Earlier(run, tuple(unreadable))
            if other is None and form is not None and form == _form(named) and not ids.isdisjoint(_ids(run)):
                other = run
        except KcheckError as error:
            unreadable.append((run.path, str(error)))
    return Earlier(other, tuple(unreadable))


def _roots(run: FleetRun) -> list[str]:
    rows = (json.loads(roots) for (roots,) in run.values("runs", ("roots",)) if roots is not None)
    return [str(root) for row in rows for root in row]


def _form(roots: Sequence[str]) -> list[str] | None:
    """Return the layouts without the folder above their first placeholder; None for ROOTs without {cluster}."""
    return sorted(root[root.index("{") :] for root in roots) if all("{cluster}" in root for root in roots) else None


def _ids(run: FleetRun) -> set[str]:
    """Return the ids of the clusters and log dirs of a run."""
    rows = run.values("log_dirs", ("cluster_id", "directory_id"))
    return {number for row in rows for number in row if number is not None}


def lost_findings(
    output: RunOutput, before: FleetRun, release: Release, *, partitions: bool
) -> Iterator[tuple[BrokerKey, Finding]]:
    """Yield what the run that is being written lacks of an earlier one, and its older replicas."""
    try:
        written = written_run(output, TABLES)
        missing: Iterable[tuple[BrokerKey, RunView]] = lost_since(before, written, partitions=partitions)
        for place, view in chain(missing, went_back(before, written)):
            for finding in check_run(view, release):
                yield place, finding
    except KcheckError as error:
        yield (None, None), not_compared(before.path, str(error))


def not_compared(path: str, error: str) -> Finding:
    """Return the finding about an earlier run that cannot be read."""
    why = Unreadable(UnreadableCause.REFUSED, f"the earlier run is not compared: {error}")
    return kc001_unreadable.finding(Location(file=path), why)


TABLES = ("log_dirs", "partitions", "clusters", "cluster_brokers", "cluster_partitions", "findings", "premises")
"""The tables that name missing log dirs."""


class MissingLogDirs(NamedTuple):
    """The log dirs that a run lacks by its own tables."""

    registered: tuple[RegisteredLogDirs, ...]
    """By the registrations of brokers."""
    by_settings: frozenset[Values]
    """By settings, as cluster, broker and path."""


def missing_log_dirs(run: FleetRun) -> MissingLogDirs:
    """Return the log dirs that the metadata or the settings of its brokers name, and that a run lacks."""
    return MissingLogDirs(tuple(registered_log_dirs(run)), frozenset(absent_by_settings(run)))


def unscanned_findings(
    run: FleetRun, lacking: MissingLogDirs, earlier: Iterable[tuple[BrokerKey, Finding]], release: Release
) -> Iterator[tuple[BrokerKey, Finding]]:
    """Yield the registered log dirs that the run lacks, and clusters and brokers with one id.

    Findings in `earlier`, and premises, name some of these log dirs by their paths already.
    """
    named = {(place[0], finding.data["directory_id"]) for place, finding in earlier}
    by_settings = Counter((cluster, broker) for cluster, broker, _ in lacking.by_settings)
    for row in lacking.registered:
        missing = tuple(number for number in row.missing if (row.cluster, number) not in named)
        if row.is_seen and len(missing) > by_settings[row.cluster, row.broker]:
            lost = Lost(LostKind.REGISTERED, row.broker_id, counted=row.known, names=missing)
            for finding in check_run(lost, release):
                yield (row.cluster, row.broker), finding
    for shared in shared_clusters(run):
        for finding in check_run(shared, release):
            yield from (((name, None), finding) for name in shared.clusters)
    for cluster, twin in shared_brokers(run):
        for finding in check_run(twin, release):
            yield from (((cluster, name), finding) for name in twin.brokers)


def lost_counts(
    run: FleetRun, lacking: MissingLogDirs, earlier: Iterable[tuple[BrokerKey, Finding]]
) -> tuple[int, int]:
    """Return the numbers of empty and of missing log dirs in the run, each counted once.

    `earlier` are the findings about log dirs of the earlier run that this one lacks.
    """
    empty, unnamed, missing, by_settings = 0, Counter[str | None](), Counter[str | None](), Counter[str | None]()
    columns = ("cluster", "directory_id", "cluster_id", "directories", "problem")
    for cluster, directory_id, cluster_id, directories, problem in run.values("log_dirs", columns):
        unnamed[cluster] += directory_id is None
        empty += problem is None and is_empty_row(directory_id, cluster_id, directories)
    named = set[tuple[object, ...]]()
    for row in lacking.registered:
        missing[row.cluster] += len(row.missing)
        named.update((row.cluster, number) for number in row.missing)
    for cluster, _, path in lacking.by_settings:
        by_settings[cluster] += 1
        named.add((cluster, path))
    known = (missing - unnamed) | by_settings
    more = sum(
        (place[0], finding.data["directory_id"]) not in named and (place[0], finding.where.log_dir) not in named
        for place, finding in earlier
    )
    return empty, known.total() + more
