"""`kcheck cluster`: what the controllers know."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.options import Common, Paths, with_common, within
from kcheck.errors import UsageError
from kcheck.model.java import INT_MAX, LONG_MAX

At = Annotated[
    str | None, typer.Option("--at", metavar="OFFSET", help="The metadata after this record, or zxid like 0x1e.")
]
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
    """Show what the controllers know: leaders, ISR."""
    from kcheck.verbs.cluster import kraft_paths

    last = None if at is None else _offset(at)
    within("--at", last, 0, LONG_MAX)
    within("--fetchers", fetchers, 1, INT_MAX)
    answer = api.cluster(
        *paths,
        at=last,
        history=history,
        fetchers=fetchers,
        brokers=brokers,
        partitions=common.wanted(),
        kafka=common.release(kraft_paths(paths)),
    )
    common.write_answer(answer.report())


def _offset(text: str) -> int:
    """Return an offset, or a transaction of ZooKeeper, whose files name it in hexadecimal."""
    try:
        return int(text, 16 if text[:2].lower() == "0x" else 10)
    except ValueError:
        raise UsageError(f"--at {text}: write an offset such as 42, or a zxid such as 0x2a") from None
