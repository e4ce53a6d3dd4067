"""Steps of a fleet scan that may fail. Failing groups are tried one by one; a single failure is one finding."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from kcheck.arrow import from_bytes, to_bytes
from kcheck.fleet.scan.broker_step import look_at_broker
from kcheck.fleet.scan.cluster_metadata import ClusterCopies, ClusterFacts, ClusterKey
from kcheck.fleet.scan.cluster_steps import clusters_of, informed, look_at_cluster, read_metadata
from kcheck.fleet.scan.identify import Identified, ScanOptions
from kcheck.fleet.scan.replicas import KEY
from kcheck.fleet.scan.rows import findings_batch, items_batch, items_of
from kcheck.fleet.scan.steps import compare_partitions, scan_items
from kcheck.jobs.threads import Threads
from kcheck.jobs.workers import Task, Workers
from kcheck.model.finding import Finding, Location

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")

MEMORY_MAX = 4 << 30
"""A directory that needs more bytes than these becomes a finding."""
_COPIES_AHEAD = 2
"""Approximate number of metadata copies with answers in memory, as they can be large."""
_FIRST = 1 << 60
"""Weight of steps that others wait for, so that they begin first."""

TableRows = Iterator[tuple[str, "pa.RecordBatch"]]
"""Names of tables, and their rows; `directories` are rows of scanned directories."""
OfBroker = Sequence[tuple[Identified, Sequence[bytes]]]
"""The log dirs of a broker, and what was seen of the partitions of each."""


class Retry:
    """Runs steps by processes, and again for each thing alone where that failed."""

    def __init__(self, workers: Workers | Threads, how: ScanOptions) -> None:
        self._workers = workers
        self._how = how

    def task(
        self, stage: Callable[[Any, ScanOptions], Any], given: Any, where: Location, *, first: bool = False
    ) -> Task[Any]:
        """Return a step to run."""
        return Task(partial(stage, given, self._how), where, _FIRST if first else 0)

    def with_metadata(
        self, log_dirs: Sequence[Identified], write: "Callable[[str, pa.RecordBatch], None]"
    ) -> list[Identified]:
        """Return the log dirs with the facts of their clusters' metadata; `write` gets rows of tables."""
        copies: dict[str, str] = {}
        facts: dict[ClusterKey, ClusterFacts | None] = {}
        for (_, log_dir), copy in self.copies((None, log_dir) for log_dir in log_dirs if log_dir.holds_metadata):
            if isinstance(copy, Finding):
                write("findings", findings_batch((log_dir.cluster, log_dir.broker), (copy,)))
            elif copy is not None:
                copies[log_dir.path] = copy
        for (_, cluster), known, rows in self.clusters((None, cluster) for cluster in clusters_of(log_dirs, copies)):
            facts[cluster.key] = known
            for name, batch in rows:
                write(name, batch)
        return informed(log_dirs, facts)

    def copies(
        self, log_dirs: Iterable[tuple[T, Identified]]
    ) -> Iterator[tuple[tuple[T, Identified], str | Finding | None]]:
        """Yield the copies of the metadata in log dirs."""
        tasks = ((pair, (self.task(read_metadata, pair[1], where(pair[1]), first=True),)) for pair in log_dirs)
        for pair, (copy,) in self._workers.run(tasks, ahead=_COPIES_AHEAD):
            yield pair, copy

    def clusters(
        self, clusters: Iterable[tuple[T, ClusterCopies]]
    ) -> Iterator[tuple[tuple[T, ClusterCopies], ClusterFacts | None, TableRows]]:
        """Yield what the metadata of clusters mean for their log dirs, and rows of tables."""
        tasks = ((pair, (self.task(look_at_cluster, pair[1], Location(), first=True),)) for pair in clusters)
        for pair, (answer,) in self._workers.run(tasks, ahead=_COPIES_AHEAD):
            if isinstance(answer, Finding):
                yield pair, None, iter((("findings", findings_batch((pair[1].cluster, None), (answer,))),))
            elif answer is not None:
                facts, tables = answer
                yield pair, facts, ((name, batch) for name, data in tables for batch in from_bytes(data))

    def scanned(self, items: bytes, answers: Sequence[Any]) -> TableRows:
        """Yield what was found in directories; where they could not be looked at together, one by one.

        Without answers, all of them are remembered.
        """
        (answer,) = answers or ((items,),)
        if not isinstance(answer, Finding):
            yield from (("directories", batch) for data in answer or () for batch in from_bytes(data))
            return
        alone = [item for batch in from_bytes(items) for item in items_of(batch)]
        if len(alone) == 1:
            (item,) = alone
            yield "findings", findings_batch((item.cluster, item.broker), (answer._replace(where=item.where),))
            return
        parts = [to_bytes(items_batch((item,))) for item in alone]
        tasks = [self.task(scan_items, part, item.where) for part, item in zip(parts, alone, strict=True)]
        for part, own_answer in zip(parts, self._answers(tasks), strict=True):
            yield from self.scanned(part, (own_answer,))

    def whole_broker(self, log_dirs: OfBroker) -> TableRows:
        """Look at the log dirs of a broker together; where that fails, one by one."""
        if not log_dirs:
            return
        first = log_dirs[0][0]
        (answer,) = self._answers([self.task(look_at_broker, log_dirs, where(first), first=True)])
        if not isinstance(answer, Finding):
            yield from ((name, batch) for name, data in answer or () for batch in from_bytes(data))
        elif len(log_dirs) == 1:
            yield "findings", findings_batch((first.cluster, first.broker), (answer,))
        else:
            for log_dir in log_dirs:
                yield from self.whole_broker((log_dir,))

    def compared(self, batch: "pa.RecordBatch", answer: Any) -> TableRows:
        """Yield what was found in partitions on several brokers; where they failed together, one by one."""
        if not isinstance(answer, Finding):
            from kcheck.fleet.scan.comparison import tables_of_compared  # as for the comparison itself

            for data in answer or ():
                for compared_part in from_bytes(data):
                    yield from tables_of_compared(compared_part).items()
        elif batch.num_rows > 1:
            alone = [batch.slice(number, 1) for number in range(batch.num_rows)]
            tasks = [self.task(compare_partitions, to_bytes(group), Location()) for group in alone]
            for part, compared_part in zip(alone, self._answers(tasks), strict=True):
                yield from self.compared(part, compared_part)
        else:
            (row,) = batch.select(KEY).to_pylist()
            at = Location(topic=row["topic"], partition=row["partition"])
            yield "findings", findings_batch((row["cluster"], None), (answer._replace(where=at),))

    def _answers(self, tasks: Sequence[Task[Any]]) -> list[Any]:
        ((_, answers),) = self._workers.run([(None, tasks)])
        return answers


def where(log_dir: Identified) -> Location:
    """Return the place of a log dir."""
    return Location(broker_id=log_dir.broker_id, log_dir=log_dir.path)
