"""`kcheck tiered`: what is in remote storage."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from kcheck import api
from kcheck.cli.options import Common, Metadata, ReplicaArguments, with_common
from kcheck.disk.refusals import word_for
from kcheck.errors import UsageError

if TYPE_CHECKING:
    from kcheck.verbs.tiered import Tiered


@with_common
def tiered(
    replicas: ReplicaArguments,
    common: Common,
    store: Annotated[
        str | None, typer.Option("--store", metavar="PLACE", help="The store: a folder, a URL or a listing of it.")
    ] = None,
    layout: Annotated[
        str | None,
        typer.Option(
            "--layout",
            metavar="REGEX",
            help="Keys of another plugin, with the named groups offset, segment and suffix.",
        ),
    ] = None,
    orphans: Annotated[
        str | None,
        typer.Option("--orphans", metavar="FILE", help="Write the keys of objects that no metadata names."),
    ] = None,
    price: Annotated[
        float | None, typer.Option("--price", metavar="USD", min=0, help="What a GB costs in a month.")
    ] = None,
    metadata: Metadata = None,
) -> None:
    """Show what is in remote storage, and who can read it. Nothing in the store is deleted."""
    answer = api.tiered(
        *replicas, store=store, layout=layout, price=price, metadata=metadata or (), partitions=common.wanted(),
        kafka=common.release(replicas),
    )  # fmt: skip
    if orphans is not None:
        _write_orphans(answer, orphans, answer.checked)
    common.write_answer(answer.report())


def _write_orphans(answer: "Tiered", file: str, checked: Iterable[str]) -> None:
    from kcheck.disk.output import keep_outside, replacing

    keep_outside(checked, file)
    keys = answer.orphan_keys()
    first = next(keys, None)
    try:
        with replacing(file) as stream:
            for key in () if first is None else (first, *keys):
                stream.write(f"{key}\n".encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise UsageError(f"--orphans {file}: {word_for(error)}") from error
