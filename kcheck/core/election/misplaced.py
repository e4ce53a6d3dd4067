"""Finds directories with the name of another partition, or on a broker without that replica.

The batches of the other directories show the right name. Two partitions of a topic can have the same epochs, offsets
and sizes, but seldom the same batches.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kcheck.core.election.plans import SERVED, Candidate, CopyState, PartitionElection
from kcheck.core.replication.log_names import NamedLog, differs, other_names
from kcheck.model.names import TopicPartition
from kcheck.words import partition_name


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
    is_extra: bool = False
    """True if the broker has the records under their right name, too. The directory only moves aside."""


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
        copies = [copy for copy in part.candidates if copy.shared]
        for replica in (copy for copy in copies if copy.state is CopyState.CURRENT):
            for copy in copies:
                if copy.state in SERVED or not differs(copy.shared, replica.shared):
                    continue
                same = [
                    (other.broker_id, other.dir)
                    for row in partitions
                    for other in row.candidates
                    if row.name != part.name
                    and row.topic == part.topic
                    and other.dir
                    and not set(copy.shared).isdisjoint(other.shared)
                ]
                yield OtherLog(part.name, copy.broker_id, replica.broker_id, tuple(same))


class HeldLog(NamedTuple):
    """A directory and its path below a log dir."""

    named: NamedLog
    """The directory by its name, also with the id of another topic."""
    dir: str
    """Its name on disk."""


def misplaced(partitions: Iterable[PartitionElection], held: Iterable[HeldLog]) -> tuple[Misplaced, ...]:
    """Return the directories of a cluster that belong at another place, if their own broker has a place for them.

    `held` are all directories with the plain name of a partition, also of partitions that the cluster does not have.
    """
    rows = tuple(partitions)
    return (*_under_other_names(rows, held), *(row for part in rows for row in _unserved(part)))


def _under_other_names(parts: Sequence[PartitionElection], held: Iterable[HeldLog]) -> Iterator[Misplaced]:
    """Yield directories whose right name is proven, and free on their broker."""
    dirs = {row.named: row.dir for row in held}
    wrong = {named: other for named, other in other_names(dirs) if other.is_proven}
    places = {(named.broker_id, named.partition): named for named in dirs if named.is_served}
    missing = {
        (copy.broker_id, TopicPartition(part.topic, part.partition))
        for part in parts
        for copy in part.candidates
        if copy.state is CopyState.MISSING
    }
    for named, other in wrong.items():
        place = named.broker_id, other.holds[0]
        there = places.get(place)
        leaves = there in wrong
        if leaves or place in missing or (named.is_served and there is not None):
            yield Misplaced(
                named.broker_id,
                dirs[named],
                partition_name(*other.holds[0]),
                named.broker_id,
                replaces=None if there is None else dirs[there],
                is_extra=there is not None and not leaves,
            )


def _unserved(part: PartitionElection) -> Iterator[Misplaced]:
    """Yield the copy that belongs to a replica, because only this copy has every record.

    A broker without a directory of its replica takes its own copy. Other copies go to the first replica.
    """
    registration = part.registration
    assigned = () if registration is None else registration.replicas
    homes = {copy.broker_id: copy for copy in part.candidates if copy.state in SERVED and copy.problem is None}
    for copy in sorted(part.candidates, key=_records, reverse=True):
        own = homes.get(copy.broker_id)
        is_free = copy.broker_id not in assigned if own is None else own.dir is None
        if not (copy.covers and _records(copy) and homes and copy.dir and is_free):
            continue
        home = own or min(
            homes.values(),
            key=lambda row: assigned.index(row.broker_id) if row.broker_id in assigned else len(assigned),
        )
        directories = () if registration is None else registration.directories
        by_broker = dict(zip(assigned, directories, strict=False))
        yield Misplaced(
            copy.broker_id, copy.dir, part.name, home.broker_id, replaces=home.dir, records=_records(copy),
            log_dir=by_broker.get(home.broker_id),
        )  # fmt: skip
        return


def _records(copy: Candidate) -> int:
    """Return how many records only this copy has."""
    return 0 if copy.only_here is None else copy.only_here.records or 0
