"""`kcheck cluster`: what the controllers know."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.options import Common, Paths, with_common, within
from kcheck.model.java import INT_MAX, LONG_MAX

At = Annotated[int | None, typer.Option("--at", metavar="OFFSET", help="The metadata after the record at this offset.")]
History = Annotated[str | None, typer.Option("--history", metavar="TOPIC-N", help="Every change of one partition.")]
Fetchers = Annotated[
    int | None,
    typer.Option("--fetchers", metavar="N", help="Which thread fetches what, with num.replica.fetchers=N."),
]
Brokers = Annotated[bool, typer.Option("--brokers", help="Brokers, not partitions, as the one table of csv.")]


@with_common
def cluster(
    paths: Paths,
    common: Common,
    at: At = None,
    history: History = None,
    fetchers: Fetchers = None,
    brokers: Brokers = False,
) -> None:
    """Show what the controllers know: leaders, ISR, brokers."""
    from kcheck.verbs.cluster import kraft_paths

    within("--at", at, 0, LONG_MAX)
    within("--fetchers", fetchers, 1, INT_MAX)
    answer = api.cluster(
        *paths,
        at=at,
        history=history,
        fetchers=fetchers,
        brokers=brokers,
        partitions=common.wanted(),
        kafka=common.release(kraft_paths(paths)),
    )
    common.write_answer(answer.report())
