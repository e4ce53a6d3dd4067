"""`kcheck predict`: simulates the next start of the broker."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.options import Common, Metadata, Paths, with_common
from kcheck.cli.report_output import end, write_answer

Define = Annotated[
    list[str] | None, typer.Option("-D", "--define", metavar="KEY=VALUE", help="One broker setting; repeatable.")
]
Clean = Annotated[
    bool | None,
    typer.Option(
        "--clean/--unclean",
        help="Assume a clean or unclean shutdown. [default: from the marker file]",
        show_default=False,
    ),
]


@with_common
def predict(
    paths: Paths, common: Common, clean: Clean = None, define: Define = None, metadata: Metadata = None
) -> None:
    """Show what the next start of a broker does to each partition, and what it loses."""
    from kcheck.model.finding import parse_severity

    fail_on = parse_severity(common.judging.fail_on)
    prediction = api.predict(
        *paths,
        clean=clean,
        config=common.config,
        define=define or (),
        metadata=metadata or (),
        partitions=common.wanted(),
        kafka=common.release(paths),
    )
    report = prediction.report()
    write_answer(report, common.output_options)
    end(report, failed=prediction.severity.rank >= fail_on.rank)
