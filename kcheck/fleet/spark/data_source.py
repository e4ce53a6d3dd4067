"""`spark.read.format("kcheck")`, the tables of a fleet scan as DataFrames, from log dirs or existing runs.

`register(spark)` makes the format known to a session. Options are `table` (default: findings), and the command's
`depth`, `kafka`, `topic`, `time_limit`. `storage_options` are for a URL, as a JSON object. `readStream` gives the rows
of each new run below an `--output-dir` folder.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    Filter,
    InputPartition,
)
from pyspark.sql.types import StructType

from kcheck.arrow import from_bytes, to_bytes
from kcheck.disk.paths import split
from kcheck.disk.store import mounted
from kcheck.disk.tree import tree_of
from kcheck.errors import UsageError
from kcheck.fleet.run import FleetRun, RunFile, open_run, open_runs, part_batches
from kcheck.fleet.run_output import run_tables
from kcheck.fleet.scan.identify import Identified
from kcheck.fleet.scan.inventory import inventory, is_inventory
from kcheck.fleet.scan.rows import findings_batch
from kcheck.fleet.spark.executor_options import ExecutorOptions
from kcheck.fleet.spark.executor_steps import (
    broker_rows,
    for_every_host,
    identified_of,
    informed_of,
    stores_of,
)
from kcheck.fleet.spark.pushed import Pushed
from kcheck.fleet.spark.session import ship
from kcheck.fleet.spark.source_options import SourceOptions, source_options, table_of
from kcheck.fleet.spark.transport import ddl
from kcheck.model.finding import Finding
from kcheck.model.unreadable import UnreadableError
from kcheck.tables import ScanStep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


class _InputPart(NamedTuple):
    """The input of one task (log dirs, a file of a run, or known rows of the table)."""

    log_dirs: tuple[Identified, ...] = ()
    known: tuple[bytes, ...] = ()
    file: RunFile | None = None


class KcheckDataSource(DataSource):
    """The format `kcheck`."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "kcheck"

    def schema(self) -> str:
        """Return the columns of the table that is asked for."""
        return ddl(run_tables()[table_of(self.options)].run_columns)

    def reader(self, schema: StructType) -> "KcheckReader":
        """Return a reader for the columns of the schema."""
        options = source_options(self.options)
        return KcheckReader(options, _columns(options.table, schema))

    def streamReader(self, schema: StructType) -> "KcheckStreamReader":  # noqa: N802 - Spark's name
        """Return a reader for new runs."""
        options = source_options(self.options)
        return KcheckStreamReader(options, _columns(options.table, schema))


class _RunReader:
    """Reads files of runs."""

    def __init__(self, options: SourceOptions, columns: tuple[str, ...]) -> None:
        self._asked = options
        self._columns = columns
        self._pushed = Pushed()

    def _of_run(self, run: FleetRun) -> Iterator[InputPartition]:
        table = self._asked.table
        if table not in run.parts:
            raise UsageError(f"{run.path} has no table {table}: an older kcheck wrote it")
        return (InputPartition(_InputPart(file=file)) for file in run.parts[table])

    def _file(self, file: RunFile) -> Iterator[pa.RecordBatch]:
        with mounted([file.path], dict(self._asked.storage)):
            yield from part_batches(file, self._asked.table, self._columns, self._pushed.values)


