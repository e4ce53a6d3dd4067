"""Directories that no broker serves, and that have records which no replica that loads has."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kcheck.words import NAMED_MAX, record_count


class AsideCopy(NamedTuple):
    """A directory that no broker serves, with records that no loading replica here has."""

    records: int | None
    """Number of records that only it has; None if that is not known."""
    broker_id: int
    """Its broker."""
    partition: str
    """The partition."""
    dir: str
    """The directory, as a text shows it."""
    state: str
    """Its role for the partition."""
    unloaded: bool = False
    """True if a replica here does not load. Its records may or may not be in other replicas."""


def aside_words(copies: Iterable[AsideCopy]) -> Iterator[str]:
    """Yield which directories have what no replica has, unknown counts first, then the highest."""
    rows = sorted(copies, key=lambda copy: (copy.records is not None, -(copy.records or 0), copy.partition))
    for copy in rows[:NAMED_MAX]:
        which = "here that loads" if copy.unloaded else "here"
        yield (
            f"Broker {copy.broker_id} has {record_count(copy.records)} of {copy.partition} that no replica {which} has,"
            f" in a directory that no broker serves: {copy.dir} ({copy.state})"
        )
    if len(rows) > NAMED_MAX:
        yield f"Such directories beside these: {len(rows) - NAMED_MAX}"
