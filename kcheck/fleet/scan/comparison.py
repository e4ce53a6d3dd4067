"""Compares the replicas of each partition of a fleet (truncation plans, findings between them, and risks).

Batches go in and out, one row a partition.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import compute

from kcheck.arrow import arrays, nested, schema_of
from kcheck.core.replication.leader_costs import NOT_KNOWN, total
from kcheck.core.replication.truncation_plans import TruncationPlan
from kcheck.disk.paths import join
from kcheck.disk.tree import tree_of
from kcheck.documents.truncation import table_rows
from kcheck.fleet.scan.arrow_take import joined
from kcheck.fleet.scan.both_ends import worse_findings
from kcheck.fleet.scan.replicas import FAULTS, are_joined, lineage_of_runs
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
from kcheck.replicas.costed_plans import plans_of
from kcheck.replicas.leader_plans import Election, fork_of, is_foreign
from kcheck.replicas.replica import LogFile, ReplicaState
from kcheck.survey.rule_runner import check_replicas
from kcheck.tables import findings, replica_sets, truncation_plans

_READ_COUNT = 512
"""Partitions that are values at a time."""
_FINDINGS = (Column("broker", "string", "The broker."), *findings.IN_DIRECTORY)
_PLANS = (Column("broker", "string", "The broker."), *truncation_plans.TABLE.columns)
_SETS = replica_sets.TABLE.run_columns

_NO_NAMES: Mapping[int | None, str | None] = defaultdict(lambda: None)

_ReplicaRow = Mapping[str, Any]
"""A replica: FIELDS of `fleet/scan/replicas.py`."""


class Compared(NamedTuple):
    """The replicas of a partition, as a row of `replica_sets`, rows of `truncation_plans` and of `findings`."""

    whole: tuple[object, ...]
    plans: tuple[tuple[object, ...], ...]
    findings: tuple[tuple[object, ...], ...]


def compare(
    batches: "Iterable[pa.RecordBatch]", release: Release, other: Release | None = None
) -> "Iterator[pa.RecordBatch]":
    """Yield for batches of partitions the input of `tables_of_compared`, a row for each, in their order.

    A partition has KEY, `replicas_of_topic`, and `replicas`. `replicas_of_topic` is the largest number of brokers of a
    partition of the topic. `replicas` has the FIELDS of each, in any order. Three fields come from
    `fleet/scan/replicas.py`. `other` is as in `compared`.
    """
    for batch in batches:
        if batch.num_rows:
            yield joined(
                [_rows(batch.slice(at, _READ_COUNT), release, other) for at in range(0, batch.num_rows, _READ_COUNT)]
            )


def _rows(batch: "pa.RecordBatch", release: Release, other: Release | None) -> "pa.RecordBatch":
    every = [compared(group, release, other) for group in batch.to_pylist()]
    return pa.RecordBatch.from_arrays(
        [
            *arrays([comparison.whole for comparison in every], _SETS),
            nested([comparison.plans for comparison in every], _PLANS),
            nested([comparison.findings for comparison in every], _FINDINGS),
        ],
        names=[*schema_of(_SETS).names, "of_truncation_plans", "of_findings"],
    )


def tables_of_compared(batch: "pa.RecordBatch") -> "dict[str, pa.RecordBatch]":
    """Return the published tables of a batch that `compare` yields."""
    tables = {"replica_sets": batch.select(schema_of(_SETS).names)}
    for name, table in (("truncation_plans", truncation_plans), ("findings", findings)):
        lists = batch.column(f"of_{name}")
        clusters = batch.column("cluster").take(compute.list_parent_indices(lists))
        columns = [clusters, *lists.flatten().flatten()]
        tables[name] = pa.RecordBatch.from_arrays(columns, schema=schema_of(table.TABLE.run_columns))
    return tables


def compared(group: Mapping[str, Any], release: Release, other: Release | None = None) -> Compared:
    """Compare the replicas of one partition; `group` has its KEY, `replicas_of_topic`, and `replicas` with FIELDS.

    `other` is the other end of a range of releases. Its plans count if they lose more, its findings if they are worse.
    """
    rows = _by_broker(group["replicas"])
    brokers = {row["broker_id"]: row["broker"] for row in rows}
    states = tuple(_state(row, group["topic"], group["partition"]) for row in rows)
    plans, modelled, differs = _of_worse_end(states, release, other)
    cheapest = next((plan for plan in plans if plan.is_best), None)
    views = tuple(_view(row, group["topic"], group["partition"]) for row in rows)
    return Compared(
        (group["cluster"], *_set_row(states, cheapest, brokers, group, modelled), differs),
        tuple((*row, differs) for plan in plans for row in table_rows(plan, brokers=brokers)),
        _findings(ReplicasView(views, (), group["replicas_of_topic"]), brokers, release, other),
    )


def _of_worse_end(
    states: tuple[ReplicaState, ...], release: Release, other: Release | None
) -> tuple[list[TruncationPlan], Release, str | None]:
    """Return the plans that lose more, their release, and the name of the other one if its plans differ."""
    ours = [*plans_of(states, Election(), release)]
    if other is None or len(states) == 1:  # A leader without followers does the same in each release.
        return ours, release, None
    theirs = [*plans_of(states, Election(), other)]
    if _rows_of(ours) == _rows_of(theirs):
        return ours, release, None
    return (theirs, other, release.name) if _loss(theirs) > _loss(ours) else (ours, release, other.name)


def _rows_of(plans: Iterable[TruncationPlan]) -> list[tuple[object, ...]]:
    """Return the rows of tables for plans, without the names of brokers."""
    return [(plan.lost, *row) for plan in plans for row in table_rows(plan, brokers=_NO_NAMES)]


def _loss(plans: Sequence[TruncationPlan]) -> tuple[float, ...]:
    """Return the sort key (the loss of the best leader, then the loss of all leaders together; most last)."""
    best = next((plan.lost for plan in plans if plan.is_best), None) or NOT_KNOWN
    every = total(plan.lost for plan in plans if plan.problem is None)
    counts = (best.upper_committed, best.upper_records, every.upper_committed, every.upper_records)
    return tuple(inf if count is None else count for count in counts)


def _findings(
    view: ReplicasView, brokers: Mapping[int | None, str | None], release: Release, other: Release | None
) -> tuple[tuple[object, ...], ...]:
    """Return the findings of the rules about replicas, as rows; `brokers` are the names by id."""
    if view.replica_count_of_topic <= 1:
        return ()
    problems = check_replicas(view, release)
    if other is not None:
        problems = worse_findings((release, problems), (other, check_replicas(view, other)))
    ordered = sorted(problems, key=Finding.sort_key)
    return tuple((brokers[finding.where.broker_id], *findings.run_row(finding)) for finding in ordered)


def _by_broker(rows: Iterable[_ReplicaRow]) -> list[_ReplicaRow]:
    """Return the replicas by the ids of their brokers; of two with one id the last counts, as for `check`."""
    ordered = sorted(rows, key=lambda row: (row["log_dir"] or "", row["dir"] or ""))
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
    lost = plan.lost or NOT_KNOWN
    yield from (lost.upper_records, lost.upper_committed)
    end = one.log_end_offset
    assert end is not None
    # What lies before the first segment is in remote storage, if anywhere.
    start = max([one.log_start_offset, one.first_segment, *(_shared(one, other) for other in able if other is not one)])
    mark = min(max(marks, default=Offset(0)), end)
    yield from (start, end, max(0, mark - start)) if start < end else (None,) * 3


def _shared(one: ReplicaState, other: ReplicaState) -> Offset:
    """Return the offset up to which both replicas are the same, or else do not contradict each other."""
    for known in fork_of(one, other):
        if known is not None:
            return known
    assert one.log_end_offset is not None
    assert other.log_end_offset is not None
    end = min(one.log_end_offset, other.log_end_offset)
    return end if max(one.log_start_offset, other.log_start_offset) < end else one.log_start_offset


def _entries(rows: Sequence[Mapping[str, int]]) -> EpochEntries:
    return tuple([EpochEntry(Epoch(row["epoch"]), Offset(row["start_offset"])) for row in rows])


def _runs(row: _ReplicaRow) -> tuple[EpochRun, ...]:
    return tuple(EpochRun(run["epoch"], run["start_offset"], run["last_offset"]) for run in row["runs"])


def _state(row: _ReplicaRow, topic: str, partition: int) -> ReplicaState:
    end, runs = row["loaded_log_end"], _runs(row)
    state = ReplicaState(
        broker_id=row["broker_id"], topic=topic, partition=partition, cache=_entries(row["cache"]),
        log_end_offset=end, log_start_offset=row["loaded_log_start"], first_segment=row["first_segment"],
        high_watermark=row["loaded_high_watermark"], latest_epoch=row["seen_epoch"],
        logs=_logs(row),
        lineage=lineage_of_runs(runs, row["first_segment"], end)
        if row["is_read"] and not row["lacks_epochs"]
        else None,
        problem=row["problem"], topic_id=row["topic_id"], checkpointed=row["high_watermark"],
        has_every_segment=row["is_read"] and are_joined(runs, [log["base_offset"] for log in row["logs"]]),
    )  # fmt: skip
    return state if row["log_faults"] is None else state._replace(**FAULTS.of(row["log_faults"]))


def _logs(row: _ReplicaRow) -> tuple[LogFile, ...]:
    """Return the segments that may be read; none where the scan has read none."""
    if not row["logs"]:
        return ()
    folder = row["folder"].decode(errors="surrogateescape")
    disk = tree_of(folder).directory(folder)
    return tuple(
        LogFile(
            path=join(folder, log_name(log["base_offset"]) + SWAP * log["swap"]),
            base_offset=log["base_offset"], size=log["size"], disk=disk,
        )
        for log in row["logs"]
    )  # fmt: skip


def _view(row: _ReplicaRow, topic: str, partition: int) -> PartitionView:
    """Return the view for the rules about replicas."""
    where = Location(row["broker_id"], row["log_dir"], row["dir"], None, None, None, topic, partition)
    file_epochs = _entries(row["told"] if row["told_differs"] else row["cache"])
    value = LeaderEpochCheckpoint(
        0, [entry.epoch for entry in file_epochs], [entry.start_offset for entry in file_epochs]
    )
    return PartitionView(
        where,
        topic,
        partition,
        DirectoryState.CURRENT,
        row["topic_id"],
        log_start_offset=row["log_start_offset"],
        high_watermark=row["high_watermark"],
        log_end_offset=row["log_end_offset"],
        epochs=FileView("", "", where, 0, Parsed(value)),
        cleaned=row["compacted"],
        read=(_segment(where, _runs(row)),) if row["is_read"] else None,
        in_cluster=_in_cluster(row),
    )


def _in_cluster(row: _ReplicaRow) -> ReplicaInCluster | None:
    """Return the metadata that the rules about replicas need."""
    if row["is_certain"] is None:
        return None
    in_isr = row["in_isr"]
    registration = None if in_isr is None else PartitionRegistration((), (row["broker_id"],) if in_isr else ())
    return ReplicaInCluster("", row["cluster_topic_id"], registration, is_certain=row["is_certain"])


def _segment(where: Location, runs: tuple[EpochRun, ...]) -> SegmentView:
    """Return no more of a log than its epochs."""
    return SegmentView(
        where, Offset(0), 0, 0, End.WHOLE, zeros=False, batches=0, first_offset=None, end_offset=Offset(0),
        max_timestamp=-1, epochs=runs, faults=(), counts={}, beyond=None, offset_index=None, time_index=None,
        transactions=None,
    )  # fmt: skip
