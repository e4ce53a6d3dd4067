"""The steps of a fleet scan on executors, as functions from Arrow batches to Arrow batches."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import accumulate, groupby
from operator import itemgetter
from socket import gethostname
from typing import TYPE_CHECKING, Any, Self

from kcheck.arrow import batch_of, to_bytes
from kcheck.disk.paths import absolute, is_url
from kcheck.disk.store import mounted
from kcheck.disk.tree import tree_of
from kcheck.errors import KcheckError
from kcheck.fleet.scan.cluster_metadata import ClusterCopies
from kcheck.fleet.scan.identify import Identified, identify
from kcheck.fleet.scan.inventory import FleetLogDir, Inventory
from kcheck.fleet.scan.releases import BrokerKafka, with_releases
from kcheck.fleet.scan.remembered import Notes, are_known
from kcheck.fleet.scan.replicas import replica_rows
from kcheck.fleet.scan.retry import MEMORY_MAX, Retry, where
from kcheck.fleet.scan.rows import findings_batch, log_dir_of, seen_of, tables_of
from kcheck.fleet.scan.steps import compare_partitions, list_items, scan_items
from kcheck.fleet.spark.executor_options import ExecutorOptions
from kcheck.fleet.spark.table_writer import TaskTables
from kcheck.fleet.spark.transport import (
    BEHIND,
    BROKERS,
    CLUSTERED,
    COMPARED,
    COPIED,
    IDENTIFIED,
    LISTED,
    SCANNED,
    WRITTEN_AT_ONCE,
    in_batches,
    of_tables,
    rows_batch,
    rows_of,
    task_number,
)
from kcheck.jobs.threads import Threads
from kcheck.jobs.workers import Limits, Workers
from kcheck.model.finding import Finding, Location
from kcheck.model.unreadable import UnreadableError
from kcheck.survey.rule_runner import all_rules

if TYPE_CHECKING:
    import pyarrow as pa

    Batches = Iterator[pa.RecordBatch]

_OF_SEGMENTS = ("replica_difference", "batch_records", "columnar_segment")
_DEEP = ("kcheck.survey.segment_scan", *(f"kcheck.segments.{name}" for name in _OF_SEGMENTS), "cramjam")
"""The modules that look into segments."""


def stores_of(log_dirs: Iterable[FleetLogDir | Identified]) -> tuple[str, ...]:
    """Return a URL in each store that log dirs are in."""
    urls = (log_dir.path for log_dir in log_dirs if is_url(log_dir.path))
    return tuple({tuple(url.split("/")[:3]): url for url in urls}.values())


def for_every_host(inventoried: Inventory) -> Inventory:
    """Return log dirs by paths for each host; existing ones must exist there too."""
    paths = [absolute(log_dir.path) for log_dir in inventoried.log_dirs]
    log_dirs = zip(inventoried.log_dirs, paths, strict=True)
    return inventoried._replace(
        log_dirs=tuple(
            log_dir._replace(path=path, is_there=tree_of(path).is_directory(path)) for log_dir, path in log_dirs
        )
    )


def as_text(value: FleetLogDir | Identified | ClusterCopies) -> str:
    """Return a log dir, or copies of metadata, as a text that is Unicode, whatever their paths are."""
    return json.dumps(value)


def identified(text: str) -> Identified:
    """Return the log dir that `as_text` wrote."""
    log_dir = Identified(*json.loads(text))
    return log_dir._replace(
        group=tuple(log_dir.group),  # type: ignore[arg-type]  # JSON has lists
        clues=tuple(tuple(clue) for clue in log_dir.clues),
        kafka=None if log_dir.kafka is None else BrokerKafka(*log_dir.kafka),
        clusters=tuple((path, cluster_id) for path, cluster_id in log_dir.clusters),
    )


def identified_of(
    log_dirs: Iterable[FleetLogDir], options: ExecutorOptions
) -> Iterator[tuple[FleetLogDir, Identified | Finding]]:
    """Yield the broker of each log dir, in their order, or a finding if it is unknown."""
    log_dirs = [*log_dirs]
    with Mounts() as mounts, workers_of(options) as workers:
        for log_dir in log_dirs:
            mounts.require(log_dir.path, is_there=log_dir.is_there)
        retry = Retry(workers, options.how)
        groups = ((log_dir, (retry.task(identify, log_dir, Location(log_dir=log_dir.path)),)) for log_dir in log_dirs)
        for log_dir, (answer,) in workers.run(groups, ahead=_ahead(options)):
            assert answer is not None
            yield log_dir, answer


def informed_of(
    log_dirs: Sequence[Identified], options: ExecutorOptions
) -> "tuple[list[Identified], list[tuple[str, pa.RecordBatch]]]":
    """Return log dirs with the facts of their clusters' metadata, and rows of tables."""
    rows: list[tuple[str, pa.RecordBatch]] = []
    log_dirs, how = with_releases(log_dirs, options.how)
    with workers_of(options) as workers:
        known = Retry(workers, how).with_metadata(log_dirs, lambda name, batch: rows.append((name, batch)))
    return known, rows


