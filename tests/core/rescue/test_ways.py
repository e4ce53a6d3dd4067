"""Which way back is the gentlest, and what it changes; tests/oracle/clusters/test_lost_quorum.py plays them."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.rescue.quorum_loss import NewVoter, QuorumLoss, RescueNode
from kcheck.core.rescue.ways import (
    AddVoters,
    CopyLog,
    DropLog,
    DropSnapshots,
    DropVote,
    Rescue,
    Way,
    WriteVote,
    choices,
    rescue,
    target_of,
)
from kcheck.model.cluster import ControllerRegistration, QuorumState, Voter
from tests.core.rescue.nodes import SET, SNAPSHOT, brokers, copy, image, left, node

NEWEST, OLD = release("4.3"), release("3.3")


def target(loss: QuorumLoss) -> RescueNode:
    """Return the controller that leads if nobody names one."""
    found = target_of(loss, None)
    assert found is not None
    return found


def possible(loss: QuorumLoss) -> list[Way]:
    """Return the ways that work, the gentlest first."""
    return [choice.way for choice in choices(loss, target(loss)) if choice.why_not is None]


def way(loss: QuorumLoss, wanted: Way, voter: NewVoter | None = None, kafka: str = "4.3") -> Rescue:
    """Return a way for the controller that leads if nobody names one."""
    return rescue(loss, target(loss), wanted, voter, release(kafka))


def test_a_survivor_of_static_voters_needs_a_configuration_alone() -> None:
    loss = left(node(101, copy(101, leader=102)), *brokers())
    assert possible(loss) == [Way.STATIC]
    assert way(loss, Way.STATIC).edits == ()
    assert way(loss, Way.STATIC).retired == (102, 103)


def test_up_to_3_8_every_quorum_state_names_the_voters() -> None:
    """3.3.2 ends where it names others than the configuration (QuorumState.initialize)."""
    one, two = (node(number, copy(number, leader=102)) for number in (1, 2))
    loss = left(node(101, copy(101)), one, two, node(103, copy(103, leader=102)))
    target, first, second = loss.nodes[:3]
    state = QuorumState(-1, 4, -1, (101,))
    assert way(loss, Way.STATIC, kafka="3.3").edits == (
        WriteVote(target, state),
        *(DropVote(one, "it names voters that the configuration no longer has") for one in (first, second)),
    )


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_quorum_state_that_no_node_can_read_is_replaced(dynamic: bool) -> None:
    """A node ends at its start with one; of a node that is given up it does not matter."""
    one, two = brokers(dynamic=dynamic)
    first = node(101, copy(101, dynamic=dynamic), bad_vote=True)
    loss = left(first, one._replace(bad_vote=True), two, node(103, bad_vote=True))
    edits = way(loss, Way.IDENTITY if dynamic else Way.STATIC).edits
    assert [(type(edit), edit.node.node_id) for edit in edits] == [(WriteVote, 101), (DropVote, 1)]


def test_an_epoch_that_another_node_has_seen_is_passed() -> None:
    """A broker with a higher epoch than the leader waits for ever."""
    one = node(1, copy(1), epoch=9)
    loss = left(node(101, copy(101)), one)
    assert way(loss, Way.STATIC).edits == (WriteVote(loss.nodes[0], QuorumState(-1, 10, -1, (101,))),)


def test_a_stale_survivor_gets_the_newest_copy() -> None:
    loss = left(node(101, copy(101, 40)), *brokers())
    assert possible(loss) == [Way.COPY]
    copied, vote = way(loss, Way.COPY).edits
    assert copied == CopyLog(loss.nodes[0], loss.newest)
    assert vote == WriteVote(loss.nodes[0], QuorumState(-1, 4, -1, (101,)))


def test_a_new_controller_gets_the_newest_copy() -> None:
    loss = left(node(201), *brokers(), dead=(101, 102, 103))
    assert target(loss).node_id == 201
    assert possible(loss) == [Way.COPY]


def test_the_best_survivor_leads_and_others_come_back_empty() -> None:
    """Of five voters, two are left: without a majority the other one must not vote."""
    five = frozenset(range(101, 106))
    held = [copy(number, end)._replace(voters=five) for number, end in ((101, 40), (102, 50))]
    loss = left(*(node(each.node_id or 0, each) for each in held), *brokers(), dead=(103, 104, 105))
    assert target(loss).node_id == 102
    (dropped,) = way(loss, Way.STATIC).edits
    assert isinstance(dropped, DropLog)
    assert dropped.node.node_id == 101


def test_a_snapshot_beyond_the_new_end_goes() -> None:
    """A broker that keeps it serves another cluster than its controller; where the user forces a stale copy."""
    late = node(1, copy(1, 50, snapshot=45))
    loss = left(node(101, copy(101, 40, leader=102)), late, node(2, copy(2, 50, leader=102)))
    edits = way(loss, Way.STATIC, kafka="3.3").edits
    assert [type(edit) for edit in edits] == [WriteVote, DropLog, DropVote]
    assert [edit.node.node_id for edit in edits] == [101, 1, 2]


def test_a_stand_in_comes_before_a_record() -> None:
    loss = left(node(101, copy(101, dynamic=True, leader=102)), *brokers(dynamic=True))
    assert possible(loss) == [Way.IDENTITY, Way.VOTERS]
    found = way(loss, Way.IDENTITY)
    assert [stand_in.node_id for stand_in in found.stand_ins] == [103]
    assert found.stand_ins[0].directory_id == SET[2].directory_id
    assert (found.edits, found.address) == ((), "c101:9093")


def test_a_stand_in_lifts_the_epoch_where_a_broker_has_seen_a_higher_one() -> None:
    loss = left(node(101, copy(101, dynamic=True)), node(1, copy(1, dynamic=True), epoch=7))
    (vote,) = way(loss, Way.IDENTITY).edits
    assert isinstance(vote, WriteVote)
    assert (vote.state.leader_epoch, vote.state.voters) == (8, None)


def test_nobody_stands_in_for_the_leader_that_a_survivor_remembers() -> None:
    two = SET[:2]
    held = copy(101, dynamic=True, leader=102)._replace(voter_set=two)
    loss = left(node(101, held), dead=(102,))
    assert possible(loss) == [Way.VOTERS]


def test_nobody_stands_in_without_a_bootstrap_file_or_for_a_new_controller() -> None:
    loss = left(node(101, copy(101, dynamic=True), has_bootstrap=False))
    assert possible(loss) == [Way.VOTERS]
    lost = left(node(201, copy(201, dynamic=True)), dead=(101, 102, 103))
    assert [choice.way for choice in choices(lost, lost.nodes[0]) if choice.why_not is None] == [Way.VOTERS]


@pytest.mark.parametrize("dynamic", [False, True])
def test_voters_that_lost_records_get_the_newest_copy_and_one_of_them_leads(dynamic: bool) -> None:
    """No empty node stands in for a voter that is here."""
    stale = [node(number, copy(number, 40, dynamic=dynamic)) for number in (101, 102, 103)]
    loss = left(*stale, *brokers(dynamic=dynamic), dead=())
    assert possible(loss) == [Way.COPY]
    assert next(type(edit) for edit in way(loss, Way.COPY).edits if edit.node.node_id == 101) is CopyLog
    assert [edit.node.node_id for edit in way(loss, Way.COPY).edits if isinstance(edit, DropLog)] == [102, 103]
    one = left(*stale[:2], node(103, copy(103, dynamic=dynamic, snapshot=45)), *brokers(dynamic=dynamic), dead=())
    assert possible(one) == [Way.VOTERS if dynamic else Way.STATIC]


def test_a_record_names_the_only_voter_at_a_raised_epoch() -> None:
    loss = left(node(101, copy(101, dynamic=True)), *brokers(dynamic=True))
    record, vote = way(loss, Way.VOTERS).edits
    assert record == AddVoters(loss.nodes[0], 50, 4, 1000, (SET[0],))
    assert vote == WriteVote(loss.nodes[0], QuorumState(-1, 4, -1, None, "A" * 22))


@pytest.mark.parametrize(
    ("fields", "voter", "expected"),
    [
        ({}, NewVoter(201, "new", 9), ("CONTROLLER://new:9",)),
        ({"listeners": ("SSL://here:8",)}, NewVoter(201), ("SSL://here:8",)),
        ({}, None, ("C://registered:7",)),
    ],
)
def test_a_new_controller_is_named_with_its_own_address(
    fields: dict[str, object], voter: NewVoter | None, expected: tuple[str, ...]
) -> None:
    known = image("t")._replace(controllers={201: ControllerRegistration(201, "i", ("C://registered:7",), {})})
    held = copy(1, dynamic=True, holds=known)
    loss = left(node(201, **fields), node(1, held), dead=(101, 102, 103))
    copied, record, _ = way(loss, Way.COPY, voter).edits
    assert isinstance(copied, CopyLog)
    assert isinstance(record, AddVoters)
    assert record.voters == (Voter(201, "directory-of-0000201A", expected),)


def test_an_address_that_nobody_names_is_not_known() -> None:
    loss = left(node(201), node(1, copy(1)), dead=(101, 102, 103))
    assert way(loss, Way.COPY).address is None


@pytest.mark.parametrize(("names", "expected"), [((201,), 201), ((201, 202), None), ((), None)])
def test_of_several_new_controllers_the_user_names_one(names: tuple[int, ...], expected: int | None) -> None:
    loss = left(*map(node, names), *brokers(), dead=(101, 102, 103))
    found = target_of(loss, None)
    assert (None if found is None else found.node_id) == expected
    assert target_of(loss, NewVoter(202)) == loss.node(202)


@pytest.mark.parametrize("dynamic", [False, True])
def test_corrupt_snapshots_go_with_every_way(dynamic: bool) -> None:
    """A node does not start with one. Another way is not needed where older files have what it had."""
    survivor = node(101, copy(101, dynamic=dynamic, damage="snapshot"))
    behind = node(2, copy(2, dynamic=dynamic, damage="base"))
    lost = node(3, copy(3, dynamic=dynamic, damage="base"), dead=True)
    loss = left(survivor, node(1, copy(1, dynamic=dynamic)), behind, lost, dead=(3, 102, 103))
    wanted = [DropSnapshots(survivor, (SNAPSHOT,)), DropLog(behind, BASE)]
    for one in (Way.IDENTITY, Way.VOTERS) if dynamic else (Way.STATIC,):
        assert [edit for edit in way(loss, one).edits if isinstance(edit, DropSnapshots | DropLog)] == wanted
    assert [edit for edit in way(loss, Way.COPY).edits if isinstance(edit, DropSnapshots | DropLog)] == wanted[1:]


BASE = "the node cannot read the first part of its metadata log"
