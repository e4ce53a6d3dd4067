"""What shows that the metadata are older than the log dirs."""

import pytest

from kcheck.core.premises.age import epoch_shown
from kcheck.core.premises.facts import LogFacts
from kcheck.core.releases.releases import release
from kcheck.core.start.startup import Mode
from kcheck.model.cluster import ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.entries import Epoch, EpochEntry, Offset
from kcheck.model.names import TopicPartition
from kcheck.model.premises import PremiseStatus
from tests.core.premises.test_premises import facts, refuted, rows


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
        "the metadata are older than the disk: audit-1 has leader epoch 2 here, the metadata know only 0; by them"
    )
    assert ", and so in 1 more partition; by them" in refuted(given._replace(logs=logs))["P702"]
    assert "P702" in rows(given._replace(logs=logs[:1]), PremiseStatus.PROVEN)
    assert "P702" in rows(
        given._replace(logs=(LogFacts(TopicPartition("gone", 0), "d1", epoch=9),)), PremiseStatus.PROVEN
    )
    assert "P702" not in rows(given._replace(logs=(logs[0]._replace(epoch=None),)), PremiseStatus.PROVEN)
    assert "P702" not in refuted(given._replace(image=None))


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
