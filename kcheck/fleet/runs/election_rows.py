"""The partitions of a cluster in the tables of a run (replicas, registration, and counted losses)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from kcheck.disk.paths import join
from kcheck.fleet.run import FleetRun
from kcheck.fleet.runs.replicas import FIELDS

if TYPE_CHECKING:
    import pyarrow as pa

PartitionKey = tuple[str, int]
COUNTS = (
    "leader_id", "broker_id", "lost_from", "lost_to", "lost_records", "lost_bytes", "refetch_from", "refetch_to",
    "refetch_records", "refetch_bytes",
)  # fmt: skip
PARTITIONS = (
    "topic_id", "leader", "last_leader", "last_leader_epoch", "leader_epoch", "partition_epoch", "replicas", "isr",
    "elr", "last_known_elr", "directories", "removing", "adding", "recovering",
)  # fmt: skip


class PartitionRows(NamedTuple):
    """The rows of a partition in the tables of a run: `counts` are rows of `truncation_plans`."""

    topic: str
    partition: int
    replicas: Sequence[Mapping[str, Any]]
    registration: Mapping[str, Any] | None
    counts: Sequence[Mapping[str, Any]]


def partition_rows(run: FleetRun, cluster: str | None, folder: str) -> Iterator[PartitionRows]:
    """Yield what the tables say of each partition of a cluster, by topic and number, in bounded memory."""
    from kcheck.fleet.scan.replica_groups import Groups

    with Groups(join(folder, "replicas"), FIELDS) as groups:
        for batch in _of_cluster(run, "replicas", ("cluster", "topic", "partition", *FIELDS), cluster):
            groups.add(batch)
        replicas = (
            ((row["topic"], row["partition"]), row["replicas"])
            for batch in groups.batches()
            for row in batch.to_pylist()
        )
        registered = _rows(run, "cluster_partitions", PARTITIONS, cluster)
        counts = _rows(run, "truncation_plans", COUNTS, cluster)
        yield from merged(replicas, registered, counts)


def merged(
    replicas: Iterable[tuple[PartitionKey, Sequence[Mapping[str, Any]]]],
    registered: Iterable[Mapping[str, Any]],
    counts: Iterable[Mapping[str, Any]],
) -> Iterator[PartitionRows]:
    """Yield the rows of each partition, given the rows of three tables by topic and number."""
    streams: tuple[Iterator[tuple[PartitionKey, Sequence[Mapping[str, Any]]]], ...] = (
        iter(replicas),
        _by_partition(registered),
        _by_partition(counts),
    )
    heads = [next(stream, None) for stream in streams]
    while keys := [head[0] for head in heads if head is not None]:
        key = min(keys)
        of_tables: list[Sequence[Mapping[str, Any]]] = []
        for number, head in enumerate(heads):
            is_next = head is not None and head[0] == key
            of_tables.append(head[1] if is_next and head is not None else ())
            if is_next:
                heads[number] = next(streams[number], None)
        copies, registration, counted = of_tables
        topic, partition = key
        if copies or registration:
            yield PartitionRows(topic, partition, copies, registration[0] if registration else None, counted)


def _by_partition(
    rows: Iterable[Mapping[str, Any]],
) -> Iterator[tuple[PartitionKey, Sequence[Mapping[str, Any]]]]:
    for key, same in groupby(rows, key=itemgetter("topic", "partition")):
        yield key, [*same]


def _rows(run: FleetRun, table: str, columns: Sequence[str], cluster: str | None) -> Iterator[Mapping[str, Any]]:
    for batch in _of_cluster(run, table, ("cluster", "topic", "partition", *columns), cluster):
        yield from batch.to_pylist()


def _of_cluster(run: FleetRun, table: str, columns: Sequence[str], cluster: str | None) -> "Iterator[pa.RecordBatch]":
    """Yield the rows of a cluster."""
    from pyarrow import compute

    for batch in run.batches(table, columns, cluster):
        names = batch.column("cluster")
        rows = batch.filter(compute.is_null(names) if cluster is None else compute.equal(names, cluster))
        if rows.num_rows:
            yield rows
