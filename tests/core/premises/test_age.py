"""What shows that the metadata are older than the log dirs."""

from typing import Any

import pytest

from kcheck.core.premises.age import epoch_shown
from kcheck.core.premises.facts import BrokerFacts, LogFacts
from kcheck.core.premises.table import judged
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.model.cluster import BrokerRegistration, ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.entries import Epoch, EpochEntry, Offset
from kcheck.model.names import TopicPartition
from kcheck.model.premises import PremiseStatus
from tests.core.premises.test_premises import LOG, copy, facts, image, log_dir, not_seen, refuted, rows


def test_metadata_that_are_older_than_the_disk() -> None:
    """Brokers of 2.4.1 whose ZooKeeper came back from an old copy elected replicas that had fallen behind."""
    logs = tuple(
        LogFacts(TopicPartition("audit", number), "d1", epoch=epoch) for number, epoch in ((0, 0), (1, 2), (2, 3))
    )
    registrations = {number: PartitionRegistration((1,), (1,), leader_epoch=0) for number in range(3)}
    known = ClusterImage({"audit": TopicImage("audit", "T", registrations)})
    given = facts(
        mode=Mode.ZOOKEEPER, release=release("2.4"), config={}, copies=(), image=known, image_path="zookeeper",
        logs=logs[:2],
    )  # fmt: skip
    assert refuted(given)["P702"].startswith(
        "the metadata is older than the disk: audit-1 has leader epoch 2 here, the metadata has 0. With that metadata"
    )
    assert ", and so in 1 more partition. With that" in refuted(given._replace(logs=logs))["P702"]
    assert "P702" in rows(given._replace(logs=logs[:1]), PremiseStatus.PROVEN)
    assert "P702" in rows(
        given._replace(logs=(LogFacts(TopicPartition("gone", 0), "d1", epoch=9),)), PremiseStatus.PROVEN
    )
    assert "P702" not in rows(given._replace(logs=(logs[0]._replace(epoch=None),)), PremiseStatus.PROVEN)
    assert "P702" not in refuted(given._replace(image=None))


def test_metadata_that_are_older_than_the_producers() -> None:
    """With an older ZooKeeper 3.9.2 gave id 0 once more, and took the first record with it for a duplicate."""
    words = "the metadata is older than the disk. The last batch of orders-0 has producer id 7, but the next new"
    logs = (LOG, LOG._replace(producer_id=7))
    for following in (None, 0, 7):
        given = facts(logs=logs, image=image()._replace(next_producer_id=following))
        assert refuted(given)["P842"] == f"{words} producer gets id {following or 0}"
    assert "P842" not in refuted(facts(logs=logs, image=image()._replace(next_producer_id=8)))
    for given in (facts(logs=()), facts(logs=logs, image=None), facts(logs=(LOG,))):
        assert "P842" not in refuted(given)


@pytest.mark.parametrize(
    ("entries", "of_batch", "epoch"),
    [
        (((0, 0), (3, 20)), 3, 3),
        (((0, 0), (5, 30)), 3, 5),
        (((0, 0), (5, 30)), None, 5),
        (((0, 0), (5, 1)), 3, 3),
        (((5, 30), (6, 40)), 3, 3),
        (((5, 0), (4, 20)), 4, 4),
        (((0, 0), (5, 20), (6, 20)), 5, 5),
        (((0, 0), (5, 1)), None, None),
    ],
)
def test_the_newest_epoch_that_a_log_shows(
    entries: tuple[tuple[int, int], ...], of_batch: int | None, epoch: int | None
) -> None:
    """A log from 0 to 30. A broker of 3.9.2 with the epochs 0 @ 0 and 5 @ 1 over batches of epoch 3 lost nothing."""
    own = tuple(EpochEntry(Epoch(one), Offset(start)) for one, start in entries)
    assert epoch == epoch_shown(own, None if of_batch is None else Epoch(of_batch), Offset(0), Offset(30))


ENDS = "the metadata log of broker 1 ends at offset 40,"
BEFORE = f"{ENDS} 100 s before the controllers saw broker 1 alive for the last time"


