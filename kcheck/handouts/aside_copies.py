"""Directories that no broker serves, and that have records which no replica that loads has."""

from collections.abc import Callable, Iterable, Iterator

from kcheck.core.election.plans import PartitionElection, only_aside
from kcheck.words import NAMED_MAX, record_count


def aside_words(partitions: Iterable[PartitionElection], shown: Callable[[str], str] = str) -> Iterator[str]:
    """Yield which directories have what no replica has, unknown counts first, then the highest.

    `shown` returns the name of a directory as a screen shows it. A replica here may not load. Whether it has these
    records is not known then.
    """
    copies = [(copy.only_here.records, part, copy) for part, copy in only_aside(partitions) if copy.only_here]
    rows = sorted(copies, key=lambda row: (row[0] is not None, -(row[0] or 0), row[1].name))
    for records, part, copy in rows[:NAMED_MAX]:
        which = "here that loads" if part.has_unloaded else "here"
        yield (
            f"Broker {copy.broker_id} has {record_count(records)} of {part.name} that no replica {which} has,"
            f" in a directory that no broker serves: {shown(copy.dir or '')} ({copy.state})"
        )
    if len(rows) > NAMED_MAX:
        yield f"More directories of this kind: {len(rows) - NAMED_MAX}"
