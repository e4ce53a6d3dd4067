"""`kcheck inspect`: what is there."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.options import Common, Paths, with_common


@with_common
def inspect(
    paths: Paths,
    common: Common,
    segments: Annotated[bool, typer.Option("--segments", help="Every segment, walked from its start.")] = False,
    epochs: Annotated[bool, typer.Option("--epochs", help="Every leader epoch.")] = False,
    batches: Annotated[bool, typer.Option("--batches", help="Every batch header.")] = False,
    files: Annotated[bool, typer.Option("--files", help="Every file with its size.")] = False,
    as_kind: Annotated[
        str | None, typer.Option("--as", metavar="KIND", help="Read the file as this kind, whatever its name.")
    ] = None,
) -> None:
    """Show what is there in a file, a partition or a log dir."""
    answer = api.inspect(
        *paths,
        segments=segments,
        epochs=epochs,
        batches=batches,
        files=files,
        as_kind=as_kind,
        partitions=common.wanted(),
        kafka=common.release(),
    )
    common.leave(answer.report())
