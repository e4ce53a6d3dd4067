"""`kcheck recover`: one decision for one incident."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.elect import Aside, Dead, IncompleteOk
from kcheck.cli.options import BrokerArguments, Common, Metadata, with_common, within
from kcheck.errors import UsageError
from kcheck.model.finding import Severity, parse_severity
from kcheck.model.java import INT_MAX

Out = Annotated[
    str | None,
    typer.Option("--out", metavar="DIR", help="Write the runbook, files for Kafka's own tools, and records to save."),
]


@with_common
def recover(
    common: Common,
    brokers: BrokerArguments = None,
    dead: Dead = None,
    metadata: Metadata = None,
    incomplete_ok: IncompleteOk = False,
    aside: Aside = None,
    out: Out = None,
) -> None:
    """Recommend one course for an incident: the least loss."""
    for number in dead or ():
        within("--dead", number, 0, INT_MAX)
    if not brokers:
        raise UsageError("name the log dirs of each broker as BROKER=PATH")
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
    fail_on = parse_severity(common.judging.fail_on)
    common.write_answer(answer.report(), failed=lambda: not answer.is_safe and fail_on.rank <= Severity.ERROR.rank)
