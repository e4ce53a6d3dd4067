"""`kcheck preflight`: whether a broker may start."""

import os
from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.options import Common, Metadata, with_common
from kcheck.cli.predict import Clean, Define
from kcheck.cli.report_output import end, write_answer
from kcheck.errors import UsageError

Properties = Annotated[
    str, typer.Argument(metavar="FILE", help="The broker's server.properties, or a bundle or folder with one.")
]
Allow = Annotated[
    list[str] | None,
    typer.Option("--allow", metavar="loss|stray|elr|offline|PREMISE", help="Accept this kind of problem; repeatable."),
]


@with_common
def preflight(
    properties: Properties,
    common: Common,
    allow: Allow = None,
    metadata: Metadata = None,
    clean: Clean = None,
    define: Define = None,
    config: Annotated[str | None, typer.Option("--config", hidden=True)] = None,
) -> None:
    """Check that a broker starts without losing records (exit 0), for scripts."""
    from kcheck.verbs.preflight import configuration_in, log_dirs_of

    if config is not None and os.path.realpath(config) != os.path.realpath(properties):
        raise UsageError(f"--config {config}: the server.properties is the argument, {properties}")
    properties = configuration_in(properties)
    answer = api.preflight(
        properties,
        allow=allow or (),
        metadata=metadata or (),
        clean=clean,
        define=define or (),
        kafka=common._replace(config=properties).release(log_dirs_of(properties)),
    )
    report = answer.report()
    write_answer(report, common.output_options)
    end(report, failed=answer.may_start is not True)
