"""What a log lacks counts where its broker can lead; a replica that only follows loses nothing by its start."""

from kcheck.core.premises.table import judged
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.model.entries import Offset
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
