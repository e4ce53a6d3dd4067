"""`kcheck tiered`: what is in remote storage."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from kcheck import api
from kcheck.cli.options import Common, Metadata, ReplicaArguments, with_common
from kcheck.disk.refusals import word_for
from kcheck.errors import UsageError
from kcheck.model.remote_log import REMOTE_LOG_METADATA

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
    rebuild: Annotated[
        str | None,
        typer.Option("--rebuild", metavar="FILE", help="Write lost metadata records, from manifests of the store."),
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
        keys = (f"{key}\n".encode("utf-8", "surrogateescape") for key in answer.orphan_keys())
        _write_lines("--orphans", orphans, answer.checked, keys)
    if rebuild is not None:
        _write_lines("--rebuild", rebuild, answer.checked, _records(answer))
    common.write_answer(answer.report())


def _records(answer: "Tiered") -> Iterator[bytes]:
    """Yield a JSON line for each record: the partition of the topic, and the value in base64. The key is null."""
    count = None if answer.store is None else answer.store.metadata_partitions
    for segment in answer.rebuilt():
        number = None if count is None else segment.metadata_partition(count)
        for value in segment.values:
            row = {"topic": REMOTE_LOG_METADATA, "partition": number, "value": b64encode(value).decode()}
            yield f"{json.dumps(row)}\n".encode()


def _write_lines(option: str, file: str, checked: Iterable[str], lines: Iterator[bytes]) -> None:
    """Write a file outside of the checked paths; nothing if the first line cannot be made."""
    from kcheck.disk.output import keep_outside, replacing

    keep_outside(checked, file)
    first = next(lines, None)
    try:
        with replacing(file) as stream:
            for line in () if first is None else chain((first,), lines):
                stream.write(line)
    except OSError as error:
        raise UsageError(f"{option} {file}: {word_for(error)}") from error