def identify_all(batches: "Batches", options: ExecutorOptions) -> "Batches":
    """Yield the broker of each log dir, or a finding if it is unknown."""
    named = [*rows_of(batches)]
    log_dirs = (FleetLogDir(*json.loads(row["text"])) for row in named)
    rows: list[tuple[Any, ...]] = []
    for row, (log_dir, answer) in zip(named, identified_of(log_dirs, options), strict=True):
        if isinstance(answer, Identified):
            rows.append((row["at"], as_text(answer), None))
        else:
            rows.append((row["at"], None, to_bytes(findings_batch((log_dir.cluster, log_dir.broker), (answer,)))))
    yield batch_of(rows, IDENTIFIED)


def read_copies(batches: "Batches", options: ExecutorOptions) -> "Batches":
    """Yield the copies of the metadata in log dirs."""
    rows: list[tuple[Any, ...]] = []
    with Mounts() as mounts, workers_of(options) as workers:
        for (row, log_dir), copy in Retry(workers, options.how).copies(_seen_here(batches, mounts)):
            failed = findings_batch((log_dir.cluster, log_dir.broker), (copy,)) if isinstance(copy, Finding) else None
            rows.append((row["at"], None if failed else copy, None if failed is None else to_bytes(failed)))
    yield batch_of(rows, COPIED)


def look_at_clusters(batches: "Batches", options: ExecutorOptions) -> "Batches":
    """Yield what the metadata of each cluster mean for its log dirs, and rows of tables."""
    with workers_of(options) as workers:

        def rows() -> Iterator[tuple[Any, ...]]:
            clusters = ((row, ClusterCopies(*json.loads(row["text"]))) for row in rows_of(batches))
            for (row, _), facts, tables in Retry(workers, options.how).clusters(clusters):
                yield (-1, 1, row["at"], 0, None if facts is None else json.dumps(facts), *of_tables({}, CLUSTERED))
                for piece, (name, batch) in enumerate(tables, start=1):
                    yield (-1, 1, row["at"], piece, None, *of_tables({name: batch}, CLUSTERED))

        yield from in_batches(rows(), CLUSTERED)


def list_all(batches: "Batches", options: ExecutorOptions) -> "Batches":
    """Yield the directories of each log dir in parts; the first row of a listed log dir has its name."""
    with Mounts() as mounts, workers_of(options) as workers:
        retry = Retry(workers, options.how)
        named = _seen_here(batches, mounts)
        groups = ((named_row, (retry.task(list_items, named_row[1], where(named_row[1])),)) for named_row in named)
        for (row, log_dir), (answer,) in workers.run(groups, ahead=_ahead(options)):
            key = (row["broker"], row["at"])
            if isinstance(answer, Finding):
                failed = findings_batch((log_dir.cluster, log_dir.broker), (answer,))
                yield rows_batch([(*key, 0, 0, None, 0, 0, None, failed)], LISTED)
                continue
            parts = answer or ()
            places = [*accumulate((count for count, _ in parts), initial=1)]
            first = (*key, 0, 0, row["text"], places[-1] - 1, 0, None, None)
            others = (
                (*key, at, 0, None, None, places[at - 1], items, None) for at, (_, items) in enumerate(parts, start=1)
            )
            yield from in_batches([first, *others], LISTED)


