"""What a log lacks counts where its broker can lead; a replica that only follows loses nothing by its start."""

import pytest

from kcheck.core.premises.facts import LogFacts, MissingRecords
from kcheck.core.premises.table import judged, judged_together
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.model.entries import Epoch, Offset
from kcheck.model.premises import PremiseStatus
from kcheck.model.remote_log import REMOTE_LOG_METADATA
from tests.core.premises.test_premises import END, GAP, HEAD, KRAFT, LOG, facts, image, not_seen, refuted


def test_what_a_replica_lacks_that_only_follows() -> None:
    """Its start loses nothing: it fetches what it lacks at its end, and keeps other gaps until it leads."""
    of = image(2, 1, isr=(2,))
    given = facts(logs=(HEAD, GAP, END), image=of)
    kept = "it is not elected now, so nothing is lost when it starts; a follower keeps the gap"
    said = {
        "P304": f"orders-0 begins at 180 here, its epochs at 0: {kept}",
        "P305": f"orders-0 has no segment with offsets 20-39: {kept}",
        "P306": (
            "orders-0 ends at 20 here, but replication-offset-checkpoint shows records up to offset 39: it is not"
            " elected now, and fetches them from the leader"
        ),
    }
    assert said == {number: words for number, words in not_seen(given).items() if number in said}
    assert all(row.provide is None for row in judged(given) if row.id in said)
    assert not said.keys() & refuted(given).keys()
    unclean = {("topic", "orders"): {"unclean.leader.election.enable": "true"}}
    others = (of._replace(configs=unclean), image(2, 1, isr=(2, 1)), image(2, 3, isr=(2,)))
    assert [said.keys() - refuted(given._replace(image=other)).keys() for other in others] == [{"P305"}] * 3
    assert all("P305" in not_seen(given._replace(image=other)) for other in others)
    static = {**KRAFT, "unclean.leader.election.enable": "true"}
    with_zookeeper = given._replace(mode=Mode.ZOOKEEPER, release=release("3.9"), config=static)
    for other in (given._replace(controller_config=static), with_zookeeper):
        assert said.keys() - refuted(other).keys() == {"P305"}
    preferred = refuted(given._replace(image=image(1, 2, isr=(2,))))
    assert {"P304", "P305"} == said.keys() & preferred.keys()


def test_an_empty_last_segment() -> None:
    """A broker of 4.0.2 led with one, and its follower deleted 30 records."""
    given = facts(logs=(LOG._replace(end=Offset(129), is_emptied=True),))
    assert (
        not_seen(given)["P306"]
        == "orders-0 ends at 129 with an empty segment. A broker mostly begins one for a batch, so records may be"
        " missing"
    )
    assert "P306" not in not_seen(given._replace(image=image(2, 1, isr=(2,))))


AHEAD = LOG._replace(end=Offset(159), epoch=Epoch(4))
BEHIND = LOG._replace(end=Offset(129), epoch=Epoch(4))
LED = image(2, 1, isr=(1, 2), last_leader=1, last_leader_epoch=4)


def of_followers(leader: LogFacts, follower: LogFacts, **fields: object) -> list[str]:
    """Return what P306 says of the log of leader 1 beside that of follower 2."""
    one = facts(logs=(leader,), image=LED)._replace(**fields)
    rows = judged_together({1: one, 2: one._replace(broker_id=2, logs=(follower,))}, ())
    return [row.sentence for row in rows[1] if row.id == "P306" and row.status is PremiseStatus.REFUTED]


@pytest.mark.parametrize("leader", [BEHIND, BEHIND._replace(epoch=Epoch(3)), BEHIND._replace(epoch=None)])
def test_a_follower_that_has_more_of_its_leaders_epoch(leader: LogFacts) -> None:
    """The leader of 4.0.2 had it too: its disk has lost it."""
    sentence = (
        "orders-0 ends at 129 here, but the replica of broker 2 shows records up to offset 158: as leader broker 1"
        " makes the other replicas delete theirs"
    )
    assert of_followers(leader, AHEAD) == [sentence]


@pytest.mark.parametrize(
    ("leader", "follower", "fields"),
    [
        (AHEAD, BEHIND, {}),
        (BEHIND, AHEAD._replace(epoch=Epoch(3)), {}),
        (BEHIND, AHEAD._replace(topic_id="U"), {}),
        (BEHIND._replace(loses=True), AHEAD, {}),
        (BEHIND, AHEAD, {"image": image(2, 1, isr=(1, 2), last_leader=2, last_leader_epoch=4)}),
        (BEHIND, AHEAD, {"image": image(2, 1, isr=(1, 2), last_leader=1)}),
        (BEHIND, AHEAD, {"image": image(3, 1, isr=(1, 3), last_leader=1, last_leader_epoch=4)}),
        (BEHIND, AHEAD, {"image": None}),
        (BEHIND, AHEAD, {"broker_id": None}),
    ],
)
def test_a_follower_that_shows_nothing_of_the_leader(
    leader: LogFacts, follower: LogFacts, fields: dict[str, object]
) -> None:
    """Records of an earlier epoch are of another leader; a torn end counts as a loss of its own."""
    assert of_followers(leader, follower, **fields) == []


