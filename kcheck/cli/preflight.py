"""`kcheck preflight`: whether a broker may start."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.options import Common, Metadata, with_common
from kcheck.cli.predict import Clean, Define
from kcheck.cli.report_output import end, write_answer

Properties = Annotated[
    str, typer.Argument(metavar="FILE", help="The broker's server.properties, or a bundle or folder with one.")
]
Allow = Annotated[
    list[str] | None,
    typer.Option("--allow", metavar="loss|stray|elr|offline|PREMISE", help="Start all the same; repeatable."),
]


@with_common
def preflight(
    properties: Properties,
    common: Common,
    allow: Allow = None,
    metadata: Metadata = None,
    clean: Clean = None,
    define: Define = None,
) -> None:
    """Say if a broker may start without loss: exit 0 or 1."""
    from kcheck.verbs.preflight import configuration_in, log_dirs_of

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