def scan_all(batches: "Batches", options: ExecutorOptions) -> "Batches":
    """Yield what was found in the directories of each part; the last row names the files that the task wrote."""
    number = str(task_number())
    with Mounts() as mounts, workers_of(options) as workers, Notes(options.how.memory, number) as notes:
        retry = Retry(workers, options.how)
        written = TaskTables(options.target)

        def tasks() -> Iterator[tuple[Mapping[str, Any], Any]]:
            for row in rows_of(batches):
                if row["items"] is None:
                    yield row, ()
                    continue
                log_dir = log_dir_of(row["items"])
                mounts.require(log_dir, is_there=True)  # It was listed.
                with suppress(UnreadableError):  # The next listing reports the error.
                    tree_of(log_dir).hold(log_dir)
                tasks = () if are_known(row["items"]) else (retry.task(scan_items, row["items"], Location()),)
                yield row, tasks

        def rows() -> Iterator[tuple[Any, ...]]:
            last, key = "", None
            for row, answers in workers.run(tasks(), ahead=_ahead(options)):
                key = (row["broker"], row["at"], row["part"])
                if row["items"] is None:
                    yield (*key, 0, row["text"], None, None, None, *of_tables({}, SCANNED))
                    continue
                log_dir = log_dir_of(row["items"])
                if log_dir != last:
                    tree_of(last).drop(last)
                    last = log_dir
                for piece, (name, batch) in enumerate(retry.scanned(row["items"], answers)):
                    tables, light = {name: batch}, None
                    if name == "directories":
                        notes.add(log_dir, batch)
                        tables, light = {"compared": replica_rows(batch), **tables_of(batch)}, to_bytes(seen_of(batch))
                        for at_once in WRITTEN_AT_ONCE:
                            written.write(at_once, tables.pop(at_once))
                    yield (*key, piece, None, None, None, light, *of_tables(tables, SCANNED))
            if key is not None:
                files = json.dumps([(name, *part) for name, part in written.parts()])
                yield (*key, 0, None, files, notes.carried, None, *of_tables({}, SCANNED))

        yield from in_batches(rows(), SCANNED)


def look_at_all(batches: "Batches", options: ExecutorOptions) -> "Batches":
    """Yield rows of tables for each broker. Its listed and seen rows come in the order of its keys."""
    with Mounts() as mounts, workers_of(options) as workers:
        retry = Retry(workers, options.how)

        def rows() -> Iterator[tuple[Any, ...]]:
            for broker, seen in groupby(rows_of(batches), key=itemgetter("broker")):
                log_dirs: list[tuple[Identified, list[bytes]]] = []
                for row in seen:
                    if row["text"] is not None:
                        log_dirs.append((_seen(row, mounts), []))
                    else:
                        log_dirs[-1][1].append(row["light"])
                for piece, (name, batch) in enumerate(retry.whole_broker(log_dirs)):
                    yield (broker, BEHIND, 0, piece, *of_tables({name: batch}, BROKERS))

        yield from in_batches(rows(), BROKERS)


def compare_all(batches: "Batches", options: ExecutorOptions) -> "Batches":
    """Yield rows of tables for partitions; the replicas of complete topics come sorted."""
    from kcheck.fleet.scan.replica_groups import grouped  # worth its import where partitions are compared

    number = task_number()
    import_module("kcheck.fleet.scan.comparison")  # as in `workers_of`
    with workers_of(options) as workers:
        retry = Retry(workers, options.how)

        def rows() -> Iterator[tuple[Any, ...]]:
            tasks = (
                (group, (retry.task(compare_partitions, to_bytes(group), Location()),)) for group in grouped(batches)
            )
            for part, (batch, (answer,)) in enumerate(workers.run(tasks, ahead=_ahead(options))):
                for piece, (name, table) in enumerate(retry.compared(batch, answer)):
                    yield (BEHIND, number, part, piece, *of_tables({name: table}, COMPARED))

        yield from in_batches(rows(), COMPARED)


