"""`spark.read.format("kcheck")`: the tables of a fleet scan as DataFrames, of log dirs or of a run that is there.

`register(spark)` makes the format known to a session. Options are `table` (findings without it), and those of the
command: `depth`, `kafka`, `topic`, `time_limit`; `storage_options` are those of a URL, as a JSON object.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from kcheck.core.releases import NEWEST_TESTED, release
from kcheck.disk.output import reading
from kcheck.disk.read import read_whole
from kcheck.disk.remote import mounted
from kcheck.disk.walk import join, split
from kcheck.errors import UsageError
from kcheck.fleet.identify import Identified, ScanOptions
from kcheck.fleet.inventory import inventory
from kcheck.fleet.releases import ReleaseOptions
from kcheck.fleet.run_output import MANIFEST, run_tables
from kcheck.fleet.scan_rows import findings_batch
from kcheck.fleet.spark.executor_steps import (
    ExecutorOptions,
    broker_rows,
    for_every_host,
    identified_of,
    informed_of,
    stores_of,
)
from kcheck.fleet.spark.session import ship
from kcheck.fleet.spark.transport import OF_BROKER, OF_CLUSTER, OF_SCANNED, ddl
from kcheck.model.depth import parse_depth
from kcheck.model.evidence import AUTO
from kcheck.model.finding import Finding
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import UnreadableError
from kcheck.tables._arrow import from_bytes, to_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OF_BROKER = (*OF_BROKER, "findings")
"""Their rows need all log dirs of a broker; those of OF_SCANNED one of them alone."""
_TIME_LIMIT = "600"


class _InputPart(NamedTuple):
    """What one task reads: log dirs, a file of a run, or rows of the table that are known already."""

    log_dirs: tuple[Identified, ...] = ()
    known: tuple[bytes, ...] = ()
    file: str | None = None


class KcheckDataSource(DataSource):
    """The format `kcheck`."""

    @classmethod
    def name(cls) -> str:
        """Return what the format is called."""
        return "kcheck"

    def schema(self) -> str:
        """Return the columns of the table that is asked for."""
        return ddl(run_tables()[self._table()].run_columns)

    def reader(self, schema: StructType) -> "KcheckReader":
        """Return what reads the table."""
        del schema
        return KcheckReader(self._table(), dict(self.options))

    def _table(self) -> str:
        table = self.options.get("table", "findings")
        if table not in run_tables():
            raise UsageError(f"table {table} is not known; known are {', '.join(sorted(run_tables()))}")
        return table


class KcheckReader(DataSourceReader):
    """Reads one table; opens nothing before Spark asks for the partitions."""

    def __init__(self, table: str, options: dict[str, str]) -> None:
        self._table = table
        self._options = {name.lower(): value for name, value in options.items()}

    def partitions(self) -> Sequence[InputPartition]:
        """Return what can be read side by side: brokers, log dirs where one is enough, files of a run."""
        path = self._options.get("path")
        if path is None:
            raise UsageError("load(...) needs a layout, a folder of log dirs, an inventory, or a run")
        options = self._executor_options()
        with mounted([path], dict(options.options)):
            if split(path)[1].startswith("run="):
                return [InputPartition(_InputPart(file=file)) for file in self._files(path)]
            if self._table not in (*OF_SCANNED, *_OF_BROKER, *OF_CLUSTER):
                raise UsageError(f"table {self._table} is read from a run: load('.../run=ID')")
            inventoried = for_every_host(inventory([path]))
            options = options._replace(urls=stores_of(inventoried.log_dirs))
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
        known = tuple(to_bytes(batch) for name, batch in (*rows, *of_clusters) if name == self._table)
        parts = [_InputPart(known=known)] if known else []
        if self._table in OF_CLUSTER:
            return [InputPartition(part) for part in parts]
        for _, same in groupby(
            in_order, key=lambda log_dir: log_dir.group if self._table in _OF_BROKER else log_dir.path
        ):
            parts.append(_InputPart(log_dirs=tuple(same)))
        return [InputPartition(part) for part in parts]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one partition."""
        part: _InputPart = partition.value
        options = self._executor_options()
        if part.file is not None:
            with (
                mounted([part.file], dict(options.options)),
                reading(part.file) as (stream, _),
                parquet.ParquetFile(stream) as file,
            ):
                yield from file.iter_batches()
            return
        for data in part.known:
            yield from from_bytes(data)
        options = options._replace(urls=stores_of(part.log_dirs))
        for name, batch in broker_rows(part.log_dirs, options, ends_broker=self._table in _OF_BROKER):
            if name == self._table:
                yield batch

    def _files(self, path: str) -> Iterator[str]:
        try:
            manifest = json.loads(read_whole(join(path, MANIFEST), follow=True))
        except (UnreadableError, ValueError) as error:
            raise UsageError(f"{path} is not a finished run: {error}") from error
        for part in manifest["tables"][self._table]["parts"]:
            yield join(path, self._table, part["file"])

    def _executor_options(self) -> ExecutorOptions:
        depth, topics = self._options.get("depth", "checkpoints"), self._options.get("topic")
        wanted = PartitionFilter(topics=() if topics is None else (topics,))
        kafka = self._options.get("kafka", AUTO)
        how = ScanOptions(
            parse_depth(depth, "depth"), wanted, release(NEWEST_TESTED if kafka == AUTO else kafka),
            auto=ReleaseOptions() if kafka == AUTO else None,
        )  # fmt: skip
        seconds = float(self._options.get("time_limit", _TIME_LIMIT))
        return ExecutorOptions(how, seconds, options=self._storage_options())

    def _storage_options(self) -> tuple[tuple[str, object], ...]:
        text = self._options.get("storage_options", "{}")
        try:
            return tuple(json.loads(text).items())
        except (ValueError, AttributeError):
            raise UsageError(f"storage_options {text}: a JSON object is needed") from None


def register(spark: "SparkSession") -> None:
    """Make the format known to a session, and hand kcheck to its executors."""
    ship(spark)
    spark.dataSource.register(KcheckDataSource)
