"""The plan of each leader of a partition with its cost; the best plan is marked."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from kcheck.core.replication.leader_costs import total
from kcheck.core.replication.truncation_plans import OffsetRange, TruncationPlan, marked
from kcheck.model.release import Release
from kcheck.replicas.committed import committed_marks
from kcheck.replicas.leader_plans import Election, plans_under
from kcheck.replicas.lost_amounts import amounts_lost
from kcheck.replicas.remote_losses import remote_amounts, remote_lost, remote_unreadable, served_by
from kcheck.replicas.replica import ReplicaState

PlanFiller = Callable[[TruncationPlan], TruncationPlan]
"""Takes a plan, and returns it with more of its fields."""


def plans_of(
    states: tuple[ReplicaState, ...],
    election: Election,
    release: Release,
    *,
    in_cluster: PlanFiller | None = None,
    counted: PlanFiller | None = None,
    held: Sequence[OffsetRange] = (),
) -> Iterator[TruncationPlan]:
    """Yield the plan of one partition under the chosen or the best leader, or one for each candidate.

    `in_cluster` fills in the metadata of the cluster. If the logs themselves are not here, `counted` fills in the
    losses and fetches of followers. `held` are the offsets of copies that no broker serves.
    """
    plans = plans_under(states, election, release)
    if in_cluster is not None:
        plans = map(in_cluster, plans)
    if counted is not None:
        plans = map(counted, plans)
    costed = map(partial(_costed, states=states, held=held), plans)
    if election.leader not in (None, "best"):
        yield from costed
        return
    yield from (plan for plan in marked([*costed]) if plan.is_best or election.leader is None)


def _costed(plan: TruncationPlan, states: Sequence[ReplicaState], held: Sequence[OffsetRange]) -> TruncationPlan:
    """Return a plan with the records that no replica has once its leader leads."""
    if plan.problem is not None or plan.leader_log_end_offset is None:
        return plan
    marks = committed_marks(states, plan.registration)
    by_broker = {state.broker_id: state for state in states}
    leading, lost = by_broker[plan.leader], amounts_lost(plan, by_broker, marks, held=held)
    remote = remote_lost(leading, states)
    return plan._replace(
        lost=total((lost, remote_amounts(remote))) if remote else lost,
        remote_lost=remote,
        remote_unreadable=remote_unreadable(leading),
        is_tiered=leading.remote is not None,
        served={} if leading.remote is None else served_by(leading),
    )
