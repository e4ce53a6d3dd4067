"""What is left of the controllers; tests/oracle/clusters/test_lost_quorum.py plays it on real clusters."""

import pytest

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.rescue.lacking import CopyGap, lacking
from kcheck.core.rescue.quorum_loss import quorum_loss
from kcheck.core.rescue.rifts import BatchMark, committed_end, first_rift
from tests.core.rescue.nodes import brokers, copy, image, left, node


def test_nothing_is_known_without_a_copy() -> None:
    assert quorum_loss([node(101), node(1)], [102]) is None


def test_a_survivor_of_three_has_no_majority() -> None:
    loss = left(node(101, copy(101)), *brokers())
    assert (loss.voters, loss.majority, loss.lost, loss.has_majority) == ((101, 102, 103), 2, (102, 103), False)
    assert [node.node_id for node in loss.survivors] == [101]
    assert (loss.is_dynamic, loss.unnamed, loss.has_all_committed) == (False, (), False)
    assert loss.node(7) is None


def test_a_voter_wins_against_an_equal_copy_of_a_broker() -> None:
    assert left(*brokers(), node(101, copy(101))).newest.node_id == 101
    assert left(*brokers(), node(101, copy(101)), dead=(101, 102, 103)).newest.node_id == 101


@pytest.mark.parametrize(("end", "epoch", "expected"), [(49, 3, 1), (51, 2, 1), (51, 3, 101), (2, 4, 101)])
def test_the_newest_copy_has_the_last_epoch_and_then_the_last_end(end: int, epoch: int, expected: int) -> None:
    assert left(node(101, copy(101, end, epoch)), *brokers()).newest.node_id == expected


@pytest.mark.parametrize(
    ("damage", "expected"), [("", 101), ("tail", 101), ("snapshot", 101), ("middle", 1), ("records", 1), ("base", 1)]
)
def test_a_damaged_copy_is_not_gone_on_with(damage: str, expected: int) -> None:
    assert left(node(101, copy(101, 60, damage=damage)), *brokers()).newest.node_id == expected


def test_of_damaged_copies_alone_the_newest_is_named() -> None:
    loss = left(node(101, copy(101, 60, damage="middle")), node(1, copy(1, damage="records")), dead=(2, 102, 103))
    assert loss.newest.node_id == 101


def test_the_epoch_is_above_that_of_every_disk_also_of_retired_ones() -> None:
    loss = left(node(101, copy(101)), *brokers(), node(102, copy(102), epoch=9))
    assert loss.epoch == 10
    assert loss.lost == (102, 103)


def test_disks_of_a_majority_have_all_that_was_committed() -> None:
    assert left(node(101, copy(101)), node(102, copy(102)), *brokers()).has_all_committed
    assert not left(node(101, copy(101)), node(102, copy(102, damage="middle")), *brokers()).has_all_committed


