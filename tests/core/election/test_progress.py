"""How far a cluster is with a plan: done, wait, go on or stop."""

from collections.abc import Mapping

import pytest

from kcheck.core.election.progress import (
    ClusterSeen,
    Differs,
    PlanState,
    SavedStep,
    StepState,
    differences,
    overtaken,
    seen_of,
    state_of,
    states,
    unled,
)
from kcheck.core.election.recovery_plan import PlannedPartition, SavedPlan
from kcheck.core.election.steps import RecoveryAction
from kcheck.model.cluster import NO_LEADER, BrokerRegistration, ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.entries import Epoch, Offset
from kcheck.model.names import TopicPartition

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
START, STOP, ELECT = RecoveryAction.START, RecoveryAction.STOP, RecoveryAction.ELECT
DONE, WAIT, OPEN = StepState.DONE, StepState.WAIT, StepState.OPEN


def planned(partition: int, leader: int, later: int | None = None) -> PlannedPartition:
    """Return a partition that a broker is to lead, above epoch 4."""
    return PlannedPartition("t", partition, None, leader, Offset(9), Epoch(4), None, (1, 2, 3), (), later)


PLAN = SavedPlan("4.3", (1, 2, 3), (), ("1=a",), None, {1: 10, 2: 20}, (planned(0, 1), planned(1, 2)))


def step(kind: RecoveryAction, *brokers: int, of: tuple[TopicPartition, ...] = (), again: bool = False) -> SavedStep:
    """Return a step without words."""
    return SavedStep(kind, brokers, of, again, "", (), "")


COURSE = (
    step(RecoveryAction.REPAIR, 3),
    step(START, 1),
    step(ELECT, of=(T0,)),
    step(STOP, 1),
    step(START, 2),
    step(ELECT, of=(T1,)),
    step(START, 1, again=True),
    step(START, 3),
)


def led(leader: int, epoch: int, **how: object) -> PartitionRegistration:
    """Return a partition with a leader."""
    return PartitionRegistration((1, 2, 3), (leader,), leader=leader, leader_epoch=epoch)._replace(**how)


def seen(registered: str, running: str, leaders: Mapping[TopicPartition, int] | None = None) -> ClusterSeen:
    """Return brokers that have registered, those that run, and partitions with new leaders."""
    rows = {name: led(leader, 5) for name, leader in (leaders or {}).items()}
    return ClusterSeen(frozenset(map(int, registered)), frozenset(map(int, running)), rows)


@pytest.mark.parametrize(
    ("now", "far"),
    [
        (seen("", "")._replace(unrepaired=frozenset({3})), 0),
        (seen("", ""), 1),
        (seen("1", "1"), 2),
        (seen("1", "1", {T0: 1}), 3),
        (seen("1", "", {T0: 1}), 4),
        (seen("12", "2", {T0: 1}), 5),
        (seen("12", "2", {T0: 1, T1: 2}), 6),
        (seen("12", "12", {T0: 1, T1: 2}), 7),
        (seen("123", "123", {T0: 1, T1: 2}), 8),
    ],
)
def test_each_step_in_turn(now: ClusterSeen, far: int) -> None:
    """All before are done, and the first one that is not can be taken."""
    found = states(COURSE, PLAN, now)
    assert found[:far] == (DONE,) * far
    assert OPEN in found[far : far + 1] or far == len(COURSE)
    assert state_of(found, differs=False) is (PlanState.DONE if far == len(COURSE) else PlanState.NEXT)
    assert state_of(found, differs=True) is PlanState.STOP


def test_a_leader_that_nobody_elects() -> None:
    """The controller elects a broker of the ISR as it comes in; before, and where a step elects, nothing is missing.

    An election that is past elected nobody, if the next broker started before it.
    """
    steps = (step(START, 1), step(START, 2), step(ELECT, of=(T1,)))
    nobody = {name: led(NO_LEADER, 5) for name in (T0, T1)}

    def found(now: ClusterSeen, course: tuple[SavedStep, ...] = steps) -> list[PlannedPartition]:
        return [*unled(course, states(course, PLAN, now), PLAN, now)]

    assert found(seen("", "")._replace(leaders=nobody)) == []
    assert found(seen("12", "12")._replace(leaders=nobody)) == [planned(0, 1)]
    assert found(seen("12", "12", {T0: 1, T1: 2})) == []
    assert found(seen("12", "12")) == []
    alone = (step(START, 1), step(ELECT, of=(T0,)), step(STOP, 1), step(START, 2))
    assert found(seen("1", "1")._replace(leaders=nobody), alone) == []
    assert found(seen("12", "2")._replace(leaders=nobody), alone) == [planned(0, 1), planned(1, 2)]
    has_led = {T0: led(NO_LEADER, 6, isr=(1,), last_leader=1, last_leader_epoch=5), T1: led(2, 5)}
    assert found(seen("12", "2")._replace(leaders=has_led), alone) == []
    last_known = {T0: led(NO_LEADER, 5, isr=(), elr=(3,), last_known_elr=(1,))}
    assert found(seen("1", "1")._replace(leaders=last_known)) == []
    assert found(seen("13", "13")._replace(leaders=last_known)) == [planned(0, 1)]
    assert found(seen("1", "1")._replace(leaders={T0: last_known[T0]._replace(elr=())})) == [planned(0, 1)]


