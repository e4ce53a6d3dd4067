"""The replicas of partitions on several brokers: as rows, and compared one partition at a time.

`fleet/scan/comparison.py` compares many partitions at once; what it does not decide by itself, this module does.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kcheck.arrow import schema_of
from kcheck.core.replication.lineage import EpochRange, Lineage, lineage_of_cache
from kcheck.core.replication.truncation_plans import TruncationPlan
from kcheck.core.start.startup import Outcome
from kcheck.disk.paths import folder_of, join
from kcheck.disk.tree import tree_of
from kcheck.documents.strays import NOT_SERVED
from kcheck.documents.truncation import table_rows
from kcheck.formats.leader_epoch_checkpoint import LeaderEpochCheckpoint
from kcheck.model.cluster import PartitionRegistration, ReplicaInCluster
from kcheck.model.entries import Epoch, EpochEntries, EpochEntry, Offset
from kcheck.model.finding import Finding, Location
from kcheck.model.names import SWAP, DirectoryState, log_name
from kcheck.model.parsed import Parsed
from kcheck.model.release import Release
from kcheck.model.report import Column
from kcheck.model.segments import End, EpochRun, SegmentView
from kcheck.model.views import FileView, PartitionView, ReplicasView
from kcheck.replicas.leader_plans import Election, fork_of, is_foreign, plans_of
from kcheck.replicas.replica import LogFile, ReplicaState
from kcheck.survey.rule_runner import check_replicas
from kcheck.tables import findings, partitions, replica_sets, truncation_plans

if TYPE_CHECKING:
    import pyarrow as pa

OWN = (
    Column("compared", "bool", "Whether it is compared with those on other brokers."),
    Column("loaded_log_start", "int64", "The log start after a start of its broker."),
    Column("loaded_log_end", "int64", "The log end, likewise."),
    Column("loaded_high_watermark", "int64", "The high watermark, likewise."),
    Column("first_segment", "int64", "The base offset of the oldest segment, likewise."),
    Column("seen_epoch", "int64", "The highest epoch that its file or its last batch shows."),
    Column("problem", "string", "Why it cannot take part."),
    Column("told_differs", "bool", "Whether its file contradicts the cache about its records."),
    Column("is_read", "bool", "Whether its batches were read."),
    Column("lacks_epochs", "bool", "Whether these lack epochs, which are then looked up in its log."),
    Column("compacted", "bool", "Whether its log is compacted, as far as is known."),
    Column("folder", "bytes", "Its path, where more of its log may be read."),
    Column("cluster_topic_id", "string", "The id that the metadata of the cluster give its topic."),
    Column("is_certain", "bool", "Whether these are at least those that its broker had; null without metadata."),
    Column("in_isr", "bool", "Whether they have it in the ISR; null without such a partition."),
)
"""The columns of a replica beside those of its directory."""
EPOCHS = (
    Column("cached_epochs", "json", "The entries of the cache."),
    Column("batch_epochs", "json", "The epochs of its batches."),
)
"""What the table `replicas` has beside OWN."""
_ENTRY = (Column("epoch", "int64", "An epoch."), Column("start_offset", "int64", "Its first offset."))
LISTS = {
    "cache": _ENTRY,
    "told": _ENTRY,
    "runs": (*_ENTRY, Column("last_offset", "int64", "Its last offset.")),
    "logs": (
        Column("base_offset", "int64", "The base offset."),
        Column("size", "int64", "Bytes that are batches."),
        Column("swap", "int64", "1 where a `.swap` holds them, which a start puts in place, else 0."),
    ),
}
"""Lists in it: epochs after a start, those of its file where they differ, those of its batches, its segments."""
_IN_CLUSTER = ("cluster_topic_id", "is_certain", "in_isr")
VIEWED = (
    "broker", "broker_id", "log_dir", "dir", "topic_id", "log_start_offset", "high_watermark", "log_end_offset",
    *_IN_CLUSTER,
)  # fmt: skip
"""The columns of a replica that rules read, beside its epochs."""
FIELDS = (
    *VIEWED,
    *(column.name for column in OWN if column.name not in ("compared", *VIEWED)),
    *LISTS,
)
"""The columns of a replica that the comparison reads."""
_ENCODE = json.JSONEncoder(separators=(",", ":")).encode
KEY = ("cluster", "topic", "partition")
"""The columns that identify a partition."""
OF_TOPIC = "replicas_of_topic"
"""On how many brokers the partition of a topic is that is on most of them."""

FINDINGS = (Column("broker", "string", "The broker."), *findings.TABLE.columns)
PLANS = (Column("broker", "string", "The broker."), *truncation_plans.TABLE.columns)
SETS = replica_sets.TABLE.run_columns


class Compared(NamedTuple):
    """The replicas of a partition: a row of `replica_sets`, rows of `PLANS` and of `FINDINGS`."""

    whole: tuple[object, ...]
    plans: tuple[tuple[object, ...], ...]
    findings: tuple[tuple[object, ...], ...]


def own_row(
    view: PartitionView | None, state: ReplicaState | None
) -> tuple[tuple[object, ...], tuple[Sequence[tuple[object, ...]], ...]]:
    """Return the columns of OWN and EPOCHS, and the rows of LISTS; `state` is None for what no broker serves."""
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
    """Return the columns of what the metadata of the cluster say."""
    replica = view.in_cluster
    if replica is None:
        return None, None, None
    registration = replica.registration
    in_isr = None if registration is None else view.where.broker_id in registration.isr
    return replica.topic_id, replica.is_certain, in_isr


def _replica_in_cluster(
    broker_id: int, topic_id: str | None, is_certain: bool | None, in_isr: bool | None
) -> ReplicaInCluster | None:
    """Return what the rules about replicas need of what the metadata say."""
    if is_certain is None:
        return None
    registration = None if in_isr is None else PartitionRegistration((), (broker_id,) if in_isr else ())
    return ReplicaInCluster("", topic_id, registration, is_certain=is_certain)


def is_swap(log: LogFile) -> bool:
    """Whether a segment lies in a `.swap` that a start puts in place."""
    return log.path.endswith(SWAP)


def runs_of(view: PartitionView) -> tuple[EpochRun, ...]:
    """Return the epochs of its batches."""
    return tuple(run for segment in view.read or () for run in segment.epochs)


def lineage_of_runs(runs: Sequence[EpochRun], first: Offset, end: Offset | None) -> Lineage:
    """Return what the batches of a log say that begins at segment `first`; a gap in one epoch does not end its run."""
    ranges: list[EpochRange] = []
    for run in (run for run in runs if run.last_offset >= first):
        epoch = run.epoch if run.epoch >= 0 else None
        stop = Offset(run.last_offset + 1 if end is None else min(run.last_offset + 1, end))
        if ranges and ranges[-1].epoch == epoch and run.first_offset < stop:
            ranges[-1] = EpochRange(ranges[-1].start, stop, epoch)
        elif run.first_offset < stop:
            ranges.append(EpochRange(run.first_offset, stop, epoch))
    return tuple(ranges)


def _told_differs(view: PartitionView, state: ReplicaState) -> bool:
    """Whether the epochs of its file contradict those of the cache about its records."""
    file_epochs, start, end = view.leader_epochs, view.log_start_offset, view.log_end_offset
    if start is None or end is None or (state.log_start_offset, state.log_end_offset) != (start, end):
        return True
    caches = (file_epochs, state.cache) if file_epochs != state.cache else ()
    return len({lineage_of_cache(cache, log_start_offset=start, log_end_offset=end) for cache in caches}) > 1


def compared(group: Mapping[str, Any], release: Release) -> Compared:
    """Compare the replicas of one partition: `group` has its KEY, `replicas_of_topic`, and `replicas` with FIELDS."""
    rows = _by_broker(group)
    brokers = {row["broker_id"]: row["broker"] for row in rows}
    states = tuple(_state(row, group["topic"], group["partition"]) for row in rows)
    plans = [*plans_of(states, Election(), release)]
    cheapest = next((plan for plan in plans if plan.is_best), None)
    views = tuple(_view(row, group["topic"], group["partition"]) for row in rows)
    return Compared(
        (group["cluster"], *_set_row(states, cheapest, brokers, group, release)),
        tuple(row for plan in plans for row in table_rows(plan, brokers=brokers)),
        findings_of(ReplicasView(views, (), group["replicas_of_topic"]), brokers, release),
    )


def findings_of(
    view: ReplicasView, brokers: Mapping[int | None, str | None], release: Release
) -> tuple[tuple[object, ...], ...]:
    """Return what the rules about replicas find, as rows of FINDINGS; `brokers` are the names of them by their ids."""
    found_by_rules = check_replicas(view, release) if view.replica_count_of_topic > 1 else ()
    return tuple(
        (brokers[finding.where.broker_id], *findings.row(finding))
        for finding in sorted(found_by_rules, key=Finding.sort_key)
    )


def _by_broker(group: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the replicas by the ids of their brokers; of two with one id the last counts, as for `check`."""
    ordered = sorted(group["replicas"], key=lambda row: (row["log_dir"] or "", row["dir"] or ""))
    by_id = {row["broker_id"]: row for row in ordered}
    return [by_id[broker_id] for broker_id in sorted(by_id)]


