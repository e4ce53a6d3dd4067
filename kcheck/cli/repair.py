"""`kcheck repair`: plans repairs."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.leaving import UNCHANGED, can_leave, end, leave, written_line
from kcheck.cli.options import Common, Paths, with_common
from kcheck.cli.predict import Config, Define

Against = Annotated[
    list[str] | None,
    typer.Option(
        "--against",
        metavar="BROKER=PATH",
        help="A replica that proves what is committed; repeatable.",
    ),
]
AcceptLoss = Annotated[bool, typer.Option("--accept-loss", help="Also plan repairs that discard records.")]

Tidy = Annotated[bool, typer.Option("--tidy", help="Also plan what the broker heals by itself.")]


@with_common
def repair(
    paths: Paths,
    common: Common,
    against: Against = None,
    accept_loss: AcceptLoss = False,
    tidy: Tidy = False,
    config: Config = None,
    define: Define = None,
) -> None:
    """Plan repairs; -o writes the plan for apply."""
    from kcheck.disk.output import replace_file
    from kcheck.model.finding import parse_severity

    release, fail_on, output = common.release(paths), parse_severity(common.judging.fail_on), common.leaving.output
    shown, _ = common.chosen()
    answer = api.repair(
        *paths,
        against=against or (),
        accept_loss=accept_loss,
        tidy=tidy,
        config=config,
        define=define or (),
        keep=shown,
        partitions=common.wanted(),
        kafka=release,
    )
    report = answer.report()
    can_leave(report, common.leaving)
    if output is not None:
        replace_file(output, answer.plan_bytes())
    last_line = UNCHANGED if output is None else written_line(output)
    leave(report, common.leaving._replace(output=None), last_line=last_line)
    end(report, failed=any(row.severity.rank >= fail_on.rank for row in answer.not_planned))
