"""`kcheck inspect`: shows the state of files, partitions and log dirs."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.options import Common, Paths, with_common


@with_common
def inspect(
    paths: Paths,
    common: Common,
    segments: Annotated[
        bool, typer.Option("--segments", help="Show every segment; reads each from its first byte.")
    ] = False,
    epochs: Annotated[bool, typer.Option("--epochs", help="Show every leader epoch.")] = False,
    batches: Annotated[bool, typer.Option("--batches", help="Show every batch header.")] = False,
    files: Annotated[bool, typer.Option("--files", help="Show every file with its size.")] = False,
    as_kind: Annotated[
        str | None, typer.Option("--as", metavar="KIND", help="Read a file as this kind, whatever its name.")
    ] = None,
) -> None:
    """Show the offsets, epochs and segments of log dirs, partitions and files."""
    answer = api.inspect(
        *paths,
        segments=segments,
        epochs=epochs,
        batches=batches,
        files=files,
        as_kind=as_kind,
        partitions=common.wanted(),
        kafka=common.release(paths),
    )
    common.write_answer(answer.report())
