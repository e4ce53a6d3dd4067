"""`kcheck tiered`: what is in remote storage."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.options import Common, Metadata, ReplicaArguments, with_common
from kcheck.disk.refusals import word_for
from kcheck.errors import UsageError


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
    rebuild: Annotated[
        str | None,
        typer.Option("--rebuild", metavar="DIR", help="Write lost metadata from manifests of the store."),
    ] = None,
    price: Annotated[
        float | None, typer.Option("--price", metavar="USD", min=0, help="Price of a GB in a month, to add costs.")
    ] = None,
    manifests: Annotated[
        bool, typer.Option("--manifests", help="Also compare .log objects with manifests of the Aiven plugin.")
    ] = False,
    metadata: Metadata = None,
) -> None:
    """Show what is in remote storage, and who can read it. Nothing in the store is deleted."""
    answer = api.tiered(
        *replicas, store=store, layout=layout, price=price, manifests=manifests, metadata=metadata or (),
        partitions=common.wanted(), kafka=common.release(replicas),
    )  # fmt: skip
    if orphans is not None:
        keys = (f"{key}\n".encode("utf-8", "surrogateescape") for key in answer.orphan_keys())
        _write_lines(orphans, answer.checked, keys)
    if rebuild is not None:
        from kcheck.verbs.rebuild import write_rebuilt

        write_rebuilt(answer, rebuild)
    common.write_answer(answer.report(), failed=lambda: answer.is_unknown)


def _write_lines(file: str, checked: Iterable[str], lines: Iterator[bytes]) -> None:
    """Write a file outside of the checked paths; nothing if the first line cannot be made."""
    from kcheck.disk.output import keep_outside, replacing

    keep_outside(checked, file, option="--orphans")
    first = next(lines, None)
    try:
        with replacing(file) as stream:
            for line in () if first is None else chain((first,), lines):
                stream.write(line)
    except OSError as error:
        raise UsageError(f"--orphans {file}: {word_for(error)}") from error
