"""`kcheck repair`: what can be done about what is wrong, as a plan."""

from typing import Annotated

import typer

from kcheck.cli.leaving import can_leave, end, leave
from kcheck.cli.options import Common, Paths, with_common
from kcheck.cli.predict import Config, Define

Against = Annotated[
    list[str] | None,
    typer.Option("--against", metavar="BROKER=PATH", help="A replica that can prove what is committed; repeatable."),
]
AcceptLoss = Annotated[bool, typer.Option("--accept-loss", help="Plan too what discards records.")]


@with_common
def repair(
    paths: Paths,
    common: Common,
    against: Against = None,
    accept_loss: AcceptLoss = False,
    config: Config = None,
    define: Define = None,
) -> None:
    """Plan what to do about what is wrong; -o writes the plan."""
    from kcheck.disk.output import replace_file
    from kcheck.model.finding import Severity, parse_severity
    from kcheck.plans.repair import plan_bytes
    from kcheck.plans.repair import repair as look
    from kcheck.startup.log_manager import StartOptions
    from kcheck.views.broker_settings import settings_of

    release, fail_on, output = common.release(), parse_severity(common.judging.fail_on), common.leaving.output
    wish = StartOptions(None, settings_of(paths, config, tuple(define or ()), release), release, common.wanted())
    shown, _ = common.chosen()
    found = look(paths, against or [], wish, accept_loss=accept_loss, keep=shown)
    can_leave(found.report, common.leaving)
    if output is not None:
        replace_file(output, plan_bytes(found))
    leave(found.report, common.leaving._replace(output=None), written=output)
    end(found.report, failed=any(Severity(each).rank >= fail_on.rank for each in found.left))