class Mounts:
    """The log dirs that a task reads. This host sees each of them, also when the task ends."""

    def __init__(self) -> None:
        self._paths: dict[str, bool] = {}

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Look again, unless the task has failed; KcheckError as `require`. Then nothing counts that it has found."""
        for path, is_there in self._paths.items() if kind is None else ():
            require(path, is_there=is_there)

    def require(self, path: str, *, is_there: bool) -> None:
        """Raise KcheckError where a log dir that the driver sees is not mounted here."""
        require(path, is_there=is_there)
        self._paths[path] = is_there


def require(path: str, *, is_there: bool) -> None:
    """Raise KcheckError where a log dir is not mounted on this host: Spark then tries another one."""
    if is_there and not is_url(path) and not tree_of(path).is_directory(path):
        raise KcheckError(f"{gethostname()} does not see {path}: mount it on every host under this path")


def _seen_here(batches: "Batches", mounts: Mounts) -> Iterator[tuple[dict[str, Any], Identified]]:
    """Yield rows with their log dirs; this host must see the log dirs that the driver sees."""
    return ((row, _seen(row, mounts)) for row in rows_of(batches))


def _seen(row: Mapping[str, Any], mounts: Mounts) -> Identified:
    log_dir = identified(row["text"])
    mounts.require(log_dir.path, is_there=log_dir.is_there)
    return log_dir


def broker_rows(
    log_dirs: Sequence[Identified], options: ExecutorOptions, *, ends_broker: bool
) -> "Iterator[tuple[str, pa.RecordBatch]]":
    """Yield table names and rows for log dirs of one broker, and last the rows of the broker if `ends_broker`."""
    with Mounts() as mounts, workers_of(options) as workers:
        for log_dir in log_dirs:
            mounts.require(log_dir.path, is_there=log_dir.is_there)
        retry = Retry(workers, options.how)
        seen_by_log_dir: list[tuple[Identified, list[bytes]]] = []
        groups = (
            (listed_log_dir, (retry.task(list_items, listed_log_dir, where(listed_log_dir)),))
            for listed_log_dir in log_dirs
        )
        for log_dir, (listed,) in workers.run(groups, ahead=_ahead(options)):
            if isinstance(listed, Finding):
                yield "findings", findings_batch((log_dir.cluster, log_dir.broker), (listed,))
                continue
            seen: list[bytes] = []
            parts = ((items, (retry.task(scan_items, items, where(log_dir)),)) for _, items in listed or ())
            for items, (answer,) in workers.run(parts, ahead=_ahead(options)):
                for name, batch in retry.scanned(items, (answer,)):
                    yield from (tables_of(batch) if name == "directories" else {name: batch}).items()
                    if name == "directories" and ends_broker:
                        seen.append(to_bytes(seen_of(batch)))
            seen_by_log_dir.append((log_dir, seen))
        if ends_broker:
            yield from retry.whole_broker(seen_by_log_dir)


def _ahead(options: ExecutorOptions) -> int:
    return 2 * options.requests if options.urls else 2


@contextmanager
def workers_of(options: ExecutorOptions) -> Iterator[Workers | Threads]:
    """Give the workers for steps inside of one task (a process that may end, or threads for a store).

    The process is forked for each task. This process stays for the next task, so the fork has its imported modules.
    KcheckError if its output would stay on this host.
    """
    if options.shared is not None and not tree_of(options.shared).is_directory(options.shared):
        raise KcheckError(
            f"{gethostname()} does not see {options.shared}: all hosts need --output-dir below one path, or a URL"
        )
    all_rules()
    for name in _DEEP if options.how.depth.reads_segments else ():
        import_module(name)
    roots = (*options.urls, options.how.memory or "", options.how.since or "", options.target.folder)
    with mounted(roots, dict(options.options)):
        if options.urls:
            workers: Workers | Threads = Threads(options.requests, tick=lambda: None, seconds=options.seconds)
        else:
            limits = Limits(options.seconds, MEMORY_MAX)
            workers = Workers(1, limits=limits)
        with workers:
            yield workers
