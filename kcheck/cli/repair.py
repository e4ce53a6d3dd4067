"""`kcheck repair`: plans repairs."""

import gc
from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.options import Common, Metadata, Paths, with_common
from kcheck.cli.predict import Define
from kcheck.cli.report_output import UNCHANGED, checked_renderer, end, write_answer, written_line

Against = Annotated[
    list[str] | None,
    typer.Option(
        "--against", metavar="BROKER=PATH", help="Another replica, as proof of committed records; repeatable."
    ),
]
AcceptLoss = Annotated[bool, typer.Option("--accept-loss", help="Also plan repairs that discard records.")]

Tidy = Annotated[bool, typer.Option("--tidy", help="Also plan the repairs that the broker makes when it starts.")]

Adopt = Annotated[
    bool,
    typer.Option(
        "--adopt", help="Also give directories of a topic's former id its new id, so that their records return."
    ),
]

RemotePlace = Annotated[
    str | None,
    typer.Option("--store", metavar="PLACE", help="The remote store (folder or URL), as proof of leader epochs."),
]


@with_common
def repair(
    paths: Paths,
    common: Common,
    against: Against = None,
    accept_loss: AcceptLoss = False,
    tidy: Tidy = False,
    adopt: Adopt = False,
    store: RemotePlace = None,
    define: Define = None,
    metadata: Metadata = None,
) -> None:
    """Plan repairs, with proof; -o writes the plan for apply."""
    from kcheck.disk.output import replace_file
    from kcheck.model.finding import parse_severity

    release, fail_on = common.release(paths), parse_severity(common.judging.fail_on)
    output = common.output_options.output
    shown, _ = common.chosen()
    answer = api.repair(
        *paths,
        against=against or (),
        accept_loss=accept_loss,
        tidy=tidy,
        adopt=adopt,
        store=store,
        config=common.config,
        define=define or (),
        keep=shown,
        metadata=metadata or (),
        partitions=common.wanted(),
        kafka=release,
    )
    gc.collect()  # The log dirs in memory refer to each other: they would stay until the plan is written.
    plan = (
        None if output is None or answer.is_of_nothing else answer.plan_bytes()
    )  # Its rows are gone before those of the report are made.
    report = answer.report()
    checked_renderer(report, common.output_options)
    if output is not None and plan is not None:
        replace_file(output, plan)
    last_line = UNCHANGED if output is None or plan is None else written_line(output)
    write_answer(report, common.output_options._replace(output=None), last_line=last_line)
    end(report, failed=any(row.severity.rank >= fail_on.rank for row in answer.not_planned))
