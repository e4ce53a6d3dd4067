"""Which preferred elections come with ZooKeeper: only where others lead enough of a broker's partitions."""

import pytest

from kcheck.core.election.balance import balanced
from kcheck.core.election.course import Later, LaterLeader
from kcheck.core.election.plans import Candidate, PartitionElection
from kcheck.core.replication.leader_costs import Amounts, at_most
from kcheck.model.cluster import ClusterImage, PartitionRegistration, TopicImage
from tests.core.election.test_plans import NOTHING, ZOOKEEPER, candidate, election

LATER = LaterLeader(1, Later.PREFERRED)
GAP = Amounts(20, 20, 200)


def led(by: int, *rows: Candidate, **how: object) -> PartitionElection:
    """Return a partition that a broker leads first; broker 1 is its preferred replica."""
    others = rows or (candidate(1), candidate(2))
    row = election(*others, isr=(by,))._replace(rules=ZOOKEEPER, race=frozenset({by}), best=by)
    return row._replace(**how)


def image(count: int, percentage: str | None = None, others: int = 0) -> ClusterImage:
    """Return a cluster in which broker 1 is the preferred replica of so many partitions, and broker 2 of others."""
    rows = {number: PartitionRegistration((1, 2), (1,)) for number in range(count)}
    rows |= {number: PartitionRegistration((2, 1), (2,)) for number in range(count, count + others)}
    configs = {} if percentage is None else {("broker", ""): {"leader.imbalance.per.broker.percentage": percentage}}
    return ClusterImage({"t": TopicImage("t", "T", rows)}, configs=configs)


def first(rows: tuple[PartitionElection, ...]) -> Candidate:
    """Return broker 2 in the first partition."""
    return next(row for row in rows[0].candidates if row.broker_id == 2)


def follower(lost: Amounts = NOTHING, later: Amounts | None = GAP) -> Candidate:
    """Return broker 2, after which broker 1 gets the lead back."""
    return candidate(2, lost, later=LATER, lost_later=later)


@pytest.mark.parametrize(
    ("of", "percentage", "comes"),
    [(10, None, False), (9, None, True), (10, "9", True), (9, "12", False), (4, "25", False), (4, "x", True)],
)
def test_others_have_to_lead_more_than_a_percentage(of: int, percentage: str | None, comes: bool) -> None:
    """One of ten is ten percent, which is not more than the default."""
    rows = (led(2, candidate(1), follower()), *(led(1) for _ in range(of - 1)))
    here = first(balanced(rows, image(of, percentage, others=3)))
    assert (LATER, GAP) == (here.later, here.lost_later) if comes else here == candidate(2)


def test_what_may_come_costs_what_is_worse() -> None:
    """Who leads first is a race, or the other partitions were not asked for."""
    raced = tuple(led(1, race=frozenset({1, 2})) for _ in range(9))
    for others in (raced, ()):
        here = first(balanced((led(2, candidate(1), follower()), *others), image(10)))
        assert (LATER, at_most(GAP)) == (here.later, here.lost_later)
        better = follower(lost=GAP, later=NOTHING)
        here = first(balanced((led(2, candidate(1), better), *others), image(10)))
        assert (None, GAP) == (here.later, here.lost_in_the_end)
        same = follower(later=None)
        assert same == first(balanced((led(2, candidate(1), same), *others), image(10)))


def test_what_is_left_as_it_is() -> None:
    """KRaft counts nothing; a reassignment ends in any case; a partition without metadata has no preferred replica."""
    alone = (led(2, candidate(1), follower()),)
    of_kraft = (alone[0]._replace(rules=ZOOKEEPER._replace(kraft=True)),)
    assert of_kraft == balanced(of_kraft, image(10))
    moved = candidate(2, later=LaterLeader(1, Later.REASSIGNED), lost_later=GAP)
    assert moved == first(balanced((led(2, candidate(1), moved), *(led(1) for _ in range(9))), image(10)))
    unknown = (election(candidate(1), candidate(2), isr=None)._replace(rules=ZOOKEEPER),)
    assert unknown == balanced(unknown, image(10))
