"""What is refused, and what has to be brought."""

from collections.abc import Iterable

import pytest

from kcheck.core.rescue.quorum_loss import NewVoter, QuorumLoss, RescueNode
from kcheck.core.rescue.refusals import (
    DiskNews,
    RescueRefusal,
    Rift,
    refusals_of_disks,
    refusals_of_news,
    refusals_of_quorum,
    refusals_of_way,
)
from kcheck.core.rescue.ways import Way, target_of
from tests.core.rescue.nodes import SNAPSHOT, brokers, copy, image, left, node


def said(refusals: Iterable[RescueRefusal]) -> list[tuple[str, bool]]:
    """Return the names of refusals, and whether the user can pass over them."""
    return [(refusal.name, refusal.forced) for refusal in refusals]


def of_way(
    loss: QuorumLoss, voter: NewVoter | None = None, way: Way | None = None
) -> tuple[list[tuple[str, bool]], list[RescueRefusal]]:
    """Return what speaks against a way."""
    found = list(refusals_of_way(loss, voter, target_of(loss, voter), way))
    return said(found), found


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ((node(101, copy(101)), node(1, copy(1), cluster_id="D")), ["two-clusters"]),
        ((node(101, copy(101), cluster_id=None), node(1, cluster_id=None)), ["no-cluster-id"]),
        ((node(101, copy(101), changing=True),), ["changing"]),
        ((node(101, copy(101)), node(101, copy(101))), ["node-twice"]),
        ((node(101, copy(101)), node(1)), []),
    ],
)
def test_disks_that_cannot_be_used_are_refused(nodes: tuple[RescueNode, ...], expected: list[str]) -> None:
    assert said(refusals_of_disks(nodes, ())) == [(name, False) for name in expected]


def test_two_histories_are_refused() -> None:
    (found,) = refusals_of_disks([node(101, copy(101)), node(1)], [Rift(7, "/101", "/1")])
    assert found.name == "two-histories"
    assert found.why == "/101 (1 topic) and /1 (0 topics) do not have the same record at offset 7."
    assert "move __cluster_metadata-0 of the other nodes elsewhere" in found.bring


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (left(node(101, copy(101)), *brokers()), []),
        (left(node(101, copy(101)), node(102, copy(102)), *brokers(), dead=(103,)), [("majority", True)]),
        (left(*(node(each, copy(each, 40)) for each in (101, 102, 103)), *brokers(), dead=()), []),
        (left(node(101, copy(101)), *brokers(), dead=(102,)), [("unnamed-nodes", False)]),
        (left(node(101, copy(101)), dead=(102, 103)), [("unnamed-nodes", False)]),
        (left(node(101, copy(101), running=True), *brokers()), [("running", False)]),
        (left(node(101, copy(101, transaction=True)), *brokers()), [("open-transaction", True)]),
        (left(node(101, copy(101, damage="middle")), dead=(1, 2, 102, 103)), [("damaged", False)]),
        (left(node(101, copy(101, 60, damage="middle")), *brokers()), [("damaged", True)]),
        (left(node(101, copy(101, 40, damage="middle")), *brokers()), []),
        (left(node(1, copy(1)._replace(voters=frozenset())), dead=(2,)), [("no-voters", False)]),
    ],
)
def test_a_quorum_that_is_not_lost_or_not_known_is_refused(loss: QuorumLoss, expected: list[tuple[str, bool]]) -> None:
    assert said(refusals_of_quorum(loss)) == expected


def test_a_damaged_controller_starts_after_the_others() -> None:
    nodes = [node(101, copy(101, 40, damage="middle")), node(102, copy(102)), node(103, copy(103))]
    (refusal,) = refusals_of_quorum(left(*nodes, *brokers(), dead=()))
    assert refusal.why == "2 controllers of 3 are left (102 and 103): a majority."
    assert "Start 101 last" in refusal.bring


def test_a_running_broker_is_no_obstacle_where_the_log_names_the_voters() -> None:
    one = node(1, copy(1, dynamic=True), running=True)
    assert said(refusals_of_quorum(left(node(101, copy(101, dynamic=True)), one, dead=(2, 102, 103)))) == []
    new = left(node(201, running=True), one, dead=(2, 101, 102, 103))
    assert said(refusals_of_quorum(new)) == [("running", False)]


def test_a_cluster_that_migrates_goes_back_to_zookeeper() -> None:
    migrating = image("t")._replace(migration="migration")
    loss = left(node(101, copy(101, holds=migrating)), *brokers(end=40))
    assert said(refusals_of_quorum(loss)) == [("migrating", False)]


