"""`kcheck tiered`: what is in remote storage."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.options import Common, Metadata, ReplicaArguments, with_common


@with_common
def tiered(
    replicas: ReplicaArguments,
    common: Common,
    store: Annotated[
        str | None, typer.Option("--store", metavar="PLACE", help="The store: a folder, a URL or a listing of it.")
    ] = None,
    price: Annotated[
        float | None, typer.Option("--price", metavar="USD", min=0, help="What a GB costs in a month.")
    ] = None,
    metadata: Metadata = None,
) -> None:
    """Show what is in remote storage, and who can read it."""
    answer = api.tiered(
        *replicas, store=store, price=price, metadata=metadata or (), partitions=common.wanted(),
        kafka=common.release(replicas),
    )  # fmt: skip
    common.write_answer(answer.report())
