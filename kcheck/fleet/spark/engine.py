"""`kcheck fleet scan` by Spark: executors list and look at directories, and write the tables of the run."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from functools import partial, reduce
from itertools import accumulate, chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from kcheck.arrow import from_bytes
from kcheck.disk.output import size_below
from kcheck.disk.paths import absolute, is_url
from kcheck.disk.store import mounted
from kcheck.disk.tree import real_path
from kcheck.fleet.run_output import RunOutput, WrittenFile, run_tables
from kcheck.fleet.scan.broker_logs import FleetLog, FoundLogs, find_logs, in_tasks, with_brokers
from kcheck.fleet.scan.cluster_metadata import ClusterFacts
from kcheck.fleet.scan.cluster_steps import clusters_of, informed
from kcheck.fleet.scan.identify import Identified
from kcheck.fleet.scan.inventory import FleetLogDir, Inventory, inventory
from kcheck.fleet.scan.local_engine import THREADS, FindingCounts, ScanRun, about, conclude, outside
from kcheck.fleet.scan.releases import counted, with_releases
from kcheck.fleet.scan.remembered import Memory, aside
from kcheck.fleet.scan.replicas import KEY
from kcheck.fleet.scan.retry import MEMORY_MAX
from kcheck.fleet.scan.rows import findings_batch
from kcheck.fleet.spark import executor_steps as stages
from kcheck.fleet.spark.executor_options import ExecutorOptions, TableTarget
from kcheck.fleet.spark.executor_steps import for_every_host, stores_of
from kcheck.fleet.spark.frames import dealt, in_order, tables_of, with_topics
from kcheck.fleet.spark.log_steps import look_at_logs, read_all_logs
from kcheck.fleet.spark.progress import SparkProgress
from kcheck.fleet.spark.session import in_a_line
from kcheck.fleet.spark.table_writer import WRITTEN, in_groups, join_all, write_all
from kcheck.fleet.spark.transport import (
    BROKERS,
    CLUSTERED,
    COMPARED,
    COPIED,
    FIRST_FINDINGS,
    IDENTIFIED,
    KEY_NAMES,
    LISTED,
    NAMED,
    NUMBERED,
    PLACED,
    SCANNED,
    WRITTEN_AT_ONCE,
    StagedColumns,
    ddl,
    rows_batch,
)
from kcheck.jobs.guard import BUG
from kcheck.jobs.workers import Limits
from kcheck.model.finding import Severity
from kcheck.model.report import Report
from kcheck.survey.coverage import Coverage
from kcheck.survey.rule_runner import all_rules

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")

_STAGING = "_staging"
_SLICES_MAX = 20_000
_OF_SLICE = 4000
"""Number of directories in one task if little of each is read. Starting a task costs as much as 200 of them."""
_OF_SLICE_DEEP = 8
_LOG_DIRS_OF_SLICE = 64
_COPIES_OF_SLICE = 16
_SIDE_BY_SIDE = 4
"""Jobs that wait for executors at once."""
_OF_COMPARISON = 40_000
"""Directories whose replicas one task compares."""
_OF_FILES = 256 << 20
"""Bytes of staged rows for one writing task. Files of the largest table exceed a quarter of it."""
_OF_FILE = 100 << 20
"""Bytes of the files that are joined into one."""
_BLOCK_SIZE = 16 << 20
"""Bytes that a writer holds."""


def scan(roots: Sequence[str], run: ScanRun, session: AbstractContextManager["SparkSession"]) -> tuple[Report, bool]:
    """Look at every log dir that the roots name and write the tables of the run; see `fleet.scan.local_engine`.

    The roots are listed here; executors find the log dirs, and the folder of the run, below the same paths. Spark has
    stopped before what a dead run has left is removed.
    """
    started = run.now()
    with mounted([*roots, *run.logs, run.out, run.how.since or ""], run.options):
        return _scan(roots, run, started, session)


def _scan(
    roots: Sequence[str], run: ScanRun, started: int, session: AbstractContextManager["SparkSession"]
) -> tuple[Report, bool]:
    inventoried = for_every_host(inventory(roots, Limits(run.seconds, MEMORY_MAX)))
    outside(run.out, inventoried)
    broker_logs = find_logs([absolute(pattern) for pattern in run.logs], Limits(run.seconds, MEMORY_MAX))
    since = None if run.how.since is None else real_path(run.how.since)
    options = ExecutorOptions(
        run.how._replace(since=since),
        run.seconds,
        stores_of(inventoried.log_dirs),
        tuple(run.options.items()),
        run.jobs or THREADS,
    )
    with (
        RunOutput(run.out, run.name, about(run)) as output,
        Memory(output.working, aside(run.out, run.name), remembers=run.how.remembers) as memory,
        session as spark,
        in_a_line(),
        ExitStack() as held,
    ):
        folder = None if memory.folder is None else real_path(memory.folder)
        shared = (
            None if is_url(run.out) else real_path(output.folder("runs"))
        )  # Spark makes others, this one it does not.
        target = TableTarget(real_path(output.folder(f"{_STAGING}/tables")), output.about)
        options = options._replace(how=options.how._replace(memory=folder), shared=shared, target=target)
        engine = _SparkEngine(run, options, spark, output, held)
        engine.look(inventoried, broker_logs)
        memory.end()
        report = conclude(
            run, roots, started, output, engine.judged, engine.carried, engine.releases, inventoried
        )  # fmt: skip
    return report, engine.judged.failed


class _SparkEngine:
    """One run, and the counts of its findings.

    `held` gets callbacks that free what executors hold.
    """

    def __init__(
        self, run: ScanRun, options: ExecutorOptions, spark: "SparkSession", output: RunOutput, held: ExitStack
    ) -> None:
        self.judged = FindingCounts(run)
        self.carried = 0
        self.releases: Mapping[str, int] = {}
        self._options = options
        self._run = run
        self._spark = spark
        self._output = output
        self._comparisons = 1
        self._progress = SparkProgress(spark, Coverage(), run.tell)
        self._held = held

    def look(self, inventoried: Inventory, broker_logs: FoundLogs) -> None:
        """Look at everything, and write every table except the table of the run."""
        with self._progress.phase("cores"):
            cores = self._cores()
        place = findings_batch((None, None), (*inventoried.findings, *broker_logs.findings))
        readable, unreadable = self._readable(broker_logs.logs, cores)
        log_dirs, failed = self._identified(inventoried.log_dirs, cores)
        logs, log_dirs = with_brokers(readable, log_dirs)
        log_dirs, how = with_releases(log_dirs, self._options.how)
        self.releases = counted(log_dirs, how)
        self._options = self._options._replace(how=how)
        with self._progress.phase("metadata"):
            log_dirs, of_clusters, unread = self._with_metadata(log_dirs, cores)
        first_findings = [
            place,
            *chain.from_iterable(map(from_bytes, (*unreadable, *failed, *self._read(logs), *unread))),
        ]
        with self._progress.phase("list"):
            listed, counts = self._listed(log_dirs, cores)
        with self._progress.phase("scan"):
            scanned = self._scanned(listed, counts, cores)
        with self._progress.phase("compare"):
            of_brokers, compared = _side_by_side(
                partial(self._of_brokers, scanned, _slices(len(counts), cores)),
                partial(self._compared, scanned),
            )
        before = self._frame([(-1, 0, 0, piece, rows) for piece, rows in enumerate(first_findings)], FIRST_FINDINGS)
        with self._progress.phase("tables"):
            files = self._written(scanned)
            tasks = self._file_tasks(sum(part.size for parts in files.values() for part in parts))
            others = [before, *of_clusters, listed, scanned, of_brokers, compared]
            _side_by_side(partial(self._join, files), partial(self._write, others, tasks))
        self._output.drop(_STAGING)

    def _cores(self) -> int:
        """Return how many tasks Spark runs in parallel; Spark Connect shows it by the partitions of a range."""
        from pyspark.sql import functions
        from pyspark.sql.utils import is_remote

        if not is_remote():
            return int(self._spark.sparkContext.defaultParallelism)
        ranges = self._spark.range(_SLICES_MAX).select(functions.spark_partition_id().alias("number"))
        (row,) = ranges.agg(functions.max("number")).collect()
        return int(row[0]) + 1

    def _readable(self, logs: Sequence[FleetLog], cores: int) -> tuple[list[FleetLog], list[bytes]]:
        """Return the logs with their facts about brokers, and findings of unreadable logs."""
        if not logs:
            return [], []
        slices = min(cores, len(logs))
        frame = dealt(
            self._frame([(at, json.dumps(log)) for at, log in enumerate(logs)], NAMED), slices, f"at % {slices}"
        )
        with self._progress.phase("logs"):
            answers = in_order(self._mapped(frame, look_at_logs, IDENTIFIED))
        known = [FleetLog(*json.loads(row["text"])) for row in answers if row["text"] is not None]
        return known, [row["findings"] for row in answers if row["findings"] is not None]

    def _read(self, logs: Sequence[FleetLog]) -> list[bytes]:
        """Write the messages in the logs of brokers, a task for a few of them, and return findings."""
        rows = [(at, json.dumps(some)) for at, some in enumerate(in_tasks(logs))]
        if not rows:
            return []
        slices = min(len(rows), _SLICES_MAX)
        with self._progress.phase("logs"):
            dealt_rows = dealt(self._frame(rows, NAMED), slices, f"at % {slices}")
            answers = in_order(self._mapped(dealt_rows, read_all_logs, IDENTIFIED))
        for row in answers:
            parts = () if row["text"] is None else json.loads(row["text"])
            self._output.take_over("log_events", (WrittenFile(*part) for part in parts))
        return [row["findings"] for row in answers if row["findings"] is not None]

    def _identified(self, log_dirs: Sequence[FleetLogDir], cores: int) -> tuple[list[Identified], list[bytes]]:
        """Return the log dirs in the order of the rows, and findings of unidentified ones."""
        rows = [(at, stages.as_text(log_dir)) for at, log_dir in enumerate(log_dirs)]
        slices = min(cores, max(len(rows), 1))
        frame = dealt(self._frame(rows, NAMED), slices, f"at % {slices}")
        with self._progress.phase("identify"):
            answers = in_order(self._mapped(frame, stages.identify_all, IDENTIFIED))
        identified = [stages.identified(row["text"]) for row in answers if row["text"] is not None]
        failed = [row["findings"] for row in answers if row["findings"] is not None]
        return sorted(identified, key=lambda log_dir: (log_dir.group, log_dir.path)), failed

    def _with_metadata(
        self, log_dirs: list[Identified], cores: int
    ) -> tuple[list[Identified], "list[DataFrame]", list[bytes]]:
        """Return the log dirs with the facts of their clusters' metadata, rows of clusters, and findings.

        One task reads the newest copy of a cluster.
        """
        rows = [(-1, at, stages.as_text(log_dir)) for at, log_dir in enumerate(log_dirs) if log_dir.holds_metadata]
        if not rows:
            return log_dirs, [], []
        slices = min(max(cores, len(rows) // _COPIES_OF_SLICE), len(rows), _SLICES_MAX)
        frame = dealt(self._frame(rows, NUMBERED), slices, f"at % {slices}")
        answers = in_order(self._mapped(frame, stages.read_copies, COPIED))
        unread = [row["findings"] for row in answers if row["findings"] is not None]
        copies = {log_dirs[row["at"]].path: row["copy"] for row in answers if row["copy"] is not None}
        clusters = clusters_of(log_dirs, copies)
        if not clusters:
            return log_dirs, [], unread
        cluster_rows = [(-1, at, stages.as_text(cluster)) for at, cluster in enumerate(clusters)]
        frame = dealt(self._frame(cluster_rows, NUMBERED), len(cluster_rows), "at")
        of_clusters = self._staged("clusters", self._mapped(frame, stages.look_at_clusters, CLUSTERED))
        known = of_clusters.where("facts is not null").select("part", "facts").toArrow().to_pylist()
        facts = {clusters[row["part"]].key: ClusterFacts(*json.loads(row["facts"])) for row in known}
        return informed(log_dirs, facts), [of_clusters.drop("facts")], unread

    def _listed(self, log_dirs: Sequence[Identified], cores: int) -> tuple["DataFrame", list[int]]:
        """Return the parts of all log dirs, and the number of directories of each log dir."""
        brokers = {group: number for number, group in enumerate(dict.fromkeys(log_dir.group for log_dir in log_dirs))}
        rows = [(brokers[log_dir.group], at, stages.as_text(log_dir)) for at, log_dir in enumerate(log_dirs)]
        slices = _slices(len(rows), cores)
        named = dealt(self._frame(rows, NUMBERED), slices, f"at % {slices}")
        listed = self._staged("list", self._mapped(named, stages.list_all, LISTED))
        firsts = listed.where("whole is not null").select("at", "whole").toArrow()
        counts = [count for _, count in sorted(zip(*firsts.to_pydict().values(), strict=True))]
        assert len(log_dirs) == len(counts)
        self._progress.coverage.planned["partitions"] = sum(counts)
        self._comparisons = min(1 + sum(counts) // _OF_COMPARISON, _SLICES_MAX)
        return listed, counts

    def _scanned(self, listed: "DataFrame", counts: Sequence[int], cores: int) -> "DataFrame":
        """Return the results of all parts, in equal slices; each log dir counts as one more directory."""
        from pyspark.sql import functions

        *before, total = accumulate((1 + count for count in counts), initial=0)
        of_slice = _OF_SLICE_DEEP if self._run.how.depth.reads_segments else _OF_SLICE
        slices = min(max(cores, total // of_slice), _SLICES_MAX)
        places = functions.broadcast(self._frame([*enumerate(before)], PLACED))
        # One listing of a store covers a log dir, so one task gets all of it.
        at = "place" if self._options.urls else "place + before"
        known = listed.where("text is not null or items is not null")
        items = dealt(known.join(places, "at"), slices, f"({at}) * {slices} div {max(total, 1)}")
        items = items.drop("place", "findings").sortWithinPartitions("at", "part")
        return self._staged("scan", self._mapped(items, stages.scan_all, SCANNED))

    def _of_brokers(self, scanned: "DataFrame", slices: int) -> "DataFrame":
        seen = scanned.where("text is not null or light is not null")
        slice_of = dealt(seen.select(*KEY_NAMES, "text", "light"), slices, f"broker % {slices}")
        examined = self._mapped(slice_of.sortWithinPartitions(*KEY_NAMES), stages.look_at_all, BROKERS)
        return self._staged("brokers", examined)

    def _compared(self, scanned: "DataFrame") -> "DataFrame":
        """Return the comparison of partitions on several brokers; the replicas of a partition meet in one task."""
        replicas = scanned.selectExpr("explode(compared) as replica").select("replica.*")
        if self._comparisons > 1:
            replicas = with_topics(replicas, scanned)
        groups = replicas.repartitionByRange(self._comparisons, *KEY).sortWithinPartitions(*KEY, "broker_id")
        return self._staged("compare", self._mapped(groups, stages.compare_all, COMPARED))

    def _written(self, scanned: "DataFrame") -> dict[str, list[WrittenFile]]:
        """Return the files of tables that the scan wrote, in the order of their rows."""
        answers = scanned.where("files is not null").select(*KEY_NAMES, "files", "carried").toArrow().to_pylist()
        self.carried = sum(row["carried"] for row in answers)
        files: dict[str, list[WrittenFile]] = {name: [] for name in WRITTEN_AT_ONCE}
        for row in sorted(answers, key=itemgetter(*KEY_NAMES)):
            for name, *part in json.loads(row["files"]):
                files[name].append(WrittenFile(*part))
        return files

    def _join(self, files: Mapping[str, Sequence[WrittenFile]]) -> None:
        """Have files of the size of _OF_FILE: a task for those whose rows go into one."""
        groups = [(name, parts) for name, own in files.items() for parts in in_groups(own, _OF_FILE)]
        shared = [(name, *parts) for name, parts in groups if len(parts) > 1]
        joined: Iterator[dict[str, Any]] = iter(())
        if shared:
            frame = dealt(
                self._frame([(at, json.dumps(some)) for at, some in enumerate(shared)], NAMED), len(shared), "at"
            )
            joined = iter(in_order(self._mapped(frame, join_all, IDENTIFIED)))
        for name, parts in groups:
            whole = parts if len(parts) == 1 else (WrittenFile(*part) for part in json.loads(next(joined)["text"]))
            self._output.take_over(name, whole)

    def _file_tasks(self, written: int) -> int:
        """Return how many tasks write files, by the bytes of their rows; where executors hold these, by the number.

        Of what is staged, `written` bytes are in files already.
        """
        if is_url(self._run.out):
            return self._comparisons
        return min(1 + (size_below(self._output.folder(_STAGING)) - written) // _OF_FILES, _SLICES_MAX)

    def _write(self, staged: "Sequence[DataFrame]", tasks: int) -> None:
        """Write the rows of all other tables in the order of their keys."""
        names = [*dict.fromkeys(name for frame in staged for name in frame.columns if name in run_tables())]
        every = reduce(
            lambda one, other: one.unionByName(other, allowMissingColumns=True),
            (tables_of(frame, names) for frame in staged),
        )
        frame = every.repartitionByRange(tasks, *KEY_NAMES).sortWithinPartitions(*KEY_NAMES)
        ids = (BUG, *(rule.id for rule in all_rules()))
        kinds = ((rule, severity) for rule in ids for severity in Severity)
        shown = frozenset((rule, str(severity)) for rule, severity in kinds if self._run.shown(rule, severity))
        written = self._mapped(frame, partial(write_all, shown=shown), WRITTEN).toArrow().to_pylist()
        files = sorted(
            (row for row in written if row["table"] is not None), key=lambda row: (row["number"], row["file"])
        )
        for name in names:
            of_table = (row for row in files if row["table"] == name)
            self._output.take_over(name, (WrittenFile(row["file"], row["rows"], row["size"]) for row in of_table))
        for row in written:
            if row["id"] is not None:
                self.judged.count(row["id"], Severity(row["severity"]), row["count"])

    def _staged(self, name: str, frame: "DataFrame") -> "DataFrame":
        """Store rows, so that later stages can read them repeatedly.

        Spark itself cannot write where `--output-dir` is a URL: its executors hold them, and compute
        again what one has lost.
        """
        if is_url(self._run.out):
            from pyspark import StorageLevel

            self._held.callback(frame.persist(StorageLevel.DISK_ONLY).unpersist)
            frame.count()
            return frame
        path = self._output.folder(f"{_STAGING}/{name}")
        frame.write.mode("append").option("parquet.block.size", _BLOCK_SIZE).parquet(path)
        return self._spark.read.schema(frame.schema).parquet(path)

    def _mapped(self, frame: "DataFrame", stage: Any, columns: StagedColumns) -> "DataFrame":
        return frame.mapInArrow(partial(stage, options=self._options), ddl(columns))

    def _frame(self, rows: Sequence[tuple[Any, ...]], columns: StagedColumns) -> "DataFrame":
        import pyarrow as pa

        return self._spark.createDataFrame(pa.Table.from_batches([rows_batch(rows, columns)]))


def _slices(log_dirs: int, cores: int) -> int:
    """Return the number of slices in which log dirs are listed and brokers checked."""
    return min(max(cores, log_dirs // _LOG_DIRS_OF_SLICE), max(log_dirs, 1), _SLICES_MAX)


def _side_by_side(*calls: Callable[[], T]) -> list[T]:
    """Run independent jobs in parallel; after a failure the remaining jobs never begin."""
    pool = ThreadPoolExecutor(_SIDE_BY_SIDE)
    try:
        return [future.result() for future in [pool.submit(call) for call in calls]]
    finally:
        pool.shutdown(cancel_futures=True)