def _set_row(
    states: Sequence[ReplicaState], plan: TruncationPlan | None, brokers: Mapping[int, str | None],
    group: Mapping[str, Any], release: Release,
) -> Iterator[object]:  # fmt: skip
    leader = None if plan is None else plan.leader
    one = next((state for state in states if state.broker_id == leader), None)
    able = [state for state in states if state.problem is None and not (one and is_foreign(state, one, release))]
    marks = [state.high_watermark for state in able if state.high_watermark is not None]
    yield from (brokers.get(leader) if leader is not None else None, leader, group["topic"], group["partition"])
    yield from (
        len(states),
        group["replicas_of_topic"],
        len(able),
        None if plan is None else plan.leader_log_end_offset,
    )
    yield max(marks, default=None)
    if plan is None or one is None:
        yield from (None,) * 5
        return
    yield from (plan.lost_offsets, plan.lost_below_high_watermark)
    end = one.log_end_offset
    assert end is not None
    # What lies before the first segment is in remote storage, if anywhere.
    start = max([one.log_start_offset, one.first_segment, *(_shared(one, other) for other in able if other is not one)])
    mark = min(max(marks, default=Offset(0)), end)
    yield from (start, end, max(0, mark - start)) if start < end else (None,) * 3


def _shared(one: ReplicaState, other: ReplicaState) -> Offset:
    """Return up to where the other replica has what one has; where that is not known, what does not contradict it."""
    parts = fork_of(one, other)
    for known in (parts.common_prefix, parts.first_difference):
        if known is not None:
            return known
    assert one.log_end_offset is not None
    assert other.log_end_offset is not None
    end = min(one.log_end_offset, other.log_end_offset)
    return end if max(one.log_start_offset, other.log_start_offset) < end else one.log_start_offset