def test_what_can_still_be_taken() -> None:
    """A repair of a broker that has not started, and a stop before an election that is still to come."""
    without_repair = seen("1", "1")._replace(unrepaired=frozenset({3}))
    assert states(COURSE, PLAN, without_repair)[:3] == (OPEN, DONE, OPEN)
    without_stop = states(COURSE, PLAN, seen("12", "12", {T0: 1}))
    assert without_stop[:6] == (DONE, DONE, DONE, OPEN, DONE, OPEN)
    assert states(COURSE, PLAN, seen("12", "12", {T0: 1, T1: 2}))[3] is DONE
    assert states(COURSE[:5], PLAN, seen("12", "12", {T0: 1}))[3] is DONE


def test_brokers_that_start_before_their_turn() -> None:
    """The steps between them are past, and cannot be what the plan wanted."""
    assert [*overtaken(COURSE, seen("", ""))] == []
    assert [*overtaken(COURSE, seen("1", "1"))] == []
    assert [*overtaken(COURSE, seen("3", "3"))] == [(1, 3), (2, 3)]
    assert [*overtaken(COURSE, seen("12", "2"))] == []


def test_a_broker_that_is_still_starting() -> None:
    """It has registered and is fenced, and nobody can have stopped it: nothing is elected yet, or nothing stops it."""
    assert states(COURSE, PLAN, seen("1", ""))[1] is WAIT
    found = states(COURSE, PLAN, seen("123", "12", {T0: 1, T1: 2}))
    assert (found[7], state_of(found, differs=False)) == (WAIT, PlanState.WAIT)
    together = (step(START, 1, 2),)
    assert [states(together, PLAN, seen(*who)) for who in (("", ""), ("1", "1"), ("12", "12"))] == [
        (OPEN,), (WAIT,), (DONE,),
    ]  # fmt: skip
    unneeded = (step(START, 1), step(STOP, 1), step(START, 2))
    assert states(unneeded, PLAN, seen("1", "")) == (DONE, DONE, OPEN)


def test_a_rescue_is_done_once_the_metadata_is_back() -> None:
    """It is the only step of its plan."""
    rescue, without = (step(RecoveryAction.RESCUE),), seen("", "")
    assert (OPEN,) == states(rescue, PLAN, without._replace(needs_rescue=True))
    assert (DONE,) == states(rescue, PLAN, without)


def test_a_disk_is_sought_until_it_is_here_or_a_broker_starts() -> None:
    """Who starts a broker goes on without it. Records are saved by the command that writes the plan."""
    course, none = (step(RecoveryAction.BRING, 2), step(RecoveryAction.SAVE, 1), step(START, 1)), seen("", "")
    assert (OPEN, DONE, OPEN) == states(course, PLAN, none._replace(sought=frozenset({2})))
    assert (DONE, DONE, OPEN) == states(course, PLAN, none)
    assert (DONE, DONE, DONE) == states(course, PLAN, seen("1", "1")._replace(sought=frozenset({2})))


def test_what_files_show() -> None:
    """Directories that were moved, replicas that were given back, groups that are at the log end."""
    none = seen("", "")
    for kind, still in (
        (RecoveryAction.FENCE, none._replace(unfenced=frozenset({2}))),
        (RecoveryAction.LOG_DIRS, none._replace(short=frozenset({2}))),
        (RecoveryAction.PUT_BACK, none._replace(misplaced=frozenset({2}))),
    ):
        assert states((step(kind, 1, 2),), PLAN, still) == (OPEN,)
        assert states((step(kind, 1, 2),), PLAN, none) == (DONE,)
    aside = (step(RecoveryAction.SET_ASIDE, 2, of=(T0,)),)
    there = seen("", "")._replace(present=frozenset({(2, T0)}))
    assert [states(aside, PLAN, now) for now in (there, seen("", ""))] == [(OPEN,), (DONE,)]
    reset = (step(RecoveryAction.RESET, of=(T0,)),)
    beyond = seen("", "")._replace(beyond=frozenset({T0}))
    assert [states(reset, PLAN, now) for now in (beyond, seen("", ""))] == [(OPEN,), (DONE,)]
    follow = (step(RecoveryAction.FOLLOW, 2, of=(T0,)),)
    out, joined = ({T0: led(1, 5, isr=isr)} for isr in ((1,), (1, 2)))
    rows = [seen("1", "1")._replace(leaders=leaders) for leaders in ({}, out, joined)]
    assert [states(follow, PLAN, now) for now in rows] == [(OPEN,), (OPEN,), (DONE,)]
    restore = (step(RecoveryAction.RESTORE, of=(T0,)),)
    short = seen("", "")._replace(leaders={T0: led(1, 5, replicas=(1, 2))})
    under_way = seen("", "")._replace(leaders={T0: led(1, 5, removing=(3,))})
    assert [states(restore, PLAN, now) for now in (short, under_way, seen("", "", {T0: 1}))] == [
        (OPEN,), (OPEN,), (DONE,),
    ]  # fmt: skip
    assert states(restore, PLAN._replace(partitions=()), seen("", "", {T0: 1})) == (OPEN,)


