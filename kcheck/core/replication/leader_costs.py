"""Gives the cost of a leader, and the cheapest leader of a partition, in one order for every verb."""

from collections.abc import Iterable
from typing import NamedTuple

from kcheck.core.sums import known_sum

UNKNOWN = 1 << 62
"""Costs more than anything that is known."""


class Amounts(NamedTuple):
    """Records that are lost. A count is None if it is not known; a bound may then say how many there are at most."""

    records: int | None = 0
    """Distinct records, by offset, epoch and content."""
    committed: int | None = 0
    """Number of committed records among them.

    They are below a high watermark of a replica that has them, or every replica of the ISR has them.
    """
    bytes: int | None = 0
    """The bytes of their batches."""
    at_most: int | None = None
    """No more than these records are lost, where `records` is None; None if that is not known either."""
    committed_at_most: int | None = None
    """No more than these were committed, where `committed` is None; None if that is not known either."""

    @property
    def upper_records(self) -> int | None:
        """The records, or their upper bound."""
        return self.at_most if self.records is None else self.records

    @property
    def upper_committed(self) -> int | None:
        """The committed records, or their upper bound."""
        return self.committed_at_most if self.committed is None else self.committed


NOT_KNOWN = Amounts(None, None, None)
"""The loss where nothing shows it."""


def at_most(lost: Amounts) -> Amounts:
    """Return the largest loss, where the loss may also not come."""
    if not lost.upper_records:
        return lost
    return Amounts(None, None, lost.bytes, at_most=lost.upper_records, committed_at_most=lost.upper_committed)


def total(losses: Iterable[Amounts | None]) -> Amounts:
    """Return the sum of losses. A sum with a bound is a bound; a sum with an unknown count is unknown."""
    rows = [NOT_KNOWN if lost is None else lost for lost in losses]
    records, committed = known_sum(row.records for row in rows), known_sum(row.committed for row in rows)
    return Amounts(
        records,
        committed,
        known_sum(row.bytes for row in rows),
        at_most=known_sum(row.upper_records for row in rows) if records is None else None,
        committed_at_most=known_sum(row.upper_committed for row in rows) if committed is None else None,
    )


class LeaderCost(NamedTuple):
    """The sort key of the leaders of a partition, the best one first. A bound counts as its upper end."""

    strangers: int
    """Replicas that do not follow it, such as replicas of another topic. Their records do not count as lost."""
    committed: int
    """Committed records that are lost."""
    records: int
    """Records that are lost."""
    unreadable: int
    """Offsets in remote storage that it does not serve, although they stay there."""
    is_unclean: bool
    """True if the controller elects it uncleanly; False for all without metadata."""
    bytes: int
    """Bytes that the others fetch from it."""
    place: int
    """Its place in the assignment; 0 for all without metadata."""
    broker_id: int
    """Its broker."""


def leader_cost(
    lost: Amounts | None,
    refetched: int | None,
    *,
    strangers: int = 0,
    clean: bool | None,
    place: int,
    broker_id: int | None,
    unreadable: int = 0,
) -> LeaderCost:
    """Return the cost of a leader; an unknown cost is more than anything else."""
    committed, records = (None, None) if lost is None else (lost.upper_committed, lost.upper_records)
    counts = (UNKNOWN if count is None else count for count in (committed, records, refetched))
    committed, records, refetch = counts
    return LeaderCost(
        strangers, committed, records, unreadable, clean is False, refetch, place,
        UNKNOWN if broker_id is None else broker_id,
    )  # fmt: skip
