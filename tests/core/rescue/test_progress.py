"""How far a cluster is with a rescue, as values."""

from collections.abc import Iterable

from kcheck.core.election.progress import PlanState, StepState
from kcheck.core.rescue.progress import (
    NodeSeen,
    PlannedTopic,
    RescueAction,
    RescueSeen,
    SavedRescue,
    differences_of_image,
    differences_of_rescue,
    rescue_states,
    seen_of_rescue,
    state_of_rescue,
    unsettled,
)
from kcheck.model.cluster import BrokerRegistration, ClusterImage, PartitionRegistration, TopicImage

ACTIONS = tuple(RescueAction)
SAVED = SavedRescue(ACTIONS, controller=101, epoch=5)


def image(leader: int = 1, isr: tuple[int, ...] = (1, 2), next_producer_id: int | None = None) -> ClusterImage:
    """Return metadata with topic t on brokers 1 and 2."""
    topic = TopicImage("t", "id-t", {0: PartitionRegistration((1, 2), isr, leader, 3, 1)})
    brokers = {number: BrokerRegistration(number, number, fenced=False) for number in (1, 2, 101)}
    return ClusterImage({"t": topic}, {"id-t": topic}, brokers=brokers, next_producer_id=next_producer_id)


def now(seen: RescueSeen, fails: Iterable[str] = ()) -> tuple[PlanState, str | None]:
    """Return what to do, and the step."""
    state, at = state_of_rescue(ACTIONS, rescue_states(ACTIONS, seen), tuple(fails))
    return state, None if at is None else str(ACTIONS[at])


def test_one_step_after_the_other() -> None:
    following = RescueSeen(leads=True, following=(1,), waiting=(2,))
    assert now(RescueSeen(pending=("plan",), running=(1,))) == (PlanState.NEXT, "stop")
    assert now(RescueSeen(pending=("plan",))) == (PlanState.NEXT, "apply")
    assert now(RescueSeen()) == (PlanState.NEXT, "identity")
    assert now(RescueSeen(started=True)) == (PlanState.WAIT, "controller")
    assert now(RescueSeen(leads=True, waiting=(1,))) == (PlanState.NEXT, "brokers")
    assert now(following) == (PlanState.WAIT, "brokers")
    assert now(following._replace(waiting=(), left=("t-0",))) == (PlanState.WAIT, "check")
    assert now(following._replace(waiting=())) == (PlanState.DONE, None)
    assert now(following, ["lost"])[0] is PlanState.STOP
    done = rescue_states((RescueAction.SETTINGS, RescueAction.LATER), RescueSeen(is_set=True))
    assert done == (StepState.DONE, StepState.OPEN)


def test_brokers_follow_once_their_log_has_the_new_epoch() -> None:
    """A node that is given up is not waited for, nor one that is not here; a running one is named."""
    nodes = [NodeSeen(101, 6), NodeSeen(1, 6), NodeSeen(2, 5, running=True), NodeSeen(3, None)]
    seen = seen_of_rescue(SAVED, nodes, image(), RescueSeen())
    assert (seen.leads, seen.following, seen.waiting, seen.running) == (True, (1,), (2,), (2,))
    assert seen_of_rescue(SAVED._replace(dead=frozenset({2})), nodes, image(), RescueSeen()).waiting == ()
    assert seen_of_rescue(SAVED._replace(brokers=frozenset({1, 3})), nodes, image(), RescueSeen()).waiting == (3,)


def test_nothing_leads_before_the_plan_and_its_controller() -> None:
    for nodes, metadata, before in (
        ([NodeSeen(101, 5)], image(), RescueSeen()),
        ([NodeSeen(101, None)], None, RescueSeen()),
        ([NodeSeen(101, 6)], None, RescueSeen()),
        ([NodeSeen(101, 6)], image(), RescueSeen(pending=("plan",))),
        ([NodeSeen(1, 6)], image(), RescueSeen()),
    ):
        assert not seen_of_rescue(SAVED, nodes, metadata, before).leads


def test_partitions_without_a_leader_or_a_full_isr_are_waited_for() -> None:
    """Not those that have no disk, and not those of topics that a plan does not name."""
    planned = SAVED._replace(topics={"t": PlannedTopic("id-t", frozenset())}, has_full_isr=True)
    assert [*unsettled(SAVED, image(leader=-1))] == ["1 partition without a leader: t-0"]
    assert [*unsettled(SAVED._replace(dead=frozenset({1, 2})), image(leader=-1))] == []
    assert [*unsettled(SAVED, image(isr=(1,)))] == []
    assert [*unsettled(planned, image(isr=(1,)))] == ["1 partition with replicas out of sync: t-0"]
    assert [*unsettled(planned, image())] == []
    offline = planned._replace(topics={"t": PlannedTopic("id-t", frozenset({0}))})
    assert [*unsettled(offline, image(leader=-1))] == []
    assert [*unsettled(planned._replace(topics={"other": PlannedTopic(None, frozenset())}), image(leader=-1))] == []


def differs(saved: SavedRescue, metadata: ClusterImage | None, seen: RescueSeen, *nodes: NodeSeen) -> str:
    """Return what is not as planned."""
    return "; ".join(differences_of_rescue(saved, [NodeSeen(101, 6), *nodes], metadata, seen))


def test_what_waiting_does_not_heal() -> None:
    leads = RescueSeen(leads=True, waiting=(2,))
    dead = SAVED._replace(dead=frozenset({102}))
    assert "node 102 must never start" in differs(dead, None, RescueSeen(running=(102,)))
    assert differs(dead, None, leads) == ""
    assert "node 2 has seen epoch 9, and controller 101 leads in epoch 6" in differs(
        SAVED, image(), leads, NodeSeen(2, 5, seen=9), NodeSeen(1, 6, seen=9)
    )
    lost = SAVED._replace(topics={"gone": PlannedTopic(None, frozenset()), "t": PlannedTopic("other", frozenset())})
    assert "topic gone of the plan, topic t of the plan" in differs(lost, image(), leads)
    known = SAVED._replace(topics={"t": PlannedTopic(None, frozenset())}, next_producer_id=5000)
    assert "producer ids from 4000" in differs(known, image(next_producer_id=4000), leads)
    assert differs(known, image(next_producer_id=5000), leads) == ""


def test_leader_epochs_below_the_plan_are_of_a_topic_that_was_created_by_hand() -> None:
    """Its leader empties the epochs of its log, and followers never get in sync."""
    planned = {"t": PlannedTopic(None, frozenset(), {0: 4}), "u": PlannedTopic(None, frozenset())}
    lost, below = differences_of_image(SAVED._replace(topics=planned), image())
    assert lost == "the controller does not have topic u of the plan"
    assert below == "leader epochs are below the epochs on the disks (t-0), so topics were created by hand"
    assert [*differences_of_image(SAVED._replace(topics={"t": PlannedTopic(None, frozenset(), {0: 3})}), image())] == []
