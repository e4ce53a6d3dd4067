"""What is known of elections of replicas that are not in sync."""

import pytest

from kcheck.core.premises.facts import LogFacts
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.model.cluster import (
    STATIC,
    UNCLEAN,
    BrokerRegistration,
    ClusterImage,
    PartitionRegistration,
    TopicImage,
    UncleanElection,
)
from kcheck.model.entries import Epoch, Offset
from kcheck.model.names import TopicPartition
from kcheck.model.premises import PremiseStatus
from tests.core.premises.test_premises import KRAFT, facts, not_seen, refuted, rows


def cluster(*isr: int, elr: tuple[int, ...] = (), static: str | None = None, **fields: object) -> ClusterImage:
    """Return brokers 1 to 3, t-0 on them, and topic `ours` that broker 1 has no replica of."""
    topics = {
        "t": TopicImage("t", "T", {0: PartitionRegistration((1, 2, 3), isr, elr=elr)}),
        "ours": TopicImage("ours", "O", {0: PartitionRegistration((2, 3), (3,))}),
    }
    brokers = {number: BrokerRegistration(number, 7, fenced=True) for number in (1, 2, 3)}
    image = ClusterImage(topics, brokers=brokers)._replace(**fields)
    seen = {} if static is None else {"settings": ("c.properties",), "configs": {STATIC: {UNCLEAN: static}}}
    return image._replace(**seen)


def given(image: ClusterImage | None, **fields: object) -> dict[str, str]:
    """Return P601 of broker 1, by status."""
    known = facts(**{"image": image, "image_path": "m", **fields})
    by_status = {"not seen": not_seen(known), "proven": rows(known, PremiseStatus.PROVEN), "refuted": refuted(known)}
    return {status: sentences["P601"] for status, sentences in by_status.items() if "P601" in sentences}


def test_a_broker_that_is_behind_leads_if_unclean_elections_are_on() -> None:
    """Broker 1 of 3.9.2 led first, without the records of broker 2: its controller's file has the setting."""
    assert given(cluster(2, static="true"))["not seen"].startswith(
        f"broker 1 is not in sync in t-0, and leads there if it is back first, since {UNCLEAN} is on"
    )
    assert given(cluster(2, static="false")).keys() == {"proven"}
    by_topic = {("topic", "t"): {UNCLEAN: "true"}, STATIC: {UNCLEAN: "false"}}
    assert "is on" in given(cluster(2, configs=by_topic))["not seen"]


@pytest.mark.parametrize("mode", [Mode.KRAFT, Mode.ZOOKEEPER])
def test_settings_that_were_not_seen(mode: Mode) -> None:
    """They matter for a replica that is not in sync, unless the release does not obey them or the topic has its own."""
    behind = given(cluster(2), mode=mode, release=release("3.9"))
    assert behind["not seen"].startswith("broker 1 is not in sync in t-0. Whether the controllers elect it anyway")
    for isr, elr in (((1, 2, 3), ()), ((), (1,))):
        assert not given(cluster(*isr, elr=elr), mode=mode, release=release("3.9"))
    stated = cluster(2, configs={("topic", "t"): {UNCLEAN: "false"}})
    assert given(stated, mode=mode, release=release("3.9")).keys() == {"proven"}
    assert given(cluster(2), mode=mode, release=release("3.8")).keys() == (
        {"proven"} if mode is Mode.KRAFT else {"not seen"}
    )
    assert not given(None)
    assert not given(cluster(2), broker_id=None)
    assert not given(cluster(2), config={**KRAFT, "process.roles": "controller"})


def of_unclean(epoch: int, image: ClusterImage | None) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return what is refuted, not seen and proven of broker 1, whose log of t-0 has 40 records."""
    newest = (
        LogFacts(TopicPartition("t", 0), "d1", epoch=Epoch(epoch), end=Offset(40)),
        LogFacts(TopicPartition("ours", 0), "d1", epoch=Epoch(1), end=Offset(4)),
    )
    known = facts(image=image, image_path="m", logs=newest)
    return refuted(known), not_seen(known), rows(known, PremiseStatus.PROVEN)


def test_an_unclean_election_while_the_broker_was_down() -> None:
    """Broker 1 was in sync before broker 2 was elected: its records beyond the log of broker 2 are cut."""
    elected = {("T", 0): UncleanElection(2, 5, 90, (1,)), ("O", 0): UncleanElection(3, 5, 91, (2,))}
    lost, _, _ = of_unclean(4, cluster(2, unclean=elected))
    assert lost["P602"].startswith(
        "broker 2 was elected uncleanly at epoch 5, which t-0 does not have here: starting broker 1 loses its records"
        " that broker 2 lacks, at most 40 (offsets 0-39). Save them first: kcheck recover"
    )
    assert "P602" in of_unclean(5, cluster(2, unclean=elected))[2]
    of_others = {("T", 0): UncleanElection(2, 5, 90, (3,), (1,))}
    _, unknown, _ = of_unclean(4, cluster(2, unclean=of_others))
    assert unknown["P602"].endswith("whether broker 1 has records that it lacks is not known")
    followed = {("T", 0): UncleanElection(2, 5, 90, (1, 3)).followed_by((1, 2))}
    assert "P602" in of_unclean(4, cluster(2, unclean=followed))[2]
    assert of_unclean(4, cluster(2, unclean=followed))[1]["P850"] == (
        "broker 3 did not follow an unclean election of t-0. If broker 1 leads there, the records that broker 1"
        " lacks are deleted; whether there are any is not known"
    )
    won = {("T", 0): UncleanElection(1, 5, 90, (2, 3))}
    assert "brokers 2 and 3 did not follow" in of_unclean(5, cluster(1, unclean=won))[1]["P850"]
    gone = {("T", 0): UncleanElection(1, 5, 90, (9,))}
    assert "P850" in of_unclean(5, cluster(1, unclean=gone))[2]  # Broker 9 has no replica any more.
    for image in (None, cluster(2)):
        assert not any("P602" in sentences for sentences in of_unclean(4, image))


def test_partitions_without_a_state_in_zookeeper() -> None:
    """2.8.2: broker 2 was back first and led, without the last records of broker 1."""
    without = {
        0: PartitionRegistration((1, 2), ()),
        1: PartitionRegistration((1,), ()),
        2: PartitionRegistration((1, 2), ()),
    }
    image = ClusterImage({"t": TopicImage("t", None, without)})
    held = tuple(LogFacts(TopicPartition("t", number), "d1", end=Offset(4)) for number in (0, 1))
    known = facts(
        image=image, image_path="zookeeper", logs=held, mode=Mode.ZOOKEEPER, release=release("2.8"), copies=()
    )
    assert refuted(known)["P825"].startswith("ZooKeeper has no state of t-0, and directories are here. The controller")
    assert "P601" not in {**not_seen(known), **rows(known, PremiseStatus.PROVEN)}
    assert "P825" in rows(known._replace(logs=held[1:]), PremiseStatus.PROVEN)
    for other in (known._replace(mode=Mode.KRAFT), known._replace(image=None), known._replace(broker_id=None)):
        assert "P825" not in {**refuted(other), **rows(other, PremiseStatus.PROVEN)}
    assert "P825" not in rows(known._replace(logs=()), PremiseStatus.PROVEN)
