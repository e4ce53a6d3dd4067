"""`kcheck elect --from RUN` without `--cluster`: every cluster of a run, in the order in which to look at them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from kcheck.documents.answer import Answer, release_row
from kcheck.documents.election import broker_loss_row, election_body
from kcheck.documents.premises import premise_rows
from kcheck.errors import UsageError
from kcheck.fleet.run import FleetRun, open_run
from kcheck.fleet.runs.cluster import cluster_names
from kcheck.fleet.runs.elect import RunElection
from kcheck.model.report import Report, Row
from kcheck.replicas.elect import ElectionQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class RunElections(Answer):
    """The answer of `kcheck elect --from` for several clusters."""

    run: FleetRun
    """The run."""
    clusters: tuple[RunElection, ...]
    """The clusters, without partitions, first the clusters that lose most by being started unchanged."""

    @property
    def is_safe(self) -> bool:
        """True if every partition of every cluster has a recommended leader that loses nothing committed."""
        return all(cluster.is_safe for cluster in self.clusters)

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.as_report(
            "elect",
            self.run.kafka,
            body={"run": self.run.path, "clusters": tuple(map(_row, self.clusters))},
            kinds={"clusters": "cluster"},
            checked=(self.run.path,),
        )


def _row(election: RunElection) -> Row:
    body = election_body(
        election.order, election.scenarios, (), election.gaps, kraft=election.cluster.kraft, verdict=election.verdict
    )
    body = {name: value for name, value in body.items() if name != "partitions"}
    return {
        "cluster": election.cluster.name,
        **release_row(election.cluster.release.name, election.cluster.release.evidence),
        **body,
        "safe": election.is_safe,
        "partition_count": election.partition_count,
        "unread_replicas": election.unread,
        "broker_losses": tuple(map(broker_loss_row, election.broker_losses)),
        "lacking_count": election.lacking_count,
        "premises": premise_rows(election.premises),
    }


def clusters_of_run(path: str, question: ElectionQuestion, out: str | None) -> tuple[FleetRun, tuple[str, ...]]:
    """Return a run, and its clusters to decide one by one; empty if it has one, which needs no name.

    UsageError if several cannot be decided together, because brokers are given up, or a plan is to be written.
    """
    run = open_run(path)
    names = cluster_names(run)
    if len(names) < 2:
        return run, ()
    choices = ", ".join(map(str, names))
    if question.dead or out is not None:
        option = "--output-dir" if out is not None else "--dead"
        raise UsageError(f"{option}: {run.path} has {len(names)} clusters; choose a --cluster: {choices}")
    if None in names:
        raise UsageError(
            f"{run.path} has brokers of no cluster; scan with {{cluster}} in ROOT, or choose a --cluster: {choices}"
        )
    return run, tuple(name for name in names if name is not None)


def together(run: FleetRun, names: Iterable[str], decide: Callable[[str], RunElection]) -> RunElections:
    """Return the elections of clusters; `decide` returns the elections of one."""
    decided = [replace(decide(name), partitions=(), of_cluster=()) for name in names]
    return RunElections(run=run, clusters=tuple(sorted(decided, key=_harm)))


def _harm(election: RunElection) -> tuple[object, ...]:
    """Return the sort key, with the worst cluster first."""
    fatal = sum(loss.is_survived is not True for loss in election.broker_losses)
    return *(-cost for cost in election.badness), -fatal, election.cluster.name
