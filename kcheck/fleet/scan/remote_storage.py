"""Remote storage in a run that is being written, with its segments, replicas, objects, and findings."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from kcheck.arrow import batch_of
from kcheck.core.premises.remote import REMOTE_OBJECTS
from kcheck.core.premises.table import NAMED_BY_RULES
from kcheck.core.releases.releases import release
from kcheck.core.tiered.reading import offsets_of, readable
from kcheck.core.tiered.reports import RemoteReplica, lost_by_leading
from kcheck.core.tiered.spans import offset_count
from kcheck.core.tiered.store import is_in_table, object_verdict, segment_id_of, stored_bytes
from kcheck.documents.remote_log import local_start_of, retention_row
from kcheck.errors import UsageError
from kcheck.fleet.run import FleetRun, written_run
from kcheck.fleet.run_output import RunOutput, run_tables
from kcheck.fleet.scan.premises import premise_row
from kcheck.fleet.scan.rows import findings_batch
from kcheck.formats.leader_epoch_checkpoint import entry_rows
from kcheck.jobs.guard import bug_finding, guarded
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.remote_log import REMOTE_LOG_METADATA, RemoteLog, RemoteSegment, SegmentRun, SegmentState, StoreObject
from kcheck.model.report import PartitionFilter
from kcheck.verbs.premises import refuted_findings
from kcheck.verbs.tiered import Tiered, TieredReplica, tiered
from kcheck.views.remote_store import store_objects

CountFinding = Callable[[str, Severity], bool]
"""Counts a finding, and returns whether it is to be written."""
_ROWS = 65_536
"""Rows of a batch, at most."""
_OBJECT_COUNT = 131_072
"""The objects whose segments are looked up together."""
_NO_RETENTION = (None,) * 7
"""The columns of deletions that are not known."""
_WORDS = {state: state.name.lower().replace("_", "-") for state in SegmentState}
_STATES = {word: state for state, word in _WORDS.items()}
_TABLES = ("log_dirs", "partitions", "cluster_partitions", "findings", "premises")
"""The tables of the run that are read."""


class _TieredCluster(NamedTuple):
    """A cluster with remote storage, with its log dirs as arguments and places, its brokers, and its release."""

    name: str | None
    arguments: list[str]
    places: list[Location]
    brokers: Mapping[int | None, str | None]
    kafka: str


def add_remote_storage(
    output: RunOutput, wanted: PartitionFilter, store: str | None, now_ms: int, count: CountFinding
) -> None:
    """Write the tables of remote storage, and its findings. Each cluster with remote storage is read once more.

    `store` is a folder, a URL or a listing.
    """
    run, is_complete = written_run(output, _TABLES), True
    for cluster in list(_clusters(run)):
        answer = guarded(lambda of=cluster: _asked(of, wanted, store), Location())  # type: ignore[misc]  # a default
        if isinstance(answer, Finding):
            if count(answer.id, answer.severity):
                output.write("findings", findings_batch((cluster.name, None), (answer,)))
            is_complete = False
            continue
        is_complete = is_complete and (answer.store is None or answer.store.is_complete)
        _write(output, "premises", _premise_rows(run, cluster, answer))
        for place, finding in _findings(run, cluster, answer):
            if count(finding.id, finding.severity):
                output.write("findings", findings_batch(place, (finding,)))
        _write(output, "tiered_partitions", _partition_rows(cluster, answer.replicas))
        _write(output, "remote_segments", _segment_rows(cluster, answer))
    if store is not None:
        try:
            segments = written_run(output, ("remote_segments",))
            rows = object_rows(store_objects(store), segments, is_complete=is_complete, now_ms=now_ms)
            _write(output, "remote_objects", rows)
        except UsageError as error:
            finding = _not_read(error)
            if count(finding.id, finding.severity):
                output.write("findings", findings_batch((None, None), (finding,)))


def _asked(cluster: _TieredCluster, wanted: PartitionFilter, store: str | None) -> Tiered | Finding:
    try:
        return tiered(cluster.arguments, wanted=wanted, release=release(cluster.kafka), store=store, is_judged=True)
    except UsageError as error:
        return _not_read(error)


def _not_read(error: UsageError) -> Finding:
    return bug_finding(Location(), f"remote storage was not read: {error}", "Run kcheck where it sees the log dirs")


def _clusters(run: FleetRun) -> Iterator[_TieredCluster]:
    """Yield the clusters with topics in remote storage, or with partitions of __remote_log_metadata."""
    import pyarrow.compute as pc

    names: set[str | None] = set()
    for table in ("partitions", "cluster_partitions"):
        for batch in run.batches(table, ("cluster", "topic")):
            names.update(batch.filter(pc.equal(batch["topic"], REMOTE_LOG_METADATA))["cluster"].unique().to_pylist())
    opened = run.values("premises", ("cluster", "id"))
    names.update(cluster for cluster, premise in opened if premise == REMOTE_OBJECTS)
    rows: dict[str | None, list[tuple[str | None, int | None, str, str]]] = {}
    for cluster, *row in run.values("log_dirs", ("cluster", "broker", "broker_id", "log_dir", "kafka")):
        if cluster in names and row[2] is not None and row[3] is not None:
            rows.setdefault(cluster, []).append((row[0], row[1], row[2], row[3]))
    for name, own in rows.items():
        arguments = [path if number is None else f"{number}={path}" for _, number, path, _ in own]
        places = [Location(number, path) for _, number, path, _ in own]
        brokers = {number: broker for broker, number, _, _ in own}
        yield _TieredCluster(name, arguments, places, brokers, max(row[3] for row in own))


def _premise_rows(run: FleetRun, cluster: _TieredCluster, answer: Tiered) -> Iterator[tuple[object, ...]]:
    """Yield the premises about remote storage that the scan of each broker does not have."""
    known = set(run.values("premises", ("id", "broker_id"), cluster.name))
    for row in answer.premises:
        if (row.id, row.broker_id) not in known:
            yield cluster.name, cluster.brokers.get(row.broker_id), None, *premise_row(row)


def _findings(
    run: FleetRun, cluster: _TieredCluster, answer: Tiered
) -> Iterator[tuple[tuple[str | None, str | None], Finding]]:
    """Yield the findings about remote storage that the scan of each log dir does not have."""
    columns = ("id", "broker_id", "dir")
    known = set(run.values("findings", columns, cluster.name))
    judged = set(run.values("premises", ("id", "broker_id"), cluster.name))
    named = (row for row in answer.premises if row.id not in NAMED_BY_RULES and (row.id, row.broker_id) not in judged)
    found = (row for row in answer.collected if not row.id.startswith(("KC00", "KC315")))
    new = (row for row in found if (row.id, row.where.broker_id, row.where.dir) not in known)
    for finding in (*new, *refuted_findings(named, cluster.places, answer.release)):
        yield (cluster.name, cluster.brokers.get(finding.where.broker_id)), finding


def _partition_rows(cluster: _TieredCluster, replicas: tuple[TieredReplica, ...]) -> Iterator[tuple[object, ...]]:
    by_partition: dict[tuple[object, object], list[TieredReplica]] = {}
    for row in replicas:
        by_partition.setdefault((row.view.topic, row.view.partition), []).append(row)
    for same in by_partition.values():
        for row in same:
            yield _partition_row(cluster, row, [other for other in same if other is not row])


def _partition_row(cluster: _TieredCluster, row: TieredReplica, others: list[TieredReplica]) -> tuple[object, ...]:
    view, report, lag, regular = row
    remote, known = view.remote, view.remote is not None and view.remote.is_known
    assert remote is not None
    lost = None if remote.is_hidden else offset_count(lost_by_leading(remote, _replica(row), map(_replica, others)))
    gaps, copied = report.gaps, offsets_of(remote.runs)
    return (
        cluster.name, cluster.brokers.get(view.where.broker_id), view.where.broker_id, view.topic, view.partition,
        view.topic_id, view.log_start_offset, local_start_of(view), view.log_end_offset,
        None if lost is None else lost > 0, lost,
        report.deleted_count if known else None, offset_count(report.unreadable) if known else None,
        gaps[0][0] if gaps else None, gaps[-1][1] if gaps else None, copied[-1][1] if copied else None,
        sum(run.segments for run in remote.runs) if known else None,
        sum(run.size for run in remote.runs) if known else None,
        *((None, None, None) if lag is None else (lag.size, lag.oldest_ms, lag.duplicated)),
        len(remote.unfinished) if known else None, str(remote.state).replace(" ", "-"), remote.metadata_partition,
        remote.leader, *(_NO_RETENTION if regular is None else retention_row(regular).values()),
    )  # fmt: skip


def _replica(row: TieredReplica) -> RemoteReplica:
    view, local_start = row.view, local_start_of(row.view) or Offset(0)
    start, end = view.log_start_offset or Offset(0), view.log_end_offset or local_start
    return RemoteReplica(start, local_start, view.leader_epochs, end)


def _segment_rows(cluster: _TieredCluster, answer: Tiered) -> Iterator[tuple[object, ...]]:
    objects = {} if answer.store is None else answer.store.objects
    logs: dict[tuple[str, int], tuple[RemoteLog, str | None]] = {}
    epochs: dict[tuple[str, int], list[TieredReplica]] = {}
    for row in answer.replicas:
        if row.view.remote is not None and row.view.topic is not None and row.view.partition is not None:
            key = (row.view.topic, row.view.partition)
            logs.setdefault(key, (row.view.remote, row.view.topic_id))
            epochs.setdefault(key, []).append(row)
    for (topic, partition), (log, topic_id) in logs.items():
        for segment in log.segments:
            own = objects.get(segment.segment_id)
            yield (
                cluster.name, topic, partition, topic_id, segment.segment_id, segment.start_offset, segment.end_offset,
                segment.size, None if own is None else stored_bytes([own]),
                _WORDS[segment.state], segment.deletions, segment.first_ms, segment.last_ms,
                json.dumps(entry_rows(segment.epochs)),
                "current" if _is_served(segment, epochs[topic, partition]) else "older",
            )  # fmt: skip


def _is_served(segment: RemoteSegment, replicas: Iterable[TieredReplica]) -> bool:
    """Return whether a replica has an offset of the segment, with the epoch that it has there."""
    start, end = segment.start_offset, segment.end_offset
    if start is None or end is None:
        return False
    run = SegmentRun(start, end, segment.epochs, 1, 0)
    return any(readable((run,), row.view.leader_epochs) for row in replicas)


def object_rows(
    objects: Iterator[StoreObject], run: FleetRun, *, is_complete: bool, now_ms: int
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of objects; `run` has the table of segments, which is read once for `_OBJECT_COUNT` objects."""
    while part := list(islice(objects, _OBJECT_COUNT)):
        ids = [segment_id_of(key) for key, _, _ in part]
        states = _states(run, {number for number in ids if number is not None})
        for (key, size, modified_ms), number in zip(part, ids, strict=True):
            verdict = object_verdict(
                number, states, modified_ms, now_ms=now_ms, is_complete=is_complete, in_table=is_in_table(key)
            )
            yield key, size, modified_ms, number, verdict


def _states(run: FleetRun, ids: set[str]) -> dict[str, SegmentState]:
    """Return the states of those segments that the table has."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted, states = pa.array(sorted(ids), pa.string()), dict[str, SegmentState]()
    for batch in run.batches("remote_segments", ("segment_id", "state")) if ids else ():
        own = batch.filter(pc.is_in(batch["segment_id"], value_set=wanted))
        words = zip(*(column.to_pylist() for column in own.columns), strict=True)
        states.update((number, _STATES[word]) for number, word in words)
    return states


def _write(output: RunOutput, name: str, rows: Iterator[tuple[object, ...]]) -> None:
    columns = run_tables()[name].run_columns
    while part := list(islice(rows, _ROWS)):
        output.write(name, batch_of(part, columns))