def test_settings_name_other_controllers() -> None:
    """The one that is left leads; whether it has all that the former ones had committed stays open."""
    settings = {"process.roles": "controller"}
    alone = node(101, copy(101), settings=settings, configured=frozenset({101}))
    loss = left(alone, node(102), node(103), *brokers(), dead=())
    assert (loss.voters, loss.former, loss.has_majority) == ((101,), (101, 102, 103), True)
    assert (loss.has_all_committed, loss.committed_to) == (False, None)
    both = left(alone, node(102, copy(102)), node(103), *brokers(), dead=())
    assert (both.voters, both.has_all_committed) == ((101,), True)
    same = left(alone._replace(configured=frozenset({101, 102, 103})), *brokers())
    assert (same.voters, same.former) == ((101, 102, 103), ())


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ((copy(101, 40), copy(102, 40), copy(103, 40), copy(1)), (101, 102, 103)),
        ((copy(101, 40), copy(102, 40), copy(103, 40), copy(1, snapshot=30)), (101, 102, 103)),
        ((copy(101, 40), copy(102, 40), copy(103), copy(1)), ()),
        ((copy(101, 40), copy(102, 40), copy(1)), ()),
        ((copy(101, 40), copy(102, 40), copy(1, snapshot=40)), ()),
        ((copy(101, 40), copy(102, 40), copy(1, snapshot=41)), (101, 102)),
        ((copy(101, 40), copy(102, 40), copy(103, snapshot=45)), (101, 102)),
        ((copy(101, 40), copy(102), copy(103), copy(1, snapshot=45)), ()),
        ((copy(101, 40, damage="middle"), copy(102, 40), copy(103)), (101, 102)),
        ((copy(101, 40, damage="middle"), copy(102), copy(103)), ()),
    ],
)
def test_voters_that_lost_records_do_not_elect_without_them(
    nodes: tuple[MetadataCopy, ...], expected: tuple[int, ...]
) -> None:
    """Raft does not allow it: a snapshot holds what a majority had, and an observer fetches from a voter."""
    loss = left(*(node(held.node_id or 0, held) for held in nodes), dead=())
    assert loss.behind == expected
    assert loss.has_majority is loss.has_all_committed is (not expected)
    assert not expected or loss.committed_to == (nodes[-1].snapshot or None)


def test_a_majority_of_damaged_copies_is_none() -> None:
    """Each start would truncate its log; started last, a minority of them follows."""
    nodes = [node(number, copy(number, damage="middle")) for number in (101, 102, 103)]
    assert (left(*nodes, dead=()).has_majority, left(*nodes, dead=()).damaged) == (False, (101, 102, 103))
    whole = [node(number, copy(number)) for number in (102, 103)]
    loss = left(node(101, copy(101, 40, damage="middle")), *whole, dead=())
    assert (loss.has_majority, loss.damaged) == (True, (101,))


def test_copies_of_two_histories_prove_nothing() -> None:
    loss = left(node(101, copy(101)), node(102, copy(102)), node(103, copy(103)))._replace(is_one_history=False)
    assert loss.has_majority is loss.has_all_committed is False


def test_nodes_that_are_neither_here_nor_given_up_are_named() -> None:
    assert left(node(101, copy(101, holds=image("t", brokers=(1, 2, 9)))), node(1), dead=(103,)).unnamed == (2, 9, 102)


def test_a_dynamic_quorum_has_its_voters_in_the_log() -> None:
    loss = left(node(101, copy(101, dynamic=True)))
    assert (loss.is_dynamic, loss.voters) == (True, (101, 102, 103))


def test_a_copy_lacks_topics_deletions_and_changes() -> None:
    newest = copy(1, 50, holds=image("new", "kept", epoch=2))
    old = copy(101, 40, holds=image("kept", "gone"))
    assert lacking(old, newest) == CopyGap(records=10, own=0, created=("new",), deleted=("gone",), changed=1)
    assert lacking(newest, newest).is_nothing
    assert not lacking(old, newest).is_nothing


def test_a_copy_can_have_records_of_its_own() -> None:
    assert lacking(copy(101, 60, 2), copy(1, 50, 3)) == CopyGap(30, 40, (), (), 0)


def test_a_partition_that_a_copy_does_not_know_is_a_change() -> None:
    newest = image("t")
    more = newest.topics["t"]._replace(
        partitions={**newest.topics["t"].partitions, 1: newest.topics["t"].partitions[0]}
    )
    grown = newest._replace(topics={"t": more}, topics_by_id={"id-t": more})
    assert lacking(copy(101, 40, holds=newest), copy(1, holds=grown)).changed == 1


def marks(*rows: tuple[int, int, int, int]) -> list[BatchMark]:
    """Return batches; those with a CRC of 0 are control batches."""
    return [BatchMark(*row, is_control=not row[3]) for row in rows]


