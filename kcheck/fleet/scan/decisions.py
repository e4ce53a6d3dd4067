"""The loss of starting everything now in each cluster of a run that is being written, as columns of `clusters`."""

from collections.abc import Callable, Mapping

from kcheck.arrow import batch_of
from kcheck.fleet.run import FleetRun, written_run
from kcheck.fleet.run_output import RunOutput, run_tables
from kcheck.fleet.scan.rows import findings_batch
from kcheck.jobs.guard import guarded
from kcheck.model.finding import Finding, Location, Severity
from kcheck.tables import clusters

Decide = Callable[[FleetRun, str | None], Mapping[str, object]]
"""Returns the columns of the decision about a cluster, given the tables of the run."""


def add_decisions(
    output: RunOutput, kafka: str, depth: str, decide: Decide, count: Callable[[str, Severity], bool]
) -> None:
    """Decide each cluster that has metadata, one after the other, and write the table of clusters again.

    A bug becomes a finding, if `count` says that it is to be written.
    """
    if not output.rows["clusters"]:
        return
    run = written_run(output, run_tables().keys() - {"runs"}, kafka, depth)
    names = [column.name for column in clusters.TABLE.run_columns]
    rows = []
    for values in run.values("clusters", names):
        row = dict(zip(names, values, strict=True))
        columns = guarded(lambda name=row["cluster"]: decide(run, name), Location())  # type: ignore[misc]  # a default
        if isinstance(columns, Finding):
            if count(columns.id, columns.severity):
                output.write("findings", findings_batch((row["cluster"], None), (columns,)))
        else:
            row.update(columns)
        rows.append([row[name] for name in names])
    output.rewrite("clusters", batch_of(rows, clusters.TABLE.run_columns))
