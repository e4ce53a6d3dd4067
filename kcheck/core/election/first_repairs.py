"""Finds repairs that come before any broker starts, so that the broker takes part in the elections."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kcheck.core.election.plans import Candidate, PartitionElection, best_candidate
from kcheck.core.replication.leader_costs import UNKNOWN, Amounts


class FirstRepair(NamedTuple):
    """The repair of one broker."""

    broker_id: int
    """The broker."""
    arguments: tuple[str, ...]
    """The arguments of `kcheck repair` that plan it, without the name of the plan file."""
    operations: int
    """Number of operations of the plan."""
    bytes: int
    """Number of bytes that the repair writes."""
    why: str
    """The next start of the broker without it, as a clause."""
    discards: str | None = None
    """The records that it discards, and that the broker would discard too when it starts; None without any."""
    unmarks: bool = False
    """True if the broker's start before the repair fails and removes .kafka_cleanshutdown."""


def unrepaired(now: Sequence[PartitionElection], then: Sequence[PartitionElection]) -> Iterator[PartitionElection]:
    """Yield the partitions as they are `now`, with the loss of the logs that load `then`, after the repairs.

    A log that does not load before a repair also holds records. A leader without these records loses them. So an
    awaited log is known, and does not keep another leader from being the best.
    """
    repaired = {(row.topic, row.partition): row.leaders for row in then}
    for row in now:
        leaders = repaired.get((row.topic, row.partition), {})
        candidates = tuple(_with_all_lost(candidate, leaders.get(candidate.broker_id)) for candidate in row.candidates)
        is_known = row.best is not None or (row.awaited and not row.unknown_replicas)
        best = best_candidate(candidates) if is_known else None
        yield row._replace(candidates=candidates, best=None if best is None else best.broker_id)


def _with_all_lost(candidate: Candidate, then: Candidate | None) -> Candidate:
    """Return a candidate with the greater of its losses, each of which counts only some of the logs."""
    if then is None or candidate.lost is None or then.lost is None:
        return candidate
    return candidate._replace(lost=max(candidate.lost, then.lost, key=_upper))


def _upper(lost: Amounts) -> tuple[int, ...]:
    return tuple(UNKNOWN if count is None else count for count in (lost.upper_records, lost.upper_committed))
