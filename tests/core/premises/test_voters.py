"""Which controllers the settings let elect: by the lists of the controllers, as real ones of 4.0 did."""

import pytest

from kcheck.core.cluster.copies import LostCopy, MetadataCopy
from kcheck.core.premises.facts import BrokerFacts, VoterList
from kcheck.core.premises.table import judged
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.model.cluster import QuorumState, Voter
from kcheck.model.premises import JudgedPremise, PremiseStatus
from tests.core.premises.test_premises import IDENTITY, KRAFT, copy, facts, log_dir, refuted

ONE, THREE = QuorumState(100, 1, -1, (100,)), QuorumState(1, 1, -1, (1, 2, 3))
OF_THREE = frozenset({1, 2, 3})
NO_MAJORITY = (
    "controller.quorum.voters is 100,201,202, quorum-state has 100: no majority without 201,202, and with empty logs"
    " these elect each other"
)
BEHIND = "controller 3 lacks committed metadata, and the new list can elect it"
MORE = "1@a:1,2@b:1,3@c:1,201@d:1,202@e:1"


def judgement(given: BrokerFacts) -> JudgedPremise | None:
    """Return what is known of the voters; None where nothing is compared."""
    return next((row for row in judged(given) if row.id == "P105"), None)


def broker(voters: str, *lists: VoterList, kafka: str = "4.0", elected: QuorumState | None = ONE) -> BrokerFacts:
    """Return a broker with a list, and the lists of controllers."""
    config = {**KRAFT, "controller.quorum.voters": voters}
    return facts(config=config, voter_lists=lists, elected=elected, release=release(kafka))


def node(voters: str, *ends: int, lists: tuple[VoterList, ...] = ()) -> BrokerFacts:
    """Return node 1 of three that are controllers too, with copies that end at offsets."""
    copies = tuple(copy(number, end, voters=OF_THREE) for number, end in enumerate(ends, 1))
    config = {**KRAFT, "process.roles": "broker,controller", "controller.quorum.voters": voters}
    return facts(config=config, copies=copies, elected=THREE, voter_lists=lists)


def listing(node_id: int, *voters: int) -> VoterList:
    """Return the list of a controller."""
    return VoterList(node_id, "controller/server.properties", frozenset(voters))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            broker("100@a:1,201@b:1,202@c:1"),
            NO_MAJORITY,
        ),
        (
            broker("100@a:1", listing(100, 100, 201, 202)),
            NO_MAJORITY,
        ),
        (
            broker("100@a:1,201@b:1", listing(100, 100), kafka="3.8"),
            "controller.quorum.voters is 100,201, quorum-state has 100",
        ),
        (
            broker("100@a:1", listing(100, 100, 201), kafka="3.8"),
            "controller.quorum.voters is 100,201, quorum-state has 100",
        ),
        (
            node(MORE, 60, 60, 50),
            f"controller.quorum.voters is 1,2,3,201,202, quorum-state has 1,2,3: {BEHIND}",
        ),
        (
            node("3@a:1", 60, 60, 50),
            f"controller.quorum.voters is 3, quorum-state has 1,2,3: {BEHIND}",
        ),
    ],
)
def test_lists_that_elect_nobody_or_a_wrong_one(given: BrokerFacts, sentence: str) -> None:
    row = judgement(given)
    assert row is not None
    assert (PremiseStatus.REFUTED, sentence) == (row.status, row.sentence)


@pytest.mark.parametrize(
    "given",
    [
        broker("100@a:1"),
        broker("100@a:1,201@b:1", listing(100, 100)),
        node(MORE, 60, 60, 60),
        node(MORE, 60, 59, 59),
    ],
)
def test_lists_that_elect_a_controller_with_all_that_is_committed(given: BrokerFacts) -> None:
    """The list of a broker that is no controller elects nobody; voters that are new have the votes of a minority."""
    row = judgement(given)
    assert row is not None
    assert PremiseStatus.PROVEN is row.status


@pytest.mark.parametrize(("kafka", "status"), [("4.3", PremiseStatus.PROVEN), ("3.8", PremiseStatus.REFUTED)])
def test_a_broker_with_other_voters_in_its_own_quorum_state(kafka: str, status: PremiseStatus) -> None:
    """A broker of 4.3.1 started with voter 7100 in its file: its controllers decide from 3.9 on."""
    elected = QuorumState(100, 1, -1, (7100,))
    given = broker("100@a:1", listing(100, 100), kafka=kafka, elected=elected)
    row = judgement(given._replace(copies=(copy(100, elected=ONE),)))
    assert row is not None
    assert status is row.status


def test_controllers_whose_logs_are_not_given() -> None:
    row = judgement(node(MORE, 60))
    assert row is not None
    assert (PremiseStatus.NOT_SEEN, "the log dirs of voters 2,3") == (row.status, row.provide)


def test_controllers_whose_logs_are_lost() -> None:
    """Their disks are here without a log: no other vote is to be waited for."""
    alone = node("1@a:1", 60, lists=(listing(1, 1),))
    for given in (
        alone._replace(without_log=frozenset({2, 3})),
        alone._replace(lost_copies=tuple(LostCopy(f"d{number}", number, is_place=True) for number in (2, 3))),
    ):
        row = judgement(given)
        assert row is not None
        assert row.status is PremiseStatus.PROVEN
    for lost in (LostCopy("d2", 2), LostCopy("d2", 2, is_place=True, damage="torn")):
        row = judgement(alone._replace(without_log=frozenset({3}), lost_copies=(lost,)))
        assert row is not None
        assert (row.status, row.provide) == (PremiseStatus.NOT_SEEN, "the log dirs of voters 2")