def test_a_leader_whose_own_disk_knows_more() -> None:
    """One sentence is enough."""
    own = END._replace(end=Offset(20), epoch=Epoch(4))
    assert ["replication-offset-checkpoint" in row for row in of_followers(own, AHEAD)] == [True]


def test_a_leader_whose_remote_segments_show_less() -> None:
    """They end with the last closed segment, and the follower has the active one too."""
    remote = MissingRecords(Offset(129), Offset(150), f"{REMOTE_LOG_METADATA}-0")
    (sentence,) = of_followers(BEHIND._replace(missing=(remote,)), AHEAD)
    assert "the replica of broker 2 shows records up to offset 158" in sentence
    (sentence,) = of_followers(BEHIND._replace(missing=(remote._replace(end=Offset(170)),)), AHEAD)
    assert "__remote_log_metadata-0 shows records up to offset 169" in sentence


def test_a_last_segment_that_a_killed_broker_had_closed() -> None:
    """Nothing tells what followed it; a replica that only follows fetches that."""
    given = facts(logs=(LOG._replace(end=Offset(6), is_closed=True),))
    words = "orders-0 ends at 6, but the broker was killed after it had closed the last segment. A newer one may"
    assert not_seen(given)["P306"].startswith(words)
    assert "P306" not in not_seen(given._replace(image=image(2, 1, isr=(2,))))
    assert "P306" not in not_seen(given._replace(logs=2 * given.logs))


def test_bytes_at_the_end_that_name_no_batch() -> None:
    """A power loss leaves such bytes, mostly of a batch that no producer was told is written."""
    given = facts(logs=(LOG._replace(end=Offset(6), unread_size=135),))
    words = "orders-0 ends at 6: the start truncates 135 bytes that name no batch, records may be in them"
    assert not_seen(given)["P306"] == words
    assert "P306" not in not_seen(given._replace(image=image(2, 1, isr=(2,))))


HIDES = LOG._replace(start=Offset(87), end=Offset(126), hides=True)
SERVES = LOG._replace(end=Offset(126))


def begins(one: LogFacts, two: LogFacts, **fields: object) -> list[tuple[str, bool]]:
    """Return what P320 says of the log of broker 1 beside that of broker 2, and whether it asks for something."""
    given = facts(logs=(one,), image=image(1, 2))._replace(**fields)
    rows = judged_together({1: given, 2: given._replace(broker_id=2, logs=(two,))}, ())
    assert not [row for row in rows[2] if row.id == "P320"]
    return [(row.sentence, row.provide is not None) for row in rows[1] if row.id == "P320"]


def test_a_log_start_that_no_epoch_explains() -> None:
    """A log of 2.8.2 with an old message format led, and the others deleted 87 records."""
    ((sentence, asks),) = begins(HIDES, SERVES)
    assert sentence.startswith("orders-0 begins at 87 here, at 0 on broker 2. Whether DeleteRecords or retention")
    assert asks
    assert begins(HIDES, SERVES, image=None)
    assert [] == begins(HIDES, SERVES, image=image(2, 1, isr=(2,)))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (HIDES._replace(hides=False), SERVES),
        (HIDES, SERVES._replace(start=Offset(87))),
        (HIDES, SERVES._replace(end=Offset(0))),
        (HIDES._replace(lost_head=(Offset(0), Offset(87))), SERVES),
        (HIDES, SERVES._replace(topic_id="U")),
    ],
)
def test_log_starts_that_agree(one: LogFacts, two: LogFacts) -> None:
    """The log begins at 0, the replicas begin together, the other has none of the records, or is of another topic."""
    assert [] == begins(one, two)


LOST = HIDES._replace(lacks_epochs=True)


def test_a_log_that_lost_its_epochs() -> None:
    """No file shows whether its first segments were removed; another replica with epochs does."""
    words = "orders-0 begins at 87, but its leader epochs are lost. Whether earlier segments were removed is not known"
    assert words == not_seen(facts(logs=(LOST,), image=image(1)))["P320"]
    assert "P320" not in not_seen(facts(logs=(LOST,), image=image(2, 1, isr=(2,))))
    assert [] == begins(LOST, SERVES._replace(start=Offset(87)))
    assert begins(LOST, SERVES._replace(topic_id="U", start=Offset(87))) == [(words, True)]
    ((sentence, asks),) = begins(LOST, SERVES)
    assert (sentence.startswith("orders-0 begins at 87 here, at 0 on broker 2."), asks) == (True, True)
    given = facts(logs=(LOST,), image=image(1, 2))
    both = judged_together({1: given, 2: given._replace(broker_id=2)}, ())
    assert [row.sentence for row in both[1] if row.id == "P320"] == [words]