@pytest.mark.parametrize(
    ("newest", "other", "expected"),
    [
        ([], [(0, 3, 1, 7)], None),
        ([(0, 3, 1, 7)], [(0, 3, 1, 7), (4, 4, 1, 8)], None),
        ([(0, 3, 1, 7)], [(0, 3, 1, 8)], 0),
        ([(0, 3, 1, 7), (4, 9, 1, 7)], [(0, 3, 1, 7), (4, 6, 1, 7)], 4),
        ([(4, 9, 1, 7)], [(0, 3, 1, 7), (4, 9, 1, 8)], 4),
        ([(0, 3, 1, 7), (4, 9, 3, 7)], [(0, 9, 2, 7), (10, 10, 2, 7)], None),
        ([(0, 3, 1, 7), (4, 9, 2, 7)], [(0, 3, 1, 7), (4, 6, 1, 7), (7, 9, 1, 7)], None),
        ([(0, 0, 9, 0), (1, 5, 9, 7)], [(0, 0, 1, 0), (1, 5, 1, 7)], 0),
        ([(0, 0, 1, 0), (1, 1, 9, 0)], [(0, 0, 1, 0), (1, 1, 2, 0)], None),
        ([(0, 0, 1, 0), (1, 1, 9, 0)], [(0, 0, 1, 0), (1, 1, 2, 0), (2, 4, 2, 7)], 1),
    ],
)
def test_two_histories_differ_at_an_offset_of_one_epoch_or_at_a_committed_one(
    newest: list[tuple[int, int, int, int]], other: list[tuple[int, int, int, int]], expected: int | None
) -> None:
    """An election takes back what differs at another epoch and is not committed."""
    assert first_rift(marks(*newest), marks(*other), committed_end(marks(*other))) == expected


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ([], 0),
        ([(0, 0, 1, 0)], 0),
        ([(0, 0, 1, 0), (1, 9, 1, 7)], 1),
        ([(0, 0, 1, 0), (1, 9, 1, 7), (10, 10, 2, 0)], 1),
        ([(0, 0, 1, 0), (1, 9, 1, 7), (10, 10, 2, 0), (11, 11, 2, 0), (12, 13, 2, 7)], 11),
        ([(50, 59, 4, 7), (60, 61, 4, 7)], 50),
    ],
)
def test_a_log_proves_that_its_leaders_were_known_to_a_majority(
    log: list[tuple[int, int, int, int]], expected: int
) -> None:
    """Each wrote after the record that it begins with was committed, except for the last one perhaps."""
    assert committed_end(marks(*log)) == expected


def test_a_controller_with_another_log_dir_has_no_vote() -> None:
    """The log names the log dir of a voter; one that was formatted again is another one (VoterSet.isVoter)."""
    other = node(102, copy(102, dynamic=True), directory_id="another-directory-idA")
    loss = left(node(101, copy(101, dynamic=True)), other, dead=(103,))
    assert (loss.lost, loss.has_majority, [one.node_id for one in loss.strangers]) == ((102, 103), False, [102])
    assert not loss.has_all_committed
    unknown = other._replace(directory_id=None)
    assert left(node(101, copy(101, dynamic=True)), unknown, dead=(103,)).has_majority
    static = left(node(101, copy(101)), other._replace(copy=copy(102)), dead=(103,))
    assert (static.has_majority, static.strangers) == (True, ())


def test_a_node_with_two_logs_has_one_vote() -> None:
    loss = left(node(101, copy(101, 40)), node(101, copy(101)), dead=(102, 103))
    assert ([one.age for one in loss.survivors], loss.has_majority) == ([(3, 50)], False)


def test_older_controllers_that_could_elect_one_of_themselves() -> None:
    """Unless a later leader, or a broker, proves that the records were committed."""
    loss = left(node(101, copy(101, 40)), node(102, copy(102, 40)), node(103, copy(103)), dead=())
    assert (loss.older, loss.behind, loss.proven_to(40).behind) == ((101, 102), (), ())
    assert (loss.proven_to(41).behind, loss.proven_to(41).committed_to) == ((101, 102), 41)
    assert left(node(101, copy(101, 40)), node(102, copy(102)), node(103, copy(103)), dead=()).older == ()
