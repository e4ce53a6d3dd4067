"""What several copies of a metadata log prove; tests/oracle/clusters/test_cluster.py compares with real controllers."""

import pytest

from kcheck.core.cluster.copies import MetadataCopy, RaftEpoch
from kcheck.core.cluster.quorum import (
    committed_to,
    kept_to,
    oldest_elected,
    quorum,
    rival_copy,
    started_together,
    with_electors,
)
from kcheck.model.cluster import ClusterImage, QuorumState, Voter

VOTERS = frozenset({1, 2, 3})


def copy(
    node: int | None, end: int, epoch: int = 2, *, snapshot: int = 0, heard: int | None = None,
    voters: frozenset[int] = VOTERS, epochs: tuple[tuple[int, int], ...] = ((1, 0), (2, 10)),
) -> MetadataCopy:  # fmt: skip
    """Return the copy of a node; `heard` is the latest epoch that its quorum-state names."""
    elected = None if heard is None else QuorumState(1, heard, -1, None)
    return MetadataCopy(
        path=f"{node}", node_id=node, epoch=epoch, end=end, snapshot=snapshot, voters=voters, image=ClusterImage({}),
        elected=elected, epochs=tuple(RaftEpoch(*part) for part in epochs),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("copies", "expected"),
    [
        ((copy(1, 30),), None),
        ((copy(1, 30, snapshot=20),), 20),
        ((copy(1, 30), copy(2, 25)), 25),
        ((copy(1, 30), copy(2, 25), copy(3, 28)), 28),
        ((copy(1, 30), copy(2, 25, epoch=1)), None),
        ((copy(1, 30), copy(2, 25, heard=3)), None),
        ((copy(1, 30, snapshot=27), copy(2, 25)), 27),
        ((copy(1, 30), copy(None, 30)), None),
        ((copy(1, 30), copy(9, 30)), None),
        ((copy(1, 30), copy(1, 20), copy(2, 25)), 25),
        ((copy(1, 20), copy(1, 30), copy(2, 25)), 25),
    ],
)
def test_what_is_committed_for_certain(copies: tuple[MetadataCopy, ...], expected: int | None) -> None:
    """Below a snapshot; and what a majority of the voters holds, if the latest epoch that any has heard of ends it."""
    assert expected == committed_to(copies, VOTERS)


def test_a_single_voter_has_committed_all_that_it_holds() -> None:
    """Whatever epoch it has heard of: nobody else can have led."""
    alone = frozenset({1})
    assert committed_to([copy(1, 30, heard=7)], alone) == 30
    assert committed_to([copy(2, 40), copy(1, 30)], alone) == 30
    assert committed_to([copy(2, 40)], alone) is None
    assert committed_to([copy(1, 30)], frozenset()) is None


@pytest.mark.parametrize(
    ("copies", "expected"),
    [
        ((copy(1, 30),), [None]),
        ((copy(1, 30), copy(2, 25)), [True, None]),
        ((copy(1, 30), copy(2, 30)), [True, True]),
        ((copy(1, 30), copy(2, 25), copy(3, 28)), [True, False, True]),
        ((copy(1, 99, epoch=1), copy(2, 25), copy(3, 28)), [False, True, True]),
        ((copy(9, 99), copy(None, 99), copy(3, 28)), [False, None, None]),
    ],
)
def test_who_can_win_an_election(copies: tuple[MetadataCopy, ...], expected: list[bool | None]) -> None:
    """Whose log a majority of the voters is not ahead of; those whose copies are not here may be."""
    assert expected == [standing.can_win for standing in quorum(copies).copies]


@pytest.mark.parametrize(
    ("copies", "order", "together"),
    [
        ((copy(1, 30), copy(2, 30), copy(3, 20)), (3, 1, 2), (3, 1)),
        ((copy(1, 20), copy(2, 20), copy(3, 30)), (1, 2, 3), (1, 3)),
        ((copy(1, 30), copy(2, 20), copy(3, 20)), (2, 3, 1), (2, 1)),
        ((copy(1, 30),), (1, 4, 2), (1, 2)),
        ((copy(1, 30),), (1, 4), ()),  # Another controller has to run first.
        ((copy(1, 30, voters=frozenset({1})),), (2, 1), (1,)),
        ((copy(100, 30, voters=frozenset({100})),), (1, 2, 3), ()),
    ],
)
def test_which_nodes_start_together(
    copies: tuple[MetadataCopy, ...], order: tuple[int, ...], together: tuple[int, ...]
) -> None:
    """A majority of the controllers, with one that can win."""
    assert started_together(quorum(copies), order) == together


