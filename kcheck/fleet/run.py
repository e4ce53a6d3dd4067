"""A run that `fleet scan` wrote, read again: which one to read, and its tables, batch by batch."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kcheck.arrow import schema_of
from kcheck.disk.output import reading
from kcheck.disk.paths import join
from kcheck.disk.tree import tree_of
from kcheck.errors import KcheckError, UsageError
from kcheck.fleet.run_output import MANIFEST, RunOutput, run_tables
from kcheck.model.report import Row
from kcheck.model.unreadable import UnreadableError
from kcheck.views.targets import unusable

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA = "kcheck.run/1"
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MANIFEST_SIZE_MAX = 64 << 20
_NEEDED = frozenset({"findings", "log_dirs", "partitions"})
"""Every run has these tables."""
_BATCH_COUNT = 16_384
_HELD_COUNT, _HELD_CLUSTERS = 20_000, 500
"""Replicas and clusters whose rows are kept in memory at once, at most."""
"""Rows that are held at once."""
_BAD = ("fatal", "error")
BrokerKey = tuple[str | None, str | None]
"""Cluster and broker."""
WantedRows = Mapping[str, frozenset[Any]]
"""The wanted values of some columns. Row groups without any of them are not read."""


class RunFile(NamedTuple):
    """A file of a table, with its path, number of rows, and bytes."""

    path: str
    rows: int
    size: int


class FleetRun(NamedTuple):
    """A complete run, as its manifest says. `started` and `ended` are ms since 1970; None if the manifest has none."""

    path: str
    name: str
    kcheck: str
    kafka: str
    depth: str
    started: int | None
    ended: int | None
    finished: bool
    parts: Mapping[str, Sequence[RunFile]]

    def rows(self, table: str) -> int:
        """Return the number of rows of a table; none if the run does not have it."""
        return sum(part.rows for part in self.parts.get(table, ()))

    def batches(self, table: str, columns: Sequence[str], cluster: str | None = None) -> "Iterator[pa.RecordBatch]":
        """Yield the rows of a table with these columns; columns unknown to an old run are null.

        With `cluster` only its rows, if cluster is a column. Parts of files without them are not read. KcheckError if a
        file is corrupt.
        """
        wanted: WantedRows = {} if cluster is None else {"cluster": frozenset((cluster,))}
        for part in self.parts.get(table, ()):
            for batch in part_batches(part, table, columns, wanted):
                yield batch if cluster is None or "cluster" not in columns else _of_cluster(batch, cluster)

    def values(self, table: str, columns: Sequence[str], cluster: str | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table as values, these columns of it; see `batches`."""
        for batch in self.batches(table, columns, cluster):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


class _HeldRun(FleetRun):
    """A run with the rows of some clusters in memory. The first question about a table reads these rows."""

    clusters: frozenset[str] = frozenset()
    tables: dict[str, list[Any]]

    def batches(self, table: str, columns: Sequence[str], cluster: str | None = None) -> "Iterator[pa.RecordBatch]":
        """Yield the rows of a table, as any run does."""
        if cluster not in self.clusters:
            yield from super().batches(table, columns, cluster)
            return
        if table not in self.tables:
            self.tables[table] = [*self._read(table)]
        for batch in self.tables[table]:
            rows = _of_cluster(batch, cluster)
            if rows.num_rows:
                yield rows.select(columns)

    def _read(self, table: str) -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa
        from pyarrow import compute

        columns, names = [column.name for column in run_tables()[table].run_columns], pa.array(sorted(self.clusters))
        for part in self.parts.get(table, ()):
            for batch in part_batches(part, table, columns, {"cluster": self.clusters}):
                rows = batch.filter(compute.is_in(batch.column("cluster"), names))
                if rows.num_rows:
                    yield rows


def holding(run: FleetRun, clusters: Iterable[str | None]) -> Iterator[tuple[FleetRun, str | None]]:
    """Yield each cluster, with a run that holds its rows. The rows of several small clusters are read at once.

    A question about a cluster reads its row groups, which have other clusters too.
    """
    sizes = Counter(cluster for (cluster,) in run.values("replicas", ("cluster",)))
    group, size = list[str](), 0
    for cluster in clusters:
        if cluster is None or sizes[cluster] > _HELD_COUNT:
            yield run, cluster
            continue
        if size + sizes[cluster] > _HELD_COUNT or len(group) == _HELD_CLUSTERS:
            yield from _held(run, group)
            group, size = [], 0
        group.append(cluster)
        size += sizes[cluster]
    yield from _held(run, group)


def _held(run: FleetRun, clusters: Sequence[str]) -> Iterator[tuple[FleetRun, str]]:
    held = _HeldRun(*run)
    held.clusters, held.tables = frozenset(clusters), {}
    yield from ((held, cluster) for cluster in clusters)


