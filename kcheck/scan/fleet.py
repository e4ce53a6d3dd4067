"""`kcheck fleet scan` on one machine: processes look at directories, this one puts rows in order and writes them."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from kcheck import __version__
from kcheck.disk.walk import join, real
from kcheck.errors import UsageError
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.report import Report
from kcheck.scan.arrow import batch_of, from_bytes, to_bytes
from kcheck.scan.coverage import Coverage
from kcheck.scan.fleet_inventory import FleetLogDir, Inventory, inventory
from kcheck.scan.fleet_output import RunOutput
from kcheck.scan.fleet_replicas import KEY, replica_rows, tables_of_compared
from kcheck.scan.fleet_rows import Place, findings_batch, items_batch, items_of, seen_of, tables_of
from kcheck.scan.fleet_stages import (
    How,
    Identified,
    compare_partitions,
    identify,
    list_items,
    look_at_broker,
    scan_items,
)
from kcheck.scan.workers import Limits, Task, Workers
from kcheck.tables import runs

if TYPE_CHECKING:
    import pyarrow as pa

MEMORY_MAX = 4 << 30
"""A directory that needs more bytes than these becomes a finding."""
_AHEAD = 16
"""For each process so many batches of directories are held, at most."""
_REPLICAS = "_replicas"
"""What is on the disk only while replicas are put together."""
_FIRST = 1 << 60
"""What others wait for is begun first."""

Chosen = Callable[[str, Severity], bool]
"""Tells by the id of its rule and by its severity whether a finding is meant."""


class Run(NamedTuple):
    """A run: its name, where it is written, how it is done. `now` tells the time in ms since 1970.

    A directory that takes more than `seconds` becomes a finding. The findings that are `shown` are written; `tell` is
    told a few times a second how far it is. With one that `fails` the run does.
    """

    name: str
    out: str
    how: How
    jobs: int
    seconds: float
    now: Callable[[], int]
    shown: Chosen
    fails: Chosen
    tell: Callable[[Coverage], None]


def scan(roots: Sequence[str], run: Run) -> tuple[Report, bool]:
    """Look at every log dir that the roots name and write the tables of the run.

    Returns how much it was, and whether there is a finding that `fails`.
    """
    import pyarrow  # noqa: F401, ICN001 - the processes that are started below have it then

    from kcheck.scan.fleet_groups import Groups

    started = run.now()
    found = inventory(roots)
    _outside(run.out, found.log_dirs)
    release, depth = run.how.release.name, run.how.depth
    coverage = Coverage()
    with (
        RunOutput(run.out, run.name, {"kafka": release, "depth": depth}) as output,
        Workers(
            run.jobs, done=lambda _: None, tick=lambda: run.tell(coverage), limits=Limits(run.seconds, MEMORY_MAX)
        ) as workers,
    ):
        engine = _Engine(run, workers, output, coverage)
        with Groups(join(output.path, _REPLICAS)) as groups:
            engine.look(found, groups.add)
            engine.compare(groups.batches())
        rows = output.rows
        counts = (rows[name] for name in ("log_dirs", "partitions", "findings"))
        ended = run.now()
        row = (
            run.name,
            started,
            ended,
            __version__,
            release,
            depth,
            json.dumps([*roots]),
            *counts,
            engine.finished,
        )
        output.write("runs", batch_of([row], runs.TABLE.run_columns))
        output.finish({"started": started, "ended": ended, "finished": engine.finished})
    body = {"run": run.name, "path": output.path, "depth": depth, "finished": engine.finished, "rows": output.rows}
    return Report(verb="fleet-scan", kafka=release, body=body, elsewhere=engine.counts), engine.failed


def _outside(out: str, log_dirs: Sequence[FleetLogDir]) -> None:
    """UsageError where a run would be written into what is looked at."""
    target = real(out)
    for log_dir in log_dirs:
        path = real(log_dir.path)
        if target == path or target.startswith(path.rstrip("/") + "/"):
            raise UsageError(f"--out {out} stands inside of {log_dir.path}, where kcheck writes nothing")


class _Step(NamedTuple):
    """What comes next, in the order of the rows: directories of a log dir, its end, the end of its broker."""

    log_dir: Identified
    items: bytes | None = None
    failed: Finding | None = None
    is_end: bool = False
    is_end_of_broker: bool = False


class _Engine:
    """One run: `counts` are the findings that were written, by severity."""

    def __init__(self, run: Run, workers: Workers, output: RunOutput, coverage: Coverage) -> None:
        self.counts = {str(severity): 0 for severity in Severity}
        self.failed = False
        self.finished = True
        self._run = run
        self._how = run.how
        self._workers = workers
        self._output = output
        self._coverage = coverage

    def look(self, found: Inventory, keep: "Callable[[pa.RecordBatch], None]") -> None:
        """Look at all of it and `keep` the replicas; what was seen is held for one broker at a time."""
        self._tell((None, None), found.findings)
        log_dirs = sorted(self._identified(found.log_dirs), key=lambda each: (each.group, each.path))
        of_broker: list[tuple[Identified, list[bytes]]] = []
        of_log_dir: list[bytes] = []
        steps = self._steps(log_dirs)
        for step, answers in self._workers.run(steps, ahead=_AHEAD * self._run.jobs):
            if step.failed is not None:
                self._tell(_place(step.log_dir), (step.failed,))
            elif step.items is not None:
                for batch in self._scanned(step.log_dir, step.items, answers[0]):
                    for name, rows in tables_of(batch).items():
                        self._write(name, rows)
                    keep(replica_rows(batch))
                    of_log_dir.append(to_bytes(seen_of(batch)))
                    self._coverage.partitions += batch.num_rows
            elif step.is_end:
                of_broker.append((step.log_dir, of_log_dir))
                of_log_dir = []
            if step.is_end_of_broker:
                self._whole_broker(of_broker)
                of_broker = []

    def compare(self, groups: "Iterable[pa.RecordBatch]") -> None:
        """Compare the replicas of partitions on several brokers; where that fails, one by one."""
        tasks = ((batch, (self._task(compare_partitions, to_bytes(batch), Location()),)) for batch in groups)
        for batch, (answer,) in self._workers.run(tasks, ahead=2 * self._run.jobs):
            if not isinstance(answer, Finding):
                for data in answer or ():
                    for found in from_bytes(data):
                        for name, rows in tables_of_compared(found).items():
                            self._write(name, rows)
            elif batch.num_rows > 1:
                self.compare([batch.slice(number, 1) for number in range(batch.num_rows)])
            else:
                (row,) = batch.select(KEY).to_pylist()
                where = Location(topic=row["topic"], partition=row["partition"])
                self._tell((row["cluster"], None), (answer._replace(where=where),))

    def _identified(self, log_dirs: Iterable[FleetLogDir]) -> Iterator[Identified]:
        tasks = ((each, (self._task(identify, each, Location(log_dir=each.path)),)) for each in log_dirs)
        for log_dir, (answer,) in self._workers.run(tasks):
            if isinstance(answer, Identified):
                yield answer
            elif answer is not None:
                self._tell((log_dir.cluster, log_dir.broker), (answer,))

    def _steps(self, log_dirs: Sequence[Identified]) -> Iterator[tuple[_Step, tuple[Task[Any], ...]]]:
        """Yield what is to be done, and the task of it; log dirs are listed a little ahead."""
        listed = self._workers.run(
            ((each, (self._task(list_items, each, _where(each), first=True),)) for each in log_dirs),
            ahead=2 * self._run.jobs,
        )
        for _, same in groupby(listed, key=lambda each: each[0].group):
            for log_dir, (answer,) in same:
                self._coverage.at = log_dir.path
                if isinstance(answer, Finding):
                    yield _Step(log_dir, failed=answer), ()
                    continue
                for count, items in answer or ():
                    self._coverage.planned["partitions"] += count
                    yield _Step(log_dir, items=items), (self._task(scan_items, items, _where(log_dir)),)
                yield _Step(log_dir, is_end=True), ()
            yield _Step(log_dir, is_end_of_broker=True), ()

    def _task(self, stage: Callable[[Any, How], Any], given: Any, where: Location, *, first: bool = False) -> Task[Any]:
        return Task(partial(stage, given, self._how), where, _FIRST if first else 0)

    def _scanned(self, log_dir: Identified, items: bytes, answer: Any) -> "Iterator[pa.RecordBatch]":
        """Yield what was found in directories; where they could not be looked at together, one by one."""
        if not isinstance(answer, Finding):
            for data in answer or ():
                yield from from_bytes(data)
            return
        alone = [item for batch in from_bytes(items) for item in items_of(batch)]
        if len(alone) == 1:
            self._tell(_place(log_dir), (answer._replace(where=alone[0].where),))
            return
        parts = [to_bytes(items_batch((item,))) for item in alone]
        tasks = [self._task(scan_items, part, item.where) for part, item in zip(parts, alone, strict=True)]
        for part, found in zip(parts, self._answers(tasks), strict=True):
            yield from self._scanned(log_dir, part, found)

    def _whole_broker(self, found: Sequence[tuple[Identified, list[bytes]]]) -> None:
        """Look at the log dirs of a broker together; where that fails, one by one."""
        if not found:
            return
        first = found[0][0]
        (answer,) = self._answers([self._task(look_at_broker, found, _where(first), first=True)])
        if not isinstance(answer, Finding):
            for name, data in answer or ():
                for batch in from_bytes(data):
                    self._write(name, batch)
        elif len(found) == 1:
            self._tell(_place(first), (answer,))
        else:
            for each in found:
                self._whole_broker((each,))

    def _answers(self, tasks: Sequence[Task[Any]]) -> list[Any]:
        ((_, answers),) = self._workers.run([(None, tasks)])
        return answers

    def _tell(self, place: Place, found: Sequence[Finding]) -> None:
        self._write("findings", findings_batch(place, found))

    def _write(self, name: str, batch: "pa.RecordBatch") -> None:
        if name == "findings" and batch.num_rows:
            batch = self._counted(batch)
        self._output.write(name, batch)

    def _counted(self, batch: "pa.RecordBatch") -> "pa.RecordBatch":
        """Return the findings that are to be written, and count them."""
        import pyarrow as pa

        ids, severities = batch.column("id").to_pylist(), map(Severity, batch.column("severity").to_pylist())
        is_shown = []
        for rule, severity in zip(ids, severities, strict=True):
            is_shown.append(self._run.shown(rule, severity))
            self.counts[severity] += is_shown[-1]
            self.failed = self.failed or self._run.fails(rule, severity)
            self.finished = self.finished and not rule.startswith("KC00")
        return batch.filter(pa.array(is_shown))


def _place(log_dir: Identified) -> Place:
    return log_dir.cluster, log_dir.broker


def _where(log_dir: Identified) -> Location:
    return Location(broker_id=log_dir.broker_id, log_dir=log_dir.path)
