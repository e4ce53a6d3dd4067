"""The premises without which brokers lose records that no election counts."""

from collections.abc import Iterable

from kcheck.core.election.plans import CopyState, PartitionElection, held_elsewhere
from kcheck.core.premises.age import AGES
from kcheck.core.premises.batches import SNAPSHOT_THERE
from kcheck.core.premises.log_ranges import ENDS_THERE
from kcheck.core.premises.table import HOLES, UNCOUNTED, WRONG_METADATA
from kcheck.core.start.unserved import Unserved, without_places
from kcheck.documents.premises import loses, may_lack, with_old_disk
from kcheck.model.premises import JudgedPremise
from kcheck.replicas.broker_gaps import replicas_of


def uncounted_premises(
    premises: Iterable[JudgedPremise], elections: Iterable[PartitionElection]
) -> tuple[JudgedPremise, ...]:
    """Return the premises whose failure costs a broker records that no election counts.

    A disk that is older than the cluster lacks the later records, unless another replica here has them. The log itself
    may be missing there. The same goes for a log without its end, unless another replica's log is longer. For a log
    without its producer snapshot, an equally long log that has its own is enough. A preferred replica that lacks
    segments costs them once it is elected. The controller does not do this by itself.
    """
    premises, elections = tuple(premises), tuple(elections)
    bare = {(row.partition, row.broker_id) for row in premises if row.id == SNAPSHOT_THERE}
    premises = tuple(row for row in premises if loses(row) or may_lack(row))
    old = with_old_disk(premises)
    is_only = any(brokers and brokers <= old for brokers in map(_with_log, elections))
    ids = WRONG_METADATA | UNCOUNTED | (AGES if is_only else set())
    preferred = {
        (part.name, next(iter(replicas_of(part)), None))
        for part in elections
        if not part.rules.balances and part.lost_planned is not None and part.lost_planned.records == 0
    }
    longest = {
        (part.name, candidate.broker_id)
        for part in elections
        if part.lost_planned is not None and part.lost_planned.records == 0
        for candidate in part.candidates
        if candidate.log_end_offset == max(other.log_end_offset or 0 for other in part.candidates)
    }
    sealed = {partition for partition, _ in longest - bare}
    return tuple(
        row
        for row in premises
        if row.id in ids
        or (row.id == ENDS_THERE and (not loses(row) or (row.partition, row.broker_id) in longest))
        or (row.id == SNAPSHOT_THERE and (row.partition, row.broker_id) in longest and row.partition not in sealed)
        or (row.id in HOLES and (row.partition, row.broker_id) in preferred)
    )


def apart_of(lost: Iterable[Unserved], partitions: Iterable[PartitionElection]) -> tuple[Unserved, ...]:
    """Return the directories that starts lose, without those whose records the replicas have and keep."""
    kept = {(copy.broker_id, copy.dir) for _, copy in held_elsewhere(partitions)}
    return tuple(without_places(lost, kept))


def not_counted(apart: Iterable[Unserved], partitions: Iterable[PartitionElection]) -> tuple[Unserved, ...]:
    """Return the directories without those whose records the losses of their partitions count."""
    rows = ((copy.broker_id, copy.dir) for part in partitions for copy in part.candidates if copy.only_here is not None)
    return tuple(without_places(apart, {*rows}))


def _with_log(election: PartitionElection) -> set[int]:
    """Return the brokers here with a log of a partition, or without any log its replicas."""
    logs = {row.broker_id for row in election.candidates if row.state is CopyState.CURRENT}
    return logs or {*replicas_of(election)}
