"""Which logs lack nothing, and which controllers can elect."""

from kcheck.core.cluster.copies import LostCopy, RaftEpoch
from kcheck.core.election.first_rescue import MetadataHere, RescueVerb, first_rescue
from kcheck.core.premises.facts import BrokerFacts, LogDirFacts, LogFacts, MissingRecords
from kcheck.core.premises.identity import NODE_ID
from kcheck.core.premises.presence import TOPICS_THERE
from kcheck.core.premises.table import judged, judged_together, with_premises
from kcheck.core.releases.releases import release
from kcheck.model.cluster import ClusterImage, Voter
from kcheck.model.entries import Epoch, Offset
from kcheck.model.names import TopicPartition
from kcheck.model.premises import SAME_HISTORY, TOPICS_KNOWN, JudgedPremise, PremiseEvidence, PremiseStatus
from tests.core.premises.test_premises import (
    GAP,
    IDENTITY,
    KRAFT,
    METADATA_LOG,
    copy,
    facts,
    image,
    log_dir,
    not_seen,
    refuted,
)

LED = image(1, leader_epoch=4)
"""A cluster whose orders-0 is in leader epoch 4."""


def test_what_no_log_lacks() -> None:
    """A compacted log has gaps."""
    compacted = image(1, 2)._replace(configs={("topic", "orders"): {"cleanup.policy": "compact"}})
    assert "P305" not in refuted(facts(logs=(GAP,), image=compacted))
    assert "P306" not in refuted(facts(logs=(GAP,), image=None))
    headless = GAP._replace(missing=(MissingRecords(Offset(0), Offset(9)),))
    (row,) = (row for row in judged(facts(logs=(headless,), image=image(1, 2))) if row.id == "P305")
    assert row.evidence[0].says == "the log begins at 0, its first batch at 9"


def test_a_quorum_without_majority() -> None:
    """Two of three controllers do not start: nor does the third, unless their own start is not known to end."""
    three = {
        **KRAFT, "process.roles": "broker,controller", "controller.quorum.voters": "1@a:1,2@b:1,3@c:1",
        "listeners": "PLAINTEXT://:1,C://:2", "controller.listener.names": "C",
    }  # fmt: skip
    nodes = {
        number: facts(
            log_dir(identity={**IDENTITY, "node.id": str(number)}), broker_id=number,
            config={**three, "node.id": str(number)}, copies=(), image=None,
        )
        for number in (1, 2, 3)
    }  # fmt: skip

    def ends(*aborted: int) -> dict[object, str]:
        rows = judged_together(nodes, aborted)
        return {node: row.sentence for node, of_node in rows.items() for row in of_node if row.id == "P205"}

    assert ends() == ends(1) == ends(1, 2, 3) == {}
    none_left = "no majority is left to elect a leader"
    assert ends(1, 2) == {3: f"2 of 3 controllers (1, 2) do not start or vote: {none_left}"}
    lonely = {1: facts(config={**three, "controller.quorum.voters": "1@a:1,2@b:1"}, copies=(), image=None), 2: nodes[2]}
    (row,) = (row for row in judged_together(lonely, {2})[1] if row.id == "P205")
    assert row.sentence.startswith("1 of 2 controllers (2) does not start")


def test_a_voter_that_was_formatted_again_is_no_voter() -> None:
    """It starts as an observer (4.3.1), so it elects no empty history; nor does it count for a majority."""
    voters = tuple(Voter(number, f"D{number}", ()) for number in (1, 2))
    config = {**KRAFT, "process.roles": "broker,controller"}
    again = log_dir(identity={**IDENTITY, "directory.id": "NEW"}, directories=())
    given = facts(again, config=config, copies=(copy(2, voters=frozenset({1, 2}), voter_set=voters),), image=None)
    assert "P202" not in refuted(given)
    assert "P202" in refuted(given._replace(log_dirs=(log_dir(identity=IDENTITY, directories=()),)))
    second = log_dir(identity={**IDENTITY, "node.id": "2", "directory.id": "D2"})
    other = given._replace(broker_id=2, config={**KRAFT, "node.id": "2"}, log_dirs=(second,))
    rows = judged_together({1: given, 2: other}, ())[2]
    assert ["P205"] == [row.id for row in rows if row.sentence.startswith("1 of 2 controllers (1) does not start")]


