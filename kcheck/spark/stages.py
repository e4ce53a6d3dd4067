"""What executors run: the steps of a scan of a fleet, as functions from Arrow batches to Arrow batches.

Every row has a key, its place in the tables of the run: the numbers of its broker and log dir, of the part of the log
dir, of the piece of that part. What a step found stays Arrow as bytes, a column for each table, until the tables are
written: Spark moves it and looks into nothing.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import accumulate, groupby
from operator import itemgetter
from socket import gethostname
from typing import TYPE_CHECKING, Any, NamedTuple

from kcheck.disk.read import UnreadableError
from kcheck.disk.remote import is_url, mounted
from kcheck.disk.walk import drop_listing, hold_listing, is_directory
from kcheck.errors import KcheckError
from kcheck.model.finding import Finding, Location
from kcheck.model.report import Column
from kcheck.scan.arrow import batch_of, from_bytes, schema_of, to_bytes
from kcheck.scan.fleet.inventory import FleetLogDir
from kcheck.scan.fleet.local import THREADS
from kcheck.scan.fleet.memory import Notes
from kcheck.scan.fleet.replicas import replica_rows
from kcheck.scan.fleet.retry import MEMORY_MAX, Retry, where
from kcheck.scan.fleet.rows import findings_batch, log_dir_of, seen_of, tables_of
from kcheck.scan.fleet.stages import How, Identified, compare_partitions, identify, list_items, scan_items
from kcheck.scan.rules import all_rules
from kcheck.scan.threads import Threads
from kcheck.scan.workers import Limits, Workers

if TYPE_CHECKING:
    import pyarrow as pa

    Batches = Iterator[pa.RecordBatch]

KEY = tuple(
    Column(name, "int64", meaning)
    for name, meaning in (
        ("broker", "The number of the broker, -1 for what is of none."),
        ("at", "The number of the log dir, BEHIND for what is of the whole broker."),
        ("part", "The number of the part of the log dir."),
        ("piece", "The number of the piece of the part."),
    )
)
KEY_NAMES = tuple(column.name for column in KEY)
BEHIND = 1 << 40
"""What is of a whole broker stands behind its log dirs, what is of several brokers behind all of them."""
_FINDINGS = Column("findings", "bytes", "Rows of findings.")
_TOLD = Column("told", "string", "A log dir as JSON; None where its row is no first one.")

NAMED = (KEY[1], _TOLD)
"""Log dirs as the inventory names them."""
IDENTIFIED = (KEY[1], _TOLD, _FINDINGS)
NUMBERED = (*KEY[:2], _TOLD)
PLACED = (KEY[1], Column("place", "int64", "So many directories and log dirs stand before it."))
LISTED = (
    *KEY[:3],
    _TOLD,
    Column("whole", "int64", "Directories of the log dir; None where its row is no first one."),
    Column("before", "int64", "Its directories in parts before this one, and one for its first row."),
    Column("items", "bytes", "Items."),
    _FINDINGS,
)
"""The parts of log dirs; before them a row that has none, and tells what the log dir is."""
OF_SCANNED = ("partitions", "leader_epochs", "segments", "predictions")
"""Tables with rows of one directory; then of a partition on several brokers, and of a broker."""
OF_COMPARED = ("replica_sets", "truncation_plans")
OF_BROKER = ("checkpoints", "log_dirs", "predictions")

SCANNED = (
    *KEY,
    _TOLD,
    Column("carried", "int64", "So many directories are the same as before."),
    *(Column(name, "bytes", "Its rows.") for name in ("light", "replicas", *OF_SCANNED, "findings")),
)
BROKERS = (*KEY, *(Column(name, "bytes", "Its rows.") for name in (*OF_BROKER, "findings")))
COMPARED = (*KEY, *(Column(name, "bytes", "Its rows.") for name in (*OF_COMPARED, "findings")))

_OF_SCAN = ("deep", "segments.contents", "segments.records", "segments.whole")
_DEEP = (*(f"kcheck.scan.{name}" for name in _OF_SCAN), "cramjam")
"""What looks into segments."""
_HELD_SIZE = 8 << 20
"""So many bytes are passed on together."""


class Asked(NamedTuple):
    """How directories are looked at; one that takes more than `seconds` becomes a finding.

    `urls` are the stores that log dirs are in, of which so many `requests` are made at once; `options` are those of
    every file system. What is found is kept in the folder `memory`, if there is one. `shared` is a folder in that of
    the run, where Spark writes below it: an executor that does not see it would write for itself alone.
    """

    how: How
    seconds: float
    urls: tuple[str, ...] = ()
    options: tuple[tuple[str, object], ...] = ()
    requests: int = THREADS
    memory: str | None = None
    shared: str | None = None


def stores_of(log_dirs: Iterable[FleetLogDir | Identified]) -> tuple[str, ...]:
    """Return a URL in each store that log dirs are in."""
    urls = (each.path for each in log_dirs if is_url(each.path))
    return tuple({tuple(url.split("/")[:3]): url for url in urls}.values())


def told(value: FleetLogDir | Identified) -> str:
    """Return a log dir as a text that is Unicode, whatever its path is."""
    return json.dumps(value)


def identified(text: str) -> Identified:
    """Return what `told` wrote."""
    group, *rest = json.loads(text)
    return Identified(tuple(group), *rest)


def identified_of(log_dirs: Iterable[FleetLogDir], asked: Asked) -> Iterator[tuple[FleetLogDir, Identified | Finding]]:
    """Yield whose each log dir is, or the finding that nobody could tell, in the order of the log dirs."""
    with _workers(asked) as workers:
        retry = Retry(workers, asked.how)
        groups = ((each, (retry.task(identify, each, Location(log_dir=each.path)),)) for each in log_dirs)
        for log_dir, (answer,) in workers.run(groups, ahead=_ahead(asked)):
            assert answer is not None
            yield log_dir, answer


def identify_all(batches: "Batches", asked: Asked) -> "Batches":
    """Yield whose each log dir is, or the finding that nobody could tell."""
    named = [*_rows(batches)]
    log_dirs = (FleetLogDir(*json.loads(row["told"])) for row in named)
    rows: list[tuple[Any, ...]] = []
    for row, (log_dir, answer) in zip(named, identified_of(log_dirs, asked), strict=True):
        if isinstance(answer, Identified):
            rows.append((row["at"], told(answer), None))
        else:
            rows.append((row["at"], None, to_bytes(findings_batch((log_dir.cluster, log_dir.broker), (answer,)))))
    yield batch_of(rows, IDENTIFIED)


def list_all(batches: "Batches", asked: Asked) -> "Batches":
    """Yield the directories of each log dir in parts; the first row of a log dir that can be listed tells its name."""
    named = ((row, identified(row["told"])) for row in _rows(batches))
    with _workers(asked) as workers:
        retry = Retry(workers, asked.how)
        groups = ((each, (retry.task(list_items, each[1], where(each[1])),)) for each in named)
        for (row, log_dir), (answer,) in workers.run(groups, ahead=_ahead(asked)):
            key = (row["broker"], row["at"])
            if isinstance(answer, Finding):
                failed = to_bytes(findings_batch((log_dir.cluster, log_dir.broker), (answer,)))
                yield batch_of([(*key, 0, None, 0, 0, None, failed)], LISTED)
                continue
            parts = answer or ()
            places = [*accumulate((count for count, _ in parts), initial=1)]
            first = (*key, 0, row["told"], places[-1] - 1, 0, None, None)
            others = (
                (*key, at, None, None, places[at - 1], items, None) for at, (_, items) in enumerate(parts, start=1)
            )
            yield from _in_batches([first, *others], LISTED)


def scan_all(batches: "Batches", asked: Asked) -> "Batches":
    """Yield what was found in the directories of each part: rows of tables, and what the look at its broker needs."""
    with _workers(asked) as workers, Notes(asked.memory, str(_task_number())) as notes:
        retry = Retry(workers, asked.how)

        def tasks() -> Iterator[tuple[Mapping[str, Any], Any]]:
            for row in _rows(batches):
                if row["items"] is None:
                    yield row, ()
                    continue
                with suppress(UnreadableError):  # Who lists it next tells why it cannot be listed.
                    hold_listing(log_dir_of(row["items"]))
                yield row, (retry.task(scan_items, row["items"], Location()),)

        def rows() -> Iterator[tuple[Any, ...]]:
            last = ""
            for row, answers in workers.run(tasks(), ahead=_ahead(asked)):
                key = (row["broker"], row["at"], row["part"])
                if row["items"] is None:
                    *others, _ = _as_bytes({}, SCANNED)
                    yield (*key, 0, row["told"], 0, *others, row["findings"])
                    continue
                log_dir = log_dir_of(row["items"])
                if log_dir != last:
                    drop_listing(last)
                    last = log_dir
                for piece, (name, batch) in enumerate(retry.scanned(row["items"], *answers)):
                    found, before = {name: batch}, notes.carried
                    if name == "replicas":
                        notes.add(log_dir, batch)
                        found = {"light": seen_of(batch), "replicas": replica_rows(batch), **tables_of(batch)}
                    yield (*key, piece, None, notes.carried - before, *_as_bytes(found, SCANNED))

        yield from _in_batches(rows(), SCANNED)


def _task_number() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def look_at_all(batches: "Batches", asked: Asked) -> "Batches":
    """Yield rows of tables for each broker; what was listed and seen of one comes in the order of its keys."""
    with _workers(asked) as workers:
        retry = Retry(workers, asked.how)

        def rows() -> Iterator[tuple[Any, ...]]:
            for broker, seen in groupby(_rows(batches), key=itemgetter("broker")):
                found: list[tuple[Identified, list[bytes]]] = []
                for row in seen:
                    if row["told"] is not None:
                        found.append((identified(row["told"]), []))
                    else:
                        found[-1][1].append(row["light"])
                for piece, (name, batch) in enumerate(retry.whole_broker(found)):
                    yield (broker, BEHIND, 0, piece, *_as_bytes({name: batch}, BROKERS))

        yield from _in_batches(rows(), BROKERS)


def compare_all(batches: "Batches", asked: Asked) -> "Batches":
    """Yield rows of tables for partitions; the replicas of whole topics come sorted."""
    from kcheck.scan.fleet.groups import grouped  # worth its import where partitions are compared

    number = _task_number()
    import_module("kcheck.scan.fleet.cross")  # as in `_workers`
    with _workers(asked) as workers:
        retry = Retry(workers, asked.how)

        def rows() -> Iterator[tuple[Any, ...]]:
            tasks = ((each, (retry.task(compare_partitions, to_bytes(each), Location()),)) for each in grouped(batches))
            for part, (batch, (answer,)) in enumerate(workers.run(tasks, ahead=_ahead(asked))):
                for piece, (name, found) in enumerate(retry.compared(batch, answer)):
                    yield (BEHIND, number, part, piece, *_as_bytes({name: found}, COMPARED))

        yield from _in_batches(rows(), COMPARED)


def broker_rows(log_dirs: Sequence[Identified], asked: Asked, *, whole: bool) -> "Iterator[tuple[str, pa.RecordBatch]]":
    """Yield names of tables and rows of them for log dirs of one broker; those of the broker if it is `whole`."""
    with _workers(asked) as workers:
        retry = Retry(workers, asked.how)
        found: list[tuple[Identified, list[bytes]]] = []
        groups = ((each, (retry.task(list_items, each, where(each)),)) for each in log_dirs)
        for log_dir, (listed,) in workers.run(groups, ahead=_ahead(asked)):
            if isinstance(listed, Finding):
                yield "findings", findings_batch((log_dir.cluster, log_dir.broker), (listed,))
                continue
            seen: list[bytes] = []
            parts = ((items, (retry.task(scan_items, items, where(log_dir)),)) for _, items in listed or ())
            for items, (answer,) in workers.run(parts, ahead=_ahead(asked)):
                for name, batch in retry.scanned(items, answer):
                    yield from (tables_of(batch) if name == "replicas" else {name: batch}).items()
                    if name == "replicas" and whole:
                        seen.append(to_bytes(seen_of(batch)))
            found.append((log_dir, seen))
        if whole:
            yield from retry.whole_broker(found)


def opened(batches: "Batches") -> "Batches":
    """Yield the rows that the last column holds as bytes."""
    for outer in batches:
        yield from opened_column(outer.column(outer.num_columns - 1))


def opened_column(column: "pa.BinaryArray") -> "Batches":
    """Yield the rows that a column holds as bytes."""
    for data in column.drop_null():
        yield from from_bytes(data.as_buffer())


def _ahead(asked: Asked) -> int:
    return 2 * asked.requests if asked.urls else 2


@contextmanager
def _workers(asked: Asked) -> Iterator[Workers | Threads]:
    """Give what runs the steps inside of one task: a process that may end, or threads that wait for a store.

    The process is forked for each task. It has what was imported before: this process stays for the next task.
    KcheckError where what it writes would stay on this host.
    """
    if asked.shared is not None and not is_directory(asked.shared):
        raise KcheckError(f"{gethostname()} does not see {asked.shared}: all hosts need --out below one path, or a URL")
    all_rules()
    for name in _DEEP if asked.how.depth.reads_segments else ():
        import_module(name)
    with mounted([*asked.urls, asked.memory or "", asked.how.since or ""], dict(asked.options)):
        if asked.urls:
            workers: Workers | Threads = Threads(asked.requests, tick=lambda: None, seconds=asked.seconds)
        else:
            limits = Limits(asked.seconds, MEMORY_MAX)
            workers = Workers(1, limits=limits)
        with workers:
            yield workers


def _rows(batches: "Batches") -> Iterator[dict[str, Any]]:
    for batch in batches:
        yield from batch.to_pylist()


def _as_bytes(found: "Mapping[str, pa.RecordBatch]", columns: Sequence[Column]) -> tuple[bytes | None, ...]:
    """Return the columns of rows; None where nothing was found."""
    names = [column.name for column in columns if column.type == "bytes"]
    assert found.keys() <= {*names}
    rows = (found.get(name) for name in names)
    return tuple(None if each is None else to_bytes(each) for each in rows)


def _in_batches(rows: Iterable[tuple[Any, ...]], columns: Sequence[Column]) -> "Batches":
    """Yield rows in batches of bounded size."""
    held: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        held.append(row)
        size += sum(len(value) for value in row if isinstance(value, bytes))
        if size >= _HELD_SIZE:
            yield batch_of(held, columns)
            held, size = [], 0
    if held:
        yield batch_of(held, columns)


def ddl(columns: Iterable[Column]) -> str:
    """Return columns as Spark declares them."""
    return ddl_of(schema_of(columns))


def ddl_of(schema: "pa.Schema") -> str:
    """Return Arrow columns as Spark declares them."""
    return ", ".join(f"`{field.name}` {_declared(field.type)}" for field in schema)


def _declared(kind: "pa.DataType") -> str:
    import pyarrow as pa

    if pa.types.is_list(kind):
        return f"array<{_declared(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return "struct<" + ", ".join(f"`{field.name}`: {_declared(field.type)}" for field in kind) + ">"
    names = {"int64": "bigint", "bool": "boolean", "timestamp[us, tz=UTC]": "timestamp"}
    return names.get(str(kind), str(kind))