def test_a_controller_that_is_not_here_is_asked_for() -> None:
    nobody = left(*brokers(), dead=(101, 102, 103))
    names, (found,) = of_way(nobody)
    assert names == [("no-controller", False)]
    assert "201=PATH --voter 201" in found.bring
    names, (found,) = of_way(left(node(201), node(202), *brokers(), dead=(101, 102, 103)))
    assert found.bring == "Name the controller that is to lead: --voter 201."
    names, (found,) = of_way(nobody, NewVoter(301))
    assert found.why == "Node 301 is no controller that is here."


def test_a_broker_does_not_become_a_controller() -> None:
    assert of_way(left(*brokers(), dead=(101, 102, 103)), NewVoter(1))[0] == [("no-controller", False)]


def test_a_way_that_a_user_wants_must_be_possible() -> None:
    static = left(node(101, copy(101)), *brokers())
    assert of_way(static, way=Way.STATIC)[0] == []
    assert of_way(static, way=Way.VOTERS)[0] == [("way", False)]


def test_a_stale_survivor_is_refused_and_the_better_copy_is_named() -> None:
    loss = left(node(101, copy(101, 40, holds=image())), *brokers())
    names, (found,) = of_way(loss, way=Way.STATIC)
    assert names == [("way", True)]
    assert found.why == (
        "--way static: controller 101 does not have the newest copy: it lacks 10 records, among them the topics orders."
    )
    assert found.bring == "Use --way copy: it takes the copy of node 1."
    same_topics = left(node(101, copy(101, 40)), *brokers())
    assert of_way(same_topics, way=Way.STATIC)[1][0].why.endswith("it lacks 10 records.")


def test_a_new_controller_of_a_dynamic_quorum_needs_an_address_and_a_directory() -> None:
    loss = left(node(201, directory_id=None), *brokers(dynamic=True), dead=(101, 102, 103))
    assert of_way(loss)[0] == [("no-address", False), ("no-directory-id", False)]
    assert of_way(loss, NewVoter(201, "h", 9))[0] == [("no-directory-id", False)]


def test_a_new_controller_is_formatted_first() -> None:
    loss = left(node(201, cluster_id=None), *brokers(), dead=(101, 102, 103))
    assert of_way(loss)[0] == [("no-cluster-id", False)]
    assert of_way(loss, way=Way.STATIC)[0] == [("no-cluster-id", False), ("way", False)]


def test_the_controllers_start_in_the_order_in_which_nothing_is_lost() -> None:
    """Two older ones would elect one of themselves."""
    loss = left(node(101, copy(101, 40)), node(102, copy(102, 40)), node(103, copy(103)), *brokers(), dead=())
    (refusal,) = refusals_of_quorum(loss)
    assert refusal.name == "majority"
    assert refusal.bring.startswith("Start 103 first, with 101, and the others once a controller leads.")


def test_a_controller_that_was_formatted_again_is_asked_for_its_directory_id() -> None:
    other = node(102, copy(102, dynamic=True), directory_id="another")
    loss = left(node(101, copy(101, dynamic=True)), other, *brokers(dynamic=True), dead=(103,))
    (refusal,) = refusals_of_quorum(loss)
    assert (refusal.name, refusal.forced) == ("directory-id", True)
    assert "write directory.id=directory-of-0000102A into meta.properties" in refusal.bring
    enough = left(*(node(number, copy(number, dynamic=True)) for number in (101, 103)), other, *brokers(dynamic=True))
    assert [row.name for row in refusals_of_quorum(enough._replace(nodes=tuple(
        one._replace(dead=False) for one in enough.nodes)))] == ["majority"]  # fmt: skip


@pytest.mark.parametrize(("damage", "expected"), [("snapshot", f"/{SNAPSHOT}"), ("base", "")])
def test_a_corrupt_snapshot_goes_before_its_controller_starts(damage: str, expected: str) -> None:
    nodes = [node(101, copy(101, damage=damage)), node(102, copy(102)), node(103, copy(103))]
    (refusal,) = refusals_of_quorum(left(*nodes, *brokers(), dead=()))
    where = f"/101/__cluster_metadata-0{expected}"
    words = f"First move {where} elsewhere: a node with a corrupt snapshot ends, or loads a part."
    assert refusal.bring.endswith(words)


PRICE = (
    "With that copy, a replica without the last records can lead, and the other replicas delete theirs. Brokers set the"
    " directories of t aside."
)


@pytest.mark.parametrize(
    ("news", "expected"),
    [
        (DiskNews((), ()), []),
        (DiskNews(("t",), ()), ["The newest copy, of node 101, does not have t, and disks do."]),
        (
            DiskNews(("t",), ("u-0",)),
            [f"The newest copy, of node 101, is older than u-0 on the disks and does not have t. {PRICE}"],
        ),
    ],
)
def test_disks_that_are_newer_than_the_newest_copy(news: DiskNews, expected: list[str]) -> None:
    found = [*refusals_of_news(node(101, copy(101)), news)]
    assert [row.why for row in found] == expected
    assert [row.forced for row in found] == [True] * len(expected)