@pytest.mark.parametrize(
    "given",
    [
        broker("100@a:1", elected=QuorumState(1, 1, -1, None)),
        broker("100@a:1,201@b:1", kafka="3.8", elected=None),
        broker(""),
        broker("1@a:1,100@b:1"),
        node(MORE, 60, lists=())._replace(elected=None),
        facts(
            release=release("3.8"), elected=THREE, config=KRAFT,
            voter_lists=(listing(1, 1, 2, 3, 4), listing(2, 1, 2, 3)),
        ),
    ],
)  # fmt: skip
def test_where_nothing_is_compared(given: BrokerFacts) -> None:
    """One controller of three that ends leaves a majority; a broker alone in the list ends before (P108)."""
    assert judgement(given) is None


@pytest.mark.parametrize(
    ("lost", "copies", "status", "words"),
    [
        ((LostCopy("c/data1", 100, is_place=True),), (), PremiseStatus.REFUTED, "controller 100 (c/data1) lost"),
        (
            (LostCopy("c", 2, is_place=True), LostCopy("d", 3, is_place=True)), (copy(1, voters=OF_THREE),),
            PremiseStatus.REFUTED, "controllers 2 (c), 3 (d) lost",
        ),
        ((LostCopy("c", None),), (), PremiseStatus.NOT_SEEN, "no __cluster_metadata-0 is in c"),
        ((LostCopy("c", 1),), (copy(1),), None, ""),
        ((LostCopy("c", 3, is_place=True),), (copy(1, voters=OF_THREE),), None, ""),
        ((LostCopy("c", 100, is_place=True),), (copy(),), None, ""),
    ],
)  # fmt: skip
def test_log_dirs_of_controllers_without_their_metadata_log(
    lost: tuple[LostCopy, ...], copies: tuple[MetadataCopy, ...], status: PremiseStatus | None, words: str
) -> None:
    """Brokers of 4.3.1 waited for ever for a controller whose disk was formatted again; one of three may lose it."""
    given = facts(lost_copies=lost, copies=copies, elected=ONE)
    rows = [row for row in judged(given) if row.id == "P202"]
    assert [(status, True)] * (status is not None) == [(row.status, row.sentence.startswith(words)) for row in rows]
    assert "P202" not in {row.id for row in judged(given._replace(mode=Mode.ZOOKEEPER))}


def test_a_controller_without_its_metadata_log_that_others_name() -> None:
    """A new controller has none yet, so without their copies nothing is refuted."""
    config = {**KRAFT, "process.roles": "controller", "node.id": "100"}
    own = log_dir(identity={**IDENTITY, "node.id": "100"}, directories=())
    given = facts(own, config=config, broker_id=100, copies=(copy(1),))
    sentence = "broker 100 is a controller and has lost __cluster_metadata-0: with other empty voters it can elect an"
    assert refuted(given)["P202"].startswith(sentence)
    assert "P202" not in refuted(given._replace(copies=()))


def test_a_static_quorum_without_a_list() -> None:
    """With controller.quorum.bootstrap.servers alone a controller of 4.3.1 elected nobody: it knew no voter."""
    sentence = "controller.quorum.voters is missing, quorum-state has {}: the metadata has no voter set"
    alone = node("")._replace(elected=QuorumState(1, 1, -1, (1,)))
    assert refuted(alone)["P105"] == sentence.format("1")
    assert judgement(node("")._replace(config={**KRAFT, "process.roles": "broker"})) is None
    assert judgement(node("", lists=(listing(2, 1, 2, 3), listing(3, 1, 2, 3)))) is None
    unseen = judgement(node("", lists=(listing(2, 1, 2, 3),)))
    assert unseen is not None
    assert (unseen.status, unseen.sentence) == (PremiseStatus.NOT_SEEN, sentence.format("1,2,3"))
    voters = (Voter(1, "D1", ()),)
    assert judgement(alone._replace(copies=(copy(1, voter_set=voters),))) is None


def test_a_new_voter_with_a_later_snapshot_is_not_empty() -> None:
    """Rebuilt metadata: the former voters have an older copy or none, and the new one elects itself."""
    new = copy(201, 1047, voters=frozenset())._replace(epoch=101, snapshot=1047, epochs=())
    alone = node("201@d:1", 47)
    rebuilt = alone._replace(copies=(*alone.copies, new))
    judged_now = judgement(rebuilt)
    assert judged_now is not None
    assert judged_now.status is PremiseStatus.PROVEN
    assert "P105" in refuted(alone)
    assert "P105" in refuted(rebuilt._replace(copies=(*alone.copies, new._replace(snapshot=40, end=1047))))
    assert "P105" in refuted(rebuilt._replace(copies=(*alone.copies, new._replace(epoch=0))))
    both = node("201@d:1,202@e:1", 47)
    assert "P105" in refuted(both._replace(copies=(*both.copies, new)))


def test_a_node_without_a_vote_is_a_note_where_the_other_voters_are_a_majority() -> None:
    """Two of three controllers of 4.3.1 went on, and the third one followed them without a vote."""
    voters = (Voter(1, "OLD", ()), Voter(2, "D2", ()), Voter(3, "D3", ()))
    given = facts(copies=(copy(2, voter_set=voters), copy(3, voter_set=voters)))
    (row,) = (row for row in judged(given) if row.id == "P107")
    assert (row.status, row.provide) == (PremiseStatus.NOT_SEEN, None)
    assert row.sentence.startswith("node 1 has directory D1, the voter set has OLD: it has no vote. The other voters")
    of_two = facts(copies=(copy(3, voter_set=(Voter(1, "OLD", ()), Voter(3, "D3", ()))),))
    assert refuted(of_two)["P107"].endswith("has OLD: it has no vote, and no majority of the voters is left")
