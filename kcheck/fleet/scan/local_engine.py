"""`kcheck fleet scan` on one machine: processes look at directories, this one puts rows in order and writes them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from kcheck import __version__
from kcheck.arrow import batch_of, from_bytes, to_bytes
from kcheck.disk.output import beside
from kcheck.disk.paths import is_url, join
from kcheck.disk.store import mounted
from kcheck.disk.tree import real_path, tree_of
from kcheck.errors import UsageError
from kcheck.fleet.lost import RULE as LOST
from kcheck.fleet.lost import not_reached
from kcheck.fleet.not_known import not_known
from kcheck.fleet.run import BrokerKey, open_run, worst_brokers, written_run
from kcheck.fleet.run_output import RunOutput, run_path, writing
from kcheck.fleet.scan.broker_logs import FleetLog, FoundLogs, find_logs, in_tasks, looked_at, with_brokers, written
from kcheck.fleet.scan.covered import coverage_of, require
from kcheck.fleet.scan.decisions import Decide, Needed, add_decisions, add_needed, add_refuted
from kcheck.fleet.scan.identify import Identified, ScanOptions, identify
from kcheck.fleet.scan.inventory import FleetLogDir, Inventory, inventory
from kcheck.fleet.scan.lost import (
    TABLES,
    MissingLogDirs,
    lost_counts,
    lost_findings,
    missing_log_dirs,
    not_compared,
    previous,
    unscanned_findings,
)
from kcheck.fleet.scan.owners import OwnerRule, add_owners
from kcheck.fleet.scan.releases import counted, kafka_of, with_releases
from kcheck.fleet.scan.remembered import Memory, Notes, are_known, aside
from kcheck.fleet.scan.remote_storage import add_remote_storage
from kcheck.fleet.scan.replicas import replica_rows
from kcheck.fleet.scan.retry import MEMORY_MAX, Retry, where
from kcheck.fleet.scan.rows import findings_batch, seen_of, tables_of
from kcheck.fleet.scan.steps import compare_partitions, list_items, scan_items
from kcheck.jobs.threads import Threads
from kcheck.jobs.workers import Limits, Task, Workers
from kcheck.model.finding import Chosen, Finding, Location, Severity
from kcheck.model.report import PartitionFilter, Report
from kcheck.survey.coverage import Coverage
from kcheck.tables import runs

if TYPE_CHECKING:
    import pyarrow as pa

PROCESSES, THREADS = 1, 48
"""The default numbers of processes and threads."""
_LISTED = 4
"""Half the number of log dirs that are listed ahead, at most."""
_AHEAD = 16
"""Batches of directories that are held for each process, at most."""
_LOGS = "_logs"
"""The temporary directory in which files of the table log_events are written."""
_REPLICAS = "_replicas"
"""The temporary directory in which replicas are grouped."""


class ScanRun(NamedTuple):
    """A run with its name, directory and options. `now` returns the time in ms since 1970.

    `jobs` is the number of processes, or of threads if a log dir is in a store. None means PROCESSES or THREADS.
    `options` are for the file system of a URL. A directory that takes more than `seconds` becomes a finding. Findings
    that are `shown` are written; `tell` gets the progress a few times a second. A finding for which `fails` is true
    fails the run. `logs` are the patterns of the logs of brokers. A run that reaches less than `min_coverage` percent
    of the log dirs is not published. It is compared with the run `since`, if there is one. `decide` fills in the loss
    of starting everything in each cluster. `needed` decides which clusters need a person. `store` is the store of
    remote segments. `owners` are the rows of `--owners`. With `is_part` the user ignores missing log dirs, because
    the roots are a part of a cluster.
    """

    name: str
    out: str
    how: ScanOptions
    jobs: int | None
    seconds: float
    now: Callable[[], int]
    shown: Chosen
    fails: Chosen
    tell: Callable[[Coverage], None]
    options: Mapping[str, object] = {}
    logs: tuple[str, ...] = ()
    min_coverage: float = 0
    since: str | None = None
    decide: Decide | None = None
    needed: Needed | None = None
    store: str | None = None
    owners: tuple[OwnerRule, ...] = ()
    is_part: bool = False


def scan(roots: Sequence[str], run: ScanRun) -> tuple[Report, bool]:
    """Look at every log dir that the roots name and write the tables of the run.

    Returns how much it was, and whether there is a finding that `fails`.
    """
    import pyarrow  # noqa: F401, ICN001 - the processes that are started below have it then

    started = run.now()
    with mounted([*roots, *run.logs, run.out], run.options):
        return _scan(roots, run, started)


def _scan(roots: Sequence[str], run: ScanRun, started: int) -> tuple[Report, bool]:
    from kcheck.fleet.scan.replica_groups import Groups

    inventoried = inventory(roots, Limits(run.seconds, MEMORY_MAX))
    outside(run.out, inventoried)
    logs = find_logs(run.logs, Limits(run.seconds, MEMORY_MAX))
    in_threads = any(
        map(is_url, (*(log_dir.path for log_dir in inventoried.log_dirs), *(log.path for log in logs.logs)))
    )
    run = run._replace(jobs=run.jobs or (THREADS if in_threads else PROCESSES))
    coverage = Coverage()
    with (
        writing(run_path(run.out, run.name)),  # also of what is remembered, and of replicas that are sorted on the disk
        RunOutput(run.out, run.name, about(run)) as output,
        Memory(output.working, aside(run.out, run.name), remembers=run.how.remembers) as memory,
        Notes(memory.folder) as notes,
        _workers(run, lambda: run.tell(coverage), in_threads=in_threads) as workers,
    ):
        run = run._replace(how=run.how._replace(memory=memory.folder))
        engine = _Engine(run, workers, output, coverage, notes)
        with beside(output.working) as folder, Groups(join(folder, _REPLICAS)) as groups:
            engine.look(inventoried, logs, groups.add)
            engine.compare(groups.batches())
        memory.end()
        report = conclude(run, roots, started, output, engine.judged, notes.carried, engine.releases, inventoried)
    return report, engine.judged.failed


def _workers(run: ScanRun, tick: Callable[[], None], *, in_threads: bool) -> Workers | Threads:
    """Return the workers for the steps. A store is asked by threads, which wait for most of their time."""
    assert run.jobs is not None
    if in_threads:
        return Threads(run.jobs, tick=tick, seconds=run.seconds)
    return Workers(run.jobs, tick=tick, limits=Limits(run.seconds, MEMORY_MAX))


class FindingCounts:
    """The findings of a run; `counts` of written ones by severity, of `failing` ones, and whether it is `finished`."""

    def __init__(self, run: ScanRun) -> None:
        self.counts: dict[str, int] = {str(severity): 0 for severity in Severity}
        self.failing: int = 0
        self.finished: bool = True
        self._run = run

    @property
    def failed(self) -> bool:
        """True if a finding fails the run."""
        return self.failing > 0

    def count(self, rule: str, severity: Severity, number: int = 1) -> bool:
        """Count findings of a rule that are alike; return whether they are to be written."""
        is_shown = self._run.shown(rule, severity)
        self.counts[severity] += number * is_shown
        self.failing += number * self._run.fails(rule, severity)
        self.finished = self.finished and (severity is Severity.INFO or not rule.startswith("KC00"))
        return is_shown


def about(run: ScanRun) -> dict[str, str]:
    """Return the metadata for the manifest of a run and each file."""
    return {"kafka": kafka_of(run.how), "depth": str(run.how.depth)}


def conclude(
    run: ScanRun, roots: Sequence[str], started: int, output: RunOutput, totals: FindingCounts, carried: int,
    releases: Mapping[str, int], inventoried: Inventory,
) -> Report:  # fmt: skip
    """Write the rest of a run, the manifest last, and return its counts.

    `carried` directories did not change. `releases` are the releases of its brokers, with the number of brokers.
    KcheckError if too few of the log dirs were reached.
    """
    release, depth = kafka_of(run.how), str(run.how.depth)
    coverage = coverage_of(output, inventoried)
    require(coverage, run.min_coverage)
    add_remote_storage(output, run.how.wanted, run.store, run.now(), totals.count)
    add_refuted(output, run.how.release, totals.count)
    if run.decide is not None:
        add_decisions(output, about(run), run.how.release, run.decide, totals.count)
    if run.owners:
        add_owners(output, run.owners)
    earlier, lacking = _write_lost(run, roots, output, totals)
    if run.needed is not None:
        add_needed(output, about(run), run.how.release, run.needed, totals.count)
    written = written_run(output, TABLES)
    empty, missing = (0, 0) if run.is_part else lost_counts(written, lacking, earlier)
    expected, reached = coverage.expected + missing, coverage.reached - empty
    finished = totals.finished and reached == expected
    counts = (output.rows[name] for name in ("log_dirs", "partitions", "findings"))
    unreached, worst, unseen = not_reached(written), worst_brokers(written), not_known(written)
    ended = run.now()
    since = None if run.since is None else open_run(run.since).name
    carried_over = (since, None if since is None else carried)
    row = (
        run.name, started, ended, __version__, release, depth, json.dumps([*roots]), *counts, finished,
        expected, reached, json.dumps(releases), *carried_over,
    )  # fmt: skip
    output.write("runs", batch_of([row], runs.TABLE.run_columns))
    output.finish({"started": started, "ended": ended, "finished": finished})
    body = {
        "run": run.name,
        "path": output.path,
        "depth": depth,
        "releases": dict(releases),
        "finished": finished,
        "failing": totals.failing,
        "log_dirs_expected": expected,
        "log_dirs_reached": reached,
        "not_reached": unreached,
        "not_known": unseen,
        "worst_brokers": worst,
        "rows": output.rows,
    }
    if run.how.since is not None:
        body["carried_over"] = carried
    return Report(verb="fleet-scan", kafka=release, body=body, elsewhere=totals.counts)


def _write_lost(
    run: ScanRun, roots: Sequence[str], output: RunOutput, totals: FindingCounts
) -> tuple[list[tuple[BrokerKey, Finding]], MissingLogDirs]:
    """Write what this run lacks, or has twice.

    Return the findings about log dirs of the earlier run, and the missing log dirs.
    """
    before, unreadable = previous(run.out, roots, run.since, written_run(output, TABLES))
    lost = [] if before is None else [*lost_findings(
        output, before, run.how.release, partitions=run.how.wanted == PartitionFilter()
    )]  # fmt: skip
    earlier = [(place, found) for place, found in lost if found.id == LOST and found.where.log_dir is not None]
    written = written_run(output, TABLES)
    lacking = missing_log_dirs(written)
    unscanned = unscanned_findings(written, lacking, earlier, run.how.release)
    for place, finding in chain((((None, None), not_compared(*one)) for one in unreadable), lost, unscanned):
        if totals.count(finding.id, finding.severity):
            output.write("findings", findings_batch(place, (finding,)))
    return earlier, lacking


def outside(out: str, inventoried: Inventory) -> None:
    """Raise UsageError if the run would be written into a checked log dir."""
    target = real_path(out)
    for log_dir, path in zip(inventoried.log_dirs, inventoried.real, strict=True):
        if target == path or target.startswith(path.rstrip("/") + "/"):
            raise UsageError(
                f"--output-dir {out} is inside {log_dir.path}, which was checked; choose a directory outside"
            )


class _ReadStep(NamedTuple):
    """The next event in the order of the rows (directories of a log dir, its end, its broker's end)."""

    log_dir: Identified
    items: bytes | None = None
    failed: Finding | None = None
    is_end: bool = False
    is_end_of_broker: bool = False


class _Engine:
    """One run, and the counts of its findings."""

    def __init__(
        self, run: ScanRun, workers: Workers | Threads, output: RunOutput, coverage: Coverage, notes: Notes
    ) -> None:
        assert run.jobs is not None
        self._jobs = run.jobs
        self.judged = FindingCounts(run)
        self._run = run
        self._workers = workers
        self._retry = Retry(workers, run.how)
        self.releases: Mapping[str, int] = {}
        self._output = output
        self._coverage = coverage
        self._notes = notes

    def look(self, inventoried: Inventory, broker_logs: FoundLogs, keep: "Callable[[pa.RecordBatch], None]") -> None:
        """Look at all of it and `keep` the replicas; what was seen is held for one broker at a time."""
        self._tell((None, None), (*inventoried.findings, *broker_logs.findings))
        readable = [*self._readable(broker_logs.logs)]
        log_dirs = sorted(self._identified(inventoried.log_dirs), key=lambda log_dir: (log_dir.group, log_dir.path))
        logs, log_dirs = with_brokers(readable, log_dirs)
        log_dirs, how = with_releases(log_dirs, self._run.how)
        self.releases = counted(log_dirs, how)
        self._retry = Retry(self._workers, how)
        self._read(logs)
        log_dirs = self._retry.with_metadata(log_dirs, self._write)
        of_broker: list[tuple[Identified, list[bytes]]] = []
        of_log_dir: list[bytes] = []
        steps = self._steps(log_dirs)
        for step, answers in self._workers.run(steps, ahead=_AHEAD * self._jobs):
            if step.failed is not None:
                self._tell(_place(step.log_dir), (step.failed,))
            elif step.items is not None:
                for name, batch in self._retry.scanned(step.items, answers):
                    for table, rows in (tables_of(batch) if name == "directories" else {name: batch}).items():
                        self._write(table, rows)
                    if name == "directories":
                        keep(replica_rows(batch))
                        self._notes.add(step.log_dir.path, batch)
                        of_log_dir.append(to_bytes(seen_of(batch)))
                    self._coverage.partitions += batch.num_rows
            elif step.is_end:
                self._notes.end()
                of_broker.append((step.log_dir, of_log_dir))
                of_log_dir = []
            if step.is_end_of_broker:
                for name, batch in self._retry.whole_broker(of_broker):
                    self._write(name, batch)
                for log_dir, _ in of_broker:
                    tree_of(log_dir.path).drop(log_dir.path)
                of_broker = []

    def _readable(self, logs: Iterable[FleetLog]) -> Iterator[FleetLog]:
        for log in looked_at(self._workers, logs):
            if isinstance(log, Finding):
                self._tell((None, None), (log,))
            else:
                yield log

    def _read(self, logs: Sequence[FleetLog]) -> None:
        """Write the messages in the logs of brokers."""
        if not logs:
            return
        folder = self._output.folder(_LOGS)
        for rows in written(self._workers, in_tasks(logs), folder, self._output.about):
            self._output.take_over("log_events", rows.parts)
            for data in rows.findings:
                for batch in from_bytes(data):
                    self._write("findings", batch)
        self._output.drop(_LOGS)

    def compare(self, groups: "Iterable[pa.RecordBatch]") -> None:
        """Compare the replicas of partitions on several brokers."""
        tasks = ((group, (self._retry.task(compare_partitions, to_bytes(group), Location()),)) for group in groups)
        for batch, (answer,) in self._workers.run(tasks, ahead=2 * self._jobs):
            for name, rows in self._retry.compared(batch, answer):
                self._write(name, rows)

    def _identified(self, log_dirs: Iterable[FleetLogDir]) -> Iterator[Identified]:
        tasks = (
            (log_dir, (self._retry.task(identify, log_dir, Location(log_dir=log_dir.path)),)) for log_dir in log_dirs
        )
        for log_dir, (answer,) in self._workers.run(tasks):
            if isinstance(answer, Identified):
                yield answer
            elif answer is not None:
                self._tell((log_dir.cluster, log_dir.broker), (answer,))

    def _steps(self, log_dirs: Sequence[Identified]) -> Iterator[tuple[_ReadStep, tuple[Task[Any], ...]]]:
        """Yield what is to be done, and the task of it; log dirs are listed a little ahead."""
        listed = self._workers.run(
            ((log_dir, (self._retry.task(list_items, log_dir, where(log_dir), first=True),)) for log_dir in log_dirs),
            ahead=2 * min(self._jobs, _LISTED),
        )
        for _, same in groupby(listed, key=lambda log_dir: log_dir[0].group):
            for log_dir, (answer,) in same:
                self._coverage.at = log_dir.path
                if isinstance(answer, Finding):
                    yield _ReadStep(log_dir, failed=answer), ()
                    continue
                for count, items in answer or ():
                    self._coverage.planned["partitions"] += count
                    tasks = () if are_known(items) else (self._retry.task(scan_items, items, where(log_dir)),)
                    yield _ReadStep(log_dir, items=items), tasks
                yield _ReadStep(log_dir, is_end=True), ()
            yield _ReadStep(log_dir, is_end_of_broker=True), ()

    def _tell(self, place: BrokerKey, findings: Sequence[Finding]) -> None:
        self._write("findings", findings_batch(place, findings))

    def _write(self, name: str, batch: "pa.RecordBatch") -> None:
        if name == "findings" and batch.num_rows:
            batch = self._counted(batch)
        self._output.write(name, batch)

    def _counted(self, batch: "pa.RecordBatch") -> "pa.RecordBatch":
        """Return the findings that are to be written, and count them."""
        import pyarrow as pa

        pairs = zip(batch.column("id").to_pylist(), map(Severity, batch.column("severity").to_pylist()), strict=True)
        return batch.filter(pa.array([self.judged.count(*pair) for pair in pairs]))


def _place(log_dir: Identified) -> BrokerKey:
    return log_dir.cluster, log_dir.broker
