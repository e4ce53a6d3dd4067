"""Who leads when nothing changes any more: maybeBalancePartitionLeaders, maybeCompleteReassignment."""

import pytest

from kcheck.core.election.course import Later, LaterLeader, assignment_after, in_sync_under, later_leader
from kcheck.core.election.election import ElectionRules
from kcheck.core.replication.dialogue import Dialogue, Replica, Status
from kcheck.core.replication.truncation_plans import FollowerPlan
from kcheck.model.cluster import PartitionRegistration
from kcheck.model.entries import Offset
from tests.core.election.test_plans import plan

BALANCES = ElectionRules(kraft=True)


def placed(*replicas: int, adding: tuple[int, ...] = (), removing: tuple[int, ...] = ()) -> PartitionRegistration:
    """Return a partition with these replicas."""
    return PartitionRegistration(replicas, (), adding=adding, removing=removing)


def test_the_preferred_replica_gets_the_lead_back() -> None:
    """Once it is in sync, and where the controllers balance leaders."""
    assert later_leader(placed(1, 2, 3), 2, {1, 2}, BALANCES) == LaterLeader(1, Later.PREFERRED)
    assert later_leader(placed(1, 2, 3), 1, {1, 2}, BALANCES) is None
    assert later_leader(placed(1, 2, 3), 2, {2, 3}, BALANCES) is None
    assert later_leader(placed(1, 2, 3), 2, {1, 2}, BALANCES._replace(balances=False)) is None


@pytest.mark.parametrize(
    ("in_sync", "replicas"),
    [
        ({1, 2, 4}, (4, 2)),
        ({1, 2}, (4, 2, 1)),  # what is added is not in sync
        ({4}, (4, 2)),
    ],
)
def test_a_reassignment_ends_when_all_that_it_adds_are_in_sync(in_sync: set[int], replicas: tuple[int, ...]) -> None:
    """The replicas that it removes are deleted then."""
    assert assignment_after(placed(4, 2, 1, adding=(4,), removing=(1,)), in_sync) == replicas


def test_a_reassignment_that_leaves_fewer_replicas() -> None:
    """All of them have to be in sync; at least one in any case."""
    assert assignment_after(placed(2, 3, 1, removing=(1,)), {1, 2}) == (2, 3, 1)
    assert assignment_after(placed(2, 3, 1, removing=(1,)), {1, 2, 3}) == (2, 3)
    assert assignment_after(placed(2, 1, adding=(), removing=(2, 1)), {1, 2}) == (2, 1)


def test_a_removed_leader_is_replaced() -> None:
    """By the first replica in sync that is left."""
    moved = placed(4, 2, 1, adding=(4,), removing=(1,))
    assert later_leader(moved, 1, {1, 2, 4}, BALANCES) == LaterLeader(4, Later.REASSIGNED)
    assert later_leader(moved, 1, {1, 2}, BALANCES) is None


def test_who_comes_in_sync() -> None:
    """Followers that take part and get records."""
    after = Replica(cache=(), log_end_offset=Offset(9), high_watermark=Offset(0))
    rows = [
        FollowerPlan(2, Offset(9), None, dialogue=Dialogue(steps=(), after=after, status=status))
        for status in (Status.OK, Status.FETCH_FAILS)
    ]
    stranger = FollowerPlan(4, Offset(9), None, problem="of another topic")
    assert in_sync_under(plan(1, rows[0], rows[1]._replace(broker_id=3), stranger)) == {1, 2}
    assert in_sync_under(plan(1, rows[0]._replace(broker_id=None))) == {1}
