"""Finds directories with the name of another partition, or on a broker without that replica.

The first batches of the other directories show the right name. Two partitions of a topic can have the same epochs,
offsets and sizes, but never the same batches.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kcheck.core.election.plans import SERVED, Candidate, CopyState, PartitionElection


class Misplaced(NamedTuple):
    """A directory that belongs at another place."""

    broker_id: int
    """The broker with the directory."""
    dir: str
    """The directory."""
    holds: str
    """The partition of its records, as TOPIC-N."""
    to_broker: int
    """The broker that serves the partition."""
    replaces: str | None = None
    """The directory there that makes room; None without one."""
    records: int | None = None
    """The records that no other directory here has; None for a directory with the wrong name."""
    log_dir: str | None = None
    """The right log dir by the metadata, as an id; None if not known."""


class OtherLog(NamedTuple):
    """A directory whose first batch differs from the one of a replica, and that no majority explains."""

    partition: str
    """The partition, as TOPIC-N."""
    broker_id: int
    """The broker that has the directory."""
    replica: int
    """The broker of the replica."""
    same: tuple[tuple[int, str], ...]
    """The directories of other partitions with the same first batch, by broker."""


def other_logs(partitions: Sequence[PartitionElection]) -> Iterator[OtherLog]:
    """Yield the copies that no broker serves, and that begin with another batch than a replica of the partition."""
    for part in partitions:
        copies = [copy for copy in part.candidates if copy.first]
        for replica in (copy for copy in copies if copy.state is CopyState.CURRENT):
            for copy in copies:
                if copy.state in SERVED or copy.first == replica.first or _starts(copy) != _starts(replica):
                    continue
                same = [
                    (other.broker_id, other.dir)
                    for row in partitions
                    for other in row.candidates
                    if row.name != part.name and row.topic == part.topic and other.first == copy.first and other.dir
                ]
                yield OtherLog(part.name, copy.broker_id, replica.broker_id, tuple(same))


def _starts(copy: Candidate) -> int | None:
    return None if copy.first is None else copy.first[0]


def misplaced(partitions: Iterable[PartitionElection]) -> tuple[Misplaced, ...]:
    """Return the directories of a cluster that belong at another place, if their own broker has a place for them."""
    topics: dict[str, list[PartitionElection]] = defaultdict(list)
    for part in partitions:
        topics[part.topic].append(part)
    rows = [row for parts in topics.values() for row in _exchanged(parts)]
    return (*rows, *(row for parts in topics.values() for part in parts for row in _on_other_brokers(part)))


def _exchanged(parts: Sequence[PartitionElection]) -> Iterator[Misplaced]:
    """Yield directories whose broker has exchanged their names, by the names of most directories with the same log."""
    logs = [(part, copy) for part in parts for copy in part.candidates if copy.first and copy.dir]
    names: dict[object, Counter[str]] = defaultdict(Counter)
    for part, copy in logs:
        names[copy.first][part.name] += 1
    wrong = {
        (copy.broker_id, part.name): (holds, copy)
        for part, copy in logs
        if copy.state is CopyState.CURRENT and (holds := _right_name(names[copy.first], part.name)) is not None
    }
    for (number, _), (holds, copy) in wrong.items():
        other = wrong.get((number, holds))
        if other is not None and copy.dir is not None:
            yield Misplaced(number, copy.dir, holds, number, replaces=other[1].dir)


def _right_name(names: Counter[str], own: str) -> str | None:
    """Return the name of most directories with a log. None for the `own` name and for a tie."""
    (first, count), *others = names.most_common(2)
    is_tie = bool(others) and others[0][1] == count
    return None if is_tie or first == own else first


def _on_other_brokers(part: PartitionElection) -> Iterator[Misplaced]:
    """Yield the copy that belongs to the first replica, because only this copy has every record."""
    registration = part.registration
    assigned = () if registration is None else registration.replicas
    homes = [copy for copy in part.candidates if copy.state in SERVED and copy.problem is None]
    for copy in part.candidates:
        is_needed = copy.only_here is not None and bool(copy.only_here.records)
        if not (copy.covers and is_needed and homes and copy.dir) or copy.broker_id in assigned:
            continue
        home = min(homes, key=lambda row: assigned.index(row.broker_id) if row.broker_id in assigned else len(assigned))
        directories = () if registration is None else registration.directories
        by_broker = dict(zip(assigned, directories, strict=False))
        yield Misplaced(
            copy.broker_id, copy.dir, part.name, home.broker_id, replaces=home.dir,
            records=None if copy.only_here is None else copy.only_here.records,
            log_dir=by_broker.get(home.broker_id),
        )  # fmt: skip
        return