def test_a_disk_of_another_cluster_says_nothing_of_its_controllers() -> None:
    """P101 says it: the controllers that are given are of the other cluster."""
    given = facts(config=KRAFT, stopped=frozenset({100}), copies=(copy(100, voters=frozenset({100})),))
    assert "P205" in refuted(given)
    assert "P205" not in refuted(given._replace(clusters=(PremiseEvidence("c/data", "OTHER"),)))


def test_controllers_without_a_topic() -> None:
    """After a new format of an only controller, a broker of 4.3.1 made its partitions stray."""
    empty = ClusterImage({})

    def judgement(*others: int, of: ClusterImage = empty, on_disk: LogDirFacts | None = None) -> str | None:
        disk = log_dir(directories=(METADATA_LOG,)) if on_disk is None else on_disk
        copies = tuple(copy(number, of=of) for number in (100, *others))
        given = facts(disk, broker_id=100, config=None, copies=copies, image=of)
        return next((str(row.status) for row in judged(given) if row.id == TOPICS_KNOWN), None)

    assert judgement() == "not-seen"
    assert judgement(of=LED) == judgement(of=ClusterImage({}, deleted={"gone": 7})) == "proven"
    assert judgement(1) is judgement(on_disk=log_dir()) is None
    assert judgement(of=empty._replace(migration="pre-migration")) is None


def test_a_controller_with_a_damaged_snapshot() -> None:
    """One of 4.3.1 ended at an empty one, and no broker registered; up to 3.7 the log decides."""
    damage = f"{5:020d}-{1:010d}.checkpoint: it is empty"
    config = {**KRAFT, "controller.quorum.voters": "100@a:1"}
    given = facts(copies=(), image=None, config=config, lost_copies=(LostCopy("c/meta", 100, damage=damage),))

    def ended(broker: BrokerFacts) -> list[str]:
        return [row.sentence for row in judged_together({1: broker}, ())[1] if row.id == "P205"]

    sentence = "1 of 1 controller (100) does not start or vote: no majority is left to elect a leader"
    assert ended(given) == [f"{sentence}; c/meta: {damage}"]
    assert ended(given._replace(release=release("3.7"))) == []
    assert ended(given._replace(lost_copies=(LostCopy("c/meta", 100, damage="offset 3: unknown"),))) == []
    assert ended(given._replace(lost_copies=(LostCopy("c/meta", 100),))) == []


def test_a_controller_that_does_not_start_from_its_log_dir() -> None:
    """Brokers of 4.3.1 waited for a controller with an empty quorum-state, which ended (IOException)."""
    why = "__cluster_metadata-0: quorum-state cannot be read: it is empty"
    given = facts(copies=(copy(not_started=why),))
    sentence = "1 of 1 controller (100) does not start or vote: no majority is left to elect a leader"
    assert f"{sentence}; node-100: {why}" == refuted(given)["P205"]
    three = frozenset({100, 101, 102})
    assert "P205" not in refuted(facts(copies=(copy(voters=three, not_started=why), copy(101, voters=three))))


def test_copies_with_other_batches() -> None:
    """A broker follows most of the voters; a controller is wrong where all others have another history."""
    voters = frozenset({100, 101, 102})
    mine, other = (RaftEpoch(1, 0, 5),), (RaftEpoch(1, 0, 6),)

    def status(node: int, *epochs: tuple[RaftEpoch, ...], of: frozenset[int] = voters) -> list[str]:
        copies = [copy(node, epochs=mine, voters=of)]
        copies += [copy(number, epochs=each, voters=of) for number, each in zip((100, 101, 102), epochs, strict=False)]
        own = facts(broker_id=node, config=None, copies=tuple(copies))
        return [str(row.status) for row in judged(own) if row.id == "P201" and "two histories" in row.sentence]

    (row,) = (row for row in judged(facts(copies=(copy(epochs=mine), copy(1, epochs=other)))) if row.id == "P201")
    assert row.sentence == (
        "nodes 1 and 100 have two histories of the metadata. They have different batches at offset 0 of epoch 1:"
        " one may be the log of another cluster"
    )
    assert status(1, other, other) == status(103, other, other, other) == ["refuted"]
    assert status(1, other) == status(1, other, mine) == ["not-seen"]
    assert status(1, other, mine, mine) == status(1, mine, mine, mine) == []
    assert status(1, (RaftEpoch(1, 0),)) == status(1, (RaftEpoch(1, 9, 6),)) == []
    assert status(1, other, of=frozenset()) == ["not-seen"]
    alone = frozenset({7})
    assert status(7, other, other, of=alone) == ["refuted"]
    assert status(7, other, mine, of=alone) == ["not-seen"]
    assert status(7, other, mine, mine, of=alone) == []


