"""`kcheck cluster`: cluster metadata from disk."""

from typing import Annotated

import typer

from kcheck import api
from kcheck.cli.options import Common, Paths, with_common, within
from kcheck.errors import UsageError
from kcheck.model.java import INT_MAX, LONG_MAX

At = Annotated[
    str | None,
    typer.Option(
        "--at", metavar="OFFSET", help="Show the cluster as of this metadata offset, or ZooKeeper zxid (0x1e)."
    ),
]
ChangesOption = Annotated[
    str | None, typer.Option("--changes", metavar="TOPIC-N", help="Show every recorded change of one partition.")
]
Fetchers = Annotated[
    int | None,
    typer.Option(
        "--fetchers", metavar="N", help="Show the partitions of each fetcher thread, with num.replica.fetchers=N."
    ),
]
TableName = Annotated[
    str, typer.Option("--table", metavar="partitions|brokers", help="The rows of text, csv and parquet.")
]
_TABLES = ("partitions", "brokers")


@with_common
def cluster(
    paths: Paths,
    common: Common,
    at: At = None,
    changes: ChangesOption = None,
    fetchers: Fetchers = None,
    table: TableName = "partitions",
) -> None:
    """Show cluster metadata from disk: leaders, ISR, brokers, quorum."""
    from kcheck.verbs.cluster import kraft_paths

    last = None if at is None else _offset(at)
    within("--at", last, 0, LONG_MAX)
    within("--fetchers", fetchers, 1, INT_MAX)
    if table not in _TABLES:
        raise UsageError(f"--table {table}: not one of {', '.join(_TABLES)}")
    answer = api.cluster(
        *paths,
        at=last,
        history=changes,
        fetchers=fetchers,
        brokers=table == "brokers",
        partitions=common.wanted(),
        kafka=common.release(kraft_paths(paths)),
    )
    common.write_answer(answer.report(), failed=lambda: answer.rescue is not None)


def _offset(text: str) -> int:
    """Return an offset, or a transaction of ZooKeeper in hexadecimal, as in the names of its files."""
    try:
        return int(text, 16 if text[:2].lower() == "0x" else 10)
    except ValueError:
        raise UsageError(f"--at {text}: write an offset such as 42, or a zxid such as 0x2a") from None