def _of_cluster(batch: "pa.RecordBatch", cluster: str) -> "pa.RecordBatch":
    from pyarrow import compute

    return batch.filter(compute.equal(batch.column("cluster"), cluster))


def name_order(value: object) -> tuple[bool, int, str]:
    """Order names, numbers by their value; None comes last."""
    text = str(value)
    return (value is None, int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 1 << 62, text)


def data_of(text: object) -> object:
    """Return the `data` of a finding in a run; a text that is no JSON stays a text."""
    try:
        return json.loads(str(text)) if text is not None else None
    except (ValueError, RecursionError):
        return text


def is_run_id(name: str) -> bool:
    """Return whether a scan can give a run this name."""
    return _RUN_ID.fullmatch(name) is not None


def open_run(path: str) -> FleetRun:
    """Return the run in a directory `run=ID`, or the newest one below the directory of `--output-dir`.

    UsageError where none is there, and where a newer kcheck wrote it; KcheckError where its manifest is corrupt.
    """
    return newest(_runs_of(path))


def newest(runs: Iterable[FleetRun]) -> FleetRun:
    """Return the run that ended last."""
    return max(runs, key=lambda run: (run.ended or 0, run.path))


def newest_two(path: str) -> tuple[FleetRun, FleetRun]:
    """Return the two runs in a directory that ended last, the earlier one first. UsageError for less than two."""
    runs = sorted(_runs_of(path), key=lambda run: (run.ended or 0, run.path))
    if len(runs) < 2:
        raise UsageError(f"{path}: one run; a diff needs two")
    return runs[-2], runs[-1]


def open_runs(paths: Sequence[str]) -> list[FleetRun]:
    """Return the runs of directories `run=ID`, and all runs below other directories, each once; see `open_run`."""
    return [*{run.path: run for path in paths for run in _runs_of(path)}.values()]


def _runs_of(path: str) -> list[FleetRun]:
    """Return the run in a directory, or those below it."""
    if not tree_of(path).is_directory(path):
        raise unusable(path, f"{path}: not a directory; name a run, or the --output-dir directory of its scan")
    whole_run = run_in(path)
    if whole_run is not None:
        return [whole_run]
    try:
        runs = [run for run in map(run_in, run_directories(path)) if run is not None]
    except UnreadableError as error:
        raise UsageError(f"{path}: {error}") from error
    if not runs:
        raise UsageError(f"{path}: no run in it; a run has {MANIFEST}, in this directory or in run=ID below it")
    return runs


def run_directories(path: str) -> list[str]:
    """Return the directories of runs in the directory of `--output-dir`, complete or not."""
    return [join(path, name) for name in tree_of(path).listing(path).directories if name.startswith("run=")]


def run_in(path: str) -> FleetRun | None:
    """Return the complete run in a directory, None without one. KcheckError if corrupt or of a newer kcheck."""
    if MANIFEST not in tree_of(path).listing(path).files:
        return None
    where = join(path, MANIFEST)
    try:
        manifest = json.loads(tree_of(where).read_whole(where, size_max=_MANIFEST_SIZE_MAX))
        schema = manifest["schema"]
    except (UnreadableError, ValueError, RecursionError, TypeError, KeyError) as error:
        raise KcheckError(f"{where} is corrupt: {error if str(error) else type(error).__name__}") from error
    if schema != SCHEMA:
        raise UsageError(f"{where} has the schema {schema}; this kcheck reads {SCHEMA}")
    try:
        return _run(path, manifest)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise KcheckError(f"{where} is corrupt: {type(error).__name__}: {error}") from error


def written_run(output: RunOutput, names: Iterable[str], kafka: str = "", depth: str = "") -> FleetRun:
    """Return the rows of tables so far of a run that is being written."""
    parts = {name: [RunFile(*file) for file in output.written(name)] for name in names}
    return FleetRun(output.path, "", "", kafka, depth, None, None, finished=False, parts=parts)


def _run(path: str, manifest: Mapping[str, Any]) -> FleetRun:
    parts: dict[str, tuple[RunFile, ...]] = {}
    known = run_tables()
    missing = _NEEDED.difference(manifest["tables"])
    if missing:
        raise ValueError(f"the table {min(missing)} is not named")
    for name in sorted(known.keys() & manifest["tables"].keys()):
        about = manifest["tables"][name]
        if about["version"] > known[name].version:
            raise UsageError(
                f"{path}: the table {name} has version {about['version']}, which a newer kcheck wrote;"
                f" this one reads {known[name].version}"
            )
        parts[name] = tuple(_part(join(path, name), part) for part in about["parts"])
    texts = [manifest[name] for name in ("run", "kcheck", "kafka", "depth")]
    times = [manifest.get(name) for name in ("started", "ended")]
    if not all(isinstance(text, str) for text in texts) or not all(type(time) in (int, type(None)) for time in times):
        raise ValueError("a field has a value of another type")
    return FleetRun(path, *texts, *times, finished=manifest["finished"] is True, parts=parts)  # type: ignore[misc]  # their types were looked at


