"""The replicas of partitions as rows, with all that `fleet/scan/comparison.py` needs to compare them."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kcheck.arrow import schema_of
from kcheck.core.replication.lineage import EpochRange, Lineage, lineage_of_cache
from kcheck.core.start.startup import Outcome
from kcheck.disk.paths import folder_of
from kcheck.documents.strays import NOT_SERVED
from kcheck.fleet.scan.log_values import SeldomValues
from kcheck.model.entries import Offset
from kcheck.model.names import SWAP
from kcheck.model.report import Column
from kcheck.model.segments import EpochRun
from kcheck.model.views import PartitionView
from kcheck.replicas.replica import LogFile, ReplicaState
from kcheck.tables import partitions

if TYPE_CHECKING:
    import pyarrow as pa

OWN = (
    Column("compared", "bool", "True if it is compared with the replicas on other brokers."),
    Column("loaded_log_start", "int64", "The log start once its broker has started."),
    Column("loaded_log_end", "int64", "The log end, likewise."),
    Column("loaded_high_watermark", "int64", "The high watermark, likewise."),
    Column("first_segment", "int64", "The base offset of the oldest segment, likewise."),
    Column("seen_epoch", "int64", "The highest epoch that its file or its last batch shows."),
    Column("problem", "string", "The reason why it cannot take part."),
    Column("told_differs", "bool", "True if its file contradicts the cache about its records."),
    Column("is_read", "bool", "True if its batches were read."),
    Column("lacks_epochs", "bool", "True if these lack epochs, which are then looked up in its log."),
    Column("compacted", "bool", "True if its log is compacted, as far as is known."),
    Column("folder", "bytes", "Its path, where more of its log may be read."),
    Column("cluster_topic_id", "string", "The id of its topic in the metadata of the cluster."),
    Column("is_certain", "bool", "True if the metadata is at least as new as its broker's; null without metadata."),
    Column("in_isr", "bool", "True if the metadata lists the replica in the ISR; null without the partition."),
    Column("log_faults", "json", "The facts of its log that change the cost of its election; null without any."),
)
"""The columns of a replica next to the columns of its directory."""
EPOCHS = (
    Column("cached_epochs", "json", "The entries of the cache."),
    Column("batch_epochs", "json", "The epochs of its batches."),
)
"""Further columns of the table `replicas` next to OWN."""
_ENTRY = (Column("epoch", "int64", "An epoch."), Column("start_offset", "int64", "Its first offset."))
LISTS: dict[str, tuple[Column, ...]] = {
    "cache": _ENTRY,
    "told": _ENTRY,
    "runs": (*_ENTRY, Column("last_offset", "int64", "Its last offset.")),
    "logs": (
        Column("base_offset", "int64", "The base offset."),
        Column("size", "int64", "Bytes that are batches."),
        Column("swap", "int64", "1 where a `.swap` has them, which the broker puts in place when it starts, else 0."),
    ),
}
"""Lists in it (epochs after the next start, differing epochs of its file, epochs of its batches, its segments)."""
_IN_CLUSTER = ("cluster_topic_id", "is_certain", "in_isr")
VIEWED = (
    "broker", "broker_id", "log_dir", "dir", "topic_id", "log_start_offset", "high_watermark", "log_end_offset",
    *_IN_CLUSTER,
)  # fmt: skip
"""The columns of a replica that rules read, next to its epochs."""
FIELDS = (
    *VIEWED,
    *(column.name for column in OWN if column.name not in ("compared", *VIEWED)),
    *LISTS,
)
"""The columns of a replica that the comparison reads."""
FAULTS = SeldomValues(ReplicaState, ("lost_head", "batches", "first_unstable", "is_compacted"))
_ENCODE = json.JSONEncoder(separators=(",", ":")).encode
KEY = ("cluster", "topic", "partition")
"""The columns that identify a partition."""
OF_TOPIC = "replicas_of_topic"
"""On how many brokers the partition of a topic is that is on most of them."""


def own_row(
    view: PartitionView | None, state: ReplicaState | None
) -> tuple[tuple[object, ...], tuple[Sequence[tuple[object, ...]], ...]]:
    """Return the columns of OWN and EPOCHS, and the rows of LISTS; `state` is None for an unserved replica."""
    if view is None or state is None:
        return (False, *(None,) * (len(OWN) + len(EPOCHS) - 1)), ((),) * len(LISTS)
    told_differs = _told_differs(view, state)
    lacks_epochs = view.is_read and state.lineage is None
    runs = tuple((run.epoch, run.first_offset, run.last_offset) for run in runs_of(view)) if view.is_read else ()
    row = (
        view.is_replica,
        state.log_start_offset,
        state.log_end_offset,
        state.high_watermark,
        state.first_segment,
        state.latest_epoch,
        state.problem,
        told_differs,
        view.is_read,
        lacks_epochs,
        view.is_compacted,
        folder_of(view.where).encode(errors="surrogateescape") if state.logs else None,
        *_in_cluster(view),
        FAULTS.text(state),
        _ENCODE(state.cache),
        _ENCODE(runs) if view.is_read and not lacks_epochs else None,
    )
    return row, (
        state.cache,
        view.leader_epochs if told_differs else (),
        runs,
        tuple((log.base_offset, log.size, int(is_swap(log))) for log in state.logs),
    )


def _in_cluster(view: PartitionView) -> tuple[str | None, bool | None, bool | None]:
    """Return the columns from the metadata of the cluster."""
    replica = view.in_cluster
    if replica is None:
        return None, None, None
    registration = replica.registration
    in_isr = None if registration is None else view.where.broker_id in registration.isr
    return replica.topic_id, replica.is_certain, in_isr


def is_swap(log: LogFile) -> bool:
    """Return whether a segment is in a `.swap` that the broker puts in place."""
    return log.path.endswith(SWAP)


def runs_of(view: PartitionView) -> tuple[EpochRun, ...]:
    """Return the epochs of its batches."""
    return tuple(run for segment in view.read or () for run in segment.epochs)


def lineage_of_runs(runs: Sequence[EpochRun], first: Offset, end: Offset | None) -> Lineage:
    """Return the epochs of a log's batches from segment `first`; a gap in one epoch does not end its range."""
    ranges: list[EpochRange] = []
    for run in (run for run in runs if run.last_offset >= first):
        epoch = run.epoch if run.epoch >= 0 else None
        stop = Offset(run.last_offset + 1 if end is None else min(run.last_offset + 1, end))
        if ranges and ranges[-1].epoch == epoch and run.first_offset < stop:
            ranges[-1] = EpochRange(ranges[-1].start, stop, epoch)
        elif run.first_offset < stop:
            ranges.append(EpochRange(run.first_offset, stop, epoch))
    return tuple(ranges)


