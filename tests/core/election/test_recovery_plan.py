"""What elect recommends for a cluster: which partitions need which step, and what is expected of each."""

from typing import Any

from kcheck.core.election.course import Later, LaterLeader
from kcheck.core.election.early_elections import Displaced, Means
from kcheck.core.election.election import ElectionRules, Seats
from kcheck.core.election.plans import Candidate, CopyState, PartitionElection
from kcheck.core.election.recovery_plan import PlannedFollower, PlannedPartition, Recovery, SavedPlan, saved_plan
from kcheck.core.election.scenarios import planned, scenarios
from kcheck.core.releases.releases import release
from kcheck.core.replication.dialogue import Dialogue, Replica, Status
from kcheck.core.replication.leader_costs import Amounts
from kcheck.core.replication.truncation_plans import FollowerPlan
from kcheck.model.cluster import BrokerRegistration, ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.entries import Epoch, Offset
from tests.core.election.test_plans import NOTHING, STARTS, candidate, election, follower, plan

KRAFT = ElectionRules(kraft=True)
WAITS = election(candidate(2), candidate(3), isr=(9,))
"""A partition whose last replica in sync is not here: nobody leads it without an unclean election."""


def recovery(*partitions: PartitionElection, **how: Any) -> Recovery:
    """Return a recommendation for partitions."""
    return Recovery(
        partitions=partitions, order=(1, 2, 3), starts=STARTS, dead=frozenset(), release=release("4.3"), kraft=True,
        image=None, paths=("1=a", "2=b"), folder="out",
    )._replace(**how)  # fmt: skip


def test_who_starts() -> None:
    """In the order of the plan, without a broker that aborts."""
    assert recovery(order=(3, 4, 1)).live == (3, 1)


def test_what_needs_an_election() -> None:
    """A partition that the controller leaves without a leader, if there is one to recommend."""
    undecided = WAITS._replace(best=None)
    steps = recovery(WAITS, undecided, election(candidate(1)))
    assert steps.unclean == (WAITS,)
    assert steps.reassigned == ()


def test_a_leader_in_a_new_log_dir_may_need_an_election() -> None:
    """A real 4.3.1 elected the only replica on a formatted disk by itself in one run, and nobody in another one."""
    row = election(candidate(1, in_new_log_dir=True), rules=KRAFT)
    (row,) = planned([row], STARTS, (1,), Means())
    assert (row.race, row.planned, row.needs_unclean) == (frozenset({1, None}), 1, False)
    steps = recovery(row)
    assert (steps.unclean, steps.reassigned) == ((row,), ())
    assert [(one.offline_partitions, one.may_be_led) for one in scenarios([row], STARTS, (1,))[:2]] == [
        (1, True),
        (0, False),
    ]
    in_sync = election(candidate(1, in_new_log_dir=True), candidate(2), isr=(1, 2), rules=KRAFT)
    (in_sync,) = planned([in_sync], STARTS, (1, 2), Means())
    assert recovery(in_sync).unclean == ()


def test_what_must_be_reassigned_before() -> None:
    """Where the assignment's first replica is not the best: the wanted one comes first, absent ones are left out."""
    worse = election(candidate(2, Amounts(5, 5, 5)), candidate(3), isr=(9,))
    assert worse.registration is not None
    full = worse._replace(registration=worse.registration._replace(replicas=(9, 2, 3, 4)))
    gone = candidate(4, problem="damaged")
    assert recovery(full._replace(candidates=(*full.candidates, gone))).reassigned[0][1] == (3, 2)
    assert recovery(worse._replace(registration=None)).reassigned == ()


def test_where_the_order_makes_another_broker_lead() -> None:
    """It is told: the order of starts serves all partitions together."""
    dear = election(candidate(1, Amounts(5, 5, 5)), candidate(2))
    assert recovery(dear).displaced == (Displaced(dear, 1, 3, 2, alone=True),)  # once broker 1 has stopped
    without = election(candidate(1), isr=None)
    assert recovery(election(candidate(1)), WAITS, without, dear._replace(best=None)).displaced == ()
    nobody = dear._replace(seats=Seats((1, 2), (9,)), kafka_now=1)
    assert recovery(nobody).displaced == ()


