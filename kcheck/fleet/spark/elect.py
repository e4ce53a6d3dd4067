"""`kcheck elect --from RUN` by Spark: executors decide the partitions, the driver what they mean together."""

import json
import pickle
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial, reduce
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from kcheck.arrow import batch_of
from kcheck.disk.paths import is_url
from kcheck.disk.tree import real_path
from kcheck.errors import UsageError
from kcheck.fleet.lost import not_reached_of
from kcheck.fleet.run import FleetRun, open_run
from kcheck.fleet.runs.cluster import RunCluster
from kcheck.fleet.runs.elect import RunElection, elected, elected_by, prepared
from kcheck.fleet.runs.elect_clusters import RunElections, together
from kcheck.fleet.runs.election_rows import COUNTS, PARTITIONS, PartitionRows
from kcheck.fleet.runs.elections import Elections
from kcheck.fleet.runs.replicas import FIELDS
from kcheck.fleet.spark.session import in_a_line
from kcheck.fleet.spark.transport import ddl, rows_of
from kcheck.model.report import Column, PartitionFilter
from kcheck.replicas.candidates import ClusterHere
from kcheck.replicas.elect import ElectionQuestion
from kcheck.replicas.election_output import require_whole

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kcheck.fleet.spark.transport import Batches

_TABLES = {"replicas": FIELDS, "cluster_partitions": PARTITIONS, "truncation_plans": COUNTS}
"""The tables of which a row becomes JSON, and its columns."""
_CHOSEN = (Column("chosen", "bytes", "The elections of one task."),)
_OF_SLICE = 20_000
"""Replicas in one task."""


def elect_run(
    path: str,
    cluster: str | None,
    question: ElectionQuestion,
    *,
    wanted: PartitionFilter,
    session: AbstractContextManager["SparkSession"],
    out: str | None = None,
) -> RunElection:
    """Return the result of `kcheck.fleet.runs.elect.elect_run`; every host sees the run below the same path."""
    _on_disk(path)
    require_whole(wanted, out)
    run = open_run(path)
    known = prepared(run, cluster, question, is_planned=out is not None)
    with session as spark, in_a_line():
        return _elected(spark, run, known, question, wanted, out)


def elect_clusters(
    run: FleetRun,
    names: Sequence[str],
    question: ElectionQuestion,
    *,
    wanted: PartitionFilter,
    session: AbstractContextManager["SparkSession"],
) -> RunElections:
    """Return the result of `kcheck.fleet.runs.elect_clusters.together`."""
    _on_disk(run.path)
    with session as spark, in_a_line():
        return together(run, names, lambda name: _elected(spark, run, prepared(run, name, question), question, wanted))


def _on_disk(path: str) -> None:
    if is_url(path):
        raise UsageError(f"{path}: --engine spark reads runs on a disk")


def _elected(
    spark: "SparkSession", run: FleetRun, cluster: RunCluster, question: ElectionQuestion, wanted: PartitionFilter,
    out: str | None = None,
) -> RunElection:  # fmt: skip
    frame = _partitions(spark, run, cluster.name)

    def choose(here: ClusterHere) -> Elections:
        task = partial(decide_all, here=here, wanted=wanted, is_planned=out is not None)
        decided = frame.mapInArrow(task, ddl(_CHOSEN)).toArrow()
        # Pickled by the executors of this session, as Spark itself does with rows of Python.
        parts = (pickle.loads(data) for data in decided.column("chosen").to_pylist())  # noqa: S301 - as above
        return reduce(Elections.with_other, parts, Elections(wanted, is_planned=out is not None))

    return elected_by(choose, run, cluster, question, out, not_reached_of(run, cluster.name))


def _partitions(spark: "SparkSession", run: FleetRun, cluster: str | None) -> "DataFrame":
    """Return the rows of all partitions of a cluster, each as JSON, by topic and number."""
    from pyspark.sql import functions

    frames = []
    for kind, (table, columns) in enumerate(_TABLES.items()):
        rows = spark.read.parquet(*(real_path(part.path) for part in run.parts[table]))
        own = rows.where(functions.col("cluster").eqNullSafe(functions.lit(cluster)))
        known = [name for name in columns if name in rows.columns]  # An older run lacks some.
        text = functions.to_json(functions.struct(*known), {"ignoreNullFields": "false"})
        frames.append(own.select("topic", "partition", functions.lit(kind).alias("kind"), text.alias("row")))
    slices = 1 + run.rows("replicas") // _OF_SLICE
    every = reduce(lambda one, other: one.union(other), frames)
    return every.repartitionByRange(slices, "topic", "partition").sortWithinPartitions("topic", "partition", "kind")


def decide_all(
    batches: "Batches", here: ClusterHere, wanted: PartitionFilter, *, is_planned: bool = False
) -> "Batches":
    """Yield the elections of the partitions of one task, in one row."""
    chosen = Elections(wanted, is_planned=is_planned)
    for key, rows in groupby(rows_of(batches), key=itemgetter("topic", "partition")):
        topic, number = key
        replicas, registered, counts = _by_table(rows)
        if replicas or registered:
            first = registered[0] if registered else None
            chosen.add(*elected(PartitionRows(topic, number, replicas, first, counts), here))
    yield batch_of([(pickle.dumps(chosen),)], _CHOSEN)


def _by_table(rows: Iterator[dict[str, Any]]) -> Sequence[list[dict[str, Any]]]:
    tables: tuple[list[dict[str, Any]], ...] = ([], [], [])
    for row in rows:
        tables[row["kind"]].append(json.loads(row["row"]))
    replicas, *others = tables
    return sorted(replicas, key=itemgetter("broker_id", "log_dir", "dir")), *others
