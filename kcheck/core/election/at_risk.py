"""Partitions whose newest records may be on the disk of one broker alone."""

from collections.abc import Iterable
from typing import NamedTuple

from kcheck.core.election.plans import CopyState, PartitionElection


class AtRisk(NamedTuple):
    """The partitions that may lack records without a disk of one broker."""

    only: tuple[PartitionElection, ...]
    """The partitions without another replica. What their broker alone wrote is lost for certain."""
    led: tuple[PartitionElection, ...]
    """The other partitions that the broker led last."""


def at_risk(broker_id: int, partitions: Iterable[PartitionElection]) -> AtRisk:
    """Return the partitions of a broker that can have records which no other replica has, by the metadata."""
    rows = [(row, row.registration) for row in partitions if row.registration is not None]
    return AtRisk(
        tuple(row for row, known in rows if known.replicas == (broker_id,)),
        tuple(
            row
            for row, known in rows
            if known.replicas != (broker_id,) and broker_id in {known.leader, known.last_leader}
        ),
    )


def has_directory(broker_id: int, partition: PartitionElection) -> bool:
    """Return whether a log dir of a broker has a directory of a partition."""
    return any(copy.broker_id == broker_id and copy.dir is not None for copy in partition.candidates)


def without_copy(broker_id: int, partitions: Iterable[PartitionElection]) -> tuple[PartitionElection, ...]:
    """Return the partitions whose replica of a broker is missing in its log dirs."""
    return tuple(
        row
        for row in partitions
        if any((copy.broker_id, copy.state) == (broker_id, CopyState.MISSING) for copy in row.candidates)
    )