def test_who_leads_otherwise() -> None:
    """Elected since the plan, and neither its leader nor who gets the lead later. One that is stopped led last.

    A broker that has not registered since was elected while the controller gave up those that do not run.
    """
    other = {T0: led(3, 5), T1: led(NO_LEADER, 6, isr=(3,), last_leader=3, last_leader_epoch=5)}
    now = seen("3", "3")._replace(leaders=other)
    assert [*differences(PLAN, seen("1", "1")._replace(leaders=other))] == []
    assert [*differences(PLAN, now)] == [Differs(PLAN.partitions[0], 3), Differs(PLAN.partitions[1], 3)]
    fenced = led(NO_LEADER, 6, isr=(2,), last_leader=1, last_leader_epoch=5)
    assert states((step(ELECT, of=(T0,)),), PLAN, seen("1", "1")._replace(leaders={T0: fenced})) == (OPEN,)
    later = PLAN._replace(partitions=(planned(0, 1, later=3), planned(1, 2, later=3), planned(2, 1)))
    assert [*differences(later, now)] == []
    before = seen("3", "3")._replace(leaders={T0: led(3, 4)})
    assert [*differences(PLAN, before)] == []


def test_what_the_metadata_say() -> None:
    """A broker with the epoch of the plan has not registered since; one without an epoch has."""
    brokers = {
        1: BrokerRegistration(1, 10, fenced=False),
        2: BrokerRegistration(2, 21, fenced=True),
        3: BrokerRegistration(3, None, fenced=False),
    }
    topics = {name: TopicImage(name, None, {0: led(1, 5), 7: led(1, 5)}) for name in ("t", "u")}
    found = seen_of(PLAN, ClusterImage(topics=topics, brokers=brokers))
    assert found == ClusterSeen(frozenset({2, 3}), frozenset({3}), {T0: led(1, 5)}, unfenced=frozenset({1}))
    assert seen_of(PLAN, ClusterImage(topics=topics, brokers=brokers), {1}).registered == {1, 2, 3}


def test_deleted_directories_are_moved_aside_or_gone() -> None:
    """Once the broker has started it removes them: the step is past."""
    course = (SavedStep(RecoveryAction.SET_ASIDE, (1,), (), False, "", (), "", directories=("a", "b")), step(START, 1))
    there = seen("", "")._replace(deleted=frozenset({(1, "b"), (2, "a")}))
    assert states(course, PLAN, there) == (OPEN, OPEN)
    assert states(course, PLAN, there._replace(deleted=frozenset({(2, "a")}))) == (DONE, OPEN)
    assert states(course, PLAN, seen("1", "1")._replace(deleted=there.deleted)) == (DONE, DONE)


def test_another_broker_may_lead_as_well() -> None:
    """Of controllers that start together, the one that registers first leads."""
    as_good = PLAN._replace(partitions=(planned(0, 1)._replace(as_good=(3,)), planned(1, 2)))
    now = seen("123", "123", {T0: 3, T1: 2})
    assert [*differences(as_good, now)] == []
    assert states((step(ELECT, of=(T0, T1)),), as_good, now) == (DONE,)


def test_a_lead_that_an_election_is_still_to_take() -> None:
    """A broker that ran alone led first; only where it runs beside the planned one, it keeps the lead."""
    now = seen("12", "2", {T0: 2})
    assert [*differences(PLAN, now)] == [Differs(PLAN.partitions[0], 2)]
    assert [*differences(PLAN, now, {T0})] == []
    assert [*differences(PLAN, seen("12", "12", {T0: 2}), {T0})] == [Differs(PLAN.partitions[0], 2)]
    assert states((step(ELECT, of=(T0,)),), PLAN, now) == (OPEN,)
    assert states((step(ELECT, of=(TopicPartition("u", 0),)),), PLAN, now) == (OPEN,)