def test_a_majority_of_controllers_that_lacks_what_a_broker_acted_on() -> None:
    """A directory of the topic, or a later leader epoch, shows it; without them it may not have been committed."""
    voters = frozenset({100, 101, 102})
    told = "the controllers here have older metadata than broker 1. Theirs ends at offset 49, before"

    def given(
        older: ClusterImage, *logs: LogFacts, newer: ClusterImage = LED, at: int = 60, node: int = 1
    ) -> BrokerFacts:
        old = (copy(number, 50, of=older, voters=voters) for number in (100, 101))
        return facts(broker_id=node, logs=logs, copies=(*old, copy(1, at, of=newer, voters=voters)))

    log = LogFacts(TopicPartition("orders", 0), "d1", topic_id="T", epoch=Epoch(4), end=Offset(9))
    without, earlier = ClusterImage({}), image(1, leader_epoch=3)
    assert refuted(given(without, log))["P201"] == f"{told} orders; up to 9 records of 1 partition would become stray"
    assert refuted(given(earlier, log))["P201"] == f"{told} orders-0"
    for logs in ((), (log._replace(topic_id=None),), (log._replace(topic_id="U"),)):
        assert not_seen(given(without, *logs))["P201"] == f"{told} orders"
    assert not_seen(given(earlier, log._replace(epoch=None)))["P201"] == f"{told} orders-0"
    assert not_seen(given(without, log, node=100))["P201"] == f"{told} orders"
    for row in (given(LED, log), given(without, log, at=50)):
        assert "P201" not in refuted(row) | not_seen(row)
    one = facts(logs=(log,), copies=(copy(100, 50, of=without, voters=voters), copy(1, 60, of=LED, voters=voters)))
    assert "P201" not in refuted(one)  # A minority: the others may have it.
    assert not_seen(one)["P201"] == f"{told} orders; up to 9 records of 1 partition would become stray"
    (said,) = (row for row in judged(one) if row.id == "P201")
    assert (said.provide, said.may_lose_history) == ("--metadata with the log dirs of controllers 101 and 102", True)


def test_what_the_premises_say_of_the_metadata() -> None:
    """A controller on another node's disk is no lost quorum. Reasons of their own end the starts of controllers."""
    rows = [
        JudgedPremise("P101", PremiseStatus.REFUTED, "no log.dirs", 1),
        JudgedPremise("P205", PremiseStatus.REFUTED, "no majority", 2),
        JudgedPremise("P101", PremiseStatus.NOT_SEEN, "not seen", 3),
    ]
    here = with_premises(MetadataHere(), rows)
    assert (here.stopped, here.outrun, here.emptied, here.ended) == (True, False, False, ((1, "no log.dirs"),))
    assert not with_premises(MetadataHere(), [*rows, rows[0]._replace(id=NODE_ID)]).stopped
    lost = with_premises(MetadataHere(), [rows[0]._replace(id=id_) for id_ in (SAME_HISTORY, TOPICS_THERE)])
    assert (lost.stopped, lost.outrun, lost.emptied) == (False, True, True)


def test_a_controller_with_voters_of_its_own() -> None:
    """4.3.1: it elected itself; the other controllers and the brokers truncated their metadata to its own."""
    held = copy(100, 43, voter_set=(Voter(100, "D100", ()),), directory_id="D100")
    alone = copy(101, 0, 0, voter_set=(Voter(101, "D101", ()),), directory_id="D101", voters=frozenset({101}))
    pair = (Voter(101, "D101", ()), Voter(102, "D102", ()))
    two = [
        copy(number, 0, 0, voter_set=pair, directory_id=f"D{number}", voters=frozenset({101, 102}))
        for number in (101, 102)
    ]
    says = "controller 101 elects itself by a voter set of its own (101). Its metadata ends at offset 0, the newest"
    assert refuted(facts(copies=(held, alone)))["P824"].startswith(says)
    assert "elects a leader by a voter set of its own (101,102)" in refuted(facts(copies=(held, *two)))["P824"]
    rows = [row for row in judged(facts(copies=(held,))) if row.id == "P824"]
    assert [row.status for row in rows] == [PremiseStatus.PROVEN]
    assert not [row for row in judged(facts()) if row.id == "P824"]
    rescue = first_rescue(MetadataHere(rival=101))
    assert rescue is not None
    assert (rescue.verb, rescue.first) == (RescueVerb.FORMAT, 101)