@pytest.mark.parametrize(
    ("own", "broker", "newest", "sentence"),
    [
        ({}, {}, {}, BEFORE),
        ({}, {"fenced": True}, {"fenced_at": {1: 101_500}}, BEFORE),
        ({}, {"fenced": True}, {"fenced_at": {1: 19_000}}, None),
        ({}, {"fenced": True}, {}, None),
        ({}, {"epoch": 40}, {}, f"{ENDS} before broker 1 registered last, with epoch 40"),
        ({}, {"epoch": 40, "fenced": True}, {}, None),
        ({}, {"in_controlled_shutdown": True, "fenced": True}, {}, f"{ENDS} before broker 1 asked to be shut down"),
        ({"timestamp": 90_000}, {}, {}, None), ({"timestamp": None}, {}, {}, None), ({"end": 60}, {}, {}, None),
        ({}, {}, {"written": {1: 2_000, 2: 101_500}}, None), ({}, {}, {"written": {}}, None),
    ],
)  # fmt: skip
def test_a_broker_that_lived_longer_than_its_metadata_log(
    own: dict[str, Any], broker: dict[str, Any], newest: dict[str, Any], sentence: str | None
) -> None:
    """A copy of a running 3.9.2, put back on the disk, lost what only it had; a new controller waits for it again."""
    known = image()
    known = known._replace(brokers={1: known.brokers[1]._replace(**{"fenced": False, **broker})})
    of_controller = copy(of=known, **{"timestamp": 101_500, "written": {1: 101_500}, **newest})
    of_broker = copy(1, **{"end": 40, "timestamp": 1_000, **own})
    given = facts(log_dir(), copies=(of_controller, of_broker), image=known)
    said = not_seen(given).get("P701")
    assert said == (None if sentence is None else f"{sentence}: the disk may be an older copy")


@pytest.mark.parametrize(
    ("registered", "stopped", "is_older"),
    [(9_000, 2_500, True), (9_000, 8_000, False), (9_000, None, False), (None, 2_500, False)],
)
def test_a_clean_stop_before_the_last_registration(
    registered: int | None, stopped: int | None, *, is_older: bool
) -> None:
    """An only broker of 2.4.1 lost what it had written since; kept clusters show that no other disk has such times."""
    dirs = (log_dir("d1"), log_dir("d2", stopped_at=stopped))
    given = facts(*dirs, mode=Mode.ZOOKEEPER, release=release("3.9"), config={}, copies=(), registered_at=registered)
    said = "broker 1 registered 6 s after its clean stop in d2, so the disk may be an older copy"
    assert (said if is_older else None) == not_seen(given).get("P701")


