"""The counts of a report over the runs before it."""

from collections import Counter
from collections.abc import Sequence

from kcheck.fleet.run import FleetRun
from kcheck.model.finding import Chosen, Severity
from kcheck.model.report import Row

RUN_COUNT = 30
"""Runs that a trend shows, the newest of them."""


def trend_of(runs: Sequence[FleetRun], shown: Chosen) -> tuple[Row, ...]:
    """Return the counts of the last runs, in the order of their end; empty for a single run. KcheckError if corrupt."""
    if len(runs) < 2:
        return ()
    in_order = sorted(runs, key=lambda run: (run.ended or 0, run.path))
    return tuple(_counts(run, shown) for run in in_order[-RUN_COUNT:])


def _counts(run: FleetRun, shown: Chosen) -> Row:
    """Return the counts of a run and its size."""
    from pyarrow import compute

    findings = dict.fromkeys(map(str, reversed(Severity)), 0)
    for batch in run.batches("findings", ("id", "severity")):
        pairs = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        for (rule, severity), number in Counter(pairs).items():
            if severity in findings and shown(rule, Severity(severity)):
                findings[severity] += number
    losing = sum(compute.sum(compute.is_valid(batch.column(0))).as_py() or 0
                 for batch in run.batches("predictions", ("lost",)))  # fmt: skip
    return {
        "run": run.name, "path": run.path, "ended": run.ended, "depth": run.depth, "finished": run.finished,
        **findings, "losing_partitions": losing, "partitions": run.rows("partitions"), **loss_of(run),
    }  # fmt: skip


def loss_of(run: FleetRun) -> Row:
    """Return the committed records at risk in a run; None where its tables are older."""
    lost = alone = 0
    columns = ("replicas_of_topic", "lost_below_high_watermark", "at_risk_below_high_watermark")
    for replicas, below, alone_below in run.values("replica_sets", columns):
        lost += below or 0
        alone += (alone_below or 0) * ((replicas or 0) > 1)
    has_table = "replica_sets" in run.parts
    now = [count for (count,) in run.values("clusters", ("start_all_committed",))]
    return {
        "committed_lost": lost if has_table else None,
        "committed_on_one_disk": alone if has_table else None,
        "start_all_committed": None if not now or None in now else sum(now),
    }