class KcheckReader(_RunReader, DataSourceReader):
    """Reads one table; opens nothing before Spark asks for the partitions."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - Spark's name
        """Keep what filters ask for; Spark applies all of them again."""
        self._pushed = Pushed.of(filters)
        return filters

    def partitions(self) -> Sequence[InputPartition]:
        """Return the parts that can be read in parallel (brokers, log dirs where one is enough, files of a run)."""
        path = self._asked.path
        with mounted([path], dict(self._asked.storage)):
            if _holds_runs(path):
                return [*self._of_run(open_run(path))]
            return [InputPartition(part) for part in self._of_log_dirs(path)]

    def _of_log_dirs(self, path: str) -> Iterator[_InputPart]:
        table = self._asked.table
        steps = run_tables()[table].steps
        if not {*steps} - {ScanStep.PARTITION}:
            raise UsageError(f"table {table} is read from a run: load('.../run=ID')")
        inventoried = for_every_host(inventory([path]))
        options = self._options()._replace(urls=stores_of(inventoried.log_dirs))
        answers = [*identified_of(inventoried.log_dirs, options)]
        log_dirs = [answer for _, answer in answers if isinstance(answer, Identified)]
        in_order, of_clusters = informed_of(
            sorted(log_dirs, key=lambda log_dir: (log_dir.group, log_dir.path)), options
        )
        failed = [
            findings_batch((log_dir.cluster, log_dir.broker), (answer,))
            for log_dir, answer in answers
            if isinstance(answer, Finding)
        ]
        rows = [("findings", batch) for batch in (findings_batch((None, None), inventoried.findings), *failed)]
        known = tuple(to_bytes(batch) for name, batch in (*rows, *of_clusters) if name == table)
        if known:
            yield _InputPart(known=known)
        if steps == (ScanStep.CLUSTER,):
            return
        alone = ScanStep.BROKER not in steps
        pushed = {log_dir.path if alone else log_dir.group for log_dir in self._pushed.of_log_dirs(in_order)}
        for key, same in groupby(in_order, key=lambda log_dir: log_dir.path if alone else log_dir.group):
            if key in pushed:
                yield _InputPart(log_dirs=tuple(same))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one partition."""
        part: _InputPart = partition.value
        if part.file is not None:
            yield from self._file(part.file)
            return
        for data in part.known:
            yield from (batch.select(self._columns) for batch in from_bytes(data))
        options = self._options()._replace(urls=stores_of(part.log_dirs))
        ends_broker = ScanStep.BROKER in run_tables()[self._asked.table].steps
        for name, batch in broker_rows(part.log_dirs, options, ends_broker=ends_broker):
            if name == self._asked.table:
                yield batch.select(self._columns)

    def _options(self) -> ExecutorOptions:
        how = self._asked.how._replace(wanted=self._pushed.of_partitions(self._asked.how.wanted))
        return ExecutorOptions(how, self._asked.seconds, options=self._asked.storage)


class KcheckStreamReader(_RunReader, DataSourceStreamReader):
    """Reads each complete run below an `--output-dir` folder once. New runs become one micro-batch."""

    def initialOffset(self) -> dict[str, str]:  # noqa: N802 - Spark's name
        """Return the offset before every run."""
        return {"runs": "[]"}

    def latestOffset(self) -> dict[str, str]:  # type: ignore[override]  # noqa: N802 - the signature of every release
        """Return the runs that are there."""
        with mounted([self._asked.path], dict(self._asked.storage)):
            names = sorted(run.name for run in self._runs())
        return {"runs": json.dumps(names)}

    def partitions(self, start: dict[str, str], end: dict[str, str]) -> Sequence[InputPartition]:
        """Return the files of new runs; a run that was removed meanwhile has no files."""
        new = {*json.loads(end["runs"])} - {*json.loads(start["runs"])}
        with mounted([self._asked.path], dict(self._asked.storage)):
            runs = sorted((run for run in self._runs() if run.name in new), key=lambda run: (run.ended or 0, run.name))
            return [part for run in runs for part in self._of_run(run)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one file."""
        yield from self._file(partition.value.file)

    def _runs(self) -> list[FleetRun]:
        path = self._asked.path
        if not tree_of(path).is_directory(path):
            raise UsageError(f"{path} is not a directory: readStream needs the --output-dir directory of scans")
        return open_runs([path]) if _holds_runs(path) else []


def _columns(table: str, schema: StructType) -> tuple[str, ...]:
    """Return the columns to read; UsageError if a schema of the user has others than the table."""
    known = {column.name for column in run_tables()[table].run_columns}
    other = [name for name in schema.names if name not in known]
    if other:
        raise UsageError(f"table {table} has no column {other[0]}")
    return tuple(schema.names)


def _holds_runs(path: str) -> bool:
    """Return whether a path is a run, or the `--output-dir` directory of runs; else it names log dirs."""
    if split(path)[1].startswith("run="):
        return True
    if "{" in path or is_inventory(path) or not tree_of(path).is_directory(path):
        return False
    try:
        return any(name.startswith("run=") for name in tree_of(path).listing(path).directories)
    except UnreadableError as error:
        raise UsageError(f"{path}: {error}") from error


def register(spark: "SparkSession") -> None:
    """Make the format known to a session, with filters that are pushed down, and hand kcheck to its executors."""
    ship(spark)
    spark.conf.set(_PUSHDOWN, "true")
    spark.dataSource.register(KcheckDataSource)