@pytest.mark.parametrize(
    ("asked", "written", "registered", "is_older"),
    [
        (14_000, 2_000, None, True), (14_000, 3_000, None, False), (14_000, 2_000, 3_000, False),
        (14_000, 1_000, 2_000, True), (None, 2_000, None, False), (14_000, None, None, False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("has_log", [True, False])
def test_a_change_at_zookeeper_after_the_last_checkpoint(
    asked: int | None, written: int | None, registered: int | None, *, is_older: bool, has_log: bool
) -> None:
    """A broker of 2.4.1 lost records of 13 partitions. Before its first leader a broker writes no checkpoint."""
    dirs = (log_dir("d1"), log_dir("d2", written_at=written))
    logs = (LOG._replace(log_dir="d2"),) if has_log else ()
    given = facts(
        *dirs, mode=Mode.ZOOKEEPER, release=release("3.9"), config={}, copies=(), registered_at=registered,
        asked_at=asked, logs=logs,
    )  # fmt: skip
    said = "broker 1 changed ZooKeeper 12 s after its last checkpoint in d2, so the disk may be an older copy"
    assert (said if is_older and has_log else None) == not_seen(given).get("P701")
    slower = given._replace(config={"replica.high.watermark.checkpoint.interval.ms": "60000"})
    assert not_seen(slower).get("P701") is None


@pytest.mark.parametrize(("epoch", "is_older"), [(7, False), (5, True)])
def test_a_metadata_log_with_the_shutdown_of_a_broker(epoch: int, *, is_older: bool) -> None:
    """A broker of 3.9.2 had records that a copy from before its shutdown lacked; the shutdown must be the last one."""
    known = image()
    stopped = known.brokers[1]._replace(in_controlled_shutdown=True)
    of_controller = copy(of=known._replace(brokers={1: stopped}), timestamp=2_000)
    before = known._replace(brokers={1: stopped._replace(epoch=epoch)})
    given = facts(log_dir(), copies=(of_controller, copy(1, of=before, end=40, timestamp=1_000)), image=known)
    assert is_older == ("P701" in not_seen(given))


def test_an_only_replica_without_the_epoch_in_which_its_broker_led_last() -> None:
    """A 3.9.2 with ZooKeeper, whose disk came back from an old copy, lost what it had written since."""
    logs = tuple(
        LogFacts(TopicPartition("solo", number), "d1", unseen_epoch=epoch)
        for number, epoch in ((0, None), (1, Epoch(2)), (2, Epoch(4)))
    )
    given = facts(mode=Mode.ZOOKEEPER, release=release("3.9"), config={}, copies=(), logs=logs[:2])

    def open_ones(given: BrokerFacts) -> list[str]:
        return [row.sentence for row in judged(given) if row.id == "P701" and row.status is PremiseStatus.NOT_SEEN]

    said = "broker 1 led solo-1 in leader epoch 2, which its log does not show"
    assert [f"{said}: the disk may be an older copy"] == open_ones(given)
    assert [f"{said}, and so in 1 more partition: the disk may be an older copy"] == open_ones(
        given._replace(logs=logs)
    )
    assert [] == open_ones(given._replace(logs=logs[:1]))
    # A broker of 1.1.1 that was killed before it wrote again had no trace of its epoch. An empty log lost its file.
    old = given._replace(release=release("1.1"), logs=(logs[1]._replace(end=Offset(9)),))
    assert [[], [f"{said}: the disk may be an older copy"]] == [open_ones(old), open_ones(old._replace(logs=logs[:2]))]
    stopped = facts(log_dir(shutdown_epoch=9), logs=logs)
    assert ([], True) == (
        open_ones(stopped._replace(logs=())),
        "P701" in rows(stopped._replace(logs=()), PremiseStatus.PROVEN),
    )
    assert ([], False) == (open_ones(stopped)[1:], "P701" in rows(stopped, PremiseStatus.PROVEN))


@pytest.mark.parametrize(
    ("registration", "epoch"),
    [
        (PartitionRegistration((1,), (1,), leader=1, leader_epoch=4), 4),
        (PartitionRegistration((1,), (1,), leader_epoch=5, last_leader=1, last_leader_epoch=4), 4),
        (PartitionRegistration((1,), (1,), leader_epoch=5), None),
        (PartitionRegistration((1, 2), (1,), leader=1, leader_epoch=4), None),
        (PartitionRegistration((2,), (2,), leader=2, leader_epoch=4), None),
    ],
)
def test_the_epoch_in_which_the_only_replica_led(registration: PartitionRegistration, epoch: int | None) -> None:
    """A leader that loses a follower as both stop has an epoch of which it learns nothing."""
    assert epoch == registration.led_alone(1)


def test_a_log_dir_that_was_not_stopped_with_the_others() -> None:
    """It is a copy of another time, or was offline: a clean stop of 4.3.1 and 2.4.1 marks both."""
    log = LOG._replace(log_dir="d2")
    stopped, copied = log_dir(clean=True), log_dir(path="d2", clean=False)
    given = facts(stopped, copied, logs=(log,), image=image(1, 2, isr=(1, 2)))
    assert not_seen(given)["P316"] == (
        "broker 1 stopped cleanly, but left no .kafka_cleanshutdown in d2. That log dir with orders-0 was offline,"
        " or is a copy of another time"
    )
    assert "P316" not in not_seen(given._replace(image=image(2, 1, isr=(2,))))
    assert "P316" not in not_seen(given._replace(logs=()))
    assert "P316" not in not_seen(given._replace(log_dirs=(copied,)))
    assert "P316" in not_seen(given._replace(log_dirs=(copied,), closed_session=True))
    assert "P316" not in not_seen(given._replace(log_dirs=(stopped, copied._replace(clean=True))))


def test_metadata_of_before_the_last_registration_shows_nothing_newer() -> None:
    """An old copy of another disk, given by --metadata, let a broker start."""
    run = ClusterImage({}, brokers={1: BrokerRegistration(1, epoch=40, fenced=False)})
    own, old = copy(1, 50)._replace(image=run), copy(3, 40)
    assert not_seen(facts(copies=(own, old)))["P303"] == (
        "what the cluster expects of broker 1 now is not known: the other copies of its metadata end before the"
        " last registration"
    )
    for other in (old._replace(end=41), old._replace(node_id=None, end=41)):
        assert "P303" in rows(facts(copies=(own, other)), PremiseStatus.PROVEN)
    alone = own._replace(voters=frozenset({1}))
    assert "P303" in rows(facts(copies=(alone, old)), PremiseStatus.PROVEN)


def test_directories_of_a_former_topic() -> None:
    """2.8.2 without topic ids: the broker was down while the topic was created again, and took its old log for that."""
    old = tuple(
        LogFacts(TopicPartition(topic, 0), "d1", epoch=Epoch(3), end=Offset(20)) for topic in ("audit", "other")
    )
    topics = {log.partition.topic: PartitionRegistration((1,), (1,), leader_epoch=0) for log in old}
    known = ClusterImage({topic: TopicImage(topic, None, {0: seats}) for topic, seats in topics.items()})
    given = facts(
        log_dir(path="d1", stopped_at=50_000), mode=Mode.ZOOKEEPER, release=release("2.7"), config={}, copies=(),
        image=known, image_path="zookeeper", logs=old, created_at={"audit": 52_000, "other": 9_000},
    )  # fmt: skip
    assert refuted(given)["P826"].startswith(
        "broker 1 stopped before audit was created again in ZooKeeper. audit-0 here"
    )
    assert refuted(given)["P702"].startswith("the metadata is older than the disk: other-0 has leader epoch 3 here")
    for held in (
        given._replace(created_at={"audit": 51_000}), given._replace(created_at={}), given._replace(mode=Mode.KRAFT),
        given._replace(log_dirs=(log_dir(path="d1"),)),
        given._replace(logs=tuple(log._replace(topic_id="T") for log in old)),
    ):  # fmt: skip
        assert "P826" not in refuted(held)
