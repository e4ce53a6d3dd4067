"""`kcheck verify`: what became of the plan."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.options import Common, Metadata, with_common
from kcheck.model.finding import Severity, parse_severity

PlanDirectory = Annotated[
    str, typer.Argument(metavar="DIR", help="The directory that kcheck elect --output-dir wrote.")
]
PlanBrokers = Annotated[
    list[str], typer.Argument(metavar="BROKER=PATH...", help="Log dirs, each with the id of its broker.")
]


@with_common
def verify(plan: PlanDirectory, brokers: PlanBrokers, common: Common, metadata: Metadata = None) -> None:
    """Compare brokers with the plan of elect, after its commands ran."""
    partitions, release = common.wanted(), common.release(brokers)
    answer = api.verify(plan, *brokers, metadata=metadata or (), partitions=partitions, kafka=release)
    fail_on = parse_severity(common.judging.fail_on)
    common.write_answer(
        answer.report(), failed=lambda: not answer.is_as_planned and fail_on.rank <= Severity.ERROR.rank
    )