def _part(folder: str, about: Mapping[str, Any]) -> RunFile:
    name, rows, size = about["file"], about["rows"], about["size"]
    if "/" in name or "\0" in name or name in {"", ".", ".."} or type(rows) is not int or type(size) is not int:
        raise ValueError(f"{about} is not part of a table")
    return RunFile(join(folder, name), rows, size)


def worst_brokers(run: FleetRun) -> tuple[Row, ...]:
    """Return the brokers with fatal findings or errors and their numbers, worst first."""
    counts: dict[BrokerKey, Counter[str]] = defaultdict(Counter)
    for cluster, broker, severity in run.values("findings", ("cluster", "broker", "severity")):
        if severity in _BAD:
            counts[cluster, broker][severity] += 1
    rows: list[Row] = [
        {"cluster": cluster, "broker": broker, **{name: of_broker[name] for name in _BAD}}
        for (cluster, broker), of_broker in counts.items()
    ]
    return tuple(
        sorted(
            rows,
            key=lambda row: (
                *(-int(str(row[name])) for name in _BAD),
                *map(name_order, (row["cluster"], row["broker"])),
            ),
        )
    )


def part_batches(part: RunFile, table: str, columns: Sequence[str], wanted: WantedRows) -> "Iterator[pa.RecordBatch]":
    """Yield the rows of one file of a table, as `FleetRun.batches` does."""
    import pyarrow as pa
    from pyarrow import parquet

    known = {column.name: column for column in run_tables()[table].run_columns}
    schema = schema_of([known[name] for name in columns])
    rows = 0
    try:
        with reading(part.path) as (stream, size):
            _same(size, part.size, "bytes")
            file = parquet.ParquetFile(stream, page_checksum_verification=True)
            names = _names(file.schema_arrow.names, schema.names, known.keys())
            groups = _groups(file.metadata, wanted)
            _same(file.metadata.num_rows, part.rows, "rows")
            for batch in file.iter_batches(_BATCH_COUNT, row_groups=groups, columns=names):
                batch.validate(full=True)
                rows += batch.num_rows
                yield _as(batch, schema)
            _same(rows, sum(file.metadata.row_group(group).num_rows for group in groups), "rows")
    except (UnreadableError, pa.ArrowException, OSError, ValueError) as error:
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise KcheckError(f"{part.path} cannot be read: {said}") from error


def _groups(metadata: Any, wanted: WantedRows) -> list[int]:
    """Return the row groups that can hold rows with wanted values.

    `metadata.schema` makes a cycle of references, which keeps the metadata of each file for a long time.
    """
    count = metadata.num_columns if metadata.num_row_groups and wanted else 0
    there = [metadata.row_group(0).column(at).path_in_schema for at in range(count)]
    columns = [(there.index(name), values) for name, values in wanted.items() if name in there]
    return [
        group
        for group in range(metadata.num_row_groups)
        if all(_may_hold(metadata, group, *column) for column in columns)
    ]


def _may_hold(metadata: Any, group: int, column: int, values: frozenset[Any]) -> bool:
    known = metadata.row_group(group).column(column).statistics
    if known is None or not known.has_min_max:
        return True
    return any(known.min <= value <= known.max for value in values)


def _names(there: Collection[str], wanted: Collection[str], known: Collection[str]) -> list[str]:
    """Return the readable columns. An older kcheck had fewer, a newer one has more, but a run cannot have both."""
    missing, other = [name for name in known if name not in there], [name for name in there if name not in known]
    if missing and other:
        raise UnreadableError(f"it has the column {other[0]}, but not the column {missing[0]}")
    return [name for name in wanted if name in there]


def _same(count: int, named: int, what: str) -> None:
    if count != named:
        raise UnreadableError(f"it has {count} {what}, and the manifest names {named}")


def _as(batch: "pa.RecordBatch", schema: "pa.Schema") -> "pa.RecordBatch":
    """Return a batch with these columns; ValueError where one has another type."""
    import pyarrow as pa

    columns = []
    for field in schema:
        at = batch.schema.get_field_index(field.name)
        column = pa.nulls(batch.num_rows, field.type) if at < 0 else batch.column(at)
        if column.type != field.type:
            raise ValueError(f"the column {field.name} is of type {column.type}, not {field.type}")
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=schema)