def _entries(rows: Sequence[Mapping[str, int]]) -> EpochEntries:
    return tuple(EpochEntry(Epoch(row["epoch"]), Offset(row["start_offset"])) for row in rows)


def _runs(row: Mapping[str, Any]) -> tuple[EpochRun, ...]:
    return tuple(EpochRun(run["epoch"], run["start_offset"], run["last_offset"]) for run in row["runs"])


def _state(row: Mapping[str, Any], topic: str, partition: int) -> ReplicaState:
    end = row["loaded_log_end"]
    folder = (row["folder"] or b"").decode(errors="surrogateescape")
    disk = tree_of(folder).directory(folder)
    return ReplicaState(
        broker_id=row["broker_id"], topic=topic, partition=partition, cache=_entries(row["cache"]),
        log_end_offset=end, log_start_offset=row["loaded_log_start"], first_segment=row["first_segment"],
        high_watermark=row["loaded_high_watermark"], latest_epoch=row["seen_epoch"],
        logs=tuple(
            LogFile(
                path=join(folder, log_name(log["base_offset"]) + SWAP * log["swap"]),
                base_offset=log["base_offset"], size=log["size"], disk=disk,
            )
            for log in row["logs"]
        ),
        lineage=lineage_of_runs(_runs(row), row["first_segment"], end)
        if row["is_read"] and not row["lacks_epochs"]
        else None,
        problem=row["problem"], topic_id=row["topic_id"],
    )  # fmt: skip


def viewed(replica: Iterable[Any], topic: str, partition: int) -> PartitionView:
    """Return what the rules about replicas look at, given VIEWED of a replica; of its epochs nothing."""
    _, broker_id, log_dir, name, topic_id, start, mark, end, *in_cluster = replica
    where = Location(broker_id, log_dir, name, None, None, None, topic, partition)
    view = PartitionView(where, topic, partition, DirectoryState.CURRENT, topic_id, None, start, None, mark, end)
    return view._replace(in_cluster=_replica_in_cluster(broker_id, *in_cluster))


def _view(row: Mapping[str, Any], topic: str, partition: int) -> PartitionView:
    """Return what the rules about replicas look at."""
    view = viewed((row[name] for name in VIEWED), topic, partition)
    file_epochs = _entries(row["told"] if row["told_differs"] else row["cache"])
    value = LeaderEpochCheckpoint(
        0, [entry.epoch for entry in file_epochs], [entry.start_offset for entry in file_epochs]
    )
    read = (_segment(view.where, _runs(row)),) if row["is_read"] else None
    return view._replace(epochs=FileView("", "", view.where, 0, Parsed(value)), read=read, cleaned=row["compacted"])


def _segment(where: Location, runs: tuple[EpochRun, ...]) -> SegmentView:
    """Return no more of a log than its epochs."""
    return SegmentView(
        where, Offset(0), 0, 0, End.WHOLE, zeros=False, batches=0, first_offset=None, end_offset=Offset(0),
        max_timestamp=-1, epochs=runs, faults=(), counts={}, beyond=None, offset_index=None, time_index=None,
        transactions=None,
    )  # fmt: skip


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
    """Return why replicas cannot take part: nobody serves one of which the next start makes a stray."""
    from pyarrow import compute

    problems, reasons = batch.column("problem"), batch.column("start_reason")
    is_stray = compute.fill_null(compute.equal(batch.column("start_outcome"), str(Outcome.STRAY)), False)
    words = compute.binary_join_element_wise(NOT_SERVED, reasons, "", null_handling="skip")
    return compute.if_else(compute.and_(is_stray, compute.is_null(problems)), words, problems)


def tables_of_compared(batch: "pa.RecordBatch") -> "dict[str, pa.RecordBatch]":
    """Return the published tables of a batch of `fleet/scan/comparison.py`."""
    import pyarrow as pa
    from pyarrow import compute

    tables = {"replica_sets": batch.select(schema_of(SETS).names)}
    for name, table in (("truncation_plans", truncation_plans), ("findings", findings)):
        lists = batch.column(f"of_{name}")
        clusters = batch.column("cluster").take(compute.list_parent_indices(lists))
        columns = [clusters, *lists.flatten().flatten()]
        tables[name] = pa.RecordBatch.from_arrays(columns, schema=schema_of(table.TABLE.run_columns))
    return tables
