"""Compares a copy that no broker serves with the replicas that brokers serve."""

from collections.abc import Iterable

from kcheck.core.replication.leader_costs import Amounts
from kcheck.model.entries import Offset
from kcheck.model.loss import BatchIdentity
from kcheck.model.unreadable import UnreadableError
from kcheck.replicas.distinct_records import LostRange, distinct
from kcheck.replicas.leader_plans import fork_of
from kcheck.replicas.loss import open_batches
from kcheck.replicas.replica import ReplicaState
from kcheck.segments.batch_faults import identity_of


def covers(state: ReplicaState, served: Iterable[ReplicaState]) -> bool:
    """Return whether a copy has every record of every replica that loads."""
    own = [LostRange(state.logs, state.log_start_offset, state.log_end_offset or Offset(0))]
    others = [other for other in served if other.problem is None and other.log_end_offset is not None]
    rows = [LostRange(other.logs, other.log_start_offset, other.log_end_offset or Offset(0)) for other in others]
    return distinct([row for row in rows if row.logs], own).records == 0


def shared_batches(state: ReplicaState) -> tuple[BatchIdentity, ...]:
    """Return the batches that the other replicas of a log have, too."""
    if state.batches is not None:
        return state.batches.shared(is_compacted=state.is_compacted)
    if state.is_compacted or not state.logs:
        return ()
    try:
        first = next(open_batches(state.logs), None)
    except UnreadableError:
        return ()
    batch = None if first is None else identity_of(first[1])
    return () if batch is None else (batch,)


def only_here(state: ReplicaState, served: Iterable[ReplicaState], mark: Offset | None) -> Amounts | None:
    """Return the records of a copy that no replica has; None if not known.

    Records below the log start of every replica are no loss, as retention deleted them. `mark` is the high watermark of
    a copy that no checkpoint names.
    """
    others = [other for other in served if other.problem is None and other.log_end_offset is not None]
    if state.problem is not None or state.log_end_offset is None:
        return None
    first = min((other.log_start_offset for other in others), default=state.log_start_offset)
    if state.is_compacted or not state.logs:  # The cleaner of a replica removes records that it had.
        shared = (fork_of(other, state).common_prefix or Offset(0) for other in others)
        first = Offset(max((first, *shared)))
    if first >= state.log_end_offset:
        return Amounts(0, 0, 0)
    kept = [LostRange(other.logs, other.log_start_offset, other.log_end_offset or Offset(0)) for other in others]
    # A log dir to which the directory was copied has no high watermark, and loads 0.
    known = state.known_high_watermark if mark is None or state.checkpointed is not None else mark
    own = LostRange(state.logs, first, state.log_end_offset, mark=known)
    counts = distinct([own], kept, mark)
    return Amounts(counts.records, counts.committed, counts.bytes)
