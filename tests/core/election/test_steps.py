"""What a person does one after the other, and which records are gone after each step."""

from kcheck.core.election.course import Later, LaterLeader
from kcheck.core.election.election import Seats
from kcheck.core.election.first_repairs import FirstRepair
from kcheck.core.election.plans import PartitionElection
from kcheck.core.election.steps import Cut, RecoveryAction, RecoveryStep, steps_of
from kcheck.core.releases.releases import release
from kcheck.core.replication.dialogue import Dialogue, Replica, Status
from kcheck.core.replication.leader_costs import Amounts
from kcheck.core.replication.truncation_plans import FollowerPlan, TruncatedRecords
from kcheck.model.entries import Offset
from tests.core.election.test_plans import candidate, election, follower, plan
from tests.core.election.test_recovery_plan import WAITS, recovery

START, STOP, ELECT, FOLLOW = RecoveryAction.START, RecoveryAction.STOP, RecoveryAction.ELECT, RecoveryAction.FOLLOW


def test_repairs_come_first_then_starts() -> None:
    """In the order of the plan; brokers that are the controllers too start together."""
    repair = FirstRepair(2, ("2=b",), 1, 14, "it does not start")
    assert steps_of(recovery(repairs=(repair,))) == (
        RecoveryStep(RecoveryAction.REPAIR, (2,)),
        *(RecoveryStep(START, (number,)) for number in (1, 2, 3)),
    )
    assert steps_of(recovery(together=(1, 2)))[0] == RecoveryStep(START, (1, 2))


def test_a_missing_disk_comes_before_everything() -> None:
    """It may change every later step."""
    repair = FirstRepair(2, ("2=b",), 1, 14, "it does not start")
    assert steps_of(recovery(repairs=(repair,), sought=(4,)))[:2] == (
        RecoveryStep(RecoveryAction.BRING, (4,)),
        RecoveryStep(RecoveryAction.REPAIR, (2,)),
    )


def test_controllers_fence_brokers_before_any_of_them_starts() -> None:
    """Who stays in sync is known then; combined nodes are no controllers alone."""
    assert steps_of(recovery(fenced=(2, 1)))[:2] == (
        RecoveryStep(RecoveryAction.FENCE, (2, 1)),
        RecoveryStep(START, (1,)),
    )


def _contested(best: int, isr: int, *, partition: int) -> PartitionElection:
    """Return a partition that the controller gives to a poorer replica than the best one."""
    rows = [candidate(number, Amounts(0 if number == best else 5, 0, 50)) for number in (1, 2, 3)]
    part = election(*rows, isr=(isr,))
    return part._replace(partition=partition, seats=Seats((1, 2, 3), (isr,)), best=best)


def test_a_broker_stops_so_that_the_next_one_is_alone() -> None:
    """The tool takes the first of the assignment that runs: broker 1, as long as it does."""
    rows = (_contested(1, 2, partition=0), _contested(2, 3, partition=1))
    assert steps_of(recovery(*rows)) == (
        RecoveryStep(START, (1,)),
        RecoveryStep(ELECT, partitions=rows[:1], before=2),
        RecoveryStep(STOP, (1,)),
        RecoveryStep(START, (2,)),
        RecoveryStep(ELECT, partitions=rows[1:], before=3),
        RecoveryStep(START, (1,), is_again=True),
        RecoveryStep(START, (3,)),
    )


def test_what_nobody_leads_by_itself_is_elected_in_the_end() -> None:
    """Where the assignment has another one first, it is changed before, and restored afterwards."""
    worse = election(candidate(2, Amounts(5, 5, 5)), candidate(3), isr=(9,))
    steps = steps_of(recovery(WAITS, worse))
    assert [(step.kind, step.file) for step in steps[3:]] == [
        (RecoveryAction.REASSIGN, "reassignment.json"),
        (ELECT, "election.json"),
        (RecoveryAction.RESTORE, "restore.json"),
    ]
    assert steps[0].file is None


def test_groups_are_reset_and_directories_moved_aside() -> None:
    """A preferred replica with a poorer log is moved out before its broker starts."""
    beyond = election(candidate(1, groups_beyond=2))
    assert steps_of(recovery(beyond))[-1] == RecoveryStep(RecoveryAction.RESET, partitions=(beyond,))
    assert steps_of(recovery(beyond, release=release("0.10.2")))[-1].kind is START
    poor = candidate(1, later=LaterLeader(2, Later.PREFERRED), lost_later=Amounts(5, 5, 50))
    kept = election(poor, candidate(2, Amounts(9, 9, 90)), planned=1)
    assert steps_of(recovery(kept))[1] == RecoveryStep(RecoveryAction.SET_ASIDE, (2,), (kept,))


def test_replicas_that_do_not_follow_get_a_step() -> None:
    """Broker by broker, once every leader is elected. What a step moves aside before the start fetches anyway."""

    def ends(number: int, status: Status) -> FollowerPlan:
        after = Replica((), Offset(0), Offset(9), Offset(9))
        return follower(number, None)._replace(dialogue=Dialogue(steps=(), after=after, status=status))

    part = election(candidate(1, plan=plan(1, ends(2, Status.TRUNCATION_FAILS), ends(3, Status.FETCH_FAILS))))
    other = part._replace(partition=1)
    assert steps_of(recovery(part, other))[-2:] == (
        RecoveryStep(FOLLOW, (2,), (part, other)),
        RecoveryStep(FOLLOW, (3,), (part, other), emptied=(part, other)),
    )
    assert steps_of(recovery(election(candidate(1, plan=plan(1, ends(9, Status.FETCH_FAILS))))))[-1].kind is START
    poor = candidate(1, later=LaterLeader(2, Later.PREFERRED), lost_later=Amounts(5, 5, 50))
    poor = poor._replace(plan=plan(1, ends(2, Status.FETCH_FAILS), ends(3, Status.OK)))
    kept = election(poor, candidate(2, Amounts(9, 9, 90)), planned=1)
    assert [step.kind for step in steps_of(recovery(kept))].count(FOLLOW) == 0


def test_what_a_step_makes_final() -> None:
    """A follower truncates once its leader is elected and it runs: the later of the two."""
    lost = TruncatedRecords(Offset(5), Offset(9), 4, 40, 4, certain=True)
    leader = candidate(2, Amounts(4, 4, 40), plan=plan(2, follower(1, 5, 9)._replace(lost=lost), follower(3, None)))
    part = election(candidate(1, Amounts(9, 9, 90)), leader, isr=(2,), planned=2)
    cut = Cut("t", 0, 1, lost)
    steps = steps_of(recovery(part))
    assert [step.cuts for step in steps] == [(), (), (cut,), ()]
    assert steps[0] == RecoveryStep(RecoveryAction.SAVE, (1,))
    # A bundle has no records to save.
    assert [step.cuts for step in steps_of(recovery(part, bundles=frozenset({1})))] == [(), (cut,), ()]
    elected = part._replace(seats=Seats((1, 2), (9,)), kafka_now=None)
    assert [step.cuts for step in steps_of(recovery(elected))] == [(), (), (), (), (cut,)]
    assert [step.cuts for step in steps_of(recovery(part._replace(planned=None)))] == [(), (), ()]