def test_a_replica_that_cannot_follow() -> None:
    """Its fetches fail, or its truncation never ends."""
    after = Replica((), Offset(0), Offset(9), Offset(9))
    ways = [Dialogue(steps=(), after=after, status=status) for status in Status]
    parts = [FollowerPlan(number, None, None)._replace(dialogue=way) for number, way in enumerate(ways, 2)]
    partition = election(candidate(1, plan=plan(1, *parts, FollowerPlan(None, None, None))))
    answer = recovery(partition, WAITS._replace(best=None))
    expected = [
        number for number, way in enumerate(ways, 2) if way.status in {Status.NEVER_COMPLETES, Status.FETCH_FAILS}
    ]
    assert answer.stuck == tuple((partition, number) for number in expected)
    assert [ways[number - 2].status for _, number in answer.restarted] == [Status.TRUNCATION_FAILS]
    (planned,) = saved_plan(answer).partitions
    assert [part.broker_id for part in planned.followers if not part.follows] == expected


def test_what_is_expected() -> None:
    """The leader, where its log ends, an epoch above all others, and what each follower does."""
    lines = (follower(2, 5, 9), follower(3, None), follower(None, None), FollowerPlan(4, None, None))
    leads = candidate(1, plan=plan(1, *lines))
    partition = election(leads)._replace(
        registration=PartitionRegistration((1, 2), (1,), leader_epoch=7), high_watermark=Offset(4)
    )
    image = ClusterImage(
        topics={"t": TopicImage("t", "ID", {})},
        brokers={1: BrokerRegistration(1, 40, fenced=True), 2: BrokerRegistration(2, None, fenced=True)},
    )
    answer = saved_plan(recovery(partition, WAITS._replace(best=None), image=image, dead=frozenset((5, 4)), saved="s"))
    assert answer == SavedPlan(
        kafka="4.3", order=(1, 2, 3), dead=(4, 5), paths=("1=a", "2=b"), saved="s", broker_epochs={1: 40},
        partitions=(
            PlannedPartition(
                topic="t", partition=0, topic_id="ID", leader=1, log_end_offset=Offset(9), epoch_floor=Epoch(7),
                high_watermark=Offset(4), replicas=(1, 2),
                followers=(
                    PlannedFollower(2, None, (5, 9), log_end_offset=Offset(9)),
                    PlannedFollower(3, None, None, log_end_offset=Offset(0)),
                    PlannedFollower(4, None, None),
                ),
                allowed_unclean=False,
            ),
        ),
    )  # fmt: skip


def test_the_course_of_the_plan_is_expected() -> None:
    """The leader that the steps make, not the best one, and who gets the lead back."""
    first = candidate(2, plan=plan(2), later=LaterLeader(1, Later.PREFERRED))
    partition = election(candidate(1, plan=plan(1)), first)._replace(planned=2)
    (expected,) = saved_plan(recovery(partition)).partitions
    assert (partition.best, expected.leader, expected.later) == (1, 2, 1)


def test_who_may_lead_as_well() -> None:
    """A log with every record of the leader's, that ends where it ends, and that lacks nothing else."""
    same: dict[str, Any] = {"plan": plan(1), "loses_no_more_than": (1,)}
    others = (
        candidate(2, **same), candidate(3, plan=plan(1)), candidate(4, **same, log_end_offset=Offset(12)),
        candidate(5, **same, lacking=(1,)),
    )  # fmt: skip
    (expected,) = saved_plan(recovery(election(candidate(1, plan=plan(1)), *others)._replace(planned=1))).partitions
    assert (expected.as_good, expected._replace(later=9).leaders) == ((2,), (1, 2, 9))


def test_what_is_expected_without_metadata() -> None:
    """No topic id, no replicas; the epoch of the plan."""
    alone: Candidate = candidate(1, NOTHING, plan=plan(1))
    expected = saved_plan(recovery(election(alone, isr=None))).partitions[0]
    assert (expected.topic_id, expected.replicas, expected.epoch_floor) == (None, (), 0)
    unknown = saved_plan(recovery(election(candidate(1), isr=None), image=ClusterImage(topics={}))).partitions[0]
    assert (unknown.topic_id, unknown.followers, unknown.epoch_floor) == (None, (), -1)
    assert unknown.leader == candidate(1, state=CopyState.CURRENT).broker_id
