"""Directories that no broker serves, and that have records which no replica has."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kcheck.words import NAMED_MAX, record_count


class AsideCopy(NamedTuple):
    """A directory that no broker serves, and that has what no replica here has."""

    records: int | None
    """How many records only it has; None if that is not known."""
    broker_id: int
    """Its broker."""
    partition: str
    """The partition."""
    dir: str
    """The directory, as a text shows it."""
    state: str
    """What it is to the partition."""


def aside_words(copies: Iterable[AsideCopy]) -> Iterator[str]:
    """Yield which directories have what no replica has, unknown counts first, then the highest."""
    rows = sorted(copies, key=lambda copy: (copy.records is not None, -(copy.records or 0), copy.partition))
    for copy in rows[:NAMED_MAX]:
        yield (
            f"Broker {copy.broker_id} has {record_count(copy.records)} of {copy.partition} that no replica here has, in"
            f" a directory that no broker serves: {copy.dir} ({copy.state})"
        )
    if len(rows) > NAMED_MAX:
        yield f"Such directories beside these: {len(rows) - NAMED_MAX}"
