"""`kcheck elect`: who should lead, and in which order to start."""

from typing import TYPE_CHECKING, Annotated

import typer

from kcheck import api
from kcheck.cli.examples import missing
from kcheck.cli.options import BrokerArguments, Common, Metadata, with_common, within
from kcheck.errors import UsageError
from kcheck.model.finding import Severity, parse_severity
from kcheck.model.java import INT_MAX

if TYPE_CHECKING:
    from kcheck.fleet.runs.elect import RunElection
    from kcheck.fleet.runs.elect_clusters import RunElections
    from kcheck.model.report import PartitionFilter

Dead = Annotated[
    list[int] | None, typer.Option("--dead", metavar="BROKER", help="A broker that will not come back; repeatable.")
]
IncompleteOk = Annotated[
    bool,
    typer.Option("--incomplete-ok", help="Recommend leaders even if some replicas are missing from the command line."),
]
Aside = Annotated[
    list[str] | None,
    typer.Option(
        "--aside",
        metavar="BROKER=PATH",
        help="A partition directory outside the log dirs, or a folder of them; repeatable.",
    ),
]

SaveLost = Annotated[
    str | None,
    typer.Option("--save-lost", metavar="DIR", help="Save the batches that any of these elections would truncate."),
]

Out = Annotated[
    str | None,
    typer.Option(
        "--output-dir", metavar="DIR", help="Write the plan of all partitions, and files for Kafka's own tools."
    ),
]

FromRun = Annotated[
    str | None, typer.Option("--from", metavar="RUN", help="Use the tables of a fleet scan instead of log dirs.")
]
ClusterOption = Annotated[
    str | None, typer.Option("--cluster", metavar="NAME", help="With --from: the cluster in that run.")
]

EngineOfRun = Annotated[
    str,
    typer.Option(
        "--engine", metavar="local|spark", help="With --from: evaluate the run on this machine, or with Spark."
    ),
]
MasterOfRun = Annotated[str | None, typer.Option("--master", metavar="URL", help="Spark master. [default: local[*]]")]


@with_common
def elect(
    common: Common,
    brokers: BrokerArguments = None,
    run: FromRun = None,
    cluster: ClusterOption = None,
    engine: EngineOfRun = "local",
    master: MasterOfRun = None,
    dead: Dead = None,
    metadata: Metadata = None,
    incomplete_ok: IncompleteOk = False,
    aside: Aside = None,
    save_lost: SaveLost = None,
    out: Out = None,
) -> None:
    """Recommend a start order and a leader for each partition, with their cost."""
    for number in dead or ():
        within("--dead", number, 0, INT_MAX)
    partitions, fail_on = common.wanted(), parse_severity(common.judging.fail_on)
    if run is not None:
        other = {"BROKER=PATH": brokers, "--metadata": metadata, "--aside": aside}
        name = next((name for name, value in other.items() if value), None)
        if name is not None:
            raise UsageError(f"{name} does not go with --from, because a run has no batches and names its brokers")
        if save_lost is not None:
            raise _logs_wanted(run, cluster)
        of_run = _of_run(run, cluster, dead or [], partitions, engine, master, out, incomplete_ok=incomplete_ok)
        common.write_answer(of_run.report(), failed=lambda: not of_run.is_safe and fail_on.rank <= Severity.ERROR.rank)
        return
    if cluster is not None or (engine, master) != ("local", None):
        raise missing("--from RUN", "elect")
    if not brokers:
        raise missing("BROKER=PATH...", "elect")
    release = common.release(brokers)
    answer = api.elect(
        *brokers,
        dead=dead or (),
        incomplete_ok=incomplete_ok,
        metadata=metadata or (),
        aside=aside or (),
        config=common.config,
        save_lost=save_lost,
        out=out,
        partitions=partitions,
        kafka=release,
    )
    common.write_whole(
        answer.report(),
        failed=lambda: (not answer.is_safe or answer.is_unregistered) and fail_on.rank <= Severity.ERROR.rank,
    )


def _logs_wanted(run: str, cluster: str | None) -> UsageError:
    from kcheck.fleet.runs.election_plan import logs_wanted

    return logs_wanted(run, cluster)


def _of_run(
    run: str, cluster: str | None, dead: list[int], wanted: "PartitionFilter", engine: str, master: str | None,
    out: str | None, *, incomplete_ok: bool,
) -> "RunElection | RunElections":  # fmt: skip
    """Return the answer for one or all clusters of a run, from this process or Spark."""
    from kcheck.fleet.runs.elect_clusters import clusters_of_run, together
    from kcheck.replicas.elect import ElectionQuestion

    question = ElectionQuestion(dead=tuple(dead), incomplete_ok=incomplete_ok)
    if engine not in ("local", "spark") or (engine == "local" and master is not None):
        raise UsageError(f"--engine {engine}: use local, or spark [--master URL]")
    if engine == "spark":
        from kcheck.fleet.spark.session import session, spark_version

        spark_version()
        from kcheck.fleet.spark import elect as by_spark

        opened, names = (None, ()) if cluster is not None else clusters_of_run(run, question, out)
        if opened is not None and names:
            return by_spark.elect_clusters(opened, names, question, wanted=wanted, session=session(master))
        return by_spark.elect_run(run, cluster, question, wanted=wanted, session=session(master), out=out)
    from kcheck.fleet.runs.elect import elect_run

    opened, names = (None, ()) if cluster is not None else clusters_of_run(run, question, out)
    if opened is not None and names:
        return together(opened, names, lambda name: elect_run(opened.path, name, question, wanted=wanted))
    return elect_run(run, cluster, question, wanted=wanted, out=out)
