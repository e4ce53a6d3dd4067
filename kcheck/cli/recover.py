"""`kcheck recover`: one decision for one incident."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.elect import Aside, ClusterOption, Dead, FromRun, IncompleteOk
from kcheck.cli.examples import missing
from kcheck.cli.options import BrokerArguments, Common, Metadata, with_common, within
from kcheck.errors import UsageError
from kcheck.model.finding import Severity, parse_severity
from kcheck.model.java import INT_MAX

RecoveryOut = Annotated[
    str | None,
    typer.Option(
        "--output-dir", metavar="DIR", help="Write the runbook, files for Kafka's own tools, and records to save."
    ),
]

Next = Annotated[
    bool,
    typer.Option("--next", help="Say what to do now; the first argument is the directory that --output-dir wrote."),
]


@with_common
def recover(
    common: Common,
    brokers: BrokerArguments = None,
    run: FromRun = None,
    cluster: ClusterOption = None,
    dead: Dead = None,
    metadata: Metadata = None,
    incomplete_ok: IncompleteOk = False,
    aside: Aside = None,
    out: RecoveryOut = None,
    next_step: Next = False,
) -> None:
    """Write the step-by-step plan that loses the fewest records."""
    fail_on = parse_severity(common.judging.fail_on)
    if next_step:
        _next(common, brokers or [], metadata or [], fail_on)
        return
    for number in dead or ():
        within("--dead", number, 0, INT_MAX)
    if run is not None:
        other = {"BROKER=PATH": brokers, "--metadata": metadata, "--aside": aside, "--output-dir": out}
        name = next((name for name, value in other.items() if value), None)
        if name is not None:
            raise UsageError(
                f"{name} does not go with --from, because a run has tables; kcheck recover BROKER=PATH... reads disks"
            )
        from kcheck.fleet.runs.recover import recover_run
        from kcheck.replicas.elect import ElectionQuestion

        decision = recover_run(run, cluster, ElectionQuestion(dead=tuple(dead or ()), incomplete_ok=incomplete_ok))
        common.write_answer(
            decision.report(), failed=lambda: not decision.is_safe and fail_on.rank <= Severity.ERROR.rank
        )
        return
    if cluster is not None:
        raise missing("--from RUN", "recover")
    if not brokers:
        raise missing("BROKER=PATH...", "recover")
    answer = api.recover(
        *brokers,
        dead=dead or (),
        incomplete_ok=incomplete_ok,
        metadata=metadata or (),
        aside=aside or (),
        config=common.config,
        out=out,
        partitions=common.wanted(),
        kafka=common.release(brokers),
    )
    common.write_whole(answer.report(), failed=lambda: not answer.is_safe and fail_on.rank <= Severity.ERROR.rank)


def _next(common: Common, arguments: list[str], metadata: list[str], fail_on: Severity) -> None:
    """Say how far the cluster is with the plan in the first argument."""
    if len(arguments) < 2:  # a directory and a broker
        raise UsageError("--next needs the directory of the plan, then the log dirs of each broker as BROKER=PATH")
    from kcheck.plans.rescue_answer import is_rescue

    folder, *brokers = arguments
    if is_rescue(folder):
        rescue = api.rescue_progress(folder, *brokers, metadata=metadata, kafka=common.release(brokers))
        common.write_answer(
            rescue.report(), failed=lambda: rescue.state == "stop" and fail_on.rank <= Severity.ERROR.rank
        )
        return
    answer = api.recovery_progress(
        folder, *brokers, metadata=metadata, config=common.config, partitions=common.wanted(),
        kafka=common.release(brokers),
    )  # fmt: skip
    common.write_answer(answer.report(), failed=lambda: answer.state == "stop" and fail_on.rank <= Severity.ERROR.rank)