def are_joined(runs: Sequence[EpochRun], bases: Sequence[int]) -> bool:
    """Return whether each segment of a log begins where the batches before it end. Then kcheck reads no batch again."""
    end, at = None, 0
    for base in bases:
        while at < len(runs) and runs[at].first_offset < base:
            end, at = runs[at].last_offset + 1, at + 1
        if end is not None and end < base:
            return False
    return True


def _told_differs(view: PartitionView, state: ReplicaState) -> bool:
    """Return whether the epochs of its file contradict the cache about its records."""
    file_epochs, start, end = view.leader_epochs, view.log_start_offset, view.log_end_offset
    if start is None or end is None or (state.log_start_offset, state.log_end_offset) != (start, end):
        return True
    caches = (file_epochs, state.cache) if file_epochs != state.cache else ()
    return len({lineage_of_cache(cache, log_start_offset=start, log_end_offset=end) for cache in caches}) > 1


def replicas_schema() -> "pa.Schema":
    """Return the schema of `replica_rows`."""
    import pyarrow as pa

    known = schema_of((*partitions.TABLE.run_columns, *OWN))
    lists = {name: pa.list_(pa.struct(list(schema_of(columns)))) for name, columns in LISTS.items()}
    return pa.schema([(name, lists.get(name) or known.field(name).type) for name in (*KEY, *FIELDS)])


def replica_rows(batch: "pa.RecordBatch") -> "pa.RecordBatch":
    """Return the replicas in a batch of directories that are compared: KEY and FIELDS. A stray has a problem."""
    import pyarrow as pa

    names = [*KEY, *FIELDS]
    columns = [batch.column(f"of_{name}" if name in LISTS else name) for name in names]
    columns[names.index("problem")] = _problems(batch)
    there = pa.RecordBatch.from_arrays(columns, names=names)
    return there.filter(batch.column("compared"))


def _problems(batch: "pa.RecordBatch") -> "pa.StringArray":
    """Return why replicas cannot take part. No broker serves a directory that its next start makes a stray."""
    from pyarrow import compute

    problems, reasons = batch.column("problem"), batch.column("start_reason")
    is_stray = compute.fill_null(compute.equal(batch.column("start_outcome"), str(Outcome.STRAY)), False)
    words = compute.binary_join_element_wise(NOT_SERVED, reasons, "", null_handling="skip")
    return compute.if_else(compute.and_(is_stray, compute.is_null(problems)), words, problems)