@pytest.mark.parametrize(
    ("copies", "seats", "compares", "voters"),
    [
        ((copy(1, 30), copy(7, 20)), [{1}, {1}], False, {1}),
        ((copy(1, 30),), [{1}], True, {1}),
        ((copy(1, 30, heard=2),), [{1}], True, {1}),  # Version 1 of quorum-state has no voters.
        ((copy(1, 30),), [{1}, {1, 2}], False, VOTERS),
        ((copy(1, 30),), [], False, VOTERS),
        ((copy(1, 30), copy(7, 20)), [{7}], False, VOTERS),
        ((copy(1, 30)._replace(voter_set=(Voter(1, "d", ()),)),), [{1, 7}], False, VOTERS),
        ((copy(1, 30)._replace(elected=QuorumState(1, 2, -1, (1, 2, 3))),), [{1}], True, VOTERS),
        ((copy(1, 30)._replace(elected=QuorumState(1, 2, -1, (1, 2, 3))),), [{1}], False, {1}),
        ((copy(1, 30)._replace(elected=QuorumState(1, 2, -1, (1,))),), [{1}], True, {1}),
    ],
)
def test_settings_name_the_controllers_that_elect(
    copies: tuple[MetadataCopy, ...], seats: list[set[int]], compares: bool, voters: set[int]
) -> None:
    """By equal lists, of which one has the newest copy. The quorum-state of 3.3 to 3.8 has to have the same voters."""
    found = with_electors(copies, map(frozenset, seats), compares=compares)
    assert [copy.voters for copy in found] == [voters] * len(copies)
    assert with_electors((), [VOTERS], compares=False) == ()


def test_the_newest_copy_and_its_voters_count() -> None:
    standing = quorum([copy(1, 99, epoch=1, voters=frozenset({7})), copy(2, 25), copy(None, 20)])
    assert (standing.newest.node_id, standing.voters) == (2, VOTERS)
    assert [part.is_voter for part in standing.copies] == [True, True, None]


@pytest.mark.parametrize(
    ("epochs", "end", "kept"),
    [
        (((1, 0), (2, 10)), 25, 25), (((1, 0), (2, 10)), 40, 30), (((1, 0),), 15, 10), (((1, 0),), 8, 8),
        (((1, 0), (3, 8)), 15, 8), (((5, 3),), 15, 0),
    ],
)  # fmt: skip
def test_which_records_a_copy_keeps_under_the_newest(epochs: tuple[tuple[int, int], ...], end: int, kept: int) -> None:
    """To the end of the largest epoch that both have, in the log that ends it first."""
    assert kept == kept_to(copy(2, end, epochs=epochs), copy(1, 30))


def test_a_minority_of_the_controllers_does_not_show_that_one_can_be_elected() -> None:
    """One controller elects itself; copies of brokers have no vote."""
    one, two, broker = copy(1, 30), copy(2, 30), copy(9, 30)
    assert (quorum([one, broker]).voters_here, quorum([one, broker]).can_elect) == ((1,), False)
    assert (quorum([broker]).voters_here, quorum([broker]).can_elect) == ((), False)
    assert quorum([one, two]).can_elect
    assert quorum([copy(1, 30, voters=frozenset({1}))]).can_elect is None


@pytest.mark.parametrize(
    ("copies", "expected"),
    [
        ((copy(1, 30), copy(2, 40), copy(3, 50)), 40),
        ((copy(1, 30), copy(2, 30), copy(7, 50)), 30),
        ((copy(1, 30), copy(1, 60), copy(2, 40)), 60),
        ((copy(1, 30), copy(7, 50)), None),
    ],
)
def test_the_oldest_copy_that_a_majority_can_elect(copies: tuple[MetadataCopy, ...], expected: int | None) -> None:
    """The newest one of the majority with the oldest copies; a node has its newest copy."""
    found = oldest_elected(copies, VOTERS)
    assert expected == (None if found is None else found.end)


def voting(node: int, end: int, *voters: int, disk: str = "", epoch: int = 2) -> MetadataCopy:
    """Return the copy of a node whose voter set has these nodes, each with the disk of its number."""
    seats = tuple(Voter(number, disk if disk and number == node else f"D{number}", ()) for number in voters)
    own = copy(node, end, epoch, voters=frozenset(voters), epochs=((2, 0),) if end else ())
    return own._replace(voter_set=seats, directory_id=disk or f"D{node}")


THREE = (voting(1, 40, 1, 2, 3), voting(2, 40, 1, 2, 3))


@pytest.mark.parametrize(
    ("copies", "rival"),
    [
        ((), None),
        ((copy(1, 30),), None),
        ((*THREE, voting(3, 10, 1, 2, 3)), None),
        ((*THREE, voting(3, 0, 3, disk="new")), 3),  # kafka-storage.sh format --standalone
        ((*THREE, voting(4, 0, 4)), 4),
        ((*THREE, voting(3, 0, 1, 2, 3, disk="new")), None),  # --initial-controllers: one of three
        ((*THREE, voting(3, 0)), None),
        ((voting(1, 60, 1), voting(2, 30, 1, 2), voting(3, 20, 1, 2, 3)), None),  # removed one by one
        ((voting(1, 60, 1), voting(2, 20, 1, 2, 3), voting(3, 20, 1, 2, 3)), 2),  # old copies of a majority
        ((voting(1, 60, 1, 2, 3), voting(2, 30, 2)), 2),
    ],
)
def test_a_copy_that_other_voters_elect(copies: tuple[MetadataCopy, ...], rival: int | None) -> None:
    """A majority of the set in that copy, by node and directory."""
    found = rival_copy(copies)
    assert rival == (None if found is None else found.node_id)
